"""Section 4 and Appendix C: two layers, f2 = V h(w_kmᵀ x_k), with disjoint receptive fields."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from scipy.linalg import block_diag
from torch import Tensor
from torch.nn.functional import normalize

from reprise.evidence.identities import (
    Array,
    Checked,
    Random,
    as_printed,
    below_zero,
    orthonormal,
    relative_error,
    size,
)
from reprise.papers.tian2023.contrastive import contrastive_covariance, energy
from reprise.papers.tian2023.dynamics.one_layer import follow
from reprise.papers.tian2023.dynamics.points import (
    HOMOGENEOUS,
    Batch,
    Mixture,
    TwoLayers,
    gradient,
    normal,
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
    """Eq. 12 against the gradients of E_α[V f1], taken through the filters' normalisation."""
    net = random_network(rng, largest)
    batch = random_batch(rng, *net.w[:, 0].shape)

    def objective(v: Tensor, w: Tensor) -> Tensor:
        return energy(batch.alpha, *(net.hidden(x, normalize(w, dim=-1)) @ v.T for x in batch.views))

    dv, dw = gradient(objective, net.v, net.w)
    filter_gradient = net.modulated(batch.covariance(net.gated), net.v.T @ net.v)
    return Checked(
        {"samples": len(batch.x), **net.sizes},
        {
            "lemma4/top": as_printed(
                relative_error((net.v @ batch.covariance(net.hidden)).numpy(), dv.numpy())
            ),
            "lemma4/filters": as_printed(
                relative_error(projected(net.w, filter_gradient).numpy(), dw.numpy())
            ),
        },
    )


def stationary_v(rng: Random, largest: int) -> Checked:
    """V̇ = V C with V of unit norm: the stationary V, and the limit."""
    hidden, outputs = size(rng, 2, largest), size(rng, 1, largest)
    basis = orthonormal(rng, hidden, hidden)
    values = np.concatenate([[2.0], rng.uniform(-0.5, 1.7, hidden - 1)])  # C_α is not always PSD
    c, s = (basis * values) @ basis.T, basis[:, 0]

    def velocity(_: float, flat: Array) -> Array:
        v = flat.reshape(outputs, hidden)
        vc = v @ c
        return (vc - np.sum(v * vc) / np.sum(v * v) * v).ravel()

    def off_rank_one(flat: Array) -> float:
        """The distance of V from v sᵀ."""
        v = flat.reshape(outputs, hidden)
        return relative_error(np.outer(v @ s, s), v)

    start = rng.normal(size=outputs * hidden)
    limit = follow(velocity, start / np.linalg.norm(start), 25 / (2 - values[1:].max()))
    other_point = np.outer(unit(rng, outputs).numpy(), basis[:, 1]).ravel()
    is_stationary = np.linalg.norm(velocity(0, other_point)) < 1e-12
    errors = {
        "printed": off_rank_one(other_point) if is_stationary else 0.0,
        "corrected": off_rank_one(limit),
    }
    return Checked({"outputs": outputs}, {"sec4-stationary": errors})


def lemma5(rng: Random, largest: int) -> Checked:
    """Eq. 120 and its special case of two classes, exactly, over all inputs of a mixture."""
    errors, sizes = {}, {}
    for name, classes in (("lemma5/variance", size(rng, 3, 5)), ("lemma5/two-classes", 2)):
        net = random_network(rng, largest)
        fields, _, inputs = net.w.shape
        mixture = random_mixture(rng, classes, fields, inputs)
        x, probability = mixture.joint
        by_field = _gated_states(net, mixture)
        means, p = mixture.mean_given(by_field).reshape(classes, -1), mixture.classes
        formula = block_diag(*mixture.within(by_field))
        if classes == 2:
            formula += p[0] * p[1] * np.outer(means[1] - means[0], means[1] - means[0])
        else:
            mean_of_others = (p @ means - p[:, None] * means) / (1 - p)[:, None]  # E[x̃ | z ≠ c]
            formula += np.einsum(
                "c,ca,cb->ab", p * (1 - p) ** 2, means - mean_of_others, means - mean_of_others
            )
        errors[name] = as_printed(
            relative_error(formula, variance(probability, net.gated(x).flatten(1)).numpy())
        )
        sizes = {**net.sizes, "samples": len(x), "classes": classes}
    return Checked(sizes, errors)


def theorem4(rng: Random, largest: int) -> Checked:
    """Eq. 14 for a linear network and S = s sᵀ, before and after the projection of Eq. 12."""
    net, batch, s = _linear(rng, largest)
    dw = _ascent(net, batch, s)
    b = _field_gradient(net.w, batch, s)
    eq14 = s.view(net.w.shape[:2])[..., None] * b[:, None]
    singular_values = torch.linalg.svdvals(dw)
    projected_gradient = projected(net.w, dw)
    return Checked(
        {"samples": len(batch.x), **net.sizes},
        {
            "thm4/dynamics": as_printed(relative_error(eq14.numpy(), dw.numpy())),
            "thm4/colinear": as_printed(float((singular_values[:, 1] / singular_values[:, 0]).max())),
            "thm4-projection": {
                "printed": relative_error(eq14.numpy(), projected_gradient.numpy()),
                "corrected": relative_error(projected(net.w, eq14).numpy(), projected_gradient.numpy()),
            },
        },
    )


def critical_path(rng: Random, largest: int) -> Checked:
    """Paths from a critical point of Eq. 14 with distinct filters towards identical ones, with s fixed.

    The proof averages with the point whose first two filters are exchanged. The corrected path leads straight
    to the filters' mean, weighted by s_km.
    """
    fields, filters, inputs = size(rng, 2, 3), size(rng, 2, 3), size(rng, 2, largest)
    s = _weights(rng, fields, filters)
    span = orthonormal(rng, fields * inputs, fields * inputs)
    flat_batch = random_batch(rng, fields * inputs - 1)
    x, x_aug = ((views @ tensor(span[:, 1:].T)).view(-1, fields, inputs) for views in flat_batch.views)
    batch = Batch(flat_batch.alpha, x, x_aug)
    silent = tensor(span[:, 0]).view(fields, inputs)  # Σ_k silent_kᵀ x_k = 0 for every sample
    w = unit(rng, fields, filters, inputs)
    w[:, 0] = (silent - (s[:, 1:, None] * w[:, 1:]).sum(1)) / s[:, :1]
    flat, scale = s.flatten(), _field_gradient(unit(rng, *w.shape), batch, s.flatten()).norm()
    exchanged_filters = w.clone()
    exchanged_filters[:, :2] = w[:, :2].flip(1)
    share = rng.uniform(0.2, 0.8)
    mean_filter = (s[..., None] * w).sum(1, keepdim=True) / s.sum(1)[:, None, None]
    ends = {"printed": exchanged_filters, "corrected": mean_filter.expand_as(w)}
    start_norm = float(_field_gradient(w, batch, flat).norm() / scale)
    errors = {
        form: float(_field_gradient(share * w + (1 - share) * end, batch, flat).norm() / scale)
        for form, end in ends.items()
    }
    sizes = {"samples": len(x), "inputs": inputs, "fields": fields, "filters": filters}
    return Checked(sizes, {"thm4/critical": as_printed(start_norm), "thm4-path": errors})


@dataclass(frozen=True)
class Modulated:
    """Two classes and one filter per field: the quantities of Appendix C.3, from the conditional moments.

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
        """V[f1] over all inputs."""
        x, probability = self.mixture.joint
        return variance(probability, self.net.hidden(x))


def random_modulated(rng: Random, largest: int) -> Modulated:
    fields, inputs = size(rng, 2, 4), size(rng, 2, largest)
    activation = HOMOGENEOUS[str(rng.choice(list(HOMOGENEOUS)))]
    mixture = random_mixture(rng, 2, fields, inputs)
    filters = unit(rng, fields, 1, inputs)
    # With one active state a ReLU's variance lies entirely between classes; with none it has no variance.
    for k in range(fields):
        while np.sum(mixture.values[k] @ filters[k, 0].numpy() > 0) < 2:
            filters[k, 0] = unit(rng, inputs)
    net = TwoLayers(activation, filters, torch.zeros(1, fields))
    states = _gated_states(net, mixture)
    means = mixture.mean_given(states)
    return Modulated(net, mixture, mixture.within(states), means[1] - means[0])


def theorem5(rng: Random, largest: int) -> Checked:
    """Eqs. 15, 138, 139 and 143, and δ_k also as in the sentence after Eq. 143."""
    model = random_modulated(rng, largest)
    hidden_variance = model.hidden_variance
    values, vectors = torch.linalg.eigh(hidden_variance)
    top, s = float(values[-1]), vectors[:, -1]
    direction = model.b / (model.d - top)
    z = np.linalg.norm(direction)
    delta = modulation(model.p0p1, model.b, model.d, top)
    after_eq143 = 1 - model.p0p1 * model.b**2 / (top - model.d)
    eq15 = s.numpy()[:, None] ** 2 * _times(model.a, model.w) + (delta * model.b)[:, None] * model.delta
    x, probability = model.mixture.joint
    (dw,) = gradient(lambda w: s @ variance(probability, model.net.hidden(x, w)) @ s / 2, model.net.w)
    return Checked(
        {"samples": len(x), **model.net.sizes, "classes": 2},
        {
            "thm5/hidden-variance": as_printed(
                relative_error(
                    np.diag(model.d) + model.p0p1 * np.outer(model.b, model.b), hidden_variance.numpy()
                )
            ),
            "thm5/top-eigenvector": as_printed(rank_one_distance(tensor(direction / z), s)),
            "thm5/secular": as_printed(abs(1 + model.p0p1 * np.sum(model.b * direction))),
            "thm5/dynamics": as_printed(
                relative_error(
                    projected(model.net.w[:, 0], tensor(eq15)).numpy(),
                    projected(model.net.w[:, 0], dw[:, 0]).numpy(),
                )
            ),
            "thm5/nonnegative": as_printed(below_zero(delta)),
            "thm5-delta": {
                "printed": relative_error(after_eq143, delta),
                "corrected": relative_error(after_eq143 / (z**2 * (top - model.d)), delta),
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
    """x̃_k for every input of every field. Shape [field, state, filter * dim]."""
    return net.gated(tensor(mixture.values.swapaxes(0, 1))).flatten(2).numpy().swapaxes(0, 1)


def _linear(rng: Random, largest: int) -> tuple[TwoLayers, Batch, Float[Tensor, "hidden"]]:
    """A linear network, a batch, and the top eigenvector s of C_α[f1]."""
    net = random_network(rng, largest, HOMOGENEOUS["linear"])
    batch = random_batch(rng, *net.w[:, 0].shape)
    return net, batch, top_eigenvector(batch.covariance(net.hidden))


def _ascent(net: TwoLayers, batch: Batch, s: Tensor) -> Tensor:
    """The gradient for the filters with V = v sᵀ fixed, by automatic differentiation."""

    def objective(w: Tensor) -> Tensor:
        return energy(batch.alpha, *((net.hidden(x, w) @ s)[:, None] for x in batch.views))

    return gradient(objective, net.w)[0]


def _field_gradient(w: Tensor, batch: Batch, s: Tensor) -> Float[Tensor, "field dim"]:
    """b_k = C_α[x_k, Σ s_k'm' w_k'm'ᵀ x_k'] (after Eq. 14)."""
    field_weights = (s.view(w.shape[:2])[..., None] * w).sum(1)  # Σ_m s_km w_km
    outputs = [(x * field_weights).sum((1, 2))[:, None] for x in batch.views]
    gradient = contrastive_covariance(batch.alpha, *(x.flatten(1) for x in batch.views), *outputs)
    return gradient.view(w.shape[0], w.shape[2])


def _weights(rng: Random, fields: int, filters: int) -> Float[Tensor, "field filter"]:
    """Random s_km of distinct sizes and either sign, with sums away from 0 in each field."""
    while True:
        s = normal(rng, fields, filters)
        if s.abs().min() > 0.1 and s.sum(1).abs().min() > 0.3 and s.diff(dim=1).abs().min() > 0.1:
            return s / s.norm()


CHECKS = (lemma4, stationary_v, lemma5, theorem4, critical_path, theorem5)
