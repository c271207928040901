"""What a tier takes: shares, limits and estimates."""

import pytest

from reprise.cli import main
from reprise.contract.experiment import Resources, together
from reprise.engine import registry, run, tiers
from reprise.errors import RepriseError
from reprise.ledger import plan


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
    assert first == {"runtime": 70, "mem_mb": 3000}
    assert second == {"runtime": 140, "mem_mb": 6000}


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
    assert plan.summary([before]).startswith("1 experiment to run, in 1 job: about ")
    assert plan.summary([after]).startswith("0 experiments to run, in 0 jobs")


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
    assert printed.splitlines()[-1] == "run it with: snakemake --config tier=paper paper=jing2022"


@pytest.mark.parametrize("text", ["0", "-1", "soon", "nan", "inf"])
def test_shares_take_a_positive_time(text):
    with pytest.raises(RepriseError, match="write a positive number of minutes"):
        plan.positive_minutes(text)


def test_a_damaged_record_does_not_stop_an_estimate(tier):
    id = "jing2022/gradient_flow"
    (tier.results / id).mkdir(parents=True)
    (tier.results / id / "run.json").write_text("{")
    assert plan.estimate(tier.experiment(id)).state == "to run"
