"""The networks of Table 1, Section 6.3 and Figure 10, and their tasks. Imports no torch."""

from collections.abc import Sequence
from typing import NamedTuple

from reprise.papers.jing2022.image_settings import PARTS, Shortcut, Training
from reprise.study.settings import replaced

START = "start"
STARTS: dict[Shortcut, str] = {"identity": START, "none": "start, no shortcut"}
"""Name of the network before training, by the shortcut around its last block."""
WITHOUT_SHORTCUT = "directclr, no shortcut"
OTHER_LOSS = (START, "nonlinear", "none")
"""The networks trained with other losses, and their initial network."""


class Cell(NamedTuple):
    """A measured network: one of `NETS`, DirectCLR without the last shortcut, or one before training."""

    net: str
    shortcut: Shortcut
    seed: int

    @property
    def task(self) -> str:
        """The name of the cell's task."""
        return f"{self.net}/{self.seed}"

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
        """The parts of the representation that are probed."""
        return PARTS if self.before_training or self.trained == "directclr" else PARTS[:1]

    def settings(self, params: Training) -> Training:
        """The settings of its training."""
        return replaced(params, {"encoder.last_shortcut": self.shortcut})


def cells(params: Training, nets: Sequence[str], objective: str | None = None) -> list[Cell]:
    """Every network and seed, and the networks before training; with another loss, only those of
    `OTHER_LOSS`."""
    every = [
        cell
        for seed in range(params.seeds)
        for cell in (
            *(Cell(net, shortcut, seed) for shortcut, net in STARTS.items()),
            *(Cell(net, "none" if net == WITHOUT_SHORTCUT else "identity", seed) for net in nets),
        )
        if cell.shortcut == "identity" or WITHOUT_SHORTCUT in nets
    ]
    return [cell for cell in every if not objective or cell.net in OTHER_LOSS]
