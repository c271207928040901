"""The networks of Table 1, Section 6.3 and Figure 10, and their tasks. Imports no torch."""

from dataclasses import replace

from reprise.contract.settings import replaced
from reprise.papers.jing2022.image_settings import Shortcut, net
from reprise.papers.jing2022.projector_spectra.settings import WITHOUT_SHORTCUT, Params
from reprise.training import grid
from reprise.training.grid import WHOLE, Net, Pixels, Supervised, Task

START = "start"
STARTS: dict[Shortcut, str] = {"identity": START, "none": "start, no shortcut"}
"""Name of the network before training, by the shortcut around its last block."""
OTHER_LOSS = (START, "nonlinear", "none")
"""The networks trained with other losses, and their initial network."""
OF_TABLE_1 = ("nonlinear", "linear", "none", "directclr")
"""The networks that have all seeds; the others have `further_seeds`."""
OF_SPECTRA = ("nonlinear", "none", "directclr")
"""The networks at other settings: with and without a projector, and DirectCLR."""

OWN = {"place": 0}
"""The spectra on the experiment's own data set."""


def tasks(params: Params, objective: str | None = None) -> list[Task]:
    """A task for each network, and those that its probes are compared with, which other losses share."""
    every = nets(params, objective)
    if objective:
        return grid.tasks(every)
    supervised = net(params, "nonlinear", params.first_seed, "", {}).spec
    return grid.tasks(every, [Pixels(params.source), Supervised(supervised, params.source)])


def nets(params: Params, objective: str | None = None) -> list[Net]:
    """Every network and seed, and the networks before training, and those of `further_nets` on the further
    data sets; with another loss, only those of `OTHER_LOSS` on the experiment's own."""
    fewer = min(params.seeds, params.further_seeds)
    own = [
        _net(params, name, shortcut, seed, 0, objective)
        for name, shortcut in _named(params.nets)
        if not objective or name in OTHER_LOSS
        for seed in params.seed_range(params.seeds if name in (START, *OF_TABLE_1) else fewer)
    ]
    further = [
        _net(replaced(params, {"data_set": data_set}), name, shortcut, seed, place)
        for place, data_set in enumerate(() if objective else params.further_sets, 1)
        for name, shortcut in _named(elsewhere(params))
        for seed in params.seed_range(params.further_seeds)
    ]
    return own + further


def _net(
    params: Params, name: str, shortcut: Shortcut, seed: int, place: int, objective: str | None = None
) -> Net:
    """A network.

    Args:
        name: one of `NETS`, DirectCLR without the last shortcut, or one before training.
        place: of its data set: 0 for the experiment's own, then the further ones, on which spectra alone are
            looked at.
    """
    at_start = name in STARTS.values()
    kind = "nonlinear" if at_start else "directclr" if name == WITHOUT_SHORTCUT else name
    parts = params.parts if at_start or kind == "directclr" else (WHOLE,)
    found = net(
        replaced(params, {"encoder.last_shortcut": shortcut}),
        kind,
        seed,
        f"{params.data_set}, {name}/{seed}" if place else f"{name}/{seed}",
        {"net": name, "shortcut": shortcut, "seed": seed, "data_set": params.data_set, "place": place},
        parts=() if place else parts,
        objective=objective,
    )
    return replace(found, spec=replaced(found.spec, {"steps": 0})) if at_start else found


def few(nets: tuple[str, ...]) -> tuple[str, ...]:
    """The given networks that are in `OF_SPECTRA`."""
    return tuple(net for net in OF_SPECTRA if net in nets)


def elsewhere(params: Params) -> tuple[str, ...]:
    """The networks on further data sets."""
    return tuple(net for net in params.further_nets if net in params.nets)


def _named(nets: tuple[str, ...]) -> list[tuple[str, Shortcut]]:
    """The networks, after the untrained ones that they need, each with the shortcut around its last block."""
    trained: list[tuple[str, Shortcut]] = [
        (net, "none" if net == WITHOUT_SHORTCUT else "identity") for net in nets
    ]
    starts = [(net, shortcut) for shortcut, net in STARTS.items()]
    return [
        start for start in starts if start[1] == "identity" or start[1] in dict(trained).values()
    ] + trained
