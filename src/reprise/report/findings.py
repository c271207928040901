"""Results that stand first: the outcome of each headline, the firmest findings, and the count of printed
numbers that have been compared."""

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import zip_longest
from typing import NamedTuple

from reprise.engine import inputs, registry
from reprise.engine.coverage import coverage
from reprise.engine.registry import Paper as Registered
from reprise.evidence.verdicts import STANDINGS, standing
from reprise.ledger.frozen import MARKS
from reprise.report.schema import Claim, Findings, Paper, Printed
from reprise.report.wording import DATA_SETS, NOT_SEEN

FINDINGS = 10
"""Most findings of each sort."""
QUESTIONS = {
    "headlines": "what abstracts and introductions claim",
    "fails": "what fails on the paper’s own basis",
    "as-published": "numbers measured as published",
    "depends": "what depends on settings left open",
    "undecided": "what more seeds would decide",
}
"""Questions that readers ask of a list of claims."""


class Sentence(NamedTuple):
    """A headline of a paper.

    Attributes:
        claim: the first that gives it its standing.
        caveats: of that claim, see `caveats`.
        claims: how many decide the sentence.
        reproduced: how many of these are reproduced, at whatever scale.
    """

    quotation: str
    claim: Claim
    caveats: list[Claim]
    claims: int
    reproduced: int


def by_standing(paper: Paper) -> dict[str, list[Sentence]]:
    """A paper's headlines by what became of them (`STANDINGS`), each in the paper's order. Where several say
    the same, decided by the same claims, the first stands for all."""
    claims = {claim.id: claim for claim in paper.claims}
    deciding: dict[str, list[str]] = {}
    against = {headline.claim: [claims[id] for id in headline.caveats] for headline in paper.headlines}
    for headline in paper.headlines:
        deciding.setdefault(headline.quotation, []).append(headline.claim)
    found: dict[str, list[Sentence]] = {name: [] for name in STANDINGS}
    known: set[frozenset[str]] = set()
    for quotation, ids in deciding.items():
        if frozenset(ids) in known:
            continue
        known.add(frozenset(ids))
        own = {id: standing([(claims[id].verdict, claims[id].ground)]) for id in ids}
        name = standing([(claims[id].verdict, claims[id].ground) for id in ids])
        first = next(claims[id] for id in ids if own[id] == name)
        reproduced = sum(claims[id].verdict == "reproduced" for id in ids)
        found[name].append(Sentence(quotation, first, against[first.id], len(ids), reproduced))
    return found


def caveats(id: str, claims: Sequence[Claim], deciding: Collection[str]) -> list[str]:
    """The claims that a reader of a headline should see beside it: others about the same figure, table or
    section, the paper's own or ours, that are contradicted or depend on what the paper leaves open. Errors in
    the text have a list of their own; single numbers and contradictions at reduced scale decide little.

    Args:
        id: the claim that decides the headline, `PAPER/PLACE/NAME`; without a place nothing stands beside it.
        claims: all claims about the paper.
        deciding: the ids of those that decide headlines.
    """
    place, _, _ = id.rpartition("/")
    if "/" not in place:
        return []
    return [
        claim.id
        for claim in claims
        if claim.id.startswith(f"{place}/")
        and claim.id not in deciding
        and claim.verdict in ("contradicted", "depends")
        and claim.ground != "single numbers"
        and claim.label != NOT_SEEN
        and not claim.erratum
    ]


def asked(papers: Iterable[Paper]) -> dict[str, list[str]]:
    """Claim -> the questions (`QUESTIONS`) of which it is part of the answer."""
    found = {}
    for paper in papers:
        headlines = {headline.claim for headline in paper.headlines}
        compared = {number.claim for number in paper.numbers if number.difference is not None}
        for claim in paper.claims:
            answers = {
                "headlines": claim.id in headlines,
                "fails": claim.robust,
                "as-published": claim.id in compared,
                "depends": claim.verdict == "depends",
                "undecided": bool(claim.what_would_decide),
            }
            found[claim.id] = [name for name in QUESTIONS if answers[name]]
    return found


def beyond_headlines(paper: Paper) -> list[Claim]:
    """A paper's statements beside its headlines that do not hold at its own scale, without single numbers,
    which are one draw each."""
    known = {headline.claim for headline in paper.headlines}
    return [
        claim
        for claim in paper.claims
        if claim.id not in known
        and claim.verdict == "contradicted"
        and claim.ground in ("paper scale", "paper scale, with assumptions")
    ]


def findings(papers: Sequence[Paper]) -> Findings:
    def first(selected: Callable[[Claim], bool]) -> list[str]:
        """The first claims: those that abstracts rest on, of each paper in turn; then the others likewise. An
        error is named once: of the claims in a line of artifacts.csv, the first."""
        ranked: list[list[list[Claim]]] = [[], [], []]
        for paper in papers:
            rank, lines = rests_on(paper), _lines(paper)
            chosen: list[Claim] = []
            for claim in sorted(
                (claim for claim in paper.claims if selected(claim) and claim.form != "ours"),
                key=lambda claim: (rank(claim), -len(claim.settings), claim.id),
            ):
                if not any({claim.id, one.id} <= line for one in chosen for line in lines):
                    chosen.append(claim)
            for level, claims in enumerate(ranked):
                claims.append([claim for claim in chosen if rank(claim) == level])
        turns = [turn for by_paper in ranked for turn in zip_longest(*by_paper)]
        return [claim.id for turn in turns for claim in turn if claim is not None][:FINDINGS]

    return Findings(
        robust=first(lambda claim: claim.robust),
        depends=first(lambda claim: claim.verdict == "depends"),
    )


def rests_on(paper: Paper) -> Callable[[Claim], int]:
    """Ranks a paper's claims: 0 for one that decides a sentence of the abstract or the contributions, 1 for
    one that artifacts.csv lists beside it, 2 for another."""
    deciding = {headline.claim for headline in paper.headlines}
    beside = set().union(*(line for line in _lines(paper) if line & deciding))
    return lambda claim: 0 if claim.id in deciding else 1 if claim.id in beside else 2


def _lines(paper: Paper) -> list[set[str]]:
    """Collects the claims and figures that each line of artifacts.csv names."""
    return [set(entry["covered_by"].split()) for entry in coverage(registry.paper(paper.key))]


def printed(papers: Sequence[Paper]) -> Printed:
    """Counts the printed numbers: all, compared, and waiting for a run as published."""
    waiting, sets = 0, set()
    for paper in papers:
        not_run = [claim.id for claim in paper.claims if claim.published and claim.verdict == "not run"]
        number, names = data_sets_needed(registry.paper(paper.key), not_run)
        waiting += number
        sets |= set(names)
    return Printed(
        numbers=sum(len(paper.numbers) for paper in papers),
        compared=sum(
            claim.published is not None and claim.verdict != "not run"
            for paper in papers
            for claim in paper.claims
        ),
        waiting=waiting,
        data_sets=sorted(sets),
        command="make reproduce TIER=paper",
    )


def data_sets_needed(paper: Registered, ids: Iterable[str]) -> tuple[int, list[str]]:
    """Counts the claims that only a run as published decides, and lists the data sets that it needs."""
    needing = [experiment for claim, experiment in (paper.claims[id] for id in ids) if claim.needs]
    names: dict[str, None] = {}
    for experiment in needing:
        names |= dict.fromkeys(inputs.published_data_sets(experiment.params) if experiment else ())
    return len(needing), [DATA_SETS.get(name, name) for name in names]


def unconfirmed(claims: Iterable[Claim]) -> list[Claim]:
    """The claims whose frozen verdicts an attempt on fresh seeds reversed, then those that none confirmed."""
    every = list(claims)
    words = [word for word in MARKS if word != "confirmed"]
    return [claim for word in words for claim in every if f"{word} in attempt" in claim.mark]
