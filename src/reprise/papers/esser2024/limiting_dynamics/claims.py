"""What the paper says of Figure 3, of Theorems 2 and 3 and around them."""

from functools import partial

import numpy as np

from reprise.evidence import identities
from reprise.evidence.claims import Claim, Measure, ordering, ours, value
from reprise.evidence.measures import Wide, applied, column, last, wide
from reprise.papers.esser2024.limiting_dynamics.params import WIDTHS

holds = partial(identities.holds, "esser2024")
misprint = partial(identities.misprint, "esser2024")
falsehood = partial(identities.falsehood, "esser2024")

FIGURE_3 = "Figure 3 and the text after Eq. 12"


def course(name: str, z: int, width: int, method: str) -> Wide:
    """A column of `trajectory`: a row a seed, a column an iteration."""
    return wide("trajectory", name, "iteration", z=z, width=width, method=method)


def at_end(name: str, z: int, width: int, method: str) -> Measure:
    """A column of `trajectory` after the last step."""
    return applied(lambda over_time: over_time.iloc[:, -1], course(name, z, width, method))


def final_loss_gap(width: int) -> Measure:
    """|loss of descent - loss of (12)| after the last step, z = 1."""
    losses = (at_end("loss", 1, width, method) for method in ("descent", "printed_euler"))
    return applied(lambda ours, theirs: (ours - theirs).abs(), *losses)


def mean_loss(width: int, method: str) -> Measure:
    """Over the iterations, z = 1: the higher, the slower the decay to the same end."""
    losses = course("loss", 1, width, method)
    return applied(lambda over_time: over_time.mean(axis=1, skipna=False), losses)


def largest_distance(width: int) -> Measure:
    """‖q of descent - q of (12)‖ where it is largest, z = 1."""
    distances = course("distance", 1, width, "printed_euler")
    return applied(lambda over_time: over_time.max(axis=1, skipna=False), distances)


def final_distance(z: int, width: int) -> Measure:
    """‖q of descent - q of (12)‖ after the last step."""
    return at_end("distance", z, width, "printed_euler")


def distance_to_e1(width: int) -> Measure:
    """Of the outputs of descent after the last step from the nearer of ±e_1, z = 1."""
    outputs = wide("outputs", "output", "eigenvector", iteration=last, z=1, width=width, method="descent")
    return applied(lambda q: np.hypot(q[1].abs() - 1, q[2]), outputs)


def velocity_gap(form: str) -> Measure:
    """Of an ODE from descent at random starts, h = d = 2."""
    return column("velocities", "gap", form=form)


def _near_zero(id: str, statement: str, source: str, measure: Measure, unit: str) -> Claim:
    return value(
        f"esser2024/{id}",
        statement,
        source=source,
        quantity="score",
        measure=measure,
        published=0.0,
        unit=unit,
    )


def _figure_3(width: int) -> list[Claim]:
    case = f"(z = 1, h = {width})"
    return [
        _near_zero(
            f"fig3/final-loss-gap-h{width}",
            f"Projected gradient descent (11) and the ODE (12) converge to the same final loss {case}.",
            FIGURE_3,
            final_loss_gap(width),
            "|difference of losses|",
        ),
        ordering(
            f"esser2024/fig3/slower-decay-h{width}",
            f"The loss decays more slowly along the ODE (12) than along descent (11) {case}: its mean over "
            "the iterations is higher.",
            source=FIGURE_3,
            measure=mean_loss(width, "printed_euler"),
            above=mean_loss(width, "descent"),
            unit="mean loss",
        ),
        _near_zero(
            f"fig3/outputs-close-h{width}",
            f"Started alike, the outputs of (11) and (12) stay close to each other {case}: the largest "
            "distance on the way, where the limit has length 1.",
            FIGURE_3,
            largest_distance(width),
            "distance of the outputs",
        ),
        _near_zero(
            f"fig3/same-limit-h{width}",
            f"The outputs of (11) and (12) converge to the same limit {case}.",
            FIGURE_3,
            final_distance(1, width),
            "distance of the outputs",
        ),
        _near_zero(
            f"fig3/same-limit-z2-h{width}",
            f"The outputs of (11) and (12) converge to the same limit for two outputs too (z = 2, "
            f"h = {width}).",
            "Theorem 2 (any z), " + FIGURE_3,
            final_distance(2, width),
            "distance of the outputs",
        ),
        _near_zero(
            f"fig3/smallest-eigenvector-h{width}",
            f"The outputs of (11) converge to the smallest eigenvector, e_1 or -e_1 {case}.",
            "Figure 3 right, Numerical Evaluation of Theorem 3",
            distance_to_e1(width),
            "distance from the nearer of ±e_1",
        ),
    ]


CLAIMS = [
    *(claim for width in WIDTHS for claim in _figure_3(width)),
    _near_zero(
        "thm2/paper-ode-velocity-gap-h2",
        "The outputs of projected gradient descent with a step to 0 follow the ODE (9) (h = d = 2, z = 1).",
        "Theorem 2, Eq. 9",
        velocity_gap("printed"),
        "relative error of dQ/dt",
    ),
    ours(
        _near_zero(
            "thm2/corrected-ode-gap-h2",
            "They follow dQ/dt = -[4 C Q - 3 Q Qᵀ C Q - C Q Qᵀ Q] (h = d = 2, z = 1).",
            "Theorem 2, Eq. 9, corrected",
            velocity_gap("corrected"),
            "relative error of dQ/dt",
        )
    ),
    *falsehood(
        "thm2-ode",
        "The outputs of gradient flow on (8) obey dq/dt = -2 [2 Λ q - Λ q qᵀ q - q qᵀ Λ q].",
        "They obey dq/dt = -[4 Λ q - Λ q qᵀ q - 3 q qᵀ Λ q], whatever the width.",
        "Theorem 2, Eqs. 9 and 12",
    ),
    holds(
        "thm2/proof-flow",
        "Eq. 9 is the flow in which (I - W Wᵀ) times the gradient moves W1 and W2.",
        "Proof of Theorem 2",
    ),
    *falsehood(
        "thm2-grassmann",
        "The loss (8) lives on Grassmann manifolds: it is the same for W1 R, R orthogonal.",
        "It is the same for W2 R; for W1 it is not, which lives on a Stiefel manifold.",
        "Section 'Learning Dynamics of Linear SSL Models', proof of Theorem 2",
    ),
    holds("eq10/one-output", "Eq. 10 is Eq. 9 for z = 1.", "Theorem 3, Eq. 10"),
    holds("thm3/norm", "Along Eq. 10, d(qᵀ q)/dt = -8 (1 - qᵀ q) qᵀ Λ q.", "Proof of Theorem 3"),
    holds(
        "thm3/first-component",
        "Along Eq. 10, d(e_1ᵀ q)/dt = 2 [(1 - qᵀ q) (-λ_1) + (qᵀ Λ q - λ_1)] e_1ᵀ q.",
        "Proof of Theorem 3",
    ),
    *falsehood(
        "thm3-positive",
        "If all eigenvalues are positive, the outputs go to 0 (tried: h = d, where |q| = 1).",
        "If all eigenvalues are positive, they go to 0 from |q| < 1, by Eq. 9 and by the corrected ODE.",
        "Theorem 3, first case",
    ),
    *misprint(
        "thm3-limit",
        "If an eigenvalue is negative, q goes to e_1: its derivative along e_1 is always positive (tried: "
        "e_1ᵀ q_0 < 0).",
        "If an eigenvalue is negative, q goes to e_1 or -e_1 by the sign of e_1ᵀ q_0 (not 0), by Eq. 9 and "
        "by the corrected ODE.",
        "Theorem 3, second case, and its proof",
    ),
    *misprint(
        "thm3-zero",
        "There are two cases: q goes to 0, or to the smallest eigenvector (tried: smallest eigenvalue 0).",
        "If the smallest eigenvalue is 0, q goes to a multiple of e_1 that depends on the start.",
        "Theorem 3",
    ),
    holds(
        "prop3/most-negative-eigenvectors",
        "Under the orthogonality constraints descent extracts the eigenvectors of C with the most negative "
        "eigenvalues, as many as there are outputs or negative eigenvalues: Q Qᵀ goes to their projector "
        "(h = d + z).",
        "After Proposition 3",
    ),
    holds(
        "new-datapoint/output", "At a new point u_t(x̂) = q_tᵀ Vᵀ x̂.", "Paragraph 'New Datapoint'"
    ),
    *misprint(
        "eq11",
        "A short step W + η ∇L, projected, lowers the loss (share of steps that raise it).",
        "A short step W - η ∇L, projected, lowers the loss (share of steps that raise it).",
        "Eq. 11",
    ),
]  # fmt: skip
