"""Claims of Figure 3."""

from reprise.evidence.claim import Cells, Quotation, claim
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
from reprise.evidence.edits import plus, times
from reprise.evidence.measures import applied, column, difference
from reprise.papers.esser2024.limiting_dynamics.experiment import WIDTHS
from reprise.papers.esser2024.limits import beyond

ODE = "printed_euler"
UNIT = "distance of the outputs"
LOOKED = "2000 steps, after a run of 1000 in which some starts had not settled"

LOSSES = Quotation(
    "while the decay is slightly slower in the dynamics setting both converge to the same final loss value",
    at="Figure 3 left, Section 5.2",
)
OUTPUTS = Quotation(
    "for a given initialization the are stay close to each other and converge to the same final outputs",
    at="Figure 3 right, Section 5.2",
)
EIGENVECTOR = Quotation(
    "We observe that eventually the machine outputs converge to the smallest eigenvector",
    at="Figure 3 right, Section 5.2",
)


def end(name: str, width: int, method: str) -> Measure:
    """A column of `ends`, for one output."""
    return column("ends", name, z=1, width=width, method=method)


def resolutions(width: int, prefix: str = "") -> list[Measure]:
    """Resolutions of the limits of descent and of (12): the movement in the last quarter, and Euler's
    error."""
    names = [("moved", "descent"), ("moved", ODE), ("integration", ODE)]
    return [end(f"{prefix}{name}", width, method) for name, method in names]


def _agree(unit: str, distance: Measure, *resolutions: Measure) -> Comparison:
    return in_every_run(at_most(beyond(distance, *resolutions), IDENTITY_TOLERANCE, unit=unit))


@claim(
    "esser2024/fig3/final-loss-gap",
    "Projected gradient descent (11) and the ODE (12) converge to the same final loss (one output).",
    quotes=LOSSES,
    word="both converge to the same final loss value",
    looked=LOOKED,
    broken_by=plus("ends", "loss", 0.01, method=ODE),
)
def same_final_loss() -> Cells:
    for width in WIDTHS:
        gap = difference(end("loss", width, "descent"), end("loss", width, ODE))
        yield f"h = {width}", _agree("difference of losses", gap, *resolutions(width, "loss_"))


@claim(
    "esser2024/fig3/slower-decay",
    """The loss decays along the ODE (12), and more slowly than along projected gradient descent (11): its
    mean over the iterations is higher (one output).""",
    quotes=LOSSES,
    quantifier="generic",
    word="slightly slower",
    looked=LOOKED,
    broken_by=(
        plus("ends", "mean_loss", -0.05, method=ODE),
        plus("ends", "loss", 1.0, method=ODE),
    ),
)
def slower_decay() -> Cells:
    for width in WIDTHS:
        ode, descent = (end("mean_loss", width, method) for method in (ODE, "descent"))
        yield f"h = {width}", above(ode, descent, unit="mean loss")
    for width in WIDTHS:
        last, first = (end(name, width, ODE) for name in ("loss", "first_loss"))
        yield f"h = {width}, decays", below(last, first, unit="loss")


@claim(
    "esser2024/fig3/outputs-close",
    """From the same start, the outputs of projected gradient descent (11) and of the ODE (12) stay close to
    each other: the largest distance on the way, where the limit has length 1 (one output).""",
    quotes=OUTPUTS,
    quantifier="similar",
    word="stay close to each other",
    looked=LOOKED,
    broken_by=times("ends", "largest_distance", 10.0, method=ODE),
)
def outputs_close() -> Cells:
    for width in WIDTHS:
        distance = end("largest_distance", width, ODE)
        yield f"h = {width}", near(distance, 0.0, quantity="score", bounds=(0.0, 2.0), unit=UNIT)


@claim(
    "esser2024/fig3/same-limit",
    """The outputs of projected gradient descent (11) and of the ODE (12) converge to the same limit (one
    output).""",
    quotes=OUTPUTS,
    word="converge to the same final outputs",
    looked=LOOKED,
    broken_by=plus("ends", "distance", 0.01, method=ODE),
)
def same_limit() -> Cells:
    for width in WIDTHS:
        yield f"h = {width}", _agree(UNIT, end("distance", width, ODE), *resolutions(width))


@claim(
    "esser2024/fig3/smallest-eigenvector",
    """The outputs of projected gradient descent (11) converge to the eigenvector of C with the smallest
    eigenvalue, e_1 or -e_1 (one output).""",
    quotes=EIGENVECTOR,
    word="converge to the smallest eigenvector",
    looked=LOOKED,
    broken_by=plus("ends", "miss", 0.01, method="descent"),
)
def smallest_eigenvector() -> Cells:
    for width in WIDTHS:
        # q qᵀ moves up to twice as far as q.
        doubled = applied(lambda moved: 2 * moved, end("moved", width, "descent"))
        miss = end("miss", width, "descent")
        yield f"h = {width}", _agree("distance of q qᵀ from e_1 e_1ᵀ", miss, doubled)
