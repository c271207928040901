"""What the paper says of Figure 1 and in Propositions 1 to 3, as training shows it."""

from reprise.evidence.claims import Claim, Measure, count, ordering, value
from reprise.evidence.measures import applied, column, each_seed

NEGLIGIBLE = 0.05
"""A singular value of the outputs under this share of the largest does not count as a dimension."""
SCALED = {"orthogonal": "L_orth (spectral norms)", "frobenius": "the loss scaled by Frobenius norms"}


def of_runs(name: str, problem: str, outputs: int) -> Measure:
    """A column, a number a start."""
    return column("runs", name, problem=problem, output_dim=outputs)


def mean_of(name: str, problem: str, outputs: int) -> Measure:
    """A column, mean over starts."""
    return each_seed("mean", of_runs(name, problem, outputs))


def rank(problem: str) -> Measure:
    """Singular values of two outputs over the data above 5 % of the largest, where a run ended or was last
    finite; mean over starts."""
    second = of_runs("second_share", problem, 2)
    return each_seed("mean", applied(lambda share: 1.0 + (share > NEGLIGIBLE), second))


def diverged(problem: str) -> Measure:
    """Share of the runs, of one output and of two, that are not finite at the end."""
    runs = (of_runs("diverged_at", problem, outputs) for outputs in (1, 2))
    shares = (each_seed("mean", applied(lambda step: step.notna().astype(float), each)) for each in runs)
    return applied(lambda one, two: (one + two) / 2, *shares)


def spread(problem: str, outputs: int) -> Measure:
    """Largest less smallest last loss over the starts on the same data, relative to their mean."""
    losses = of_runs("loss", problem, outputs)
    largest, smallest, mean = (each_seed(reduce, losses) for reduce in ("max", "min", "mean"))
    return applied(lambda high, low, middle: (high - low) / middle.abs(), largest, smallest, mean)


def _converges(problem: str, outputs: int, where: str) -> Claim:
    return value(
        f"esser2024/fig1/{problem}-converges-z{outputs}",
        f"With {SCALED[problem]} gradient descent converges, z = {outputs}: to {where}.",
        source="Example 1, Figure 1; Propositions 2 and 3",
        quantity="singular value",
        measure=mean_of("loss", problem, outputs),
        published=mean_of("optimum", problem, outputs),
        unit="loss",
    )


def _independent(problem: str, outputs: int) -> Claim:
    return value(
        f"esser2024/fig1/{problem}-independent-of-start-z{outputs}",
        f"With {SCALED[problem]} the loss converges to the same value whatever the start, z = {outputs}.",
        source="Example 1, Figure 1",
        quantity="score",
        measure=spread(problem, outputs),
        published=0.0,
        unit="relative range over starts",
        kind="trend",
    )


def _collapses(problem: str, id: str, what: str, source: str) -> Claim:
    return count(
        id,
        f"{what}: two outputs collapse to one dimension.",
        source=source,
        measure=rank(problem),
        at_most=1,
        unit="singular values above 5 % of the largest",
    )


CLAIMS = [
    count(
        "esser2024/fig1/unconstrained-diverges",
        "Gradient descent on the unconstrained contrastive loss diverges, to numbers that are not finite.",
        source="Example 1, Figure 1",
        measure=diverged("unconstrained"),
        at_least=1,
        unit="share of runs",
    ),
    *(
        count(
            f"esser2024/fig1/{problem}-stays-finite",
            f"With {SCALED[problem]} no run diverges.",
            source="Example 1, Figure 1",
            measure=diverged(problem),
            at_most=0,
            unit="share of runs",
        )
        for problem in SCALED
    ),
    _converges("orthogonal", 1, "the smallest eigenvalue of C"),
    _converges("orthogonal", 2, "the sum of the negative eigenvalues of C"),
    _converges("frobenius", 1, "the smallest eigenvalue of C"),
    _converges("frobenius", 2, "the smallest eigenvalue of C, as with one output"),
    *(_independent(problem, outputs) for problem in SCALED for outputs in (1, 2)),
    *(
        value(
            f"esser2024/fig1/{problem}-most-negative-eigenvector",
            f"With {SCALED[problem]} one output converges to C's most negative eigenvector.",
            source="Example 1; Section 3 after Proposition 3",
            quantity="score",
            measure=mean_of("alignment", problem, 1),
            published=1.0,
            unit="|cos|",
            kind="trend",
        )
        for problem in SCALED
    ),
    count(
        "esser2024/fig1/rank-orthogonal",
        "With L_orth (spectral norms) two outputs do not collapse: they span two dimensions.",
        source="Proposition 3",
        measure=rank("orthogonal"),
        at_least=2,
        unit="singular values above 5 % of the largest",
    ),
    _collapses(
        "frobenius",
        "esser2024/fig1/rank-frobenius",
        "With Frobenius norms (it converges too)",
        "Proposition 2",
    ),
    _collapses(
        "unconstrained", "esser2024/prop1/rank-two-layers", "Unconstrained, two layers", "Proposition 1"
    ),
    _collapses("one_layer", "esser2024/prop1/rank-one-layer", "Unconstrained, u = Θx", "Proposition 1"),
    value(
        "esser2024/prop2/second-output-adds-nothing",
        "With Frobenius norms the least loss of two outputs is that of one.",
        source="Proposition 2",
        quantity="singular value",
        measure=mean_of("loss", "frobenius", 2),
        published=mean_of("loss", "frobenius", 1),
        unit="loss",
    ),
    ordering(
        "esser2024/prop3/second-output-adds",
        "With L_orth two outputs reach a lower loss than one.",
        source="Proposition 3",
        measure=mean_of("loss", "orthogonal", 2),
        below=mean_of("loss", "orthogonal", 1),
        unit="loss",
    ),
]
