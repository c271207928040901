"""The observations behind a tier's verdicts, and the script that derives these from them again."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from reprise.contract.experiment import BASE, Tables
from reprise.contract.settings import Settings
from reprise.engine import registry
from reprise.engine.configured import ConfiguredExperiment, Tier
from reprise.errors import RepriseError
from reprise.evidence.claim import ALONE, Claim
from reprise.evidence.comparison import FORMULAS, Comparison
from reprise.evidence.estimates import Estimate, Mean, Median, Share, Typical
from reprise.evidence.judgement import Judgement, judge
from reprise.evidence.verdicts import differences, settings_of

SCRIPT = Path(__file__).with_name("redo_verdicts.py")
"""Imports nothing of Reprise."""
ROUND = 1
"""The round of the seeds: there is one so far."""
ESTIMATES: Mapping[type[Estimate], str] = {
    Mean: "mean", Typical: "ranks", Median: "signs", Share: "share",
}  # fmt: skip
COLUMNS = (
    "claim", "setting", "cell", "part", "round", "seed", "value", "reference", "kind", "relation", "unit",
    "estimate", "margin", "smallest", "low_bound", "high_bound", "published_std", "published_n", "effect",
    "resting", "obstacle",
)  # fmt: skip


def observed(tier: Tier) -> pd.DataFrame:
    """A row an observation (`COLUMNS`), of all claims that have been judged."""
    frames = []
    for paper in registry.judged().values():
        published = {"published": paper.printed_numbers().assign(setting=BASE)}
        frames.append(observations(paper.printed, published, None))
        for each in map(tier.experiment, paper.experiments):
            if each.experiment.claims and each.has_results() and not each.staleness():
                frames += _of(each, each.experiment.claims)
    filled = [frame for frame in frames if len(frame)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=list(COLUMNS))


def _of(configured: ConfiguredExperiment, claims: Sequence[Claim]) -> list[pd.DataFrame]:
    """The observations of claims; none of one that does not find what it reads in a recorded run of an older
    version, and is `not run`."""
    try:
        return [observations(claims, configured.tables(), configured.params)]
    except (RepriseError, KeyError):
        if not configured.older():
            raise
        return [] if len(claims) == 1 else [frame for claim in claims for frame in _of(configured, [claim])]


def observations(claims: Iterable[Claim], tables: Tables, params: Settings | None) -> pd.DataFrame:
    """A row an observation (`COLUMNS`), in each cell and setting of each claim.

    A value whose reference is measured too is moved, so that it lies to the mean reference as it lay to its
    own. A cell in which nothing can be decided says why in `obstacle`, and has one row at least.
    """
    settings = settings_of(tables, params)
    frames = [
        frame
        for claim in claims
        if not (claim.needs and differences(claim, params))
        for setting, found in settings.items()
        for frame in _of_setting(claim, setting, judge(claim, found))
    ]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=list(COLUMNS))


def _of_setting(claim: Claim, setting: str, judgement: Judgement) -> Iterator[pd.DataFrame]:
    parts: dict[tuple[object, ...], str] = {}
    for name, each in (judgement.cells or {ALONE: judgement}).items():
        compared, seen = claim.cells[name], each.observation
        part = parts.setdefault(compared.part, name)
        known = len(seen.sample) > 0
        yield pd.DataFrame({
            "claim": claim.id, "setting": setting, "cell": name, "part": part, "round": ROUND,
            "seed": [str(unit) for unit in seen.units] if known else [""],
            "value": seen.sample if known else [float("nan")],
            "reference": seen.reference, "kind": compared.kind, "relation": compared.relation,
            "unit": compared.unit, "estimate": _estimate(compared, seen.estimate),
            "margin": seen.margin, "smallest": seen.smallest,
            "low_bound": compared.bounds[0], "high_bound": compared.bounds[1],
            "published_std": compared.published_std, "published_n": compared.published_n,
            "effect": compared.effect, "resting": seen.resting, "obstacle": seen.reason,
        }).astype({"published_std": float, "published_n": float, "effect": float})  # fmt: skip


def _estimate(compared: Comparison, estimate: Estimate | None) -> str:
    if compared.kind in FORMULAS:
        return "points"
    if compared.jackknife and isinstance(estimate, Mean):
        return "jackknife"
    return ESTIMATES[type(estimate)] if estimate is not None else "each"
