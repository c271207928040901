"""What the paper says of Figure 1 and in Propositions 1 to 3, as training shows it in every run.

A limit is measured to within what still moves over the last quarter of the steps, and to
`IDENTITY_TOLERANCE`, within which numbers count as equal.
"""

import pandas as pd

from reprise.evidence.claim import Claim, ours
from reprise.evidence.claims import always, for_all
from reprise.evidence.comparison import (
    COLLAPSED,
    IDENTITY_TOLERANCE,
    Comparison,
    Measure,
    at_most,
    exactly,
    in_every_run,
)
from reprise.evidence.measures import applied, difference, interned, ratio, selected
from reprise.papers.esser2024.limits import beyond

SCALED = {"orthogonal": "L_orth (spectral norms)", "frobenius": "the loss scaled by Frobenius norms"}
WORDS = {"orthogonal": "independent of the initialization", "frobenius": "different considered constraints"}
"""The paper's words, in Example 1 and in the caption of Figure 1, that speak of every start, or of both."""
DIMS = (1, 2)
"""Numbers of outputs."""
FIGURE_1 = "Example 1, Figure 1"
RESOLUTION = "beyond what still moves, as a share"


@interned
def of_runs(name: str, problem: str, outputs: int) -> Measure:
    """A column, a number a run."""
    runs = selected("runs", problem=problem, output_dim=outputs)
    return lambda tables: runs(tables).set_index(["seed", "start"])[name]


def diverged(problem: str, outputs: int) -> Measure:
    """1 for a run that is not finite at the end, else 0."""
    return applied(lambda step: step.notna().astype(float), of_runs("diverged_at", problem, outputs))


def rank(problem: str) -> Measure:
    """Singular values of two outputs over the data that have not collapsed, where a run ended or was last
    finite."""
    return applied(lambda share: 1.0 + (share > COLLAPSED), of_runs("second_share", problem, 2))


def rests(problem: str, outputs: int) -> Measure:
    """1 for a run whose loss, in the last quarter of the steps, moves over at most half the range of the
    quarter before, or within rounding; 0 for one that goes on moving."""

    def at_rest(loss: pd.Series, before: pd.Series, after: pd.Series) -> pd.Series:
        return ((after <= before / 2) | (after <= IDENTITY_TOLERANCE * loss.abs())).astype(float)

    return applied(at_rest, *(of_runs(name, problem, outputs) for name in ("loss", "moved_before", "moved")))


def relative_to(scale: Measure, *measures: Measure) -> list[Measure]:
    size = applied(pd.Series.abs, scale)
    return [ratio(measure, size) for measure in measures]


def off_optimum(problem: str, outputs: int) -> Measure:
    """Distance of a run's last loss from the minimum."""
    loss, least, moved = (of_runs(name, problem, outputs) for name in ("loss", "optimum", "moved"))
    return beyond(*relative_to(least, difference(loss, least), moved))


def off_first_start(problem: str, outputs: int) -> Measure:
    """Distance of a run's last loss from that of the first start on the same data."""

    def from_first(values: pd.Series) -> pd.Series:
        return values.xs(0, level="start").reindex(values.index, level="seed")

    loss, moved = (of_runs(name, problem, outputs) for name in ("loss", "moved"))
    first_loss, first_moved = (applied(from_first, each) for each in (loss, moved))
    apart = beyond(*relative_to(first_loss, difference(loss, first_loss), moved, first_moved))
    return applied(lambda values: values[values.index.get_level_values("start") > 0], apart)


def off_eigenvector(problem: str) -> Measure:
    """1 - |cos| of a run's output and the eigenvector of the smallest eigenvalue."""
    alignment, moved = (of_runs(name, problem, 1) for name in ("alignment", "alignment_moved"))
    return beyond(applied(lambda cosine: 1 - cosine, alignment), moved)


def gain(problem: str) -> Measure:
    """By how much two outputs end at a lower loss than one from the same W1."""
    return difference(*(of_runs("loss", problem, outputs) for outputs in DIMS))


def off_one_output(problem: str) -> Measure:
    """Distance of the last losses of two outputs and of one."""
    moved = (of_runs("moved", problem, outputs) for outputs in DIMS)
    return beyond(*relative_to(of_runs("loss", problem, 1), gain(problem), *moved))


def _rests(problem: str, outputs: int) -> Comparison:
    return in_every_run(exactly(rests(problem, outputs), 1, unit="(1: at rest)"))


def _is_none(distance: Measure) -> Comparison:
    return in_every_run(at_most(distance, IDENTITY_TOLERANCE, unit=RESOLUTION))


def _diverges(problem: str, outputs: int, runs: int) -> Comparison:
    """Every run does (1), or none does (0)."""
    return in_every_run(exactly(diverged(problem, outputs), runs, unit="(1: not finite)"))


def _of_one_output(claim: Claim, outputs: int) -> Claim:
    """The paper's with one output, else ours."""
    if outputs == 1:
        return claim
    return ours(
        claim,
        "ours: Figure 1 has one output; with two the scaled loss is not smooth at its minimum, where a "
        "constant step cannot come to rest",
    )


def _converges(problem: str, outputs: int, where: str) -> Claim:
    converges = for_all(
        f"esser2024/fig1/{problem}-converges-z{outputs}",
        f"With {SCALED[problem]} gradient descent converges, z = {outputs}: it comes to rest, at {where}.",
        {
            "comes to rest": _rests(problem, outputs),
            "at this value": _is_none(off_optimum(problem, outputs)),
        },
        source="Example 1, Figure 1; Propositions 2 and 3",
        word=WORDS[problem] if outputs == 1 else "converges",
    )
    return _of_one_output(converges, outputs)


def _independent(problem: str, outputs: int) -> Claim:
    independent = for_all(
        f"esser2024/fig1/{problem}-independent-of-start-z{outputs}",
        f"With {SCALED[problem]} the loss converges to the same value whatever the start, z = {outputs}.",
        {
            "comes to rest": _rests(problem, outputs),
            "same value": _is_none(off_first_start(problem, outputs)),
        },
        source=FIGURE_1,
        word=WORDS[problem] if outputs == 1 else "whatever the start",
    )
    return _of_one_output(independent, outputs)


def _collapses(problem: str, id: str, what: str, source: str, word: str) -> Claim:
    return always(
        id,
        f"{what}: two outputs collapse to one dimension.",
        source=source,
        word=word,
        measure=rank(problem),
        at_most=1,
        unit="singular values not collapsed",
    )


CLAIMS = [
    for_all(
        "esser2024/fig1/unconstrained-diverges",
        "Gradient descent on the unconstrained contrastive loss diverges, to numbers that are not finite.",
        {f"z = {z}": _diverges("unconstrained", z, 1) for z in DIMS},
        source=FIGURE_1,
        word="diverge",
    ),
    *(
        for_all(
            f"esser2024/fig1/{problem}-stays-finite",
            f"With {SCALED[problem]} no run of gradient descent diverges.",
            {f"z = {z}": _diverges(problem, z, 0) for z in DIMS},
            source=FIGURE_1,
            word=WORDS[problem],
        )
        for problem in SCALED
    ),
    _converges("orthogonal", 1, "the smallest eigenvalue of C"),
    _converges("orthogonal", 2, "the sum of the negative eigenvalues of C"),
    _converges("frobenius", 1, "the smallest eigenvalue of C"),
    _converges("frobenius", 2, "the smallest eigenvalue of C, as with one output"),
    *(_independent(problem, outputs) for problem in SCALED for outputs in DIMS),
    *(
        always(
            f"esser2024/fig1/{problem}-most-negative-eigenvector",
            f"With {SCALED[problem]} one output converges to C's most negative eigenvector.",
            source="Example 1; Section 3 after Proposition 3",
            word="extracts the eigenvectors",
            measure=off_eigenvector(problem),
            at_most=IDENTITY_TOLERANCE,
            unit="1 - |cos|, " + RESOLUTION,
        )
        for problem in SCALED
    ),
    always(
        "esser2024/fig1/rank-orthogonal",
        "With L_orth (spectral norms) two outputs do not collapse: they span two dimensions.",
        source="Proposition 3",
        word="avoids dimension collapse",
        measure=rank("orthogonal"),
        at_least=2,
        unit="singular values not collapsed",
    ),
    _collapses(
        "frobenius",
        "esser2024/fig1/rank-frobenius",
        "With the loss scaled by Frobenius norms, which converges too",
        "Proposition 2",
        "does not prevent",
    ),
    _collapses(
        "unconstrained",
        "esser2024/prop1/rank-two-layers",
        "Unconstrained, in a linear network of two layers",
        "Proposition 1",
        "collapses to one dimension",
    ),
    _collapses(
        "one_layer",
        "esser2024/prop1/rank-one-layer",
        "Unconstrained, in a linear network of one layer, u = Θx",
        "Proposition 1",
        "collapses to one dimension",
    ),
    always(
        "esser2024/prop2/second-output-adds-nothing",
        "With the loss scaled by Frobenius norms, the least loss of two outputs is that of one.",
        source="Proposition 2",
        word="has a global solution",
        measure=off_one_output("frobenius"),
        at_most=IDENTITY_TOLERANCE,
        unit="loss, " + RESOLUTION,
    ),
    always(
        "esser2024/prop3/second-output-adds",
        "With the orthogonal loss L_orth, two outputs reach a lower loss than one.",
        source="Proposition 3",
        word="avoids dimension collapse",
        measure=gain("orthogonal"),
        at_least=IDENTITY_TOLERANCE,
        unit="loss",
    ),
]
