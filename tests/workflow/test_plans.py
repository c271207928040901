"""What Snakemake plans and what it refuses, without running a job."""

import importlib.util
import re
from pathlib import Path

import pytest
import yaml

from reprise import registry, store
from reprise.config import load_tier

ROOT = Path(__file__).parents[2]
RULE_FILES = ROOT / "workflow" / "rules"
RULES = {
    match["name"]: match["body"]
    for file in sorted(RULE_FILES.glob("*.smk"))
    for match in re.finditer(r"^rule (?P<name>\w+):\n(?P<body>(?:[ \t].*\n|\n)+)", file.read_text(), re.M)
}
EXPERIMENTS = [pytest.param(e, id=id) for id, e in registry.experiments().items()]


def rule_of(id):
    """The name of the rule that makes an experiment or an artifact."""
    return id.replace("/", "_")


def test_the_copys_own_package_runs_in_it(blank):
    code, printed = blank.call("python", "-c", "import reprise; print(reprise.__file__)")
    assert (code, printed.strip()) == (0, str(blank.root / "src" / "reprise" / "__init__.py"))
    (blank.root / "src" / "reprise" / "cli.py").write_text("def main():\n    print('the copy')\n")
    assert blank.call("reprise") == (0, "the copy\n")


@pytest.mark.parametrize("tier", ["smoke", "default", "paper"])
def test_every_tier_plans_every_rule(blank, tier):
    blank.put_data_sets()
    assert blank.plan("--config", f"tier={tier}") == set(RULES)


def test_every_experiment_and_artifact_is_made_and_nothing_else(blank):
    code, printed = blank.snakemake("--summary")
    assert code == 0, printed
    planned = {
        line.split("\t")[0] for line in printed.splitlines() if line.startswith(("results/", "figures/"))
    }
    expected = {
        f"results/smoke/{name}" for name in ("report.html", "summary.md", "claims.parquet", "claims.csv")
    }
    tier = load_tier("smoke", blank.root)
    for key, paper in registry.papers().items():
        if paper.experiments:
            expected.add(f"results/smoke/{key}/claims.parquet")
        for id, experiment in paper.experiments.items():
            done = store.marker(experiment.key(tier.params[id]))
            names = [*(f"{table}.parquet" for table in experiment.tables), "run.json", done]
            expected |= {f"results/smoke/{id}/{name}" for name in names}
        for id, artifact in paper.artifacts.items():
            endings = ("pdf", "png") if artifact.kind == "figure" else ("csv", "md")
            expected |= {f"figures/smoke/{id}.{ending}" for ending in endings}
    assert planned == expected


@pytest.mark.parametrize("name", RULES)
def test_every_rule_says_what_a_scheduler_and_a_reader_need(name):
    body = RULES[name]
    for keyword in ("output", "params", "log", "benchmark", "threads", "resources", "shell"):
        assert re.search(rf"^    {keyword}:", body, re.M), keyword
    for resource in ("mem_mb", "runtime"):
        assert re.search(rf"^        {resource}=\d+,", body, re.M), resource
    assert re.search(
        r'reprise \w+ .*--tier \{TIER\.name\}( --workers \{\{threads\}\})? 2>&1 \| tee \{\{log\}\}"', body
    )
    assert not re.search(r"^    run:|protected\(", body, re.M)


def test_no_rule_is_a_checkpoint():
    assert not any("\ncheckpoint " in file.read_text() for file in RULE_FILES.glob("*.smk"))


@pytest.mark.parametrize("key", [key for key, paper in registry.papers().items() if paper.experiments])
def test_a_papers_verdicts_and_the_report_leave_nothing_of_it_out(key):
    paper = registry.paper(key)
    used = set(re.findall(r"rules\.(\w+)\.output", RULES[f"{key}_claims"]))
    assert used >= {rule_of(id) for id, experiment in paper.experiments.items() if experiment.claims}
    parts = (
        (ROOT / "workflow" / "rules" / "report.smk").read_text().partition(f'"{key}": [')[2].partition("]")[0]
    )
    shown = set(re.findall(r"rules\.(\w+)\.(?:output|input)", parts))
    assert shown == {f"{key}_claims", *map(rule_of, paper.artifacts)}


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_a_drawing_takes_the_tables_of_its_experiment(experiment):
    for artifact in experiment.artifacts:
        assert f"rules.{rule_of(experiment.id)}.output," in RULES[rule_of(artifact.id)]


@pytest.mark.parametrize("key", ["esser2024", "jing2022", "ren2023", "skean2024", "tian2023"])
def test_a_run_limited_to_a_paper_touches_no_other(blank, key):
    own = {name for name in RULES if name.startswith(f"{key}_")}
    assert blank.plan("--config", "tier=smoke", f"paper={key}") == own | {"report"}


def test_a_tiers_file_serves_as_snakemakes_config_file(blank):
    assert blank.plan("--configfile", "configs/smoke.yaml") == set(RULES)


def config(text):
    """A function that writes configs/mine.yaml."""
    return lambda root: (root / "configs" / "mine.yaml").write_text(text)


def overriding(text):
    return config(f"tier: mine\nexperiments: {{jing2022/layer_alignment: {{{text}}}}}\n")


def other_values_in_a_file_elsewhere(root):
    (root / "mine.yaml").write_text("tier: smoke\nexperiments: {jing2022/layer_alignment: {seeds: 4}}\n")


def a_file_for_a_folder(root):
    (root / "figures").write_text("mine")


MINE = ("--config", "tier=mine")
WHERE = "configs/mine.yaml: experiments: jing2022/layer_alignment: "


@pytest.mark.parametrize(
    ("prepare", "arguments", "parts"),
    [
        (None, ("--config", "tier=nightly"), ["unknown tier 'nightly'", "default, paper, smoke"]),
        (None, ("--config", "paper=nobody2020"), ["unknown paper 'nobody2020'", *registry.papers()]),
        (None, ("--config", "paper=[jing2022]"), ["unknown paper '['jing2022']'", *registry.papers()]),
        (None, ("--config", "seeds=3"), ["unknown --config key ['seeds']", "allowed: tier", "paper"]),
        (overriding("seeds: ten"), MINE, [f"{WHERE}key 'seeds' has the value 'ten'", "valid integer"]),
        (overriding("seed: 1"), MINE, [f"{WHERE}unknown key 'seed' (value 1)", "allowed: objective, dim"]),
        (overriding('objective: "my/loss.py:mine"'), MINE, ["'my/loss.py:mine': no file ", "/my/loss.py"]),
        (config("tier: mine\nexperiments: [\n"), MINE, ["mine.yaml: line 3, column 1: not readable as YAML"]),
        (other_values_in_a_file_elsewhere, ("--configfile", "mine.yaml"), ["configs/smoke.yaml"]),
        (a_file_for_a_folder, (), ["/figures: not a folder that can be written to"]),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else "",
)
def test_bad_input_is_one_message_before_the_first_job(blank, prepare, arguments, parts):
    if prepare:
        prepare(blank.root)
    code, printed = blank.call("snakemake", "--cores", "1", *arguments)
    assert code != 0
    assert [part for part in parts if part not in printed] == []
    assert "Traceback" not in printed
    assert len(printed.splitlines()) <= 5
    assert not (blank.root / "results").exists()


def profile(name):
    return yaml.safe_load((ROOT / "workflow" / "profiles" / name / "config.yaml").read_text())


def test_this_machines_profile_is_where_snakemake_finds_it():
    assert (ROOT / "profiles" / "default" / "config.yaml").is_file()
    assert profile("default")["cores"] == "all"
    assert profile("default")["rerun-incomplete"] is True


def test_the_cluster_profile_names_what_slurm_needs():
    settings = profile("slurm")
    assert settings["executor"] == "slurm"
    assert settings["jobs"] > 1
    assert settings["latency-wait"] >= 30  # of a shared file system
    assert settings["rerun-incomplete"] is True
    assert set(settings["default-resources"]) >= {"mem_mb", "runtime"}
    assert "cores" not in settings  # would be the number of jobs that run at a time


def test_the_cluster_profile_plans_every_rule(blank):
    if importlib.util.find_spec("snakemake_executor_plugin_slurm") is None:
        pytest.skip('needs pip install -e ".[cluster]"')
    blank.put_data_sets()
    assert blank.plan("--workflow-profile", "slurm", "--config", "tier=paper") == set(RULES)


def test_a_data_set_that_is_missing_is_said_before_the_first_job(blank):
    code, printed = blank.snakemake("--cores", "2", config=("tier=paper",))
    assert code != 0
    assert f"data set 'mnist': {blank.root}/data/MNIST/raw lacks train-images-idx3-ubyte" in printed
    assert "Traceback" not in printed
    assert not (blank.root / "results").exists()
    blank.put_imagenet()  # all that a run limited to jing2022 needs
    assert blank.call("snakemake", "-n", "--config", "tier=paper", "paper=jing2022")[0] == 0
    code, printed = blank.call("snakemake", "-n", "--config", "tier=paper", "paper=ren2023")
    assert code != 0
    for name in ("coco/val2014/", "coco/annotations/captions_train2014.json", "roberta-base/config.json"):
        assert f"{blank.root}/data/{name}: " in printed
