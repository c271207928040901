"""The command `reprise diagnose`."""

import argparse
import math
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from reprise.annex.progress import parts
from reprise.datasets.recipes import RECIPES
from reprise.errors import RepriseError
from reprise.notices import progress

if TYPE_CHECKING:
    from numpy import ndarray as Array

    from reprise.annex.diagnose.classes import Probed

HELP = (
    "measure embeddings or a model of yours: spectrum, ranks, alignment, probes; say whether they collapsed"
)

OF_MODELS = {
    "images": None,
    "weights": None,
    "tokens": None,
    "skip_bad": False,
    "recipe": "simclr_imagenet",
    "size": 224,
    "samples": 2000,
}
"""Options that only models have, and their defaults."""
PATIENCE = 3.0
"""Seconds of work without a bar."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command to its parser; imports no torch."""
    parser.add_argument(
        "files", nargs="+", metavar="FILE",
        help="embeddings [samples, dimensions] of one or two views (.npy, .npz, .safetensors, .pt; FILE:KEY "
        "where there are several), or a model: path/model.py:build, torchvision:resnet18, timm:NAME",
    )  # fmt: skip
    parser.add_argument(
        "--labels", metavar="FILE",
        help="a class for each sample, for probes: an array, text with one a line, or FILE.csv:COLUMN",
    )  # fmt: skip
    parser.add_argument(
        "--images", type=Path, metavar="FOLDER", help="of a model: images, in a folder per class"
    )
    parser.add_argument(
        "--skip-bad", action="store_true", help="of a model: leave out images that cannot be decoded"
    )
    parser.add_argument(
        "--weights", metavar="FILE",
        help="of a model: a checkpoint, FILE:PREFIX where several weights in it fit",
    )  # fmt: skip
    parser.add_argument(
        "--tokens", choices=("cls", "mean"),
        help="of a transformer of timm: the class token, or the mean over patches (default: as in timm)",
    )  # fmt: skip
    parser.add_argument(
        "--recipe", choices=RECIPES, default=OF_MODELS["recipe"], metavar="NAME",
        help=f"of a model: augmentations of its two views; {', '.join(RECIPES)} (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--size", type=int, default=OF_MODELS["size"], metavar="PIXELS",
        help="of a model (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--samples",
        type=int,
        default=OF_MODELS["samples"],
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
    from reprise.annex.diagnose.measures import observe
    from reprise.annex.diagnose.moments import expected_seconds, gather
    from reprise.annex.diagnose.verdict import verdict

    names = options.files
    if len(names) > 2:
        raise RepriseError(f"{len(names)} files; expected one or two views of the same samples")
    if any(map(models.is_model, names)):
        views, labels, notes = _of_model(options)
        title = f"{names[0]} on {options.images.name}"
        names = ["view 1", "view 2"]
    else:
        views, notes = [reading.embeddings(name) for name in names], []
        if unused := [name for name, default in OF_MODELS.items() if getattr(options, name) != default]:
            option = unused[0].replace("_", "-")
            raise RepriseError(f"--{option}: only for a model; {names[0]} is a file of embeddings")
        labels = reading.labels(options.labels, len(views[0])) if options.labels else None
        title = " and ".join(names)
    samples, dim = views[0].shape
    seconds = expected_seconds(samples, dim, len(views))
    with progress("diagnose") if sum(seconds.values()) > PATIENCE else nullcontext(_silent) as bar:
        while_read, while_observed = parts(bar, seconds)
        gathered = gather(views, names, while_read)
        observed = observe(gathered, while_observed)
    if gathered.whole.distance2 == 0:
        notes.append("Both views are equal, so that diagnostics of both views say nothing.")
    probed, unlabelled = _probed(views[0], labels)
    diagnosis = page.Diagnosis(
        title,
        options.layer,
        gathered.whole,
        observed,
        probed,
        verdict(observed),
        [*notes, *unlabelled],
    )
    files = page.save(diagnosis, options.to)
    print(page.text(diagnosis))
    for file in files:
        print(file)


def _silent(done: int, total: int, what: str) -> None:
    """A bar that is not shown."""


def _of_model(options: argparse.Namespace) -> "tuple[list[Array], Array | None, list[str]]":
    """Two views, the labels and the notes."""
    from reprise.annex.diagnose import models, pictures, reading

    (name, *others) = options.files
    if others:
        raise RepriseError(f"{name}: a model stands alone; {others[0]} is one file too many")
    if options.images is None:
        raise RepriseError(f"{name}: a model needs images; add --images FOLDER")
    if options.size < 8 or options.samples < 1:
        raise RepriseError(
            f"--size {options.size} --samples {options.samples}: expected 8 pixels and 1 image or more"
        )
    net, weights = models.model(name, options.weights, options.tokens)
    labels = None
    if options.labels:
        labels = reading.labels(options.labels, len(pictures.found(options.images).files))
    with progress("diagnose") as report:
        found = models.represent(
            net,
            options.images,
            recipe=options.recipe,
            size=options.size,
            samples=options.samples,
            skip_bad=options.skip_bad,
            progress=report,
        )
    made = (
        f"Two views of each image of {options.images}, at {options.size} pixels, by the recipe "
        f"{options.recipe}, in evaluation mode."
    )
    notes = [made, weights, *found.notes]
    if labels is not None:
        return found.views, labels[found.places], notes
    return found.views, found.labels, [*notes, *filter(None, [found.about_labels])]


def _probed(view: "Array", labels: "Array | None") -> "tuple[list[Probed], list[str]]":
    """The probes of the samples that have a label, and a note on the others."""
    import numpy as np

    from reprise.annex.diagnose.classes import MOST, NEIGHBOURS, TEST, probes
    from reprise.annex.diagnose.reading import NONE

    if labels is None:
        return [], []
    labelled = np.flatnonzero(labels != NONE)
    if len(labelled) == len(labels):
        return probes(view, labels), []
    least = math.ceil(NEIGHBOURS * TEST / (TEST - 1))
    if len(labelled) < least:
        raise RepriseError(f"{len(labelled)} of {len(labels)} samples have a label; probes need {least}")
    chosen = np.sort(np.random.default_rng(0).permutation(labelled)[:MOST])
    note = (
        f"{len(labels) - len(labelled)} of {len(labels)} samples have no label (-1, NaN or empty) and are "
        "left out of the probes."
    )
    return probes(view[chosen], labels[chosen]), [note]
