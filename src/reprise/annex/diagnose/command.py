"""The command `reprise diagnose`."""

import argparse
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from reprise.annex.progress import parts
from reprise.datasets.recipes import RECIPES
from reprise.errors import RepriseError
from reprise.notices import progress

if TYPE_CHECKING:
    from reprise.annex.diagnose.models import Represented

HELP = (
    "measure embeddings or a model of yours: spectrum, ranks, alignment, probes; say whether they collapsed"
)

PATIENCE = 3.0
"""Seconds of work without a bar."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command to its parser; imports no torch."""
    parser.add_argument(
        "files", nargs="+", metavar="FILE",
        help="embeddings [samples, dimensions] of one or two views (.npy, .npz, .safetensors, .pt; FILE:KEY "
        "where there are several), or a model: path/model.py:build, torchvision:resnet18",
    )  # fmt: skip
    parser.add_argument("--labels", metavar="FILE", help="a class for each sample, for probes")
    parser.add_argument(
        "--images", type=Path, metavar="FOLDER", help="of a model: images, in a folder per class"
    )
    parser.add_argument("--weights", type=Path, metavar="FILE", help="of a model: its state dict")
    parser.add_argument(
        "--recipe", choices=RECIPES, default="simclr_imagenet", metavar="NAME",
        help=f"of a model: augmentations of its two views; {', '.join(RECIPES)} (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--size", type=int, default=224, metavar="PIXELS", help="of a model (default: %(default)s)"
    )
    parser.add_argument(
        "--samples",
        type=int,
        default=2000,
        metavar="N",
        help="images of a model, at most (default: %(default)s)",
    )
    parser.add_argument(
        "--layer", choices=("representation", "embedding"), default="representation",
        help="what the reference shows beside yours: the encoder's output or the projector's (default: "
        "%(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--to", type=Path, default=Path("diagnosis"), metavar="FOLDER",
        help="for diagnosis.html and diagnosis.csv (default: ./diagnosis)",
    )  # fmt: skip


def run(options: argparse.Namespace) -> None:
    """Runs the command.

    Raises:
        RepriseError: for any input that cannot be used; then nothing is written.
    """
    from reprise.annex.diagnose import models, page, reading
    from reprise.annex.diagnose.classes import probes
    from reprise.annex.diagnose.measures import observe
    from reprise.annex.diagnose.moments import expected_seconds, gather
    from reprise.annex.diagnose.verdict import verdict

    names, notes = options.files, []
    if len(names) > 2:
        raise RepriseError(f"{len(names)} files; expected one or two views of the same samples")
    if any(map(models.is_model, names)):
        views, labels = _of_model(options)
        notes.append(
            f"Two views of each image of {options.images}, at {options.size} pixels, by the recipe "
            f"{options.recipe}, in evaluation mode."
        )
        title = f"{names[0]} on {options.images.name}"
        names = ["view 1", "view 2"]
    else:
        if unused := [name for name in ("images", "weights") if getattr(options, name)]:
            raise RepriseError(f"--{unused[0]}: only for a model; {names[0]} is a file of embeddings")
        views, labels = [reading.embeddings(name) for name in names], None
        title = " and ".join(names)
    if options.labels:
        labels = reading.labels(options.labels, len(views[0]))
    samples, dim = views[0].shape
    seconds = expected_seconds(samples, dim, len(views))
    with progress("diagnose") if sum(seconds.values()) > PATIENCE else nullcontext(_silent) as bar:
        while_read, while_observed = parts(bar, seconds)
        gathered = gather(views, names, while_read)
        observed = observe(gathered, while_observed)
    diagnosis = page.Diagnosis(
        title,
        options.layer,
        gathered.whole,
        observed,
        probes(views[0], labels) if labels is not None else [],
        verdict(observed),
        notes,
    )
    files = page.save(diagnosis, options.to)
    print(page.text(diagnosis))
    for file in files:
        print(file)


def _silent(done: int, total: int, what: str) -> None:
    """A bar that is not shown."""


def _of_model(options: argparse.Namespace) -> "Represented":
    from reprise.annex.diagnose import models

    (name, *others) = options.files
    if others:
        raise RepriseError(f"{name}: a model stands alone; {others[0]} is one file too many")
    if options.images is None:
        raise RepriseError(f"{name}: a model needs images; add --images FOLDER")
    if options.size < 8 or options.samples < 1:
        raise RepriseError(
            f"--size {options.size} --samples {options.samples}: expected 8 pixels and 1 image or more"
        )
    net = models.model(name, options.weights)
    with progress("diagnose") as report:
        return models.represent(
            net,
            options.images,
            recipe=options.recipe,
            size=options.size,
            samples=options.samples,
            progress=report,
        )
