"""docs/extending.md, as its reader follows it: every diff is applied to a checkout, where the quick suite is
green and what was added runs. And a reader's mistakes, which tests name."""

import json
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import official_formats
import pandas as pd
import pytest
from filelock import FileLock

from reprise.engine import registry

ROOT = Path(__file__).parents[2]
KEPT = ROOT / ".pytest_cache" / "tables"
PAGE = (ROOT / "docs" / "extending.md").read_text()
PAPERS = "src/reprise/papers"
BOUND = f"{PAPERS}/oord2018/bound"

ADDITIONS = {
    "A published loss": (
        {"src/reprise/objectives/uniformity.py"},
        {"src/reprise/objectives/__init__.py": 1, "tests/objectives/test_values.py": 7},
    ),
    "A new figure": (
        set(),
        {f"{PAPERS}/jing2022/artifacts.csv": 1, f"{PAPERS}/jing2022/projector_alignment/figures.py": 17},
    ),
    "A new paper": (
        {
            f"{PAPERS}/oord2018/__init__.py",
            f"{PAPERS}/oord2018/artifacts.csv",
            *(
                f"{PAPERS}/oord2018/bound/{name}.py"
                for name in ("__init__", "claims", "compute", "experiment", "figures")
            ),
        },
        {},
    ),
    "A new data set": (
        {"src/reprise/datasets/fashion_mnist.py"},
        {"src/reprise/datasets/catalogue.py": 2},
    ),
}
"""Section -> the files that its diff adds, and the lines that it adds to existing files."""
OTHER_PAPERS = ("esser2024", "ren2023", "skean2024", "tian2023")
"""The papers to which nothing is added."""
GOLDEN = ("oord2018/bound",)
"""The experiments that are added."""
COMMANDS = (
    "python docs/api.py",
    "python docs/tiers.py",
    *(f"python tests/golden/update.py {id}" for id in GOLDEN),
)
"""Commands that the page has its reader run."""


def diff_in(section):
    """The one diff in a section of the page."""
    text = PAGE.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    (diff,) = re.findall(r"^```diff\n(.+?)^```$", text, re.MULTILINE | re.DOTALL)
    return diff


def apply(diff, *options, folder=ROOT):
    """Output of `git apply`, which must succeed."""
    command = ["git", "apply", *options, "-"]
    process = subprocess.run(command, input=diff, cwd=folder, text=True, capture_output=True)
    assert process.returncode == 0, f"docs/extending.md: {process.stderr}"
    return process.stdout


@pytest.mark.parametrize("section", ADDITIONS)
def test_an_addition_touches_only_what_it_must(section):
    diff = diff_in(section)
    lines = [line.split("\t") for line in apply(diff, "--numstat").splitlines()]
    new = set(re.findall(r"^--- /dev/null\n\+\+\+ b/(.+)$", diff, re.MULTILINE))
    added, changed = ADDITIONS[section]
    assert new == added
    assert {name: int(count) for count, _, name in lines if name not in new} == changed


def test_every_diff_on_the_page_is_tested():
    assert PAGE.count("```diff\n") == len(ADDITIONS)
    assert all(command in PAGE for command in COMMANDS)


@pytest.fixture
def extended(blank):
    """A checkout with one of each, and smoke settings that use the loss and the data set."""
    shutil.copytree(ROOT / "tests" / "objectives", blank.root / "tests" / "objectives")
    for section in ADDITIONS:
        apply(diff_in(section), folder=blank.root)
    smoke = "configs/smoke.yaml"
    alignment = "  jing2022/projector_alignment:\n"
    blank.edit(smoke, alignment, f"{alignment}    objective: align_uniform\n")
    images = "  skean2024/projector_and_batch:\n    data_set: "
    blank.edit(smoke, f"{images}shapes\n", f"{images}fashion-mnist\n")
    official_formats.mnist(blank.root / "data", train=80, test=40)  # the format of Fashion-MNIST, too
    (blank.root / "data" / "MNIST").rename(blank.root / "data" / "FashionMNIST")
    return blank


@pytest.mark.slow
def test_one_of_each_runs_at_the_smoke_tier(extended):
    extended.done(
        *("--cores", "2"),
        *("jing2022_sec61_early", "skean2024_projector_and_batch"),
        *("oord2018_sec23_bound", "oord2018_claims"),
    )
    results, figures = extended.root / "results" / "smoke", extended.root / "figures" / "smoke"
    assert (figures / "jing2022" / "sec61_early.pdf").is_file()
    assert (figures / "oord2018" / "sec23_bound.png").is_file()

    trajectory = pd.read_parquet(results / "jing2022" / "projector_alignment" / "trajectory.parquet")
    by_the_loss = trajectory.loc[trajectory["setting"] == "align_uniform", "off_diagonal_mass"]
    assert len(by_the_loss) > 0
    assert by_the_loss.between(0, 1).all()

    bound = pd.read_parquet(results / "oord2018" / "bound" / "bound.parquet")
    assert len(bound) == 4 * 10

    record = json.loads((results / "skean2024" / "projector_and_batch" / "run.json").read_text())
    assert "fashion-mnist" in json.dumps(record)

    verdicts = pd.read_parquet(results / "oord2018" / "claims.parquet")
    assert verdicts["verdict"].tolist() == ["reproduced", "reproduced"]

    code, listed = extended.call("reprise", "list", "oord2018", "--tier", "smoke")
    assert code == 0, listed
    assert "  oord2018/bound: 2 claims; done\n" in listed
    assert "  oord2018/sec23: 2 reproduced\n" in listed


@pytest.fixture(scope="session")
def followed(source, shared):
    """A git clone with what is not committed yet, in which the page was followed to the letter, once for all
    processes that test; not to be changed."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    checkout = replace(source, root=shared / "followed")
    done = shared / "the page is followed"
    with FileLock(f"{checkout.root}.lock"):
        if not done.exists():
            shutil.rmtree(checkout.root, ignore_errors=True)
            subprocess.run(["git", "clone", "--quiet", ROOT, checkout.root], check=True)
            listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
            names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
            for name in filter(None, names.split("\0")):
                (checkout.root / name).unlink(missing_ok=True)
                if (ROOT / name).exists() or (ROOT / name).is_symlink():
                    (checkout.root / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(ROOT / name, checkout.root / name, follow_symlinks=False)
            for section in ADDITIONS:
                apply(diff_in(section), folder=checkout.root)
            entries = "".join(f"- `{id}` is new, with golden numbers.\n" for id in GOLDEN)
            checkout.edit("CHANGELOG.md", "## [Unreleased]\n", f"## [Unreleased]\n\n### New\n\n{entries}")
            for command in COMMANDS:
                code, printed = checkout.call(sys.executable, *command.split()[1:])
                assert code == 0, printed
            checkout.compile()
            if KEPT.exists():  # under keys of what they were made from
                shutil.copytree(KEPT, checkout.root / KEPT.relative_to(ROOT))
            done.touch()
    return checkout


ADDED = ("align_uniform", "oord2018", "sec61_early", "fashion")
"""Words in the name of each case about an addition."""
BELOW = ("contract", "networks", "numerics", "storage")
"""Rooms that use nothing that the page adds to, as `lint-imports` holds."""
UNTOUCHED = ("annex", "diagnostics", "evidence", "ledger", "reliability", "training")
"""Rooms whose tests are about experiments, claims, networks and losses that the page leaves as they are."""
OF_ONE = (
    *("engine/test_cache.py", "engine/test_drawings.py", "engine/test_elsewhere.py"),
    *("engine/test_loss_trial.py", "engine/test_loss_watch.py", "engine/test_provenance.py"),
    "engine/test_stages.py",
    *("papers/jing2022/test_colour_short_cut.py", "papers/jing2022/test_gradient_flow.py"),
    *("papers/jing2022/test_projector_map.py", "papers/jing2022/test_projector_spectra.py"),
    "papers/jing2022/test_simulations.py",
)
"""Files that are each about one experiment, or about what is tried on one; none goes through a list."""
REFUSALS = ("test_bad_input_is_one_message_before", "test_a_name_that_snakemake_would_ignore")
"""Tests of what Snakemake refuses, which is told before any list is read or by the names in it."""


def cases_left_out():
    """Parts of the names of those that are left out if they name no addition: about other papers, about the
    experiments of `jing2022` in which nothing is new, and refusals."""
    of_jing = registry.paper("jing2022").experiments.keys() - {"jing2022/projector_alignment"}
    return *OTHER_PAPERS, *sorted(of_jing), *REFUSALS


@pytest.mark.slow
def test_the_quick_suite_is_green_where_the_page_was_followed(followed, tmp_path):
    """`pytest -m "not slow"` on two cores: every case that names an addition, and all others but those of
    `BELOW`, `UNTOUCHED`, `OF_ONE` and `cases_left_out`, which share with the additions only the lists of
    losses and of data sets."""
    checkout = copied(followed, tmp_path)
    left_out = [f"tests/{path}" for path in (*BELOW, *UNTOUCHED, *OF_ONE)]
    added, others = (" or ".join(names) for names in (ADDED, cases_left_out()))
    quick = ("-m", "not slow", "-n", "2", "--dist", "worksteal", "-p", "no:cacheprovider")
    for chosen in (
        (*(f"--ignore={path}" for path in left_out), "-k", f"{added} or not ({others})"),
        (*left_out, "-k", added),
    ):
        code, printed = checkout.call(sys.executable, "-m", "pytest", *quick, *chosen, timeout=3600)
        assert code == 0, printed[-20000:]


def copied(checkout, to):
    shutil.copytree(checkout.root, to / "copy", symlinks=True)
    return replace(checkout, root=to / "copy")


@dataclass(frozen=True)
class Mistake:
    """A step of the page that is done wrongly.

    Attributes:
        name: what every red test must name.
        file: where the mistake is.
        edits: what stands there once, and what is put in its place; without any the file is missing.
        tests: those of the file's own folder, which run besides those of the registry.
        only: of those, the ones whose names match this expression; all, if it is empty.
    """

    name: str
    file: str
    edits: Mapping[str, str] = field(default_factory=dict)
    tests: tuple[str, ...] = ()
    only: str = ""


OF_REGISTRY = ("tests/test_artifacts.py", "tests/golden/test_lock.py")
FIGURES = {"tests": ("tests/papers/test_figures.py",), "only": "sec61_early or sec23_bound"}
EXPERIMENTS = {"tests": ("tests/engine/test_conformance.py",), "only": "oord2018"}
LOSS, EARLY = "src/reprise/objectives/uniformity.py", f"{PAPERS}/jing2022/projector_alignment/figures.py"
CLAIM = "oord2018/sec23/below"
REFERENCE = '@value_of("align_uniform")\n'
ROWS, SEC23 = f"{PAPERS}/jing2022/artifacts.csv", f"{BOUND}/figures.py"
MISTAKES = {
    "wrong sign in the loss": Mistake(
        "align_uniform", LOSS, {"squared_chord(z1, z2) + (logs": "squared_chord(z1, z2) - (logs"},
        ("tests/objectives",),
    ),
    "another factor in the loss": Mistake(
        "align_uniform", LOSS, {"(logs[0] + logs[1]) / 2": "(logs[0] + logs[1])"}, ("tests/objectives",)
    ),
    "loss without its reference": Mistake(
        "align_uniform", "tests/objectives/test_values.py", {REFERENCE: ""}, ("tests/objectives",)
    ),
    "figure without its row": Mistake(
        "jing2022/sec61_early", ROWS,
        {"The alignment early in training,6.1,jing2022/sec61_early,ours: not in the paper\n": ""}, **FIGURES,
    ),
    "row of a figure that there is not": Mistake(
        "jing2022/sec61_earl", ROWS, {"6.1,jing2022/sec61_early,": "6.1,jing2022/sec61_earl,"}
    ),
    "figure that reads an unknown table": Mistake(
        "oord2018/sec23_bound", SEC23, {'reads=("bound",)': 'reads=("bounds",)'}, **FIGURES
    ),
    "figure that does not declare what it reads": Mistake(
        "oord2018/sec23_bound", SEC23, {'reads=("bound",)': "reads=()"}, **FIGURES
    ),
    "figure of an unknown column": Mistake(
        "jing2022/sec61_early", EARLY,
        {'"off_diagonal_mass", within=SHARE, color=': '"off_diagonal", within=SHARE, color='}, **FIGURES,
    ),
    "figure without a number": Mistake("jing2022/sec61_early", EARLY, {'"Section 6.1, early"': '""'}),
    "figure of another one's number": Mistake(
        "jing2022/sec61_early", EARLY, {'"Section 6.1, early"': '"Section 6.1, alignment"'}
    ),
    "claim of ours without its reason": Mistake(
        CLAIM, f"{BOUND}/claims.py", {'    word="is below",\n': '    word="is below",\n    form="ours",\n'}
    ),
    "claim without its refutation": Mistake(
        CLAIM, f"{BOUND}/claims.py", {'    broken_by=plus("bound", "bound", 9.0),\n': ""}
    ),
    "refutation that refutes nothing": Mistake(
        CLAIM, f"{BOUND}/claims.py", {'broken_by=plus("bound", "bound", 9.0)': "broken_by=dict"},
        **EXPERIMENTS,
    ),
    "claim that reads an unknown column": Mistake(
        CLAIM, f"{BOUND}/claims.py",
        {'column("bound", "information", samples=last)': 'column("bound", "informatio", samples=last)'},
        **EXPERIMENTS,
    ),
    "claim of another paper": Mistake(
        "sec23/below", f"{BOUND}/claims.py", {'"oord2018/sec23/below"': '"tian2023/sec23/below"'}
    ),
    "claim of an unknown quantity": Mistake(
        CLAIM, f"{BOUND}/claims.py",
        {
            "import Comparison, above, below": "import Comparison, above, near",
            'below(LARGEST, column("bound", "information", samples=last), unit="nats")':
                'near(LARGEST, 0.0, quantity="scor", unit="nats")',
        },
    ),
    "tables that are not computed": Mistake(
        "oord2018/bound", f"{BOUND}/compute.py", {'return {"bound"': 'return {"bounds"'}, **EXPERIMENTS,
    ),
    "setting without an origin": Mistake(
        "oord2018", f"{BOUND}/experiment.py", {'ours(4, "of each vector", ge=1)': "4"}, **EXPERIMENTS,
    ),
    "experiment without golden numbers": Mistake(
        "oord2018/bound", "tests/golden/smoke/oord2018/bound.csv"
    ),
    "data set without a name": Mistake(
        "fashion-mnist", "src/reprise/datasets/catalogue.py",
        {"        fashion_mnist.FASHION_MNIST,\n": ""}, ("tests/datasets/test_catalogue.py",),
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_by_every_test_that_it_turns_red(followed, tmp_path, mistake):
    planted = MISTAKES[mistake]
    checkout = copied(followed, tmp_path)
    for old, new in planted.edits.items():
        checkout.edit(planted.file, old, new)
    if not planted.edits:
        (checkout.root / planted.file).unlink()
    report = tmp_path / "report.xml"
    options = ["-m", "not slow", "-p", "no:cacheprovider", f"--junitxml={report}"]
    if planted.only:
        options += ["-k", " or ".join([*(Path(file).name for file in OF_REGISTRY), planted.only])]
    _, printed = checkout.call(sys.executable, "-m", "pytest", *options, *OF_REGISTRY, *planted.tests)
    red = failures(report)
    assert red, printed
    assert [test for test, said in red.items() if planted.name not in said] == [], printed


def failures(report):
    """Name and message of each test that failed, by test."""
    found = {}
    for case in xml.parse(report).iter("testcase"):
        test = f"{case.get('classname')}::{case.get('name')}"
        for failed in (*case.iter("failure"), *case.iter("error")):
            said = [line for line in (failed.text or "").splitlines() if line.startswith("E ")]
            found[test] = "\n".join([test, failed.get("message", ""), *said])
    return found
