"""The observations behind a tier's verdicts, and the script that derives these from them again."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from reprise.contract.experiment import BASE, Tables, reading
from reprise.contract.settings import Settings
from reprise.engine import registry
from reprise.engine.configured import ConfiguredExperiment, Tier
from reprise.errors import RepriseError
from reprise.evidence.claim import Claim
from reprise.evidence.comparison import FORMULAS, Comparison
from reprise.evidence.estimates import Estimate, Mean, Median, Share, Typical
from reprise.evidence.observation import looked_at, observe
from reprise.evidence.region import each_alpha
from reprise.evidence.rounds import join, looks, rounds_of
from reprise.evidence.verdicts import differences, settings_of

SCRIPT = Path(__file__).with_name("redo_verdicts.py")
"""The script that derives every verdict again; it imports nothing of Reprise."""
ESTIMATES: Mapping[type[Estimate], str] = {
    Mean: "mean", Typical: "ranks", Median: "signs", Share: "share",
}  # fmt: skip
COLUMNS = (
    "claim", "rounds", "alpha", "setting", "cell", "part", "round", "seed", "value", "reference", "kind",
    "relation", "unit", "estimate", "margin", "smallest", "low_bound", "high_bound", "published_std",
    "published_n", "effect", "resting", "obstacle",
)  # fmt: skip


def observed(tier: Tier, judged: pd.DataFrame) -> pd.DataFrame:
    """A row an observation (`COLUMNS`), of all claims that have been judged.

    Args:
        judged: their verdicts, with the columns `evidence.verdicts.COLUMNS`.
    """
    frames = []
    made = dict(zip(judged["claim"], judged["rounds"], strict=True))
    for paper in registry.judged().values():
        published = {"published": paper.printed_numbers().assign(setting=BASE)}
        frames.append(observations(paper.printed, [published], None, made))
        for each in map(tier.experiment, paper.experiments):
            if each.experiment.claims and each.has_results() and not each.staleness():
                frames += _of(each, each.experiment.claims, made)
    filled = [frame for frame in frames if len(frame)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=list(COLUMNS))


def _of(
    configured: ConfiguredExperiment, claims: Sequence[Claim], made: Mapping[str, int]
) -> list[pd.DataFrame]:
    """The observations of claims; none of one that does not find what it reads in a recorded run of an older
    version, and is `not run`."""
    try:
        rounds = [each.tables() for each in configured.rounds()]
        return [observations(claims, rounds, configured.params, made)]
    except RepriseError:
        if not configured.older():
            raise
        return (
            []
            if len(claims) == 1
            else [frame for claim in claims for frame in _of(configured, [claim], made)]
        )


def observations(
    claims: Iterable[Claim],
    rounds: Sequence[Tables],
    params: Settings | None,
    made: Mapping[str, int],
    alpha: float | None = None,
) -> pd.DataFrame:
    """A row an observation (`COLUMNS`), at each look at each claim, in each of its cells and settings.

    A value whose reference is measured too is moved, so that it lies to the mean reference as it lay to its
    own. A cell in which nothing can be decided says why in `obstacle`, and has one row at least.

    Args:
        rounds, params, alpha: as of `evidence.verdicts.judge_all`.
        made: how many rounds the last look at each claim joined; 0, or no number, if it was not run.
    """
    rows: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    claims = [
        claim for claim in claims if made.get(claim.id) and not (claim.needs and differences(claim, params))
    ]
    round_of = rounds_of(rounds)
    for look in looks(len(rounds), alpha):
        if not (seen := [claim for claim in claims if made[claim.id] >= look.rounds]):
            break
        settings = settings_of(join(rounds[: look.rounds]), params)
        for claim, (name, found) in product(seen, settings.items()):
            corrected = look.alpha if name == BASE else each_alpha(len(settings), look.alpha)
            place = {"claim": claim.id, "rounds": look.rounds, "alpha": look.alpha, "setting": name}
            with reading(f"claim '{claim.id}'", found):
                _add(rows, place, claim, found, corrected, round_of)
    return pd.DataFrame(rows).astype(dict.fromkeys(("published_std", "published_n", "effect"), float))


def _add(
    rows: dict[str, list[Any]], place: Mapping[str, object], claim: Claim, tables: Tables, alpha: float,
    round_of: Mapping[Hashable, int],
) -> None:  # fmt: skip
    """Adds the observations of a claim in one setting, judged at the level `alpha`, to columns."""
    parts: dict[tuple[object, ...], str] = {}
    for name, compared in looked_at(claim, tables).items():
        seen = observe(claim, name, tables, alpha)
        cell = {
            **place, "cell": name,
            "part": parts.setdefault(compared.part, name), "reference": seen.reference, "kind": compared.kind,
            "relation": compared.relation, "unit": compared.unit, "margin": seen.margin,
            "estimate": _estimate(compared, seen.estimate), "smallest": seen.smallest,
            "low_bound": compared.bounds[0], "high_bound": compared.bounds[1],
            "published_std": compared.published_std, "published_n": compared.published_n,
            "effect": compared.effect, "resting": seen.resting, "obstacle": seen.reason,
        }  # fmt: skip
        values = seen.sample.tolist() or [math.nan]
        rows["value"] += values
        rows["seed"] += [str(unit) for unit in seen.units] if len(seen.sample) else [""]
        rows["round"] += [round_of.get(unit, 1) for unit in seen.units] if len(seen.sample) else [0]
        for column, value in cell.items():
            rows[column] += [value] * len(values)


def _estimate(compared: Comparison, estimate: Estimate | None) -> str:
    if compared.kind in FORMULAS:
        return "points"
    if compared.jackknife and isinstance(estimate, Mean):
        return "jackknife"
    return ESTIMATES[type(estimate)] if estimate is not None else "each"
