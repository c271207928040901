"""docs/extending.md, as its reader follows it: every diff is applied to a checkout, and what it adds runs."""

import json
import re
import subprocess
import sys
from pathlib import Path

import official_formats
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "extending.md").read_text()
PAPERS = "src/reprise/papers"

ADDITIONS = {
    "A published loss": ("src/reprise/objectives/uniformity.py", {"src/reprise/objectives/__init__.py": 1}),
    "A new figure": (
        None,
        {f"{PAPERS}/jing2022/artifacts.csv": 1, f"{PAPERS}/jing2022/projector_alignment/figures.py": 10},
    ),
    "A new experiment": (f"{PAPERS}/jing2022/random_products/", {}),
    "A new paper": (f"{PAPERS}/oord2018/", {}),
    "A new data set": ("src/reprise/datasets/fashion_mnist.py", {"src/reprise/datasets/catalogue.py": 2}),
}
"""Section -> the file or folder that its diff adds, and the lines that it adds to existing files."""


def diff_in(section):
    """The one diff in a section of the page."""
    text = PAGE.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    (diff,) = re.findall(r"^```diff\n(.+?)^```$", text, re.MULTILINE | re.DOTALL)
    return diff


def apply(diff, *options, folder=ROOT):
    """What `git apply` prints."""
    command = ["git", "apply", *options, "-"]
    process = subprocess.run(command, input=diff, cwd=folder, text=True, capture_output=True)
    assert process.returncode == 0, f"docs/extending.md: {process.stderr}"
    return process.stdout


@pytest.mark.parametrize("section", ADDITIONS)
def test_an_addition_touches_only_what_it_must(section):
    lines = [line.split("\t") for line in apply(diff_in(section), "--numstat").splitlines()]
    added, changed = ADDITIONS[section]
    assert {name: int(count) for count, _, name in lines if (ROOT / name).exists()} == changed
    new = [name for *_, name in lines if not (ROOT / name).exists()]
    assert bool(new) == bool(added)
    assert all(name.startswith(added) for name in new)


def test_every_diff_on_the_page_is_tested():
    assert PAGE.count("```diff\n") == len(ADDITIONS)


@pytest.fixture
def extended(blank):
    """A checkout with one of each, and smoke settings that use the loss and the data set."""
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
        *("jing2022_sec61_after_training", "jing2022_random_products", "skean2024_projector_and_batch"),
        *("oord2018_sec23_bound", "oord2018_claims"),
    )
    results, figures = extended.root / "results" / "smoke", extended.root / "figures" / "smoke"
    assert (figures / "jing2022" / "sec61_after_training.pdf").is_file()
    assert (figures / "oord2018" / "sec23_bound.png").is_file()

    trajectory = pd.read_parquet(results / "jing2022" / "projector_alignment" / "trajectory.parquet")
    by_the_loss = trajectory.loc[trajectory["setting"] == "align_uniform", "off_diagonal_mass"]
    assert len(by_the_loss) > 0
    assert by_the_loss.between(0, 1).all()

    spectrum = pd.read_parquet(results / "jing2022" / "random_products" / "spectrum.parquet")
    assert len(spectrum) == 8 * 10 * 16

    record = json.loads((results / "skean2024" / "projector_and_batch" / "run.json").read_text())
    assert "fashion-mnist" in json.dumps(record)

    verdicts = pd.read_parquet(results / "oord2018" / "claims.parquet")
    assert verdicts["verdict"].tolist() == ["reproduced", "reproduced"]

    code, listed = extended.call("reprise", "list", "oord2018", "--tier", "smoke")
    assert code == 0, listed
    assert "  oord2018/bound: 2 claims; done\n" in listed
    assert "  oord2018/sec23: 2 reproduced\n" in listed

    tests = ROOT / "tests" / "test_artifacts.py"
    code, printed = extended.call(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", tests)
    assert code == 0, printed
