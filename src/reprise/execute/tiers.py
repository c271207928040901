"""Tiers: the YAML files in `configs/`, each of which overrides some parameters of the experiments."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from reprise.errors import RepriseError
from reprise.execute import registry
from reprise.storage.store import CACHE
from reprise.study.settings import Settings

KEYS = ("tier", "device", "on_request", "looked", "experiments")
DEVICES = ("cpu", "cuda")
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
"""Valid names of a tier, which appear in paths and commands."""


@dataclass(frozen=True)
class Tier:
    """A validated config: the parameters of every experiment.

    Attributes:
        name: the file's stem, and the name of the tier's folders in results/ and figures/.
        overrides: the file's overrides for each experiment.
        on_request: the experiments that run only when asked for by name.
        looked: experiment id -> which of its parameters were set after results had been seen, and what had
            been tried.
        params: experiment id -> its parameters in this tier.
        hash: 12 hexadecimal digits over all parameters.
    """

    name: str
    root: Path
    overrides: Mapping[str, Mapping[str, Any]]
    on_request: tuple[str, ...]
    looked: Mapping[str, str]
    params: Mapping[str, Settings]
    hash: str

    @property
    def results(self) -> Path:
        return self.root / "results" / self.name

    @property
    def figures(self) -> Path:
        return self.root / "figures" / self.name


def names(root: Path | None = None) -> list[str]:
    """The tiers in `configs/`."""
    return sorted(file.stem for file in ((root or checkout()) / "configs").glob("*.yaml"))


def load_tier(name: str, root: Path | None = None) -> Tier:
    """Reads and validates `configs/NAME.yaml` of the checkout at `root` (default: see `checkout`).

    Raises:
        RepriseError: for an unknown tier, an invalid file name, unreadable YAML, or any invalid key or value,
            naming the file, the key, the value and what is allowed.
    """
    root = root or checkout()
    if name not in names(root):
        raise RepriseError(f"unknown tier '{name}'; configs/ holds: {', '.join(names(root))}")
    file = root / "configs" / f"{name}.yaml"
    if not NAME.fullmatch(name) or name == CACHE.name:
        raise RepriseError(
            f"configs/{file.name}: a tier's name has letters, digits, '_', '.' and '-' only, begins with a "
            f"letter, a digit or '_', and is not '{CACHE.name}'; rename the file, and the tier in it"
        )
    content = _read(file)
    where = str(file.relative_to(root))
    for key in content:
        if key not in KEYS:
            raise RepriseError(f"{where}: unknown key '{key}'; allowed: {', '.join(KEYS)}")
    if content.get("tier") != name:
        raise RepriseError(
            f"{where}: key 'tier' has the value {content.get('tier')!r}; it must be '{name}', like the file"
        )
    device = content.get("device", "cpu")
    if device not in DEVICES:
        raise RepriseError(f"{where}: key 'device' has the value {device!r}; allowed: {', '.join(DEVICES)}")
    overrides = _mapping(content, "experiments", where)
    on_request = content.get("on_request") or []
    if not isinstance(on_request, list):
        raise RepriseError(
            f"{where}: key 'on_request' has the value {on_request!r}; write a list of experiments"
        )
    looked = _mapping(content, "looked", where)
    for key, text in looked.items():
        if not isinstance(text, str):
            raise RepriseError(f"{where}: looked: key '{key}' has the value {text!r}; write a sentence")
    experiments = registry.experiments()
    for key in (*overrides, *on_request, *looked):
        if key not in experiments:
            raise RepriseError(f"{where}: unknown experiment '{key}'; allowed: {', '.join(experiments)}")
    params = {
        id: experiment.params.from_overrides(
            {**_placed(experiment.params, device), **_mapping(overrides, id, where)},
            f"{where}: experiments: {id}",
        )
        for id, experiment in experiments.items()
    }
    values = json.dumps({id: p.model_dump() for id, p in params.items()}, sort_keys=True)
    digest = hashlib.sha256(values.encode()).hexdigest()[:12]
    return Tier(name, root, overrides, tuple(on_request), looked, params, digest)


def _placed(params: type[Settings], device: str) -> dict[str, str]:
    """The override that puts an experiment on a device, if it can run on more than one."""
    return {"device": device} if "device" in params.model_fields else {}


class _Loader(yaml.SafeLoader):
    """YAML in which a repeated key is an error, not a silent replacement, and 1e-3 a number, not a string."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        seen = set()
        for key, _ in node.value:
            problem = ""
            if not isinstance(key, yaml.ScalarNode):
                problem = "a key must be a word"
            elif key.value in seen:
                problem = f"the key '{key.value}' stands twice"
            if problem:
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]+$"),
    list("-+.0123456789"),
)


def _read(file: Path) -> dict[str, Any]:
    try:
        content = yaml.load(file.read_text(), _Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise RepriseError(f"{file}: {place}not readable as YAML: {error.problem}") from None
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise RepriseError(f"{file}: not readable as YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise RepriseError(f"{file}: expected a mapping with the keys {', '.join(KEYS)}, found {content!r}")
    return content


def _mapping(content: Mapping[str, Any], key: str, where: str) -> dict[str, Any]:
    value = content.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise RepriseError(f"{where}: key '{key}' has the value {value!r}; expected a mapping")
    return value


def checkout(start: Path | None = None) -> Path:
    """The checkout around `start` (default: the working directory), the nearest folder upwards with a
    `configs/default.yaml`.

    Raises:
        RepriseError: outside a checkout.
    """
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        if (folder / "configs" / "default.yaml").is_file():
            return folder
    raise RepriseError(
        f"{start}: no configs/default.yaml here or above; run this inside a checkout of Reprise"
    )
