"""configs/schema.json, which editors read, beside what reads tiers."""

import importlib.util
import json
from contextlib import nullcontext
from copy import deepcopy

import pytest
import yaml
from conftest import ROOT
from jsonschema import Draft202012Validator

from reprise.engine import registry, tiers
from reprise.errors import RepriseError

SCHEMA = json.loads((ROOT / "configs" / "schema.json").read_text())
VALIDATOR = Draft202012Validator(SCHEMA)
EXPERIMENTS = SCHEMA["properties"]["experiments"]["properties"]
CONFIGS = {name: tiers._read(ROOT / "configs" / f"{name}.yaml") for name in tiers.names(ROOT)}
OVERRIDES = CONFIGS["smoke"]["experiments"]
VALUES = (-1, 0, 1, 0.5, 10**6, True, "word", [], [1], [0.5, "word"], {}, {"kind": "word"}, {"word": 1})
FIRST_LINE = "# yaml-language-server: $schema=schema.json"


def leaves(value, path=()):
    """The paths of a value and of all that it holds."""
    yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inside:
        yield from leaves(part, (*path, key))


def changed(value, path, new):
    """A copy of a value with another one at a path."""
    if not path:
        return new
    copy = deepcopy(value)
    part = copy
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = new
    return copy


def refusal(id, overrides):
    """The message by which `load_tier` refuses an experiment's overrides; empty if it takes them."""
    try:
        tiers.with_overrides(registry.experiment(id).params, overrides, "here")
    except RepriseError as error:
        return str(error)
    return ""


def test_the_schema_is_that_of_the_settings():
    spec = importlib.util.spec_from_file_location("tiers_page", ROOT / "docs" / "tiers.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (ROOT / "configs" / "schema.json").read_text() == module.text(), "run: python docs/tiers.py"


@pytest.mark.parametrize("name", CONFIGS)
def test_editors_find_the_schema_and_nothing_wrong_in_a_tier(name):
    file = ROOT / "configs" / f"{name}.yaml"
    assert file.read_text().splitlines()[0] == FIRST_LINE
    Draft202012Validator.check_schema(SCHEMA)
    assert list(VALIDATOR.iter_errors(CONFIGS[name])) == []


@pytest.mark.parametrize("id", OVERRIDES)
def test_the_schema_refuses_the_settings_that_a_tier_may_not_have(id):
    """Each value of the smoke tier is replaced by others. What depends on several values is a value error."""
    schema = Draft202012Validator({**EXPERIMENTS[id], "$defs": SCHEMA["$defs"]})
    refused = 0
    for path in filter(None, leaves(OVERRIDES[id])):
        for value in VALUES:
            overrides = changed(OVERRIDES[id], path, value)
            why, is_valid = refusal(id, overrides), schema.is_valid(overrides)
            assert is_valid or why, f"{path}: {value} is allowed"
            assert not why or not is_valid or ": value error, " in why or "ZeroDivisionError" in why, why
            refused += not is_valid
    assert refused


@pytest.mark.parametrize(
    "wrong",
    [
        {"tier": 1},
        {"tier": "../mine"},
        {"device": "tpu"},
        {"device": None},
        {"base": ["smoke"]},
        {"papers": "../mine"},
        {"papers": [1]},
        {"is_test": "yes"},
        {"on_request": "jing2022/projector_map"},
        {"on_request": ["jing2022/projector_maps"]},
        {"looked": {"jing2022/projector_map": 1}},
        {"looked": {"jing2022/projector_maps": "steps"}},
        {"experiments": []},
        {"experiments": {"jing2022/projector_maps": {}}},
        {"experiments": {"jing2022/projector_map": 1}},
        {"experiment": {}},
    ],
    ids=str,
)
def test_both_refuse_a_wrong_key_of_a_tier(wrong, tmp_path):
    (tmp_path / "configs").mkdir()
    file = tmp_path / "configs" / "mine.yaml"
    for keys, is_right in (({}, True), (wrong, False)):
        file.write_text(yaml.safe_dump(content := {"tier": "mine", **keys}))
        assert VALIDATOR.is_valid(content) == is_right
        with nullcontext() if is_right else pytest.raises(RepriseError):
            tiers.load_tier("mine", tmp_path)


def test_experiments_of_papers_elsewhere_are_not_unknown():
    assert VALIDATOR.is_valid({"tier": "mine", "experiments": {"other2030/bound": {"dims": [1]}}})
