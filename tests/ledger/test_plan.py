"""The resources of a tier: shares, limits and estimates."""

import json
import re
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from stating import stated

from reprise.cli import main
from reprise.contract.experiment import Resources, share_of, together
from reprise.engine import registry, run, seconds, tiers
from reprise.engine.configured import PUBLISHED
from reprise.engine.foreign import Taken
from reprise.errors import RepriseError
from reprise.evidence.comparison import near
from reprise.ledger import costs, plan, speed
from reprise.ledger import recorded as recorded_runs
from reprise.storage import records, store
from reprise.training.costs import GPU

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tier(checkout):
    """The smoke tier in a checkout without results."""
    return tiers.load_tier("smoke")


NEEDS = {f"task {minutes}": Resources(minutes, 1000 + minutes, gpus=minutes == 9) for minutes in (1, 2, 3, 9)}


@pytest.mark.parametrize(("minutes", "count"), [(1, 4), (5, 3), (7.5, 2), (14, 2), (15, 1), (1e6, 1)])
def test_shares_take_about_as_long_as_asked_for(minutes, count):
    assert plan.shares(NEEDS, minutes) == count


def test_a_share_needs_the_time_of_all_its_tasks_and_the_memory_and_gpus_of_the_largest():
    both = [plan.share_needs(NEEDS, number, 2) for number in (1, 2)]
    assert both == [Resources(9, 1009, gpus=1), Resources(6, 1003)]


def test_each_attempt_has_more_time_and_memory():
    first, second = (plan.limits(Resources(20, 3000), attempt) for attempt in (1, 2))
    assert first == {"runtime": 70, "mem_mb": 3000 + plan.SNAKEMAKE_MB}
    assert second == {"runtime": 140, "mem_mb": 6000 + plan.SNAKEMAKE_MB}


def test_an_estimate_adds_up_to_what_the_tasks_need():
    tier = tiers.load_tier("paper")
    estimate = plan.estimate(tier.experiment("jing2022/projector_spectra"), 60)
    needs = registry.experiment(estimate.id).needs(tier.params[estimate.id])
    assert estimate.gpu_hours == pytest.approx(sum(each.minutes * each.gpus for each in needs.values()) / 60)
    assert estimate.cpu_hours == 0
    assert estimate.jobs == len(needs)  # each takes over an hour
    assert estimate.longest.minutes <= together(needs.values()).minutes
    assert "imagenet" in estimate.missing
    assert {claim.published for claim in estimate.claims} >= {66.5, 61.1, 51.5, 62.7}  # Table 1


@pytest.mark.parametrize(
    ("number", "shown"), [(0.0, "0.0"), (0.26, "0.3"), (99.5, "99.5"), (123.4, "123"), (1e6, "1,000,000")]
)
def test_hours_of_a_small_tier_have_a_decimal(number, shown):
    assert plan.hours(number) == shown


def test_what_has_run_is_not_counted(tier):
    id = "jing2022/layer_alignment"
    before = plan.estimate(tier.experiment(id))
    run.run(tier.experiment(id))
    after = plan.estimate(tier.experiment(id))
    assert (before.state, after.state) == ("to run", "done")
    assert plan.summary([before]).startswith("to run: 1 experiment in 1 job, about ")
    assert plan.summary([after]).startswith("to run: 0 experiments in 0 jobs, ")


def estimated(id, state="to run", gpu_hours=0.0, cpu_hours=1.0, numbers=0):
    """An estimate of an experiment that decides so many printed numbers."""
    claim = stated(near(None, 1.0, unit="%", quantity="accuracy"), f"{id}/number")
    claims = tuple(replace(claim, id=f"{id}/{number}") for number in range(numbers))
    return plan.Estimate(id, state, 1, Resources(60, 1000, gpus=1), cpu_hours, gpu_hours, 0.5, claims, "")


def test_the_cheapest_printed_numbers_come_first_and_what_is_on_request_apart():
    every = [
        estimated("k/none", gpu_hours=1),
        estimated("k/dear", gpu_hours=100, numbers=2),
        estimated("k/asked", "on request", gpu_hours=7, numbers=7),
        estimated("k/cheap", gpu_hours=12, numbers=4),
        estimated("k/done", "done", gpu_hours=1, numbers=9),
        estimated("k/theory", numbers=1),
    ]
    order = [each.id for each in plan.by_price(every)]
    assert order == ["k/theory", "k/cheap", "k/dear", "k/none", "k/asked", "k/done"]
    assert plan.purchases(every) == [(12, 4, "k/cheap"), (112, 6, "k/dear")]
    first, second, assumed = plan.purchase_lines(every)
    assert first == "the first 12.0 GPU-hours buy 4 printed numbers: by k/cheap"
    assert second == "the first 112 GPU-hours buy 6 printed numbers: with k/dear"
    assert GPU in assumed
    to_run, asked = plan.summary(every).split("; ")
    assert to_run.startswith(
        "to run: 4 experiments in 4 jobs, about 4.0 hours of one core, 113 hours of one GPU"
    )
    assert asked.startswith("on request: 1 experiment in 1 job, about 1.0 hours of one core, 7.0 hours of ")
    assert plan.purchase_lines([estimated("k/theory", numbers=1)]) == []


def test_the_command_prints_every_experiment_what_is_missing_and_the_command(capsys):
    assert main(["plan", "jing2022", "--tier", "paper"]) == 0
    printed = capsys.readouterr().out
    for id in registry.paper("jing2022").experiments:
        assert id in printed
    assert "on request" in printed
    disk_gb = plan.estimate(tiers.load_tier("paper").experiment("jing2022/projector_spectra")).disk_gb
    assert disk_gb > 1
    row = next(line for line in printed.splitlines() if "│ jing2022/projector_spectra " in line)
    assert f" {disk_gb:.1f} GB │" in row
    assert "jing2022/projector_spectra decides jing2022/table1/directclr: 62.7 %" in printed
    assert "missing for jing2022/projector_map, jing2022/projector_spectra: data set 'imagenet'" in printed
    here, on_cluster = printed.splitlines()[-2:]
    assert here == "run it with: snakemake --config tier=paper paper=jing2022"
    profile = yaml.safe_load((ROOT / "workflow/profiles/slurm/config.yaml").read_text())["config"]
    minutes = dict(each.split("=") for each in profile)["share_minutes"]
    command = "snakemake --workflow-profile slurm --config tier=paper paper=jing2022"
    assert on_cluster.endswith(f": {command} share_minutes={minutes}")


def test_a_plan_as_json_has_the_numbers_of_the_table(capsys):
    assert main(["plan", "Jing 2022", "--tier", "paper", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    paper = registry.paper("jing2022")
    assert {each["id"] for each in content["experiments"]} == set(paper.experiments)
    assert content["gpu"]["name"] == GPU
    prices = [
        each["gpu_hours"] / len(each["numbers"])
        for each in content["experiments"]
        if each["state"] == "to run" and each["numbers"]
    ]
    assert prices == sorted(prices)
    for each in content["experiments"]:
        claims = registry.experiment(each["id"]).claims
        assert each["numbers"] == {one.id: one.published for one in claims if one.published is not None}
        needs = registry.experiment(each["id"]).needs(tiers.load_tier("paper").params[each["id"]]).values()
        assert each["longest_job_gpus"] == max(need.gpus for need in needs)
    assert content["commands"][-1].startswith("snakemake --workflow-profile slurm --config tier=paper ")


def test_a_run_takes_no_less_than_its_longest_job_and_jobs_on_gpus_follow_each_other():
    plenty = [replace(estimated(f"k/{number}"), longest=Resources(30, 1000)) for number in range(4)]
    assert plan.minutes(plenty, 1, 0) == pytest.approx(240)
    assert plan.minutes(plenty, 2, 0) == pytest.approx(120)
    assert plan.minutes(plenty, 100, 0) == pytest.approx(30)
    assert plan.minutes([*plenty, estimated("k/done", "done")], 2, 0) == pytest.approx(120)
    assert plan.minutes([*plenty, estimated("k/gpu", gpu_hours=3, cpu_hours=0)], 2, 0) == pytest.approx(180)
    assert 120 < plan.minutes(plenty, 2, 60) < 125


def test_the_smoke_tier_takes_the_three_minutes_that_it_was_seen_to_take(tier, capsys):
    every = plan.estimates(tier.experiments().values(), here=False)
    minutes = plan.minutes(every, 2, len(registry.artifacts()))
    assert 1.5 < minutes < 6
    assert plan.duration(minutes, 2) == f"about {minutes:.0f} minutes on 2 cores, figures included"
    assert main(["plan", "tian2023", "--tier", "smoke"]) == 0
    assert re.search(r"; about \d+ minutes? on \d+ cores?, figures included$", capsys.readouterr().out, re.M)


@pytest.mark.parametrize("text", ["0", "-1", "soon", "nan", "inf"])
def test_shares_take_a_positive_time(text):
    with pytest.raises(RepriseError, match="write a positive number of minutes"):
        plan.positive_minutes(text)


def test_a_damaged_record_does_not_stop_an_estimate(tier):
    id = "jing2022/gradient_flow"
    (tier.results / id).mkdir(parents=True)
    (tier.results / id / "run.json").write_text("{")
    assert plan.estimate(tier.experiment(id)).state == "to run"


TRAINED = "jing2022/colour_short_cut"


def recorded(tier, **taken):
    """Writes what experiments took, with their parameters in the tier."""
    experiments = {
        id: {"params": tier.params[id].model_dump(mode="json"), "taken": each} for id, each in taken.items()
    }
    content = seconds.Recorded(experiments=experiments)
    (tier.root / seconds.FILE).parent.mkdir(parents=True, exist_ok=True)
    (tier.root / seconds.FILE).write_bytes(seconds.written(content))


def hours(tier, *ids):
    return [each.cpu_hours for each in plan.estimates(map(tier.experiment, ids))]


def test_a_network_that_two_experiments_ask_for_is_counted_once(tier):
    other = "jing2022/projector_map"
    shared = {"models/a": 3600.0, "models/b": 1800.0}
    both = {id: list(registry.experiment(id).needs(tier.params[id])) for id in (TRAINED, other)}
    recorded(tier, **{
        id: Taken(tasks=dict.fromkeys(names, 36.0), shared=shared, asked={names[1]: list(shared)})
        for id, names in both.items()
    })  # fmt: skip
    own = [len(names) / 100 for names in both.values()]
    request = replace(tier, on_request=())
    assert hours(request, TRAINED, other) == pytest.approx([own[0] + 1.5, own[1]])
    assert hours(request, other, TRAINED) == pytest.approx([own[1] + 1.5, own[0]])
    assert plan.shares(tier.experiment(other).needs(), 60) == 2  # as it runs alone


def test_finished_tasks_and_networks_of_this_code_in_the_cache_are_not_counted(tier):
    """Tasks and networks count again once the code that trained a network, or a library, is another."""
    each = tier.experiment(TRAINED)
    run.run(each)
    taken = each.taken()
    shutil.rmtree(each.folder)
    recorded(tier, **{TRAINED: taken})
    assert hours(tier, TRAINED) == pytest.approx([sum(taken.tasks.values()) / 3600])
    params = each.params.model_copy(update={"steps": 2 * each.params.steps})  # trains other networks
    longer = replace(tier, is_test=False, params={TRAINED: params}).experiment(TRAINED)
    assert plan.estimate(longer).cpu_hours == pytest.approx(together(longer.needs().values()).minutes / 60)
    (entry, *_) = store.entries(tier.root, store.MODELS)
    key = f"models/{entry.folder.name}"
    record = json.loads((entry.folder / store.CACHE_RECORD).read_text())
    for field in ("code", "versions"):
        other = {name: value for name, value in record.items() if name != records.SEAL} | {field: "other"}
        (entry.folder / store.CACHE_RECORD).write_text(records.seal(other))
        without = (sum(taken.tasks.values()) + taken.shared[key]) / 3600
        assert hours(tier, TRAINED) == pytest.approx([without])
    run.run_share(each, 1, 2)
    rest = share_of(each.needs(), 2, 2)
    assert hours(tier, TRAINED)[0] <= sum(map(taken.of_task, rest)) / 3600
    assert plan.shares(each.needs(), 1e-3) == len(each.needs())  # jobs are cut as without a cache


def test_hours_of_a_core_are_those_of_this_machine(tier, monkeypatch):
    taken = Taken(tasks={TRAINED: 3600.0})
    recorded(tier, **{TRAINED: taken})
    assert hours(tier, TRAINED) == pytest.approx([1])
    content = seconds.recorded(tier.root).model_copy(update={"speed_test": 0.5})
    (tier.root / seconds.FILE).write_bytes(seconds.written(content))
    monkeypatch.setattr(speed, "trial_seconds", lambda: 1.0)
    assert hours(tier, TRAINED) == pytest.approx([2])
    assert plan.estimates([tier.experiment(TRAINED)], here=False)[0].cpu_hours == pytest.approx(1)


def test_the_speed_test_takes_about_a_second_and_says_the_same_twice():
    start = time.process_time()
    first, second = speed.trial_seconds(), speed.trial_seconds()
    assert 0.1 < (time.process_time() - start) / 2 < 3
    assert first == pytest.approx(second, rel=0.5)


SMALLEST = 10.0
"""Seconds of an experiment up to which its estimate is not judged: starting a process takes some."""


def test_estimates_of_the_recorded_run_are_true_within_a_half():
    """Estimates of each experiment with its recorded parameters, and their sum, are compared with the run's
    records."""
    run = recorded_runs.load(PUBLISHED, ROOT)
    finished = [each for each in run.experiments().values() if each.has_results()]
    took = {each.id: each.record()["duration_seconds"] for each in finished}
    expected = {each.id: 3600 * each.cpu_hours for each in plan.estimates(finished, here=False)}
    assert len(took) > 30
    for each in finished:
        # An experiment's own duration lacks the networks that were there already.
        whole = max(took[each.id], each.taken().total)
        alone = 60 * together(each.needs().values()).minutes
        if max(whole, alone) > SMALLEST:
            assert 0.5 < alone / whole < 2, each.id
    assert 0.5 < sum(expected.values()) / sum(took.values()) < 2


def test_what_a_run_took_is_published_once_with_the_same_bytes(ran, tmp_path, monkeypatch):
    root = tmp_path / "checkout"
    shutil.copytree(ran, root)
    tier = tiers.load_tier("tiny", root)
    monkeypatch.setattr(speed, "trial_seconds", iter([0.031, 0.5]).__next__)
    first = costs.to_publish(tier)
    (root / seconds.FILE).parent.mkdir(parents=True)
    (root / seconds.FILE).write_bytes(first)
    assert costs.to_publish(tier) == first
    content = seconds.recorded(root)
    assert content.speed_test == 0.031
    (id,) = content.experiments
    assert content.experiments[id].taken == tier.experiment(id).taken()
    assert content.experiments[id].params == tier.params[id].model_dump(mode="json")
    other = content.model_copy(update={"experiments": {"a/b": content.experiments[id]}})
    (root / seconds.FILE).write_bytes(seconds.written(other))
    monkeypatch.setattr(speed, "trial_seconds", lambda: 0.04)
    assert set(json.loads(costs.to_publish(tier))["experiments"]) == {"a/b", id}
    assert costs.to_publish(replace(tier, manifest=object())) == seconds.written(other)
