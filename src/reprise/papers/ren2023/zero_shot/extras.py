"""Packages that only some experiments need; a run's plan looks for them without importing them."""

import importlib.util


def missing(package: str, extra: str) -> list[str]:
    """A missing package with the command that installs it; empty if the package is installed.

    Args:
        extra: the extra in pyproject.toml that contains it.
    """
    installed = importlib.util.find_spec(package) is not None
    return [] if installed else [f'the package {package}: pip install -e ".[{extra}]"']
