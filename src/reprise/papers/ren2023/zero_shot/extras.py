"""Packages that only some experiments need; asked for when a run is planned, and not imported then."""

import importlib.util


def missing(package: str, extra: str) -> list[str]:
    """A sentence that says how to install it, if it is not there.

    Args:
        extra: of pyproject.toml, which has it.
    """
    there = importlib.util.find_spec(package) is not None
    return [] if there else [f'the package {package}: pip install -e ".[{extra}]"']
