"""What Figure 4 and its text say."""

from reprise.evidence.claims import Claim, Measure, ordering, trend, value
from reprise.evidence.measures import column, first, rows
from reprise.papers.esser2024.digit_classes.params import DIMS
from reprise.papers.esser2024.digit_classes.scaling import slopes

LEFT = "Figure 4 left, 'Runtime and downstream task'"


def accuracy(z: int, method: str) -> Measure:
    """In percent."""
    return column("accuracy", "accuracy", z=z, method=method)


def at_smallest_width(method: str) -> Measure:
    """Seconds of a step, by repeat."""
    return column("step_seconds", "seconds", width=first, method=method)


def slope(method: str) -> Measure:
    """Of log seconds over log width among wide nets, by repeat."""
    return lambda tables: slopes(rows(tables["step_seconds"], method=method))


def _coincide(z: int) -> Claim:
    return value(
        f"esser2024/fig4/svm-coincide-z{z}",
        f"A linear SVM on the embeddings of descent (11) is as accurate as on those of the ODE (12) "
        f"(z = {z}).",
        source="Figure 4 right, 'Runtime and downstream task'",
        quantity="accuracy",
        measure=accuracy(z, "descent"),
        published=accuracy(z, "printed"),
        unit="% of test images",
    )


CLAIMS = [
    *(_coincide(z) for z in DIMS),
    ordering(
        "esser2024/fig4-time/ode-faster",
        "A step of the ODE (12) takes less time than a step of descent (11), at the smallest width timed.",
        source=LEFT,
        measure=at_smallest_width("ode"),
        below=at_smallest_width("descent"),
        unit="seconds a step",
    ),
    trend(
        "esser2024/fig4-time/descent-linear",
        "The time of a step of descent (11) is linear in the width: log-log slope among wide nets.",
        source=LEFT,
        quantity="slope",
        measure=slope("descent"),
        published=1.0,
        unit="log-log slope",
    ),
]
