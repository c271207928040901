"""A paper's table of contents, from its artifacts.csv: sections in its own order, and where each figure and
claim stands."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from reprise.engine.coverage import STATED, coverage
from reprise.engine.registry import Paper
from reprise.evidence.claim import Claim
from reprise.evidence.comparison import FORMULAS
from reprise.evidence.judgement import Verdict
from reprise.report.schema import Claim as Stated
from reprise.report.schema import Figure, Item, Quotation, Section
from reprise.report.schema import Paper as Shown

Mention = tuple[str, str, str]
"""A figure, table or section: its kind, number and letter."""

_MENTION = re.compile(r"\b(fig|tab|sec)[a-z]*\.?\s*0*(\d+(?:\.\d+)*)\(?([a-z]?)\b", re.IGNORECASE)
_SECTION = re.compile(r"Abstract|Appendix|\d+(?:\.\d+)*|[A-Z](?:\.\d+)*(?![\w’'])")
_NAMED = re.compile(r"Abstract|(?:(?<=Section )|(?<=Appendix ))(?:\d+(?:\.\d+)*|[A-Z](?:\.\d+)*)")
"""Sections named as such, unlike the numbers of theorems and equations."""
_OTHER = re.compile(
    r"(?:Figure|Table|Theorem|Proposition|Corollary|Lemma|Remark|Assumption|Definition|Equation|Example)s?"
    r" [\w.]+"
)
"""Numbered items that are no sections."""
_THEOREM = re.compile(
    r"(?:Theorem|Proposition|Corollary|Lemma|Remark|Assumption|Definition|Conjecture)s?"
    r" [A-Z]?\.?\d+(?:\.\d+)*"
)
_EQUATION = re.compile(r"Eqs?\. \d+(?: (?:and|to) \d+)?")
_ABBREVIATIONS = r" [A-Za-z]\.", r"Eq\.", r"Eqs\.", r"Fig\.", r"vs\.", r"e\.g\.", r"i\.e\."
_SENTENCE = re.compile(rf"(?<=[.!?]){''.join(f'(?<!{each})' for each in _ABBREVIATIONS)} (?=[A-Z‖|])")
"""The gap after a sentence, which ends with no abbreviation."""
ELSEWHERE = "Elsewhere"
OWN = "Figures and tables"
"""The section of experiments that are no paper's."""
EARLY = ("Abstract", "1")
"""Sections in which papers announce what later ones show."""
QUOTED = "Sentence: "


def mentions(text: str) -> set[Mention]:
    """The figures, tables and sections mentioned: `Figure 6(a)` and `fig06a` are both ("fig", "6", "a")."""
    return {(kind.lower(), digits, letter.lower()) for kind, digits, letter in _MENTION.findall(text)}


def mentions_of(claim: Claim) -> set[Mention]:
    """The figures, tables and sections that a claim is about."""
    return mentions(f"{claim.artifact} {claim.source}")


def same_item(a: Mention, b: Mention) -> bool:
    """Tells if two mentions name the same item; `Figure 6` matches all its parts."""
    return a[:2] == b[:2] and (a[2] == b[2] or not a[2] or not b[2])


def natural_key(text: str) -> list[tuple[int, str]]:
    """A sort key that puts Figure 10 after Figure 9."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", text)]


def section_of(text: str) -> str:
    """The section in which an item is first shown: `5.1` of `Abstract, 1, 5.1 and C`, else where it is
    announced."""
    named = _NAMED.findall(text) or _SECTION.findall(_OTHER.sub("", text))
    later = [name for name in named if name.split(".")[0] not in EARLY]
    return (later or named or [ELSEWHERE])[0]


def order_of(section: str) -> tuple[int, list[tuple[int, str]]]:
    """A sort key: the abstract, numbered sections, the appendix, what stands elsewhere."""
    rank = 3 if section == ELSEWHERE else 0 if section == "Abstract" else 1 if section[0].isdigit() else 2
    return rank, natural_key("" if section == "Appendix" else section)


def claims_about(paper: Paper, claims: Iterable[str]) -> dict[str, list[str]]:
    """Artifact -> those of these claims that are about it: by their ids, their sources, or a line of
    artifacts.csv that names both."""
    listed = [set(entry["covered_by"].split()) for entry in coverage(paper)]
    named = {id: mentions_of(paper.claims[id][0]) for id in claims}
    about = {}
    for id, artifact in paper.artifacts.items():
        beside = set().union(*(names for names in listed if id in names))
        numbers = mentions(artifact.number)
        about[id] = [
            claim
            for claim, places in named.items()
            if claim in beside or any(same_item(a, b) for a in places for b in numbers)
        ]
    return about


@dataclass(frozen=True)
class Group:
    """Claims of one section that a page shows together.

    Attributes:
        title: the figure, table, theorem or equation; empty for sentences of the text.
        figure: the drawing that the claims are about, if there is one.
        claims: apart from single numbers.
        numbers: the claims about one printed number each.
        is_algebra: whether the claims are equations and inequalities.
    """

    title: str
    figure: Figure | None
    claims: list[Stated]
    numbers: list[Stated]
    is_algebra: bool


def groups(paper: Shown, section: Section) -> Iterator[Group]:
    """A section's claims: those about each figure and table, then sentences of the text, then algebra, by
    theorem. Each claim is in one group."""
    claims = {claim.id: claim for claim in paper.claims}
    rest = [claims[id] for id in section.claims]
    for figure in (figure for id in section.figures for figure in paper.figures if figure.id == id):
        own = [claim for claim in rest if claim.id in figure.claims]
        rest = [claim for claim in rest if claim not in own]
        yield _group(figure.number, figure, own)
    algebra = [claim for claim in rest if claim.kind in FORMULAS]
    if sentences := [claim for claim in rest if claim not in algebra]:
        yield _group("", None, sentences)
    for title in dict.fromkeys(theorem_of(claim.source) for claim in algebra):
        yield _group(title, None, [claim for claim in algebra if theorem_of(claim.source) == title], True)


def _group(title: str, figure: Figure | None, claims: Sequence[Stated], is_algebra: bool = False) -> Group:
    numbers = [claim for claim in claims if claim.ground == "single numbers"]
    return Group(title, figure, [claim for claim in claims if claim not in numbers], numbers, is_algebra)


def theorem_of(source: str) -> str:
    """The theorem or equation that a source names first: `Lemma 3` of `Lemma 3, Eqs. 8 to 10, Section 5.2`;
    else the whole source."""
    found = _THEOREM.search(source) or _EQUATION.search(source)
    return found[0] if found else source


def lead(caption: str) -> tuple[str, str]:
    """A caption's first sentence, and the others."""
    end = _SENTENCE.search(caption)
    return (caption[: end.start()], caption[end.end() :]) if end else (caption, "")


def redrawn(paper: Shown, figure: str) -> list[Item]:
    """The lines of a paper's contents that a figure or table draws again, or is about."""
    return [item for section in paper.sections for item in section.items if figure in item.figures]


@dataclass(frozen=True)
class Contents:
    """A paper's table of contents, with the figures drawn and the verdicts on its claims.

    Attributes:
        verdicts: claim -> its verdict.
    """

    paper: Paper
    figures: Sequence[Figure]
    verdicts: Mapping[str, Verdict]

    @cached_property
    def items(self) -> list[Item]:
        drawn = {figure.id for figure in self.figures if figure.files}
        known = {figure.id for figure in self.figures}
        items = []
        for entry in coverage(self.paper):
            ids = entry["covered_by"].split()
            figures, claims = [id for id in ids if id in known], [id for id in ids if id in self.verdicts]
            if not figures and not claims:
                how = entry["covered_by"]
            elif figures and drawn.issuperset(figures):
                how = "drawn again"
            elif any(self.verdicts[id] != "not run" for id in claims):
                how = "checked by claims"
            else:
                how = "not run yet"
            text = entry["item"]
            quotation = text.removeprefix(QUOTED) if text.startswith(QUOTED) else ""
            items.append(
                Item(
                    text=text,
                    quotation=quotation,
                    section=entry["section"],
                    how=how,
                    note=entry["note"],
                    figures=figures,
                    claims=claims,
                )
            )
        return items

    @cached_property
    def coverage(self) -> dict[str, int]:
        return dict(Counter(item.how for item in self.items).most_common())

    def quotations(self, claim: str) -> list[Quotation]:
        """The paper's sentences that a claim quotes or covers; without one, the numbered statements, of which
        there may be none."""
        if quotes := self.paper.claims[claim][0].quotes:
            return [Quotation(text=each.text, place=each.at, hedge=each.hedge) for each in quotes]
        items = [item for item in self.items if claim in item.claims]
        quoted = [item for item in items if item.quotation]
        return [
            Quotation(text=item.quotation or item.text, place=item.section, hedge="")
            for item in quoted or items
            if not item.text.startswith(STATED)
        ]

    @cached_property
    def sections(self) -> list[Section]:
        homes = [section_of(item.section) for item in self.items]
        of_figure = {
            figure.id: min(
                (home for item, home in zip(self.items, homes, strict=True) if figure.id in item.figures),
                key=lambda home: (not _is_late(home), order_of(home)),
                default=ELSEWHERE,
            )
            for figure in self.figures
        }
        about, of_claim = claims_about(self.paper, self.verdicts), dict[str, str]()
        for figure in sorted(self.figures, key=lambda figure: natural_key(figure.number)):
            for id in about[figure.id]:
                of_claim.setdefault(id, of_figure[figure.id])
        for id in self.verdicts:
            shown = [home for item, home in zip(self.items, homes, strict=True) if id in item.claims]
            of_claim.setdefault(id, max(shown, key=_is_late, default=ELSEWHERE))
        tops = {_top(home) for home in (*homes, *of_figure.values(), *of_claim.values())}
        return [
            Section(
                id=f"{self.paper.key}:{top}",
                title=OWN if self.paper.is_ours else _title(top),
                items=[item for item, home in zip(self.items, homes, strict=True) if _top(home) == top],
                figures=[
                    figure.id
                    for figure in sorted(self.figures, key=lambda figure: natural_key(figure.number))
                    if _top(of_figure[figure.id]) == top
                ],
                claims=sorted(
                    (id for id, home in of_claim.items() if _top(home) == top),
                    key=lambda id: (order_of(of_claim[id]), natural_key(id)),
                ),
            )
            for top in sorted(tops, key=order_of)
        ]


def _is_late(section: str) -> bool:
    return section.split(".")[0] not in EARLY


def _top(section: str) -> str:
    return section.split(".")[0]


def _title(top: str) -> str:
    if top in ("Abstract", "Appendix", ELSEWHERE):
        return top
    return f"Section {top}" if top.isdigit() else f"Appendix {top}"
