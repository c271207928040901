"""Reads records, manifests and tables that another machine may have written; checks each before use.

A seal and SHA-256 sums tell damage, not a forger: both can be made by anyone.
"""

import hashlib
import io
import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Annotated, Any, Literal, TypeVar

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from reprise.contract.experiment import BASE
from reprise.contract.settings import Settings, one_line, overridden, shortened
from reprise.errors import RepriseError
from reprise.storage import records

MAX_JSON = 2**20
"""Size of a record or manifest in bytes, at most; ours have 2 to 5 kB."""
DEEPEST = 20
"""Lists and mappings inside each other in a record, at most."""
LONGEST = 10_000
"""Characters of a text in a record, at most."""
LINE = f"a line of at most {LONGEST:,} characters, without control characters"
UNSHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, ends of lines, marks that turn the direction of writing, and half characters."""
LARGEST_INTEGER = 10**15
MOST_TIMES = 100
"""Most memory of a table, in sizes of its file. Our tables of a megabyte take up to 18 times: numbers that
repeat are stored once. A table of up to `SMALL` bytes may take more, none more than `LARGE`, which is
four times our largest: claims and drawings take a multiple of it."""
SMALL, LARGE = 2**26, 2**28
CODECS = ("SNAPPY", "UNCOMPRESSED")
"""Compressions by `DataFrame.to_parquet`. Snappy shrinks to a twentieth at most, others to a thousandth."""

Digest = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
Id = Annotated[str, StringConstraints(pattern="^[A-Za-z0-9_]{1,100}/[A-Za-z0-9_]{1,100}$")]
Run = Annotated[str, StringConstraints(pattern="^[A-Za-z0-9_]{1,100}/[A-Za-z0-9_]{1,100}(/round-[2-9])?$")]
TableName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_]{1,100}\.parquet$")]
FURTHER = re.compile(r"([^/]+/[^/]+)/round-[2-9]")
"""Id of a run in a further round: the experiment's id and the round's folder."""
M = TypeVar("M", bound=BaseModel)
S = TypeVar("S", bound=Settings)


def distinct(names: Iterable[str]) -> Any:
    """Returns the names, none of which another one equals but for the case of letters: on some disks they
    would be the same file."""
    if len({name.lower() for name in names}) < len(list(names)):
        raise ValueError("names must differ by more than the case of letters")
    return names


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class Library(_Read):
    name: str
    version: str | None
    kernel: str | None
    threads: int


class Arithmetic(_Read):
    libraries: list[Library]
    variables: dict[str, str]


class Hardware(_Read):
    processor: str
    cores: int | None
    memory_gib: Annotated[float, Field(allow_inf_nan=False)]
    system: str
    gpus: list[str] = []


Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Taken(_Read):
    """Seconds that a run took, on one core or GPU.

    Attributes:
        tasks: name of each task, or the experiment's id if it is in one piece -> its own seconds.
        shared: cache entry, `KIND/KEY`, such as a network, that tasks asked for -> the seconds of making it,
            whichever experiment did.
        asked: name of a task -> the shared entries that it asked for before any other task did.
    """

    tasks: dict[str, Seconds]
    shared: dict[str, Seconds] = {}
    asked: dict[str, list[str]] = {}

    @property
    def total(self) -> float:
        """Seconds of all tasks and shared entries."""
        return sum(self.tasks.values()) + sum(self.shared.values())

    def of_task(self, name: str) -> float:
        """Seconds of a task, and of the shared entries that it asked for before any other task did."""
        return self.tasks[name] + sum(self.shared.get(entry, 0.0) for entry in self.asked.get(name, ()))


class Record(_Read):
    """The record of how an experiment's tables were made, as `run.run` and `store.save_tables` write it. A
    field that older versions did not write has a default."""

    command: str
    commit: str
    commit_problem: str | None = None
    python: str
    versions: dict[str, str]
    hardware: Hardware
    arithmetic: Arithmetic | None = None
    experiment: str
    not_finite: dict[str, Annotated[float, Field(allow_inf_nan=False)]] = {}
    params: dict[str, Any]
    code: str = ""
    files: dict[str, str] = {}
    duration_seconds: Seconds
    taken: Taken | None = None
    key: str
    sha256: Annotated[dict[TableName, Digest], Field(min_length=1), AfterValidator(distinct)]
    reduced: dict[TableName, str] = {}
    """Table -> the rows and digits that were left out to make it smaller."""


def params_of(kind: type[S], recorded: Mapping[str, Any], where: str) -> S:
    """Parameters as a record has them. Those that their experiment no longer has, or no longer allows, are
    left out; those that it did not have are the published ones."""
    with suppress(RepriseError, KeyError):
        return overridden(kind, recorded, where)
    allowed: dict[str, Any] = {}
    for key, value in recorded.items():
        with suppress(RepriseError, KeyError):
            overridden(kind, {**allowed, key: value}, where)
            allowed[key] = value
    return overridden(kind, allowed, where)


class Manifest(_Read):
    """Contents of a bundle.

    Attributes:
        tier: the tier that was run.
        experiments: their ids.
        looked: experiment id -> which of its parameters were set after results had been seen.
        date: the day of the commit that made most of them, as in `2030-01-31`; empty if unknown.
        sha256: path in the bundle, `KEY/NAME/FILE`, or `KEY/NAME/round-2/FILE` of a further round -> SHA-256.
    """

    model_config = ConfigDict(extra="forbid")
    format: Literal[1]
    tier: Annotated[str, StringConstraints(max_length=100)]
    experiments: Annotated[list[Id], Field(min_length=1), AfterValidator(distinct)]
    looked: dict[str, str]
    date: Annotated[str, StringConstraints(pattern=r"^(\d{4}-\d\d-\d\d)?$")] = ""
    sha256: dict[str, Digest]

    @property
    def runs(self) -> dict[str, str]:
        """The id of each experiment by the folder of its results, of which further rounds have their own."""
        further = sorted({path.rpartition("/")[0] for path in self.sha256} - set(self.experiments))
        rounds = {name: match[1] for name in further if (match := FURTHER.fullmatch(name))}
        return {id: id for id in self.experiments} | {
            name: id for name, id in rounds.items() if id in self.experiments
        }

    @property
    def name(self) -> str:
        """The tier and 8 hexadecimal digits over all that the bundle holds."""
        content = json.dumps(self.model_dump(), sort_keys=True).encode()
        return f"{self.tier}-{hashlib.sha256(content).hexdigest()[:8]}"


class Judged(_Read):
    """The record of how a paper's verdicts were made, as `check.Verdicts.save` writes it."""

    paper: str
    results: dict[Run, dict[TableName, Digest]] = {}
    key: str
    sha256: dict[TableName, Digest]


def read(model: type[M], content: bytes, where: str) -> M:
    """A sealed record or manifest.

    Raises:
        RepriseError: naming `where`, the field, and what was expected.
    """
    return checked(model, unsealed(content, where), where)


def unsealed(content: bytes, where: str) -> dict[str, Any]:
    """The fields of a sealed record or manifest, not checked yet.

    Raises:
        RepriseError: if it is damaged, too large, or holds what no record of ours does.
    """
    if len(content) > MAX_JSON:
        raise RepriseError(f"{where}: has {len(content):,} bytes; expected at most {MAX_JSON:,}")
    try:
        fields = records.unseal(content.decode())
    except ValueError:
        raise RepriseError(f"{where}: damaged, not what was written; get it again") from None
    _require_plain(fields, where)
    return fields


def checked(model: type[M], fields: dict[str, Any], where: str, again: str = "") -> M:
    """The fields of a record or manifest.

    Args:
        again: the command that makes it again, if there is one here.

    Raises:
        RepriseError: naming `where`, the field, and what was expected.
    """
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        place = shortened(".".join(map(repr, first["loc"])).replace("'", ""), 200)
        remedy = f"make it again with: {again}" if again else "read it with the commit that made it"
        raise RepriseError(
            f"{where}: damaged or of another version: '{place}': {first['msg']}; {remedy}"
        ) from None


def _require_plain(fields: dict[str, Any], where: str) -> None:
    """Refuses what no record of ours has and what pages, terminals or Python choke on."""
    level: list[Any] = [fields]
    for _ in range(DEEPEST):
        for value in level:
            if isinstance(value, str) and not _is_line(value):
                raise RepriseError(f"{where}: holds the text {shortened(ascii(value), 200)}; expected {LINE}")
            if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
                raise RepriseError(
                    f"{where}: holds a number of {len(hex(value)) - 2} hexadecimal digits; expected whole "
                    f"numbers of at most {LARGEST_INTEGER:g}"
                )
        inside = [value for value in level if isinstance(value, (dict, list))]
        level = [part for value in inside for part in value]
        level += [part for value in inside if isinstance(value, dict) for part in value.values()]
        if not level:
            return
    raise RepriseError(f"{where}: more than {DEEPEST} lists and mappings inside each other")


def _is_line(text: str) -> bool:
    return len(text) <= LONGEST and not UNSHOWN.search(text)


def table(content: bytes, where: str) -> pd.DataFrame:
    """A table of plain columns. How much memory it takes is known before it is read: a number takes 8 bytes,
    and texts are first read as a list of different ones.

    Raises:
        RepriseError: naming `where`, and what was expected.
    """
    try:
        return _table(content)
    except RepriseError as error:
        raise RepriseError(f"{where}: {error}") from None
    except Exception as error:  # pyarrow and pandas fail in many ways on what is no Parquet
        raise RepriseError(f"{where}: not readable as a table, Parquet ({one_line(error)})") from None


def observations(content: bytes, where: str) -> pd.DataFrame:
    """A table of an experiment's results, with a column `setting` in which some rows have the published one.

    Raises:
        RepriseError: naming `where`, and what was expected.
    """
    read = table(content, where)
    if read.empty:
        raise RepriseError(f"{where}: the table is empty; expected a row an observation")
    if "setting" not in read or set(map(type, read["setting"])) != {str}:
        raise RepriseError(f"{where}: expected a column 'setting', a text in each row")
    if BASE not in set(read["setting"]):
        raise RepriseError(f"{where}: expected rows whose 'setting' is '{BASE}'")
    texts = (text for name in read.select_dtypes(["object", "string"]) for text in read[name].unique())
    for text in (*read.columns, *texts):
        if isinstance(text, str) and not _is_line(text):
            raise RepriseError(f"{where}: holds the text {shortened(ascii(text), 200)}; expected {LINE}")
    return read


def _table(content: bytes) -> pd.DataFrame:
    if content.endswith(b"PAR1") and int.from_bytes(content[-8:-4], "little") > MAX_JSON:
        raise RepriseError(f"describes its columns in more than {MAX_JSON:,} bytes")
    buffer = pa.BufferReader(content)
    file = pq.ParquetFile(buffer)
    meta, schema = file.metadata, file.schema_arrow
    texts = [field.name for field in schema if _is_text(field.type)]
    for field in schema:
        if not (_is_text(field.type) or _is_number(field.type)):
            raise RepriseError(
                f"column {field.name!r} is of the type {field.type}; expected numbers, texts, true or false"
            )
    if len(set(schema.names)) < len(schema.names):
        raise RepriseError("two columns have the same name")
    groups = map(meta.row_group, range(meta.num_row_groups))
    chunks = [group.column(column) for group in groups for column in range(meta.num_columns)]
    if other := sorted({chunk.compression for chunk in chunks} - set(CODECS)):
        raise RepriseError(f"compressed by {other[0]}; expected {' or '.join(CODECS)}")
    allowed = min(max(SMALL, MOST_TIMES * len(content)), LARGE)
    pages = sum(chunk.total_uncompressed_size for chunk in chunks)
    _require_small(max(8 * meta.num_rows * len(schema.names), pages), meta.num_rows, allowed)
    read = pq.ParquetFile(buffer, read_dictionary=texts).read(use_threads=False)
    _require_small(sum(map(_bytes, read.columns)), meta.num_rows, allowed)
    frame = pd.read_parquet(io.BytesIO(content))
    if list(frame.columns) != schema.names:
        raise RepriseError(f"expected the columns {', '.join(schema.names)}, and none as an index")
    return frame


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _is_number(kind: pa.DataType) -> bool:
    is_kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_null)
    return any(is_kind(kind) for is_kind in is_kinds)


def _bytes(column: pa.ChunkedArray) -> int:
    """Size of a column in memory with each of its texts written out, in bytes."""
    if not pa.types.is_dictionary(column.type):
        return column.nbytes
    return sum(
        8 * len(chunk) + (pc.sum(pc.take(pc.binary_length(chunk.dictionary), chunk.indices)).as_py() or 0)
        for chunk in column.chunks
    )


def _require_small(size: int, rows: int, allowed: int) -> None:
    if size > allowed:
        raise RepriseError(
            f"unfolds to {rows:,} rows and {size / 2**20:,.0f} MiB; expected at most {allowed / 2**20:,.0f} "
            "MiB for a file of its size"
        )
