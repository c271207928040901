"""What the paper says of Figure 3."""

from collections.abc import Callable

from reprise.evidence.claim import Claim, Quantifier, ours
from reprise.evidence.claims import for_all
from reprise.evidence.comparison import (
    IDENTITY_TOLERANCE,
    Comparison,
    Measure,
    above,
    at_most,
    below,
    in_every_run,
    near,
)
from reprise.evidence.measures import applied, column, difference
from reprise.papers.esser2024.limiting_dynamics.experiment import WIDTHS
from reprise.papers.esser2024.limits import beyond

SOURCE = "Figure 3 and the text after Eq. 12"
ODE = "printed_euler"
UNIT = "distance of the outputs"
LOOKED = "2000 steps, after a run of 1000 in which some starts had not settled"


def end(name: str, width: int, method: str, z: int = 1) -> Measure:
    return column("ends", name, z=z, width=width, method=method)


def resolutions(width: int, z: int, prefix: str = "") -> list[Measure]:
    """Of the limits of descent and of (12): what still moves, and Euler's error."""
    names = [("moved", "descent"), ("moved", ODE), ("integration", ODE)]
    return [end(f"{prefix}{name}", width, method, z) for name, method in names]


def final_loss_gap(width: int) -> Measure:
    """After the last step; the loss is an eigenvalue there, of the size of 1."""
    losses = (end("loss", width, method) for method in ("descent", ODE))
    return difference(*losses)


def _agree(unit: str, distance: Measure, *resolutions: Measure) -> Comparison:
    return in_every_run(at_most(beyond(distance, *resolutions), IDENTITY_TOLERANCE, unit=unit))


def _slower(width: int) -> Comparison:
    losses = (end("mean_loss", width, method) for method in (ODE, "descent"))
    higher, lower = losses
    return above(higher, lower, unit="mean loss")


def _falls(width: int) -> Comparison:
    last, first = (end(name, width, ODE) for name in ("loss", "first_loss"))
    return below(last, first, unit="loss")


def _close(width: int) -> Comparison:
    distance = end("largest_distance", width, ODE)
    return near(distance, 0.0, quantity="score", bounds=(0.0, 2.0), unit=UNIT)


def _smallest(width: int) -> Comparison:
    doubled = applied(
        lambda moved: 2 * moved, end("moved", width, "descent")
    )  # q qᵀ moves up to twice as far
    return _agree("distance of q qᵀ from e_1 e_1ᵀ", end("miss", width, "descent"), doubled)


def _at_all_widths(
    name: str,
    statement: str,
    cell: Callable[[int], Comparison],
    word: str,
    source: str = SOURCE,
    quantifier: Quantifier = "universal",
) -> Claim:
    cells = {f"h = {width}": cell(width) for width in WIDTHS}
    return for_all(
        f"esser2024/fig3/{name}",
        statement,
        cells,
        source=source,
        quantifier=quantifier,
        word=word,
        looked=LOOKED,
    )


CLAIMS = [
    _at_all_widths(
        "final-loss-gap",
        "Projected gradient descent (11) and the ODE (12) converge to the same final loss (z = 1).",
        lambda width: _agree("difference of losses", final_loss_gap(width), *resolutions(width, 1, "loss_")),
        "the same final loss value",
    ),
    for_all(
        "esser2024/fig3/slower-decay",
        "The loss decays along the ODE (12), and more slowly than along descent (11): its mean over the "
        "iterations is higher (z = 1).",
        {f"h = {width}": _slower(width) for width in WIDTHS}
        | {f"h = {width}, decays": _falls(width) for width in WIDTHS},
        source=SOURCE,
        quantifier="generic",
        word="slightly slower",
        looked=LOOKED,
    ),
    _at_all_widths(
        "outputs-close",
        "Started alike, the outputs of (11) and (12) stay close to each other: the largest distance on the "
        "way, where the limit has length 1 (z = 1).",
        _close,
        "stay close to each other",
        quantifier="similar",
    ),
    _at_all_widths(
        "same-limit",
        "The outputs of (11) and (12) converge to the same limit (z = 1).",
        lambda width: _agree(UNIT, end("distance", width, ODE), *resolutions(width, 1)),
        "the same final outputs",
    ),
    ours(
        _at_all_widths(
            "same-limit-z2",
            "The outputs of (11) and (12) converge to the same limit for two outputs too (z = 2).",
            lambda width: _agree(UNIT, end("distance", width, ODE, 2), *resolutions(width, 2)),
            "the same limit",
        ),
        "ours: Figure 3 has one output; that Theorem 2's ODE is not the descent's is `thm2-ode`",
    ),
    _at_all_widths(
        "smallest-eigenvector",
        "The outputs of (11) converge to the smallest eigenvector, e_1 or -e_1 (z = 1).",
        _smallest,
        "converge to the smallest eigenvector",
        "Figure 3 right, Numerical Evaluation of Theorem 3",
    ),
]
