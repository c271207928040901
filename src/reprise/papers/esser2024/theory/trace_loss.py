"""Section 5: a linear network's losses as Tr(W2ᵀ W1 C W1ᵀ W2), and the expectation of C."""

from dataclasses import dataclass
from itertools import product

import numpy as np

from reprise.evidence.errata import Misprint, Text
from reprise.evidence.formula import Errors, Formula, formula
from reprise.evidence.identities import Array, Random, relative_error, size
from reprise.papers.esser2024.theory.points import Triplets, random_triplets


def trace(w1: Array, w2: Array, matrix: Array) -> float:
    """Tr(W2ᵀ W1 C W1ᵀ W2). Shapes [hidden, dim], [hidden, output], [dim, dim]."""
    return float(np.trace(w2.T @ w1 @ matrix @ w1.T @ w2))


def off(value: float, expected: float) -> float:
    return abs(value - expected) / abs(expected)


@dataclass(frozen=True)
class Network:
    """A linear network of two layers, at any weights."""

    w1: Array
    w2: Array

    @property
    def sizes(self) -> dict[str, int]:
        hidden, inputs = self.w1.shape
        return {"inputs": inputs, "hidden": hidden, "outputs": self.w2.shape[1]}

    def u(self, x: Array) -> Array:
        return x @ self.w1.T @ self.w2

    def trace(self, matrix: Array) -> float:
        return trace(self.w1, self.w2, matrix)


@dataclass(frozen=True)
class Losses(Network):
    """The losses of a network on triplets."""

    triplets: Triplets

    @property
    def sizes(self) -> dict[str, int]:
        return {"samples": len(self.triplets.x), **super().sizes}

    @property
    def contrastive(self) -> float:
        """Eq. 1."""
        x, positive, negative = self.triplets.x, self.triplets.positive, self.triplets.negative
        return float((self.u(x) * (self.u(negative) - self.u(positive))).sum())

    @property
    def non_contrastive(self) -> float:
        """Eq. 2."""
        return float(-(self.u(self.triplets.x) * self.u(self.triplets.positive)).sum())


def linear_network(rng: Random, largest: int) -> Losses:
    triplets = random_triplets(rng, size(rng, 2, largest))
    outputs, hidden = size(rng, 2, largest), size(rng, 3, 3 * largest)
    w1, w2 = rng.normal(size=(hidden, triplets.x.shape[1])), rng.normal(size=(hidden, outputs))
    return Losses(w1, w2, triplets)


@formula(
    "prop3-loss",
    "A linear network's contrastive loss (1) is {}.",
    at="Proposition 3, Section 3",
    wrong=Misprint(
        "typo",
        printed=Text("‖W2ᵀ W1 C W1ᵀ W2‖₂²", r"L(W_1,W_2)=\Vert W_2^{\top}W_1CW_1^{\top}W_2\Vert_2^2"),
        corrected=Text("Tr(W2ᵀ W1 C W1ᵀ W2)", r"L(W_1,W_2)=\operatorname{Tr}(W_2^{\top}W_1CW_1^{\top}W_2)"),
        note="as in its proof and in (8)",
    ),
    tried_at=linear_network,
)
def loss_of_proposition_3(point: Losses) -> Errors:
    inner = point.w2.T @ point.w1 @ point.triplets.matrix @ point.w1.T @ point.w2
    return Errors(
        printed=off(float(np.linalg.norm(inner, 2)) ** 2, point.contrastive),
        corrected=off(float(np.trace(inner)), point.contrastive),
    )


@formula(
    "conjecture1-objective",
    "A linear network's contrastive loss (1) is {}, u the outputs at the unit vectors.",
    at="Conjecture 1, Section 4",
    wrong=Misprint(
        "typo",
        printed=Text("Tr(uᵀ u)", r"\min\operatorname{Tr}(u_{(t)}^{\top}u_{(t)})"),
        corrected=Text("Tr(uᵀ C u)", r"\min\operatorname{Tr}(u_{(t)}^{\top}Cu_{(t)})"),
        note="as printed it has no data in it",
    ),
    tried_at=linear_network,
)
def objective_of_conjecture_1(point: Losses) -> Errors:
    u = point.u(np.eye(point.w1.shape[1]))
    return Errors(
        printed=off(float(np.trace(u.T @ u)), point.contrastive),
        corrected=off(float(np.trace(u.T @ point.triplets.matrix @ u)), point.contrastive),
    )


@formula(
    "eq7/loss",
    "A linear network's contrastive loss (1) is Tr(W2ᵀ W1 C W1ᵀ W2), with the C~ of Eq. 7 and with its "
    "symmetric part C.",
    at="Eq. 7, Section 5",
    tried_at=linear_network,
)
def eq_7(point: Losses) -> Errors:
    """The decoy is the sum of C~ and C~ᵀ without the half."""
    cross, expected = point.triplets.cross, point.contrastive
    return Errors(
        printed=max(off(point.trace(matrix), expected) for matrix in (point.triplets.matrix, cross)),
        decoy=off(point.trace(cross + cross.T), expected),
    )


@formula(
    "eq7-sum",
    "The contrastive loss is the sum of its terms {}.",
    at="Before Eq. 7, Section 5",
    wrong=Misprint(
        "typo",
        printed=Text("from i = n to n", r"L=\sum_{i=n}^{n}"),
        corrected=Text("from i = 1 to n", r"L=\sum_{i=1}^{n}"),
    ),
    tried_at=linear_network,
)
def range_of_the_sum(point: Losses) -> Errors:
    x, positive, negative = point.triplets.x, point.triplets.positive, point.triplets.negative
    last = np.outer(x[-1], negative[-1] - positive[-1])
    return Errors(
        printed=off(point.trace(last), point.contrastive),
        corrected=off(point.trace(point.triplets.cross), point.contrastive),
    )


@dataclass(frozen=True)
class Many(Network):
    """Anchors with several positives and negatives each, of shapes [sample, p, dim] and [sample, q, dim]."""

    x: Array
    positives: Array
    negatives: Array

    @property
    def sizes(self) -> dict[str, int]:
        return {"samples": len(self.x), **super().sizes}


def several_each(rng: Random, largest: int) -> Many:
    dim, outputs, hidden = size(rng, 2, largest), size(rng, 2, largest), size(rng, 3, 3 * largest)
    p, q, samples = size(rng, 1, 4), size(rng, 1, 4), size(rng, 5, 9)
    x = rng.normal(size=(samples, dim)) + 0.5
    positives = x[:, None] + 0.3 * rng.normal(size=(samples, p, dim))
    negatives = rng.normal(size=(samples, q, dim)) + 0.5
    w1, w2 = rng.normal(size=(hidden, dim)), rng.normal(size=(hidden, outputs))
    return Many(w1, w2, x, positives, negatives)


@formula(
    "sec5-many-samples",
    "With p positives and q negatives of each anchor the contrastive loss has {}.",
    at="After Eq. 7, Section 5",
    wrong=Misprint(
        "typo",
        printed=Text(
            "C~ = Σ_i (Σ_j x_i (x_j⁻)ᵀ - Σ_j x_i (x_j⁺)ᵀ)",
            r"\tilde{C}=\sum_i\left(\sum_jx_i(x_j^{-})^{\top}-\sum_jx_i(x_j^{+})^{\top}\right)",
        ),
        corrected=Text(
            "C~ = Σ_i (Σ_j x_i (x_ij⁻)ᵀ - Σ_j x_i (x_ij⁺)ᵀ)",
            r"\tilde{C}=\sum_i\left(\sum_jx_i(x_{ij}^{-})^{\top}-\sum_jx_i(x_{ij}^{+})^{\top}\right)",
        ),
        note="each anchor has its own",
    ),
    tried_at=several_each,
)
def many_samples(point: Many) -> Errors:
    """The printed x_j, in place of x_ij, gives all anchors the positives and negatives of the first ones."""
    u, u_plus, u_minus = (point.u(inputs) for inputs in (point.x, point.positives, point.negatives))
    loss = float(np.einsum("io,ijo->", u, u_minus) - np.einsum("io,ijo->", u, u_plus))
    first_plus, first_minus = (each[: each.shape[1], 0].sum(0) for each in (point.positives, point.negatives))
    shared = np.outer(point.x.sum(0), first_minus - first_plus)
    separate = point.x.T @ (point.negatives.sum(1) - point.positives.sum(1))
    return Errors(printed=off(point.trace(shared), loss), corrected=off(point.trace(separate), loss))


@formula(
    "sec5-non-contrastive",
    "For the non-contrastive loss (2) {}.",
    at="After Eq. 7, Section 5",
    wrong=Misprint(
        "typo",
        printed=Text("C~ = Σ_i x_i (x_i⁺)ᵀ", r"\tilde{C}=\sum_ix_i(x_i^{+})^{\top}"),
        corrected=Text("C~ = -Σ_i x_i (x_i⁺)ᵀ", r"\tilde{C}=-\sum_ix_i(x_i^{+})^{\top}"),
    ),
    tried_at=linear_network,
)
def sign_of_the_non_contrastive_loss(point: Losses) -> Errors:
    cross = point.triplets.x.T @ point.triplets.positive
    return Errors(
        printed=off(point.trace(cross), point.non_contrastive),
        corrected=off(point.trace(-cross), point.non_contrastive),
    )


@dataclass(frozen=True)
class States:
    """Finitely many states of x and x⁻, and of the noise ε = ±√σ in each coordinate."""

    x: Array
    probability: Array
    noise: Array
    anchors: int

    @property
    def sizes(self) -> dict[str, int]:
        return {"samples": self.anchors, "inputs": self.x.shape[1]}

    @property
    def centred(self) -> Array:
        return self.x - self.probability @ self.x

    def second_moment(self, x: Array) -> Array:
        """E[x xᵀ]."""
        return (x * self.probability[:, None]).T @ x

    def expectation(self, x: Array) -> Array:
        """E[Σ_i x_i (x_i⁻ - x_i⁺)ᵀ] for identically distributed anchors, by enumeration."""
        total = np.zeros((x.shape[1], x.shape[1]))
        for first, second in product(range(len(x)), repeat=2):
            for step in self.noise:
                share = self.probability[first] * self.probability[second] / len(self.noise)
                total += share * np.outer(x[first], x[second] - x[first] - step)
        return self.anchors * total


def states(rng: Random, largest: int) -> States:
    """States with a mean."""
    dim, number, anchors = size(rng, 2, 4), size(rng, 5, 8), size(rng, 2, 9)
    probability, sigma = rng.dirichlet(np.full(number, 3.0)), rng.uniform(0.05, 0.5)
    x = rng.normal(size=(number, dim)) + np.sign(rng.normal(size=dim))
    return States(x, probability, np.sqrt(sigma) * np.array(list(product([-1.0, 1.0], repeat=dim))), anchors)


@formula(
    "sec5-expectation",
    "For the contrastive loss with independent negatives {}, which is negative definite.",
    at="After Theorem 3, Section 5.1",
    wrong=Misprint(
        "condition",
        printed=Text("E[C~] = -n E[x xᵀ]", r"\mathbb{E}[\tilde{C}]=-n\,\mathbb{E}[xx^{\top}]"),
        corrected=Text(
            "this holds for centred x; for any x E[C~] = -n Cov(x)",
            r"\mathbb{E}[\tilde{C}]=-n\operatorname{Cov}(x)",
        ),
        note="negative definite either way, if x fills the space",
    ),
    tried_at=states,
)
def expectation(point: States) -> Errors:
    """The corrected error is at least 1 where an eigenvalue is not negative."""
    found = point.expectation(point.x)
    is_negative = np.linalg.eigvalsh(found)[-1] < 0
    covariance = point.second_moment(point.centred)
    return Errors(
        printed=relative_error(-point.anchors * point.second_moment(point.x), found),
        corrected=max(relative_error(-point.anchors * covariance, found), float(not is_negative)),
    )


@formula(
    "appendix-expectation",
    "For the contrastive loss and centred x, {}.",
    at="Proposition 3, proof, last sentence, Appendix",
    wrong=Misprint(
        "typo",
        printed=Text("E[C] = -E[x xᵀ]", r"\mathbb{E}[C]=-\mathbb{E}[xx^{\top}]"),
        corrected=Text("E[C] = -n E[x xᵀ]", r"\mathbb{E}[C]=-n\,\mathbb{E}[xx^{\top}]"),
        note="as after Theorem 3",
    ),
    tried_at=states,
)
def expectation_of_the_appendix(point: States) -> Errors:
    found, moment = point.expectation(point.centred), point.second_moment(point.centred)
    return Errors(
        printed=relative_error(-moment, found), corrected=relative_error(-point.anchors * moment, found)
    )


FORMULAS: tuple[Formula, ...] = (
    loss_of_proposition_3,
    objective_of_conjecture_1,
    eq_7,
    range_of_the_sum,
    many_samples,
    sign_of_the_non_contrastive_loss,
    expectation,
    expectation_of_the_appendix,
)
