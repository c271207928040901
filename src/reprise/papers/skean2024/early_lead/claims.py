"""Claims of Section 6.2 about Figure 4."""

from itertools import product

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence import measures
from reprise.evidence.claim import Cells, Claim, Quotation, claim, each
from reprise.evidence.comparison import Comparison, Measure, above, below, near
from reprise.evidence.edits import plus, swapped
from reprise.evidence.measures import Wide, column, interned
from reprise.papers.skean2024.early_lead.experiment import EPOCHS, LOOKS, PAIR, SHOWN
from reprise.papers.skean2024.learned import above_start, learned
from reprise.papers.skean2024.printed import CATCHES_UP
from reprise.papers.skean2024.published import NEEDS, Number, numbers_of

K = {"top1": "top-1", "top5": "top-5"}
AT = "Figure 4, Section 6.2"
AFTER_ONE = Quotation("Even after the first epoch, FroSSL has an improvement of", AT)
EARLY = Quotation("We show the first 30 epochs to emphasize what happens early in training", AT)
AN_EPOCH = "an epoch is a hundredth of a run's steps (ours), in the paper 5,719 steps"
GATE = (
    "that the final probe of either method is above its random initialisation, after FroSSL's had to be by "
    "15 points"
)
LEARNED_BY_PAIR = learned("probes", method=PAIR)
EXCHANGED = swapped("online", "method", *PAIR)


@interned
def leads(column: str) -> Wide:
    """FroSSL's lead over Barlow Twins: a row a seed, a column an epoch."""

    def measure(tables: Tables) -> pd.DataFrame:
        accuracy = tables["online"].pivot(index=["seed", "epoch"], columns="method", values=column)
        return (accuracy["frossl"] - accuracy["barlow-twins"]).unstack("epoch")

    return measure


def first(column: str) -> Measure:
    """FroSSL's lead at the first test of the online probe."""
    return lambda tables: leads(column)(tables).iloc[:, 0]


def mean_early(column: str) -> Measure:
    """FroSSL's mean lead over the epochs that the figure shows."""
    return lambda tables: leads(column)(tables).loc[:, :SHOWN].mean(axis=1, skipna=False)


def after(epoch: int, column: str) -> Measure:
    return lambda tables: leads(column)(tables)[epoch]


def probe(method: str, name: str) -> Measure:
    """The linear probe after training."""
    return column("probes", name, method=method)


def _unit(column: str) -> str:
    return f"percentage points of online {K[column]}, FroSSL's lead over Barlow Twins"


def _leads(column: str, lead: Measure) -> Comparison:
    return above(lead, 0.0, unit=_unit(column), premise=above_start("probes", any_of=True, method=PAIR))


@claim(
    "skean2024/fig4/ahead-after-the-first-epoch",
    """FroSSL's top-1 and top-5 accuracies are above Barlow Twins' already at the first test of the online
    probe.""",
    quotes=AFTER_ONE,
    quantifier="generic",
    word="has an improvement of",
    reading=AN_EPOCH,
    looked=GATE,
    broken_by=EXCHANGED,
)
def ahead_after_the_first_epoch() -> Cells:
    for name, k in K.items():
        yield k, _leads(name, first(name))


@claim(
    "skean2024/fig4/ahead-for-30-epochs",
    f"""FroSSL's top-1 and top-5 accuracies are above Barlow Twins' in the first {SHOWN} of {EPOCHS} epochs:
    after {LOOKS[0]}, {LOOKS[1]} and {LOOKS[2]}.""",
    quotes=EARLY,
    quantifier="generic",
    word="what happens early in training",
    reading=f"{AN_EPOCH}; one look at each",
    looked=GATE,
    broken_by=EXCHANGED,
)
def ahead_for_30_epochs() -> Cells:
    for (name, k), epoch in product(K.items(), LOOKS):
        yield f"{k}, epoch {epoch}", _leads(name, after(epoch, name))


@claim(
    "skean2024/fig4/barlow-catches-up",
    f"""Barlow Twins catches up: at the end FroSSL's lead in top-1 and top-5 accuracy is smaller than its mean
    over the first {SHOWN} epochs.""",
    quotes=CATCHES_UP,
    quantifier="generic",
    word="does catch up",
    reading=AN_EPOCH,
    looked="that it is judged on average over top-1 and top-5, after it had been in each; of the lead at "
    f"first, {GATE}",
    broken_by=EXCHANGED,
)
def barlow_catches_up() -> Cells:
    for name, k in K.items():
        early, final = mean_early(name), after(EPOCHS, name)
        yield f"{k}: FroSSL leads at first", _leads(name, early)
        yield (
            f"{k}: by less in the end",
            below(final, early, unit=_unit(name), learned=LEARNED_BY_PAIR),
        )


@claim(
    "skean2024/fig4/similar-in-the-end",
    """FroSSL and Barlow Twins end with similar top-1 and top-5 accuracies of a linear probe.""",
    quotes=CATCHES_UP,
    quantifier="similar",
    word="achieves similar performances",
    broken_by=plus("probes", list(K), 9.0, method="frossl"),
)
def similar_in_the_end() -> Cells:
    for name, k in K.items():
        similar = near(
            probe("frossl", name),
            probe("barlow-twins", name),
            quantity="accuracy",
            kind="trend",
            unit=f"% {k} linear probe",
            learned=LEARNED_BY_PAIR,
        )
        yield k, similar


*FINALS, LEAD = numbers_of("Section 6.2 text")


@each(FINALS)
def final(number: Number) -> Claim:
    name = number.key.rpartition("-")[2]

    @claim(
        f"skean2024/{number.key}",
        f"""{number.row} ends at {number.value} % {K[name]} on ImageNet.""",
        quotes=Quotation("FroSSL and Barlow Twins achieve final top1/top5 accuracies of", at="Section 6.2"),
        word="achieve final top1/top5 accuracies of",
        needs=NEEDS,
        broken_by=plus("probes", name, 9.0, method=number.method),
    )
    def accuracy_of() -> Comparison:
        measure = probe(number.method, name)
        return near(measure, number.value, quantity="accuracy", unit=f"% {K[name]} linear probe")

    return accuracy_of


@claim(
    f"skean2024/{LEAD.key}",
    f"""FroSSL is {LEAD.value} percentage points of top-1 above Barlow Twins after the first epoch.""",
    quotes=AFTER_ONE,
    word="has an improvement of",
    needs=NEEDS,
    reading="ours: the paper says neither which accuracy nor that it means points",
    broken_by=plus("online", "top1", 9.0, method="frossl", epoch=measures.first),
)
def lead_after_epoch1() -> Comparison:
    unit, bounds = "percentage points of online top-1", (-100.0, 100.0)
    return near(first("top1"), LEAD.value, quantity="accuracy", unit=unit, bounds=bounds)
