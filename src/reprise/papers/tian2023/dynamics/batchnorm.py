"""Appendix D: BatchNorm whose gradient flows through the mean but not the variance (Definition 5)."""

import numpy as np
import torch
from torch import Tensor

from reprise.evidence.identities import Checked, Random, as_printed, below_zero, relative_error
from reprise.papers.tian2023.contrastive import energy
from reprise.papers.tian2023.dynamics.points import (
    gradient,
    projected,
    random_batch,
    random_network,
    rank_one_distance,
    tensor,
    variance,
)
from reprise.papers.tian2023.dynamics.two_layers import Modulated, modulation, random_modulated


def statistics(f: Tensor, f_aug: Tensor) -> tuple[Tensor, Tensor]:
    """μ_k and σ_k over both views of a batch (Eqs. 164 and 165)."""
    views = torch.cat([f, f_aug])
    return views.mean(0), views.std(0, correction=0)


def normalised(f: Tensor, f_aug: Tensor) -> list[Tensor]:
    """f^bn of both views, with no gradient through the variance."""
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
    covariance = batch.covariance(lambda x: net.gated(x) / std.view(*net.w.shape[:2], 1))
    top = net.v @ batch.covariance(lambda x: net.hidden(x) / std)  # C_α does not see the mean
    return Checked(
        {"samples": len(batch.x), **net.sizes},
        {
            "lemma6/top": as_printed(relative_error(top.numpy(), dv.numpy())),
            "lemma6/filters": as_printed(
                relative_error(net.modulated(covariance, net.v.T @ net.v).numpy(), dw.numpy())
            ),
        },
    )


def corollary3(rng: Random, largest: int) -> Checked:
    """Eqs. 175 to 179 and the remark after them, exactly, over all inputs of a mixture of two classes."""
    model = random_modulated(rng, largest)
    x, probability = model.mixture.joint
    hidden = model.net.hidden(x)
    std = (probability @ (hidden - probability @ hidden) ** 2).sqrt()
    hidden_variance = variance(probability, hidden / std)
    values, vectors = torch.linalg.eigh(hidden_variance)
    top, s = float(values[-1]), vectors[:, -1]
    normalised_model = _normalised(model, std)
    direction = normalised_model.b / (top - normalised_model.d)
    delta = modulation(model.p0p1, normalised_model.b, normalised_model.d, top)
    eq178 = s.numpy()[:, None] ** 2 * np.einsum("kab,kb->ka", normalised_model.a, model.w)
    eq178 += (delta * normalised_model.b)[:, None] * normalised_model.delta
    (dw,) = gradient(lambda w: s @ variance(probability, model.net.hidden(x, w) / std) @ s / 2, model.net.w)
    uniform = 1 / (1 + model.p0p1 * (model.b / np.sqrt(model.d)) ** 2)
    return Checked(
        {"samples": len(x), **model.net.sizes, "classes": 2},
        {
            "cor3/gated-variance": as_printed(_gated_error(model, normalised_model, std)),
            "cor3/bound": as_printed(below_zero(top - normalised_model.d)),
            "cor3/top-eigenvector": as_printed(
                rank_one_distance(tensor(direction / np.linalg.norm(direction)), s)
            ),
            "cor3/dynamics": as_printed(relative_error(eq178, dw[:, 0].numpy())),
            "cor3/nonnegative": as_printed(below_zero(delta)),
            "cor3/remark": as_printed(relative_error(uniform, normalised_model.d)),
        },
    )


def _normalised(model: Modulated, std: Tensor) -> Modulated:
    """The quantities of Eqs. 175 to 177."""
    sigma = std.numpy()
    return Modulated(
        model.net, model.mixture, model.within / sigma[:, None, None] ** 2, model.delta / sigma[:, None]
    )


def _gated_error(model: Modulated, normalised_model: Modulated, std: Tensor) -> float:
    """The error of Eq. 175 over all fields: V[x̃_k^bn] over all inputs against σ_k⁻² A_k."""
    x, probability = model.mixture.joint
    gated = model.net.gated(x)[:, :, 0] / std[:, None]
    variances = torch.stack([variance(probability, gated[:, k]) for k in range(gated.shape[1])])
    return relative_error(normalised_model.a, variances.numpy())


ZETA = 5.0
"""Fields' inputs are so many times longer or shorter, the middle one of Figure 11's zeta."""


def slow_fields(rng: Random, largest: int) -> dict[str, dict[str, float]]:
    """How unequal the fields are, without and with BatchNorm, when the lengths of their inputs differ.

    Decimal logarithms: of |ẇ_k| in the field with the smallest d_k without BatchNorm over that in the field
    with the largest (`speed`, by Theorem 5 and Corollary 3), and of the largest over the smallest d_k (`d`)
    and λ - d_k (`gap`).
    """
    model = random_modulated(rng, largest)
    lengths = ZETA ** rng.uniform(-1, 1, len(model.delta))
    within, delta = model.within * lengths[:, None, None] ** 2, model.delta * lengths[:, None]
    model = Modulated(model.net, model.mixture, within, delta)
    std = tensor(np.sqrt(model.d + model.p0p1 * model.b**2))  # of f_k, by Lemma 5
    slow, fast = int(model.d.argmin()), int(model.d.argmax())
    return {
        "none": _inequalities(model, slow, fast),
        "BatchNorm": _inequalities(_normalised(model, std), slow, fast),
    }


def _inequalities(model: Modulated, slow: int, fast: int) -> dict[str, float]:
    values, vectors = np.linalg.eigh(np.diag(model.d) + model.p0p1 * np.outer(model.b, model.b))
    top, s = values[-1], vectors[:, -1]
    pull = s[:, None] ** 2 * np.einsum("kab,kb->ka", model.a, model.w)
    pull += (modulation(model.p0p1, model.b, model.d, top) * model.b)[:, None] * model.delta
    speed = projected(tensor(model.w), tensor(pull)).norm(dim=1).numpy()
    return {
        "speed": float(np.log10(speed[slow] / speed[fast])),
        "d": float(np.log10(model.d.max() / model.d.min())),
        "gap": float(np.log10((top - model.d).max() / (top - model.d).min())),
    }


CHECKS = (lemma6, corollary3)
