"""The observations behind a tier's verdicts, and the script that derives these from them again."""

from pathlib import Path

import pandas as pd

from reprise.contract.experiment import BASE
from reprise.engine import registry
from reprise.engine.configured import Tier
from reprise.errors import RepriseError
from reprise.evidence import audit

SCRIPT = Path(__file__).with_name("redo_verdicts.py")
"""Imports nothing of Reprise."""


def observed(tier: Tier) -> pd.DataFrame:
    """A row an observation (`evidence.audit.COLUMNS`), of all claims that have been judged."""
    frames = []
    for paper in registry.judged().values():
        published = {"published": paper.printed_numbers().assign(setting=BASE)}
        frames.append(audit.observations(paper.printed, published, None))
        for each in map(tier.experiment, paper.experiments):
            if not each.experiment.claims or not each.has_results():
                continue
            for claim in each.experiment.claims:
                try:
                    frames.append(audit.observations([claim], each.tables(), each.params))
                except (RepriseError, KeyError):
                    if not each.older():  # it does not find what it reads, and is `not run`
                        raise
    filled = [frame for frame in frames if len(frame)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=list(audit.COLUMNS))
