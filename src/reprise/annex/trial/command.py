"""The command `reprise try`."""

import argparse
import re
import tempfile
from pathlib import Path

from reprise.errors import RepriseError
from reprise.notices import progress

HELP = "train with a loss of yours; show it beside published ones and in figures of the papers"


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
        RepriseError: if this is no loss, the folder cannot be written, or the loss fails or diverges in
            training; then no file is written.
    """
    import torch

    from reprise.annex.trial import figures, page
    from reprise.annex.trial.comparison import compared
    from reprise.contract.experiment import Context
    from reprise.engine.loss_trial import try_loss
    from reprise.storage.store import writing

    name = options.loss
    if not re.fullmatch(r".+\.py:\w+", name):
        raise RepriseError(f"'{name}': expected path/mine.py:my_loss")
    try_loss(name)
    with writing(options.to):  # before minutes of training
        options.to.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder, progress("try") as report:
        root, quick = Path(folder), figures.quick_experiments()
        comparison = compared(name, Context(report, root=root, setting=name, objective=name))
        drawn = []
        for index, (experiment, how) in enumerate(quick):
            report(index, len(quick), f"figures of {experiment.id}")
            drawn += figures.drawn(experiment, how, name, root)
    trial = page.Trial(comparison, drawn)
    files = page.save(trial, options.to)
    print(page.text(trial))
    for file in files:
        print(file)
