"""Exact versions and hashes of all that is installed and run for a test or a result."""

import re
import tomllib
from importlib import metadata
from itertools import chain
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PINNED = re.compile(r"([\w.-]+)==(\S+)((?: --hash=sha256:[0-9a-f]{64})+)")
CONSTRAINTS = [
    line
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]


def test_each_constraint_has_a_version_and_hashes():
    assert [line for line in CONSTRAINTS if not PINNED.fullmatch(line)] == []


def test_what_the_package_needs_and_what_builds_it_is_pinned():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = settings["project"]
    needed = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    pinned = {canonicalize_name(name): version for name, version, _ in PINNED.findall("\n".join(CONSTRAINTS))}
    for requirement in map(Requirement, needed):
        assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)])
    for requirement in map(Requirement, settings["build-system"]["requires"]):
        assert str(requirement.specifier) == f"=={pinned[canonicalize_name(requirement.name)]}"


def closure(requirements):
    """The names of all that requirements need, as the metadata of what is installed have it."""
    found, waiting = set(), [Requirement(each) for each in requirements]
    while waiting:
        requirement = waiting.pop()
        name, extras = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if (name, extras) in found:
            continue
        found.add((name, extras))
        try:
            needed = map(Requirement, metadata.distribution(name).requires or [])
        except metadata.PackageNotFoundError:  # of an extra that is not installed here
            continue
        waiting += [
            each
            for each in needed
            if not each.marker or any(each.marker.evaluate({"extra": extra}) for extra in ("", *extras))
        ]
    return {name for name, _ in found}


def test_what_the_extra_dev_alone_needs_comes_last():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    others = [*project["dependencies"], *chain(*(extras[extra] for extra in extras.keys() - {"dev"}))]
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {canonicalize_name(line.split("==")[0]) for line in lines[lines.index("# dev") + 1 :]}
    assert closure(extras["dev"]) - closure(others) == pinned


def test_each_action_of_ci_is_a_commit():
    for file in (ROOT / ".github" / "workflows").glob("*.yml"):
        steps = [step for job in yaml.safe_load(file.read_text())["jobs"].values() for step in job["steps"]]
        used = [step["uses"] for step in steps if "uses" in step]
        assert used
        assert [name for name in used if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", name)] == []


def test_the_snakefile_asks_for_the_version_that_is_promised():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (promised,) = (
        each for each in extras["optional-dependencies"]["workflow"] if each.startswith("snakemake")
    )
    asked = re.search(r'min_version\("(.+)"\)', (ROOT / "Snakefile").read_text(encoding="utf-8"))
    assert promised == f"snakemake>={asked[1]}"
