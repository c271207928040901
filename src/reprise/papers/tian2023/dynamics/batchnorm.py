"""Appendix D: BatchNorm whose gradient flows through the mean but not the variance (Definition 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reprise.evidence.formula import Errors, Formula, formula
from reprise.evidence.identities import Random, below_zero, relative_error
from reprise.papers.tian2023.dynamics.points import (
    gradient,
    projected,
    random_batch,
    random_network,
    rank_one_distance,
    tensor,
    variance,
)
from reprise.papers.tian2023.dynamics.two_layers import Modulated, Trained, pull, random_modulated, top_of

if TYPE_CHECKING:
    from torch import Tensor


def statistics(f: Tensor, f_aug: Tensor) -> tuple[Tensor, Tensor]:
    """μ_k and σ_k over both views of a batch (Eqs. 164 and 165)."""
    import torch

    views = torch.cat([f, f_aug])
    return views.mean(0), views.std(0, correction=0)


def normalised(f: Tensor, f_aug: Tensor) -> list[Tensor]:
    """f^bn of both views, with no gradient through the variance."""
    mean, std = statistics(f, f_aug)
    return [(view - mean) / std.detach() for view in (f, f_aug)]


def lemma6(rng: Random, largest: int) -> Trained:
    net = random_network(rng, largest)
    while True:
        batch = random_batch(rng, *net.w[:, 0].shape)
        _, std = statistics(*(net.hidden(x) for x in batch.views))
        if (std > 0).all():  # a filter that is silent on every input has no variance to divide by
            return Trained(net, batch)


@formula(
    "lemma6",
    "With mean-backprop BatchNorm the top layer of a two-layer network moves by V̇ = V C_α[f1^bn], and its "
    "filters by ẇ = [(S ⊗ 1 1ᵀ) ∘ C_α[x̃^bn]] w.",
    at="Lemma 6, Eq. 166, Appendix D",
    tried_at=lemma6,
)
def motion_with_batch_norm(point: Trained) -> Errors:
    """Errors against the gradients of E_α[V f1^bn]. The decoy has x̃ in place of x̃^bn."""
    from reprise.papers.tian2023.contrastive import energy

    net, batch = point.net, point.batch

    def objective(v: Tensor, w: Tensor) -> Tensor:
        return energy(batch.alpha, *(f @ v.T for f in normalised(*(net.hidden(x, w) for x in batch.views))))

    dv, dw = gradient(objective, net.v, net.w)
    _, std = statistics(*(net.hidden(x) for x in batch.views))
    top = net.v @ batch.covariance(lambda x: net.hidden(x) / std)  # C_α does not see the mean

    def error(scale: Tensor) -> float:
        covariance = batch.covariance(lambda x: net.gated(x) / scale.view(*net.w.shape[:2], 1))
        return relative_error(net.modulated(covariance, net.v.T @ net.v).numpy(), dw.numpy())

    return Errors(printed=max(relative_error(top.numpy(), dv.numpy()), error(std)), decoy=error(std / std))


def corollary3(rng: Random, largest: int) -> Modulated:
    return random_modulated(rng, largest)


@formula(
    "cor3",
    "With BatchNorm λ^bn is at least every d_k^bn, s^bn has the components b_k^bn/(λ^bn - d_k^bn)/Z^bn, and "
    "w_k moves by ((s_k^bn)² A_k^bn + δ_k^bn Δ_k^bn Δ_k^bnᵀ) w_k with a δ_k^bn that is never negative.",
    at="Corollary 3, Eqs. 175 to 179, Appendix D",
    tried_at=corollary3,
)
def modulation_with_batch_norm(model: Modulated) -> Errors:
    """Exact errors over all inputs. The decoy has |s_k| in place of s_k²."""
    x, probability = model.mixture.joint
    hidden = model.net.hidden(x)
    std = (probability @ (hidden - probability @ hidden) ** 2).sqrt()
    with_it = normalised_by(std, model)
    top = top_of(with_it, variance(probability, hidden / std))
    direction = with_it.b / (top.value - with_it.d)
    (dw,) = gradient(
        lambda w: top.s @ variance(probability, model.net.hidden(x, w) / std) @ top.s / 2, model.net.w
    )

    def error(s: Tensor) -> float:
        return relative_error(pull(with_it, s, top.delta).numpy(), dw[:, 0].numpy())

    parts = (
        below_zero(top.value - with_it.d),
        rank_one_distance(tensor(direction / np.linalg.norm(direction)), top.s),
        error(top.s),
        below_zero(top.delta),
    )
    return Errors(printed=max(parts), decoy=error(top.s.abs().sqrt()))


def normalised_by(std: Tensor, model: Modulated) -> Modulated:
    """The quantities of Eqs. 175 to 177."""
    sigma = std.numpy()
    return Modulated(
        model.net, model.mixture, model.within / sigma[:, None, None] ** 2, model.delta / sigma[:, None]
    )


ZETA = 5.0
"""Largest factor by which a field's inputs are longer or shorter: the middle zeta of Figure 11."""


def slow_fields(rng: Random, largest: int) -> dict[str, dict[str, float]]:
    """Inequality of the fields, without and with BatchNorm, when the lengths of their inputs differ.

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
        "BatchNorm": _inequalities(normalised_by(std, model), slow, fast),
    }


def _inequalities(model: Modulated, slow: int, fast: int) -> dict[str, float]:
    top = top_of(model, tensor(np.diag(model.d) + model.p0p1 * np.outer(model.b, model.b)))
    speed = projected(tensor(model.w), pull(model, top.s, top.delta)).norm(dim=1).numpy()
    gaps = top.value - model.d
    return {
        "speed": float(np.log10(speed[slow] / speed[fast])),
        "d": float(np.log10(model.d.max() / model.d.min())),
        "gap": float(np.log10(gaps.max() / gaps.min())),
    }


FORMULAS: tuple[Formula, ...] = (motion_with_batch_norm, modulation_with_batch_norm)
