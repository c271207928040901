"""Typed settings whose fields record where their published values come from.

An experiment's `Params` derives from `Settings`, and one of the six functions below creates each field. A
run's departures from the paper, and the assumptions of a verdict, are therefore computed, never written by
hand.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from reprise.errors import RepriseError, one_of

S = TypeVar("S", bound="Settings")
Origin = Literal["stated", "code", "unstated", "lost", "ours", "location"]
WHOSE = {
    "stated": "paper",
    "code": "authors' code",
    "unstated": "unstated, our default",
    "lost": "our copy of the paper has lost this value in conversion; we assume",
    "ours": "ours",
}
"""The owner of a field's default, by its origin."""


def _field(
    origin: Origin,
    default: Any,
    why: str,
    *,
    unstated: Mapping[str, str] | None = None,
    code: Mapping[str, str] | None = None,
    unused: Mapping[str, str] | None = None,
    **constraints: Any,
) -> Any:
    """
    Args:
        unstated: if the value is itself `Settings`, the fields of it that the paper leaves unstated, and why
            we chose their values.
        code: those from the authors' code, and why.
        unused: those without effect here, and what has theirs.
    """
    inner = {"unstated": unstated or {}, "code": code or {}, "unused": unused or {}}
    origins = {name: its for its, names in inner.items() for name in names}
    extra = {"origin": origin, "inner": origins}
    return Field(default, description=why, json_schema_extra=extra, **constraints)  # type: ignore[arg-type]


def stated(default: Any, where: str, **constraints: Any) -> Any:
    """A value stated in the paper's text, at `where`."""
    return _field("stated", default, where, **constraints)


def from_code(default: Any, why: str, **constraints: Any) -> Any:
    """A value from the authors' code, used because the text is silent or demonstrably wrong."""
    return _field("code", default, why, **constraints)


def unstated(default: Any, why: str, **constraints: Any) -> Any:
    """A value that the paper leaves unstated, and why we chose this one."""
    return _field("unstated", default, why, **constraints)


def lost(default: Any, why: str, **constraints: Any) -> Any:
    """A value missing from our copy of the paper's text, and why we chose this one."""
    return _field("lost", default, why, **constraints)


def ours(default: Any, why: str, **constraints: Any) -> Any:
    """Our own choice of measurement (seeds, grids, checkpoints): only less or coarser is a departure."""
    return _field("ours", default, why, **constraints)


def location(default: Any, what: str, **constraints: Any) -> Any:
    """A location or device on the user's machine: never a departure."""
    return _field("location", default, what, **constraints)


class Settings(BaseModel):
    """Frozen, strict settings: no unknown key, no coercion, no NaN."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)


class Seeded(Settings):
    """Settings of an experiment in which chance has a part.

    All its random numbers follow from the seeds `first_seed`, `first_seed + 1`, ..., by
    `numerics.streams`, so that another `first_seed` repeats the experiment with other random numbers. What
    every repetition shares has seeds of its own: generated data sets, and pilots, which choose a setting.
    """

    first_seed: int = ours(0, "the first seed; the others follow it", ge=0)

    def seed_range(self, count: int) -> range:
        """The first `count` seeds."""
        return range(self.first_seed, self.first_seed + count)


def overridden(kind: type[S], overrides: Mapping[str, Any], where: str) -> S:
    """The defaults of a kind of settings with `overrides` applied. Not a method: what an experiment computes
    does not depend on how its errors are worded.

    Raises:
        RepriseError: naming `where` (a file), the key, the value and what is allowed.
    """
    for key, value in overrides.items():
        try:
            json.dumps(value)
        except (TypeError, ValueError):
            raise RepriseError(
                f"{where}: key {quoted(str(key))} has the value {quoted(value)}; "
                "write a number, a word, or a list of them"
            ) from None
    defaults = {name: field.default for name, field in kind.model_fields.items()}
    merged = {str(key): _merged(defaults.get(str(key)), value) for key, value in overrides.items()}
    try:
        # Via JSON, because YAML has lists where a frozen setting holds tuples.
        return kind.model_validate_json(json.dumps(merged))
    except ValidationError as error:
        lines = [_explain(kind, where, dict(item)) for item in error.errors()]
        raise RepriseError("\n".join(lines)) from None


def _merged(default: Any, override: Any) -> Any:
    """Merges an override of a field that is itself `Settings` into its default; an override with another
    `kind` starts from that kind's own defaults."""
    if not isinstance(override, dict) or not isinstance(default, Settings):
        return override
    base = default.model_dump(mode="json")
    if override.get("kind", base.get("kind")) != base.get("kind"):
        return override
    return base | {key: _merged(getattr(default, str(key), None), value) for key, value in override.items()}


def replaced(settings: S, changes: Mapping[str, Any]) -> S:
    """A copy of the settings with changed values of fields or, by `field.inner`, of nested settings.

    Raises:
        ValueError: if a value is not allowed.
    """
    fields: dict[str, Any] = {name: getattr(settings, name) for name in type(settings).model_fields}
    for path, value in changes.items():
        name, _, inner = path.partition(".")
        fields[name] = replaced(fields[name], {inner: value}) if inner else value
    return type(settings).model_validate(fields)


def quoted(value: Any) -> str:
    """A value as a message shows it, in one line of at most 200 characters."""
    try:
        return shortened(repr(value), 200)
    except ValueError:  # Python writes no integer of more than 4,300 digits
        return "a number of thousands of digits"


def shortened(text: str, most: int = 1000) -> str:
    """A text of at most `most` characters; a longer one says how much was left out of its middle."""
    if len(text) <= most:
        return text
    kept = (most - 40) // 2
    return f"{text[:kept]} [{len(text) - 2 * kept:,} characters left out] {text[-kept:]}"


def one_line(error: Exception) -> str:
    """The message of an error, in one line of at most 400 characters."""
    if isinstance(error, ValidationError):
        reasons = (
            f"{'.'.join(map(str, item['loc']))} = {quoted(item['input'])}: {item['msg']}"
            for item in error.errors()
        )
        return shortened("; ".join(reasons), 400)
    return shortened(" ".join(f"{type(error).__name__}: {error}".split()), 400)


def _explain(model: type[BaseModel], where: str, item: dict[str, Any]) -> str:
    key = quoted(".".join(str(name) for name in item["loc"]) or "(all)")
    if item["type"] == "extra_forbidden":
        allowed = one_of(str(item["loc"][-1]), _nested(model, item["loc"][:-1]).model_fields)
        return f"{where}: unknown key {key} (value {quoted(item['input'])}); {allowed}"
    reason = " ".join(item["msg"].split())
    return f"{where}: key {key} has the value {quoted(item['input'])}: {reason[0].lower()}{reason[1:]}"


def _nested(model: type[BaseModel], path: Sequence[str | int]) -> type[BaseModel]:
    """The settings at a path of field names; where a field takes several kinds, its kind follows it."""
    kinds: dict[str, type[BaseModel]] = {}
    for name in path:
        if name in kinds:
            model = kinds[str(name)]
            continue
        annotation = model.model_fields[str(name)].annotation
        choices = [choice for choice in get_args(annotation) or (annotation,) if isinstance(choice, type)]
        nested = [choice for choice in choices if issubclass(choice, BaseModel)]
        kinds = {
            kind: choice
            for choice in nested
            if len(nested) > 1
            for kind in get_args(choice.model_fields["kind"].annotation)
        }
        model = nested[0] if nested else model
    return model


def origin(field: FieldInfo) -> Origin:
    """The origin of a field's published value.

    Raises:
        TypeError: if the field was made by none of the functions of this module.
    """
    extra = field.json_schema_extra
    if not isinstance(extra, dict) or "origin" not in extra:
        raise TypeError("a field of Params is made by stated, from_code, unstated, lost, ours or location")
    return extra["origin"]  # type: ignore[return-value]


def _inner(field: FieldInfo) -> Mapping[str, str]:
    """The fields of a nested `Settings` that are not its own origin's, and whose they are instead."""
    return field.json_schema_extra["inner"]  # type: ignore[index,return-value]


def field_paths(kind: type[Settings]) -> list[str]:
    """The fields of a kind of settings, by `name`, and of the settings that are their defaults or that differ
    in origin, by `name.inner`."""
    paths = []
    for name, field in kind.model_fields.items():
        default = field.default
        nested = type(default).model_fields if isinstance(default, Settings) else {}
        paths += [name, *(f"{name}.{inner}" for inner in dict.fromkeys([*nested, *_inner(field)]))]
    return paths


def open_fields(params: Settings) -> dict[str, Any]:
    """The values that the paper leaves unstated or that our copy of its text lacks, by `name` or
    `name.inner`."""
    values = {}
    for name, field in type(params).model_fields.items():
        value = getattr(params, name)
        if origin(field) in ("unstated", "lost"):
            values[name] = value
        nested = [
            inner for inner, its in _inner(field).items() if its == "unstated" and hasattr(value, inner)
        ]
        values |= {f"{name}.{inner}": getattr(value, inner) for inner in nested}
    return values


def assumptions(params: Settings) -> list[str]:
    """`name=value` for each of the `open_fields`."""
    return [f"{name}={_show(value)}" for name, value in open_fields(params).items()]


def departures(params: Settings) -> list[str]:
    """`name: used (paper: published)` for each field that differs from the published run; `WHOSE` says what
    stands in place of `paper` for a value that is not the paper's."""
    lines = []
    for name, field in type(params).model_fields.items():
        used, published = getattr(params, name), field.default
        allowed = origin(field) == "location" or (origin(field) == "ours" and _at_least(used, published))
        if used != published and not allowed:
            inner = _inner(field)
            unused = [name for name, its in inner.items() if its == "unused"]
            for path, used_value, published_value in _differences(name, used, published):
                its = inner.get(path.removeprefix(f"{name}."), origin(field))
                if its != "unused":
                    shown = f"{_show(used_value, unused)} ({WHOSE[its]}: {_show(published_value, inner)})"
                    lines.append(f"{path}: {shown}")
    return lines


def alterations(params: Settings) -> list[str]:
    """The departures that change results. The others only leave some out: they shorten the list of seeds,
    methods or data sets."""
    fields = type(params).model_fields
    left_out = {
        name: field.default
        for name, field in fields.items()
        if _leaves_out(name, getattr(params, name), field.default)
    }
    return departures(params.model_copy(update=left_out))


def differing(params: Settings, other: Settings) -> list[str]:
    """The fields in which other settings differ, by `name` or `name.inner`, but for those of which they only
    leave some out."""
    return [
        path
        for name in type(params).model_fields
        if not _leaves_out(name, getattr(other, name), getattr(params, name))
        for path, *_ in _differences(name, getattr(other, name), getattr(params, name))
    ]


def origin_of(kind: type[Settings], path: str) -> str:
    """The origin of the published value of a field, given by `name` or `name.inner`."""
    name, _, inner = path.partition(".")
    return _inner(kind.model_fields[name]).get(inner, origin(kind.model_fields[name]))


def _leaves_out(name: str, used: Any, published: Any) -> bool:
    if isinstance(published, tuple):
        return len(used) < len(published) and set(used) <= set(published)
    return name == "seeds"


def _differences(path: str, used: Any, published: Any) -> list[tuple[str, Any, Any]]:
    """The values that differ; settings of the same kind are compared field by field."""
    if not isinstance(used, Settings) or type(used) is not type(published):
        return [(path, used, published)] if used != published else []
    names = type(used).model_fields
    pairs = [(name, getattr(used, name), getattr(published, name)) for name in names]
    return [line for name, now, before in pairs for line in _differences(f"{path}.{name}", now, before)]


def _at_least(used: Any, published: Any) -> bool:
    if isinstance(published, tuple):
        return set(published) <= set(used)
    return isinstance(published, (int, float)) and not isinstance(published, bool) and used >= published


def _show(value: Any, without: Collection[str] = ()) -> str:
    if isinstance(value, Settings):
        fields = {name: getattr(value, name) for name in type(value).model_fields if name not in without}
        kind = fields.pop("kind", type(value).__name__)
        values = ", ".join(f"{name}={_show(inner)}" for name, inner in fields.items())
        return f"{kind}({values})" if values else str(kind)
    return "[" + ", ".join(map(_show, value)) + "]" if isinstance(value, tuple) else str(value)
