"""A claim's numbers and limits in words: for the page, its digest, the published results and the terminal."""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reprise.evidence.claim import Claim as Definition
from reprise.evidence.comparison import FORMULAS, Kind
from reprise.evidence.errata import ErratumKind
from reprise.evidence.estimates import MIN_RANKED, unseen_share
from reprise.evidence.judgement import compare
from reprise.evidence.observation import ABOUT_EACH
from reprise.evidence.power import MOST_SEEDS
from reprise.evidence.verdicts import ONE_WAY
from reprise.report.numbers import NONE, duration, finite, interval, number, percent

if TYPE_CHECKING:  # the models of the page take a tenth of a second to build, and a check needs none
    from reprise.report.schema import Claim


NOT_SEEN = "not seen here"
"""A contradiction at reduced scale or on a stand-in, which says little of the paper's own networks."""
TEST = "A test of the program at a tiny size. It says nothing about the papers."
"""Banner above all results of a tier that tests the program alone."""
STANDS: Mapping[str, str] = {"here": "in our setting", "everywhere": "everywhere"}
"""Settings in which a verdict stands, in words."""
LEANS = 0.2
"""The largest p-value at which an undecided claim is said to lean to a side: where there is no effect, or one
to the other side, at most one claim in five is said to."""
ERRATA: dict[ErratumKind, str] = {
    "substantive": "false as printed",
    "condition": "a condition left out",
    "code": "text and code differ",
    "typo": "misprint",
}
DATA_SETS = {
    "mnist": "MNIST",
    "cifar10": "CIFAR-10",
    "cifar100": "CIFAR-100",
    "stl10": "STL-10",
    "imagenet": "ImageNet",
    "coco": "MSCOCO",
}
"""Name of a data set in configs -> its name in papers."""


def observed(claim: "Claim") -> str:
    """The observation with its interval; for an equation, the largest error alone."""
    if claim.observed is None:
        return NONE
    if claim.kind in FORMULAS:
        return number(float(f"{claim.observed:.1e}"))
    return measured(claim.kind, claim.observed, claim.own_low, claim.own_high)


def measured(kind: Kind, value: float | None, low: float | None, high: float | None) -> str:
    """A number with its interval, or with the range of all observations, which is no uncertainty."""
    if kind in ABOUT_EACH and low != high and finite(low) is not None:
        return f"{number(value)} [{number(low)}, {number(high)}]"
    return interval(value, low, high)


def to_hold(claim: "Claim") -> str:
    """The condition that the observation must satisfy: `near 0.31 ± 0.1`; of the mean over cells of how far
    observations are from their references, `difference above 0`."""
    if claim.reference is None:
        return NONE
    margin = f" ± {number(claim.margin)}" if claim.margin else ""
    is_mean = claim.quantifier == "generic" and len(claim.cells) > 1
    is_difference = is_mean and claim.reference == 0 and any(each.reference for each in claim.cells)
    return f"{'difference ' * is_difference}{claim.relation} {number(claim.reference)}{margin}"


def label(row: Mapping[str, Any], claim: Definition, values: Sequence[float] = ()) -> str:
    """The verdict, or a finer degree of it.

    Args:
        row: of a table of verdicts, with the columns `evidence.verdicts.COLUMNS`.
        values: an observation a seed; empty where they are not known.
    """
    verdict: str = row["verdict"]
    if verdict == "contradicted":
        return _how_contradicted(row)
    if verdict == "reproduced" and row["every"] not in ("", "reproduced"):
        return "holds on average"
    if verdict == "reproduced" and row["kind"] == "printed":
        return "the print agrees"
    if verdict == "reproduced" and row["stands"] in STANDS:
        return f"reproduced {STANDS[row['stands']]}"
    if verdict == "inconclusive":
        return _leaning(row, claim, values) if row["reason_code"] == "crosses" else row["reason_code"]
    return verdict


def is_only_here(row: Mapping[str, Any]) -> bool:
    """Tells if a contradiction is at reduced scale or on a stand-in, and chance has a part: it says little of
    the paper's own networks."""
    certain = (*FORMULAS, "printed", "given")
    return row["scale"] == "reduced" and row["kind"] not in certain and row["form"] != "ours"


def _how_contradicted(row: Mapping[str, Any]) -> str:
    kind, cells = row["kind"], json.loads(row["cells"]) if row["cells"] else []
    if is_only_here(row):
        return NOT_SEEN
    if kind in FORMULAS:
        return "a counterexample"
    holding = sum(each["verdict"] == "reproduced" for each in cells)
    if holding and row["quantifier"] != "generic" and not row["erratum"]:  # the corrected form holds
        return f"holds in {holding} of {len(cells)} cells"
    if kind == "trend" and row["relation"] == "near" and row["observed"] * row["reference"] > 0:
        return "the direction holds, the size does not"
    if row["relation"] in ("above", "below"):
        return "the opposite"
    return "contradicted"


def _leaning(row: Mapping[str, Any], claim: Definition, values: Sequence[float]) -> str:
    """The side to which an undecided claim leans, if one of its p-values, corrected for cells, is at most
    `LEANS`; and how many seeds lie on that side."""
    leans_yes, leans_no = (
        p is not None and p <= LEANS for p in (finite(row["p_reproduced"]), finite(row["p_contradicted"]))
    )
    if claim.quantifier == "existential" or leans_yes == leans_no:
        return "undecided"
    words = "leans yes" if leans_yes else "leans no"
    if not values or claim.first.jackknife:  # only a jackknife's mean has a meaning
        return words
    holding = sum(compare(row["relation"], value, row["reference"], row["margin"]) for value in values)
    return f"{words}: {holding if leans_yes else len(values) - holding} of {len(values)} seeds"


def what_would_decide(row: Mapping[str, Any], minutes: float | None) -> str:
    """The number of seeds that would decide an inconclusive claim 9 times in 10, and their time.

    Args:
        minutes: that the experiment took with the seeds that it has.
    """
    seeds = row["seeds_to_decide"]
    if math.isnan(seeds):
        return ""
    if math.isinf(seeds):
        return f"no number of seeds up to {MOST_SEEDS:,} would decide it, if mean and spread stay"
    takes = f", {duration(minutes * seeds / row['seeds'])}" if minutes and row["seeds"] else ""
    return f"about {seeds:.0f} seeds{takes} decide it 9 times in 10, if mean and spread stay"


def look(claim: "Claim") -> str:
    """The rounds of seeds after which a claim was judged, the level, and the chance that its verdict comes
    out the same; empty where chance has no part."""
    if claim.verdict == "not run" or claim.kind in (*FORMULAS, "printed", "given"):
        return ""
    words = (
        f"after {claim.rounds} round{'s' * (claim.rounds > 1)} of seeds, one-sided at {percent(claim.alpha)}"
    )
    if claim.chance_same is None:
        return words
    return f"{words}; {likely(claim.chance_same)} likely to come out the same on as many fresh seeds"


def likely(chance: float) -> str:
    """A chance that is never said to be certain, in %."""
    return "over 99 %" if chance > 0.99 else f"{100 * chance:.0f} %"


def notes(claim: "Claim") -> list[str]:
    """The limits of a verdict: a hedge, settings, the margin, exceptions, our definition, later changes."""
    hedges = [f"“{each.hedge}”" for each in claim.quotations if each.hedge]
    limits = [f"a conjecture of the paper's: {', '.join(hedges)}"] if hedges else []
    limits += [agreement(claim)] if claim.settings else []
    limits += [f"stands {STANDS[claim.stands]}"] if claim.stands in STANDS else []
    half, twice = claim.verdict_half_margin, claim.verdict_twice_margin
    what = "margin" if claim.margin or claim.kind in FORMULAS else "smallest effect" if claim.smallest else ""
    if claim.verdict not in ("not run", "depends") and what:
        same = half == twice == claim.verdict
        limits.append(f"the same at ½× and 2× {what}" if same else f"{half} at ½× {what}, {twice} at 2×")
    if claim.kind in ("value", "ordering", "trend") and claim.seeds and claim.seeds < MIN_RANKED:
        share = number(round(100 * unseen_share(claim.seeds)))
        limits.append(f"an outcome of up to {share} % of runs may not be among {claim.seeds} {claim.sample}")
    limits += [f"not in: {', '.join(claim.exceptions)}"] if claim.exceptions else []
    limits += [claim.what_would_decide] if claim.what_would_decide else []
    limits += [f"our definition: {claim.reading}"] if claim.reading else []
    limits += [f"changed after seeing results: {claim.looked}"] if claim.looked else []
    return limits


def printed(value: float, std: float | None) -> str:
    """A published number with its deviation, both to as many places as either: `0.30 ± 0.24`."""
    if std is None:
        return number(value)
    places = max(len(number(each).partition(".")[2]) for each in (value, std))
    return f"{value:z.{places}f} ± {std:.{places}f}".replace("-", "−")


def cell(text: Any) -> str:
    """Text that fits a cell of a Markdown table."""
    return " ".join(str(text).split()).replace("|", "\\|").replace("<", "&lt;")


def section(place: str) -> str:
    """`5.1` as `Section 5.1`, `B.5` as `Appendix B.5`; what has a name keeps it."""
    if place[0].isdigit():
        return f"Section {place}"
    return f"Appendix {place}" if re.match(r"[A-Z](\W|$)", place) else place


def agreement(claim: "Claim") -> str:
    """Counts the other settings that agree with the verdict; where it depends on them, with the statement."""
    counts: Counter[str] = Counter(setting.verdict for setting in claim.settings)
    holds, fails, tied = (counts[verdict] for verdict in ONE_WAY)
    undecided = counts.total() - holds - fails - tied
    also = f", {tied} tied" if tied else ""
    if claim.verdict == "tied":
        words = f"{tied} same, {holds + fails} otherwise"
    elif claim.verdict == "contradicted":
        words = f"{fails} same, {holds} opposite{also}"
    elif claim.verdict == "reproduced":
        words = f"{holds} same, {fails} opposite{also}"
    else:
        words = f"holds in {holds}, fails in {fails}{also}"
    return f"{counts.total()} other settings: {words}, {undecided} undecided"
