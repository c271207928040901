"""Writes configs/schema.json, with which editors complete and check tiers: `python docs/tiers.py`.

The JSON Schema refuses unknown keys, wrong types and values out of range, and a key without a value, which
leaves its base's. What depends on several values, on the base or on data, `load_tier` alone refuses.
"""

import inspect
import json
from pathlib import Path
from typing import Any

from pydantic.json_schema import models_json_schema

from reprise.engine import elsewhere, registry, tiers

FILE = Path(__file__).parents[1] / "configs" / "schema.json"
EMPTY = {"type": "null"}


def schema() -> dict[str, Any]:
    """The schema of tiers whose experiments are this package's."""
    others = elsewhere.packages()
    kinds = {
        id: experiment.params
        for id, experiment in registry.experiments().items()
        if id.split("/")[0] not in others
    }
    refs, definitions = models_json_schema([(kind, "validation") for kind in kinds.values()])
    experiments = {id: {"anyOf": [refs[kind, "validation"], EMPTY]} for id, kind in kinds.items()}
    keys = "|".join(sorted({id.split("/")[0] for id in kinds}))
    elsewhere_ids = rf"^(?!({keys})/)[^/]+/[^/]+$"
    an_id = {"$ref": "#/$defs/experiment"}
    properties = {
        "tier": {"type": "string", "pattern": f"^{tiers.NAME.pattern}$", "description": "the file's name"},
        "base": {"type": ["string", "null"], "description": "a tier that this one overrides"},
        "device": {"enum": tiers.DEVICES, "default": "cpu", "description": "where networks train"},
        "papers": {
            "type": ["array", "null"],
            "items": {"type": "string"},
            "description": "folders of papers in other repositories",
        },
        "is_test": {"type": "boolean", "default": False, "description": "tests the program alone"},
        "on_request": {
            "type": ["array", "null"],
            "items": an_id,
            "description": "experiments that run only when asked for by name",
        },
        "looked": {
            "type": ["object", "null"],
            "propertyNames": an_id,
            "additionalProperties": {"type": "string"},
            "description": "what was set after results had been seen",
        },
        "experiments": {
            "type": ["object", "null"],
            "properties": experiments,
            "patternProperties": {elsewhere_ids: {"type": ["object", "null"]}},
            "additionalProperties": False,
            "description": "settings that differ from the published ones",
        },
    }
    assert tuple(properties) == tiers.KEYS
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A tier of Reprise",
        "type": "object",
        "properties": properties,
        "required": ["tier"],
        "additionalProperties": False,
        "$defs": {
            "experiment": {"anyOf": [{"enum": list(kinds)}, {"type": "string", "pattern": elsewhere_ids}]},
            **{name: _override(kind) for name, kind in definitions["$defs"].items()},
        },
    }


def _override(schema: Any) -> Any:
    """The schema of an override of settings: it may leave out every field, also the kind."""
    if isinstance(schema, list):
        return [_override(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {}
    for key, value in schema.items():
        if key == "properties":
            kept[key] = {name: _override(field) for name, field in value.items()}
        elif key == "description":
            kept[key] = inspect.cleandoc(value)
        elif key in ("default", "enum", "const"):
            kept[key] = value
        elif key not in ("required", "discriminator", "title", "origin", "inner"):
            kept["anyOf" if key == "oneOf" else key] = _override(value)
    return kept


def text() -> str:
    """The whole file, a line for each key of a tier and each kind of settings."""
    parts = [
        f"{json.dumps(key)}: {{\n{_lines(value)}\n}}" if isinstance(value, dict) else _lines({key: value})
        for key, value in schema().items()
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _lines(mapping: dict[str, Any]) -> str:
    return ",\n".join(
        f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in mapping.items()
    )


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
