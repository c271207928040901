"""Section 4 and Appendix C: two layers, f2 = V h(w_kmᵀ x_k), with disjoint receptive fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reprise.evidence.claim import Quotation
from reprise.evidence.errata import Misprint, Text
from reprise.evidence.formula import Errors, Formula, formula
from reprise.evidence.identities import Array, Random, below_zero, orthonormal, relative_error, size
from reprise.papers.tian2023.dynamics.one_layer import follow
from reprise.papers.tian2023.dynamics.points import (
    HOMOGENEOUS,
    Batch,
    Mixture,
    TwoLayers,
    gradient,
    projected,
    random_batch,
    random_mixture,
    random_network,
    tensor,
    top_eigenvector,
    unit,
    variance,
)

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor


@dataclass(frozen=True)
class Trained:
    """A network and a batch."""

    net: TwoLayers
    batch: Batch

    @property
    def sizes(self) -> dict[str, int]:
        return {"samples": len(self.batch.x), **self.net.sizes}


def lemma4(rng: Random, largest: int) -> Trained:
    net = random_network(rng, largest)
    return Trained(net, random_batch(rng, *net.w[:, 0].shape))


@formula(
    "lemma4",
    "In a two-layer network the top layer moves by V̇ = V C_α[f1], and the unit filters by "
    "ẇ = P⊥ [(S ⊗ 1 1ᵀ) ∘ C_α[x̃]] w.",
    at="Lemma 4, Eq. 12, Section 4",
    tried_at=lemma4,
)
def motion_of_two_layers(point: Trained) -> Errors:
    """Errors against the gradients of E_α[V f1], through the filters' normalisation. The decoy leaves out
    P⊥."""
    net, batch = point.net, point.batch

    def objective(v: Tensor, w: Tensor) -> Tensor:
        return batch.energy(lambda x: net.hidden(x, w / w.norm(dim=-1, keepdim=True)) @ v.T)

    dv, dw = gradient(objective, net.v, net.w)
    top = net.v @ batch.covariance(net.hidden)
    filters = net.modulated(batch.covariance(net.gated), net.v.T @ net.v)
    return Errors(
        printed=max(
            relative_error(top.numpy(), dv.numpy()),
            relative_error(projected(net.w, filters).numpy(), dw.numpy()),
        ),
        decoy=relative_error(filters.numpy(), dw.numpy()),
    )


@dataclass(frozen=True)
class TopLayer:
    """V̇ = V C with V of unit norm.

    Attributes:
        basis: eigenvectors of C, that with the largest eigenvalue first.
        start, other: V at the start; and with the second eigenvector in place of s. Shape [output, hidden].
    """

    values: Array
    basis: Array
    start: Array
    other: Array

    @property
    def sizes(self) -> dict[str, int]:
        return {"outputs": len(self.start)}

    def velocity(self, v: Array) -> Array:
        vc = v @ (self.basis * self.values) @ self.basis.T
        return vc - np.sum(v * vc) / np.sum(v * v) * v

    def off_rank_one(self, v: Array) -> float:
        """The distance of V from v sᵀ."""
        s = self.basis[:, 0]
        return relative_error(np.outer(v @ s, s), v)


def stationary_v(rng: Random, largest: int) -> TopLayer:
    hidden, outputs = size(rng, 2, largest), size(rng, 1, largest)
    basis = orthonormal(rng, hidden, hidden)
    values = np.concatenate([[2.0], rng.uniform(-0.5, 1.7, hidden - 1)])  # C_α is not always PSD
    start = rng.normal(size=(outputs, hidden))
    return TopLayer(
        values, basis, start / np.linalg.norm(start), np.outer(unit(rng, outputs).numpy(), basis[:, 1])
    )


@formula(
    "sec4-stationary",
    "Of two layers, {} (tried: V alone, of fixed norm, with C_α[f1] held).",
    at="Section 4, after Lemma 4",
    wrong=Misprint(
        "typo",
        printed=Text("a necessary condition for (W, V) to be a stationary point is that V = v sᵀ"),
        corrected=Text(
            "for it to be a stable point: V tends to v sᵀ, s the top eigenvector of C_α[f1], from almost "
            "every start, and is stationary with any eigenvector"
        ),
        note="a wrong word: Assumption 2 takes it of V that has always converged",
    ),
    quotes=Quotation(
        "a necessary condition for ... to be a stationary point is that", at="Section 4, after Lemma 4"
    ),
    word="a necessary condition",
    tried_at=stationary_v,
)
def stationary_top_layer(point: TopLayer) -> Errors:
    """The distances from v sᵀ: of a stationary point, and of the limit."""
    shape, flow = point.start.shape, point.velocity
    is_stationary = np.linalg.norm(flow(point.other)) < 1e-12
    limit = follow(
        lambda _, flat: flow(flat.reshape(shape)).ravel(),
        point.start.ravel(),
        25 / (2 - point.values[1:].max()),
    )
    return Errors(
        printed=point.off_rank_one(point.other) if is_stationary else 0.0,
        corrected=point.off_rank_one(limit.reshape(shape)),
    )


@dataclass(frozen=True)
class Independent:
    """A network, and inputs whose fields are independent given a class."""

    net: TwoLayers
    mixture: Mixture

    @property
    def sizes(self) -> dict[str, int]:
        classes, states = len(self.mixture.classes), len(self.mixture.joint[0])
        return {"samples": states, **self.net.sizes, "classes": classes}


def lemma5(rng: Random, largest: int) -> Independent:
    net = random_network(rng, largest)
    fields, _, inputs = net.w.shape
    return Independent(net, random_mixture(rng, size(rng, 2, 5), fields, inputs))


@formula(
    "lemma5",
    "Under conditional independence Eq. 120 decomposes V[x̃]; with two classes its second term is p0 p1 Δ Δᵀ.",
    at="Lemma 5, Eq. 120, Appendix C.2",
    tried_at=lemma5,
)
def variance_of_gated_inputs(point: Independent) -> Errors:
    """Exact errors over all inputs. The decoy leaves out the variances within classes."""
    from scipy.linalg import block_diag

    net, mixture = point.net, point.mixture
    x, probability = mixture.joint
    by_field = _gated_states(net, mixture)
    means, p = mixture.mean_given(by_field).reshape(len(mixture.classes), -1), mixture.classes
    if len(p) == 2:
        between = p[0] * p[1] * np.outer(means[1] - means[0], means[1] - means[0])
    else:
        mean_of_others = (p @ means - p[:, None] * means) / (1 - p)[:, None]  # E[x̃ | z ≠ c]
        gaps = means - mean_of_others
        between = np.einsum("c,ca,cb->ab", p * (1 - p) ** 2, gaps, gaps)
    total = variance(probability, net.gated(x).flatten(1)).numpy()
    return Errors(
        printed=relative_error(block_diag(*mixture.within(by_field)) + between, total),
        decoy=relative_error(between, total),
    )


@dataclass(frozen=True)
class Linear:
    """A linear network, a batch, and the top eigenvector s of C_α[f1]."""

    net: TwoLayers
    batch: Batch
    s: Tensor

    @property
    def sizes(self) -> dict[str, int]:
        return {"samples": len(self.batch.x), **self.net.sizes}

    @property
    def ascent(self) -> Tensor:
        """The gradient for the filters with V = v sᵀ fixed, by automatic differentiation."""
        return ascent(self.net, self.batch, self.s)


def theorem4(rng: Random, largest: int) -> Linear:
    net = random_network(rng, largest, HOMOGENEOUS["linear"])
    batch = random_batch(rng, *net.w[:, 0].shape)
    return Linear(net, batch, top_eigenvector(batch.covariance(net.hidden)))


def ascent(net: TwoLayers, batch: Batch, s: Tensor) -> Tensor:
    (dw,) = gradient(lambda w: batch.energy(lambda x: (net.hidden(x, w) @ s)[:, None]), net.w)
    return dw


def spread(filters: Float[Tensor, "field filter dim"]) -> float:
    """Departure of a field's vectors from one line: their second singular value over the first, the largest
    over fields."""
    values = np.linalg.svd(filters.numpy(), compute_uv=False)
    return float((values[:, 1] / values[:, 0]).max())


@formula(
    "thm4/colinear",
    "In a linear network the energy's gradients on all filters of a field lie along one line.",
    at="Theorem 4 (1), Section 4.1 and Appendix C.4",
    quotes=Quotation(
        "the gradients of multiple weights at the same receptive field are always co-linear", at="Section 1"
    ),
    word="always",
    tried_at=theorem4,
)
def colinear_gradients(point: Linear) -> Errors:
    """The decoy takes the gradients after the projections, which differ between filters."""
    return Errors(printed=spread(point.ascent), decoy=spread(projected(point.net.w, point.ascent)))


@formula(
    "thm4-projection",
    "In a linear network the unit filters of Lemma 4 move by {}.",
    at="Theorem 4, Eqs. 14 and 158, Section 4.1 and Appendix C.4",
    wrong=Misprint(
        "typo",
        printed=Text("ẇ_km = s_km b_k, co-linear over m", r"\dot{w}_{km}=s_{km}b_k"),
        corrected=Text(
            "ẇ_km = s_km P⊥ b_k, with each filter's own projection",
            r"\dot{w}_{km}=s_{km}P^{\perp}_{w_{km}}b_k",
        ),
        note="the theorem is about gradients: those before the projection are co-linear",
    ),
    tried_at=theorem4,
)
def motion_of_linear_filters(point: Linear) -> Errors:
    w, s = point.net.w, point.s
    eq14 = s.view(w.shape[:2])[..., None] * _field_gradient(w, point.batch, s)[:, None]
    velocity = projected(w, point.ascent).numpy()
    return Errors(
        printed=relative_error(eq14.numpy(), velocity),
        corrected=relative_error(projected(w, eq14).numpy(), velocity),
    )


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
    def sizes(self) -> dict[str, int]:
        return {"samples": len(self.mixture.joint[0]), **self.net.sizes, "classes": 2}

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
    net = TwoLayers(activation, filters, tensor(np.zeros((1, fields))))
    states = _gated_states(net, mixture)
    means = mixture.mean_given(states)
    return Modulated(net, mixture, mixture.within(states), means[1] - means[0])


@dataclass(frozen=True)
class Top:
    """The top eigenvalue λ of a hidden layer's variance, its unit eigenvector s, and δ_k (Eqs. 143, 179)."""

    value: float
    s: Tensor
    delta: Array


def top_of(model: Modulated, hidden_variance: Tensor) -> Top:
    values, vectors = np.linalg.eigh(hidden_variance.numpy())
    delta = modulation(model.p0p1, model.b, model.d, float(values[-1]))
    return Top(float(values[-1]), tensor(vectors[:, -1]), delta)


def pull(model: Modulated, s: Tensor, delta: Array) -> Tensor:
    """(s_k² A_k + δ_k Δ_k Δ_kᵀ) w_k of Eqs. 15 and 178."""
    own = s.numpy()[:, None] ** 2 * np.einsum("kab,kb->ka", model.a, model.w)
    return tensor(own + (delta * model.b)[:, None] * model.delta)


def theorem5(rng: Random, largest: int) -> Modulated:
    return random_modulated(rng, largest)


@formula(
    "thm5",
    "With two classes and a filter a field, the filter w_k moves by P⊥ (s_k² A_k + δ_k Δ_k Δ_kᵀ) w_k, with "
    "δ_k of Eq. 143, which is never negative: the top layer adds the direction Δ_k between the classes to "
    "the field's covariance A_k.",
    at="Theorem 5, Eq. 15, Section 4.2, and Eqs. 142 and 143, Appendix C.3",
    tried_at=theorem5,
)
def global_modulation(model: Modulated) -> Errors:
    """Exact errors over all inputs. The decoy has |s_k| in place of s_k²."""
    top, w = top_of(model, model.hidden_variance), model.net.w
    x, probability = model.mixture.joint
    (dw,) = gradient(lambda w: top.s @ variance(probability, model.net.hidden(x, w)) @ top.s / 2, w)
    velocity = projected(w[:, 0], dw[:, 0]).numpy()

    def error(s: Tensor) -> float:
        return relative_error(projected(w[:, 0], pull(model, s, top.delta)).numpy(), velocity)

    return Errors(printed=max(error(top.s), below_zero(top.delta)), decoy=error(top.s.abs().sqrt()))


@formula(
    "thm5-delta",
    "The weight of the between-class direction in a filter's motion is {}.",
    at="After Eq. 143, Appendix C.3",
    wrong=Misprint(
        "typo",
        printed=Text("δ_k = 1 - p0 p1 b_k²/(λ - d_k)", r"\delta_k=1-\frac{p_0p_1b_k^2}{\lambda-d_k}"),
        corrected=Text(
            "δ_k = (1 - p0 p1 b_k²/(λ - d_k)) / (Z² (λ - d_k))",
            r"\delta_k=\frac{1}{Z^2(\lambda-d_k)}\left(1-\frac{p_0p_1b_k^2}{\lambda-d_k}\right)",
        ),
    ),
    tried_at=theorem5,
)
def weight_of_the_modulation(model: Modulated) -> Errors:
    top = top_of(model, model.hidden_variance)
    gaps = top.value - model.d
    printed = 1 - model.p0p1 * model.b**2 / gaps
    z = np.linalg.norm(model.b / gaps)
    return Errors(
        printed=relative_error(printed, top.delta),
        corrected=relative_error(printed / (z**2 * gaps), top.delta),
    )


def modulation(p0p1: float, b: Array, d: Array, top: float) -> Array:
    """δ_k of Eqs. 143 and 179."""
    z = np.linalg.norm(b / (top - d))
    shares = b**2 / (top - d)
    return p0p1 / (z**2 * (top - d)) * (shares.sum() - shares)


def _gated_states(net: TwoLayers, mixture: Mixture) -> Array:
    """x̃_k for every input of every field. Shape [field, state, filter * dim]."""
    return net.gated(tensor(mixture.values.swapaxes(0, 1))).flatten(2).numpy().swapaxes(0, 1)


def _field_gradient(w: Tensor, batch: Batch, s: Tensor) -> Float[Tensor, "field dim"]:
    """b_k = C_α[x_k, Σ s_k'm' w_k'm'ᵀ x_k'] (after Eq. 14)."""
    from reprise.papers.tian2023.contrastive import contrastive_covariance

    field_weights = (s.view(w.shape[:2])[..., None] * w).sum(1)  # Σ_m s_km w_km
    outputs = [(x * field_weights).sum((1, 2))[:, None] for x in batch.views]
    b = contrastive_covariance(batch.alpha, *(x.flatten(1) for x in batch.views), *outputs)
    return b.view(w.shape[0], w.shape[2])


FORMULAS: tuple[Formula, ...] = (
    motion_of_two_layers,
    stationary_top_layer,
    variance_of_gated_inputs,
    colinear_gradients,
    motion_of_linear_filters,
    global_modulation,
    weight_of_the_modulation,
)
