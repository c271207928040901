"""Explanations in the terminal: why a claim is decided or not, and what would decide it."""

import math
from collections.abc import Iterator

from reprise.engine import ids, registry
from reprise.engine.configured import ConfiguredExperiment, Tier
from reprise.evidence.comparison import FORMULAS
from reprise.evidence.observation import Reason
from reprise.evidence.rounds import LEVELS
from reprise.ledger import costs, decide, frozen
from reprise.report.card import Line, judged, laid_out
from reprise.report.claims import Row
from reprise.report.numbers import duration, finite, number
from reprise.report.wording import likely, measured, what_would_decide

BEYOND_SEEDS: dict[Reason, str] = {
    "print too imprecise": "nothing that is run: the paper's own spread allows for more than the margin",
    "not yet": "a longer course: it has not come to rest",
    "did not learn": "a longer or better training, in which the networks learn",
    "no premise": "a run in which what the sentence takes for granted is there",
    "too coarse": "a finer measurement",
    "undefined": "a run in which no observation is undefined",
    "no observations": "a run with the observations that the claim reads",
    "not found": "a case in which it holds; that none was found proves nothing",
    "in some settings": "the settings that are undecided, once further seeds decide those",
}
"""Reason why seeds do not decide a claim -> what would decide it."""


def why(id: str, tier: Tier, width: int = 100) -> str:
    """Explains a claim's verdict, and says what would decide or move it.

    Args:
        width: of the lines, in characters.

    Raises:
        RepriseError: for an unknown id, or if results are damaged.
    """
    claim, decided_by = registry.claim(ids.find(id, "claim").id)
    experiment = tier.experiment(decided_by.id) if decided_by else None
    _, row = judged(claim, experiment, registry.paper(claim.paper))
    return laid_out(claim.id, _lines(row, experiment, tier), width)


def _lines(row: Row, experiment: ConfiguredExperiment | None, tier: Tier) -> Iterator[Line]:
    yield "verdict", ": ".join(filter(None, (row["verdict"], row["reason"])))
    if row["verdict"] == "not run":
        yield "would decide it", _what_runs(row, experiment)
        return
    if said := frozen.marks(tier).get(row["claim"]):
        yield "mark", said.beside(row["verdict"])
    margin = f" ± {number(row['margin'])}" if row["margin"] else ""
    seen = measured(row["kind"], *(finite(row[name]) for name in ("observed", "low", "high")))
    interval = "" if math.isnan(row["level"]) else f" (interval of {100 * row['level']:.3g} %)"
    yield (
        "observed",
        f"{seen} {row['unit']}{interval}; holds if {row['relation']} {number(row['reference'])}{margin}",
    )
    is_certain = row["kind"] in (*FORMULAS, "printed", "given")
    if not is_certain:
        yield "looks", _looks(row)
    if row["verdict"] == "inconclusive":
        yield from _further(row, experiment)
    elif is_certain:
        yield "again", "should come out the same, at whatever points it is tried"
    else:
        yield "again", f"{likely(row['chance_same'])} likely to come out the same on as many fresh seeds"


def _what_runs(row: Row, experiment: ConfiguredExperiment | None) -> str:
    if experiment is None or experiment.has_results():
        return "an experiment that is not here" if row["reason_code"] == "no experiment" else row["reason"]
    return experiment.how_to_make


def _looks(row: Row) -> str:
    """The last look at the claim: its number, its seeds and its level."""
    rounds, decided = int(row["rounds"]), row["verdict"] != "inconclusive"
    joined = "round 1" if rounds == 1 else f"rounds 1 to {rounds}"
    return (
        f"{'decided' if decided else 'undecided'} at look {rounds} of {len(LEVELS)}, on {int(row['seeds'])} "
        f"observations of {joined}, at {100 * row['alpha']:.2g} % one-sided"
    )


def _further(row: Row, experiment: ConfiguredExperiment | None) -> Iterator[Line]:
    """Lists the means to decide an undecided claim, with their chances and times."""
    code = row["reason_code"]
    if code not in decide.MENDABLE:
        yield "would decide it", BEYOND_SEEDS.get(code, "no number of seeds")
        return
    if experiment is None or not experiment.is_seeded:
        yield "would decide it", "no number of seeds: chance has no part in the experiment"
        return
    cost = costs.of_further_round(experiment)
    if seeds := what_would_decide(row, cost.core_minutes * row["rounds"]):
        yield "seeds", seeds
    claim, _ = registry.claim(row["claim"])
    (undecided,) = decide.undecided(experiment, [claim])
    chances = undecided.chances()
    if not chances:
        yield "would decide it", f"no further round: all {len(LEVELS)} have run"
        return
    by = ", ".join(f"by round {number} {100 * chance:.0f} %" for number, chance in chances.items())
    yield "chance", f"{by}; a round takes about {duration(cost.core_minutes)} of a core"
    if max(chances.values()) < decide.LEAST:
        few = f"a tier with more seeds: {len(LEVELS)} rounds of {undecided.seeds} are unlikely to"
        yield (
            "would decide it",
            few if undecided.seeds else "no seeds: it is judged on what rounds share",
        )
        return
    begin = f"reprise decide {experiment.id} --tier {experiment.tier.in_commands}"
    run_first = f"{experiment.how_to_make}; then: " if experiment.tier.is_recorded else ""
    yield "would decide it", run_first + begin
