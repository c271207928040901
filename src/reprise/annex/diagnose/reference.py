"""Reference values by which diagnostics are read, from networks that Reprise trained itself.

`python -m reprise.annex.diagnose.reference FILE --seeds 3` trains four published objectives on rendered
textures, and beside them untrained networks and one that collapses on purpose, because its loss only pulls
views together. It takes eight CPU minutes.
"""

import argparse
import io
import math
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import torch

from reprise.annex.diagnose.measures import Observed
from reprise.annex.diagnose.trained import held_out_accuracy, of_student, two_views
from reprise.datasets import recipes
from reprise.datasets.catalogue import DATA_SETS
from reprise.errors import RepriseError
from reprise.networks.encoders import RESNET10_W16
from reprise.networks.projectors import MLP, Identity
from reprise.storage.disk import write
from reprise.training.image_settings import Source
from reprise.training.images import Data, assemble, train
from reprise.training.methods import Student
from reprise.training.objective import BarlowTwins, Contrastive, FroSSL, Objective, VICReg
from reprise.training.optimisers import SGD
from reprise.training.pilots import PILOT_SEED, chosen
from reprise.training.schedules import Constant
from reprise.training.spec import Spec

FILE = "reference.csv"
DATA_SET = "textures"
STEPS, BATCH = 800, 64
HIDDEN = 256
RATES = (0.03, 0.1, 0.3, 1.0)
PILOT_STEPS = 200
"""A pilot at each rate, of `PILOT_SEED`, chooses an objective's learning rate: the best accuracy of nearest
neighbours on a random fifth of the training images; among equals, the lowest rate."""
RATE = 0.1
"""Learning rate of the network that collapses on purpose: VICReg without the terms that prevent collapse."""
STATES = ("trained", "untrained", "collapsed on purpose")


class Net(NamedTuple):
    """A row of the reference.

    Attributes:
        name: as in the table.
        state: one of `STATES`.
        objective, dim: the published ones, with dimensions scaled from a batch of 256 to one of 64. A
            network without a dimension has no projector: behind one, the loss shrinks embeddings and leaves
            representations as they were.
    """

    name: str
    state: str
    objective: Objective
    dim: int | None = None


NETS = (
    Net("SimCLR", "trained", Contrastive(kind="nt_xent", temperature=0.2), 64),
    Net("VICReg", "trained", VICReg(), 256),
    Net("Barlow Twins", "trained", BarlowTwins(scale=0.1), 256),
    Net("FroSSL", "trained", FroSSL(), 256),
    Net("untrained", "untrained", FroSSL(), 256),
    Net("invariance only", "collapsed on purpose", VICReg(variance_weight=0.0, covariance_weight=0.0)),
)


def measured(
    nets: Sequence[Net], seeds: int, *, steps: int = STEPS, pilot_steps: int = PILOT_STEPS
) -> pd.DataFrame:
    """Trains and measures networks.

    Args:
        steps, pilot_steps: of a training, and of each pilot for its learning rate.

    Returns:
        One row per network, seed, layer and diagnostic: `state`, `net`, `learning_rate`, `seed`, `layer`,
        `diagnostic`, `value`, and `share`, the value over what the diagnostic's scale divides by.

    Raises:
        RepriseError: if a network diverges, in every pilot or afterwards.
    """
    data = Source(name=DATA_SET, root="data").load()
    views = two_views(data, recipes.SHAPES, DATA_SETS[DATA_SET].normalisation)
    rows = []
    for net in nets:
        rate = _chosen_rate(net, pilot_steps, data) if net.state == "trained" else RATE
        for seed in range(seeds):
            length = 0 if net.state == "untrained" else steps
            student = _trained(net, rate, length, seed, data)
            if student is None:
                raise RepriseError(
                    f"{net.name} diverged at learning rate {rate:g} with seed {seed}; lower it"
                )
            for row in of_student(student, views, data.test_labels):
                shown = rate if length else 0.0
                rows.append(
                    {"state": net.state, "net": net.name, "learning_rate": shown, "seed": seed, **row}
                )
    return pd.DataFrame(rows)


@cache
def reference() -> pd.DataFrame:
    """The shipped table, as `measured` returns it."""
    return pd.read_csv(io.StringIO(_text()), comment="#")


def provenance() -> list[str]:
    """Provenance of the shipped table, line by line."""
    return [line.removeprefix("# ") for line in _text().splitlines() if line.startswith("#")]


def band(each: Observed | str, layer: str, state: str) -> tuple[float, float] | None:
    """Lowest and highest value of a diagnostic among the networks of a state, on the scale of an observed
    one and within its range, to four digits; None if they have none.

    Args:
        each: a diagnostic, or the name of a probe.
    """
    name, limit, least = each, 1.0, 0.0
    if not isinstance(each, str):
        name, limit, least = each.measure.name, each.limit, each.measure.range[0]
    table = reference()
    rows = table[(table["layer"] == layer) & (table["state"] == state) & (table["diagnostic"] == name)]
    shares = rows["share"].dropna()
    if shares.empty:
        return None
    low, high = (float(f"{max(limit * share, least):.4g}") for share in (shares.min(), shares.max()))
    return low, high


def _text() -> str:
    return resources.files(__package__).joinpath(FILE).read_text(encoding="utf-8")


def _trained(net: Net, rate: float, steps: int, seed: int, data: Data) -> Student | None:
    spec = Spec(
        objective=net.objective,
        augmentation=recipes.SHAPES,
        normalisation=DATA_SETS[DATA_SET].normalisation,
        encoder=RESNET10_W16,
        projector=MLP(dims=(HIDDEN, HIDDEN, net.dim)) if net.dim else Identity(),
        optimiser=SGD(learning_rate=rate, momentum=0.0, weight_decay=1e-6),
        schedule=Constant(),
        batch=BATCH,
        steps=steps,
        seed=seed,
        precision="bfloat16",
    )
    print(f"{net.name}, rate {rate:g}, seed {seed}, {steps} steps", file=sys.stderr, flush=True)
    if not steps:
        return assemble(spec, data.channels).student.eval()
    with tempfile.TemporaryDirectory() as folder:
        trained = train(spec, data, Path(folder), save_every=float("inf"))
    return None if trained.diverged is not None else trained.method.student.eval()


def _chosen_rate(net: Net, steps: int, data: Data) -> float:
    accuracies = {}
    for rate in RATES:
        student = _trained(net, rate, steps, PILOT_SEED, data)
        accuracies[rate] = (
            held_out_accuracy(student, data, DATA_SETS[DATA_SET].normalisation)
            if student is not None
            else math.nan
        )
    print(f"{net.name}: {accuracies}", file=sys.stderr, flush=True)
    if all(map(math.isnan, accuracies.values())):
        raise RepriseError(f"{net.name} diverged at every learning rate of {RATES}")
    return chosen(accuracies)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m reprise.annex.diagnose.reference", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(1)
    try:
        table = measured(NETS, options.seeds)
        lines = [
            f"python -m reprise.annex.diagnose.reference {options.file.name} --seeds {options.seeds}; torch "
            f"{torch.__version__}, CPU",
            f"ResNet10 of width 16 (representations of {RESNET10_W16.dim}) and a projector of three layers "
            f"on `{DATA_SET}` (ten classes), {STEPS} steps of {BATCH} images, SGD, augmented by the recipe "
            "`shapes`; measured on two views of each of 2,000 test images",
            f"Learning rates: the best of {', '.join(map(str, RATES))} in pilots of {PILOT_STEPS} steps; "
            f"`invariance only` {RATE:g}",
            f"{options.seeds} seed{'s' * (options.seeds > 1)}; the command makes it with more",
        ]
        text = "".join(f"# {line}\n" for line in lines) + table.to_csv(index=False, float_format="%.5g")
        write(options.file, text.encode())
    except RepriseError as error:
        print(f"reprise: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
