"""Section 4 and Appendix C: f2 = V h(w_kmᵀ x_k), receptive fields that do not overlap."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from scipy.linalg import block_diag
from torch import Tensor
from torch.nn.functional import normalize

from reprise.evidence.identities import Array, Checked, Random, as_printed, below_zero, relative_error, size
from reprise.papers.tian2023.contrastive import contrastive_covariance, energy
from reprise.papers.tian2023.dynamics.one_layer import follow
from reprise.papers.tian2023.dynamics.points import (
    HOMOGENEOUS,
    Batch,
    Mixture,
    TwoLayers,
    gradient,
    normal,
    orthogonal,
    projected,
    random_batch,
    random_mixture,
    random_network,
    rank_one_distance,
    tensor,
    top_eigenvector,
    unit,
    variance,
)


def lemma4(rng: Random, largest: int) -> Checked:
    """Eq. 12 against the gradients of E_α[V f1], those of the filters through their normalisation."""
    net = random_network(rng, largest)
    batch = random_batch(rng, *net.w[:, 0].shape)

    def objective(v: Tensor, w: Tensor) -> Tensor:
        return energy(batch.alpha, *(net.hidden(x, normalize(w, dim=-1)) @ v.T for x in batch.views))

    dv, dw = gradient(objective, net.v, net.w)
    found = net.modulated(batch.covariance(net.gated), net.v.T @ net.v)
    return Checked(
        {"samples": len(batch.x), **net.sizes},
        {
            "lemma4/top": as_printed(
                relative_error((net.v @ batch.covariance(net.hidden)).numpy(), dv.numpy())
            ),
            "lemma4/filters": as_printed(relative_error(projected(net.w, found).numpy(), dw.numpy())),
        },
    )


def stationary_v(rng: Random, largest: int) -> Checked:
    """V with unit norm under V̇ = V C: which V are stationary, and where it goes."""
    hidden, outputs = size(rng, 2, largest), size(rng, 1, largest)
    basis = orthogonal(rng, hidden, hidden)
    values = np.concatenate([[2.0], rng.uniform(-0.5, 1.7, hidden - 1)])  # C_α need not be PSD
    c, s = (basis * values) @ basis.T, basis[:, 0]

    def velocity(_: float, flat: Array) -> Array:
        v = flat.reshape(outputs, hidden)
        vc = v @ c
        return (vc - np.sum(v * vc) / np.sum(v * v) * v).ravel()

    def off_rank_one(flat: Array) -> float:
        """How far V is from v sᵀ."""
        v = flat.reshape(outputs, hidden)
        return relative_error(np.outer(v @ s, s), v)

    start = rng.normal(size=outputs * hidden)
    end = follow(velocity, start / np.linalg.norm(start), 25 / (2 - values[1:].max()))
    other = np.outer(unit(rng, outputs).numpy(), basis[:, 1]).ravel()
    at_rest = np.linalg.norm(velocity(0, other)) < 1e-12
    errors = {"printed": off_rank_one(other) if at_rest else 0.0, "corrected": off_rank_one(end)}
    return Checked({"outputs": outputs}, {"sec4-stationary": errors})


def lemma5(rng: Random, largest: int) -> Checked:
    """Eq. 120, and its special case of two classes, over all inputs of a mixture."""
    errors, sizes = {}, {}
    for name, classes in (("lemma5/variance", size(rng, 3, 5)), ("lemma5/two-classes", 2)):
        net = random_network(rng, largest)
        fields, _, inputs = net.w.shape
        mixture = random_mixture(rng, classes, fields, inputs)
        x, probability = mixture.joint
        by_field = _gated_states(net, mixture)
        means, p = mixture.mean_given(by_field).reshape(classes, -1), mixture.classes
        found = block_diag(*mixture.within(by_field))
        if classes == 2:
            found += p[0] * p[1] * np.outer(means[1] - means[0], means[1] - means[0])
        else:
            rest = (p @ means - p[:, None] * means) / (1 - p)[:, None]  # E[x̃ | z ≠ c]
            found += np.einsum("c,ca,cb->ab", p * (1 - p) ** 2, means - rest, means - rest)
        errors[name] = as_printed(
            relative_error(found, variance(probability, net.gated(x).flatten(1)).numpy())
        )
        sizes = {**net.sizes, "samples": len(x), "classes": classes}
    return Checked(sizes, errors)


def theorem4(rng: Random, largest: int) -> Checked:
    """Eq. 14 for a linear network and S = s sᵀ, before and behind the projection of Eq. 12."""
    net, batch, s = _linear(rng, largest)
    dw = _ascent(net, batch, s)
    b = _field_gradient(net.w, batch, s)
    eq14 = s.view(net.w.shape[:2])[..., None] * b[:, None]
    spread = torch.linalg.svdvals(dw)
    normalised = projected(net.w, dw)
    return Checked(
        {"samples": len(batch.x), **net.sizes},
        {
            "thm4/dynamics": as_printed(relative_error(eq14.numpy(), dw.numpy())),
            "thm4/colinear": as_printed(float((spread[:, 1] / spread[:, 0]).max())),
            "thm4-projection": {
                "printed": relative_error(eq14.numpy(), normalised.numpy()),
                "corrected": relative_error(projected(net.w, eq14).numpy(), normalised.numpy()),
            },
        },
    )


def critical_path(rng: Random, largest: int) -> Checked:
    """From a critical point of Eq. 14 with distinct filters towards identical ones, s fixed.

    As proved: through the mean with the point whose filters are exchanged. Corrected: straight to the mean of
    the filters weighted by s_km.
    """
    fields, filters, inputs = size(rng, 2, 3), size(rng, 2, 3), size(rng, 2, largest)
    s = _weights(rng, fields, filters)
    span = orthogonal(rng, fields * inputs, fields * inputs)
    wide = random_batch(rng, fields * inputs - 1)
    x, x_aug = ((views @ tensor(span[:, 1:].T)).view(-1, fields, inputs) for views in wide.views)
    batch = Batch(wide.alpha, x, x_aug)
    silent = tensor(span[:, 0]).view(fields, inputs)  # Σ_k silent_kᵀ x_k = 0 for every sample
    w = unit(rng, fields, filters, inputs)
    w[:, 0] = (silent - (s[:, 1:, None] * w[:, 1:]).sum(1)) / s[:, :1]
    flat, scale = s.flatten(), _field_gradient(unit(rng, *w.shape), batch, s.flatten()).norm()
    exchanged = w.clone()
    exchanged[:, :2] = w[:, :2].flip(1)
    share = rng.uniform(0.2, 0.8)
    to_mean = (s[..., None] * w).sum(1, keepdim=True) / s.sum(1)[:, None, None]
    ends = {"printed": exchanged, "corrected": to_mean.expand_as(w)}
    at_start = float(_field_gradient(w, batch, flat).norm() / scale)
    errors = {
        form: float(_field_gradient(share * w + (1 - share) * end, batch, flat).norm() / scale)
        for form, end in ends.items()
    }
    sizes = {"samples": len(x), "inputs": inputs, "fields": fields, "filters": filters}
    return Checked(sizes, {"thm4/critical": as_printed(at_start), "thm4-path": errors})


@dataclass(frozen=True)
class Modulated:
    """Two classes, one filter a field: the symbols of Appendix C.3, from the conditional moments.

    Attributes:
        within: L_k. Shape [field, dim, dim].
        delta: Δ_k. Shape [field, dim].
    """

    net: TwoLayers
    mixture: Mixture
    within: Array
    delta: Array

    @property
    def w(self) -> Array:
        return self.net.w[:, 0].numpy()

    @property
    def p0p1(self) -> float:
        return float(self.mixture.classes.prod())

    @property
    def d(self) -> Array:
        return np.einsum("ka,kab,kb->k", self.w, self.within, self.w)

    @property
    def b(self) -> Array:
        return (self.w * self.delta).sum(1)

    @property
    def a(self) -> Array:
        """A_k = V[x̃_k] = L_k + p0 p1 Δ_k Δ_kᵀ. Shape [field, dim, dim]."""
        return self.within + self.p0p1 * np.einsum("ka,kb->kab", self.delta, self.delta)

    @property
    def hidden_variance(self) -> Tensor:
        """V[f1], over all inputs."""
        x, probability = self.mixture.joint
        return variance(probability, self.net.hidden(x))


def random_modulated(rng: Random, largest: int) -> Modulated:
    fields, inputs = size(rng, 2, 4), size(rng, 2, largest)
    activation = HOMOGENEOUS[str(rng.choice(list(HOMOGENEOUS)))]
    mixture = random_mixture(rng, 2, fields, inputs)
    filters = unit(rng, fields, 1, inputs)
    # A ReLU that is on for one state or for none has a variance that is all between classes, or no variance.
    for k in range(fields):
        while np.sum(mixture.values[k] @ filters[k, 0].numpy() > 0) < 2:
            filters[k, 0] = unit(rng, inputs)
    net = TwoLayers(activation, filters, torch.zeros(1, fields))
    states = _gated_states(net, mixture)
    means = mixture.mean_given(states)
    return Modulated(net, mixture, mixture.within(states), means[1] - means[0])


def theorem5(rng: Random, largest: int) -> Checked:
    """Eqs. 15, 138, 139 and 143, with δ_k also as the sentence after Eq. 143 has it."""
    at = random_modulated(rng, largest)
    expected = at.hidden_variance
    values, vectors = torch.linalg.eigh(expected)
    top, s = float(values[-1]), vectors[:, -1]
    shifted = at.b / (at.d - top)
    z = np.linalg.norm(shifted)
    delta = modulation(at.p0p1, at.b, at.d, top)
    shortened = 1 - at.p0p1 * at.b**2 / (top - at.d)
    eq15 = s.numpy()[:, None] ** 2 * _times(at.a, at.w) + (delta * at.b)[:, None] * at.delta
    x, probability = at.mixture.joint
    (dw,) = gradient(lambda w: s @ variance(probability, at.net.hidden(x, w)) @ s / 2, at.net.w)
    return Checked(
        {"samples": len(x), **at.net.sizes, "classes": 2},
        {
            "thm5/hidden-variance": as_printed(
                relative_error(np.diag(at.d) + at.p0p1 * np.outer(at.b, at.b), expected.numpy())
            ),
            "thm5/top-eigenvector": as_printed(rank_one_distance(tensor(shifted / z), s)),
            "thm5/secular": as_printed(abs(1 + at.p0p1 * np.sum(at.b * shifted))),
            "thm5/dynamics": as_printed(
                relative_error(
                    projected(at.net.w[:, 0], tensor(eq15)).numpy(),
                    projected(at.net.w[:, 0], dw[:, 0]).numpy(),
                )
            ),
            "thm5/nonnegative": as_printed(below_zero(delta)),
            "thm5-delta": {
                "printed": relative_error(shortened, delta),
                "corrected": relative_error(shortened / (z**2 * (top - at.d)), delta),
            },
        },
    )


def modulation(p0p1: float, b: Array, d: Array, top: float) -> Array:
    """δ_k of Eqs. 143 and 179."""
    z = np.linalg.norm(b / (top - d))
    shares = b**2 / (top - d)
    return p0p1 / (z**2 * (top - d)) * (shares.sum() - shares)


def _times(matrices: Array, vectors: Array) -> Array:
    """A_k w_k for every field k."""
    return np.einsum("kab,kb->ka", matrices, vectors)


def _gated_states(net: TwoLayers, mixture: Mixture) -> Array:
    """x̃_k of every input of every field. Shape [field, state, filter * dim]."""
    return net.gated(tensor(mixture.values.swapaxes(0, 1))).flatten(2).numpy().swapaxes(0, 1)


def _linear(rng: Random, largest: int) -> tuple[TwoLayers, Batch, Float[Tensor, "hidden"]]:
    """A linear network, a batch, and the top eigenvector s of C_α[f1]."""
    net = random_network(rng, largest, HOMOGENEOUS["linear"])
    batch = random_batch(rng, *net.w[:, 0].shape)
    return net, batch, top_eigenvector(batch.covariance(net.hidden))


def _ascent(net: TwoLayers, batch: Batch, s: Tensor) -> Tensor:
    """The gradient on the filters with V = v sᵀ fixed, by automatic differentiation."""

    def objective(w: Tensor) -> Tensor:
        return energy(batch.alpha, *((net.hidden(x, w) @ s)[:, None] for x in batch.views))

    return gradient(objective, net.w)[0]


def _field_gradient(w: Tensor, batch: Batch, s: Tensor) -> Float[Tensor, "field dim"]:
    """b_k = C_α[x_k, Σ s_k'm' w_k'm'ᵀ x_k'] (after Eq. 14)."""
    pooled = (s.view(w.shape[:2])[..., None] * w).sum(1)  # Σ_m s_km w_km
    outputs = [(x * pooled).sum((1, 2))[:, None] for x in batch.views]
    found = contrastive_covariance(batch.alpha, *(x.flatten(1) for x in batch.views), *outputs)
    return found.view(w.shape[0], w.shape[2])


def _weights(rng: Random, fields: int, filters: int) -> Float[Tensor, "field filter"]:
    """s_km of distinct sizes and either sign, of a sum away from 0 in each field."""
    while True:
        s = normal(rng, fields, filters)
        if s.abs().min() > 0.1 and s.sum(1).abs().min() > 0.3 and s.diff(dim=1).abs().min() > 0.1:
            return s / s.norm()


CHECKS = (lemma4, stationary_v, lemma5, theorem4, critical_path, theorem5)
