"""Makes a run's tables small enough for a repository, in ways that change no verdict and no drawing."""

import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from reprise.contract.experiment import BASE, Tables
from reprise.contract.tidy import TIMES
from reprise.engine.configured import ConfiguredExperiment
from reprise.engine.draw import Drawing
from reprise.evidence.verdicts import judge_all
from reprise.storage import disk, records, store

LARGE = 50_000
"""Size in bytes of a table's file from which on the table is reduced."""
BITS = (14, 18, 22, 26, 32)
"""Binary digits to which numbers are rounded: the fewest that change nothing. A number of 64 bits has 53."""
FEW = 2000
"""Different values of a column up to which they are kept as they are: settings, steps, seeds."""
CLOSE, TINY = 1e-4, 1e-9
"""Largest moves of an observation and its interval, relative and absolute. Pages show three digits."""
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
DPI = 100
SHADES = 32
"""Largest difference of a pixel of a drawing, of 255: as when an edge moves by an eighth of a pixel."""

Change = Callable[[pd.DataFrame], pd.DataFrame]


def reduced(configured: ConfiguredExperiment) -> dict[str, bytes]:
    """File name -> content of an experiment's tables and their record, which says what was left out.

    Of a table of more than `LARGE` bytes, rows of other settings than the published one and of further seeds
    are left out, or of other settings, or at least those between the start and the end of training, and
    numbers are rounded: each unless a verdict would change, an observation by more than `CLOSE` or `TINY`, or
    a pixel by more than `SHADES`.

    Raises:
        RepriseError: if the results are missing, damaged or out of date.
    """
    tables = configured.tables()
    sizes = {name: (configured.folder / f"{name}.parquet").stat().st_size for name in tables}
    large = sorted((name for name in tables if sizes[name] >= LARGE), key=lambda name: -sizes[name])
    tables, notes = _smaller(configured, tables, large) if large else (tables, {})
    names = [name for name in configured.experiment.tables if name in tables]
    files = {f"{name}.parquet": _encoded(tables[name]) for name in names}
    sums = {name: disk.sha256(content) for name, content in files.items()}
    record = {**configured.record(), "sha256": sums, "reduced": notes}
    return {**files, store.RECORD: records.seal(record).encode()}


def _smaller(
    configured: ConfiguredExperiment, tables: dict[str, pd.DataFrame], large: Sequence[str]
) -> tuple[dict[str, pd.DataFrame], dict[str, str]]:
    """The tables, and by file what was done to each of the large ones."""
    whole, judgements = tables, list(_judgements(configured, tables))
    notes: dict[str, list[str]] = {}
    for name in large:
        pictures = list(_pictures(configured, whole, name))
        for alternatives in (FEWER, ROUNDED):
            for note, change in alternatives.items():
                tried = {**tables, name: change(tables[name])}
                has_fewer = 0 < len(tried[name]) < len(tables[name])
                if (has_fewer or note in ROUNDED) and _shows(judgements, pictures, configured, tried, name):
                    tables = tried
                    notes.setdefault(f"{name}.parquet", []).append(note)
                    break
    return tables, {file: ", ".join(each) for file, each in notes.items()}


def _published_alone(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["setting"] == BASE].reset_index(drop=True)


def _first_seed_alone(table: pd.DataFrame) -> pd.DataFrame:
    published = _published_alone(table)
    if "seed" not in table:
        return published
    return published[published["seed"] == published["seed"].min()].reset_index(drop=True)


def _ends_of_others(table: pd.DataFrame) -> pd.DataFrame:
    axis = next((name for name in TIMES if name in table), None)
    if axis is None:
        return table
    steps = table.groupby("setting")[axis]
    is_end = (table[axis] == steps.transform("min")) | (table[axis] == steps.transform("max"))
    return table[is_end | (table["setting"] == BASE)].reset_index(drop=True)


def _rounded(table: pd.DataFrame, bits: int) -> pd.DataFrame:
    def column(values: pd.Series) -> Any:
        is_measured = pd.api.types.is_float_dtype(values) and values.nunique() > FEW
        return rounded(values.to_numpy(), bits) if is_measured else values

    return table.apply(column)


def rounded(values: np.ndarray, bits: int) -> np.ndarray:
    """Numbers rounded to some significant binary digits, of the type that they had; those near its ends, and
    what is not finite, as they are."""
    mantissa, exponent = np.frexp(values)  # a mantissa in [.5, 1)
    is_within = np.isfinite(values) & (abs(exponent) < np.finfo(values.dtype).maxexp - 1)
    near = np.ldexp(np.round(np.ldexp(mantissa, bits)), np.where(is_within, exponent, 0) - bits)
    return np.where(is_within, near, values).astype(values.dtype)


FEWER: dict[str, Change] = {
    "the first seed of the published setting alone": _first_seed_alone,
    "the published setting alone": _published_alone,
    "of other settings the first and the last step alone": _ends_of_others,
}
ROUNDED: dict[str, Change] = {
    f"numbers rounded to {bits} binary digits": partial(_rounded, bits=bits) for bits in BITS
}


@dataclass(frozen=True)
class _Judgement:
    """A row of verdicts: its words, with `#` for each number in them, and all its numbers."""

    words: Sequence[str]
    numbers: Sequence[float]

    @classmethod
    def of(cls, row: Mapping[str, object]) -> "_Judgement":
        numbers = [float(value) for value in row.values() if isinstance(value, int | float)]
        words = [str(value) for value in row.values() if not isinstance(value, int | float)]
        in_words = [float(number) for text in words for number in NUMBER.findall(text)]
        return cls([NUMBER.sub("#", text) for text in words], [*numbers, *in_words])

    def is_near(self, other: "_Judgement") -> bool:
        return self.words == other.words and np.allclose(
            self.numbers, other.numbers, rtol=CLOSE, atol=TINY, equal_nan=True
        )


def _judgements(configured: ConfiguredExperiment, tables: Tables) -> Iterator[_Judgement]:
    """The experiment's claims, each judged when it is asked for: on all rounds, of which this one has other
    tables."""
    rounds = [tables if each.round == configured.round else each.tables() for each in configured.rounds()]
    for claim in configured.experiment.claims:
        for row in judge_all([claim], rounds, configured.params, looked=configured.looked).to_dict("records"):
            yield _Judgement.of({str(name): value for name, value in row.items()})


def _pictures(configured: ConfiguredExperiment, tables: Tables, name: str) -> Iterator[Any]:
    """The figures and tables that read the table `name`, each drawn when it is asked for."""
    for artifact in configured.experiment.artifacts:
        if name in artifact.reads:
            yield _picture(Drawing(artifact, configured.tier).content(tables))


def _shows(
    judgements: Sequence[_Judgement],
    pictures: Sequence[Any],
    configured: ConfiguredExperiment,
    tables: Tables,
    name: str,
) -> bool:
    """Says whether tables, of which `name` has changed, still give these judgements and pictures."""
    try:
        return all(map(_Judgement.is_near, judgements, _judgements(configured, tables))) and all(
            map(_is_same_picture, pictures, _pictures(configured, tables, name))
        )
    except Exception:  # a claim or a figure does not find what it reads
        return False


def _picture(drawn: Any) -> Any:
    """A figure's pixels, or a table's text."""
    if isinstance(drawn, pd.DataFrame):
        return drawn.to_csv()
    import matplotlib.pyplot as plt
    from PIL import Image

    with io.BytesIO() as file:
        drawn.savefig(file, format="png", dpi=DPI)
        plt.close(drawn)
        return np.asarray(Image.open(file).convert("RGB")).astype(int)


def _is_same_picture(one: Any, other: Any) -> bool:
    if isinstance(one, str):
        return one == other
    return one.shape == other.shape and np.abs(one - other).max() <= SHADES


def _encoded(table: pd.DataFrame) -> bytes:
    """A table as Parquet that shrinks well: not compressed yet, and the bytes of a column's numbers sorted by
    their places."""
    content = pa.Table.from_pandas(table, preserve_index=False)
    numbers = [field.name for field in content.schema if pa.types.is_floating(field.type)]
    file = io.BytesIO()
    pq.write_table(
        content, file, compression="NONE",
        use_dictionary=[name for name in content.schema.names if name not in numbers],
        column_encoding=dict.fromkeys(numbers, "BYTE_STREAM_SPLIT") or None,
    )  # fmt: skip
    return file.getvalue()
