"""`reprise list | run | draw | check | report | cache | bench`."""

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pandas as pd
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from threadpoolctl import threadpool_limits

from reprise.errors import RepriseError
from reprise.evidence.verdicts import ground, summary
from reprise.execute import cache, drift, pipeline, provenance, registry, tiers

FOUND = 3
"""Exit code of `check --fail-on` when it found what it was asked to fail on."""
INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""
NOBODY_READS = 141
"""Exit code when what reads the output has closed it, as shells have it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command. Exit codes: 0 done, 2 a mistake that the user can mend, 3 `--fail-on` found
    something, 130 interrupted, 141 nobody reads the output."""
    options = _parser().parse_args(arguments)
    # A second thread slows stacks of small matrices: torch's, before it is imported, and NumPy's, which is.
    # Snakemake sets these variables to a rule's threads, which are processes here; torch heeds MKL's first.
    os.environ |= {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    threadpool_limits(1, user_api="blas")
    try:
        code = options.command(options) or 0
        sys.stdout.flush()
        return code
    except RepriseError as error:
        print(f"reprise: error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader had enough: reprise list | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        return NOBODY_READS
    except KeyboardInterrupt:
        print(
            "reprise: interrupted; what was finished is kept, and the same command goes on", file=sys.stderr
        )
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="reprise", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="list|run|draw|check|report|cache|bench")

    def add(name: str, command: Any, help: str, *, of_tier: bool = True) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=help, description=help)
        sub.set_defaults(command=command)
        if of_tier:
            sub.add_argument("--tier", default="default", help="a file of configs/ (default: default)")
        return sub

    add(
        "list", _list, "experiments, artifacts, claims; what each tier has and what is missing", of_tier=False
    )
    run = add("run", _run, "compute an experiment's result tables")
    run.add_argument("id", metavar="KEY/NAME")
    run.add_argument(
        "--share", type=_share, metavar="I/N",
        help="of an experiment that is cut into tasks: do this share of them, of so many, and make no tables",
    )  # fmt: skip
    add("draw", _draw, "draw a figure or table from result tables").add_argument("id", metavar="KEY/fig04")
    check = add("check", _check, "verdicts on the claims of a paper (of all: leave it out)")
    check.add_argument("paper", nargs="?", metavar="KEY")
    check.add_argument("--json", action="store_true", help="print the verdicts as JSON")
    check.add_argument("--write", action="store_true", help="keep them in results/TIER/KEY, for the report")
    check.add_argument(
        "--fail-on", action="append", choices=("contradicted", "drift"), default=[],
        help=f"exit with {FOUND} on a contradicted claim, or on numbers that differ from tests/golden",
    )  # fmt: skip
    add("report", _report, "write results/TIER/report.html, summary.md and the joint claims table")
    kept = add(
        "cache",
        _cache,
        "what is kept beside result tables: what, its size and age, which experiment asks for it",
        of_tier=False,
    )
    kept.add_argument("--clear", action="store_true", help="remove what no experiment of any tier asks for")
    bench = add(
        "bench",
        _bench,
        "times of the replica engine and of training on images beside plain loops, and the floor",
        of_tier=False,
    )
    bench.add_argument("--json", action="store_true", help="print the measurements as JSON")
    return parser


def _share(text: str) -> tuple[int, int]:
    written = re.fullmatch(r"(\d+)(?:/|-of-)(\d+)", text)  # as people write it, and Snakemake
    number, shares = map(int, written.groups()) if written else (0, 0)
    if not 1 <= number <= shares:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share such as 3/16")
    return number, shares


def _list(options: argparse.Namespace) -> None:
    every_tier = [tiers.load_tier(name) for name in tiers.names()]
    for key, paper in registry.papers().items():
        print(f"\n{key}: {paper.title}")
        if not paper.experiments:
            print("  no experiments yet")
        for id, experiment in paper.experiments.items():
            artifacts = ", ".join(artifact.id for artifact in experiment.artifacts) or "none"
            print(f"  {id}: artifacts {artifacts}; {len(experiment.claims)} claims")
            for tier in every_tier:
                has_run = pipeline.has_results(id, tier)
                state = "has results" if has_run else f"missing; reprise run {id} --tier {tier.name}"
                print(f"    {tier.name:8} {state}")
        for claim, _ in paper.claims.values():
            print(f"  {claim.kind:9}{claim.id}" + (f"  (needs {claim.needs})" if claim.needs else ""))


def _run(options: argparse.Namespace) -> None:
    tier = tiers.load_tier(options.tier)
    params = tier.params[registry.experiment(options.id).id].model_dump(mode="json")
    made_by = {**provenance.describe(tier.root), "experiment": options.id, "params": params}
    print(json.dumps(made_by, ensure_ascii=False), file=sys.stderr, flush=True)
    with _progress(options.id) as show:
        if options.share:
            number, shares = options.share
            pipeline.run_share(options.id, tier, number, shares, show)
        else:
            pipeline.run(options.id, tier, show)
    print(tier.results / options.id)


@contextmanager
def _progress(id: str) -> Iterator[pipeline.Progress]:
    """A bar with an estimate on a terminal; elsewhere, as in a log, a line every tenth of the way."""
    if sys.stderr.isatty():
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task(id)
            yield lambda done, total, what: bar.update(
                task, completed=done, total=total, description=f"{id}: {what}"
            )
        return
    start, first, shown = time.monotonic(), 0, -1

    def line(done: int, total: int, what: str) -> None:
        nonlocal start, first, shown
        tenth = 10 * done // total
        if tenth < shown or shown < 0 or done == 0:  # a beginning, or where a killed run had stopped
            start, first, shown = time.monotonic(), done, tenth
        elif tenth > shown:
            shown = tenth
            left = (time.monotonic() - start) * (total - done) / (done - first)
            print(f"{id}: {what}: {10 * tenth} %, {left:.0f} s left", file=sys.stderr, flush=True)

    yield line


def _draw(options: argparse.Namespace) -> None:
    for file in pipeline.draw(options.id, tiers.load_tier(options.tier)):
        print(file)


def _check(options: argparse.Namespace) -> int:
    tier = tiers.load_tier(options.tier)
    keys = [options.paper] if options.paper else list(registry.papers())
    verdicts = {key: pipeline.check(key, tier) for key in keys}
    if options.write:
        for key, table in verdicts.items():
            pipeline.save_claims(key, tier, table)
    claims = pd.concat(verdicts.values(), ignore_index=True)
    if options.json:
        print(claims.to_json(orient="records", indent=1))
    else:
        _print_summary(claims)
    failed = False
    if "contradicted" in options.fail_on:
        # A misprint that fails as printed is an erratum, not news.
        for row in claims[claims["verdict"] == "contradicted"].to_dict("records"):
            if ground(row) != "errata":
                failed = True
                print(f"contradicted: {row['claim']}: {row['observed']:.4g} {row['unit']}", file=sys.stderr)
    if "drift" in options.fail_on:
        for line in drift.compare(tier, keys):
            failed = True
            print(f"drift: {line}", file=sys.stderr)
    return FOUND if failed else 0


def _report(options: argparse.Namespace) -> None:
    from reprise.report import html  # jinja2 is needed here only

    tier = tiers.load_tier(options.tier)
    claims = pipeline.join(tier)
    file = html.write(tier, claims)
    _print_summary(claims)
    print(f"report: {file}")


def _cache(options: argparse.Namespace) -> None:
    if options.clear:
        removed, busy = cache.clear()
        for row in removed:
            print(f"removed {row.kind}: {row.what} ({row.size:.1f} MB)")
        for row in busy:
            print(f"left {row.kind}: {row.what}: a process is at work there")
        print(f"freed {sum(row.size for row in removed):.1f} MB")
        return
    rows = cache.rows()
    for row in rows:
        asked_by = row.asked_by or "nothing asks for it"
        print(f"{row.kind:9}{row.size:8.1f} MB {row.age:>8}  {row.what}; {asked_by}")
    print(f"{len(rows)} entries, {sum(row.size for row in rows):.1f} MB")
    if useless := [row.size for row in rows if not row.asked_by]:
        megabytes = f"{sum(useless):.1f} MB"
        print(f"nothing asks for {len(useless)} of them, {megabytes}; remove with: reprise cache --clear")


def _bench(options: argparse.Namespace) -> None:
    from reprise.bench import image_training

    measured = {bench.TITLE: bench.measure() for bench in (*registry.benches(), image_training)}
    if options.json:
        print(json.dumps({name: table.to_dict("records") for name, table in measured.items()}, indent=1))
    else:
        for name, table in measured.items():
            print(f"{name}\n{table.to_string(index=False, float_format='{:.3g}'.format)}\n")


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
