"""The command `reprise new`: a start for a paper, an experiment, a claim or a loss.

What it writes runs and is tested. Its `TODO`s say what is still to be written, and one test lists them.
"""

import argparse
import ast
import csv
import importlib
import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files as package_files
from pathlib import Path

from reprise.engine import registry, tiers
from reprise.errors import RepriseError
from reprise.storage.disk import write_files

HELP = "write a start for a paper, an experiment, a claim or a loss, and say what is left to write"
NAME = re.compile(r"[a-z][a-z0-9_]{0,60}")

PAPER = '''"""TODO: authors and subject of the paper, in a line."""

TITLE = "TODO: title of {key}"
BIBTEX = """@article{{{key},
  title   = {{TODO}},
  author  = {{TODO}},
  journal = {{TODO}},
  year    = {{TODO}}
}}"""
'''
ARTIFACTS = f"{','.join(registry.COLUMNS)}\n"
INIT = '"""TODO: the phenomenon that {name} is about, in a line."""\n'
EXPERIMENT = '''"""Settings of {name}. TODO: where the paper has them.

No other loss can be shown: nothing is trained.
"""

from reprise.contract.experiment import Experiment
from reprise.contract.settings import Seeded, ours


class Params(Seeded):
    """TODO: what is run."""

    samples: int = ours(20, "TODO: a field for each setting, the paper's with `stated(...)`", ge=2)
    seeds: int = ours(5, "independent samples", ge=1)


EXPERIMENT = Experiment(params=Params, tables=("observations",))
'''
COMPUTE = '''"""Measures a placeholder. TODO: what the paper measures."""

import pandas as pd

from reprise.contract.experiment import Context
from reprise.numerics.streams import stream
from {package}.{name}.experiment import Params


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Table `observations`: a `value` a seed."""
    seeds = params.seed_range(params.seeds)
    values = [stream(seed, "sample").normal(size=params.samples).mean() for seed in seeds]
    return {{"observations": pd.DataFrame({{"seed": seeds, "value": values}})}}
'''
FIGURES = '''"""A point a seed. TODO: the paper's figure."""

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from reprise.contract.experiment import BASE, Tables, figure
from reprise.evidence.verdicts import setting
from {package}.{name}.experiment import Params
from reprise.plotting.style import WIDTH, drawable


@figure("TODO: number of {name}", reads=("observations",), caption="TODO: what is seen.")
def {name}_observations(tables: Tables, params: Params) -> Figure:
    table = setting(tables, BASE)["observations"]
    drawn, axes = plt.subplots(figsize=(0.5 * WIDTH, 2.2))
    axes.plot(table["seed"], drawable(table["value"], "value"), "o", color="0.3", label="a seed")
    axes.set(xlabel="seed", ylabel="value")
    axes.legend()
    return drawn
'''
CLAIMS = '"""TODO: what the paper says of {name}."""\n'
IMPORTS = """
from reprise.evidence.claim import claim
from reprise.evidence.comparison import Comparison, above
from reprise.evidence.edits import put
from reprise.evidence.measures import column, each_seed, mean
"""
CLAIM = '''

@claim(
    "{id}",
    "TODO: the paper's sentence about {name}, in our words.",
    at="TODO: where the paper says it; its own words are quotes=Quotation(...)",
    quantifier="generic",
    word="TODO: the words that make it so",
    broken_by=put("{table}", "{column}", -1.0),
)
def todo() -> Comparison:
    """TODO: what is measured, a number a seed."""
    return above(each_seed(mean, column("{table}", "{column}")), 0.0, unit="TODO: unit")
'''
LOSS = '''"""{name}."""

from jaxtyping import Float
from torch import Tensor

from reprise.objectives.embeddings import check_views, squared_chord


def {name}(
    z1: Float[Tensor, "*replica batch dim"], z2: Float[Tensor, "*replica batch dim"]
) -> Float[Tensor, "*replica"]:
    """mean_i |u1_i - u2_i|², with u = z/|z|: a start, to be replaced by your equation.

    Invariant to: rotation of both views, permutation of samples, order of the views, length of each
    embedding.

    Source: its paper, with the equation's number; the authors' code.

    Raises:
        RepriseError: if the views' shapes differ.
    """
    check_views("{name}", z1, z2)
    return squared_chord(z1, z2)
'''


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command to its parser."""
    parser.add_argument("what", choices=("paper", "experiment", "claim", "loss"))
    parser.add_argument(
        "name",
        metavar="NAME",
        help="KEY of a paper, or its folder in another repository; KEY/NAME of an experiment, also for its "
        "claim; name of a loss",
    )


def run(options: argparse.Namespace) -> None:
    """Runs the command.

    Raises:
        RepriseError: if the name is taken or is none, or there is no paper or experiment to add to.
    """
    begin = {"paper": paper, "experiment": experiment, "claim": claim, "loss": loss}[options.what]
    files, then = begin(options.name)
    write_files({file: _writer(text) for file, text in files.items()})
    modules = [str(file) for file in files if file.suffix == ".py"]
    for words in (["check", "--quiet", "--fix", "--select", "I"], ["format", "--quiet"]):
        ruff = [sys.executable, "-m", "ruff", *words, *modules]  # where it is installed
        subprocess.run(ruff, stderr=subprocess.DEVNULL, check=False)
    if options.what == "loss":
        subprocess.run([sys.executable, str(tiers.checkout() / "docs" / "api.py")], check=True)
    for file in files:
        print(_shown(file))
    print(then)


def paper(name: str) -> tuple[dict[Path, str], str]:
    """The files of a new paper, and what to do then: in this package by its key, elsewhere by its folder."""
    folder = Path(name) if "/" in name else _own(registry.ROOM) / name
    key = _checked(folder.name)
    if key in registry.packages() or folder.exists():
        there = registry.folder(key) if key in registry.packages() else folder
        raise RepriseError(f"{there}: there is a paper '{key}'; choose another key")
    is_own = "/" not in name
    package = f"{registry.ROOM}.{key}" if is_own else key
    files = {
        folder / "__init__.py": PAPER.format(key=key),
        folder / "artifacts.csv": ARTIFACTS + _row(key, "first"),
    }
    files |= _experiment_files(folder / "first", package)
    named = ""
    if not is_own:
        named_at = os.path.relpath(folder.resolve(), tiers.checkout())
        named = f"name it in a config of the checkout (papers: [{named_at}]), "
    return files, f"{named}write what the TODOs say, and run: reprise run {key}/first --tier smoke"


def experiment(id: str) -> tuple[dict[Path, str], str]:
    """The files of a new experiment of a paper, and what to do then."""
    key, _, name = id.partition("/")
    if not name:
        raise RepriseError(f"'{id}' names no experiment; write KEY/NAME, such as {key}/first")
    package, folder = registry.packages()[registry.paper(key).key], registry.folder(key)
    if (folder / _checked(name)).exists():
        raise RepriseError(f"{folder / name}: there is an experiment '{id}'; choose another name")
    artifacts = folder / "artifacts.csv"
    files = _experiment_files(folder / name, package)
    files[artifacts] = artifacts.read_text(encoding="utf-8") + _row(key, name)
    return files, f"write what the TODOs say, and run: reprise run {id} --tier smoke"


def claim(id: str) -> tuple[dict[Path, str], str]:
    """The files with a new claim of an experiment, and what to do then."""
    found = registry.experiment(id)
    key, name = id.split("/")
    new = f"{key}/{name.replace('_', '-')}/todo"
    file = registry.folder(key) / name / "claims.py"
    text = file.read_text(encoding="utf-8") if file.exists() else CLAIMS.format(name=name)
    if new in text:
        raise RepriseError(f"{file}: has a claim '{new}' already; write that one first")
    table, column = _first_column(found)
    start = ast.parse(text).body[0].end_lineno or 0  # the docstring
    lines = text.splitlines(keepends=True)
    text = "".join([*lines[:start], IMPORTS, *lines[start:]])
    written = {file: text + CLAIM.format(id=new, name=name, table=table, column=column)}
    return written, f"write what the TODOs of {_shown(file)} say (docs/extending.md)"


def _first_column(experiment: registry.Experiment) -> tuple[str, str]:
    """A table and a measured column of an experiment: of its ideal tables, else by its golden numbers, else
    those that `reprise new experiment` begins with."""
    if experiment.has_ideal:
        table, frame = next(iter(experiment.ideal(experiment.params()).items()))
        return table, str(frame.select_dtypes("number").columns[-1])
    golden = tiers.checkout() / "tests" / "golden" / "smoke" / f"{experiment.id}.csv"
    if not golden.is_file():
        return experiment.tables[0], "value"
    with golden.open(encoding="utf-8") as file:
        row = next(csv.DictReader(file))
    return row["table"], row["column"]


def loss(name: str) -> tuple[dict[Path, str], str]:
    """The files of a new published loss, and what to do then."""
    folder = _own(registry.OBJECTIVES)
    file, init = folder / f"{_checked(name)}.py", folder / "__init__.py"
    if file.exists() or hasattr(importlib.import_module(registry.OBJECTIVES), name):
        raise RepriseError(f"{file}: there is a loss or a module '{name}'; choose another name")
    lines = init.read_text(encoding="utf-8").splitlines(keepends=True)
    start = f"from {registry.OBJECTIVES}."
    imports = [number for number, line in enumerate(lines) if line.startswith(start)]
    lines.insert(imports[0], f"{start}{name} import {name}\n")
    return (
        {file: LOSS.format(name=name), init: "".join(lines)},
        "write the equation and its value in tests/objectives/test_values.py (docs/extending.md), and then "
        "docs/api.md again: python docs/api.py",
    )


def _experiment_files(folder: Path, package: str) -> dict[Path, str]:
    templates = {"__init__": INIT, "experiment": EXPERIMENT, "compute": COMPUTE, "figures": FIGURES}
    return {
        folder / f"{module}.py": template.format(name=folder.name, package=package)
        for module, template in templates.items()
    }


def _row(key: str, name: str) -> str:
    return f"TODO: what the figure of {name} shows,TODO,{key}/{name}_observations,ours: not in the paper\n"


def _shown(file: Path) -> str:
    return os.path.relpath(file)


def _own(package: str) -> Path:
    return Path(str(package_files(package)))


def _checked(name: str) -> str:
    if not NAME.fullmatch(name):
        raise RepriseError(
            f"'{name}' is no name; write small letters, digits and '_', beginning with a letter"
        )
    return name


def _writer(text: str) -> Callable[[Path], int]:
    return lambda file: file.write_text(text, encoding="utf-8")
