"""The command `reprise try`."""

import argparse
import re
from pathlib import Path

from reprise.errors import RepriseError

HELP = "train with a loss of yours; show it beside published ones and in figures of the papers"

DIM = 256
"""Of the embeddings, as of VICReg, Barlow Twins and FroSSL in the reference."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command to its parser; imports no torch."""
    parser.add_argument(
        "loss", metavar="LOSS", help="path/mine.py:my_loss, a function of two views' embeddings"
    )
    parser.add_argument(
        "--to", type=Path, default=Path("trial"), metavar="FOLDER",
        help="for trial.html and trial.csv (default: ./trial)",
    )  # fmt: skip


def run(options: argparse.Namespace) -> None:
    """Runs the command.

    Raises:
        RepriseError: if this is no loss, or it fails or diverges in training; then nothing is written.
    """
    import torch

    from reprise.diagnose.reference import NETS, Net, measured
    from reprise.execute.loss_trial import try_loss
    from reprise.trial import figures, page

    name = options.loss
    if not re.fullmatch(r".+\.py:\w+", name):
        raise RepriseError(f"'{name}': expected path/mine.py:my_loss")
    try_loss(name)
    torch.set_num_threads(1)
    function = name.rpartition(":")[2]
    label = function if function not in {net.name for net in NETS} else name
    numbers = measured([Net(label, "trained", name, {}, DIM)], 1)
    drawn = [figure for each in figures.EXPERIMENTS for figure in figures.drawn(each, name)]
    trial = page.Trial(name, label, numbers, drawn)
    files = page.save(trial, options.to)
    print(page.text(trial))
    for file in files:
        print(file)
