"""What all losses are held to: gradients of finite differences, the symmetries that each has and lacks,
replicas one by one, and a word where they are undefined."""

from functools import partial

import pytest
import torch

from reprise.errors import RepriseError
from reprise.objectives import (
    Moments,
    barlow_twins,
    byol,
    corinfomax,
    dino,
    directclr,
    enqueue,
    frossl,
    frossl_as_given,
    frossl_no_logs,
    frossl_no_logs_unit_trace,
    infonce_cosine,
    infonce_distance,
    infonce_dot,
    infonce_other_view,
    moco,
    negative_cosine,
    nt_xent,
    prototype_scores,
    quadratic_cosine,
    sinkhorn,
    swapped_prediction,
    swav,
    vicreg,
    w_mse,
)

BATCH, DIM = 12, 4


def random(*shape, seed=1):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


CENTRE, SHIFT, PROTOTYPES = random(DIM, seed=2), random(DIM, seed=3), random(6, DIM, seed=4)
QUEUE = enqueue(torch.zeros(8, DIM, dtype=torch.float64), random(8, DIM, seed=5))
TURN = torch.linalg.qr(random(DIM, DIM, seed=6)).Q
SCALES = random(DIM, seed=7).exp()
LENGTHS = random(BATCH, 1, seed=8).exp()
ORDER = torch.randperm(BATCH, generator=torch.Generator().manual_seed(9))
USED = Moments(random(2, DIM, seed=10), torch.diag(SCALES).repeat(2, 1, 1))
"""A state as it is after some steps: of unequal spread."""


def swav_with(prototypes, z1, z2):
    return swav(prototype_scores(z1, prototypes), prototype_scores(z2, prototypes))


def corinfomax_from(state, z1, z2):
    return corinfomax(z1, z2, state, forgetting=0.3)[0]


LOSSES = {
    "nt_xent": nt_xent,
    "infonce_other_view": infonce_other_view,
    "infonce_distance": infonce_distance,
    "infonce_dot": infonce_dot,
    "infonce_cosine": infonce_cosine,
    "infonce_cosine, cold": partial(infonce_cosine, temperature=0.001),
    "quadratic_cosine": quadratic_cosine,
    "directclr": partial(directclr, dimensions=2),
    "moco": partial(moco, queue=QUEUE),
    "negative_cosine": negative_cosine,
    "byol": byol,
    "dino": partial(dino, centre=CENTRE),
    "swav": partial(swav_with, PROTOTYPES),
    "vicreg": vicreg,
    "barlow_twins": barlow_twins,
    "w_mse": w_mse,
    "w_mse in sub-batches": partial(w_mse, sub_batch=6),
    "corinfomax at the start": partial(corinfomax_from, Moments.initial(DIM)),
    "corinfomax later": partial(corinfomax_from, USED),
    "frossl": frossl,
    "frossl_as_given": frossl_as_given,
    "frossl_no_logs": frossl_no_logs,
    "frossl_no_logs_unit_trace": frossl_no_logs_unit_trace,
}
MOVES = {
    "both views turned": lambda z1, z2: (z1 @ TURN, z2 @ TURN),
    "one view turned": lambda z1, z2: (z1, z2 @ TURN),
    "both views shifted": lambda z1, z2: (z1 + SHIFT, z2 + SHIFT),
    "samples permuted": lambda z1, z2: (z1[ORDER], z2[ORDER]),
    "one view permuted": lambda z1, z2: (z1, z2[ORDER]),
    "views swapped": lambda z1, z2: (z2, z1),
    "samples lengthened": lambda z1, z2: (z1 * LENGTHS, z2 * LENGTHS),
    "dimensions stretched": lambda z1, z2: (z1 * SCALES, z2 * SCALES),
}
ANGLES = {"both views turned", "samples permuted", "views swapped", "samples lengthened"}
CORRELATIONS = {"both views shifted", "samples permuted", "views swapped", "dimensions stretched"}
HELD = {
    "nt_xent": ANGLES,
    "infonce_other_view": ANGLES,
    "infonce_distance": {"both views turned", "both views shifted", "samples permuted"},
    "infonce_dot": {"both views turned", "samples permuted"},
    # Negatives are of the first view alone.
    "infonce_cosine": ANGLES - {"views swapped"},
    "infonce_cosine, cold": ANGLES - {"views swapped"},
    "quadratic_cosine": ANGLES - {"views swapped"},
    "directclr": ANGLES - {"both views turned"},
    "moco": {"samples permuted", "samples lengthened"},
    "negative_cosine": ANGLES,
    "byol": ANGLES,
    "dino": {"samples permuted"},
    "swav": ANGLES - {"both views turned"},
    "vicreg": CORRELATIONS - {"dimensions stretched"},
    "barlow_twins": CORRELATIONS,
    # Whitened by Cholesky, views that are turned alike come out turned apart.
    "w_mse": CORRELATIONS,
    "w_mse in sub-batches": CORRELATIONS - {"samples permuted"},
    "corinfomax at the start": {"both views turned", "samples permuted", "views swapped"},
    "corinfomax later": {"samples permuted"},
    # FroSSL's equation is invariant to rotations, its normalised dimensions are not.
    "frossl": CORRELATIONS,
    "frossl_as_given": {"both views turned", "samples permuted", "views swapped"},
    "frossl_no_logs": CORRELATIONS,
    "frossl_no_logs_unit_trace": CORRELATIONS,
}


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("name", LOSSES)
def test_symmetries_held_and_lacked(views, name, move):
    loss, (z1, z2) = LOSSES[name], views(BATCH, DIM)
    change = (loss(*MOVES[move](z1, z2)) - loss(z1, z2)).abs().item()
    if move in HELD[name]:
        assert change < 1e-10
    else:
        assert change > 1e-3


TURNED_WITH_WHAT_IT_IS_COMPARED_TO = {
    "moco": lambda z1, z2, turn: moco(z1, z2, QUEUE @ turn),
    "swav": lambda z1, z2, turn: swav_with(PROTOTYPES @ turn, z1, z2),
    "corinfomax": lambda z1, z2, turn: corinfomax_from(
        Moments(USED.mean @ turn, turn.mT @ USED.covariance @ turn), z1, z2
    ),
}


@pytest.mark.parametrize("name", TURNED_WITH_WHAT_IT_IS_COMPARED_TO)
def test_queue_prototypes_and_state_turn_with_the_embeddings(views, name):
    loss, (z1, z2) = TURNED_WITH_WHAT_IT_IS_COMPARED_TO[name], views(BATCH, DIM)
    still = torch.eye(DIM, dtype=torch.float64)
    torch.testing.assert_close(loss(z1 @ TURN, z2 @ TURN, TURN), loss(z1, z2, still))


def test_of_matrices_that_are_not_normalised_barlow_s_at_weight_1_is_invariant_too(views):
    """|Z1ᵀZ2 - I|²_F, as in Skean 2024's Figure 2; it is the smaller weight and the normalisation that see
    the axes."""
    z1, z2 = views(BATCH, DIM)

    def loss(a, b, weight):
        c = a.mT @ b
        return (c.diagonal() - 1).square().sum() + weight * (c.square().sum() - c.diagonal().square().sum())

    torch.testing.assert_close(loss(z1 @ TURN, z2 @ TURN, 1.0), loss(z1, z2, 1.0))
    assert (loss(z1 @ TURN, z2 @ TURN, 0.005) - loss(z1, z2, 0.005)).abs() > 1e-3
    found = barlow_twins(z1 @ TURN, z2 @ TURN, off_diagonal_weight=1.0)
    assert (found - barlow_twins(z1, z2, off_diagonal_weight=1.0)).abs() > 1e-3


STOPPED = {"moco", "negative_cosine", "byol", "dino"}
"""Their second argument takes no gradient. SwAV's codes take none either: it is checked at fixed codes."""


@pytest.mark.parametrize("name", sorted(LOSSES.keys() - {"swav"}))
def test_gradients_are_those_of_finite_differences(views, name):
    loss, (z1, z2) = LOSSES[name], views(BATCH, DIM)
    z1.requires_grad_()
    z2.requires_grad_(name not in STOPPED)
    assert torch.autograd.gradcheck(loss, (z1, z2))


def test_the_gradient_at_fixed_codes_is_that_of_finite_differences(views):
    codes = sinkhorn(prototype_scores(views(BATCH, DIM)[1], PROTOTYPES))
    z, prototypes = views(BATCH, DIM)[0].requires_grad_(), PROTOTYPES.clone().requires_grad_()
    assert torch.autograd.gradcheck(
        lambda z, prototypes: swapped_prediction(prototype_scores(z, prototypes), codes), (z, prototypes)
    )


WIDE = [
    "nt_xent",
    "infonce_other_view",
    "infonce_cosine",
    "vicreg",
    "barlow_twins",
    "frossl",
    "frossl_no_logs",
]


@pytest.mark.parametrize("name", WIDE)
def test_more_dimensions_than_samples(views, name):
    z1, z2 = (z.requires_grad_() for z in views(3, 7))
    assert torch.autograd.gradcheck(LOSSES[name], (z1, z2))


STACKED = LOSSES.keys() - {"moco", "corinfomax at the start", "corinfomax later"}


@pytest.mark.parametrize("name", sorted(STACKED))
def test_replicas_are_those_one_by_one(views, name):
    loss, (z1, z2) = LOSSES[name], views(3, BATCH, DIM)
    alone = torch.stack([loss(*both) for both in zip(z1, z2, strict=True)])
    torch.testing.assert_close(loss(z1, z2), alone)
    torch.testing.assert_close(torch.func.vmap(loss)(z1, z2), alone)


@pytest.mark.parametrize("name", LOSSES)
def test_single_precision_gives_the_same_to_its_digits(views, name):
    z1, z2 = views(BATCH, DIM)
    loss = LOSSES[name]
    if name in {"moco", "dino", "swav"}:
        loss = {
            "moco": partial(moco, queue=QUEUE.float()),
            "dino": partial(dino, centre=CENTRE.float()),
            "swav": partial(swav_with, PROTOTYPES.float()),
        }[name]
    found = loss(z1.float(), z2.float())
    torch.testing.assert_close(found.double(), LOSSES[name](z1, z2), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize(
    ("first", "second"), [((8, 4), (6, 4)), ((8, 4), (1, 4)), ((8, 4), (8, 3)), ((4,), (4,))]
)
def test_views_of_different_shapes_are_told_so(name, first, second):
    if name == "swav":  # scores of different dimensions are embeddings' of the same
        loss = swav
    else:
        loss = LOSSES[name]
    shapes = rf"{list(first)} and {list(second)}".replace("[", r"\[").replace("]", r"\]")
    with pytest.raises(RepriseError, match=rf"embeddings of shapes {shapes}; expected one shape"):
        loss(torch.ones(first), torch.ones(second))


MOMENTS_OR_NEGATIVES = sorted(
    name for name in STACKED - STOPPED - {"swav", "frossl_as_given"} if not name.startswith("w_mse in")
)


@pytest.mark.parametrize("name", MOMENTS_OR_NEGATIVES)
def test_a_single_sample_is_too_few(name):
    with pytest.raises(RepriseError, match=r"undefined for fewer than 2 samples: use larger batches"):
        LOSSES[name](torch.ones(1, 4), torch.ones(1, 4))


@pytest.mark.parametrize("name", sorted(LOSSES.keys() - set(MOMENTS_OR_NEGATIVES) - {"w_mse in sub-batches"}))
def test_of_others_a_single_sample_is_enough(views, name):
    assert LOSSES[name](*views(1, DIM)).isfinite()
