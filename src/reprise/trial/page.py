"""The page and the table of a trial."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from reprise.diagnose import reference
from reprise.diagnose.page import aligned, number, template, version
from reprise.diagnose.trained import LAYERS
from reprise.diagnose.verdict import RULE, Verdict, judged
from reprise.storage.store import write_files
from reprise.trial.figures import Drawn

PAGE, TABLE = "trial.html", "trial.csv"


@dataclass(frozen=True)
class Trial:
    """A loss that was tried.

    Attributes:
        loss: its name, `mine.py:my_loss`.
        label: its column.
        measured: as from `reference.measured`, of one seed.
        figures: of papers; may be empty.
    """

    loss: str
    label: str
    measured: pd.DataFrame
    figures: Sequence[Drawn] = ()

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """Whether the network collapsed, by layer."""
        verdicts = {}
        for layer, rows in self.measured.groupby("layer", sort=False):
            values = dict(zip(rows["diagnostic"], rows["value"], strict=True))
            shares = dict(zip(rows["diagnostic"], rows["share"], strict=True))
            # A rank's share is divided by the highest rank that was possible.
            limit = round(values["effective rank"] / shares["effective rank"])
            verdicts[str(layer)] = judged(values["spread"], values["collapsed dimensions"], limit)
        return verdicts


def tables(trial: Trial) -> dict[str, pd.DataFrame]:
    """For each layer, one row per diagnostic and one column per network: the tried loss, then the first seed
    of each network of the reference."""
    recorded = reference.reference()
    rows = pd.concat([trial.measured, recorded[recorded["seed"] == 0]])
    return {
        layer: rows[rows["layer"] == layer]
        .pivot(index="diagnostic", columns="net", values="value")
        .loc[list(dict.fromkeys(rows["diagnostic"])), list(dict.fromkeys(rows["net"]))]
        for layer in LAYERS
    }


def text(trial: Trial) -> str:
    """The verdicts and the table of representations, for a terminal."""
    shown = tables(trial)["representation"]
    cells = [("representations", *shown.columns)]
    cells += [(str(name), *map(number, row)) for name, row in zip(shown.index, shown.values, strict=True)]
    heads = [f"{layer}s {verdict.word}: {verdict.reason}" for layer, verdict in trial.verdicts.items()]
    failures = [f"{each.title} not drawn: {each.failure}" for each in trial.figures if each.failure]
    return "\n".join([f"{trial.loss}: {_setting(trial)}", *heads, "", *aligned(cells), "", *failures])


def save(trial: Trial, folder: Path) -> list[Path]:
    """Writes the page, which opens offline, and the tables; returns both files.

    Raises:
        RepriseError: if the folder cannot be written.
    """
    by_layer = tables(trial)
    page = template("page.html.j2", room=__package__).render(
        trial=trial,
        tables={layer: table.to_dict("index") for layer, table in by_layer.items()},
        nets=list(by_layer["representation"].columns),
        setting=_setting(trial),
        rule=RULE,
        provenance=reference.provenance(),
        version=version(),
    )
    files = {
        folder / PAGE: lambda draft: draft.write_text(page),
        folder / TABLE: lambda draft: pd.concat(by_layer, names=["layer"]).to_csv(draft),
    }
    write_files(files)
    return list(files)


def _setting(trial: Trial) -> str:
    rate = trial.measured["learning_rate"].iloc[0]
    return (
        f"one network with one seed on {reference.DATA_SET}, at learning rate {rate:g}, the best in pilots; "
        "other seeds give other numbers, so that small differences between columns say nothing"
    )
