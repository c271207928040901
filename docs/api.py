"""Writes docs/api.md from signatures and docstrings: `python docs/api.py`."""

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from reprise import diagnostics, objectives

FILE = Path(__file__).with_name("api.md")
HEAD = """# The library

Functions for weights, embeddings and views of your own. Most map over any number of leading dimensions.
`help(reprise.objectives.vicreg)` has the equation, options, shapes, an example, source and errors of one.
`python docs/api.py` writes this page.
"""
PACKAGES = {
    diagnostics: "[`reprise diagnose`](diagnose.md) shows most of them for a file or a model.",
    objectives: 'Losses are differentiable. Those of `(z1, z2)` are also found by name: `resolve("vicreg")`.',
}
SOURCE = re.compile(r" \([^()]*\b20\d\d\b[^()]*\)")
"""Pattern of a source's citation in a function's summary."""


def page() -> str:
    """The whole page."""
    return HEAD + "".join(part for package in PACKAGES for part in _package(package))


def _package(package: ModuleType) -> Iterator[str]:
    summary = (inspect.getdoc(package) or "").partition("\n\n")[0]
    yield f"\n## `{package.__name__}`\n\n{summary} {PACKAGES[package]}\n\n"
    for name, value in sorted(vars(package).items()):
        if (
            inspect.isfunction(value)
            and not name.startswith("_")
            and value.__module__.startswith(package.__name__)
            and name != "on_arrays"
        ):
            yield f"- `{name}({_arguments(value)})`: {_summary(value)}\n"


def _arguments(function: Callable[..., Any]) -> str:
    """Names of a function's required arguments."""
    given = inspect.signature(function).parameters.values()
    return ", ".join(each.name for each in given if each.default is each.empty)


def _summary(function: Callable[..., Any]) -> str:
    """The beginning of the docstring without its source, up to a colon or semicolon: `help` has the rest."""
    paragraph = (inspect.getdoc(function) or "").partition("\n\n")[0]
    return re.split("[:;] ", SOURCE.sub("", " ".join(paragraph.split())))[0].removesuffix(".")


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
