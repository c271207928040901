"""Properties of every loss: gradients of finite differences, the symmetries that each has and lacks, in
float32 far from zero too, replicas one by one, and a word where it is undefined.

The losses are those of the package. A docstring declares its loss's invariances, `Invariant to: ...`, in the
words of `MOVES`.
"""

import inspect
import math
import re
from functools import partial

import pytest
import torch

from reprise import objectives
from reprise.errors import RepriseError
from reprise.objectives import (
    Moments,
    barlow_twins,
    corinfomax,
    dino,
    enqueue,
    infonce_cosine,
    moco,
    prototype_scores,
    sinkhorn,
    swapped_prediction,
    swav,
    w_mse,
)

BATCH, DIM = 12, 4


def random(*shape, seed=1):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


CENTRE, SHIFT, PROTOTYPES = random(DIM, seed=2), random(2, DIM, seed=3), random(6, DIM, seed=4)
QUEUE = enqueue(torch.zeros(8, DIM, dtype=torch.float64), random(8, DIM, seed=5))
TURN = torch.linalg.qr(random(DIM, DIM, seed=6)).Q
SCALES = random(2, DIM, seed=7).exp()
LENGTHS = random(2, BATCH, 1, seed=8).exp()
ORDER = torch.randperm(BATCH, generator=torch.Generator().manual_seed(9))
USED = Moments(random(2, DIM, seed=10), torch.diag(SCALES[0]).repeat(2, 1, 1))
"""A state as it is after some steps: of unequal spread."""

PUBLIC = {
    name: value
    for name, value in vars(objectives).items()
    if inspect.isfunction(value) and value.__module__.startswith("reprise.objectives.")
}
NOT_LOSSES = {"enqueue", "gram_energy", "own_loss", "prototype_scores", "sinkhorn", "update_centre", "whiten"}
GIVEN = {"queue": QUEUE, "centre": CENTRE, "state": USED}
"""Arguments of losses beside two views, by name."""


def required(function):
    arguments = inspect.signature(function).parameters.values()
    return [argument.name for argument in arguments if argument.default is argument.empty]


def of_two_views(loss):
    """The loss as a function of two views, of any precision, with `GIVEN` for what else it takes."""
    given = {name: GIVEN[name] for name in required(loss)[2:]}

    def call(z1, z2, **options):
        cast = {name: x.to(z1.dtype) if torch.is_tensor(x) else x for name, x in given.items()}
        found = loss(z1, z2, **cast, **options)
        return found[0] if isinstance(found, tuple) else found

    return call


def invariances(loss):
    """Invariances that a loss's docstring declares; empty if it declares none."""
    declared = re.search(r"Invariant to: (.+?)\.\n", inspect.getdoc(loss) or "", re.DOTALL)
    return set(re.split(r",\s+", " ".join(declared[1].split()))) if declared else set()


def swav_with(prototypes, z1, z2):
    prototypes = prototypes.to(z1.dtype)
    return swav(prototype_scores(z1, prototypes), prototype_scores(z2, prototypes))


def predicting_codes(z1, z2):
    return swapped_prediction(z1, z2.sigmoid())


def corinfomax_from(state, z1, z2, forgetting=0.3):
    return corinfomax(z1, z2, state, forgetting=forgetting)[0]


def moves(far):
    """Transformations of two views, by name, with shifts and scales about `far` in size."""
    shift1, shift2 = far * SHIFT
    scales1, scales2 = SCALES * far ** torch.tensor([[0.5], [-0.5]])
    lengths1, lengths2 = LENGTHS * far ** torch.tensor([[[0.5]], [[-0.5]]])
    return {
        "rotation of both views": lambda z1, z2: (z1 @ TURN, z2 @ TURN),
        "rotation of one view": lambda z1, z2: (z1, z2 @ TURN),
        "shift of both views": lambda z1, z2: (z1 + shift1, z2 + shift1),
        "shift of each view": lambda z1, z2: (z1 + shift1, z2 + shift2),
        "shift of the second view": lambda z1, z2: (z1, z2 + shift2),
        "number added to each view": lambda z1, z2: (z1 + 0.7 * far, z2 - 1.1 * far),
        "number added to the first view": lambda z1, z2: (z1 + 0.7 * far, z2),
        "permutation of samples": lambda z1, z2: (z1[ORDER], z2[ORDER]),
        "permutation of one view": lambda z1, z2: (z1, z2[ORDER]),
        "order of the views": lambda z1, z2: (z2, z1),
        "length of each embedding": lambda z1, z2: (z1 * lengths1, z2 * lengths2),
        "scale of each dimension": lambda z1, z2: (z1 * scales1, z2 * scales2),
    }


MOVES = moves(1.0)
IMPLIED = {
    "shift of each view": {
        "shift of both views",
        "shift of the second view",
        "number added to each view",
        "number added to the first view",
    },
    "shift of the second view": set(),
    "number added to each view": {"number added to the first view"},
}
LOSSES = {
    name: of_two_views(loss)
    for name, loss in PUBLIC.items()
    if name not in NOT_LOSSES and set(required(loss)[2:]) <= GIVEN.keys()
} | {
    "directclr": partial(objectives.directclr, dimensions=2),
    "swapped_prediction": predicting_codes,
    "corinfomax": partial(corinfomax_from, USED),
}
HELD = {name: invariances(PUBLIC[name]) for name in LOSSES}
VARIANTS = {
    "infonce_cosine, cold": (partial(infonce_cosine, temperature=0.001), HELD["infonce_cosine"]),
    "swav of embeddings": (
        partial(swav_with, PROTOTYPES),
        {"permutation of samples", "order of the views", "length of each embedding"},
    ),
    "w_mse in sub-batches": (partial(w_mse, sub_batch=6), HELD["w_mse"] - {"permutation of samples"}),
    "corinfomax at the start": (
        partial(corinfomax_from, Moments.initial(DIM)),
        {"rotation of both views", "permutation of samples", "order of the views"},
    ),
    "corinfomax without memory": (
        partial(corinfomax_from, USED, forgetting=0.0),
        {"rotation of both views", "shift of both views", "permutation of samples", "order of the views"},
    ),
}
"""Losses at other settings, and what they then are invariant to."""
LOSSES |= {name: loss for name, (loss, _) in VARIANTS.items()}
HELD |= {name: held for name, (_, held) in VARIANTS.items()}
HELD = {name: held.union(*(IMPLIED.get(move, ()) for move in held)) for name, held in HELD.items()}
DECLARED = sorted(name for name in LOSSES if HELD[name])


def test_every_loss_is_here_and_declares_its_invariances():
    for name, loss in PUBLIC.items():
        if name in NOT_LOSSES:
            continue
        assert name in LOSSES, f"{name}: add its arguments to GIVEN, or its name to NOT_LOSSES"
        assert invariances(loss), (
            f"{name}: add a line to its docstring, 'Invariant to: permutation of samples, ...', with what "
            f"leaves its value and gradient as they are; allowed: {', '.join(MOVES)}"
        )
        unknown = invariances(loss) - MOVES.keys()
        assert not unknown, f"{name}: invariant to {unknown}; allowed: {', '.join(MOVES)}"


def known(name):
    """The name in the package of a loss or of a variant."""
    return re.match(r"\w+", name)[0]


def evaluated(loss, z1, z2, move=lambda *views: views):
    """The loss of views that are moved, and its gradients for the views before."""
    z1, z2 = (z.clone().requires_grad_() for z in (z1, z2))
    value = loss(*move(z1, z2))
    found = torch.autograd.grad(value, (z1, z2), allow_unused=True)
    gradients = (torch.zeros_like(z1) if gradient is None else gradient for gradient in found)
    return value.detach(), *gradients


def assert_close(found, expected, digits, name):
    """The value and both gradients agree, each relative to its largest entry."""
    for ours, theirs in zip(found, expected, strict=True):
        error, size = (ours.double() - theirs).abs().max().item(), theirs.abs().max().item()
        assert error <= digits * size, f"{name}: {error / size if size else error:.1e}"


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("name", DECLARED)
def test_symmetries_held_and_lacked(views, name, move):
    """The value and, pulled back through the move, both gradients show each symmetry."""
    loss, (z1, z2) = LOSSES[name], views(BATCH, DIM)
    moved, still = evaluated(loss, z1, z2, MOVES[move]), evaluated(loss, z1, z2)
    if move in HELD[name]:
        assert_close(moved, still, 1e-10, name)
    else:
        assert any((ours - theirs).abs().max() > 1e-3 for ours, theirs in zip(moved, still, strict=True))


@pytest.mark.parametrize("far", [30.0, 1e3])
@pytest.mark.parametrize("name", DECLARED)
def test_single_precision_keeps_its_digits_however_the_views_are_moved(views, name, far):
    """A loss whose equation does not see where the views are may lose no digits by their place. The reference
    is float64 on the same numbers, which rounding has moved already."""
    for move in HELD[name]:
        for seed in range(5):
            moved = [z.float() for z in moves(far)[move](*views(BATCH, DIM, seed=seed))]
            exact = evaluated(LOSSES[name], *(z.double() for z in moved))
            assert_close(evaluated(LOSSES[name], *moved), exact, 1e-4, f"{name}, {move}")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_centre_and_state_are_shifted_with_the_embeddings(views, dtype):
    """Embeddings, centre and state are a thousand from zero."""
    shift = 1000 * SHIFT[0]
    z1, z2 = ((z + shift).to(dtype) for z in views(BATCH, DIM))
    centre, mean = (CENTRE + shift).to(dtype), USED.mean + shift
    exact1, exact2 = (z.double() - shift for z in (z1, z2))
    assert_close(
        evaluated(partial(corinfomax_from, Moments(mean, USED.covariance)), z1, z2),
        evaluated(partial(corinfomax_from, Moments(mean - shift, USED.covariance)), exact1, exact2),
        1e-6,
        "corinfomax",
    )
    assert_close(
        [dino(z1 - shift.to(dtype), z2, centre)],
        [dino(z1.double() - shift.to(dtype).double(), exact2, centre.double() - shift)],
        1e-6,
        "dino",
    )


TURNED_WITH_WHAT_IT_IS_COMPARED_TO = {
    "moco": lambda z1, z2, turn: moco(z1, z2, QUEUE @ turn),
    "swav of embeddings": lambda z1, z2, turn: swav_with(PROTOTYPES @ turn, z1, z2),
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
    """The loss is then |Z1ᵀZ2 - I|²_F, as in Skean 2024's Figure 2; the smaller weight and the normalisation
    see the axes."""
    z1, z2 = views(BATCH, DIM)

    def loss(a, b, weight):
        c = a.mT @ b
        return (c.diagonal() - 1).square().sum() + weight * (c.square().sum() - c.diagonal().square().sum())

    torch.testing.assert_close(loss(z1 @ TURN, z2 @ TURN, 1.0), loss(z1, z2, 1.0))
    assert (loss(z1 @ TURN, z2 @ TURN, 0.005) - loss(z1, z2, 0.005)).abs() > 1e-3
    found = barlow_twins(z1 @ TURN, z2 @ TURN, off_diagonal_weight=1.0)
    assert (found - barlow_twins(z1, z2, off_diagonal_weight=1.0)).abs() > 1e-3


STOPPED = {"moco", "negative_cosine", "byol", "dino"}
"""Losses whose second argument takes no gradient. SwAV's codes take none either: its loss is checked at fixed
codes."""
SWAPPED = {"swav", "swav of embeddings"}


@pytest.mark.parametrize("name", sorted(LOSSES.keys() - SWAPPED))
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


STACKED = {name for name in LOSSES if "*replica" in str(inspect.signature(PUBLIC[known(name)]))}


@pytest.mark.parametrize("name", sorted(STACKED))
def test_replicas_are_those_one_by_one(views, name):
    loss, (z1, z2) = LOSSES[name], views(3, BATCH, DIM)
    alone = torch.stack([loss(*both) for both in zip(z1, z2, strict=True)])
    torch.testing.assert_close(loss(z1, z2), alone)
    torch.testing.assert_close(torch.func.vmap(loss)(z1, z2), alone)


@pytest.mark.parametrize("name", LOSSES)
def test_single_precision_gives_the_same_to_its_digits(views, name):
    loss, (z1, z2) = LOSSES[name], views(BATCH, DIM)
    found = loss(z1.float(), z2.float())
    torch.testing.assert_close(found.double(), loss(z1, z2), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize(
    ("first", "second"), [((8, 4), (6, 4)), ((8, 4), (1, 4)), ((8, 4), (8, 3)), ((4,), (4,))]
)
def test_views_of_different_shapes_are_told_so(name, first, second):
    if name == "swav of embeddings":  # scores of different dimensions are embeddings' of the same
        loss = swav
    else:
        loss = LOSSES[name]
    shapes = rf"{list(first)} and {list(second)}".replace("[", r"\[").replace("]", r"\]")
    told = rf"^{known(name)}: embeddings of shapes {shapes}; expected one shape"
    with pytest.raises(RepriseError, match=told):
        loss(torch.ones(first), torch.ones(second))


MOMENTS_OR_NEGATIVES = sorted(
    name
    for name in LOSSES
    if "single sample" in PUBLIC[known(name)].__doc__ and name != "w_mse in sub-batches"
)


@pytest.mark.parametrize("name", MOMENTS_OR_NEGATIVES)
def test_a_single_sample_is_too_few(name):
    with pytest.raises(RepriseError, match=r"undefined for fewer than 2 samples: use larger batches"):
        LOSSES[name](torch.ones(1, 4), torch.ones(1, 4))


@pytest.mark.parametrize("name", sorted(LOSSES.keys() - set(MOMENTS_OR_NEGATIVES) - {"w_mse in sub-batches"}))
def test_of_others_a_single_sample_is_enough(views, name):
    assert LOSSES[name](*views(1, DIM)).isfinite()


ARGUMENTS = [
    (name, argument.name)
    for name, function in PUBLIC.items()
    for argument in inspect.signature(function).parameters.values()
    if argument.kind is argument.KEYWORD_ONLY and re.search(r"\b(float|int)\b", str(argument))
]
ZERO_HAS_A_MEANING = {"attraction", "forgetting", "momentum", ("corinfomax", "epsilon")}
"""Arguments that may be 0, besides weights of terms, which end in `_weight`."""


@pytest.mark.parametrize(("name", "argument"), ARGUMENTS, ids=lambda both: str(both))
def test_numbers_that_make_no_sense_are_refused_by_the_names_of_loss_and_argument(views, name, argument):
    function, senseless = PUBLIC[name], [math.nan, math.inf, -math.inf, -1, -0.5]
    if not argument.endswith("_weight") and not {argument, (name, argument)} & ZERO_HAS_A_MEANING:
        senseless.append(0)
    if argument == "iterations":
        senseless.append(2.5)
    embeddings = iter(views(BATCH, DIM))
    given = {other: GIVEN[other] if other in GIVEN else next(embeddings) for other in required(function)}
    options = {"dimensions": 2} if name == "directclr" else {}
    function(**given, **options)
    for value in senseless:
        named = argument.replace("sub_batch", "sub-batch")
        with pytest.raises(RepriseError, match=rf"^{name}: ") as caught:
            function(**given, **(options | {argument: value}))
        message = str(caught.value)
        assert named in message, message
        assert str(value) in message, message
        assert "allowed: " in message or "choose " in message or "expected " in message, message
