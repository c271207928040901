"""Finite width, steps and batches of Ren 2023: what is computed."""

import numpy as np
import pandas as pd
import pytest
import torch

from reprise.contract.experiment import Context
from reprise.numerics.streams import Streams
from reprise.papers.ren2023.finite_width import compute
from reprise.papers.ren2023.finite_width.experiment import Params, alternatives
from reprise.papers.ren2023.infinite_width import InfiniteWidth
from reprise.papers.ren2023.learners import Learner

TINY = {
    "dim": 4, "signals": 2, "stage1_time": 1.6, "stage2_time": 1.6, "looks": 2, "widths": (20, 2000),
    "step_sizes": (0.4, 0.2), "batch_sizes": (8, 64), "seeds": 2, "width_seeds": 2,
}  # fmt: skip


@pytest.fixture(scope="module")
def tiny():
    return compute.compute(Params(**TINY), Context())


def test_a_row_for_each_run_seed_and_look(tiny):
    for name, keys, runs in (
        ("widths", ["loss", "width"], 4), ("steps", ["step_size"], 2), ("batches", ["batch_size"], 2),
    ):  # fmt: skip
        table = tiny[name]
        assert len(table) == len(table[[*keys, "seed", "time"]].drop_duplicates()) == runs * 2 * 5
        assert np.isfinite(table.select_dtypes("number")).all(axis=None)
        assert table.groupby(table["time"].round(9))["stage"].first().to_dict() == pytest.approx(
            {0.0: 1, 0.8: 1, 1.6: 1, 2.4: 2, 3.2: 2}
        )


def test_descent_and_batches_begin_where_their_references_do(tiny):
    for name in ("steps", "batches"):
        assert (tiny[name].query("time == 0")["distance"] == 0).all()
        assert (tiny[name].query("time > 0")["distance"] > 0).all()


def test_a_seed_has_the_same_numbers_in_any_company(tiny):
    fewer = compute.compute(Params(**{**TINY, "seeds": 1, "width_seeds": 1}), Context())
    for name, table in fewer.items():
        ours = tiny[name].query("seed == 0").reset_index(drop=True)
        pd.testing.assert_frame_equal(ours, table, rtol=1e-9, check_exact=False)


def test_the_distance_from_the_limit_is_that_of_gram_matrices():
    """A learner whose columns have exactly the limit's inner products, and one with a column too long."""
    of = InfiniteWidth.of(np.array([3.0, 1.0]), noise2=0.25, noises=2)
    moment = of.start()
    moment = type(moment)(of, np.array([[3.0, 1.0]]), np.array([[1.5, -0.4]]), np.array([0.25]))
    gram = np.diag([3, 1, 0.25, 0.25, 3, 1, 0.25, 0.25]).astype(float)
    gram[[0, 4, 1, 5], [4, 0, 5, 1]] = [1.5, 1.5, -0.4, -0.4]
    root = torch.from_numpy(np.linalg.cholesky(gram).T)
    at = type(moment)(of, moment.k[0:1], moment.h[0:1], moment.v[0:1])
    learner = Learner(*root.chunk(2, -1))
    assert compute.limit_distance(learner, at) < 1e-12
    longer = Learner(learner.k_a * torch.tensor([1.1, 1, 1, 1], dtype=torch.float64), learner.k_b)
    other = gram.copy()
    other[0] *= 1.1
    other[:, 0] *= 1.1
    expected = np.linalg.norm(other - gram) / np.linalg.norm(gram)
    np.testing.assert_allclose(compute.limit_distance(longer, at), expected)
    np.testing.assert_allclose(compute.gram_distance(longer, learner), expected)


def test_cosines_are_the_largest_of_their_kind():
    k_a, k_b = torch.randn(2, 9, 5, generator=torch.Generator().manual_seed(0)).double()
    columns = [(latent, vector) for k in (k_a, k_b) for latent, vector in enumerate(k.T.numpy())]
    found = {"signals": 0.0, "signal_noise": 0.0, "noises": 0.0}
    for i, (p, x) in enumerate(columns):
        for j, (q, y) in enumerate(columns):
            kind = ("noises", "signal_noise", "signals")[(p < 2) + (q < 2)]
            if i != j and not (kind == "signals" and p == q):
                found[kind] = max(found[kind], abs(x @ y) / np.linalg.norm(x) / np.linalg.norm(y))
    ours = compute.orthogonality(Learner(k_a, k_b), 2)
    assert {name: float(value) for name, value in ours.items()} == pytest.approx(found)


def test_the_flow_does_not_depend_on_its_own_steps():
    coarse, fine = (
        compute.widths(Params(**{**TINY, "flow_steps": steps}))["distance"].to_numpy() for steps in (6, 24)
    )
    np.testing.assert_allclose(coarse, fine, rtol=0.01, atol=1e-4)


def test_the_limit_is_looked_at_when_the_learners_are():
    params = Params(**TINY)
    start = compute.initial(compute.gram_root(Streams(range(2), "W"), 20, params.dim), compute.scale(params))
    times = [look.time for look in compute.path(params, start, lambda learner, stage, time: learner)]
    np.testing.assert_allclose(times, [0, 0.8, 1.6, 2.4, 3.2])
    assert len(compute.limit(params, contrastive=True)) == len(times)


def test_sizes_that_do_not_fit_are_refused():
    for changes, words in (
        ({"signals": 4}, "signals must be fewer"),
        ({"widths": (7, 20)}, "twice dim"),
        ({"batch_step": 0.3}, "does not divide"),
    ):
        with pytest.raises(ValueError, match=words):
            Params(**{**TINY, **changes})
    for other in alternatives(Params()).values():
        assert Params(**other.model_dump()) == other
