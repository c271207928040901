"""Claims of Section 2 and the abstract about wide networks."""

from itertools import product

from reprise.evidence.claim import Cells, Quotation, claim
from reprise.evidence.comparison import COLLAPSED, MARGINS, SHARE, Comparison, Measure, above, below
from reprise.evidence.edits import put, times
from reprise.evidence.measures import applied, column, last, log_log_slope, wide
from reprise.papers.esser2024.wide_networks.experiment import ACTIVATIONS, LOSSES

NAMES = {"relu": "ReLU", "tanh": "tanh"}
SHARE_OF_BOTH = (0.0, 2.0)
"""Two outputs are at most twice as far apart as the larger is long."""

WIDE_TOO = Quotation(
    "one can conclude that Proposition 1 and dimension collapse also happen for wide neural networks",
    "Section 2.2",
)
DEVIATE = Quotation(
    "We also argue that the infinite width approximation of SSL models significantly deviate from the neural "
    "tangent kernel approximations of supervised models",
    "Abstract",
)


def distance(arm: str) -> Measure:
    """Distance of the widest network's outputs from those of its tangent kernel."""
    return column("distances", "distance", arm=arm, width=last)


def _above(measure: Measure, reference: float | Measure) -> Comparison:
    return above(measure, reference, unit="distance over size", bounds=SHARE_OF_BOTH)


@claim(
    "esser2024/sec2/wide-collapse",
    f"""Outputs of wide networks trained by the losses (1) and (2) collapse to one dimension: the second
    singular value falls below {COLLAPSED:g} of the first.""",
    quotes=WIDE_TOO,
    quantifier="generic",
    word="also happen for",
    reading="ours: in networks of finite width, along the gradient flow in a time of its own",
    looked="steps, after a trial on other seeds",
    broken_by=put("collapse", "ratio", 0.5, step=last),
)
def wide_networks_collapse() -> Cells:
    for activation, loss in product(ACTIVATIONS, LOSSES):
        ratio = column("collapse", "ratio", activation=activation, loss=loss, step=last)
        unit = f"second singular value over the first, less {COLLAPSED:g}"
        yield f"{NAMES[activation]}, {loss}", below(ratio, COLLAPSED, unit=unit, bounds=SHARE)


@claim(
    "esser2024/abstract/ntk-deviation",
    """At the largest width the outputs of an SSL network with orthonormal weights deviate from those of its
    neural tangent kernel by more than a tenth of their size, and by more than a supervised network's do.""",
    quotes=DEVIATE,
    quantifier="generic",
    word="significantly deviate from",
    reading="ours: the network's outputs against those of its kernel at the start, after equal training",
    looked="that the largest width alone is judged, after the smallest had been reproduced too",
    broken_by=times("distances", "distance", 1e-4, arm="constrained"),
)
def far_from_the_kernel() -> Cells:
    yield "a tenth", _above(distance("constrained"), MARGINS["score"])
    yield "more than supervised", _above(distance("constrained"), distance("supervised"))


@claim(
    "esser2024/abstract/ntk-supervised",
    "Supervised networks approach their neural tangent kernel as they become wider.",
    at="Abstract",
    form="ours",
    quantifier="generic",
    word="as they become wider",
    reading="ours: the control of the abstract's sentence, which the paper takes from Jacot et al. (2018)",
    broken_by=times("distances", "distance", 99.0, arm="supervised", width=last),
)
def supervised_approaches_the_kernel() -> Comparison:
    slope = applied(log_log_slope, wide("distances", "distance", "width", arm="supervised"))
    return below(slope, 0.0, unit="log-log slope")
