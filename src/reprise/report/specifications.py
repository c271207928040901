"""Specification curves: what each headline of a paper comes to with every choice that the paper leaves open
(Simonsohn, Simmons and Nelson 2020, Figure 2)."""

import io
from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from reprise.evidence.judgement import Verdict
from reprise.plotting.style import WIDTH, styled
from reprise.report.drawings import OURS, Span, allowed, specification_curve
from reprise.report.schema import Claim, Paper

CURVE, ROW, GAP = 1.1, 0.13, 0.8
"""Inches: the height of a curve, of a choice below it, and what titles and labels take."""
LOOKS: dict[Verdict, tuple[str, str, str]] = {
    "reproduced": ("o", "#1b6e4b", "full"), "contradicted": ("D", "#a8322a", "full"),
    "tied": ("s", "#4a4a9c", "full"), "inconclusive": ("o", "#6b6b6b", "none"),
}  # fmt: skip
"""Marker, colour and filling of a verdict."""


def curves(paper: Paper) -> dict[str, list[Span]]:
    """The specification curve of each headline whose paper leaves something open, by its claim."""
    claims = {claim.id: claim for claim in paper.claims}
    found = {each.claim: specification_curve(claims[each.claim]) for each in paper.headlines}
    return {id: curve for id, curve in found.items() if len(curve) > 1}


def drawn(paper: Paper) -> bytes:
    """A PNG with a panel for each of `curves`: above, the differences from the reference with their
    intervals, sorted, and what the claim allows in grey; below, the choices of each setting."""
    claims = {claim.id: claim for claim in paper.claims}
    panels = curves(paper)
    heights = [height for curve in panels.values() for height in (CURVE, ROW * len(_choices(curve)))]
    with styled():
        figure, axes = plt.subplots(
            len(heights), 1, figsize=(WIDTH, sum(heights) + GAP * len(panels)), squeeze=False,
            gridspec_kw={"height_ratios": heights},
        )  # fmt: skip
        for (id, curve), above, below in zip(panels.items(), axes[::2, 0], axes[1::2, 0], strict=True):
            _curve(above, claims[id], curve)
            _matrix(below, curve)
        content = io.BytesIO()
        figure.savefig(content, format="png")
        plt.close(figure)
    return content.getvalue()


def _choices(curve: Sequence[Span]) -> dict[str, set[int]]:
    """Maps each choice to the places of the settings that make it. Choices only made together are one."""
    places: dict[str, set[int]] = {}
    for place, span in enumerate(curve):
        for choice in span.name.split(", "):
            places.setdefault(choice, set()).add(place)
    together: dict[frozenset[int], list[str]] = {}
    for choice, chosen in places.items():
        together.setdefault(frozenset(chosen), []).append(choice)
    joined = {", ".join(choices): set(chosen) for chosen, choices in together.items()}
    return dict(sorted(joined.items(), key=lambda each: (each[0] != OURS, each[0])))


def _curve(axes: Axes, claim: Claim, curve: Sequence[Span]) -> None:
    low, high = allowed(claim)
    ends = [end for span in curve for end in (span.low, span.centre, span.high, 0.0) if end is not None]
    room = 0.08 * (max(ends) - min(ends)) or 1.0
    bottom, top = min(ends) - room, max(ends) + room
    axes.axhspan(max(low, bottom), min(high, top), color="0.93", zorder=0)
    axes.axhline(0.0, color="0.4", linewidth=0.6)
    for place, span in enumerate(curve):
        marker, color, fill = LOOKS.get(span.verdict or "inconclusive", LOOKS["inconclusive"])
        if span.low is not None and span.high is not None:
            axes.plot([place, place], [span.low, span.high], color=color, linewidth=0.9)
        axes.plot(place, span.centre, marker=marker, color=color, fillstyle=fill, markersize=4)
    counts: dict[Verdict, int] = {
        verdict: sum(span.verdict == verdict for span in curve) for verdict in LOOKS
    }
    counts |= {"not run": len(claim.settings) + 1 - len(curve)}
    said = ", ".join(f"{number} {verdict}" for verdict, number in counts.items() if number)
    axes.set_title(f"{claim.id}: difference\n{claim.unit}\n{said}", loc="left", fontsize=7)
    axes.set(ylim=(bottom, top), xlim=(-0.7, len(curve) - 0.3), xticks=[])


def _matrix(axes: Axes, curve: Sequence[Span]) -> None:
    choices = _choices(curve)
    for row, chosen in enumerate(choices.values()):
        axes.scatter(sorted(chosen), [row] * len(chosen), marker="s", s=6, color="0.2", linewidths=0)
    axes.set(ylim=(len(choices) - 0.5, -0.5), xlim=(-0.7, len(curve) - 0.3), xticks=[])
    axes.set_yticks(range(len(choices)), choices, fontsize=6)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
