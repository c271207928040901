"""A claim's numbers and limits in words: for the page, its digest, the published results and the terminal."""

import re
from typing import TYPE_CHECKING, Any

from reprise.evidence.comparison import FORMULAS, Kind
from reprise.evidence.judgement import ABOUT_EACH
from reprise.evidence.verdicts import CERTAIN
from reprise.report.numbers import NONE, finite, interval, number, percent

if TYPE_CHECKING:  # the models of the page take a tenth of a second to build, and a check needs none
    from reprise.report.schema import Claim


DATA_SETS = {
    "mnist": "MNIST",
    "cifar10": "CIFAR-10",
    "cifar100": "CIFAR-100",
    "stl10": "STL-10",
    "imagenet": "ImageNet",
    "coco": "MSCOCO",
}
"""How papers write what configs call otherwise."""


def observed(claim: "Claim") -> str:
    """What was observed, with its interval; of an equation the largest error alone."""
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
    """What the observation must satisfy: `near 0.31 ± 0.1`."""
    if claim.reference is None:
        return NONE
    margin = f" ± {number(claim.margin)}" if claim.margin else ""
    return f"{claim.relation} {number(claim.reference)}{margin}"


def notes(claim: "Claim") -> list[str]:
    """What limits the verdict: settings, margin, error rates, last bits, another reading, a second look."""
    limits = [_agreement(claim)] if claim.settings else []
    half, twice = claim.verdict_half_margin, claim.verdict_twice_margin
    has_margin = claim.margin or claim.kind in FORMULAS
    if claim.verdict not in ("not run", "depends") and has_margin:
        same = half == twice == claim.verdict
        limits.append("the same at ½× and 2× margin" if same else f"{half} at ½× margin, {twice} at 2×")
    if claim.false_reproduced is not None and claim.verdict != "not run" and claim.kind not in CERTAIN:
        rates = [percent(rate) for rate in (claim.false_reproduced, claim.false_contradicted)]
        limits.append(f"if false, ‘reproduced’ in {rates[0]} of draws; if true, ‘contradicted’ in {rates[1]}")
    limits += [f"fragile: {claim.fragile}"] if claim.fragile else []
    limits += [f"reading: {claim.reading}"] if claim.reading else []
    limits += [f"set after a look at results: {claim.looked}"] if claim.looked else []
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


def _agreement(claim: "Claim") -> str:
    """How many settings agree, with the verdict or where it depends on them with the statement."""
    verdicts = [setting.verdict for setting in claim.settings]
    is_decided = claim.verdict in ("reproduced", "contradicted")
    agreeing = claim.verdict if is_decided else "reproduced"
    same = verdicts.count(agreeing)
    opposed = verdicts.count("reproduced" if agreeing == "contradicted" else "contradicted")
    words = ("same", "opposite") if is_decided else ("holds", "fails")
    undecided = len(verdicts) - same - opposed
    return f"{len(verdicts)} other settings: {same} {words[0]}, {opposed} {words[1]}, {undecided} undecided"
