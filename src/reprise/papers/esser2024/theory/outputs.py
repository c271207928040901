"""Section 2: the outputs' motion under gradient flow, and its decoupling (Lemma 1 to Proposition 1).

Functions that need torch import it where they calculate, so that lists of claims do not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reprise.evidence.claim import Quotation
from reprise.evidence.errata import Misprint, Text
from reprise.evidence.formula import Errors, Formula, formula
from reprise.evidence.identities import Array, Random, relative_error, size
from reprise.papers.esser2024.theory.points import Triplets, random_triplets

if TYPE_CHECKING:
    from reprise.papers.esser2024.theory import autodiff

Pull = Callable[[Array, Array], Array]
"""Maps samples x_i and u(x_i) to the sum over i and j of ⟨∇u_l(x), ∇u_j(x_i)⟩ u_j(x_i), at a fixed x."""


@dataclass(frozen=True)
class Models:
    """Triplets, inputs at which outputs are looked at, and weights of three models: a linear one, a kernel
    machine of (xᵀx' + offset)² and a network of two layers with tanh."""

    triplets: Triplets
    probe: Array
    theta: Array
    machine: Array
    offset: float
    network: tuple[Array, Array]

    @property
    def sizes(self) -> dict[str, int]:
        outputs, inputs = self.theta.shape
        samples = len(self.triplets.x)
        return {"samples": samples, "inputs": inputs, "hidden": len(self.network[0]), "outputs": outputs}

    def kernel(self, x: Array, other: Array) -> Array:
        return (x @ other.T + self.offset) ** 2


def models(rng: Random, largest: int) -> Models:
    triplets = random_triplets(rng, size(rng, 2, largest))
    dim, outputs, hidden = triplets.x.shape[1], size(rng, 2, largest), size(rng, 4, 3 * largest)
    return Models(
        triplets,
        probe=rng.normal(size=(3, dim)),
        theta=rng.normal(size=(outputs, dim)),
        machine=rng.normal(size=(outputs, dim**2 + dim + 1)),
        offset=rng.uniform(0.5, 1.5),
        network=(rng.normal(size=(hidden, dim)), rng.normal(size=(hidden, outputs))),
    )


@formula(
    "lemma1",
    "The tangent kernel ⟨∇u_l(x), ∇u_j(x')⟩ is 0 between different outputs, and of one output it is xᵀx' in "
    "a linear model and k(x, x') in a kernel machine.",
    at="Lemma 1, Section 2.1",
    tried_at=models,
)
def lemma_1(point: Models) -> Errors:
    """The decoy has the same kernel between different outputs."""
    from reprise.papers.esser2024.theory import autodiff

    x, other, outputs = point.probe, point.triplets.x, len(point.theta)
    kernels = (
        (autodiff.tangent_kernel(autodiff.linear, (point.theta,), x, other), x @ other.T),
        (
            autodiff.tangent_kernel(autodiff.kernel_machine(point.offset), (point.machine,), x, other),
            point.kernel(x, other),
        ),
    )

    def error(between: Array) -> float:
        return max(relative_error(np.einsum("nm,lj->nlmj", k, between), found) for found, k in kernels)

    return Errors(printed=error(np.eye(outputs)), decoy=error(np.ones((outputs, outputs))))


@dataclass(frozen=True)
class TwoLayers:
    """A linear network of two layers, and two sets of inputs."""

    w1: Array
    w2: Array
    x: Array
    other: Array

    @property
    def sizes(self) -> dict[str, int]:
        hidden, inputs = self.w1.shape
        return {"samples": len(self.x), "inputs": inputs, "hidden": hidden, "outputs": self.w2.shape[1]}


def normalised_gaussian(rng: Random, largest: int) -> TwoLayers:
    """W1 as in the proof, which gives W2 no scale: here its columns have lengths of 0.5 to 2."""
    dim, outputs = size(rng, 2, largest), size(rng, 2, largest)
    hidden = size(rng, 50, 200)
    w1, w2 = (rng.normal(size=(hidden, columns)) / np.sqrt(hidden) for columns in (dim, outputs))
    x, other = (rng.normal(size=(size(rng, 2, 6), dim)) for _ in range(2))
    lengths = rng.uniform(0.5, 2, outputs) / np.linalg.norm(w2, axis=0)
    return TwoLayers(w1, w2 * lengths, x, other)


@formula(
    "lemma1-two-layers",
    "In the proof of Lemma 1, where an output is w_lᵀ W1 x with a normalised Gaussian W1, its tangent kernel "
    "is {}.",
    at="Lemma 1, proof, Appendix",
    wrong=Misprint(
        "condition",
        printed=Text(
            "⟨W1 x, W1 x'⟩, which tends to xᵀx', as W1's gradient has no share in it",
            r"\langle\nabla u_l(x),\nabla u_l(x')\rangle=\langle W_1x,W_1x'\rangle\to x^{\top}x'",
        ),
        corrected=Text(
            "⟨W1 x, W1 x'⟩ + |w_l|² xᵀx', which tends to (1 + |w_l|²) xᵀx'",
            r"\langle\nabla u_l(x),\nabla u_l(x')\rangle=\langle W_1x,W_1x'\rangle+\Vert w_l\Vert^2x^{\top}x'"
            r"\to(1+\Vert w_l\Vert^2)x^{\top}x'",
        ),
        note="the proof gives W2 no scale, and W1's gradient has no share only if |w_l| -> 0; the lemma "
        "holds, which is about one layer",
    ),
    quotes=Quotation(
        "In limit all positive gradients arise only from the final layer", at="Lemma 1, proof, Appendix"
    ),
    word="only from the final layer",
    tried_at=normalised_gaussian,
)
def proof_of_lemma_1(point: TwoLayers) -> Errors:
    """Errors at finite width, where both forms are without their limits."""
    from reprise.papers.esser2024.theory import autodiff

    x, other, w1, w2 = point.x, point.other, point.w1, point.w2
    kernel = autodiff.tangent_kernel(autodiff.linear_network, (w1, w2), x, other)
    of_each = np.einsum("nlml->lnm", kernel)
    last = np.broadcast_to(x @ w1.T @ w1 @ other.T, of_each.shape)
    first = np.square(w2).sum(0)[:, None, None] * (x @ other.T)
    return Errors(printed=relative_error(last, of_each), corrected=relative_error(last + first, of_each))


def by_gradients(point: Models) -> Pull:
    """The sum by the gradients of the network with tanh."""
    from reprise.papers.esser2024.theory import autodiff

    def pull(x: Array, u: Array) -> Array:
        kernel = autodiff.tangent_kernel(autodiff.tanh_network, point.network, point.probe, x)
        return np.einsum("nlmj,mj->nl", kernel, u)

    return pull


def by_kernel(kernel: Callable[[Array, Array], Array], probe: Array) -> Pull:
    """The sum by Lemma 1: one kernel for every output, and none between outputs."""
    return lambda x, u: kernel(probe, x) @ u


def pulled(pull: Pull, x: Array, u: Array, other: Array, u_other: Array, *, back: float = 1) -> Array:
    """The share of a pair of samples in u̇: x pulled by the other's outputs, and the other by those of x."""
    return pull(x, u_other) + back * pull(other, u)


def motion(
    pull: Pull,
    triplets: Triplets,
    u: Callable[[Array], Array],
    *,
    contrastive: bool,
    back: float = 1,
    push: float = 1,
) -> Array:
    """u̇ by Eq. 4, or Eq. 5 of the contrastive loss.

    Args:
        back: factor on the half of a pair's terms in which the other sample stands for x.
        push: factor on the negatives' terms.
    """
    x, positive, negative = triplets.x, triplets.positive, triplets.negative
    found = pulled(pull, x, u(x), positive, u(positive), back=back)
    if contrastive:
        found = found - push * pulled(pull, x, u(x), negative, u(negative), back=back)
    return found


def _of_network(point: Models) -> Callable[[Array], Array]:
    from reprise.papers.esser2024.theory import autodiff

    return lambda x: autodiff.outputs(autodiff.tanh_network, point.network, x)


@formula(
    "eq4/dynamics",
    "Outputs of any network follow Eq. 4 under the non-contrastive loss.",
    at="Eq. 4, Section 2.2",
    tried_at=models,
)
def eq_4(point: Models) -> Errors:
    """The decoy leaves out each second term."""
    from reprise.papers.esser2024.theory import autodiff as ad

    loss, net = ad.non_contrastive, ad.tanh_network
    expected = ad.velocity(loss, point.triplets, net, point.network, point.probe)

    def error(back: float) -> float:
        u = _of_network(point)
        found = motion(by_gradients(point), point.triplets, u, contrastive=False, back=back)
        return relative_error(found, expected)

    return Errors(printed=error(1), decoy=error(0))


@formula(
    "eq5/dynamics",
    "Outputs of any network follow Eq. 5 under the contrastive loss.",
    at="Eq. 5, Section 2.2",
    tried_at=models,
)
def eq_5(point: Models) -> Errors:
    """The decoy turns the negatives' signs."""
    from reprise.papers.esser2024.theory import autodiff as ad

    loss, net = ad.contrastive, ad.tanh_network
    expected = ad.velocity(loss, point.triplets, net, point.network, point.probe)

    def error(push: float) -> float:
        u = _of_network(point)
        found = motion(by_gradients(point), point.triplets, u, contrastive=True, push=push)
        return relative_error(found, expected)

    return Errors(printed=error(1), decoy=error(-1))


@formula(
    "prop1/identical",
    "Under the non-contrastive and the contrastive loss all outputs of a linear model or a kernel machine "
    "obey the same equation, that of Proposition 1, each without the others.",
    at="Proposition 1, Section 2.2",
    quotes=Quotation(
        "every component of the network output ... has identical dynamics, and hence, identical fixed points",
        at="Proposition 1, Section 2.2",
    ),
    word="identical dynamics",
    tried_at=models,
)
def proposition_1(point: Models) -> Errors:
    """The decoy leaves out each second term."""
    from reprise.papers.esser2024.theory import autodiff as ad

    linear = ad.linear, point.theta, by_kernel(lambda x, other: x @ other.T, point.probe)
    machine = ad.kernel_machine(point.offset), point.machine, by_kernel(point.kernel, point.probe)
    return Errors(
        printed=max(_off(point, *model, back=1) for model in (linear, machine)),
        decoy=max(_off(point, *model, back=0) for model in (linear, machine)),
    )


def _off(point: Models, model: autodiff.Model, theta: Array, pull: Pull, *, back: float) -> float:
    """The larger error of Proposition 1's two equations."""
    from reprise.papers.esser2024.theory import autodiff as ad

    def u(x: Array) -> Array:
        return ad.outputs(model, (theta,), x)

    return max(
        relative_error(
            motion(pull, point.triplets, u, contrastive=loss is ad.contrastive, back=back),
            ad.velocity(loss, point.triplets, model, (theta,), point.probe),
        )
        for loss in (ad.non_contrastive, ad.contrastive)
    )


FORMULAS: tuple[Formula, ...] = (lemma_1, proof_of_lemma_1, eq_4, eq_5, proposition_1)
