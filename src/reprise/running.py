"""The steps of the way of the data: run, draw, check, join. Snakemake calls them through the CLI; a notebook
directly."""

import hashlib
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from reprise import parts, provenance, registry, store
from reprise.config import Tier
from reprise.errors import RepriseError
from reprise.evidence.verdicts import COLUMNS, judge_all
from reprise.experiment import BASE, Artifact, Context, Tables, evaluate
from reprise.report.style import save, styled
from reprise.settings import Settings

Progress = Callable[[int, int, str], None]
Writer = Callable[[Path], None]


def run(id: str, tier: Tier, progress: Progress = lambda done, total, what: None, workers: int = 1) -> Path:
    """Computes an experiment's tables into `results/TIER/KEY/NAME/`; goes on from what a killed run with the
    same code and parameters had kept.

    Args:
        progress: called with (steps done, steps in all, what is being done).
        workers: the number of processes, for an experiment that comes in parts.

    Raises:
        RepriseError: when the computation's tables are not the declared ones, or cannot be written.
    """
    experiment = registry.experiment(id)
    params = tier.params[id]
    start = time.perf_counter()
    folder = tier.results / id
    code = experiment.code(params)
    key = hashlib.sha256(f"{code} {params.model_dump_json()}".encode()).hexdigest()[:16]
    keep = partial(store.keep, folder, key)
    context = Context(progress, lambda all: parts.make(all, keep, progress, workers), tier.root)
    tables = evaluate(experiment.compute(), experiment.settings(params), context)
    if set(tables) != set(experiment.tables):
        raise RepriseError(
            f"{id}: compute returned {sorted(tables)}, params.TABLES declares {sorted(experiment.tables)}"
        )
    record = {
        **provenance.describe(tier.root),
        "experiment": id,
        "params": params.model_dump(mode="json"),
        "code": code,
        "duration_seconds": round(time.perf_counter() - start, 3),
    }
    store.save_tables(folder, tables, record)
    store.forget(folder)
    return folder


def load(id: str, tier: Tier) -> tuple[dict[str, pd.DataFrame], Settings]:
    """An experiment's tables, and the parameters of the run that made them.

    Raises:
        RepriseError: when they are missing, damaged, or were made with other parameters than the tier now
        has.
    """
    experiment = registry.experiment(id)
    folder = tier.results / id
    again = f"reprise run {id} --tier {tier.name}"
    params = store.load_record(folder, again)["params"]
    if params != tier.params[id].model_dump(mode="json"):
        raise RepriseError(
            f"{folder}: made with other parameters than configs/{tier.name}.yaml now asks for; make it "
            f"again with: {again}"
        )
    tables = store.load_tables(folder, again)
    if set(tables) != set(experiment.tables):
        raise RepriseError(
            f"{folder}: holds {sorted(tables)}, expected {sorted(experiment.tables)}; make it again with: "
            f"{again}"
        )
    return tables, tier.params[id]


def make(id: str, tier: Tier) -> Any:
    """Draws a figure (a matplotlib Figure) or builds a table (a DataFrame) from result tables."""
    artifact = registry.artifact(id)
    tables, params = load(artifact.experiment, tier)
    return _draw(artifact, tables, params)


def _draw(artifact: Artifact, tables: Tables, params: Settings) -> Any:
    with styled():
        return artifact.draw(tables, params)


def draw(id: str, tier: Tier) -> list[Path]:
    """Makes an artifact and writes it: `figures/TIER/KEY/fig04.{pdf,png}` or `table1.{csv,md}`."""
    made = make(id, tier)
    writers = _figure_writers(made) if registry.artifact(id).kind == "figure" else _table_writers(made)
    files = {tier.figures / f"{id}.{ending}": writer for ending, writer in writers.items()}
    store.write_files(files)
    plt.close("all")
    return list(files)


def _figure_writers(figure: Figure) -> dict[str, Writer]:
    return {ending: partial(save, figure, kind=ending) for ending in ("pdf", "png")}


def _table_writers(table: pd.DataFrame) -> dict[str, Writer]:
    def markdown(file: Path) -> None:
        file.write_text(table.to_markdown(index=False) + "\n")

    return {"csv": partial(table.to_csv, index=False), "md": markdown}


def check(key: str, tier: Tier) -> pd.DataFrame:
    """The verdicts on a paper's claims, written to `results/TIER/KEY/claims.parquet`."""
    paper = registry.paper(key)
    published = {"published": paper.published().assign(setting=BASE)}
    rows = [judge_all(paper.pending, None, None), judge_all(paper.printed, published, None)]
    for id, experiment in paper.experiments.items():
        if not experiment.claims:
            continue
        if (tier.results / id / store.RECORD).is_file():
            rows.append(judge_all(experiment.claims, *load(id, tier)))
        else:
            missing = f"no results; they are made by: reprise run {id} --tier {tier.name}"
            rows.append(judge_all(experiment.claims, None, None, missing=missing))
    claims = _concat(rows)
    store.write_files(
        {tier.results / key / "claims.parquet": lambda file: claims.to_parquet(file, index=False)}
    )
    return claims


def join(tier: Tier) -> pd.DataFrame:
    """The verdicts on every paper: each paper's own, and `not run` from the registry for claims that it has
    not checked."""
    rows = []
    for key, paper in registry.papers().items():
        file = tier.results / key / "claims.parquet"
        checked = (
            _read_claims(file, f"reprise check {key} --tier {tier.name}") if file.is_file() else _concat([])
        )
        known = checked[checked["claim"].isin(paper.claims)]
        rest = [claim for id, (claim, _) in paper.claims.items() if id not in set(known["claim"])]
        missing = f"not checked; that is done by: make reproduce PAPER={key} TIER={tier.name}"
        rows += [known, judge_all(rest, None, None, missing=missing)]
    return _concat(rows)


def _read_claims(file: Path, again: str) -> pd.DataFrame:
    try:
        claims = pd.read_parquet(file)
    except (OSError, ValueError) as error:
        raise RepriseError(
            f"{file}: truncated or not Parquet ({error}); make it again with: {again}"
        ) from None
    if list(claims.columns) != list(COLUMNS):
        raise RepriseError(f"{file}: has other columns than this version writes; make it again with: {again}")
    return claims


def _concat(rows: list[pd.DataFrame]) -> pd.DataFrame:
    filled = [frame for frame in rows if len(frame)]
    claims = pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=list(COLUMNS))
    return claims.sort_values("claim", ignore_index=True)
