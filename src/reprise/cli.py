"""`reprise list | plan | run | draw | check | report | publish | bundle | merge | cache | bench`."""

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from threadpoolctl import threadpool_limits

from reprise.errors import RepriseError
from reprise.evidence.verdicts import false_discoveries, known_false, summary
from reprise.execute import cache, drift, pipeline, plan, provenance, recorded, registry, tiers

FOUND = 3
"""Exit code of `check --fail-on` if the named problem occurred."""
INTERRUPTED = 130
"""Exit code after Ctrl-C, as in shells."""
NOBODY_READS = 141
"""Exit code after a broken pipe, as in shells."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command. Exit codes: 0 success, 2 an error that the user can fix, 3 a problem named by
    `--fail-on`, 130 interrupted, 141 broken pipe."""
    options = _parser().parse_args(arguments)
    # A second thread slows stacks of small matrices. The variables are for torch, which is imported later and
    # reads MKL's first; the limit is for NumPy. Snakemake would set the variables to a rule's threads.
    os.environ |= {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    threadpool_limits(1, user_api="blas")
    try:
        code = options.command(options) or 0
        sys.stdout.flush()
        return code
    except RepriseError as error:
        print(f"reprise: error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # e.g. reprise list | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that the flush at exit succeeds
        return NOBODY_READS
    except KeyboardInterrupt:
        print(
            "reprise: interrupted; what was finished is kept, and the same command resumes", file=sys.stderr
        )
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="reprise", description=__doc__)
    commands = parser.add_subparsers(
        required=True, metavar="list|plan|run|draw|check|report|publish|bundle|merge|cache|bench"
    )

    def add(name: str, command: Any, help: str, *, has_tier: bool = True) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=help, description=help)
        sub.set_defaults(command=command)
        if has_tier:
            sub.add_argument(
                "--tier", default="default",
                help="a file of configs/, or a recorded run, recorded/NAME (default: default)",
            )  # fmt: skip
        return sub

    add(
        "list",
        _list,
        "list experiments, artifacts and claims, and which results each tier has",
        has_tier=False,
    )
    plan_parser = add("plan", _plan, "estimate what a tier takes, what it decides, and what is missing here")
    plan_parser.add_argument("paper", nargs="?", metavar="KEY")
    plan_parser.add_argument(
        "--share-minutes", metavar="MINUTES", default=f"{plan.SHARE_MINUTES:g}",
        help="expected duration of a job, as in the profile (default: %(default)s)",
    )  # fmt: skip
    run = add("run", _run, "compute an experiment's result tables")
    run.add_argument("id", metavar="KEY/NAME")
    run.add_argument(
        "--share", type=_share, metavar="I/N",
        help="run only this share of the experiment's tasks, and write no result tables",
    )  # fmt: skip
    add("draw", _draw, "draw a figure or table from result tables").add_argument("id", metavar="KEY/fig04")
    check = add("check", _check, "judge the claims of one paper, or of all")
    check.add_argument("paper", nargs="?", metavar="KEY")
    check.add_argument("--json", action="store_true", help="print the verdicts as JSON")
    check.add_argument(
        "--write", action="store_true", help="save the verdicts in results/TIER/KEY, for the report"
    )
    check.add_argument(
        "--fail-on", action="append", choices=("contradicted", "drift"), default=[],
        help=f"exit with {FOUND} on contradicted claims, or on numbers that differ from tests/golden",
    )  # fmt: skip
    add("report", _report, "write results/TIER/report.html, summary.md and the table of all claims")
    publish = add("publish", _publish, "write the results as pages for people who run nothing, and into README.md")
    publish.add_argument("--to", type=Path, metavar="FOLDER", help="default: docs/results in the checkout")
    bundle = add("bundle", _bundle, "pack a tier's results into one file, for others to merge")
    bundle.add_argument("paper", nargs="?", metavar="KEY")
    bundle.add_argument("--to", type=Path, metavar="FILE", help="default: reprise-NAME.zip")
    add(
        "merge",
        _merge,
        "verify a bundle, judge its claims, and keep it in results/recorded/NAME",
        has_tier=False,
    ).add_argument("file", type=Path, metavar="FILE")
    cache_parser = add(
        "cache",
        _cache,
        "list cache entries with their sizes, ages and the experiments that use them",
        has_tier=False,
    )
    cache_parser.add_argument(
        "--clear", action="store_true", help="remove entries that no experiment of any tier uses"
    )
    bench_parser = add(
        "bench",
        _bench,
        "time the replica engine and image training against plain loops",
        has_tier=False,
    )
    bench_parser.add_argument("--json", action="store_true", help="print the measurements as JSON")
    return parser


def _share(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)(?:/|-of-)(\d+)", text)  # 3/16, or Snakemake's 3-of-16
    number, shares = map(int, match.groups()) if match else (0, 0)
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
    if names := tiers.recorded_names():
        print(f"\nrecorded runs, each read with --tier: {', '.join(names)}")


def _plan(options: argparse.Namespace) -> None:
    tier = tiers.load_tier(options.tier)
    minutes = plan.minutes_of_shares(options.share_minutes)
    papers = [registry.paper(options.paper)] if options.paper else list(registry.papers().values())
    estimates = [plan.estimate(id, tier, minutes) for paper in papers for id in paper.experiments]
    table = Table(title=f"Tier {tier.name}; nothing in the cache is subtracted")
    for name in (
        "experiment",
        "state",
        "jobs",
        "longest job",
        "memory",
        "CPU h",
        "GPU h",
        "claims",
        "numbers",
    ):
        table.add_column(name, justify="left" if name in ("experiment", "state") else "right")
    for each in estimates:
        gpus = f", {each.longest.gpus} GPU{'s' * (each.longest.gpus > 1)}" if each.longest.gpus else ""
        numbers = [claim for claim in each.claims if claim.published is not None]
        table.add_row(
            each.id, each.state, str(each.jobs), f"{each.longest.minutes / 60:,.2f} h{gpus}",
            f"{each.longest.memory_mb / 1000:.1f} GB", f"{each.cpu_hours:.2f}", plan.hours(each.gpu_hours),
            str(len(each.claims)), str(len(numbers)),
        )  # fmt: skip
    console = Console(width=max(120, Console().width))
    console.print(table)
    if options.paper:
        for each in estimates:
            for claim in each.claims:
                if claim.published is not None:
                    print(f"{each.id} decides {claim.id}: {claim.published:g} {claim.unit}")
    for line in plan.missing_lines({each.id: each.missing for each in estimates}):
        print(line)
    print(plan.summary(estimates))
    paper = f" paper={options.paper}" if options.paper else ""
    share = f" share_minutes={minutes:g}" if minutes != plan.SHARE_MINUTES else ""
    print(f"run it with: snakemake --config tier={tier.name}{paper}{share}")


def _run(options: argparse.Namespace) -> None:
    tier = tiers.load_tier(options.tier)
    params = tier.params[registry.experiment(options.id).id].model_dump(mode="json")
    description = {**provenance.describe(tier.root), "experiment": options.id, "params": params}
    print(json.dumps(description, ensure_ascii=False), file=sys.stderr, flush=True)
    with _progress(options.id) as progress:
        if options.share:
            number, shares = options.share
            pipeline.run_share(options.id, tier, number, shares, progress)
        else:
            pipeline.run(options.id, tier, progress)
    print(tier.results / options.id)


@contextmanager
def _progress(id: str) -> Iterator[pipeline.Progress]:
    """A progress bar with an estimate on a terminal; otherwise, as in a log, a line every 10 %."""
    if sys.stderr.isatty():
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task(id)
            yield lambda done, total, what: bar.update(
                task, completed=done, total=total, description=f"{id}: {what}"
            )
        return
    start, first, printed = time.monotonic(), 0, -1

    def line(done: int, total: int, what: str) -> None:
        nonlocal start, first, printed
        tenth = 10 * done // total
        if tenth < printed or printed < 0 or done == 0:  # a new start, or resuming an interrupted run
            start, first, printed = time.monotonic(), done, tenth
        elif tenth > printed:
            printed = tenth
            remaining = (time.monotonic() - start) * (total - done) / (done - first)
            print(f"{id}: {what}: {10 * tenth} %, {remaining:.0f} s left", file=sys.stderr, flush=True)

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
        for row in claims[claims["verdict"] == "contradicted"].to_dict("records"):
            if not known_false(row):
                failed = True
                print(f"contradicted: {row['claim']}: {row['observed']:.4g} {row['unit']}", file=sys.stderr)
    if "drift" in options.fail_on:
        for line in drift.compare(tier, keys):
            failed = True
            print(f"drift: {line}", file=sys.stderr)
    return FOUND if failed else 0


def _report(options: argparse.Namespace) -> None:
    from reprise.report import html  # only here is jinja2 needed

    tier = tiers.load_tier(options.tier)
    claims = pipeline.join(tier)
    file = html.write(tier, claims)
    _print_summary(claims)
    print(f"report: {file}")


def _publish(options: argparse.Namespace) -> None:
    from reprise.report import results

    tier = tiers.load_tier(options.tier)
    folder = options.to.resolve() if options.to else tier.root / "docs" / "results"
    files = results.publish(tier, pipeline.join(tier), folder, tier.root / "README.md")
    print(f"{folder}: {len(files)} files, {sum(file.stat().st_size for file in files) / 1e6:.1f} MB")


def _bundle(options: argparse.Namespace) -> None:
    tier = tiers.load_tier(options.tier)
    keys = [registry.paper(options.paper).key] if options.paper else list(registry.papers())
    file, ids = recorded.bundle(keys, tier, options.to)
    print(f"{file}: {len(ids)} experiments, {file.stat().st_size / 1e6:.1f} MB: {', '.join(ids)}")


def _merge(options: argparse.Namespace) -> None:
    tier, was_here = recorded.merge(options.file, tiers.checkout())
    _print_summary(recorded.verdicts(tier))
    print(f"{tier.name}: {'merged before' if was_here else 'merged'}; read it with --tier {tier.name}")


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
    if unused := [row.size for row in rows if not row.asked_by]:
        megabytes = f"{sum(unused):.1f} MB"
        print(f"nothing asks for {len(unused)} of them, {megabytes}; remove with: reprise cache --clear")


def _bench(options: argparse.Namespace) -> None:
    from reprise.bench import image_training

    measurements = {bench.TITLE: bench.measure() for bench in (*registry.benches(), image_training)}
    if options.json:
        print(json.dumps({name: table.to_dict("records") for name, table in measurements.items()}, indent=1))
    else:
        for name, table in measurements.items():
            print(f"{name}\n{table.to_string(index=False, float_format='{:.3g}'.format)}\n")


def _print_summary(claims: pd.DataFrame) -> None:
    counts = summary(claims)
    table = Table(title="Verdicts (grounds are not added together)")
    for name in counts.columns:
        table.add_column(name, justify="left" if name in ("paper", "ground") else "right")
    for row in counts.itertuples(index=False):
        table.add_row(*(str(cell) for cell in row))
    Console(width=110).print(table)
    for paper in false_discoveries(claims):
        print(
            f"{paper['paper']}: {paper['decided']} of {paper['tests']} tests decided; of those, "
            f"{100 * paper['rate']:.1f} % expected to be wrong, at most"
        )


if __name__ == "__main__":
    sys.exit(main())
