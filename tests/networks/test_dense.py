"""Dense networks against loops in numpy, and their initialisations against what they are to be."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from reprise.networks.dense import decaying_spectrum, default_init, linear, product, random_orthogonal, relu
from reprise.numerics.streams import Streams

WIDTHS = (3, 5, 4, 2)


@pytest.fixture
def nets():
    """Nets of one, two and three layers, two replicas each, of several widths; and their inputs."""
    generator = torch.Generator().manual_seed(0)

    def normal(*shape):
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    widths = [(3, 2), (3, 6, 2), (3, 5, 4, 2)]
    weights = [[normal(2, out, into) for into, out in pairwise(w)] for w in widths]
    return weights, normal(3, 2, 7, 3)


def forward(weights, x, nonlinearity):
    """One sample through one replica's layers, in numpy."""
    for weight in weights[:-1]:
        x = nonlinearity(weight @ x)
    return weights[-1] @ x


@pytest.mark.parametrize(
    ("network", "nonlinearity"), [(linear, lambda x: x), (relu, lambda x: np.maximum(x, 0))]
)
def test_networks_are_their_layers_one_after_the_other(nets, network, nonlinearity):
    weights, x = nets
    found = network(weights, x)
    assert found.shape == (3, 2, 7, 2)
    for net, replica, sample in np.ndindex(3, 2, 7):
        layers = [weight[replica].numpy() for weight in weights[net]]
        expected = forward(layers, x[net, replica, sample].numpy(), nonlinearity)
        np.testing.assert_allclose(found[net, replica, sample], expected, rtol=1e-12)


def test_one_net_may_serve_inputs_that_all_replicas_share(nets):
    weights, x = nets
    shared = x[:1, :1].expand(3, 2, 7, 3)
    torch.testing.assert_close(linear(weights, x[:1, :1]), linear(weights, shared))


def test_relu_is_not_linear_and_has_none_after_the_last_layer(nets):
    weights, x = nets
    assert (relu(weights, x) - linear(weights, x)).abs()[1:].max() > 0.1
    torch.testing.assert_close(relu(weights, x)[0], linear(weights, x)[0])
    assert relu(weights, x).min() < 0


def test_the_product_is_the_last_layer_times_the_ones_below(nets):
    (*_, three), _ = nets
    np.testing.assert_allclose(product(three)[1], np.linalg.multi_dot([w[1].numpy() for w in three[::-1]]))


@pytest.mark.parametrize("dim", [1, 2, 16])
def test_random_orthogonal_matrices_are_orthogonal(dim):
    q = random_orthogonal(Streams(range(5), "q"), dim).double()
    torch.testing.assert_close(q @ q.mT, torch.eye(dim).double().expand(5, dim, dim), atol=1e-5, rtol=0)


def test_random_orthogonal_matrices_are_haar_distributed():
    """Moments over O(3): E Q_ij = 0, E Q_ij² = 1/3, E Q_ij⁴ = 1/5, E tr Q = 0, E (tr Q)² = 1; half reflect.

    Without the sign fix a Householder QR has signs of its own: the diagonal is not centred.
    """
    n = 4000
    q = random_orthogonal(Streams(range(n), "q"), 3).double()
    trace = q.diagonal(dim1=-2, dim2=-1).sum(-1)
    close = 4.5 / n**0.5
    assert q.mean(0).abs().max() < close * (1 / 3) ** 0.5
    assert (q.square().mean(0) - 1 / 3).abs().max() < close * (1 / 5 - 1 / 9) ** 0.5
    assert (q.pow(4).mean(0) - 1 / 5).abs().max() < close * (1 / 9 - 1 / 25) ** 0.5
    assert trace.mean().abs() < close
    assert (trace.square().mean() - 1).abs() < close * 3**0.5
    assert (torch.linalg.det(q).sign().mean()).abs() < close
    raw = torch.linalg.qr(Streams(range(n), "q").normal(3, 3)).Q.double()
    assert raw.mean(0).abs().max() > 5 * close  # what the test tells apart


def test_orthogonal_matrices_of_a_seed_are_the_same_in_any_company_and_differ_from_draw_to_draw():
    company, alone = Streams([0, 7, 1], "q"), Streams([7], "q")
    first, second = random_orthogonal(company, 16), random_orthogonal(company, 16)
    assert torch.equal(first[1], random_orthogonal(alone, 16)[0])
    assert torch.equal(second[1], random_orthogonal(alone, 16)[0])
    assert (first - second).abs().max() > 0.1
    assert (first[0] - first[2]).abs().max() > 0.1


@pytest.mark.parametrize(("dim", "decay"), [(16, 0.35), (4, 1.0)])
def test_a_decaying_spectrum_has_exponential_singular_values(dim, decay):
    w = decaying_spectrum(Streams(range(3), "w"), dim, decay).numpy()
    expected = np.exp(-decay * np.arange(dim))
    np.testing.assert_allclose(np.linalg.svd(w, compute_uv=False), np.tile(expected, (3, 1)), rtol=1e-3)


def test_a_decaying_spectrum_decays_as_in_the_authors_code_and_has_bases_of_its_own_on_both_sides():
    w = decaying_spectrum(Streams([0], "w"), 16)[0].numpy()
    u, s, vt = np.linalg.svd(w)
    np.testing.assert_allclose(s[1:4] / s[:3], np.exp(-0.35), rtol=1e-3)
    assert np.abs(vt @ u).max() < 0.95


def test_the_default_start_is_that_of_torchs_linear_layers():
    found = default_init(Streams([0, 1], "start"), 300, 5, 5, inputs=25)
    theirs = torch.nn.Linear(25, 300, bias=False).weight
    assert found.shape == (2, 300, 5, 5)
    assert found.abs().max() <= 0.2
    assert found.abs().max().item() == pytest.approx(theirs.abs().max().item(), rel=0.01)
    assert found.std().item() == pytest.approx(theirs.std().item(), rel=0.03)
    assert abs(found.mean()) < 0.005
