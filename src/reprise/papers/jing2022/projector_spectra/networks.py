"""The networks of Table 1, Section 6.3 and Figure 10, and their tasks. Imports no torch."""

from dataclasses import dataclass
from typing import NamedTuple

from reprise.contract.settings import replaced
from reprise.papers.jing2022.image_settings import PARTS, Shortcut, Training
from reprise.papers.jing2022.projector_spectra.settings import WITHOUT_SHORTCUT, Params

START = "start"
STARTS: dict[Shortcut, str] = {"identity": START, "none": "start, no shortcut"}
"""Name of the network before training, by the shortcut around its last block."""
OTHER_LOSS = (START, "nonlinear", "none")
"""The networks trained with other losses, and their initial network."""
OF_TABLE_1 = ("nonlinear", "linear", "none", "directclr")
"""The networks that have all seeds; the others have `further_seeds`."""
OF_SPECTRA = ("nonlinear", "none", "directclr")
"""The networks on further data sets and at other settings: with and without a projector, and DirectCLR."""

OWN = {"place": 0}
"""The spectra on the experiment's own data set."""


class MeasuredNetwork(NamedTuple):
    """A measured network, which is a task.

    Attributes:
        net: one of `NETS`, DirectCLR without the last shortcut, or one before training.
        place: of its data set: 0 for the experiment's own, then the further ones.
    """

    net: str
    shortcut: Shortcut
    seed: int
    data_set: str
    place: int

    def __str__(self) -> str:
        return f"{self.data_set}, {self.net}/{self.seed}" if self.place else f"{self.net}/{self.seed}"

    @property
    def before_training(self) -> bool:
        """Whether the network is one before training."""
        return self.net in STARTS.values()

    @property
    def trained(self) -> str:
        """The trained network, one of `NETS`."""
        return "directclr" if self.net == WITHOUT_SHORTCUT else self.net

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of the representation that are probed; none on further data sets, whose spectra alone are
        looked at."""
        if self.place:
            return ()
        return PARTS if self.before_training or self.trained == "directclr" else PARTS[:1]

    def settings(self, params: Training) -> Training:
        """The settings of its training."""
        return replaced(params, {"encoder.last_shortcut": self.shortcut, "data_set": self.data_set})


@dataclass(frozen=True)
class Pixels:
    """The task of what raw pixels tell on the experiment's own data set."""

    def __str__(self) -> str:
        return "pixels"


@dataclass(frozen=True)
class Supervised:
    """The task of a supervised network on the experiment's own data set."""

    def __str__(self) -> str:
        return "supervised"


Task = MeasuredNetwork | Pixels | Supervised


def tasks(params: Params, objective: str | None = None) -> list[Task]:
    """A task for each network, and those that its probes are compared with, which other losses share."""
    nets = networks(params, objective)
    return [*nets] if objective else [*nets, Pixels(), Supervised()]


def networks(params: Params, objective: str | None = None) -> list[MeasuredNetwork]:
    """Every network and seed, and the networks before training, and those of `OF_SPECTRA` on the further data
    sets; with another loss, only those of `OTHER_LOSS` on the experiment's own."""
    fewer = min(params.seeds, params.further_seeds)
    own = [
        MeasuredNetwork(net, shortcut, seed, params.data_set, 0)
        for net, shortcut in _named(params.nets)
        for seed in range(params.seeds if net in (START, *OF_TABLE_1) else fewer)
    ]
    further = [
        MeasuredNetwork(net, shortcut, seed, data_set, place)
        for place, data_set in enumerate(params.further_sets, 1)
        for net, shortcut in _named(few(params.nets))
        for seed in range(params.further_seeds)
    ]
    return [each for each in own if each.net in OTHER_LOSS] if objective else own + further


def few(nets: tuple[str, ...]) -> tuple[str, ...]:
    """Those of `OF_SPECTRA` among the networks."""
    return tuple(net for net in OF_SPECTRA if net in nets)


def _named(nets: tuple[str, ...]) -> list[tuple[str, Shortcut]]:
    """The networks before training that they need, and themselves, each with the shortcut around its last
    block."""
    trained: list[tuple[str, Shortcut]] = [
        (net, "none" if net == WITHOUT_SHORTCUT else "identity") for net in nets
    ]
    starts = [(net, shortcut) for shortcut, net in STARTS.items()]
    return [
        start for start in starts if start[1] == "identity" or start[1] in dict(trained).values()
    ] + trained
