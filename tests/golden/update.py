"""Writes the golden numbers of the smoke tier, with tolerances from how much they move between processors.

Runs every experiment once for each set of vector instructions that PyTorch and OpenBLAS have code for. The
tolerance of a number is ten times its spread over them, and at least 1e-6 of its size: a change of code moves
it by more, another processor by less.

`python tests/golden/update.py` writes new numbers, after an intended change; `update.py KEY/NAME ...`
only those of some experiments, such as new ones. With `--widen` the numbers stay,
and the tolerances come to cover this processor too: from the results of the smoke tier here, of a commit
whose numbers are golden elsewhere. The instructions of convolutions, which the processor alone decides,
cannot be imitated.

A changed file counts only when CHANGELOG.md has an entry about it (`lock`). Both commands lock what they
write, or say which entries are missing; `--lock` does that alone, once they are written.
"""

import io
import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import lock
import pandas as pd

from reprise.engine import registry, run, tiers
from reprise.errors import RepriseError
from reprise.ledger import drift

CAPABILITIES = {"default": "Nehalem", "avx2": "Haswell", "avx512": "SkylakeX"}
"""PyTorch's names of them, and OpenBLAS's of a processor that has no more."""
SUMMARISE = "--summarise"


def main(ids: list[str]) -> None:
    """Runs experiments, by default all, three times at the smoke tier and writes
    tests/golden/smoke/KEY/NAME.csv."""
    tier = tiers.load_tier("smoke")
    ids = ids or list(registry.experiments())
    values = pd.concat([_summaries(capability, ids) for capability in CAPABILITIES], axis=1)
    floor = (drift.LEAST_RELATIVE * values.iloc[:, -1].abs()).clip(lower=drift.LEAST_TOLERANCE)
    tolerance = (10 * (values.max(axis=1) - values.min(axis=1))).clip(lower=floor)
    finite = values.notna().all(axis=1)  # with some instructions only, it may be anything
    golden = pd.DataFrame(
        {"value": values.iloc[:, -1].where(finite, 0.0), "tolerance": tolerance.where(finite, math.inf)}
    )
    for id, rows in golden.groupby("experiment"):
        file = drift.golden_file(tier.root, tier.name, id)
        file.parent.mkdir(parents=True, exist_ok=True)
        rows.droplevel("experiment").reset_index().to_csv(file, index=False, float_format="%.9g")
        print(file.relative_to(tier.root), len(rows))
    lock_written()


def lock_written() -> None:
    """Locks the golden files; exits with a message if CHANGELOG.md lacks an entry about one."""
    sys.exit(lock.what_to_do(lock.lock()) or 0)


def widen() -> None:
    """Takes the smoke tier's results here as those of one more processor: the golden values stay."""
    tier = tiers.load_tier("smoke")
    for id in registry.experiments():
        file = drift.golden_file(tier.root, tier.name, id)
        golden = drift.golden(file)
        here = drift.summary(tier.experiment(id))
        both = golden.merge(here, on=drift.KEYS, how="outer", suffixes=("", "_here"))
        spread = (both["value_here"] - both["value"]).abs()
        # With some instructions only is it a finite number: then it may be anything, or missing.
        both["tolerance"] = both["tolerance"].clip(lower=10 * spread).where(spread.notna(), math.inf)
        both["value"] = both["value"].fillna(0.0)
        both[golden.columns].to_csv(file, index=False, float_format="%.9g")
    lock_written()


def _summaries(capability: str, ids: list[str]) -> pd.Series:
    """The summaries of experiments, computed in a process with these instructions."""
    environment = {
        **os.environ,
        "ATEN_CPU_CAPABILITY": capability,
        "OPENBLAS_CORETYPE": CAPABILITIES[capability],
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, __file__, SUMMARISE, *ids]
    text = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    return pd.read_csv(io.StringIO(text), keep_default_na=False).set_index(["experiment", *drift.KEYS])[
        "value"
    ]


def summarise(ids: list[str]) -> None:
    """Computes experiments at the smoke tier and prints their summaries."""
    with TemporaryDirectory() as empty:  # where no trained model is kept
        tier = replace(tiers.load_tier("smoke"), root=Path(empty))
        for id in ids:
            run.run(tier.experiment(id))
        parts = {id: drift.summary(tier.experiment(id)) for id in ids}
    table = pd.concat(parts, names=["experiment"]).reset_index(level="experiment")
    table.to_csv(sys.stdout, index=False)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--widen"]:
            widen()
        case ["--lock"]:
            lock_written()
        case ["--summarise", *ids]:
            summarise(ids)
        case ids:
            try:
                main([registry.experiment(id).id for id in ids])
            except RepriseError as error:
                sys.exit(str(error))
