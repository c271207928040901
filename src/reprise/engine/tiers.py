"""Tiers: the YAML files in `configs/`, each of which overrides some parameters of the experiments. A recorded
run, from a bundle, is read like a tier, but nothing is computed in it."""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from reprise.contract.settings import Settings, one_line, overridden, quoted, shortened
from reprise.engine import elsewhere, registry
from reprise.engine.configured import RECORDED, Tier
from reprise.errors import RepriseError, one_of, unknown
from reprise.storage import store

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
"""Valid names of a tier, which appear in paths and commands."""
LARGEST = 100_000
"""Size of a config in bytes, at most: a longer one would take long to read, too."""
DEEPEST = 20
"""Mappings and lists inside each other in a config, at most."""
MOST_VALUES = 10_000
"""Keys, values, mappings and lists in a config, at most, each alias counted as what it stands for."""
LARGEST_INTEGER = 10**15
KEYS = ("tier", "base", "device", "papers", "is_test", "on_request", "looked", "experiments")
DEVICES = ("cpu", "cuda")
TAKEN = (store.CACHE.name, RECORDED)
"""Folders of results/ that are not a tier's."""


def names(root: Path | None = None) -> list[str]:
    """The tiers in `configs/`."""
    return sorted(file.stem for file in ((root or checkout()) / "configs").glob("*.yaml"))


def load_tier(name: str, root: Path | None = None) -> Tier:
    """Reads and validates `configs/NAME.yaml` of the checkout at `root` (default: see `checkout`).

    Raises:
        RepriseError: for an unknown tier, an invalid file name, unreadable YAML, or any invalid key or value,
            naming the file, the key, the value and what is allowed; for a recorded run that is missing,
            damaged or has other parameters than the experiments now.
    """
    try:
        return _load_tier(name, root or checkout())
    except RepriseError as error:
        raise RepriseError(shortened(str(error))) from None


def _load_tier(name: str, root: Path) -> Tier:
    content, where = _content(name, root)
    if base := content.get("base"):
        _load_tier(base, root)  # so that a mistake in its file is reported as one there
    device = content.get("device", "cpu")
    if device not in DEVICES:
        raise RepriseError(
            f"{where}: key 'device' has the value {quoted(device)}; allowed: {', '.join(DEVICES)}"
        )
    is_test = content.get("is_test", False)
    if not isinstance(is_test, bool):
        raise RepriseError(f"{where}: key 'is_test' has the value {quoted(is_test)}; allowed: true, false")
    overrides = _mapping(content, "experiments", where)
    on_request = content.get("on_request") or []
    if not isinstance(on_request, list):
        raise RepriseError(
            f"{where}: key 'on_request' has the value {quoted(on_request)}; write a list of experiments"
        )
    papers = content.get(elsewhere.SETTING) or []
    if not isinstance(papers, list) or not all(isinstance(path, str) for path in papers):
        raise RepriseError(
            f"{where}: key '{elsewhere.SETTING}' has the value {quoted(papers)}; write a list of folders"
        )
    looked = _mapping(content, "looked", where)
    for key, text in looked.items():
        if not isinstance(text, str):
            raise RepriseError(f"{where}: looked: key {quoted(key)}: {quoted(text)} is no sentence")
    experiments = registry.experiments()
    for key in (*overrides, *on_request, *looked):
        if not isinstance(key, str) or key not in experiments:
            raise RepriseError(f"{where}: unknown experiment {quoted(key)}; {one_of(str(key), experiments)}")
    params = {
        id: with_overrides(
            experiment.params,
            {**_placed(experiment.params, device), **_mapping(overrides, id, where)},
            f"{where}: experiments: {id}",
        )
        for id, experiment in experiments.items()
    }
    for id, experiment in experiments.items():
        try:
            experiment.settings(params[id])
        except (ValueError, ArithmeticError) as error:
            raise RepriseError(
                f"{where}: experiments: {id}: {changes(overrides.get(id))} leave no room for other plausible "
                f"values, which follow from them: {one_line(error)}"
            ) from None
    digest = digest_of(params)
    return Tier(name, root, overrides, tuple(on_request), looked, params, digest, is_test=is_test)


def is_test(name: str, root: Path) -> bool:
    """Tells if the checkout at `root` has a tier of this name that tests the program alone."""
    return name in names(root) and _content(name, root)[0].get("is_test") is True


def with_overrides(kind: type[Settings], overrides: Mapping[str, Any], where: str) -> Settings:
    """An experiment's parameters, with the overrides of a config or a record.

    Raises:
        RepriseError: naming `where`, the key, the value and what is allowed.
    """
    try:
        return overridden(kind, overrides, where)
    except KeyError:  # the refusal looks an unknown key up by its place in a list
        raise RepriseError(f"{where}: unknown key in a list of settings: {changes(overrides)}") from None
    except ArithmeticError as error:  # of a check that compares values
        raise RepriseError(f"{where}: {changes(overrides)} are not possible: {one_line(error)}") from None


def changes(overrides: Mapping[str, Any] | None) -> str:
    """The settings that a config changes in an experiment, as messages show them."""
    settings = ", ".join(f"{key} = {quoted(value)}" for key, value in (overrides or {}).items())
    return shortened(settings, 400) or "the published settings"


def _content(name: str, root: Path, derived: tuple[str, ...] = ()) -> tuple[dict[str, Any], str]:
    """The content of a tier's file, on top of that of its base if it names one, and the file's name.

    Args:
        derived: the tiers of which it is a base.
    """
    if name not in names(root):
        raise unknown("tier", name, names(root), f"configs/ holds: {', '.join(names(root))}")
    file = root / "configs" / f"{name}.yaml"
    if not NAME.fullmatch(name) or name in TAKEN:
        raise RepriseError(
            f"configs/{file.name}: a tier's name has letters, digits, '_', '.' and '-' only, begins with a "
            f"letter, a digit or '_', and is not '{TAKEN[0]}' or '{TAKEN[1]}'; rename the file, and the tier "
            "in it"
        )
    content, where = _read(file), str(file.relative_to(root))
    for key in content:
        if key not in KEYS:
            raise RepriseError(f"{where}: unknown key {quoted(key)}; allowed: {', '.join(KEYS)}")
    if content.get("tier") != name:
        raise RepriseError(
            f"{where}: key 'tier' has the value {quoted(content.get('tier'))}; it must be '{name}', like the "
            "file"
        )
    base = content.get("base")
    if base is None:
        return content, where
    allowed = [other for other in names(root) if other not in (name, *derived)]
    if base not in allowed:
        raise RepriseError(
            f"{where}: key 'base' has the value {quoted(base)}; allowed: {', '.join(allowed) or 'nothing'}"
        )
    below, _ = _content(base, root, (name, *derived))
    return _on_top(below, content), where


def _on_top(base: Any, override: Any) -> Any:
    """A value of a config over its base's: mappings are merged, unless they are of another `kind`."""
    if isinstance(base, dict) and override is None:
        return base
    if not isinstance(base, dict) or not isinstance(override, dict):
        return override
    if override.get("kind", base.get("kind")) != base.get("kind"):
        return override
    return base | {key: _on_top(base.get(key), value) for key, value in override.items()}


def digest_of(params: Mapping[str, Settings]) -> str:
    values = json.dumps({id: p.model_dump() for id, p in params.items()}, sort_keys=True)
    return hashlib.sha256(values.encode()).hexdigest()[:12]


def _placed(params: type[Settings], device: str) -> dict[str, str]:
    """The override that puts an experiment on a device, if it can run on more than one."""
    return {"device": device} if "device" in params.model_fields else {}


class _Loader(yaml.SafeLoader):
    """YAML in which a repeated key is an error, not a silent replacement, and 1e-3 a number, not a string;
    without tags, deep nesting, very many values and aliases of what they stand in."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = self._composed = 0
        self._sizes: dict[int, int] = {}
        """Number of values in each composed node, by its `id`, with aliases written out."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()
        if getattr(event, "tag", None) is not None:
            raise _refused(event, f"the tag {quoted(event.tag)}: write words, numbers, lists and mappings")
        self._composed += 1
        self._depth += 1
        if self._depth > DEEPEST:
            raise _refused(event, f"more than {DEEPEST} mappings and lists inside each other")
        node = super().compose_node(parent, index)
        self._depth -= 1
        if node is not None and id(node) not in self._sizes:
            if isinstance(event, yaml.AliasEvent):
                raise _refused(event, f"the alias {quoted(event.anchor)} stands within what it refers to")
            self._sizes[id(node)] = 1 + sum(self._sizes[id(part)] for part in _parts(node))
        if node is not None and max(self._composed, self._sizes[id(node)]) > MOST_VALUES:
            raise _refused(event, f"more than {MOST_VALUES:,} values, with aliases written out")
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        seen = set()
        for key, _ in node.value:
            problem = ""
            if not isinstance(key, yaml.ScalarNode):
                problem = "a key must be a word"
            elif key.value in seen:
                problem = f"the key {quoted(key.value)} stands twice"
            if problem:
                raise _refused(key, problem)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def _integer(loader: _Loader, node: yaml.ScalarNode) -> int:
    with suppress(ValueError):  # from thousands of digits, or none after 0x
        if abs(value := loader.construct_yaml_int(node)) <= LARGEST_INTEGER:
            return value
    raise _refused(node, f"{quoted(node.value)} is not a whole number of at most {LARGEST_INTEGER:g}")


_Loader.add_constructor("tag:yaml.org,2002:int", _integer)


def _parts(node: yaml.Node) -> list[yaml.Node]:
    """The nodes directly inside a node."""
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else []


def _refused(place: yaml.Node | yaml.Event, problem: str) -> yaml.MarkedYAMLError:
    return yaml.constructor.ConstructorError(None, None, problem, place.start_mark)  # type: ignore[arg-type]


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]+$"),
    list("-+.0123456789"),
)


def _read(file: Path) -> dict[str, Any]:
    try:
        if not file.is_file() or file.stat().st_size > LARGEST:
            raise ValueError(f"expected a file of at most {LARGEST:,} bytes")
        content = yaml.load(file.read_text(encoding="utf-8"), _Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise RepriseError(f"{file}: {place}not readable as YAML: {error.problem}") from None
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise RepriseError(f"{file}: not readable as YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise RepriseError(
            f"{file}: expected a mapping with the keys {', '.join(KEYS)}, found {quoted(content)}"
        )
    return content


def _mapping(content: Mapping[str, Any], key: str, where: str) -> dict[str, Any]:
    value = content.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise RepriseError(f"{where}: key {quoted(key)} has the value {quoted(value)}; expected a mapping")
    return value


def checkout() -> Path:
    """The checkout around the working directory, the nearest folder upwards with a `configs/default.yaml`.

    Raises:
        RepriseError: outside a checkout, or if the locale lacks a letter of its path.
    """
    start = Path.cwd().resolve()
    try:
        str(start).encode()
    except UnicodeEncodeError:  # the file formats' libraries could not open files there
        raise RepriseError(
            f"{os.fsencode(start)!r}: the path has letters that this locale lacks; set LC_ALL=C.UTF-8 or "
            "PYTHONUTF8=1, or move the checkout"
        ) from None
    if folder := elsewhere.checkout_above(start):
        return folder
    raise RepriseError(
        f"{start}: no configs/default.yaml here or above; run this inside a checkout of Reprise"
    )
