"""Packages that only some experiments need; a run's plan looks for them without importing them."""

import importlib.util

from reprise.errors import install


def missing(package: str) -> list[str]:
    """A missing package with the command that installs it; empty if the package is installed.

    Args:
        package: one of `errors.EXTRAS`.
    """
    is_installed = importlib.util.find_spec(package) is not None
    return [] if is_installed else [f"the package {package}: {install(package)}"]
