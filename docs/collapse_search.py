"""Searches for a setting in which SimCLR collapses without a projector, by the rule of collapse_search.md.

Settings are drawn at random until their trainings are estimated to take an hour of one core. Each has one
network without a projector; networks with one are not looked at. Prints a row a setting as it is trained,
and writes `SEARCH` at the end, to which `collapse_search.py confirm` adds five further seeds of each setting
that collapsed. Trained networks are cached, so that a second run goes on.
"""

import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
import torch

from reprise.contract.experiment import Context
from reprise.contract.settings import replaced
from reprise.evidence.comparison import LEARNED
from reprise.evidence.learning import PIXELS, gain
from reprise.papers.jing2022.image_nets import perform
from reprise.papers.jing2022.image_settings import Training, needs, net
from reprise.papers.jing2022.projector_spectra.figures import SEARCH
from reprise.papers.jing2022.spectra import has_collapse
from reprise.training.baselines import pixel_baselines
from reprise.training.optimisers import LARS, SGD, AdamW

ROOT = Path(__file__).parents[1]
MINUTES = 60.0
"""All trainings together take so many minutes of one core, as estimated."""
LONGEST = 0.75
"""A setting whose training is estimated to take more minutes is skipped."""
SEED = 100
"""The seed of all networks, which no experiment uses."""
NET = "none"
BASE = {
    "root": str(ROOT / "data"),
    "encoder": {"block": "basic", "stem": "stride2", "zero_init_residual": False},
    "recipe": "shapes",
    "probe_views": 0,
}
"""All settings share these: small networks, and stand-ins that need no download."""
DATA_SETS = ("textures", "shapes")
TEMPERATURES = (0.05, 0.1, 0.2, 0.5)
WIDTHS = (8, 16, 32)
"""Channels of the first stage; the representation has eight times as many dimensions."""
BLOCKS = ((1, 1, 1, 1), (1, 1, 1, 2), (2, 2, 2, 2))
OPTIMISERS = (
    LARS(learning_rate=0.3),
    LARS(learning_rate=3.0),
    SGD(learning_rate=0.05, weight_decay=1e-6),
    SGD(learning_rate=0.5, weight_decay=1e-6),
    AdamW(learning_rate=0.002, weight_decay=1e-6),
    AdamW(learning_rate=0.01, weight_decay=1e-6),
)
"""The rates are those of a batch of 256; other batches have them in proportion."""
BATCHES = (64, 128, 256)
CROPS = (0.08, 0.2, 0.4)
COLOURS = ((0.4, 0.1), (0.6, 0.5))
"""Jitter and hue: the authors', and stronger with any hue."""
EPOCHS = (4.0, 8.0, 16.0)


def settings() -> Iterator[Training]:
    """Each value is drawn with equal chance, independently of the others."""
    draw = Random(0).choice
    while True:
        batch, optimiser, (jitter, hue) = draw(BATCHES), draw(OPTIMISERS), draw(COLOURS)
        changes = {
            "batch": batch,
            "optimiser": replaced(optimiser, {"learning_rate": optimiser.learning_rate * batch / 256}),
            "jitter": jitter,
            "hue": hue,
            "data_set": draw(DATA_SETS),
            "temperature": draw(TEMPERATURES),
            "encoder.width": draw(WIDTHS),
            "encoder.blocks": draw(BLOCKS),
            "crop": draw(CROPS),
            "epochs": draw(EPOCHS),
        }
        yield replaced(replaced(Training(), BASE), changes)


def points() -> list[Training]:
    """The settings in the order in which they are drawn."""
    drawn, minutes = [], 0.0
    for each in settings():
        cost = needs(each, net(each, NET, 0, "", {})).minutes
        if cost <= LONGEST:
            minutes += cost
            if minutes > MINUTES:
                break
            drawn.append(each)
    return drawn


def measured(point: Training, pixels: pd.DataFrame, seed: int) -> dict[str, object]:
    """The row of a setting: what was drawn; what the probe `gains`, and whether the network has `learned`;
    ln(smallest / largest value) and the largest `fall` of ln between neighbours, before and after training;
    and whether the setting `collapses`: it has learned, and shows a collapse that was not there at first."""
    trained = net(point, NET, seed, "trained", {})
    after, before = (
        perform(point, each, Context(root=ROOT), lambda share: None)
        for each in (trained, trained.before_training("start", {}))
    )
    row: dict[str, object] = {
        "data_set": point.data_set,
        "temperature": point.temperature,
        "width": point.encoder.width,
        "blocks": "-".join(map(str, point.encoder.blocks)),
        "optimiser": point.optimiser.kind,
        "learning_rate": point.optimiser.learning_rate,
        "batch": point.batch,
        "crop": point.crop,
        "hue": point.hue,
        "epochs": point.epochs,
    }
    accuracy, initial = (
        rows.loc[rows["what"] == "top1", "value"].reset_index(drop=True) for rows in (after, before)
    )
    row["gain"] = gain(accuracy, initial, pixels).item()
    row["learned"] = bool(row["gain"] >= LEARNED)
    shown = {}
    for when, rows in (("start", before), ("end", after)):
        values = rows.loc[rows["what"] == "representation", "value"]
        ordered = np.sort(values.to_numpy())[::-1]
        row[f"smallest_{when}"] = round(float(ordered[-1] - ordered[0]), 3)
        row[f"fall_{when}"] = round(float(-np.diff(ordered).min()), 3)
        shown[when] = has_collapse(values)
    row["collapses"] = bool(row["learned"] and shown["end"] == 1 and shown["start"] == 0)
    return row


def main() -> None:
    """Trains the settings, and with `confirm` five further seeds of those that collapsed."""
    torch.set_num_threads(1)
    drawn, found = points(), pd.DataFrame()
    numbers, seeds = range(len(drawn)), range(SEED, SEED + 1)
    if sys.argv[1:] == ["confirm"]:
        found = pd.read_csv(SEARCH).query("seed == @SEED")
        numbers, seeds = found.loc[found["collapses"], "point"], range(SEED + 1, SEED + 6)
    pixels = {}
    for name in DATA_SETS:
        source = replaced(replaced(Training(), BASE), {"data_set": name}).source
        shares = pixel_baselines(source, Training().probe, seed=0, device="cpu")
        pixels[name] = pd.DataFrame({what: [100 * share] for what, share in zip(PIXELS, shares, strict=True)})
    rows = []
    for number, seed in product(numbers, seeds):
        point = drawn[number]
        rows.append({"point": number, "seed": seed, **measured(point, pixels[point.data_set], seed)})
        print(*rows[-1].values(), flush=True)
    pd.concat([found, pd.DataFrame(rows)]).to_csv(SEARCH, index=False)


if __name__ == "__main__":
    main()
