"""What Figure 4 and its text say."""

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import ours
from reprise.evidence.claims import for_all, ordering, trend
from reprise.evidence.comparison import PERCENT, SHARE, Comparison, Measure, below, near
from reprise.evidence.measures import column, rows
from reprise.papers.esser2024.digit_classes.experiment import DIMS
from reprise.papers.esser2024.digit_classes.scaling import slopes

LEFT = "Figure 4 left, 'Runtime and downstream task'"


def accuracy(z: int, method: str) -> Measure:
    """In percent."""
    return column("accuracy", "accuracy", z=z, method=method)


def separating(z: int, method: str) -> Measure:
    """How much of the eigenvector that separates the classes the outputs hold, from 0 to 1."""
    return column("accuracy", "separating", z=z, method=method)


def speed_up(method: str) -> Measure:
    """How many times faster a step of the ODE is than one of training, at the width where it is least, by
    repeat."""

    def measure(tables: Tables) -> pd.Series:
        training, ode = (
            rows(tables["step_seconds"], method=name).pivot(index="seed", columns="width", values="seconds")
            for name in (method, "ode")
        )
        return (training / ode[training.columns]).min(axis=1, skipna=False)

    return measure


def ode_accuracy(z: int, activation: str) -> Measure:
    """The ODE's, on the seeds on which the nonlinear network was trained."""
    return lambda tables: accuracy(z, "printed")(tables)[accuracy(z, activation)(tables).index]


def slope(method: str) -> Measure:
    """Of log seconds over log width among wide nets, by repeat."""
    return lambda tables: slopes(rows(tables["step_seconds"], method=method))


PERCENT_OF_IMAGES = "% of test images"


def _as_accurate(measure: Measure, other: Measure) -> Comparison:
    return near(measure, other, quantity="accuracy", unit=PERCENT_OF_IMAGES)


def _less_accurate(measure: Measure, other: Measure) -> Comparison:
    return below(measure, other, unit=PERCENT_OF_IMAGES, range=PERCENT)


CLAIMS = [
    for_all(
        "esser2024/fig4/svm-coincide",
        "A linear SVM on the embeddings of descent (11) is as accurate as on those of the ODE (12), and more "
        "accurate than on those of the random start.",
        {f"z = {z}": _as_accurate(accuracy(z, "descent"), accuracy(z, "printed")) for z in DIMS}
        | {f"z = {z}, learned": _less_accurate(accuracy(z, "start"), accuracy(z, "descent")) for z in DIMS},
        source="Figure 4 right, 'Runtime and downstream task'",
        quantifier="similar",
        word="coincide",
        reading="after as many steps as epochs in Figure 2, where the outputs are not at their limit yet",
    ),
    ours(
        for_all(
            "esser2024/fig4/svm-limit",
            "At two outputs an SVM on the embeddings of the ODE (12) falls short of one on their limit, the "
            "eigenvectors of C with the smallest eigenvalues, because the outputs still hold less of the "
            "eigenvector that separates the classes.",
            {
                "accuracy": _less_accurate(accuracy(2, "printed"), accuracy(2, "limit")),
                "separating eigenvector": below(
                    separating(2, "printed"), separating(2, "limit"), unit="share held", range=SHARE
                ),
            },
            source="our remark on Figure 4 right",
            word="falls short of",
            looked="added after a look at the seeds with the lowest accuracies",
        )
    ),
    for_all(
        "esser2024/sec1/comparable-accuracy",
        "Solving the ODE (12) gives embeddings as accurate as those of nonlinear networks of the same width.",
        {
            f"{name}, z = {z}": _as_accurate(ode_accuracy(z, activation), accuracy(z, activation))
            for activation, name in (("tanh", "tanh"), ("relu", "ReLU"))
            for z in DIMS
        },
        source="Section 1, 'Contributions'",
        quantifier="similar",
        word="comparable accuracy",
        reading="comparable: within two points, after as many steps",
    ),
    ordering(
        "esser2024/fig4-time/ode-faster-than-nonlinear",
        "A step of the ODE (12) takes less time than a step of training a nonlinear network (tanh), at every "
        "width timed.",
        source="Section 1, 'Contributions'",
        quantifier="existential",
        word="can",
        measure=speed_up("tanh"),
        above=1.0,
        unit="time of training over that of the ODE",
    ),
    ordering(
        "esser2024/fig4-time/ode-faster",
        "A step of the ODE (12) takes less time than a step of descent (11), at every width timed.",
        source=LEFT,
        quantifier="generic",
        word="is significantly faster",
        measure=speed_up("descent"),
        above=1.0,
        unit="time of descent over that of the ODE",
    ),
    trend(
        "esser2024/fig4-time/descent-linear",
        "The time of a step of descent (11) is linear in the width: log-log slope among wide nets.",
        source=LEFT,
        word="scales linearly with",
        quantity="slope",
        measure=slope("descent"),
        published=1.0,
        unit="log-log slope",
    ),
]
