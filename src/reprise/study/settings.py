"""Typed settings whose fields say where their published value comes from.

An experiment's `Params` derives from `Settings`; every field is made by one of the six functions below, so
that the departures of a run from the paper, and the assumptions a verdict rests on, are computed and never
written by hand.
"""

import json
from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from reprise.errors import RepriseError

Origin = Literal["stated", "code", "unstated", "lost", "ours", "place"]


def _field(origin: Origin, default: Any, why: str, **constraints: Any) -> Any:
    return Field(default, description=why, json_schema_extra={"origin": origin}, **constraints)


def stated(default: Any, where: str, **constraints: Any) -> Any:
    """A value that the paper's text states, at `where`."""
    return _field("stated", default, where, **constraints)


def from_code(default: Any, why: str, **constraints: Any) -> Any:
    """A value of the authors' code, used because the text is silent or demonstrably wrong."""
    return _field("code", default, why, **constraints)


def unstated(default: Any, why: str, **constraints: Any) -> Any:
    """A value that the paper leaves out, and why we take this one."""
    return _field("unstated", default, why, **constraints)


def lost(default: Any, why: str, **constraints: Any) -> Any:
    """A value that our text of the paper has lost, and why we take this one."""
    return _field("lost", default, why, **constraints)


def ours(default: Any, why: str, **constraints: Any) -> Any:
    """A choice of measurement (seeds, grids, checkpoints): more or finer is no departure, less is one."""
    return _field("ours", default, why, **constraints)


def place(default: Any, what: str, **constraints: Any) -> Any:
    """Where something lies on the user's machine: never a departure."""
    return _field("place", default, what, **constraints)


class Settings(BaseModel):
    """Frozen, strict settings: no unknown key, no coercion, no NaN."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)

    @classmethod
    def from_overrides(cls, overrides: Mapping[str, Any], where: str) -> Self:
        """The defaults with `overrides` applied.

        Raises:
            RepriseError: naming `where` (a file), the key, the value and what was allowed.
        """
        for key, value in overrides.items():
            try:
                json.dumps(value)
            except (TypeError, ValueError):
                raise RepriseError(
                    f"{where}: key '{key}' has the value {value!r}; write a number, a word, or a list of them"
                ) from None
        try:
            # Through JSON, because YAML has lists where a frozen setting holds tuples.
            return cls.model_validate_json(json.dumps({str(key): value for key, value in overrides.items()}))
        except ValidationError as error:
            lines = [_explain(cls, where, dict(item)) for item in error.errors()]
            raise RepriseError("\n".join(lines)) from None


def _explain(model: type[BaseModel], where: str, item: dict[str, Any]) -> str:
    key = ".".join(str(part) for part in item["loc"]) or "(all)"
    if item["type"] == "extra_forbidden":
        allowed = ", ".join(model.model_fields)
        return f"{where}: unknown key '{key}' (value {item['input']!r}); allowed: {allowed}"
    return f"{where}: key '{key}' has the value {item['input']!r}: {item['msg'][0].lower()}{item['msg'][1:]}"


def origin(field: FieldInfo) -> Origin:
    """Where a field's published value comes from."""
    extra = field.json_schema_extra
    if not isinstance(extra, dict) or "origin" not in extra:
        raise TypeError("a field of Params is made by stated, from_code, unstated, lost, ours or place")
    return extra["origin"]  # type: ignore[return-value]


def assumptions(params: Settings) -> list[str]:
    """`name=value` of the fields that the paper leaves out or that our text of it has lost."""
    fields = type(params).model_fields
    return [
        f"{name}={_show(getattr(params, name))}"
        for name, field in fields.items()
        if origin(field) in ("unstated", "lost")
    ]


def departures(params: Settings) -> list[str]:
    """`name: used (paper: published)` of the fields that differ from the published run; `(ours: ...)` for
    our own."""
    found = []
    for name, field in type(params).model_fields.items():
        used, published = getattr(params, name), field.default
        allowed = origin(field) == "place" or (origin(field) == "ours" and _at_least(used, published))
        if used != published and not allowed:
            whose = "ours" if origin(field) == "ours" else "paper"
            found.append(f"{name}: {_show(used)} ({whose}: {_show(published)})")
    return found


def _at_least(used: Any, published: Any) -> bool:
    if isinstance(published, tuple):
        return set(published) <= set(used)
    return isinstance(published, (int, float)) and not isinstance(published, bool) and used >= published


def _show(value: Any) -> str:
    return "[" + ", ".join(map(_show, value)) + "]" if isinstance(value, tuple) else str(value)
