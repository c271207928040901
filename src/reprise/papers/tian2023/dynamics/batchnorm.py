"""Appendix D: batch normalisation through whose mean, but not variance, the gradient flows (Definition 5)."""

import numpy as np
import torch
from torch import Tensor

from reprise.evidence.identities import Checked, Random, as_printed, below_zero, relative_error
from reprise.papers.tian2023.contrastive import energy
from reprise.papers.tian2023.dynamics.points import (
    gradient,
    random_batch,
    random_network,
    rank_one_distance,
    tensor,
    variance,
)
from reprise.papers.tian2023.dynamics.two_layers import Modulated, modulation, random_modulated


def statistics(f: Tensor, f_aug: Tensor) -> tuple[Tensor, Tensor]:
    """μ_k and σ_k over both views of a batch (Eqs. 164 and 165)."""
    both = torch.cat([f, f_aug])
    return both.mean(0), both.std(0, correction=0)


def normalised(f: Tensor, f_aug: Tensor) -> list[Tensor]:
    """f^bn of both views; no gradient passes the variance."""
    mean, std = statistics(f, f_aug)
    return [(view - mean) / std.detach() for view in (f, f_aug)]


def lemma6(rng: Random, largest: int) -> Checked:
    """Eq. 166 against the gradients of E_α[V f1^bn]."""
    net = random_network(rng, largest)
    batch = random_batch(rng, *net.w[:, 0].shape)

    def objective(v: Tensor, w: Tensor) -> Tensor:
        return energy(batch.alpha, *(f @ v.T for f in normalised(*(net.hidden(x, w) for x in batch.views))))

    dv, dw = gradient(objective, net.v, net.w)
    _, std = statistics(*(net.hidden(x) for x in batch.views))
    scaled = batch.covariance(lambda x: net.gated(x) / std.view(*net.w.shape[:2], 1))
    top = net.v @ batch.covariance(lambda x: net.hidden(x) / std)  # C_α does not see the mean
    return Checked(
        {"samples": len(batch.x), **net.sizes},
        {
            "lemma6/top": as_printed(relative_error(top.numpy(), dv.numpy())),
            "lemma6/filters": as_printed(
                relative_error(net.modulated(scaled, net.v.T @ net.v).numpy(), dw.numpy())
            ),
        },
    )


def corollary3(rng: Random, largest: int) -> Checked:
    """Eqs. 175 to 179 and the remark after them, over all inputs of a mixture of two classes."""
    at = random_modulated(rng, largest)
    x, probability = at.mixture.joint
    hidden = at.net.hidden(x)
    std = (probability @ (hidden - probability @ hidden) ** 2).sqrt()
    expected = variance(probability, hidden / std)
    values, vectors = torch.linalg.eigh(expected)
    top, s = float(values[-1]), vectors[:, -1]
    scaled = _scaled(at, std)
    shifted = scaled.b / (top - scaled.d)
    delta = modulation(at.p0p1, scaled.b, scaled.d, top)
    eq178 = s.numpy()[:, None] ** 2 * np.einsum("kab,kb->ka", scaled.a, at.w)
    eq178 += (delta * scaled.b)[:, None] * scaled.delta
    (dw,) = gradient(lambda w: s @ variance(probability, at.net.hidden(x, w) / std) @ s / 2, at.net.w)
    uniform = 1 / (1 + at.p0p1 * (at.b / np.sqrt(at.d)) ** 2)
    return Checked(
        {"samples": len(x), **at.net.sizes, "classes": 2},
        {
            "cor3/gated-variance": as_printed(_gated_error(at, scaled, std)),
            "cor3/bound": as_printed(below_zero(top - scaled.d)),
            "cor3/top-eigenvector": as_printed(
                rank_one_distance(tensor(shifted / np.linalg.norm(shifted)), s)
            ),
            "cor3/dynamics": as_printed(relative_error(eq178, dw[:, 0].numpy())),
            "cor3/nonnegative": as_printed(below_zero(delta)),
            "cor3/remark": as_printed(relative_error(uniform, scaled.d)),
        },
    )


def _scaled(at: Modulated, std: Tensor) -> Modulated:
    """The symbols of Eqs. 175 to 177."""
    sigma = std.numpy()
    return Modulated(at.net, at.mixture, at.within / sigma[:, None, None] ** 2, at.delta / sigma[:, None])


def _gated_error(at: Modulated, scaled: Modulated, std: Tensor) -> float:
    """Eq. 175 for all fields together: V[x̃_k^bn] over all inputs, beside σ_k⁻² A_k."""
    x, probability = at.mixture.joint
    gated = at.net.gated(x)[:, :, 0] / std[:, None]
    found = torch.stack([variance(probability, gated[:, k]) for k in range(gated.shape[1])])
    return relative_error(scaled.a, found.numpy())


CHECKS = (lemma6, corollary3)
