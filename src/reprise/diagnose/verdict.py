"""Collapsed, partly collapsed or healthy: one rule, fixed before it was applied to any network."""

from typing import Literal, NamedTuple

from reprise.diagnose.measures import Observed
from reprise.evidence.claims import COLLAPSED

PARTLY, MOSTLY = 0.1, 0.9
"""Shares of collapsed dimensions from which embeddings count as partly collapsed, and as collapsed."""

Word = Literal["healthy", "partly collapsed", "collapsed"]
WORDS: tuple[Word, ...] = ("healthy", "partly collapsed", "collapsed")

RULE = (
    f"Collapsed: the embeddings' spread is at most {COLLAPSED:g} (all samples have nearly the same "
    f"embedding), or at least {MOSTLY:.0%} of the dimensions are collapsed, or all but one. Partly "
    f"collapsed: at least {PARTLY:.0%} are. Healthy: fewer. A dimension is collapsed if its singular value, "
    f"of the centred embeddings, is at most {COLLAPSED:g} times the largest, Reprise's threshold throughout; "
    "dimensions that too few samples cannot fill do not count. Of two views the worse decides."
)


class Verdict(NamedTuple):
    """The word and the numbers that decided."""

    word: Word
    reason: str


def verdict(observed: list[Observed]) -> Verdict:
    """The verdict on all views."""
    by_view: dict[str, dict[str, Observed]] = {}
    for each in observed:
        by_view.setdefault(each.view, {})[each.measure.name] = each
    verdicts = [_of_view(view) for view in by_view.values() if "spread" in view]
    return max(verdicts, key=lambda each: WORDS.index(each.word))


def _of_view(view: dict[str, Observed]) -> Verdict:
    spread, dimensions = view["spread"].value, view["collapsed dimensions"]
    share, left = dimensions.value / dimensions.limit, dimensions.limit - dimensions.value
    if spread <= COLLAPSED:
        return Verdict("collapsed", f"spread {spread:.2g}: all samples have nearly the same embedding")
    reason = f"{dimensions.value:.0f} of {dimensions.limit:.0f} dimensions collapsed, spread {spread:.2g}"
    word: Word = (
        "collapsed" if share >= MOSTLY or left <= 1 else "partly collapsed" if share >= PARTLY else "healthy"
    )
    return Verdict(word, reason)
