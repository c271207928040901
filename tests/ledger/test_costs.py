"""The cost of a tier, by benchmark files as jobs write them."""

import os

import pandas as pd
import pytest

from reprise.cli import main
from reprise.engine import provenance, registry, tiers
from reprise.engine.check import Verdicts
from reprise.evidence.verdicts import COLUMNS
from reprise.ledger import costs
from reprise.storage import store

ID = "jing2022/layer_alignment"
CUT = "ren2023/zero_shot"
HEAD = "s\tcpu_time\tmax_rss\n"


@pytest.fixture
def tier(checkout):
    """The smoke tier in a checkout without results."""
    return tiers.load_tier("smoke")


def put(tier, job, wall, cpu, changed=1e9):
    """Writes the benchmark of a job, as if at that time."""
    file = tier.results / "benchmarks" / f"{job}.tsv"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{HEAD}{wall}\t{cpu}\t1\n")
    os.utime(file, (changed, changed))


def of(tier, id):
    return {each.id: each for each in costs.of_experiments(tier)}[id]


def test_without_benchmarks_every_job_is_named_as_unmeasured(tier):
    every = costs.of_experiments(tier)
    assert [each.cost.unmeasured for each in every] == [(id,) for id in registry.experiments()]
    assert {each.decided for each in every} == {None}
    stages = costs.of_stages(tier)
    assert stages["drawing"].unmeasured == tuple(registry.artifacts())
    assert stages["checking"].unmeasured == tuple(f"{key}/claims" for key in registry.judged())
    assert stages["report"].unmeasured == ("report",)


def test_before_anything_was_timed_one_line_leads_to_the_recorded_seconds(tier, capsys):
    assert main(["list", "--cost", "--tier", "smoke"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("no job of tier smoke was timed here; reprise plan --tier smoke estimates ")
    assert line.endswith(" docs/results/seconds.json")


def test_an_experiment_costs_what_its_own_job_and_the_shares_of_its_last_run_cost(tier):
    put(tier, f"{CUT}.1-of-3", 100, 100, changed=1e9)
    put(tier, f"{CUT}.2-of-3", 100, 100, changed=1e9)
    put(tier, f"{CUT}.1-of-2", 8, 6.5, changed=2e9)
    put(tier, f"{CUT}.2-of-2", 4, 3.25, changed=2e9)
    put(tier, CUT, 2, 1)
    assert of(tier, CUT).cost == costs.Cost(3, 10.75, 14)


def test_a_share_without_a_benchmark_is_named(tier):
    put(tier, f"{CUT}.2-of-2", 4, 3)
    assert of(tier, CUT).cost == costs.Cost(1, 3, 4, (CUT, f"{CUT}.1-of-2"))


def test_drawing_checking_and_the_report_are_counted_apart(tier):
    put(tier, "jing2022/fig04", 3, 2)
    put(tier, "jing2022/fig05", 3, 2)
    put(tier, "jing2022/claims", 5, 4)
    put(tier, "report", 7, 6)
    stages = costs.of_stages(tier)
    assert {name: cost.cpu_seconds for name, cost in stages.items()} == {
        "drawing": 4, "checking": 4, "report": 6,
    }  # fmt: skip


def test_a_decided_verdict_costs_its_part_of_the_experiment(tier, capsys):
    put(tier, ID, 40, 30)
    own = [claim.id for claim in registry.experiment(ID).claims]
    verdicts = dict.fromkeys(own, "inconclusive")
    verdicts |= dict(zip(own, ("reproduced", "contradicted", "depends", "not run"), strict=False))
    table = pd.DataFrame({"claim": list(verdicts), "verdict": list(verdicts.values())})
    evidence = Verdicts(registry.paper("jing2022"), tier).evidence()
    Verdicts(registry.paper("jing2022"), tier).save(table.reindex(columns=list(COLUMNS)), evidence)
    each = of(tier, ID)
    assert (each.claims, each.decided, each.cpu_seconds_per_verdict) == (len(own), 3, 10)
    assert main(["list", "--cost", "--tier", "smoke"]) == 0
    printed = capsys.readouterr().out
    (row,) = [line for line in printed.splitlines() if ID in line]
    assert [word for word in row.split() if word[0].isdigit()] == [
        "1",
        "30.0",
        "40.0",
        str(len(own)),
        "3",
        "10.0",
    ]
    # Jobs are the other experiments, all drawings, the verdicts and the report.
    jobs = len(registry.experiments()) - 1 + len(registry.artifacts()) + len(registry.judged()) + 1
    assert f"no benchmark of {jobs} jobs: " in printed
    assert f" and {jobs - 4} more, all with --json\n" in printed


def test_a_benchmark_from_before_the_results_is_not_of_their_run(tier):
    assert costs.seconds_of_run(tier.experiment(ID)) == 0
    table = {"t": pd.DataFrame({"x": [1.0]})}
    put(tier, ID, 40, 30, changed=1e9)
    store.save_tables(tier.results / ID, table, "0" * 16, {})
    assert costs.seconds_of_run(tier.experiment(ID)) == 0
    put(tier, ID, 40, 30, changed=4e9)
    assert costs.seconds_of_run(tier.experiment(ID)) == 40


@pytest.mark.parametrize("content", ["", HEAD, "s\tcpu_time\n1\n", f"{HEAD}a\tb\n", "no\ttable\n1\t2\n"])
def test_a_damaged_benchmark_is_one_message(tier, capsys, content):
    put(tier, ID, 1, 1)
    file = tier.results / "benchmarks" / f"{ID}.tsv"
    file.write_text(content)
    assert main(["list", "--cost", "--tier", "smoke"]) == 2
    (message,) = capsys.readouterr().err.splitlines()
    assert f"{file}: not a benchmark" in message


def test_a_further_round_costs_what_the_last_one_cost(tier):
    """The longer of the jobs' time and that of the record, which a run from the cache and a start lack."""
    each = tier.experiment(ID)
    made_in(each, 30)
    assert costs.of_further_round(each) == costs.RoundCost(0.5, 0.5)
    put(tier, ID, 45, 40)
    assert costs.of_further_round(each).core_minutes == 0.75
    made_in(each.in_round(2), 90)
    put(tier, f"{ID}/round-2", 60, 50)
    assert costs.of_further_round(each).core_minutes == 1.5
    assert of(tier, ID).cost.wall_seconds == 105


def made_in(run, seconds):
    """Writes results that are not those of the run, as if made in that time."""
    own = {"experiment": run.id, "params": {}, "duration_seconds": seconds}
    table = pd.DataFrame({"seed": [0]})
    store.save_tables(run.folder, {"table": table}, "", {**provenance.describe(run.tier.root), **own})
