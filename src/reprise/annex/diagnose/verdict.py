"""Collapsed, partly collapsed or healthy, by one rule.

It was fixed before it was applied to a network, except for one part. The first rule called the network of the
reference that collapses on purpose healthy, because noise of 5 % of the embeddings' length fills every
dimension; since then a spread of at most `PARTLY` is partly collapsed.
"""

from typing import Literal, NamedTuple

from reprise.annex.diagnose.measures import Observed
from reprise.evidence.comparison import COLLAPSED

PARTLY, MOSTLY = 0.1, 0.9
"""Shares of collapsed dimensions from which embeddings count as partly collapsed, and as collapsed; the first
is also the spread up to which they do."""

Word = Literal["healthy", "partly collapsed", "collapsed"]
WORDS: tuple[Word, ...] = ("healthy", "partly collapsed", "collapsed")

RULE = (
    f"Collapsed: the embeddings' spread is at most {COLLAPSED:g} (all samples have nearly the same "
    f"embedding), or at least {MOSTLY:.0%} of the dimensions are collapsed, or all but one. Partly "
    f"collapsed: the spread is at most {PARTLY:g}, or at least {PARTLY:.0%} of the dimensions are collapsed. "
    "Healthy: otherwise. A dimension is collapsed if its singular value, of the centred embeddings, is at "
    f"most {COLLAPSED:g} times the largest, Reprise's threshold throughout; dimensions that too few samples "
    "cannot fill do not count. Of two views the worse decides."
)


class CollapseState(NamedTuple):
    """A verdict on collapse: the word and the numbers that decided."""

    word: Word
    reason: str


def verdict(observed: list[Observed]) -> CollapseState:
    """The verdict on all views."""
    by_view: dict[str, dict[str, Observed]] = {}
    for each in observed:
        by_view.setdefault(each.view, {})[each.measure.name] = each
    verdicts = [
        judged(view["spread"].value, view["collapsed dimensions"].value, view["collapsed dimensions"].limit)
        for view in by_view.values()
        if "spread" in view
    ]
    return max(verdicts, key=lambda each: WORDS.index(each.word))


def judged(spread: float, collapsed: float, limit: float) -> CollapseState:
    """The verdict on one view.

    Args:
        spread: as in `measures`.
        collapsed: number of collapsed dimensions.
        limit: number of dimensions that so many samples can fill.
    """
    share, left = collapsed / limit, limit - collapsed
    word: Word = "healthy"
    if spread <= COLLAPSED or share >= MOSTLY or left <= 1:
        word = "collapsed"
    elif spread <= PARTLY or share >= PARTLY:
        word = "partly collapsed"
    same = ": all samples have nearly the same embedding" if spread <= PARTLY else ""
    return CollapseState(
        word, f"{collapsed:.0f} of {limit:.0f} dimensions collapsed, spread {spread:.2g}{same}"
    )
