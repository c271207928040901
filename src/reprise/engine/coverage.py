"""Checks of a paper: its citation, its ids, and that `artifacts.csv`, figures and claims cover each other.

Each check raises RepriseError, which names what is wrong and what to do.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from reprise.engine.registry import COLUMNS, Paper
from reprise.errors import RepriseError
from reprise.evidence.claim import Claim
from reprise.evidence.judgement import check_refuted

UNCOVERED = ("illustration", "proof step")
"""Values of `covered_by` for an item that nothing covers."""
STATED = "Statement: "
"""The beginning of the item of a claim that quotes nothing."""
LONGEST = 25
"""Largest number of words in a quotation."""

Check = Callable[[Paper], None]


def coverage(paper: Paper) -> list[dict[str, str]]:
    """The paper's parts, each with the figures and claims that cover it: the items of `artifacts.csv`, and
    the sentences that claims quote, or the place of a claim that quotes none."""
    covering: dict[tuple[str, str], list[str]] = {}
    for claim, _ in paper.claims.values():
        if claim.form != "ours":
            sentences = [(f"Sentence: “{each.text}”", each.at) for each in claim.quotes]
            for sentence in sentences or [(f"{STATED}{claim.source}", claim.source)]:
                covering.setdefault(sentence, []).append(claim.id)
    derived = [(item, at, " ".join(ids), "") for (item, at), ids in covering.items()]
    return [*paper.items, *(dict(zip(COLUMNS, row, strict=True)) for row in derived)]


def the_citation_is_one_entry(paper: Paper) -> None:
    """The BibTeX is an entry with balanced braces, an author, a title and a year."""
    if paper.is_ours:
        return
    entry = paper.bibtex.strip()
    fields = set(re.findall(r"(\w+)\s*=\s*[{\"\d]", entry))
    if not re.match(r"@\w+\{[^\s,{}]+,", entry) or not entry.endswith("}"):
        raise RepriseError(f"{paper.key}: BIBTEX must be one entry, @article{{key, ...}}")
    if entry.count("{") != entry.count("}"):
        raise RepriseError(f"{paper.key}: the braces of BIBTEX do not match")
    lines = [line.strip() for line in entry.splitlines()[1:-1]]
    if bare := [line for line in lines[:-1] if re.match(r"\w+\s*=", line) and line.endswith("}")]:
        raise RepriseError(f"{paper.key}: BIBTEX lacks a comma after: {bare[0]}")
    if missing := sorted({"author", "title", "year"} - fields):
        raise RepriseError(f"{paper.key}: BIBTEX has no '{missing[0]}'")


def items_are_whole(paper: Paper) -> None:
    """Every item says where it is and what covers it, or why nothing does, and stands once."""
    for row in paper.items:
        if empty := [column for column in ("item", "section", "covered_by") if not row[column]]:
            raise _wrong(paper, f"the row of '{row['item']}' has no '{empty[0]}'")
        if row["covered_by"] in UNCOVERED and not row["note"]:
            raise _wrong(paper, f"'{row['item']}' is covered by nothing, and `note` does not say why")
    if twice := _twice(f"{row['item']} ({row['section']})" for row in paper.items):
        raise _wrong(paper, f"'{twice}' stands twice")


def items_are_covered_by_what_exists(paper: Paper) -> None:
    """Every id in `covered_by` is a figure, table or claim of the paper."""
    if missing := sorted(_covering(paper) - {*paper.artifacts, *paper.claims}):
        raise _wrong(paper, f"names {', '.join(missing)}, which no experiment has")


def every_figure_covers_an_item(paper: Paper) -> None:
    """Every figure and table covers an item; a claim covers the sentences that it quotes."""
    if missing := sorted(paper.artifacts.keys() - _covering(paper)):
        raise _wrong(paper, f"has no row that {', '.join(missing)} covers; name it in one")


def quotations_are_short(paper: Paper) -> None:
    """A quotation has few words."""
    for id, (claim, _) in paper.claims.items():
        for quotation in claim.quotes:
            if not 2 <= len(quotation.text.split()) <= LONGEST:
                raise RepriseError(
                    f"claim '{id}': a quotation has 2 to {LONGEST} words; shorten it with ' ... ': "
                    f"{quotation.text}"
                )


def ids_are_the_papers_own(paper: Paper) -> None:
    """A claim's id begins with the paper's key and stands once; no figure bears the id of an experiment, nor
    two of them the same number."""
    decided = [claim for each in paper.experiments.values() for claim in each.claims]
    check_claim_ids(paper.key, [*decided, *paper.pending, *paper.printed])
    if unplaced := [id for id, (claim, _) in paper.claims.items() if not claim.source.strip()]:
        raise RepriseError(f"claim '{unplaced[0]}' has no `source`: where does the paper say it?")
    if both := sorted(set(paper.artifacts) & set(paper.experiments)):  # each names a rule
        raise RepriseError(f"'{both[0]}' is a figure and an experiment; rename one")
    numbers = {id: artifact.number.strip() for id, artifact in paper.artifacts.items()}
    if nameless := [id for id, number in numbers.items() if not number]:
        raise RepriseError(f"{nameless[0]} has no number: @figure('Figure 4', ...)")
    if twice := _twice(numbers.values()):
        alike = [id for id, number in numbers.items() if number == twice]
        raise RepriseError(f"{' and '.join(alike)} have the same number: {twice}")


def check_claim_ids(key: str, claims: Sequence[Claim]) -> None:
    """The ids of a paper's claims begin with its key and differ."""
    ids = [claim.id for claim in claims]
    if foreign := [id for id in ids if not id.startswith(f"{key}/")]:
        raise RepriseError(f"claim '{foreign[0]}' of {key} must begin with '{key}/'")
    if twice := _twice(ids):
        raise RepriseError(f"two claims have the id '{twice}'")


def printed_claims_are_refuted(paper: Paper) -> None:
    """A claim about printed numbers that says by what it is `broken_by` is contradicted by it."""
    for claim in paper.printed:
        check_refuted(claim, {"published": paper.printed_numbers()})


def claims_say_what_refutes_them(paper: Paper) -> None:
    """A claim says by what it is `broken_by`, and why it is ours if it is."""
    for id, (claim, _) in paper.claims.items():
        if not claim.broken_by:
            raise RepriseError(f"claim '{id}' has no `broken_by`: which tables would refute it?")
        if claim.form == "ours" and not claim.reading.startswith("ours: "):
            raise RepriseError(f"claim '{id}' is ours, and its `reading` does not say why: 'ours: ...'")


def claims_without_a_measure_say_what_they_need(paper: Paper) -> None:
    """A claim that no experiment can decide says what is missing."""
    for id, (claim, _) in paper.claims.items():
        if claim.first.measure is None and not claim.needs:
            raise RepriseError(f"claim '{id}' has no measure; say in `needs` what is missing")


def printed_numbers_are_numbers(paper: Paper) -> None:
    """Each row of `published.csv` has an artifact and a number."""
    paper.printed_numbers()


CHECKS: tuple[Check, ...] = (
    ids_are_the_papers_own,
    the_citation_is_one_entry,
    items_are_whole,
    items_are_covered_by_what_exists,
    every_figure_covers_an_item,
    printed_numbers_are_numbers,
    quotations_are_short,
    claims_without_a_measure_say_what_they_need,
    claims_say_what_refutes_them,
    printed_claims_are_refuted,
)


def _covering(paper: Paper) -> set[str]:
    """The ids that the paper's `artifacts.csv` names."""
    rows = [row["covered_by"] for row in paper.items if row["covered_by"] not in UNCOVERED]
    return {id for covered_by in rows for id in (covered_by or "").split()}


def _twice(names: Iterable[str]) -> str:
    """The first name that stands twice; empty if none does."""
    return next((name for name, number in Counter(names).items() if number > 1), "")


def _wrong(paper: Paper, what: str) -> RepriseError:
    return RepriseError(f"{paper.key}/artifacts.csv {what}")
