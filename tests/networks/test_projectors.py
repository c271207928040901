"""Projectors: their layers, and the low-rank one's singular values."""

import pytest
import torch
from pydantic import TypeAdapter

from reprise.errors import RepriseError
from reprise.networks.projectors import MLP, Diagonal, Identity, Linear, LowRank, Projector

R = torch.randn(16, 12, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(
    "spec", [MLP(dims=(20, 8)), Linear(out=5), Diagonal(), LowRank(rank=3), Identity()], ids=lambda s: s.kind
)
def test_it_makes_embeddings_of_its_dimension_and_goes_through_json(spec):
    assert spec.build(12)(R).shape == (16, spec.dim(12))
    assert TypeAdapter(Projector).validate_json(spec.model_dump_json()) == spec


def layers(spec):
    return [type(layer).__name__ for layer in spec.build(12)]


def test_an_mlp_has_batchnorm_and_relu_between_its_layers_and_biases_where_they_matter():
    assert layers(MLP(dims=(20, 20, 8))) == 2 * ["Linear", "BatchNorm1d", "ReLU"] + ["Linear"]
    assert layers(MLP(dims=(20, 8), last_norm=True)) == [
        "Linear",
        "BatchNorm1d",
        "ReLU",
        "Linear",
        "BatchNorm1d",
    ]
    assert layers(MLP(dims=(20, 8), norm=False)) == ["Linear", "ReLU", "Linear"]
    biases = [
        layer.bias is not None for layer in MLP(dims=(20, 8)).build(12) if hasattr(layer, "in_features")
    ]
    assert biases == [False, True]
    assert MLP(dims=(20, 8), last_norm=True).build(12)[3].bias is None
    assert MLP(dims=(8,), last_bias=False).build(12)[0].bias is None


def test_the_diagonal_starts_as_the_identity_and_learns():
    net = Diagonal().build(12)
    torch.testing.assert_close(net(R), R)
    net(R).sum().backward()
    torch.testing.assert_close(net.weight.grad, R.sum(0))


def test_the_low_rank_matrix_is_fixed_with_singular_values_one_and_zero():
    net = LowRank(rank=3).build(12)
    assert list(net.parameters()) == []
    expected = torch.tensor([1.0] * 3 + [0.0] * 9)
    torch.testing.assert_close(torch.linalg.svdvals(net.weight), expected, atol=1e-5, rtol=0)
    assert "weight" in net.state_dict()
    with pytest.raises(RepriseError, match="rank 13"):
        LowRank(rank=13).build(12)
