"""The points of the map, a base point and changes of one factor at a time, and their networks. Imports no
torch."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from reprise.contract.settings import replaced
from reprise.datasets.catalogue import MANY_CLASSES
from reprise.papers.jing2022.image_settings import Training, net
from reprise.papers.jing2022.projector_map.settings import Params
from reprise.training.grid import Net
from reprise.training.image_settings import Source

WITH, WITHOUT, DIRECTCLR = "nonlinear", "none", "directclr"
"""The networks: SimCLR with and without a projector, and DirectCLR."""
BOTH = (WITH, WITHOUT)
START = "start"
"""The networks before training."""

FACTORS = (
    "temperature", "smallest crop", "colour", "epochs", "blocks", "width", "last shortcut", "optimiser",
    "projector's last BatchNorm", "projector's layers", "projector's width", "$d_0$",
)  # fmt: skip
"""The factors in the order of the figure."""


class Point(NamedTuple):
    """A point of the map.

    Attributes:
        factor: the factor that changes, one of `FACTORS`.
        value: its value, as text.
        base: whether this is the base point.
        changes: changes of the base point's settings, for `contract.settings.replaced`.
        nets: the networks that change; the others in the figure are those of the base point.
    """

    factor: str
    value: str
    base: bool
    changes: dict[str, Any]
    nets: tuple[str, ...] = BOTH


def points(params: Params, dim: int) -> list[Point]:
    """The points of every factor that the grids vary, including the base point's value.

    Args:
        dim: dimension of the representation at the base point.
    """
    candidates = list(_all_points(params, dim))
    varied = {point.factor for point in candidates if not point.base}
    return [point for point in candidates if point.factor in varied]


def _all_points(params: Params, dim: int) -> Iterator[Point]:
    encoder, head = params.encoder, params.projector
    yield from _numbers("temperature", params.temperatures, params.temperature, "temperature")
    yield from _numbers("smallest crop", params.crops, params.crop, "crop")
    for strength in _with_base(params.colours, 1.0):
        changes = {"jitter": strength * params.jitter, "hue": min(strength * params.hue, 0.5)}
        yield Point("colour", f"× {strength:g}", strength == 1, changes)
    for budget in _with_base(params.budgets, 1.0):
        yield Point("epochs", f"× {budget:g}", budget == 1, {"epochs": budget * params.epochs})
    for blocks in _with_base(params.depths, encoder.blocks):
        value = "-".join(map(str, blocks))
        yield Point("blocks", value, blocks == encoder.blocks, {"encoder.blocks": blocks})
    for share in _with_base(params.widths, 1.0):
        yield Point("width", f"× {share:g}", share == 1, {"encoder.width": int(share * encoder.width)})
    for shortcut in dict.fromkeys((encoder.last_shortcut, *params.last_blocks)):
        base = shortcut == encoder.last_shortcut
        yield Point("last shortcut", shortcut, base, {"encoder.last_shortcut": shortcut})
    for optimiser in dict.fromkeys((params.optimiser, *params.optimisers)):
        value = f"{optimiser.kind}, {optimiser.learning_rate:g}"
        yield Point("optimiser", value, optimiser == params.optimiser, {"optimiser": optimiser})
    for norm in dict.fromkeys((head.last_norm, *params.head_norms)):
        changes = {"projector.last_norm": norm}
        value = "yes" if norm else "no"
        yield Point("projector's last BatchNorm", value, norm == head.last_norm, changes, (WITH,))
    for layers in _with_base(params.head_depths, len(head.dims)):
        dims = (head.dims[0],) * (layers - 1) + head.dims[-1:]
        yield Point("projector's layers", str(layers), dims == head.dims, {"projector.dims": dims}, (WITH,))
    for share in _with_base(params.head_widths, 1.0):
        dims = (*(int(share * hidden) for hidden in head.dims[:-1]), head.dims[-1])
        yield Point("projector's width", f"× {share:g}", share == 1, {"projector.dims": dims}, (WITH,))
    d0s = [max(1, round(share * dim)) for share in params.d0s]
    yield from _numbers("$d_0$", d0s, params.d0, "d0", (DIRECTCLR,))


def _with_base(values: Sequence[Any], base: Any) -> list[Any]:
    return sorted({*values, base})


def _numbers(
    factor: str, values: Sequence[float], base: float, field: str, nets: tuple[str, ...] = BOTH
) -> Iterator[Point]:
    for value in _with_base(values, base):
        yield Point(factor, f"{value:g}", value == base, {field: value}, nets)


class Row(NamedTuple):
    """A network at a point of the map.

    Attributes:
        key: of the network in `networks`.
    """

    point: Point
    net: str
    seed: int
    key: str


def networks(params: Params) -> tuple[dict[str, Net], list[Row]]:
    """The networks by key, each once, and the rows of the map; networks of the base point belong to every
    factor."""
    declared: dict[str, Net] = {}
    rows: list[Row] = []
    other = MANY_CLASSES.get(params.data_set)
    labels = tuple(Source(name=name, root=params.root) for name in (params.data_set, other) if name)
    for point in points(params, params.encoder.dim):
        for kind, settings in nets(point, params):
            for seed in params.seed_range(params.base_seeds if settings == params else params.seeds):
                key = f"{kind} {settings.model_dump_json()} {seed}"
                start_key = f"{START} {settings.encoder.model_dump_json()} {seed}"
                name = f"{point.factor} {point.value}: {kind}, seed {seed}"
                trained = replace(net(settings, kind, seed, name, {}), probed=labels)
                declared.setdefault(key, trained)
                declared.setdefault(start_key, trained.before_training(START, {}))
                rows += [Row(point, kind, seed, key), Row(point, START, seed, start_key)]
    return declared, rows


def nets(point: Point, params: Params) -> Iterator[tuple[str, Training]]:
    """The networks at a point with their settings; those that the point does not change serve as
    comparison."""
    settings = params if point.base else replaced(params, point.changes)
    with_projector = DIRECTCLR if point.nets == (DIRECTCLR,) else WITH
    for kind in (with_projector, WITHOUT):
        yield kind, settings if kind in point.nets else params
