"""Regions of verdicts: the published setting alone, or every plausible one."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from reprise.evidence.judgement import Judgement, Verdict, few_of
from reprise.evidence.observation import Reason

Stands = Literal["", "here", "everywhere", "depends"]
"""Empty where the paper leaves nothing open, or nothing is decided."""
CLEARLY_WRONG = 0.10
"""One-sided level at which a setting is wholly on the wrong side, of an interval of 80 %."""
BY_DESIGN: tuple[Reason, ...] = ("few seeds", "few points", "few runs", "no observations", "too coarse")
"""Reasons by which a setting is undecided whatever its numbers are."""


@dataclass(frozen=True)
class Region:
    """The verdict over all settings.

    Attributes:
        judgement: with the verdict and the reason over all of them.
        here: the verdict in the published setting alone.
    """

    judgement: Judgement
    here: Verdict
    stands: Stands


def each_alpha(settings: int, alpha: float) -> float:
    """The one-sided level at which each of several settings is judged, so that one error in all of them is as
    rare as at the level `alpha` in one (Bonferroni)."""
    return alpha / max(settings, 1)


def over_settings(
    here: Judgement, others: Mapping[str, Judgement], alpha: float, *, exists: bool = False
) -> Region:
    """The verdict over all plausible settings.

    Args:
        here: in the published setting, at the one-sided level `alpha`.
        others: in the others, at `each_alpha` of the number of all.
        exists: whether the sentence says that there is a setting in which it holds.
    """
    if here.verdict == "not run" or not (others or exists):
        return Region(here, here.verdict, "")
    corrected = each_alpha(len(others) + 1, alpha)
    holding = [name for name, each in others.items() if each.verdict == "reproduced"]
    failing = [name for name, each in others.items() if each.verdict == "contradicted"]
    if exists:
        return _somewhere(here, others, holding, corrected)
    holds_here, fails_here = here.evidence.holds <= corrected, here.evidence.fails <= corrected
    if (holding or holds_here) and (failing or fails_here):
        parts = [f"{here.verdict} here"] if here.verdict in ("reproduced", "contradicted") else []
        parts += [f"reproduced with {few_of(holding)}"] if holding and here.verdict != "reproduced" else []
        parts += (
            [f"contradicted with {few_of(failing)}"] if failing and here.verdict != "contradicted" else []
        )
        return Region(
            replace(here, verdict="depends", code="", reason="; ".join(parts)), here.verdict, "depends"
        )
    stands: Stands = ""
    if here.verdict in ("reproduced", "contradicted", "tied"):
        stands = "everywhere" if all(_agrees(here.verdict, each) for each in others.values()) else "here"
    return Region(here, here.verdict, stands)


def _agrees(verdict: Verdict, other: Judgement) -> bool:
    """Tells if a setting agrees with a verdict: its estimate is on that side, its interval of 80 % is not
    wholly on the other, and it had the data to decide otherwise."""
    if other.code in BY_DESIGN or other.observation.obstacle:
        return False
    if verdict == "tied":
        return other.verdict == "tied"
    if verdict == "reproduced":
        return other.favours and other.evidence.fails > CLEARLY_WRONG
    return not other.favours and other.evidence.holds > CLEARLY_WRONG


def _somewhere(here: Judgement, others: Mapping[str, Judgement], holding: list[str], alpha: float) -> Region:
    """The verdict on a sentence that says that there is a setting: one is found, or none, with a correction
    for those tried."""
    if here.evidence.holds <= alpha:
        return Region(here, here.verdict, "here")
    if holding:
        found = replace(here, verdict="reproduced", code="", reason=f"holds with {few_of(holding)}")
        return Region(found, here.verdict, "here")
    tried = 1 + len(others)
    missed = {here.verdict, *(each.verdict for each in others.values())} <= {"contradicted", "tied"}
    reason = f"not found in {tried} settings tried" if missed else "undecided in some settings"
    code: Reason = "not found" if missed else "in some settings"
    return Region(replace(here, verdict="inconclusive", reason=reason, code=code), here.verdict, "")
