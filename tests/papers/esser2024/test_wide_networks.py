"""Wide networks: training and kernels against slow ones, and every claim against tables that break it."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
import torch
from countering import refuted, unbroken

from reprise.contract.experiment import Context
from reprise.engine import registry
from reprise.evidence.judgement import is_refuted, judge
from reprise.papers.esser2024.two_layers import outputs
from reprise.papers.esser2024.wide_networks import compute as room
from reprise.papers.esser2024.wide_networks.experiment import ACTIVATIONS, ARMS, LOSSES, Params

CLAIMS = {claim.id: claim for claim in registry.experiment("esser2024/wide_networks").claims}
TINY = Params(samples=6, width=12, steps=8, record_every=4, widths=(10, 12, 14), epochs=4, seeds=2)


def test_tables_are_tidy_and_the_same_in_any_company():
    tables = room.compute(TINY, Context())
    alone = room.compute(TINY.model_copy(update={"seeds": 1}), Context())
    for name, keys in (
        ("collapse", ["loss", "activation", "step", "seed"]),
        ("distances", ["arm", "width", "seed"]),
    ):
        table = tables[name]
        assert not table.duplicated(keys).any()
        assert np.isfinite(table.select_dtypes("number")).all(axis=None)
        first = table.query("seed == 0").sort_values(keys).reset_index(drop=True)
        pd.testing.assert_frame_equal(first, alone[name].sort_values(keys).reset_index(drop=True))
    assert len(tables["collapse"]) == 4 * 3 * 2
    assert len(tables["distances"]) == 3 * 3 * 2


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_the_tangent_kernel_is_that_of_the_gradients(activation):
    w1, w2 = (w[:1] for w in room.standard_start(TINY, 7, 1))
    x = torch.randn(1, 5, 2, generator=torch.Generator().manual_seed(0)).double()
    leaves = [w1.clone().requires_grad_(), w2.clone().requires_grad_()]
    u = 0.3 * outputs((leaves[0], leaves[1]), x, activation)[0, :, 0]
    gradients = torch.stack(
        [
            torch.cat([g.flatten() for g in torch.autograd.grad(value, leaves, retain_graph=True)])
            for value in u
        ]
    )
    torch.testing.assert_close(room.tangent_kernel([w1, w2], x, activation, 0.3)[0], gradients @ gradients.T)


def test_steps_are_along_the_gradient_and_a_share_of_the_weights(monkeypatch):
    """A plain loop over one seed ends at the same singular values."""
    table = room._collapse(TINY, "contrastive", "tanh", lambda share: None)
    x = room._points(room._data(TINY))[0]
    w1, w2 = (w[0].clone() for w in room.standard_start(TINY, TINY.width, TINY.output_dim))
    for step in range(TINY.steps + 1):
        w1, w2 = w1.detach().requires_grad_(), w2.detach().requires_grad_()
        anchor, positive, negative = (torch.tanh(x @ w1.T) @ w2 / TINY.width**0.5).split(TINY.samples)
        if step in (0, 4, 8):
            values = torch.linalg.svdvals(anchor.detach())
            row = table.query("seed == 0 and step == @step").iloc[0]
            assert row["ratio"] == pytest.approx(float(values[1] / values[0]), rel=1e-6)
        gradients = torch.autograd.grad((anchor * (negative - positive)).sum() / TINY.samples, (w1, w2))
        length, slope = (sum(part.square().sum() for part in parts) ** 0.5 for parts in ((w1, w2), gradients))
        w1, w2 = (w - 0.02 * length / slope * g for w, g in zip((w1, w2), gradients, strict=True))


def test_without_training_a_network_is_its_kernel():
    still = TINY.model_copy(update={"learning_rate": 1e-9})
    assert room._distances(still, 12, lambda share: None)["distance"].max() < 1e-6


# Claims.


def held():
    collapse = [
        {
            "loss": loss,
            "activation": activation,
            "step": step,
            "seed": seed,
            "ratio": ratio * (1 + 0.01 * seed),
        }
        for loss, activation, (step, ratio), seed in product(
            LOSSES, ACTIVATIONS, ((0, 0.5), (9, 1e-6)), range(4)
        )
    ]
    power = {"supervised": -0.5, "unconstrained": -0.1, "constrained": 0.0}
    distances = [
        {
            "arm": arm,
            "width": width,
            "seed": seed,
            "distance": size * (width / 100) ** power[arm] * (1 + 0.01 * seed),
        }
        for (arm, size), width, seed in product(
            zip(ARMS, (0.05, 0.6, 0.9), strict=True), (100, 300, 1000), range(4)
        )
    ]
    return {"collapse": pd.DataFrame(collapse), "distances": pd.DataFrame(distances)}


def changed(table, where, factor):
    tables = held()
    hit = tables[table].query(where).index
    column = tables[table].columns[-1]
    tables[table].loc[hit, column] *= factor
    return tables


BROKEN = [
    *(
        (
            "sec2/wide-collapse",
            changed("collapse", f"step == 9 and loss == '{loss}' and activation == '{name}'", 1e5),
        )
        for loss, name in product(LOSSES, ACTIVATIONS)
    ),
    *(
        (name, changed("distances", f"arm == '{arm}' and width == {width}", 0.02))
        for name, arm in (
            ("abstract/ntk-unconstrained", "unconstrained"),
            ("abstract/ntk-deviation", "constrained"),
        )
        for width in (100, 1000)
    ),
    *(
        ("abstract/ntk-deviation", changed("distances", "arm == 'constrained' and width == 1000", factor))
        for factor in (0.09, 0.01)
    ),
    ("abstract/ntk-deviation", changed("distances", "arm == 'constrained'", 0.01)),
    ("abstract/ntk-supervised", changed("distances", "arm == 'supervised' and width == 1000", 10.0)),
]


@pytest.mark.parametrize("id", CLAIMS)
def test_a_claim_is_reproduced_by_tables_that_hold_it(id):
    assert judge(CLAIMS[id], held()).verdict == "reproduced"


@pytest.mark.parametrize(("id", "tables"), BROKEN, ids=[id for id, _ in BROKEN])
def test_and_contradicted_by_tables_that_break_it(id, tables):
    assert refuted(CLAIMS[f"esser2024/{id}"], tables)


def test_every_claim_has_a_counter_case():
    assert {f"esser2024/{id}" for id, _ in BROKEN} == set(CLAIMS)
    for name, claim in CLAIMS.items():
        worlds = [tables for id, tables in BROKEN if f"esser2024/{id}" == name]
        assert not unbroken(claim, worlds)
        assert any(is_refuted(claim, judge(claim, world)) for world in worlds)
