"""Every public function shows an example, and the examples run."""

import doctest
import importlib
import inspect
import pkgutil

import numpy as np
import pytest
import torch

from reprise import diagnostics, objectives

MODULES = [
    importlib.import_module(f"{package.__name__}.{info.name}")
    for package in (diagnostics, objectives)
    for info in pkgutil.iter_modules(package.__path__)
]
NO_EXAMPLE = {
    "reprise.objectives.closed_form",
    "reprise.objectives.embeddings",
    "reprise.objectives.infonce.filled",
    "reprise.objectives.infonce.exp2_",
    "reprise.objectives.own.own_loss",
}
"""Modules and functions without an example: the parts of losses, and a function that needs a user's file."""


def public(module):
    return {
        f"{module.__name__}.{name}": value
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
    }


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.removeprefix("reprise."))
def test_examples_run(module):
    outcome = doctest.testmod(module, extraglobs={"torch": torch, "np": np})
    assert outcome.failed == 0
    functions = set(public(module)) - NO_EXAMPLE if module.__name__ not in NO_EXAMPLE else set()
    lacking = [name for name in functions if ">>>" not in (public(module)[name].__doc__ or "")]
    assert not lacking, f"no example: {lacking}"
