"""What Figure 4 and its text say."""

import pandas as pd

from reprise.evidence.claims import Measure, for_all, ordering, trend, value
from reprise.evidence.measures import column, rows
from reprise.papers.esser2024.digit_classes.params import DIMS
from reprise.papers.esser2024.digit_classes.scaling import slopes
from reprise.study.experiment import Tables

LEFT = "Figure 4 left, 'Runtime and downstream task'"


def accuracy(z: int, method: str) -> Measure:
    """In percent."""
    return column("accuracy", "accuracy", z=z, method=method)


def speed_up(tables: Tables) -> pd.Series:
    """How many times faster a step of the ODE is than one of descent, at the width where it is least, by
    repeat."""
    descent, ode = (
        rows(tables["step_seconds"], method=method).pivot(index="seed", columns="width", values="seconds")
        for method in ("descent", "ode")
    )
    return (descent / ode).min(axis=1, skipna=False)


def slope(method: str) -> Measure:
    """Of log seconds over log width among wide nets, by repeat."""
    return lambda tables: slopes(rows(tables["step_seconds"], method=method))


CLAIMS = [
    for_all(
        "esser2024/fig4/svm-coincide",
        "A linear SVM on the embeddings of descent (11) is as accurate as on those of the ODE (12), and more "
        "accurate than on those of the random start.",
        {
            f"z = {z}": value(
                "",
                "",
                source="",
                quantity="accuracy",
                measure=accuracy(z, "descent"),
                published=accuracy(z, "printed"),
                unit="% of test images",
            )
            for z in DIMS
        }
        | {
            f"z = {z}, learned": ordering(
                "",
                "",
                source="",
                measure=accuracy(z, "descent"),
                above=accuracy(z, "start"),
                unit="% of test images",
            )
            for z in DIMS
        },
        source="Figure 4 right, 'Runtime and downstream task'",
    ),
    ordering(
        "esser2024/fig4-time/ode-faster",
        "A step of the ODE (12) takes less time than a step of descent (11), at every width timed.",
        source=LEFT,
        measure=speed_up,
        above=1.0,
        unit="time of descent over that of the ODE",
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
