"""What stands first in the report: the firmest findings, and how many printed numbers have been compared."""

from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest

from reprise.evidence.verdicts import GROUNDS
from reprise.execute import inputs, registry
from reprise.execute.registry import Paper as Registered
from reprise.report.schema import Claim, Findings, Paper, Printed
from reprise.report.wording import DATA_SETS

FINDINGS = 10
"""Of each sort."""


def findings(papers: Sequence[Paper]) -> Findings:
    def firmest(selected: Callable[[Claim], bool]) -> list[str]:
        """Of each paper in turn, one of a figure, table or theorem."""
        order = list(GROUNDS)
        by_paper = []
        for paper in papers:
            first: dict[str, Claim] = {}
            for claim in sorted(
                filter(selected, paper.claims),
                key=lambda claim: (order.index(claim.ground), -len(claim.settings), claim.id),
            ):
                first.setdefault(claim.id.rpartition("/")[0], claim)
            by_paper.append(first.values())
        turns = zip_longest(*by_paper)
        return [claim.id for turn in turns for claim in turn if claim is not None][:FINDINGS]

    return Findings(
        robust=firmest(lambda claim: claim.robust),
        depends=firmest(lambda claim: claim.verdict == "depends"),
    )


def printed(papers: Sequence[Paper]) -> Printed:
    """How many of the printed numbers have been compared, and how many need a run as published."""
    waiting, sets = 0, set()
    for paper in papers:
        not_run = [claim.id for claim in paper.claims if claim.published and claim.verdict == "not run"]
        number, names = data_sets_needed(registry.paper(paper.key), not_run)
        waiting += number
        sets |= set(names)
    return Printed(
        numbers=sum(len(registry.paper(paper.key).published()) for paper in papers),
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
    """How many of these claims only a run as published decides, and its data sets."""
    needing = [experiment for claim, experiment in (paper.claims[id] for id in ids) if claim.needs]
    names: dict[str, None] = {}
    for experiment in needing:
        names |= dict.fromkeys(inputs.published_data_sets(experiment.params) if experiment else ())
    return len(needing), [DATA_SETS.get(name, name) for name in names]
