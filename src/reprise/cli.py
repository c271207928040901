"""`reprise list | run | draw | check | report | bench`."""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

import pandas as pd
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from reprise import config, drift, provenance, registry, running
from reprise.errors import RepriseError
from reprise.evidence.verdicts import summary

FOUND = 3
"""Exit code of `check --fail-on` when it found what it was asked to fail on."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command. Exit codes: 0 done, 2 a mistake that the user can mend, 3 `--fail-on` found
    something."""
    options = _parser().parse_args(arguments)
    try:
        return options.command(options) or 0
    except RepriseError as error:
        print(f"reprise: error: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="reprise", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="list|run|draw|check|report|bench")

    def add(name: str, command: Any, help: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=help, description=help)
        sub.set_defaults(command=command)
        sub.add_argument("--tier", default="default", help="a file of configs/ (default: default)")
        return sub

    add("list", _list, "experiments, artifacts and claims; what has been run and what is missing")
    add("run", _run, "compute an experiment's result tables").add_argument("id", metavar="KEY/NAME")
    add("draw", _draw, "draw a figure or table from result tables").add_argument("id", metavar="KEY/fig04")
    check = add("check", _check, "verdicts on the claims of a paper (of all: leave it out)")
    check.add_argument("paper", nargs="?", metavar="KEY")
    check.add_argument("--json", action="store_true", help="print the verdicts as JSON")
    check.add_argument(
        "--fail-on", action="append", choices=("contradicted", "drift"), default=[],
        help=f"exit with {FOUND} on a contradicted claim, or on numbers that differ from tests/golden",
    )  # fmt: skip
    add("report", _report, "write results/TIER/report.html, summary.md and the joint claims table")
    bench = add("bench", _bench, "seconds per replica-step of the replica engine beside a plain loop")
    bench.add_argument("--json", action="store_true", help="print the measurements as JSON")
    return parser


def _list(options: argparse.Namespace) -> None:
    tier = config.load_tier(options.tier)
    console = Console(width=None if sys.stdout.isatty() else 160)
    for key, paper in registry.papers().items():
        console.print(f"\n[bold]{key}[/bold]  {paper.title}")
        if not paper.experiments:
            console.print("  no experiments yet")
        for id, experiment in paper.experiments.items():
            have = (tier.results / id / "run.json").is_file()
            artifacts = ", ".join(a.id.split("/")[1] for a in experiment.artifacts) or "none"
            state = "has results" if have else f"missing: reprise run {id} --tier {tier.name}"
            console.print(f"  {id}  [{tier.name}: {state}]", markup=False)
            console.print(f"    artifacts: {artifacts}; claims: {len(experiment.claims)}")
        for claim, owner in paper.claims.values():
            needs = "" if owner else f"  needs {claim.needs}"
            console.print(f"    {claim.kind:8} {claim.id}{needs}", markup=False, highlight=False)


def _run(options: argparse.Namespace) -> None:
    tier = config.load_tier(options.tier)
    print(json.dumps({**provenance.describe(tier.root), "experiment": options.id}), file=sys.stderr)
    registry.experiment(options.id)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), refresh_per_second=1) as bar:
        task = bar.add_task(options.id)

        def show(done: int, total: int, what: str) -> None:
            bar.update(task, completed=done, total=total, description=f"{options.id}: {what}")

        folder = running.run(options.id, tier, show)
    print(folder)


def _draw(options: argparse.Namespace) -> None:
    for file in running.draw(options.id, config.load_tier(options.tier)):
        print(file)


def _check(options: argparse.Namespace) -> int:
    tier = config.load_tier(options.tier)
    keys = [options.paper] if options.paper else list(registry.papers())
    claims = pd.concat([running.check(key, tier) for key in keys], ignore_index=True)
    if options.json:
        print(claims.to_json(orient="records", indent=1))
    else:
        _print_summary(claims)
    failed = False
    if "contradicted" in options.fail_on:
        for row in claims[claims["verdict"] == "contradicted"].itertuples():
            failed = True
            print(f"contradicted: {row.claim}: {row.observed:.4g} {row.unit}", file=sys.stderr)
    if "drift" in options.fail_on:
        for line in drift.compare(tier, keys):
            failed = True
            print(f"drift: {line}", file=sys.stderr)
    return FOUND if failed else 0


def _report(options: argparse.Namespace) -> None:
    from reprise.report import html  # jinja2 is needed here only

    tier = config.load_tier(options.tier)
    claims = running.join(tier)
    file = html.write(tier, claims)
    _print_summary(claims)
    print(f"report: {file}")


def _bench(options: argparse.Namespace) -> None:
    from reprise import bench  # needs torch

    measured = bench.replica_engine()
    if options.json:
        print(measured.to_json(orient="records", indent=1))
    else:
        print(measured.to_string(index=False, float_format="{:.3g}".format))


def _print_summary(claims: pd.DataFrame) -> None:
    counts = summary(claims)
    shown = Table(title="Verdicts (grounds are not added together)")
    for name in counts.columns:
        shown.add_column(name, justify="left" if name in ("paper", "ground") else "right")
    for row in counts.itertuples(index=False):
        shown.add_row(*(str(cell) for cell in row))
    Console(width=110).print(shown)


if __name__ == "__main__":
    sys.exit(main())
