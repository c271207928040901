"""Writes docs/api.md from signatures and docstrings: `python docs/api.py`."""

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from reprise import diagnostics, objectives

FILE = Path(__file__).with_name("api.md")
HEAD = """# The library

The functions that you can call on weights, embeddings and views of your own. Most map over any number of
leading dimensions. `help(reprise.objectives.vicreg)` has the shapes, an example, the source and the errors of
one. `python docs/api.py` writes these tables.
"""
PACKAGES = {
    diagnostics: "`reprise diagnose` shows most of them at once for a file or a model: "
    "[diagnose.md](diagnose.md).",
    objectives: "Losses are differentiable. Those of two views, `(z1, z2)`, are also found by name: "
    '`resolve("vicreg")`.',
}


def page() -> str:
    """The whole page."""
    return HEAD + "".join(part for package in PACKAGES for part in _package(package))


def _package(package: ModuleType) -> Iterator[str]:
    summary = (inspect.getdoc(package) or "").partition("\n\n")[0]
    yield f"\n## `{package.__name__}`\n\n{summary} {PACKAGES[package]}\n\n| function | result |\n|---|---|\n"
    for name, value in sorted(vars(package).items()):
        if (
            inspect.isfunction(value)
            and not name.startswith("_")
            and value.__module__.startswith(package.__name__)
            and name != "on_arrays"
        ):
            yield f"| `{name}{_arguments(value)}` | {_summary(value)} |\n"


def _arguments(function: Callable[..., Any]) -> str:
    """The names and defaults of the arguments, in brackets."""
    signature = inspect.signature(function)
    bare = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=signature.empty))


def _summary(function: Callable[..., Any]) -> str:
    """The first paragraph of the docstring, as a cell of a table."""
    paragraph = (inspect.getdoc(function) or "").partition("\n\n")[0]
    return " ".join(paragraph.split()).replace("|", "\\|")


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
