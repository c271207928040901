"""Snakemake's plans and refusals, without running a job."""

import importlib.util
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from reprise.contract.experiment import together
from reprise.engine import registry, run
from reprise.engine.tiers import load_tier
from reprise.ledger import decide, plan
from reprise.storage import store

ROOT = Path(__file__).parents[2]
SMOKE = load_tier("smoke", ROOT)
RULE_FILES = (ROOT / "Snakefile", *sorted((ROOT / "workflow" / "rules").glob("*.smk")))


def rule_of(id):
    """The name of the rule that makes an experiment, an artifact, or the verdicts `KEY/claims`."""
    return id.replace("/", "_")


def profile(name):
    return yaml.safe_load((ROOT / "workflow" / "profiles" / name / "config.yaml").read_text())


CLAIMS = [f"{key}/claims" for key in registry.judged()]


def rules(name, share_minutes=plan.SHARE_MINUTES):
    """The rules of a tier: of its experiments and their shares, artifacts, verdicts and report."""
    tier = load_tier(name, ROOT)
    experiments = {id: e for id, e in registry.experiments().items() if id not in tier.on_request}
    cut = [id for id, e in experiments.items() if plan.shares(e.needs(tier.params[id]), share_minutes) > 1]
    artifacts = [artifact.id for e in experiments.values() for artifact in e.artifacts]
    whole = map(rule_of, (*experiments, *artifacts, *CLAIMS, "report"))
    return {*whole, *(f"{rule_of(id)}_share" for id in cut)}


HERE = rules("smoke")


@pytest.fixture
def jobs(planned):
    """The jobs of the whole smoke tier."""
    return planned("tier=smoke")


def results_of(id):
    """The files that an experiment's rule makes."""
    experiment = registry.experiment(id)
    done = store.marker(experiment.key(SMOKE.params[id]))
    names = (*(f"{table}.parquet" for table in experiment.tables), "run.json", done)
    return {f"results/smoke/{id}/{name}" for name in names}


def verdicts_of(key):
    """The files that a paper's rule for its claims makes."""
    return {f"results/smoke/{key}/{name}" for name in ("claims.parquet", "run.json")}


def drawings_of(id):
    """The files that an artifact's rule makes."""
    return {f"figures/smoke/{id}.{ending}" for ending in registry.artifact(id).endings}


def files(listed):
    """The names in a list of files, which may say `(update)` behind one."""
    return {file.split()[0] for file in listed.split(", ")}


def test_the_copys_own_package_runs_in_it(blank):
    code, printed = blank.call("python", "-c", "import reprise; print(reprise.__file__)")
    assert (code, printed.strip()) == (0, str(blank.root / "src" / "reprise" / "__init__.py"))
    (blank.root / "src" / "reprise" / "cli.py").write_text("def main():\n    print('the copy')\n")
    assert blank.call("reprise") == (0, "the copy\n")


@pytest.mark.parametrize(
    ("tier", "share_minutes"), [("smoke", plan.SHARE_MINUTES), ("default", plan.SHARE_MINUTES), ("paper", 60)]
)
def test_every_tier_plans_every_rule(planned, tier, share_minutes):
    cut = () if share_minutes == plan.SHARE_MINUTES else (f"share_minutes={share_minutes}",)
    assert set(planned(f"tier={tier}", *cut)) == {*rules(tier, share_minutes), "all"}


def test_every_experiment_is_a_job_with_the_resources_that_it_declares(jobs):
    for id, experiment in registry.experiments().items():
        job, needs = jobs[rule_of(id)], together(experiment.needs(SMOKE.params[id]).values())
        assert files(job["output"]) == results_of(id)
        assert int(job["priority"]) == math.ceil(needs.minutes)
        limits = {
            f"runtime={math.ceil(3 * needs.minutes + 10)}",
            f"mem_mb={needs.memory_mb + plan.SNAKEMAKE_MB}",
        }
        assert limits <= set(job["resources"].split(", "))
        assert job["shell"].endswith(f" reprise run {id} --tier smoke")


def test_resources_differ_from_one_experiment_to_another():
    """If they did not, the test above could not see that a rule takes those of another."""
    needs = [together(e.needs(SMOKE.params[id]).values()) for id, e in registry.experiments().items()]
    for name in ("minutes", "memory_mb"):
        assert len({getattr(one, name) for one in needs}) > 1


def test_the_jobs_of_the_paper_tier_ask_for_gpus_and_for_time(blank):
    """A network a job, on one GPU or, with 8,192 views of 224 pixels a step, on eight: the profile
    of one machine counts one."""
    blank.put_data_sets()
    jobs = blank.jobs("--resources", "gpu=8", config=("tier=paper", "share_minutes=60"))
    on_eight, on_one = jobs["jing2022_projector_spectra_share"], jobs["skean2024_linear_probes_share"]
    assert {"gpu=8"} <= set(on_eight["resources"].split(", "))
    assert {"gpu=1"} <= set(on_one["resources"].split(", "))
    assert int(re.search(r"runtime=(\d+)", on_eight["resources"]).group(1)) > 3 * 60
    tier = load_tier("paper", ROOT)
    on_gpus = {f"{rule_of(id)}_share" for id, params in tier.params.items() if hasattr(params, "device")}
    assert on_gpus & set(jobs) == {name for name, job in jobs.items() if "gpu=" in job["resources"]}


def test_what_runs_on_request_runs_when_it_is_asked_for_by_name(blank):
    blank.put_data_sets()
    assert "jing2022_projector_map" not in blank.plan("--config", "tier=paper", "paper=jing2022")
    planned = blank.plan("jing2022_projector_map", "--config", "tier=paper", "paper=jing2022")
    assert planned == {"jing2022_projector_map", "jing2022_projector_map_share"}


def test_every_artifact_is_a_job_that_takes_the_tables_of_its_experiment(jobs):
    for id, artifact in registry.artifacts().items():
        job = jobs[rule_of(id)]
        assert files(job["output"]) == drawings_of(id)
        assert files(job["input"]) == results_of(artifact.experiment)
        assert job["shell"].endswith(f" reprise draw {id} --tier smoke")


def test_a_papers_verdicts_take_the_tables_of_every_experiment_with_claims(jobs):
    for key, paper in registry.judged().items():
        job = jobs[f"{key}_claims"]
        assert files(job["output"]) == verdicts_of(key)
        deciding = [results_of(id) for id, experiment in paper.experiments.items() if experiment.claims]
        assert files(job["input"]) == set().union(*deciding)
        assert job["shell"].endswith(f" reprise check {key} --write --tier smoke")


def test_the_report_and_the_whole_run_leave_nothing_out(jobs):
    shown = set().union(
        *map(verdicts_of, registry.judged()),
        *map(results_of, registry.experiments()),
        *map(drawings_of, registry.artifacts()),
    )
    written = {
        f"results/smoke/{name}"
        for name in ("report.html", "report.json", "summary.md", "claims.parquet", "claims.csv",
                     "observations.parquet", "redo_verdicts.py")
    }  # fmt: skip
    assert files(jobs["report"]["input"]) == shown
    assert files(jobs["report"]["output"]) == written
    assert files(jobs["all"]["input"]) == shown | written


def test_shares_are_as_long_as_the_config_says(blank):
    id = "jing2022/projector_map"
    total = together(registry.experiment(id).needs(SMOKE.params[id]).values()).minutes
    jobs = blank.jobs(config=("tier=smoke", "paper=jing2022", f"share_minutes={total / 2.5}"))
    assert len(files(jobs[rule_of(id)]["input"])) == 3


def test_every_job_has_a_log_and_resources(jobs):
    ids = {rule_of(id): id for id in (*registry.experiments(), *registry.artifacts(), *CLAIMS, "report")}
    assert set(jobs) == {*HERE, "all"}
    for name, id in ids.items():
        assert jobs[name]["log"] == f"results/smoke/logs/{id}.log"
        assert jobs[name]["shell"].startswith(f"workflow/scripts/logged results/smoke/logs/{id}.log reprise ")
        assert {"mem_mb", "runtime"} <= {
            item.partition("=")[0] for item in jobs[name]["resources"].split(", ")
        }


def test_a_rule_can_be_given_other_threads_resources_and_shares_by_its_name(blank):
    jobs = blank.jobs(
        "--cores", "4", "--set-threads", "esser2024_fig01=3", "--set-resources", "esser2024_fig02:mem_mb=7",
        "--set-scatter", "esser2024_width=2",
        config=("tier=smoke", "paper=esser2024"),
    )  # fmt: skip
    assert jobs["esser2024_fig01"]["threads"] == "3"
    assert "mem_mb=7," in jobs["esser2024_fig02"]["resources"]
    assert len(files(jobs["esser2024_width"]["input"])) == 2
    assert re.search(r"run esser2024/width .* --share \d-of-2$", jobs["esser2024_width_share"]["shell"])


@pytest.mark.parametrize("profile", sorted((ROOT / "workflow" / "profiles").glob("*/config.yaml")), ids=str)
def test_shares_that_a_profile_asks_for_are_of_experiments_that_have_tasks(profile):
    """Snakemake ignores a name that it does not know."""
    cut = {rule_of(id) for id, experiment in registry.experiments().items() if experiment.has_tasks}
    assert set(yaml.safe_load(profile.read_text()).get("set-scatter", {})) <= cut


def test_a_new_figure_needs_no_rule(blank):
    figures = blank.root / "src/reprise/papers/esser2024/width/figures.py"
    with figures.open("a") as file:
        file.write(
            '\n\n@figure("Figure 99", reads=(), caption="New.")\ndef fig99(tables, params):\n    ...\n'
        )
    jobs = blank.jobs(config=("tier=smoke", "paper=esser2024"))
    assert files(jobs["esser2024_fig99"]["input"]) == results_of("esser2024/width")
    assert "figures/smoke/esser2024/fig99.pdf" in files(jobs["report"]["input"])


def test_the_rules_name_no_paper_and_no_experiment():
    """A line in a rule file is true of every one of them."""
    names = {name for id in registry.experiments() for name in id.split("/")}
    for file in RULE_FILES:
        code = "\n".join(line.partition("#")[0] for line in file.read_text().splitlines())
        assert set(re.findall(r"\w+", code)) & names == set()
        assert not re.search(r"^ *(run:|checkpoint )|protected\(", code, re.MULTILINE)


def test_a_plan_does_not_import_torch(blank):
    code = (
        "import sys; from reprise.engine.tiers import load_tier;"
        "load_tier('smoke'); sys.exit('torch' in sys.modules)"
    )
    assert blank.call("python", "-c", code) == (0, "")


@pytest.mark.parametrize("keys", [*registry.papers(), "tian2023,esser2024"])
def test_a_run_limited_to_papers_touches_no_other(blank, keys):
    own = {name for name in HERE if name.partition("_")[0] in keys.split(",")}
    assert blank.plan("--config", "tier=smoke", f"paper={keys}") == own | {"report"}


def test_the_target_decide_makes_the_rounds_that_the_command_would_begin(blank):
    id = "tian2023/local_optima"
    configured = replace(SMOKE, root=blank.root).experiment(id)
    run.run(configured)
    (chosen,) = decide.choose(decide.candidates([configured]), 30, 2)
    expected = {rule_of(each.name).replace("-", "_") for each in chosen.runs}
    assert f"{rule_of(id)}_round_2" in expected
    code, printed = blank.snakemake("-n", "decide", "--cores", "2", config=("tier=smoke", "minutes=30"))
    assert code == 0, printed
    assert set(re.findall(r"^(?:local)?rule (\w+):", printed, re.MULTILINE)) == expected | {"decide"}
    assert all(line in printed for line in decide.plan_lines([chosen], 2))
    code, printed = blank.snakemake("-n", "decide", config=("tier=smoke", "minutes=0"))
    assert code == 1
    assert "minutes is '0'; write a positive number" in printed


def test_a_tiers_file_serves_as_snakemakes_config_file(blank):
    assert blank.plan("--configfile", "configs/smoke.yaml") == HERE


def config(text):
    """A function that writes configs/mine.yaml."""
    return lambda root: (root / "configs" / "mine.yaml").write_text(text)


def overriding(text):
    return config(f"tier: mine\nexperiments: {{jing2022/layer_alignment: {{{text}}}}}\n")


def other_values_in_a_file_elsewhere(root):
    (root / "mine.yaml").write_text("tier: smoke\nexperiments: {jing2022/layer_alignment: {seeds: 4}}\n")


def a_file_for_a_folder(root):
    (root / "figures").write_text("mine")


def text_for_the_link(root):
    """Replaces the link by its text, as git does where symbolic links are switched off."""
    (root / "profiles").unlink()
    (root / "profiles").write_text("workflow/profiles")


def a_profile_of_the_users(root):
    """Adds a profile where `XDG_CONFIG_HOME=home` makes Snakemake look for global ones."""
    folder = root / "home" / "snakemake" / "mine"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text("cores: 1\n")


MINE = ("--config", "tier=mine")
WHERE = "configs/mine.yaml: experiments: jing2022/layer_alignment: "


@pytest.mark.parametrize(
    ("prepare", "arguments", "parts"),
    [
        (None, ("--config", "tier=nightly"), ["unknown tier 'nightly'", "default, gpu, paper, smoke"]),
        (None, ("--config", "paper=nobody2020"), ["unknown paper 'nobody2020'", *registry.papers()]),
        (None, ("--config", "paper=jing2022,tian2032"), ["unknown paper 'tian2032'; did you mean tian2023"]),
        (None, ("--config", "seeds=3"), ["unknown --config key ['seeds']", "allowed: tier", "paper"]),
        (overriding("seeds: ten"), MINE, [f"{WHERE}key 'seeds' has the value 'ten'", "valid integer"]),
        (
            overriding("seed: 1"),
            MINE,
            [f"{WHERE}unknown key 'seed' (value 1)", "allowed: objective, first_seed, dim"],
        ),
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


SLRUM = ["unknown workflow profile 'slrum'; did you mean 'slurm'? there are: default, generic, slurm;"]
NO_LINK = [
    "(there are: default, generic, slurm)",
    "/profiles is not the symbolic link",
    "ln -sfn workflow/profiles pro",
]
WIDTH = ["unknown rule 'esser2024_widht'; did you mean 'esser2024_width'?"]
NOBODY = ["unknown rule 'nobody'; list them with: snakemake --list-rules"]


@pytest.mark.parametrize(
    ("prepare", "arguments", "parts"),
    [
        (None, "--config tire=smoke", ["unknown --config key ['tire']; allowed: tier"]),
        (None, "--workflow-profile slrum", SLRUM),
        (None, "--workflow-profile=slrum", SLRUM),
        (None, "--profile nowhere", ["(nowhere), but no profile.yaml (or config.yaml) found"]),
        (text_for_the_link, "", ["workflow profile 'default' not found", *NO_LINK]),
        (text_for_the_link, "--workflow-profile slurm", ["workflow profile 'slurm' not found", *NO_LINK]),
        (None, "--set-scatter esser2024_widht=2", ["--set-scatter: ", *WIDTH]),
        (None, "--set-scatter esser2024_fig01=2", ["--set-scatter: unknown rule 'esser2024_fig01'"]),
        (None, "--set-threads esser2024_widht=2", ["--set-threads: ", *WIDTH]),
        (None, "--set-resources nobody:mem_mb=2", ["--set-resources: ", *NOBODY]),
        (None, "--consider-ancient nobody=0", ["--consider-ancient: ", *NOBODY]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_name_that_snakemake_would_ignore_is_one_message(blank, prepare, arguments, parts):
    test_bad_input_is_one_message_before_the_first_job(blank, prepare, ("-n", *arguments.split()), parts)


@pytest.mark.parametrize(
    ("prepare", "arguments", "uses"),
    [
        (None, ("--workflow-profile", "none"), ""),
        (text_for_the_link, ("--workflow-profile=none",), ""),
        (text_for_the_link, ("--workflow-profile", "workflow/profiles/default"), "workflow/profiles/default"),
        (None, ("--workflow-profile", "workflow/profiles/default/config.yaml"), "default/config.yaml"),
        (a_profile_of_the_users, ("--profile", "mine"), "profiles mine and workflow specific profile"),
        (None, ("--set-threads", "tian2023_fig12=1", "jing2022_projector_map_share=1"), "profiles/default"),
        (None, ("--set-scatter", "ren2023_zero_shot=2"), "profiles/default"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else "",
)
def test_profiles_and_rules_that_there_are_are_taken(blank, monkeypatch, prepare, arguments, uses):
    """A global profile, a folder, a file, none; rules of another paper."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(blank.root / "home"))
    if prepare:
        prepare(blank.root)
    printed = blank.done("-n", *arguments, config=("tier=smoke", "paper=esser2024"))
    assert uses in printed
    assert ("for setting default command line arguments" in printed) == bool(uses)


def test_this_machines_profile_is_where_snakemake_finds_it():
    assert (ROOT / "profiles" / "default" / "config.yaml").is_file()
    assert profile("default")["cores"] == "all"
    assert profile("default")["rerun-incomplete"] is True
    assert profile("default")["resources"] == ["gpu=1"]  # a training takes all GPUs


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
    assert blank.plan("--workflow-profile", "slurm", "--config", "tier=paper") == rules("paper")


def test_a_data_set_that_is_missing_is_said_before_the_first_job(blank):
    code, printed = blank.snakemake("--cores", "2", config=("tier=paper",))
    assert code != 0
    assert f"data set 'mnist': {blank.root}/data/MNIST/raw lacks train-images-idx3-ubyte" in printed
    assert "missing for jing2022/projector_spectra, skean2024/early_lead: data set 'imagenet'" in printed
    assert "Traceback" not in printed
    assert not (blank.root / "results").exists()
    blank.put_imagenet()  # all that a run limited to jing2022 needs
    assert blank.call("snakemake", "-n", "--config", "tier=paper", "paper=jing2022")[0] == 0
    code, printed = blank.call("snakemake", "-n", "--config", "tier=paper", "paper=ren2023")
    assert code != 0
    for name in ("coco/val2014/", "coco/annotations/captions_train2014.json", "roberta-base/config.json"):
        assert f"{blank.root}/data/{name}: " in printed


def test_what_runs_on_request_stops_no_other_run_by_a_missing_data_set(blank):
    (blank.root / "configs" / "mine.yaml").write_text(
        "tier: mine\non_request: [tian2023/image_filters]\n"
        "experiments: {tian2023/image_filters: {data_set: mnist}}\n"
    )
    arguments = ("--config", "tier=mine", "paper=tian2023")
    assert "tian2023_image_filters" not in blank.plan(*arguments)
    for name in ("tian2023_image_filters", "figures/mine/tian2023/fig12.pdf"):
        code, printed = blank.call("snakemake", "-n", name, *arguments)
        assert code != 0
        assert "missing for tian2023/image_filters: data set 'mnist'" in printed
