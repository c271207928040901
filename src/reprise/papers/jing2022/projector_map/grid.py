"""The points of the map."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from reprise.papers.jing2022.projector_map.params import Params

WITH, WITHOUT, DIRECTCLR = "nonlinear", "none", "directclr"
"""The nets: SimCLR with a projector and without one, and DirectCLR."""
BOTH = (WITH, WITHOUT)
START = "start"
"""What they start from."""

FACTORS = (
    "temperature", "smallest crop", "colour", "epochs", "blocks", "width", "last shortcut", "optimiser",
    "projector's last BatchNorm", "projector's layers", "projector's width", "$d_0$",
)  # fmt: skip
"""In the order of the figure."""


class Point(NamedTuple):
    """Attributes:
    factor: what is changed, one of `FACTORS`.
    value: to what.
    base: whether that is the base point.
    changes: of the base point's settings.
    nets: those that it changes; any other that the figure shows beside them is the base point's.
    """

    factor: str
    value: str
    base: bool
    changes: dict[str, Any]
    nets: tuple[str, ...] = BOTH


def points(params: Params, dim: int) -> list[Point]:
    """Of every factor that the grids vary its values, the base point's own among them.

    Args:
        dim: of the representation at the base point.
    """
    every = list(_every(params, dim))
    varied = {point.factor for point in every if not point.base}
    return [point for point in every if point.factor in varied]


def _every(params: Params, dim: int) -> Iterator[Point]:
    yield from _numbers("temperature", params.temperatures, params.temperature, ("temperature",))
    yield from _numbers("smallest crop", params.crops, params.crop, ("crop",))
    yield from _multiples("colour", params.colours, params, ("jitter", "hue"))
    yield from _multiples("epochs", params.budgets, params, ("epochs",))
    for blocks in _with(params.depths, params.blocks):
        value = "-".join(map(str, blocks))
        yield Point("blocks", value, blocks == params.blocks, {"blocks": blocks})
    yield from _multiples("width", params.widths, params, ("width",))
    for shortcut in dict.fromkeys((params.last_shortcut, *params.last_blocks)):
        base = shortcut == params.last_shortcut
        yield Point("last shortcut", shortcut, base, {"last_shortcut": shortcut})
    own = (params.optimiser, params.learning_rate)
    for name, rate in dict.fromkeys((own, *params.optimisers)):
        changes = {"optimiser": name, "learning_rate": rate}
        yield Point("optimiser", f"{name}, {rate:g}", (name, rate) == own, changes)
    for norm in dict.fromkeys((params.head_norm, *params.head_norms)):
        value = "yes" if norm else "no"
        yield Point(
            "projector's last BatchNorm", value, norm == params.head_norm, {"head_norm": norm}, (WITH,)
        )
    for layers in _with(params.head_depths, params.head_layers):
        base = layers == params.head_layers
        yield Point("projector's layers", str(layers), base, {"head_layers": layers}, (WITH,))
    yield from _multiples("projector's width", params.head_widths, params, ("head_hidden",), (WITH,))
    d0s = [max(1, round(share * dim)) for share in params.d0s]
    yield from _numbers("$d_0$", d0s, params.d0, ("d0",), (DIRECTCLR,))


def _with(values: Sequence[Any], own: Any) -> list[Any]:
    return sorted({*values, own})


def _numbers(
    factor: str, values: Sequence[float], own: float, fields: tuple[str, ...], nets: tuple[str, ...] = BOTH
) -> Iterator[Point]:
    for value in _with(values, own):
        yield Point(factor, f"{value:g}", value == own, dict.fromkeys(fields, value), nets)


def _multiples(
    factor: str,
    values: Sequence[float],
    params: Params,
    fields: tuple[str, ...],
    nets: tuple[str, ...] = BOTH,
) -> Iterator[Point]:
    for value in _with(values, 1.0):
        own = {field: getattr(params, field) for field in fields}
        changes = {field: type(of)(value * of) for field, of in own.items()}
        changes = {field: min(of, 0.5) if field == "hue" else of for field, of in changes.items()}
        yield Point(factor, f"× {value:g}", value == 1, changes, nets)
