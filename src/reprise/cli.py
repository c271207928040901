"""The command line of Reprise. Each command says with --help what it does."""

import argparse
import errno
import json
import math
import os
import re
import sys
import time
import webbrowser
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib import metadata
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

import pandas as pd
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from reprise import notices
from reprise.annex import new
from reprise.annex.diagnose import command as diagnose
from reprise.annex.trial import command as trial
from reprise.engine import cache, check, ids, provenance, registry, run, seconds, tiers
from reprise.engine.configured import Tier
from reprise.engine.draw import Drawing
from reprise.errors import INTERRUPTED, INTERRUPTION, RepriseError, naming_extras, unknown
from reprise.evidence.verdicts import ONE_WAY, false_discoveries, known_false, summary
from reprise.ledger import bundling, confirm, costs, decide, diff, drift, frozen, plan, recorded, rules
from reprise.numerics import processes
from reprise.report import listing, sealed, wording

ANY_ID = "in any spelling: fig4, 'Figure 4', KEY/fig04, KEY/fig4/NAME, KEY/NAME, KEY"
SEVERAL = "papers, as in `jing2022 tian2023` or `jing2022,tian2023` (default: all)"
FOUND = 3
"""Exit code of `check --fail-on` if the named problem occurred, and of `diff` if something moved."""
NAMED = 4
"""Most unmeasured jobs that are named."""
NOBODY_READS = 141
"""Exit code after a broken pipe, as in shells."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command. Exit codes: 0 success, 2 an error that the user can fix, 3 a problem named by
    `--fail-on` or a difference, 130 interrupted, 141 broken pipe."""
    try:
        try:
            return _run_command(arguments)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()  # here, where a broken pipe is no crash; at exit it would be one
    except BrokenPipeError:  # e.g. reprise list | head
        _stop_writing(sys.stdout, sys.stderr)
        return NOBODY_READS
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        print(
            "reprise: error: no space left for the output; free space, or send it elsewhere", file=sys.stderr
        )
        _stop_writing(sys.stdout)
        return 2


def compute_in_one_thread() -> None:
    """Limits NumPy and torch to one thread, here and in all that this process starts.

    A second thread slows stacks of small matrices. Where other processes keep the cores busy, two threads
    also wait for each other, and a decomposition of a second takes minutes. To be called before torch is
    imported, which reads the variables, MKL's first; the limit is for NumPy. Snakemake would set the
    variables to a rule's threads.
    """
    os.environ |= {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    threadpool_limits(1, user_api="blas")


def _stop_writing(*streams: TextIO) -> None:
    """Drops what the streams still hold, so that the flush at exit succeeds."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        with suppress(OSError):
            stream.flush()
        os.dup2(nowhere, stream.fileno())


def _run_command(arguments: Sequence[str] | None) -> int:
    options = _parser().parse_args(arguments)
    compute_in_one_thread()
    try:
        with naming_extras():
            return options.command(options) or 0
    except RepriseError as error:
        print(f"reprise: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(INTERRUPTION, file=sys.stderr)
        return INTERRUPTED
    except PermissionError as error:
        print(
            f"reprise: error: {error.filename}: {error.strerror}; give yourself access to it", file=sys.stderr
        )
        return 2


class _Parser(argparse.ArgumentParser):
    """Says which command or choice may have been meant."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        is_command = isinstance(action, argparse._SubParsersAction)
        known = [str(choice) for choice in action.choices]
        problem = unknown(
            "command" if is_command else "choice", value, known, f"there are: {', '.join(known)}"
        )
        raise argparse.ArgumentError(None if is_command else action, str(problem))


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="reprise", description=__doc__)
    version = f"reprise {metadata.version('reprise-ssl')}"
    parser.add_argument("--version", action="version", version=version, help="print the version")
    commands = parser.add_subparsers(required=True)

    def add(name: str, command: Any, help: str, *, has_tier: bool = True) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=help, description=help)
        sub.set_defaults(command=command)
        if has_tier:
            sub.add_argument(
                "--tier", default="default",
                help="a file of configs/, or a recorded run, recorded/NAME (default: default)",
            )  # fmt: skip
        return sub

    listing_parser = add(
        "list",
        _list,
        "list experiments with their states and verdicts in each tier, or what a paper has",
        has_tier=False,
    )
    listing_parser.add_argument("paper", nargs="?", metavar="KEY")
    listing_parser.add_argument("--claims", action="store_true", help="list the claims, a line each")
    listing_parser.add_argument("--tier", help="only this one (default: all; with KEY or --claims: default)")
    listing_parser.add_argument(
        "--cost", action="store_true",
        help="list the CPU seconds that a tier's experiments and verdicts have cost (default: tier default)",
    )  # fmt: skip
    _add_json(listing_parser, listing.rows.__doc__, f"With --claims: {listing.tasks.__doc__}",
              f"With --cost: {costs.rows.__doc__}")  # fmt: skip
    show_parser = add(
        "show",
        _show,
        "show a claim, figure, table, experiment or paper: what was found, and where everything lies",
    )
    show_parser.add_argument("id", metavar="ID", help=ANY_ID)
    _add_json(show_parser, "of a claim, what report.json has of it (docs/report.md); else id, kind, claims "
              "with verdicts, figures, command and more")  # fmt: skip
    plan_parser = add("plan", _plan, "estimate what a tier takes, what it decides, and what is missing here")
    plan_parser.add_argument("papers", nargs="*", metavar="KEY", help=SEVERAL)
    plan_parser.add_argument(
        "--share-minutes", metavar="MINUTES", default=f"{plan.SHARE_MINUTES:g}",
        help="expected duration of a job, as in the profile (default: %(default)s)",
    )  # fmt: skip
    _add_json(plan_parser, plan.as_json.__doc__)
    decide_parser = add(
        "decide", _decide, "run further rounds of seeds where they decide most claims, headlines first"
    )
    decide_parser.add_argument("id", nargs="?", metavar="KEY|KEY/NAME", help="default: all that have run")
    decide_parser.add_argument(
        "--minutes", default=f"{decide.MINUTES:g}", help="how long they may take (default: %(default)s)"
    )
    add("why", _why, "say why a claim is decided or not, and what would decide it").add_argument(
        "id", metavar="CLAIM"
    )
    run = add("run", _run, "compute an experiment's result tables")
    run.add_argument(
        "id", metavar="KEY/NAME", help="or a figure or claim, for the experiment that it is from"
    )
    seeds = run.add_mutually_exclusive_group()
    seeds.add_argument(
        "--round", type=int, default=1, metavar="N",
        help="on the seeds of a further round, in a folder of its own beside the first",
    )  # fmt: skip
    seeds.add_argument(
        "--attempt", type=int, metavar="N", help="on the seeds of an attempt that `reprise confirm` recorded"
    )
    run.add_argument(
        "--share", type=_share, metavar="I/N",
        help="run only this share of the experiment's tasks, and write no result tables",
    )  # fmt: skip
    add(
        "draw", _draw, "draw a figure or table from result tables, or all of an experiment or a paper"
    ).add_argument("id", metavar="ID", help=ANY_ID)
    check = add("check", _check, "judge the claims of some papers, or of all")
    check.add_argument("papers", nargs="*", metavar="KEY", help=SEVERAL)
    check.add_argument("--json", action="store_true", help="print the verdicts as JSON")
    check.add_argument(
        "--write", action="store_true", help="save the verdicts in results/TIER/KEY, for the report"
    )
    check.add_argument(
        "--fail-on", action="append", choices=("contradicted", "drift"), default=[],
        help=f"exit with {FOUND} on contradicted claims, or on numbers that differ from tests/golden",
    )  # fmt: skip
    add("report", _report, "write results/TIER/report.html, summary.md and the table of all claims")
    add("open", _open, "open the report in a browser, at a claim, figure, experiment or paper").add_argument(
        "id", nargs="?", metavar="ID", help=ANY_ID
    )
    add(
        "publish",
        _publish,
        "write the results as pages for people who run nothing, into docs/results and README.md",
    )
    diff_parser = add(
        "diff",
        _diff,
        f"say what moved between two runs, or between the rules of a commit and those here on the recorded "
        f"run, and why it may have; exit with {FOUND} if something did",
        has_tier=False,
    )
    diff_parser.add_argument("a", metavar="A", help="a folder results/TIER, or a bundle; alone, a commit")
    diff_parser.add_argument("b", metavar="B", nargs="?", help="a folder results/TIER, or a bundle")
    _add_json(diff_parser, diff.as_json.__doc__)
    freeze = add(
        "freeze", _freeze, "freeze claims as they are judged now, in claims.lock, before fresh seeds"
    )
    freeze.add_argument("ids", nargs="*", metavar="KEY/NAME", help="experiments (default: all that have run)")
    add(
        "confirm",
        _confirm,
        "judge frozen claims on fresh seeds: an attempt, which ledger.jsonl records first and which counts "
        "whatever comes of it",
        has_tier=False,
    ).add_argument(
        "--phrase", type=_phrase, default="", metavar="WORDS",
        help="words of your own, from which the seeds are drawn (default: none)",
    )  # fmt: skip
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
    removal = cache_parser.add_mutually_exclusive_group()
    removal.add_argument(
        "--clear", action="store_true", help="remove entries that no experiment of any tier uses"
    )
    removal.add_argument(
        "--limit", type=_megabytes, metavar="MB",
        help="remove entries until the rest takes at most so much: first those that no experiment uses, "
        "then the least recently used",
    )  # fmt: skip
    bench_parser = add(
        "bench",
        _bench,
        "time the replica engine and image training against plain loops",
        has_tier=False,
    )
    bench_parser.add_argument("--json", action="store_true", help="print the measurements as JSON")
    diagnose.add_arguments(add("diagnose", diagnose.run, diagnose.HELP, has_tier=False))
    trial.add_arguments(add("try", trial.run, trial.HELP, has_tier=False))
    new.add_arguments(add("new", new.run, new.HELP, has_tier=False))
    commands.metavar = "|".join(commands.choices)
    return parser


def _add_json(parser: argparse.ArgumentParser, *said: str | None) -> None:
    """Adds the option --json.

    Args:
        said: what it prints, the beginnings of docstrings, which end before `Args` and `Raises`.
    """
    words = [" ".join(re.split(r"\n\n\s*(?:Args|Raises):", text or "")[0].split()) for text in said]
    parser.add_argument(
        "--json", action="store_true", help=" ".join(["print JSON:", *words]).replace("%", "%%")
    )


def _share(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)(?:/|-of-)(\d+)", text)  # 3/16, or Snakemake's 3-of-16
    number, shares = map(int, match.groups()) if match else (0, 0)
    if not 1 <= number <= shares:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share such as 3/16")
    return number, shares


def _phrase(text: str) -> str:
    if not re.fullmatch(r"[^\x00-\x1f\x7f\ud800-\udfff]{1,100}", text):
        raise argparse.ArgumentTypeError("a phrase is a line of 1 to 100 characters")
    return text


def _megabytes(text: str) -> float:
    if not re.fullmatch(r"\d+(\.\d+)?", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of MB such as 500")
    return float(text)


def _list(options: argparse.Namespace) -> None:
    if options.cost:
        if options.paper or options.claims:
            raise RepriseError("reprise list --cost is of all papers; leave out KEY and --claims")
        tier = recorded.load(options.tier or "default")
        if options.json:
            _print_json(costs.rows(tier))
        else:
            _print_costs(tier)
        return
    keys = [paper.key for paper in registry.chosen(ids.papers(options.paper or ""))]
    if options.claims or options.paper:
        tier = _source(recorded.load(options.tier or "default"), keys)
        recorded.keep_judged(keys, tier)
        if options.json:
            _print_json(listing.tasks(keys, tier) if options.claims else listing.rows(keys, [tier]))
            return
        of_each = chain.from_iterable(listing.of_paper(key, tier) for key in keys)
        lines = listing.of_claims(keys, tier) if options.claims else of_each
    else:
        shown = [tiers.load_tier(name) for name in ([options.tier] if options.tier else tiers.names())]
        beside = {tier.name: run for tier in shown if (run := recorded.beside_missing(tier))}
        if options.json:
            _print_json(listing.rows(keys, shown, beside))
            return
        lines = listing.overview(shown, beside)
    for line in lines:
        print(line)
    if not options.paper and (names := recorded.recorded_names()):
        print(f"recorded runs, each read with --tier: {', '.join(names)}")


def _show(options: argparse.Namespace) -> None:
    from reprise.report import card  # only here and for the report are the models of its page built

    tier = recorded.load(options.tier)
    tier = recorded.source(tier, ids.experiments(ids.find(options.id)), judges=True)
    if options.json:
        _print_json(card.as_json(options.id, tier))
    else:
        print(card.card(options.id, tier, min(Console().width, 110)))


def _diff(options: argparse.Namespace) -> int:
    if options.b is None:
        moved = rules.moved(options.a, tiers.checkout())
        if options.json:
            _print_json([each._asdict() for each in moved])
        else:
            print(*rules.lines(options.a, moved), sep="\n")
        return FOUND if moved else 0
    comparison = diff.compare(Path(options.a), Path(options.b), tiers.checkout())
    if options.json:
        _print_json(diff.as_json(comparison))
    else:
        print(*diff.lines(comparison), sep="\n")
    return FOUND if comparison.has_moved else 0


def _print_costs(tier: Tier) -> None:
    experiments, stages = costs.of_experiments(tier), costs.of_stages(tier)
    total = sum((each.cost for each in experiments), costs.Cost()) + sum(stages.values(), costs.Cost())
    if not total.jobs:
        print(
            f"no job of tier {tier.name} was timed here; reprise plan --tier {tier.in_commands} estimates "
            f"them by the recorded run's seconds, {seconds.FILE}"
        )
        return
    table = Table(title=f"Tier {tier.name}: what its jobs have cost")
    for name in ("", "jobs", "CPU s", "wall s", "claims", "decided", "CPU s per decided"):
        table.add_column(name, justify="right" if name else "left")

    def add(name: str, cost: costs.Cost, *rest: str) -> None:
        measured = (f"{cost.cpu_seconds:,.1f}", f"{cost.wall_seconds:,.1f}") if cost.jobs else ("-", "-")
        table.add_row(name, str(cost.jobs), *measured, *rest)

    for each in experiments:
        decided = "-" if each.decided is None else str(each.decided)
        per_verdict = each.cpu_seconds_per_verdict
        ratio = "-" if math.isnan(per_verdict) else f"{per_verdict:,.1f}"
        add(each.id, each.cost, str(each.claims), decided, ratio)
    table.add_section()
    for name, cost in stages.items():
        add(name, cost)
    add("all", total)
    _print_table(table, max(110, Console().width))
    if lacking := total.unmeasured:
        more = f" and {len(lacking) - NAMED} more, all with --json" if len(lacking) > NAMED else ""
        print(f"no benchmark of {len(lacking)} jobs: {', '.join(lacking[:NAMED])}{more}")


def _plan(options: argparse.Namespace) -> None:
    tier = recorded.load(options.tier)
    tier.require_computed()
    minutes = plan.positive_minutes(options.share_minutes)
    keys = ids.papers(*options.papers)
    papers = registry.chosen(keys)
    experiments = [tier.experiment(id) for paper in papers for id in paper.experiments]
    estimates = plan.estimates(experiments, minutes)
    on_gpus = any(each.gpu_hours for each in estimates if each.state != "done")
    commands = plan.commands(tier, keys, minutes, on_gpus=on_gpus)
    if options.json:
        _print_json(plan.as_json(estimates, commands))
        return
    table = Table(title=f"Tier {tier.name}; hours without what is in the cache")
    for name in ("experiment", "state", "jobs", "longest job", "memory", "cache", "CPU h", "GPU h", "claims",
                 "numbers", "GPU h / number"):  # fmt: skip
        table.add_column(name, justify="left" if name in ("experiment", "state") else "right")
    for each in plan.by_price(estimates):
        gpus = f", {each.longest.gpus} GPU{'s' * (each.longest.gpus > 1)}" if each.longest.gpus else ""
        price = plan.hours(each.gpu_hours_per_number) if each.gpu_hours and each.numbers else "-"
        table.add_row(
            each.id, each.state, str(each.jobs), f"{each.longest.minutes / 60:,.2f} h{gpus}",
            f"{each.longest.memory_mb / 1000:.1f} GB", f"{each.disk_gb:.1f} GB",
            f"{each.cpu_hours:.2f}", plan.hours(each.gpu_hours),
            str(len(each.claims)), str(each.numbers), price,
        )  # fmt: skip
    _print_table(table, max(150, Console().width))
    if keys:
        for each in estimates:
            for claim in each.claims:
                if claim.published is not None:
                    print(f"{each.id} decides {claim.id}: {claim.published:g} {claim.first.unit}")
    for line in plan.missing_lines({each.id: each.missing for each in estimates}):
        print(line)
    remaining = plan.summary(estimates)
    if not on_gpus and any(each.state == "to run" for each in estimates):
        cores, drawings = processes.cores(), sum(len(paper.artifacts) for paper in papers)
        remaining += f"; {plan.duration(plan.minutes(estimates, cores, drawings), cores)}"
    print(*plan.purchase_lines(estimates), remaining, *commands, sep="\n")


def _decide(options: argparse.Namespace) -> None:
    tier = recorded.load(options.tier)
    tier.require_computed()
    left, cores = plan.positive_minutes(options.minutes, "--minutes"), processes.cores()
    named = [ids.find(options.id, "paper", "experiment").id] if options.id else []
    experiments = decide.chosen_experiments(tier, named)
    while True:  # what rounds have decided is known before further ones are chosen
        rounds = decide.candidates(experiments)
        chosen = decide.choose(rounds, left, cores)
        if not chosen:
            break
        for line in decide.plan_lines(chosen, cores):
            print(line, flush=True)
        start = time.monotonic()
        decide.run(tier, chosen)
        left -= (time.monotonic() - start) / 60
        for line in decide.outcome_lines(chosen, decide.verdicts_of(experiments)):
            print(line, flush=True)
    decide.keep_verdicts(experiments)
    print(decide.why_nothing(rounds, max(left, 0.0), cores))


def _why(options: argparse.Namespace) -> None:
    from reprise.report import why

    claim = ids.find(options.id, "claim")
    tier = recorded.source(recorded.load(options.tier), ids.experiments(claim), judges=True)
    print(why.why(options.id, tier, min(Console().width, 110)))


def _run(options: argparse.Namespace) -> None:
    tier = recorded.load(options.tier)
    configured = tier.experiment(ids.experiment(options.id)).in_round(options.round)
    if options.attempt is not None:
        attempt = frozen.attempt(tier.root, configured.id, options.attempt)
        configured = configured.in_attempt(attempt)
    params = configured.params.model_dump(mode="json")
    if not notices.is_read():  # it is in the record of the results, too
        description = {**provenance.describe(tier.root), "experiment": configured.id, "params": params}
        print(json.dumps(description, ensure_ascii=False), file=sys.stderr, flush=True)
    with notices.progress(configured.name) as progress:
        if options.share:
            number, shares = options.share
            run.run_share(configured, number, shares, progress)
        else:
            run.run(configured, progress)
    print(configured.folder)


def _draw(options: argparse.Namespace) -> None:
    from reprise.report import card

    found = ids.find(options.id)
    tier = recorded.load(options.tier)
    drawn = card.drawn(found)
    if found.kind == "paper":  # of which what has not run here is not missing
        tier = recorded.source(tier, ids.experiments(found))
        drawn = [each for each in drawn if tier.experiment(each.experiment).has_results()] or drawn
    elif not drawn:
        raise RepriseError(f"{found.id}: no figure or table shows it")
    for artifact in drawn:
        drawing = Drawing(artifact, recorded.source(tier, [artifact.experiment]))
        for file in drawing.draw():
            print(file)
        print(card.of_drawing(drawing), flush=True)


def _check(options: argparse.Namespace) -> int:
    tier = recorded.load(options.tier)
    keys = ids.papers(*options.papers) or list(registry.judged())
    if not options.write and "drift" not in options.fail_on:
        tier = _source(tier, keys)
    judged: list[pd.DataFrame] = []
    for key in keys:
        verdicts = check.Verdicts(registry.paper(key), tier)
        if verdicts.is_checked() and verdicts.tables_are_whole():
            judged.append(verdicts.table())
            continue
        evidence = verdicts.evidence()
        judged.append(verdicts.judged())
        if options.write and key in registry.judged():
            verdicts.save(judged[-1], evidence)
    claims = pd.concat(judged, ignore_index=True)
    if options.json:
        _print_json(claims.to_dict("records"))
    else:
        if tier.is_test:
            print(wording.TEST)
        _print_summary(claims)
        for line in listing.findings(claims):
            print(line)
    failed = False
    if "contradicted" in options.fail_on:
        for row in claims[claims["verdict"] == "contradicted"].to_dict("records"):
            if not known_false(row):
                failed = True
                print(f"contradicted: {row['claim']}: {row['observed']:.4g} {row['unit']}", file=sys.stderr)
    if "drift" in options.fail_on:
        found = drift.compare(tier, keys)
        print(found, file=sys.stderr)
        for line in found.moved:
            failed = True
            print(f"drift: {line}", file=sys.stderr)
    return FOUND if failed else 0


def _print_json(content: object) -> None:
    print(json.dumps(_finite(content), indent=1, ensure_ascii=False))


def _finite(value: Any) -> Any:
    """A value as JSON has it, which has no NaN."""
    if isinstance(value, dict):
        return {str(name): _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _report(options: argparse.Namespace) -> None:
    from reprise.report import html  # only here is jinja2 needed

    tier = _source(recorded.load(options.tier), registry.papers())
    recorded.keep_judged(registry.papers(), tier)
    claims = check.join(tier)
    file = html.write(tier, claims)
    for paper in registry.judged().values():
        has_run = any(tier.experiment(id).has_results() for id in paper.experiments)
        if has_run and (reason := check.Verdicts(paper, tier).why_unchecked()):
            print(f"{paper.key}: its verdicts are left out: {reason}", file=sys.stderr)
    print(*listing.ending(tier, claims, file), sep="\n")


def _open(options: argparse.Namespace) -> None:
    from reprise.report import card, html

    place = ""
    if options.id is not None:
        found = ids.find(options.id)
        if found.kind == "experiment":  # which the page shows by its figures and claims, on its paper's page
            shown = [each.id for each in card.drawn(found)]
            place = f"#{(shown or [found.id.split('/')[0]])[0]}"
        else:
            place = f"#{found.id}"
    tier = _source(recorded.load(options.tier), registry.papers())
    file = tier.results / sealed.REPORT[0]
    if not sealed.is_reported(tier):
        print("reprise: writes the report first, which takes a minute or two", file=sys.stderr, flush=True)
        recorded.keep_judged(registry.papers(), tier)
        file = html.write(tier, check.join(tier))
    address = file.as_uri() + place
    print(address, flush=True)
    if not webbrowser.open(address):
        print("reprise: no browser found to open it; copy the file, or set BROWSER", file=sys.stderr)


def _source(tier: Tier, keys: Iterable[str]) -> Tier:
    """The tier from which the verdicts on some papers are read (`recorded.source`)."""
    return recorded.source(tier, [id for key in keys for id in registry.paper(key).experiments], judges=True)


def _publish(options: argparse.Namespace) -> None:
    from reprise.report import results

    tier = _source(recorded.load(options.tier), registry.papers())
    recorded.keep_judged(registry.papers(), tier)
    folder = (tier.root / recorded.BUNDLE).parent
    files = results.publish(tier, check.join(tier), folder, tier.root / "README.md")
    print(f"{folder}: {len(files)} files, {sum(file.stat().st_size for file in files) / 1e6:.1f} MB")


def _freeze(options: argparse.Namespace) -> None:
    tier = recorded.load(options.tier)
    named = [ids.find(id, "experiment").id for id in options.ids]
    keys = {id.split("/")[0] for id in named} or set(registry.judged())
    verdicts = pd.concat([check.Verdicts(registry.paper(key), tier).judged() for key in sorted(keys)])
    lock = confirm.freeze(tier, named, verdicts)
    for id in named or lock.experiments:
        claims = lock.experiments[id].claims.values()
        decided = sum(claim.verdict in ONE_WAY for claim in claims)
        print(f"{id}: {len(claims)} claims frozen, {decided} of them decided")
    print(f"{tier.root / frozen.LOCK}: commit it; then confirm with: reprise confirm")


def _confirm(options: argparse.Namespace) -> None:
    from reprise.report import confirmation

    root = tiers.checkout()
    attempted = confirm.begin(root, options.phrase)
    for each in attempted:
        print(
            f"{each.experiment}: attempt {each.number}, seeds from {each.first_seed}, "
            f"{len(each.claims)} claims, judged at {100 * each.alpha:.4g} %",
            flush=True,
        )
    for id, reason in confirm.left_out(root, attempted).items():
        print(f"left out: {id}: {reason}", flush=True)
    print(f"recorded in {root / frozen.LEDGER}, whatever comes of it", flush=True)
    cores = processes.cores()
    print(f"about {confirm.minutes(root, attempted, cores):.0f} minutes on {cores} cores", flush=True)
    confirm.run(root, attempted)
    folder = confirmation.write(root, attempted)
    outcomes = confirm.outcomes(root, attempted)
    moved = [each for each in outcomes if each.mark != "confirmed"]
    for outcome in moved:
        print(f"{outcome.claim}: {outcome.mark}: {outcome.frozen} as frozen, {outcome.found} now")
    expected, low, high = confirm.changes_expected([each.chance for each in outcomes])
    print(
        f"{len(outcomes) - len(moved)} of {len(outcomes)} verdicts confirmed; {len(moved)} came out "
        f"otherwise, {expected:.1f} expected by their frozen chances (95 % of the time {low} to {high})"
    )
    print(f"{folder}: to be sent with {frozen.LOCK} and {frozen.LEDGER}, as docs/confirm.md says")


def _bundle(options: argparse.Namespace) -> None:
    tier = recorded.load(options.tier)
    keys = [paper.key for paper in registry.chosen(ids.papers(options.paper or ""))]
    file, packed = bundling.bundle(keys, tier, options.to)
    print(f"{file}: {len(packed)} experiments, {file.stat().st_size / 1e6:.1f} MB: {', '.join(packed)}")


def _merge(options: argparse.Namespace) -> None:
    tier, was_here = bundling.merge(options.file, tiers.checkout())
    _print_summary(recorded.verdicts(tier))
    print(f"{tier.name}: {'merged before' if was_here else 'merged'}; read it with --tier {tier.name}")


def _cache(options: argparse.Namespace) -> None:
    if options.clear or options.limit is not None:
        removed, busy = cache.clear() if options.clear else cache.keep_below(options.limit)
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
    from reprise.bench import image_training, loops

    benches = (*registry.benches(), image_training)
    table = loops.table(loop for bench in benches for loop in bench.measure())
    if options.json:
        print(json.dumps(table.to_dict("records"), indent=1))
    else:
        print(table.to_string(index=False, float_format="{:.3g}".format))
        print("kernels:", provenance.kernels())


def _print_table(table: Table, width: int) -> None:
    """Prints a table. Rich would end the process at a broken pipe, with a code of its own."""
    console = Console(width=width)
    with console.capture() as capture:
        console.print(table)
    print(capture.get(), end="")


def _print_summary(claims: pd.DataFrame) -> None:
    counts = summary(claims)
    table = Table(title="Verdicts (bases are not added together)")
    for name in counts.columns:
        shown = "basis" if name == "ground" else name
        table.add_column(shown, justify="left" if name in ("paper", "ground") else "right")
    for row in counts.itertuples(index=False):
        table.add_row(*(str(cell) for cell in row))
    _print_table(table, 110)
    for paper in false_discoveries(claims):
        print(
            f"{paper['paper']}: {paper['decided']} of {paper['tests']} tests decided; of those, "
            f"{100 * paper['rate']:.1f} % expected to be wrong, at most"
        )


if __name__ == "__main__":
    sys.exit(main())
