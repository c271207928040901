"""The networks that a tried loss stands beside: those of our comparison of objectives, the baselines.

`python -m reprise.annex.trial.baselines FILE --tier default` writes the table from a tier's results.
"""

import argparse
import io
import sys
from importlib import resources
from pathlib import Path
from typing import cast

import pandas as pd

from reprise.annex.ours.objectives_by_diagnostics.experiment import Params
from reprise.annex.ours.objectives_by_diagnostics.lineup import FIRST
from reprise.annex.ours.objectives_by_diagnostics.ranking import is_on_images
from reprise.contract.experiment import BASE
from reprise.errors import RepriseError
from reprise.ledger.recorded import load
from reprise.storage import disk

EXPERIMENT = "ours/objectives_by_diagnostics"
DATA_SET = "textures"
FILE = "baselines.csv"
KEYS = ["task", "objective", "layer", "seed"]
PROBE = "probe of images"
"""The column of the table `probes`."""


def baselines() -> dict[str, pd.DataFrame]:
    """The tables `diagnostics` and `probes` of the experiment: each objective in its published setting on
    `DATA_SET` and with the toy networks, in the columns that the figures read.

    Of each diagnostic the file has the number that figures show, which `estimate` and `share` both hold: the
    share for embeddings of images, whose dimensions differ, else the estimate.
    """
    wide = pd.read_csv(io.StringIO(_text()), comment="#")
    probes = wide.dropna(subset=PROBE).rename(columns={PROBE: "accuracy"})[[*KEYS, "accuracy"]]
    long = wide.drop(columns=PROBE).melt(KEYS, var_name="diagnostic", value_name="estimate")
    tables = {"diagnostics": long.assign(share=long["estimate"]), "probes": probes}
    return {name: table.assign(place=FIRST, setting=BASE) for name, table in tables.items()}


def provenance() -> list[str]:
    """Provenance of the networks, line by line."""
    return [line.removeprefix("# ") for line in _text().splitlines() if line.startswith("#")]


def _text() -> str:
    return resources.files(__package__).joinpath(FILE).read_text(encoding="utf-8")


def _table(diagnostics: pd.DataFrame, probes: pd.DataFrame) -> pd.DataFrame:
    """One row a network and layer, one column a diagnostic, from the tables of the experiment."""
    rows = diagnostics[(diagnostics["place"] == FIRST) & (diagnostics["setting"] == BASE)]
    on_images = rows["task"].map(is_on_images)
    is_share = on_images & (rows["layer"] == "embedding")
    rows = rows.assign(shown=rows["estimate"].where(~is_share, rows["share"]))
    rows = rows[(rows["task"] == DATA_SET) | (~on_images & (rows["layer"] == "embedding"))]
    wide = rows.pivot(index=KEYS, columns="diagnostic", values="shown")
    wide = wide.loc[list(dict.fromkeys(rows[KEYS].itertuples(index=False, name=None)))]
    accuracies = probes[(probes["place"] == FIRST) & (probes["setting"] == BASE)].assign(
        layer="representation"
    )
    wide.insert(0, PROBE, accuracies.set_index(KEYS)["accuracy"])
    return wide[[PROBE, *dict.fromkeys(rows["diagnostic"])]]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m reprise.annex.trial.baselines", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--tier", default="default")
    options = parser.parse_args()
    try:
        tier = load(options.tier)
        configured = tier.experiment(EXPERIMENT)
        tables, record = configured.tables(), configured.record()
        params = cast(Params, configured.params)
        lines = [
            f"python -m reprise.annex.trial.baselines {options.file.name} --tier {tier.name}; commit "
            f"{record['commit'][:10]}, torch {record['versions']['torch']}, "
            f"{record['hardware']['processor']}",
            f"Conv4 (representations of {params.encoder.dim}) and a projector of three layers on "
            f"`{DATA_SET}` (ten classes) of {params.size} pixels, {params.steps} steps of {params.batch} "
            "images, AdamW, augmented by the recipe `shapes`; measured on two views of each of "
            f"{params.test_images:,} test images, with {params.seeds} seeds",
            f"Learning rates: the best of {', '.join(map(str, params.learning_rates))} in pilots of "
            f"{params.pilot_steps} steps",
        ]
        text = "".join(f"# {line}\n" for line in lines)
        text += _table(tables["diagnostics"], tables["probes"]).to_csv(float_format="%.5g")
        disk.write(options.file, text.encode())
    except RepriseError as error:
        print(f"reprise: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
