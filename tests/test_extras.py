"""The library without the packages that only its extras install."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from packaging.requirements import Requirement

from reprise.errors import EXTRAS, NotInstalledError, naming_extras
from reprise.storage.versions import DISTRIBUTIONS

ROOT = Path(__file__).parents[1]
ABSENT = f"""
import sys
from importlib.machinery import PathFinder

found = PathFinder.find_spec

def find_spec(name, path=None, target=None):
    return None if name.partition(".")[0] in {set(EXTRAS)!r} else found(name, path, target)

PathFinder.find_spec = find_spec
"""
"""As where the packages of all extras are not installed."""
LINE = "needs the package {}, of the extra `{}`: pip install 'reprise-ssl[{}]'"


def without(script, folder):
    """The output of a script, on both streams."""
    done = subprocess.run(
        [sys.executable, "-c", ABSENT + script], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_each_package_of_an_extra_is_named_with_it():
    """But what Snakemake alone imports, and the tools of development."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {
        Requirement(each).name: extra
        for extra, requirements in project["optional-dependencies"].items()
        if extra not in ("cluster", "dev")
        for each in requirements
    }
    assert {DISTRIBUTIONS.get(package, package): extra for package, extra in EXTRAS.items()} == extras
    assert not extras.keys() & {Requirement(each).name for each in project["dependencies"]}


READING = """
import reprise
from reprise.cli import main
for words in (
    "list", "show jing2022/fig04", "check jing2022,tian2023", "plan esser2024 ren2023", "draw jing2022/fig04"
):
    assert main([*words.split(), "--tier", "tiny"]) == 0, words
assert reprise.draw("jing2022/fig04", "tiny").axes
assert len(reprise.load("jing2022/fig04", "tiny"))
assert main(["report", "--tier", "tiny"]) == 2
try:
    reprise.draw("ours/toy_models")
except reprise.RepriseError as error:
    print(error)
"""


def test_a_run_is_read_and_drawn_without_them_and_its_report_names_what_it_needs(ran):
    printed, said = without(READING, ran)
    assert said.splitlines()[-1] == "reprise: error: " + LINE.format("latex2mathml", "workflow", "workflow")
    assert "jing2022/layer_alignment" in printed


def test_a_model_is_diagnosed_without_them_and_timms_names_what_it_needs(tmp_path):
    np.save(tmp_path / "z.npy", np.random.default_rng(0).normal(size=(200, 12)))
    printed, said = without(
        "from reprise.cli import main\n"
        "assert main(['diagnose', 'z.npy']) == 0\n"
        "from PIL import Image\nfrom pathlib import Path\nPath('images').mkdir()\n"
        "for i in range(40): Image.new('RGB', (8, 8), (i, i, i)).save(f'images/{i}.png')\n"
        "assert main('diagnose timm:vit_tiny_patch16_224 --images images --to other'.split()) == 2\n",
        tmp_path,
    )
    assert "healthy: 0 of 12 dimensions collapsed" in printed
    assert said.splitlines()[-1] == "reprise: error: " + LINE.format("timm", "timm", "timm")
    assert not (tmp_path / "other").exists()


def test_pandas_and_what_was_raised_from_it_name_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "tabulate", None)
    with pytest.raises(NotInstalledError, match=re.escape(LINE.format("tabulate", "workflow", "workflow"))):  # noqa: SIM117
        with naming_extras():
            pd.DataFrame({"a": [1]}).to_markdown()


def test_what_is_of_no_extra_is_raised_as_it_is():
    with pytest.raises(ModuleNotFoundError, match="nothing_here"), naming_extras():
        import nothing_here  # noqa: F401
