"""Claims of Figure 4, and of nonlinear networks beside it."""

from itertools import product

import numpy as np
import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Cells, Quotation, claim
from reprise.evidence.comparison import Comparison, Measure, Premise, above, near
from reprise.evidence.edits import plus, times
from reprise.evidence.measures import column, last, rows
from reprise.papers.esser2024.digit_classes.experiment import DIMS
from reprise.papers.esser2024.digit_classes.scaling import slopes

COINCIDE = Quotation(
    "we observe that overall the performance of the downstream task for both the SGD optimization and the "
    "differential equation coincide",
    at="Figure 4 right, Section 5.2",
)
CONTRIBUTION = Quotation(
    "our derived SSL learning dynamics can be solved significantly faster than training nonlinear networks, "
    "and yet provide comparable accuracy on downstream tasks",
    at="Section 1",
)
STEP = Quotation(
    "an update step using (12) is significantly faster then a SGD step using (11)",
    at="Figure 4 left, Section 5.2",
)
TIMESTEP = Quotation("overall (12) has a shorter runtime per timestep", at="Figure 4 left, Section 5.2")
LINEAR = Quotation("Expectantly (11) scales linearly with", at="Figure 4 left, Section 5.2")


def accuracy(z: int, method: str) -> Measure:
    """Accuracy of a linear SVM on the embeddings, in percent."""
    return column("accuracy", "accuracy", z=z, method=method)


def ode_accuracy(z: int, activation: str) -> Measure:
    """Accuracy of the ODE, in percent, on the seeds on which the nonlinear network was trained."""
    return lambda tables: accuracy(z, "printed")(tables)[accuracy(z, activation)(tables).index]


def has_learned(z: int) -> Measure:
    """1 if descent's embeddings are separated better than those of the random start."""

    def measure(tables: Tables) -> pd.Series:
        return pd.Series([float(accuracy(z, "descent")(tables).mean() > accuracy(z, "start")(tables).mean())])

    return measure


def times_as_long(table: str, training: str) -> Measure:
    """Ratio of the time of training to that of the ODE: the geometric mean over widths, by repeat."""

    def measure(tables: Tables) -> pd.Series:
        slow, fast = (
            rows(tables[table], method=method).set_index(["seed", "width"])["seconds"]
            for method in (training, "ode")
        )
        return (slow / fast.reindex(slow.index)).groupby(level="seed").agg(_geometric_mean)

    return measure


def _geometric_mean(values: pd.Series) -> float:
    """Geometric mean; NaN where a value is NaN."""
    return float(np.exp(np.log(values.to_numpy()).mean()))


def slope(method: str) -> Measure:
    """Slope of log seconds against log width among wide nets, by repeat."""
    return lambda tables: slopes(rows(tables["step_seconds"], method=method))


def _as_accurate(measure: Measure, other: Measure, premise: Premise | None = None) -> Comparison:
    return near(measure, other, quantity="accuracy", unit="% of test images", premise=premise)


@claim(
    "esser2024/fig4/svm-coincide",
    """A linear support vector machine on the embeddings of projected gradient descent (11) is as accurate as
    on those of the ODE (12).""",
    quotes=COINCIDE,
    quantifier="similar",
    word="coincide",
    reading="after as many steps as epochs in Figure 2, where the outputs are not at their limit yet",
    broken_by=plus("accuracy", "accuracy", -5.0, method="printed"),
)
def svm_coincides() -> Cells:
    for z in DIMS:
        learned = Premise("embedding of descent that is better than the random start's", has_learned(z))
        yield f"z = {z}", _as_accurate(accuracy(z, "descent"), accuracy(z, "printed"), learned)


@claim(
    "esser2024/sec1/comparable-accuracy",
    """A linear support vector machine is as accurate on the embeddings of the ODE (12) as on those of
    nonlinear networks of the same width (tanh and ReLU).""",
    quotes=CONTRIBUTION,
    quantifier="similar",
    word="comparable accuracy",
    reading="comparable: within two points, after as many steps",
    broken_by=plus("accuracy", "accuracy", -5.0, method="printed"),
)
def comparable_accuracy() -> Cells:
    for (activation, name), z in product((("tanh", "tanh"), ("relu", "ReLU")), DIMS):
        yield f"{name}, z = {z}", _as_accurate(ode_accuracy(z, activation), accuracy(z, activation))


@claim(
    "esser2024/fig4-time/ode-faster-than-nonlinear",
    """Solving the ODE (12) from the data on, with the matrix C and its eigenvectors, takes less time than
    training a nonlinear network (tanh) for as many steps, on average over widths.""",
    quotes=CONTRIBUTION,
    quantifier="generic",
    word="significantly faster than",
    reading="solved: as many steps as epochs in Figure 2, after which accuracies are compared too; the text "
    "does not say when a network is trained",
    looked="that it is about the time to a solution, and not about a step, after a step's had been seen",
    broken_by=times("solution_seconds", "seconds", 1e4, method="ode"),
)
def solved_faster() -> Comparison:
    longer = times_as_long("solution_seconds", "tanh")
    return above(longer, 1.0, unit="time of training over that of the ODE")


@claim(
    "esser2024/fig4-time/ode-faster",
    """A step of the ODE (12) takes less time than a step of projected gradient descent (11), on average over
    widths.""",
    quotes=(STEP, TIMESTEP),
    quantifier="generic",
    word="significantly faster",
    looked="that the average over widths is judged, by the word 'overall', after every width had been seen",
    broken_by=times("step_seconds", "seconds", 1e4, method="ode"),
)
def step_faster() -> Comparison:
    return above(times_as_long("step_seconds", "descent"), 1.0, unit="time of descent over that of the ODE")


@claim(
    "esser2024/fig4-time/descent-linear",
    """The time of a step of projected gradient descent (11) is linear in the width: log-log slope among wide
    nets.""",
    quotes=LINEAR,
    word="scales linearly with",
    broken_by=times("step_seconds", "seconds", 4.0, method="descent", width=last),
)
def linear_in_width() -> Comparison:
    return near(slope("descent"), 1.0, quantity="slope", unit="log-log slope", kind="trend")
