"""Papers outside this package: a paper's folder in another repository.

An installed distribution names it by an entry point, a checkout by its path in a config:

    [project.entry-points."reprise.papers"]     # pyproject.toml of the other repository
    oord2018 = "oord2018"

    papers: [../contrastive-coding/oord2018]    # configs/mine.yaml, relative to the checkout

From then on the folder is one like those in `reprise.papers`: the code of its package is in the keys of
results, and is imported by the content of its files.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

from reprise import sources
from reprise.errors import RepriseError

GROUP = "reprise.papers"
"""The group of the entry points, and the room of this package's own papers."""
KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
INIT = "__init__.py"
SETTING = "papers"
"""The key in a config that lists folders."""


@cache
def packages() -> dict[str, str]:
    """Key of each paper outside this package -> the package that holds it. The package's code counts as ours
    from now on.

    Raises:
        RepriseError: for an entry point or a path that is no paper's folder, for a key that two papers have,
            and for a folder named like a package that is installed.
    """
    found: dict[str, tuple[str, str]] = {}
    for key, package, folder, where in (*_named_by_distributions(), *_named_by_configs()):
        if not KEY.fullmatch(key):
            raise RepriseError(f"{where}: a paper's key has letters, digits and '_' only, found '{key}'")
        sources.adopt(package, folder)
        spec = find_spec(package)
        if spec is None or not spec.origin:
            raise RepriseError(f"{where}: no package '{package}' with an __init__.py; install it again")
        file = str(folder / INIT) if folder else spec.origin
        if found.setdefault(key, (package, file)) != (package, file):
            raise RepriseError(f"{where}: another paper has the key '{key}': {found[key][1]}; rename one")
    return {key: package for key, (package, _) in found.items()}


def _named_by_distributions() -> Iterator[tuple[str, str, None, str]]:
    for entry in entry_points(group=GROUP):
        name = entry.dist.name if entry.dist else "a distribution"
        where = f"entry point '{entry.name}' of {name}"
        try:
            is_there = find_spec(entry.value.partition(".")[0]) is not None
        except (ImportError, ValueError):
            is_there = False
        if not is_there:
            raise RepriseError(f"{where}: no package '{entry.value}'; install {name} again, or uninstall it")
        yield entry.name, entry.value, None, where


def _named_by_configs() -> Iterator[tuple[str, str, Path, str]]:
    root = checkout_above(Path.cwd())
    for file in sorted((root / "configs").glob("*.yaml")) if root else ():
        for path in _listed(file):
            folder = (file.parent.parent / path).resolve()
            where = f"configs/{file.name}: {SETTING}: '{path}'"
            if not (folder / INIT).is_file():
                raise RepriseError(f"{where}: no paper's folder, which has an __init__.py: {folder}")
            taken = find_spec(folder.name) if folder.name not in sources.PACKAGES else None
            if taken and Path(taken.origin or "").parent != folder:
                raise RepriseError(f"{where}: Python has another package '{folder.name}'; rename the folder")
            yield folder.name, folder.name, folder, where


def _listed(file: Path) -> list[str]:
    """The paths in a config. What is wrong with the config is said where its tier is loaded."""
    content: Any = None
    with suppress(OSError, ValueError, yaml.YAMLError):
        text = file.read_text(encoding="utf-8")
        if re.search(rf"^{SETTING}\s*:", text, re.MULTILINE):
            content = yaml.safe_load(text)
    listed = content.get(SETTING) if isinstance(content, dict) else None
    return [path for path in listed if isinstance(path, str)] if isinstance(listed, list) else []


def checkout_above(start: Path) -> Path | None:
    """The nearest folder, from `start` upwards, with a `configs/default.yaml`."""
    return next(
        (folder for folder in (start, *start.parents) if (folder / "configs" / "default.yaml").is_file()),
        None,
    )
