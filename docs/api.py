"""Writes docs/api.md from the docstrings: `python docs/api.py`."""

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from reprise import diagnostics, objectives

FILE = Path(__file__).with_name("api.md")
HEAD = """# The library

Made from the docstrings by `python docs/api.py`; their examples run in `make test`.

`*replica` stands for any number of leading dimensions, which are mapped over. Shapes are in
[jaxtyping](https://docs.kidger.site/jaxtyping/)'s notation.
"""
PACKAGES = {
    diagnostics: "Each takes tensors, or NumPy's arrays for arrays in return. `reprise diagnose` shows most "
    "of them at once for a file or a model: [diagnose.md](diagnose.md).",
    objectives: "Losses take tensors and are differentiable. Those of two views, `(z1, z2)`, are also found "
    'by name: `resolve("vicreg")`.',
}
SECTIONS = ("Args", "Returns", "Raises", "Example", "Attributes", "Source")


def page() -> str:
    """The whole page."""
    return HEAD + "".join(part for package in PACKAGES for part in _package(package))


def _package(package: ModuleType) -> Iterator[str]:
    functions = {
        name: value
        for name, value in sorted(vars(package).items())
        if inspect.isfunction(value)
        and not name.startswith("_")
        and value.__module__.startswith(package.__name__)
        and name != "on_arrays"
    }
    yield f"\n## `{package.__name__}`\n\n{inspect.getdoc(package)}\n\n{PACKAGES[package]}\n"
    yield "\n" + " · ".join(f"[{name}](#{name})" for name in functions) + "\n"
    for name, function in functions.items():
        yield f"\n### {name}\n\n```python\n{_signature(name, function)}\n```\n\n{_markdown(function)}\n"


def _signature(name: str, function: Callable[..., Any]) -> str:
    signature = inspect.signature(function)
    arguments, starred = [], False
    for argument in signature.parameters.values():
        if argument.kind is argument.KEYWORD_ONLY and not starred:
            arguments.append("*")
            starred = True
        default = "" if argument.default is argument.empty else f" = {argument.default!r}"
        arguments.append(f"{argument.name}: {_type(argument.annotation)}{default}")
    lines = "".join(f"    {argument},\n" for argument in arguments)
    return f"{name}(\n{lines}) -> {_type(signature.return_annotation)}"


def _type(annotation: Any) -> str:
    shaped = getattr(annotation, "__name__", "") if "[" in getattr(annotation, "__name__", "") else ""
    text = shaped or inspect.formatannotation(annotation)
    return re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", text)


def _markdown(function: Callable[..., Any]) -> str:
    """The docstring: its sections as lists, its examples as code."""
    parts = re.split(rf"^({'|'.join(SECTIONS)}):$", inspect.getdoc(function) or "", flags=re.MULTILINE)
    texts = [parts[0].strip()]
    for section, content in zip(parts[1::2], parts[2::2], strict=True):
        lines = textwrap.dedent(content).strip().splitlines()
        if section == "Example":
            start = next((index for index, line in enumerate(lines) if line.startswith(">>>")), len(lines))
            code = "\n".join(["```python", *lines[start:], "```"])
            texts += [" ".join(lines[:start]), code if lines[start:] else ""]
        else:
            items = re.sub(r"\n\s+", " ", "\n".join(lines)).splitlines()
            bullet = "- " if section in ("Args", "Raises", "Attributes") else ""
            texts.append(f"**{section}**\n\n" + "\n".join(f"{bullet}{item}" for item in items))
    return "\n\n".join(filter(None, texts))


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
