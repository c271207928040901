"""Wide networks: training and kernels against slow ones."""

import numpy as np
import pandas as pd
import pytest
import torch

from reprise.contract.experiment import Context
from reprise.papers.esser2024.two_layers import outputs
from reprise.papers.esser2024.wide_networks import compute as room
from reprise.papers.esser2024.wide_networks.experiment import ACTIVATIONS, Params

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
