"""Runs some of Snakemake's rules from a command, in jobs as any run has them."""

import subprocess
import sys
from collections.abc import Iterable, Mapping

from reprise.engine.configured import Tier
from reprise.errors import RepriseError


def rule_name(id: str) -> str:
    """The name of the rule of a run of an experiment, a figure or table, or a paper's `KEY/claims`."""
    return id.replace("/", "_").replace("-", "_")


def run(
    tier: Tier,
    targets: Iterable[str],
    *,
    rounds: Mapping[str, int] | None = None,
    attempts: Mapping[str, int] | None = None,
) -> None:
    """Makes the targets, with the tier's profile and on all cores; what is there already is kept.

    Args:
        targets: names of rules.
        rounds: experiment id -> up to which round of it there are rules.
        attempts: experiment id -> the attempt on it that has rules.

    Raises:
        RepriseError: if a job fails; what was finished stays.
    """
    config = [f"tier={tier.name}"]
    config += [f"rounds={dict(rounds)}"] if rounds else []
    config += [f"attempts={dict(attempts)}"] if attempts else []
    unlock = ["workflow/scripts/unlock", "--config", *config]
    snakemake = [sys.executable, "-m", "snakemake", "--cores", "all", "--config", *config, "--", *targets]
    for command in (unlock, snakemake):
        if subprocess.run(command, cwd=tier.root, check=False).returncode:
            raise RepriseError(
                "a job failed, as said above; what was finished stays: run the same command again"
            )
