"""The observations behind a tier's verdicts, and the script that derives these from them again."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from reprise.contract.experiment import BASE
from reprise.engine import registry
from reprise.engine.configured import ConfiguredExperiment, Tier
from reprise.errors import RepriseError
from reprise.evidence import audit
from reprise.evidence.claim import Claim

SCRIPT = Path(__file__).with_name("redo_verdicts.py")
"""Imports nothing of Reprise."""


def observed(tier: Tier) -> pd.DataFrame:
    """A row an observation (`evidence.audit.COLUMNS`), of all claims that have been judged."""
    frames = []
    for paper in registry.judged().values():
        published = {"published": paper.printed_numbers().assign(setting=BASE)}
        frames.append(audit.observations(paper.printed, published, None))
        for each in map(tier.experiment, paper.experiments):
            if each.experiment.claims and each.has_results() and not each.staleness():
                frames += _of(each, each.experiment.claims)
    filled = [frame for frame in frames if len(frame)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=list(audit.COLUMNS))


def _of(configured: ConfiguredExperiment, claims: Sequence[Claim]) -> list[pd.DataFrame]:
    """The observations of claims; none of one that does not find what it reads in a recorded run of an older
    version, and is `not run`."""
    try:
        return [audit.observations(claims, configured.tables(), configured.params)]
    except (RepriseError, KeyError):
        if not configured.older():
            raise
        return [] if len(claims) == 1 else [frame for claim in claims for frame in _of(configured, [claim])]
