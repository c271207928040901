"""A figure or table in a tier: drawn from an experiment's tables, and bound to them and to the code that drew
it."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from reprise.contract.experiment import Artifact, Tables
from reprise.engine import memo, registry
from reprise.engine.configured import ConfiguredExperiment, Tier, blamed_on_version
from reprise.errors import RepriseError
from reprise.storage import records

if TYPE_CHECKING:  # matplotlib takes a third of a second to import, and most commands draw nothing
    from matplotlib.figure import Figure

Writer = Callable[[Path], Any]

CHANGED = {
    "artifact": "the drawing of another figure or table",
    "tables": "drawn from other tables than are here now",
    "params": "drawn with other parameters than are asked for now",
    "code": "drawn by other code than is here now",
}
"""Entries of a drawing's record, each with the meaning of a difference in it."""


@dataclass(frozen=True)
class Drawing:
    """A figure or table in a tier."""

    artifact: Artifact
    tier: Tier

    @property
    def id(self) -> str:
        return self.artifact.id

    @property
    def experiment(self) -> ConfiguredExperiment:
        """The experiment whose tables are drawn."""
        return self.tier.experiment(self.artifact.experiment)

    @property
    def files(self) -> dict[str, Path]:
        """Ending -> file: `figures/TIER/KEY/fig04.{pdf,svg,csv,png}`, or `table1.{csv,md}`."""
        return {ending: self.tier.figures / f"{self.id}.{ending}" for ending in self.artifact.endings}

    @property
    def record(self) -> Path:
        """The file that binds `files` to what they were made from, `.fig04.json` beside them."""
        file = self.tier.figures / self.id
        return file.with_name(f".{file.name}.json")

    @property
    def how_to_draw(self) -> str:
        """The command that draws the figure or table."""
        return f"reprise draw {self.id} --tier {self.tier.in_commands}"

    def content(self, tables: Tables | None = None) -> Any:
        """The figure (a matplotlib Figure) or table (a DataFrame), in the style of all figures.

        Args:
            tables: by default the experiment's tables in the tier.
        """
        from reprise.plotting.style import styled

        tables = self.experiment.tables() if tables is None else tables
        with blamed_on_version(self.tier, f"{self.id} draws"), styled():
            content = self.artifact.draw(tables, self.experiment.params)
            if self.artifact.kind == "figure" and self.tier.is_recorded:
                content.draw_without_rendering()  # reads the formulas in texts, some of which are from tables
            return content

    def draw(self) -> list[Path]:
        """Draws it and writes its `files`.

        A sealed `record` binds them to what they were made from: the SHA-256 of the tables, the parameters
        and the drawing code. It is renamed last, so that after a kill the drawing is either whole, the old
        one or the new, or is seen to be unfinished.
        """
        import matplotlib.pyplot as plt

        code = registry.artifact_code(self.id)  # before it is imported: an edit meanwhile makes this stale
        tables, sums = self.experiment.tables_and_sums()
        content = self.content(tables)
        writer = _figure_writer if self.artifact.kind == "figure" else _table_writer
        files = {file: writer(content, ending) for ending, file in self.files.items()}
        if not memo.of_package().is_current():
            raise RepriseError(
                f"{self.id}: the package was edited while this was drawn; nothing was written; draw it again"
            )
        with blamed_on_version(self.tier, f"{self.id} draws"):
            records.write_sealed(self.record, files, self._made_from(sums, code))
        plt.close("all")
        return list(files)

    def _made_from(self, sums: Mapping[str, str], code: str) -> dict[str, Any]:
        """The origins of the files for the record, in the order of `CHANGED`."""
        params = self.experiment.params.model_dump(mode="json")
        return {"artifact": self.id, "tables": dict(sums), "params": params, "code": code}

    def staleness(self) -> str:
        """The reason why the files are not what the present code draws from the present tables, or empty.

        Raises:
            RepriseError: if there are no results, or their record is damaged.
        """
        results = self.experiment.record()
        try:
            record = records.load_sealed(self.record, [file.name for file in self.files.values()])
        except ValueError as damage:
            return str(damage)
        now = self._made_from(results["sha256"], registry.artifact_code(self.id))
        changed = (reason for name, reason in CHANGED.items() if record.get(name) != now[name])
        return f"{self.tier.figures / self.id}: {reason}" if (reason := next(changed, "")) else ""

    def is_current(self) -> bool:
        """Tells if the files are what the present code draws from the present tables.

        Raises:
            RepriseError: if there are no results, or their record is damaged.
        """
        return not self.staleness()

    def keep_current(self) -> None:
        """Draws it, unless its files are what the present code draws from the present tables; says on stderr
        why those that are there are not.

        Raises:
            RepriseError: if the results are missing, damaged or out of date, or the files cannot be written.
        """
        if reason := self.staleness():
            if self.record.exists():
                print(f"{reason}; drawn again", file=sys.stderr, flush=True)
            self.draw()


def _figure_writer(figure: "Figure", ending: str) -> Writer:
    from reprise.plotting.style import save

    return partial(save, figure, kind=ending)


def _table_writer(table: pd.DataFrame, ending: str) -> Writer:
    def markdown(file: Path) -> None:
        file.write_text(table.to_markdown(index=False) + "\n", encoding="utf-8")

    return markdown if ending == "md" else partial(table.to_csv, index=False)
