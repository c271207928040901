"""After a whole run: what an edit runs again, and above all what it does not."""

import json
import os
import re
import shutil

import pytest

from reprise.engine import registry
from reprise.storage import store

pytestmark = pytest.mark.slow

KEY = "jing2022"
PAPER = f"src/reprise/papers/{KEY}"
COMPUTE = f"{PAPER}/layer_alignment/compute.py"
WEIGHTS = 'f"{start} weights"', 'f"other {start} weights"'
DRAWINGS = {
    id.replace("/", "_") for id, artifact in registry.artifacts().items() if artifact.kind == "figure"
}
VERDICTS = {f"{KEY}_claims", "report"}
LAYER_ALIGNMENT = {f"{KEY}_layer_alignment", f"{KEY}_fig04", f"{KEY}_fig05", *VERDICTS}
TOYS = (
    "augmentation_threshold", "layer_alignment", "projector_alignment", "depth_and_nonlinearity",
    "other_papers",
)  # fmt: skip


def and_drawings(*names, key=KEY):
    """The rules of some experiments, and of the figures and tables that show their results."""
    shown = [
        artifact.id
        for artifact in registry.paper(key).artifacts.values()
        if artifact.experiment in {f"{key}/{name}" for name in names}
    ]
    return {f"{key}_{name}" for name in names} | {id.replace("/", "_") for id in shown}


SIMULATIONS = and_drawings(*TOYS)
AUTHORS_PROGRAMS = and_drawings("augmentation_threshold", "layer_alignment")
"""The experiments that run the authors' own programs beside the paper's settings."""
OF_SKEAN = ("linear_probes", "eigenvalue_saturation", "early_lead", "projector_and_batch", "trade_off")
IMAGE_NETS = {
    *and_drawings("projector_spectra", "projector_map", "colour_short_cut"),
    *and_drawings(*OF_SKEAN, key="skean2024"),
    "skean2024_claims",
}
"""The experiments that train networks on images. Each can train by any objective, so an edit of one makes the
tables of all anew, from the networks that are kept."""
OURS = {id.replace("/", "_") for id in ("ours/objectives_by_diagnostics", *registry.paper("ours").artifacts)}
"""The comparison of all objectives, which runs every loss."""


def test_a_whole_run_makes_every_file_and_a_second_run_does_nothing(smoke_run):
    """Another place is no other run: the finished folder may be moved. Nor is another number of shares."""
    printed = smoke_run.done("--summary")
    lines = [line.split("\t") for line in printed.splitlines() if line.startswith(("results/", "figures/"))]
    assert len(lines) > len(registry.artifacts())
    for file, *_ in lines:
        is_share = "-of-" in file  # the mark of one is removed when all are done
        assert (smoke_run.root / file).is_file() != is_share, file
    assert "Nothing to be done" in smoke_run.done()


def test_a_log_and_a_benchmark_are_kept_of_every_job(smoke_run):
    """Each job is a fork of one process."""
    results = smoke_run.root / "results" / "smoke"
    for id in [*registry.experiments(), *registry.artifacts(), f"{KEY}/claims", "report"]:
        assert (results / "logs" / f"{id}.log").stat().st_size, id
        names, row = (results / "benchmarks" / f"{id}.tsv").read_text().splitlines()
        assert dict(zip(names.split("\t"), row.split("\t"), strict=True))["forked"] == "1", id


def test_a_moved_checkout_has_nothing_to_do(finished):
    assert finished.plan() == set()


def test_comments_docstrings_and_a_later_date_run_nothing(finished):
    files = [*(finished.root / "src").rglob("*.py"), *(finished.root / "workflow").rglob("*.smk")]
    edited = 0
    for file in [*files, finished.root / "Snakefile"]:
        text = file.read_text()
        docstring = re.compile(r'(?<![,(]\n)^( *)"""(?=[A-Z])', re.MULTILINE)  # and no argument
        edited += len(docstring.findall(text)) if file.suffix == ".py" else 0
        changed = docstring.sub(r'\1"""Other words. ', text) if file.suffix == ".py" else text
        file.write_text(f"# A remark.\n{changed}\n# Another.\n")
    assert edited > 100
    for file in (finished.root / "src").rglob("*.csv"):
        file.touch()
    for file in (finished.root / "configs").iterdir():
        file.write_text(f"# A remark.\n{file.read_text()}")
    assert finished.plan() == set()


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        pytest.param(
            f"{PAPER}/layer_alignment/figures.py",
            'label="largest"',
            'label="the largest"',
            {f"{KEY}_fig05", "report"},
            id="a drawing: that drawing",
        ),
        pytest.param(
            "src/reprise/plotting/style.py",
            "WIDTH = ",
            "WIDTH = 0.5 + ",
            {*DRAWINGS, "report"},
            id="the style: every drawing, no table, no verdict",
        ),
        pytest.param(
            COMPUTE,
            *WEIGHTS,
            LAYER_ALIGNMENT,
            id="a computation: that experiment and what it feeds",
        ),
        pytest.param(
            f"{PAPER}/layer_alignment/claims.py",
            "values[values.columns.max()] / values[0]",
            "values[0] / values[values.columns.max()]",
            VERDICTS,
            id="a claim: the verdicts",
        ),
        pytest.param(
            "src/reprise/objectives/infonce.py",
            "difference = z2 - z1",
            "difference = -(z1 - z2)",
            {*SIMULATIONS, *IMAGE_NETS, *OURS, *VERDICTS},
            id="a loss: the simulations, networks and the comparison of objectives, not the theory",
        ),
        pytest.param(
            "src/reprise/objectives/infonce.py",
            "temperature: float = 0.1",
            "temperature: float = 0.2",
            {
                *("ren2023_zero_shot", "ren2023_fig02", "ren2023_claims"),
                *(*AUTHORS_PROGRAMS, *IMAGE_NETS, *OURS, *VERDICTS),
            },
            id="another loss of the same file: what is set to it, and the comparison",
        ),
        pytest.param(
            "src/reprise/objectives/contrastive.py",
            "(partition - positives).mean(-1)",
            "(partition - positives).mean(-1) / 2",
            {*IMAGE_NETS, *OURS, *VERDICTS},
            id="a loss that image networks are trained by: those experiments",
        ),
        pytest.param(
            "src/reprise/training/methods.py",
            "self.representation_loss(gather(z1), gather(z2))",
            "self.representation_loss(gather(z1), gather(z2)) / 2",
            {*IMAGE_NETS, *OURS, *VERDICTS},
            id="how such a loss is wired: the same experiments",
        ),
        pytest.param(
            f"{PAPER}/gradient_flow/compute.py",
            "params.seed_range(params.points)",
            "range(params.points)",
            {f"{KEY}_gradient_flow", *VERDICTS},
            id="the theory: not the simulations",
        ),
        pytest.param(
            f"{PAPER}/published.csv",
            None,
            None,
            {*VERDICTS, *(f"{KEY}_{name}" for name in ("table1", "table1_beside_print", "sec63", "fig02"))},
            id="a printed number: the verdicts, and what shows it",
        ),
        pytest.param(
            "src/reprise/report/report.html.j2",
            '<div class="frame">',
            '<div class="frame" id="all">',
            {"report"},
            id="the report's page: the report",
        ),
        pytest.param(
            "src/reprise/report/report.css",
            "h1 { font-size: 1.7rem",
            "h1 { font-size: 1.8rem",
            {"report"},
            id="the report's style: the report",
        ),
        pytest.param(f"{PAPER}/artifacts.csv", None, None, {"report"}, id="what a paper claims: the report"),
        pytest.param(
            f"{PAPER}/__init__.py", "TITLE = ", 'TITLE = "On " + ', {"report"}, id="a title: the report"
        ),
        pytest.param(
            "configs/smoke.yaml",
            "jing2022/layer_alignment:\n",
            "jing2022/layer_alignment:\n    noise_std: 0.25\n",
            LAYER_ALIGNMENT,
            id="a value in the tier's file: that experiment",
        ),
    ],
)
def test_an_edit_runs_what_it_touches_and_nothing_else(finished, file, old, new, expected):
    if old is None:
        lines = (finished.root / file).read_text().splitlines(keepends=True)
        (finished.root / file).write_text("".join([*lines, lines[-1]]))
    else:
        finished.edit(file, old, new)
    assert finished.plan() == expected


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("results/smoke/jing2022/layer_alignment/theorem3.parquet", LAYER_ALIGNMENT),
        ("figures/smoke/jing2022/fig04.png", {f"{KEY}_fig04", "report"}),
        ("results/smoke/jing2022/claims.parquet", VERDICTS),
        ("results/smoke/summary.md", {"report"}),
    ],
)
def test_a_missing_file_is_made_again(finished, file, expected):
    (finished.root / file).unlink()
    assert finished.plan() == expected


def with_old_date(file, content):
    """Writes a file that Snakemake, which compares dates, takes for the one that was there."""
    status = file.stat()
    file.write_bytes(content)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("figures/smoke/jing2022/fig04.pdf", {f"{KEY}_fig04", "report"}),
        ("figures/smoke/jing2022/.fig04.json", {f"{KEY}_fig04", "report"}),
        ("results/smoke/summary.md", {"report"}),
    ],
)
def test_an_edited_file_is_made_again_whatever_its_date(finished, file, expected):
    with_old_date(finished.root / file, b"edited\n")
    assert finished.plan() == expected


def test_other_tables_with_older_dates_are_drawn_and_judged(finished):
    """As after `cp -rp` from another machine that has run the same code: nothing is computed again."""
    folder = finished.root / "results" / "smoke" / KEY / "layer_alignment"
    before = {file: file.stat() for file in folder.iterdir()}
    tables, record = store.load_results(folder, "")
    for table in tables.values():
        table[table.select_dtypes("float").columns] *= 1.01
    store.save_tables(folder, tables, record.pop("key"), record)
    for file, status in before.items():
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert finished.plan() == LAYER_ALIGNMENT - {f"{KEY}_layer_alignment"}
    finished.done("--cores", "2")
    assert finished.plan() == set()


def test_a_run_of_one_paper_reports_again_if_the_verdicts_on_another_are_stale(finished):
    """Its report and its summary, which `make reproduce PAPER=jing2022` prints, show all papers."""
    config = ("tier=smoke", f"paper={KEY}")
    finished.done("--cores", "2", config=config)
    assert finished.plan("--config", *config) == set()
    compute = "src/reprise/papers/tian2023/batch_normalization/compute.py"
    finished.edit(compute, "learning_rate=task", "learning_rate=1.0 * task")
    assert finished.plan("--config", *config) == {"report"}
    finished.done("--cores", "2", config=config)
    report = json.loads((finished.root / "results" / "smoke" / "report.json").read_text())
    verdicts = {
        claim["verdict"]
        for paper in report["papers"]
        for claim in paper["claims"]
        if claim["experiment"] == "tian2023/batch_normalization"
    }
    assert verdicts == {"not run"}
    assert finished.plan("--config", *config) == set()


def test_results_of_another_commit_are_neither_read_nor_taken_for_finished(finished):
    finished.edit(COMPUTE, *WEIGHTS)
    code, printed = finished.call("reprise", "run", f"{KEY}/layer_alignment", "--tier", "smoke")
    assert code == 0, printed
    finished.edit(COMPUTE, *reversed(WEIGHTS))
    for command in (("draw", f"{KEY}/fig04"), ("check", KEY)):
        code, printed = finished.call("reprise", *command, "--tier", "smoke")
        assert code == 2
        assert "made by other code than is here now" in printed
    assert finished.plan() == LAYER_ALIGNMENT


def test_an_edit_is_seen_without_what_snakemake_remembers(finished):
    shutil.rmtree(finished.root / ".snakemake")
    finished.edit(COMPUTE, *WEIGHTS)
    assert finished.plan() == LAYER_ALIGNMENT


def test_a_users_objective_reruns_the_experiment_that_names_it_and_no_other(blank):
    mine = blank.root / "mine.py"
    mine.write_text("def loss(z1, z2):\n    return (z1 - z2).square().mean()\n")
    text = (blank.root / "configs" / "smoke.yaml").read_text().replace("tier: smoke", "tier: mine")
    named = "jing2022/layer_alignment:\n"
    text = text.replace(named, f"{named}    objective: mine.py:loss\n")
    (blank.root / "configs" / "mine.yaml").write_text(text)
    rules = [f"{KEY}_layer_alignment", f"{KEY}_projector_alignment"]
    blank.done(*rules, config=("tier=mine",))
    arguments = (*rules, "--config", "tier=mine")
    assert blank.plan(*arguments) == set()
    mine.write_text("def loss(z1, z2):\n    return (z1 - z2).abs().mean()\n")
    assert blank.plan(*arguments) == {f"{KEY}_layer_alignment"}
