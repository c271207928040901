"""The command `reprise try`."""

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from reprise.errors import RepriseError
from reprise.notices import progress

HELP = "train with a loss of yours; show it beside published ones and in figures of the papers"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command to its parser; imports no torch."""
    parser.add_argument(
        "loss",
        metavar="LOSS",
        help="path/mine.py:my_loss, a function of two views' embeddings, a class or a module; 'path/mine.py:"
        "my_loss(tau=.1)' with arguments",
    )
    parser.add_argument(
        "--figure", action="append", metavar="ID",
        help="this figure alone, in seconds: its id in any spelling; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--against", type=lambda names: names.split(","), default=[], metavar="LOSSES",
        help="published losses to show it with, such as vicreg,simclr: in the figure, or without one in the "
        "comparison (default there: those that learned)",
    )  # fmt: skip
    parser.add_argument(
        "--dim", type=int, metavar="N",
        help="of the embeddings of your loss in the comparison (default: 256, as of VICReg; SimCLR has 64)",
    )  # fmt: skip
    parser.add_argument(
        "--to", type=Path, default=Path("trial"), metavar="FOLDER",
        help="for trial.html, trial.csv and the figures (default: ./trial)",
    )  # fmt: skip


def run(options: argparse.Namespace) -> None:
    """Runs the command.

    Raises:
        RepriseError: if this is no loss or no such figure, the folder cannot be written, or the loss fails or
            diverges in training; then no file is written.
    """
    from reprise.annex.progress import parts
    from reprise.annex.trial import comparison, figures, given, page

    experiments = [*figures.experiments([figures.found(each) for each in options.figure or ()])]
    seconds = {f"figures of {experiment.id}": figures.SECONDS for experiment, *_ in experiments}
    if not options.figure:
        seconds["comparison"] = comparison.SECONDS
    compared = [] if options.figure else [given.baseline(each) for each in options.against]
    in_figures = options.against if options.figure else []
    dim = comparison.DIM if options.dim is None else options.dim
    if dim < 2:
        raise RepriseError(f"--dim {dim}: expected at least 2")
    with (
        figures.on_one_thread(),
        tempfile.TemporaryDirectory() as files,
        given.named(options.loss, in_figures, Path(files)) as losses,
    ):
        losses = figures.tried(losses)
        with writable(options.to), tempfile.TemporaryDirectory() as folder, progress("try") as bar:
            root, reports, standings = Path(folder), iter(parts(bar, seconds)), None
            drawn: dict[str, figures.Drawn] = {}
            for experiment, quick, ids in experiments:
                drawn |= figures.drawn(experiment, quick, ids, losses, root, next(reports))
            if options.figure and not any(each.picture for each in drawn.values()):
                raise RepriseError(next(iter(drawn.values())).failure)
            if not options.figure:
                standings = comparison.compared(losses[0], root, next(reports), compared, dim)
            trial = page.Trial(losses, standings, drawn)
            saved = page.save(trial, options.to)
        print(*filter(None, [page.text(trial), *saved]), sep="\n")


@contextmanager
def writable(folder: Path) -> Iterator[None]:
    """Makes a folder, if need be, and tries that it takes files, before minutes of training. One that is new
    and still empty after an error or Ctrl-C is deleted.

    Raises:
        RepriseError: if it cannot be written.
    """
    from reprise.storage.disk import writing

    new = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        yield
    except BaseException:
        with suppress(OSError):
            for each in new:
                each.rmdir()
        raise
