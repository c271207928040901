"""A tier, and an experiment in it: parameters, results, and whether these are up to date. An experiment runs
on the tier's seeds, in further rounds on as many others, and in attempts to confirm what was frozen.

Nothing that is read from a file is kept: results and code can change while a process runs.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from reprise.contract.experiment import NotInTablesError, Resources, Tables
from reprise.contract.settings import Seeded, Settings, one_line
from reprise.engine import foreign, registry, seconds
from reprise.engine.registry import Experiment
from reprise.errors import RepriseError, unknown
from reprise.evidence.rounds import LEVELS
from reprise.evidence.verdicts import setting
from reprise.storage import store, versions

RECORDED = "recorded"
"""The folder in results/ that holds recorded runs, and the first part of their names."""
PUBLISHED = f"{RECORDED}/published"
"""The recorded run that comes with a checkout (`ledger.recorded`)."""
ALL = "all"
"""Key for all settings, in place of a setting's name."""
STRIDE = 10_000
"""Distance between the first seeds of successive rounds: more than any experiment has seeds."""


@dataclass(frozen=True)
class Attempt:
    """An attempt to confirm what an experiment's claims said before it ran.

    Attributes:
        number: how many attempts on the experiment the ledger holds up to this one.
        first_seed: drawn from the experiment's id, the number and a phrase.
    """

    number: int
    first_seed: int


@dataclass(frozen=True)
class Tier:
    """A validated config: the parameters of every experiment.

    Attributes:
        name: the file's stem, and the name of the tier's folders in results/ and figures/.
        overrides: the file's overrides for each experiment.
        on_request: the experiments that run only when asked for by name.
        looked: experiment id -> which of its parameters were set after results had been seen, and what had
            been tried.
        params: experiment id -> its parameters in this tier.
        hash: 12 hexadecimal digits over all parameters.
        manifest: of the bundle that a recorded run, `recorded/NAME`, came in; None for a tier. The parameters
            of such a run are those of its records, and nothing is computed in it.
        older: in a recorded run, experiment id -> how the parameters of its record differ from those that the
            experiment has now.
        is_test: whether it tests that the program runs, so that its verdicts say nothing about the papers.
    """

    name: str
    root: Path
    overrides: Mapping[str, Mapping[str, Any]]
    on_request: tuple[str, ...]
    looked: Mapping[str, str]
    params: Mapping[str, Settings]
    hash: str
    manifest: foreign.Manifest | None = None
    older: Mapping[str, str] = field(default_factory=dict)
    is_test: bool = False

    @property
    def is_recorded(self) -> bool:
        """True for a recorded run."""
        return self.manifest is not None

    @property
    def in_commands(self) -> str:
        """The argument of `--tier` in a command that makes or reads results: for the run that comes with the
        checkout, the tier that was run, since commands fall back on that run."""
        return self.manifest.tier if self.manifest and self.name == PUBLISHED else self.name

    @property
    def results(self) -> Path:
        return self.root / "results" / self.name

    @property
    def figures(self) -> Path:
        return self.root / "figures" / self.name

    def experiment(self, id: str) -> "ConfiguredExperiment":
        """Looks up an experiment; raises RepriseError for an unknown id, naming the known ones."""
        return ConfiguredExperiment(registry.experiment(id), self)

    def runs(self, ids: Iterable[str]) -> "list[ConfiguredExperiment]":
        """The runs of some experiments that have results, by whose tables claims are judged: first rounds and
        further ones."""
        first = [each for each in map(self.experiment, ids) if each.has_results()]
        return [run for each in first for run in each.rounds()]

    def experiments(self) -> dict[str, "ConfiguredExperiment"]:
        """All experiments by id."""
        return {id: ConfiguredExperiment(each, self) for id, each in registry.experiments().items()}

    def require_computed(self) -> None:
        """Raises RepriseError for a recorded run, in which nothing is computed."""
        if self.is_recorded:
            raise RepriseError(
                f"{self.name} is a recorded run: it can be checked, drawn and reported, not run"
            )


@dataclass(frozen=True)
class ConfiguredExperiment:
    """An experiment in a tier, on the seeds of one round or of one attempt.

    Attributes:
        round: 1 for the tier's own seeds.
        attempt: in place of a round.
    """

    experiment: Experiment
    tier: Tier
    round: int = 1
    attempt: Attempt | None = None

    @property
    def id(self) -> str:
        return self.experiment.id

    @property
    def name(self) -> str:
        """The path of the results in the tier's: `KEY/NAME`, `KEY/NAME/round-2` or `KEY/NAME/attempt-1`."""
        if self.attempt:
            return f"{self.id}/attempt-{self.attempt.number}"
        return self.id if self.round == 1 else f"{self.id}/round-{self.round}"

    @property
    def params(self) -> Settings:
        own = self.tier.params[self.id]
        if not isinstance(own, Seeded) or (self.round == 1 and not self.attempt):
            return own
        further = own.first_seed + STRIDE * (self.round - 1)
        first = self.attempt.first_seed if self.attempt else further
        return own.model_copy(update={"first_seed": first})

    @property
    def folder(self) -> Path:
        """The folder of the results, `results/TIER/KEY/NAME/`, or one in that."""
        return self.tier.results / self.name

    def in_round(self, number: int) -> "ConfiguredExperiment":
        """The experiment on the seeds of another round.

        Raises:
            RepriseError: if there is no such round, or chance has no part in the experiment.
        """
        if not 1 <= number <= len(LEVELS):
            raise RepriseError(f"{self.id}: no round {number}; there are 1 to {len(LEVELS)}")
        if number > 1:
            self._require_seeds("a further round")
        return replace(self, round=number, attempt=None)

    def in_attempt(self, attempt: Attempt) -> "ConfiguredExperiment":
        """The experiment on the seeds of an attempt.

        Raises:
            RepriseError: if chance has no part in the experiment.
        """
        self._require_seeds("an attempt")
        return replace(self, round=1, attempt=attempt)

    def _require_seeds(self, what: str) -> None:
        if not self.is_seeded:
            raise RepriseError(
                f"{self.id}: chance has no part in it, so that {what} would give the same numbers"
            )

    @property
    def is_seeded(self) -> bool:
        """Tells if chance has a part in the experiment."""
        return isinstance(self.tier.params[self.id], Seeded)

    def rounds(self) -> "list[ConfiguredExperiment]":
        """The first round, and the further ones up to the first that has no results."""
        found = [replace(self, round=1, attempt=None)]
        if self.is_seeded:
            for number in range(2, len(LEVELS) + 1):
                if not (further := self.in_round(number)).has_results():
                    break
                found.append(further)
        return found

    def begun(self) -> "list[ConfiguredExperiment]":
        """The first round, and each further one that has a folder, finished or not."""
        numbers = range(2, len(LEVELS) + 1) if self.is_seeded else ()
        further = [self.in_round(number) for number in numbers]
        return [replace(self, round=1, attempt=None), *(each for each in further if each.folder.is_dir())]

    @property
    def in_commands(self) -> str:
        """The words after `reprise run` in the command that makes the results, without the tier."""
        if self.attempt:
            return f"{self.id} --attempt {self.attempt.number}"
        return self.id if self.round == 1 else f"{self.id} --round {self.round}"

    @property
    def looked(self) -> str:
        """The parameters that were set after results had been seen, with what had been tried; or empty."""
        return self.tier.looked.get(self.id, "")

    @property
    def how_to_make(self) -> str:
        """The command that makes the results."""
        if self.tier.is_recorded and self.tier.in_commands == self.tier.name:
            return "reprise merge FILE"
        return f"reprise run {self.in_commands} --tier {self.tier.in_commands}"

    def files(self) -> dict[str, str]:
        """Digests of the files on which the results depend, as they are now (`Experiment.files`)."""
        return self.experiment.files(self.params)

    def key(self, files: Mapping[str, str] | None = None) -> str:
        """The key of results made now (`Experiment.key`)."""
        return self.experiment.key(self.params, files)

    def needs(self) -> dict[str, Resources]:
        """The resources of each task, by its name, with minutes by recorded seconds (`seconds.needs`)."""
        return seconds.needs(self.experiment, self.params, self.tier.root)

    # Results.

    def has_results(self) -> bool:
        """Tells if there are results, up to date or not."""
        return (self.folder / store.RECORD).is_file()

    def is_whole(self) -> bool:
        """Tells if the files of the results are those that were written."""
        return store.is_whole(self.folder)

    def record(self) -> dict[str, Any]:
        """The record of how the results were made.

        Raises:
            RepriseError: if there are no results, or their record is damaged or lacks a field.
        """
        record = store.load_record(self.folder, self.how_to_make)
        foreign.checked(foreign.Record, record, f"{self.folder / store.RECORD}", self.how_to_make)
        return record

    def taken(self) -> foreign.Taken:
        """The seconds that the results took; of those of an older version, their duration alone is known.

        Raises:
            RepriseError: if there are no results, or their record is damaged.
        """
        record = self.record()
        if content := record.get("taken"):
            return foreign.Taken.model_validate(content)
        return foreign.Taken(tasks={self.id: record["duration_seconds"]})

    def staleness(self) -> str:
        """The reason why the results are out of date; empty if they are up to date. Results of a recorded run
        are what another commit made, and never out of date.

        Raises:
            RepriseError: if there are no results, or their record is damaged.
        """
        record = self.record()
        if self.tier.is_recorded:
            return ""
        if record["params"] != self.params.model_dump(mode="json"):
            return f"made with other parameters than configs/{self.tier.name}.yaml now asks for"
        files = self._files(record)
        if record["key"] != self.key(files):
            if changed := [place for place, made in record.get("files", {}).items() if made != files[place]]:
                return f"made from another {changed[0]} than is here now"
            here = self.experiment.versions(self.params)
            return _other_version(record, here) or "made by other code than is here now"
        return ""

    def older(self) -> str:
        """The difference of a recorded run's experiment from the present one; empty if there is none.

        Raises:
            RepriseError: if there are no results, or their record is damaged.
        """
        if not self.tier.is_recorded or self.id in self.tier.older:
            return self.tier.older.get(self.id, "")
        record = self.record()
        if {Path(name).stem for name in record["sha256"]} != set(self.experiment.tables):
            return "other tables"
        return "" if record.get("code") == self.experiment.code(self.params) else "other code"

    def expected_key(self, record: Mapping[str, Any]) -> str:
        """The key that results of this record must have; in a recorded run, the one that they have."""
        return record["key"] if self.tier.is_recorded else self.key(self._files(record))

    def _files(self, record: Mapping[str, Any]) -> dict[str, str]:
        """Digests of the files that a result depends on, as they are now; of those that are no longer here,
        as recorded: their results stay."""
        return {**record.get("files", {}), **self.files()}

    def tables(self) -> dict[str, pd.DataFrame]:
        """Loads the tables.

        Raises:
            RepriseError: if they are missing or damaged, or were made with other parameters or other code
                than the current ones.
        """
        return self.tables_and_sums()[0]

    def tables_and_sums(self) -> tuple[dict[str, pd.DataFrame], dict[str, str]]:
        """The tables as `tables` loads them, and the SHA-256 of each file."""
        again = self.how_to_make
        if reason := self.staleness():
            raise RepriseError(f"{self.folder}: {reason}; make it again with: {again}")
        tables, record = store.load_results(self.folder, again)
        if set(tables) != set(self.experiment.tables) and not self.tier.is_recorded:
            raise RepriseError(
                f"{self.folder}: holds {sorted(tables)}, expected {sorted(self.experiment.tables)}; make it "
                f"again with: {again}"
            )
        return tables, record["sha256"]


def in_setting(tables: Tables, name: str) -> dict[str, pd.DataFrame]:
    """The rows of one setting, or with `all` the tables as they are.

    Raises:
        RepriseError: if no table has such rows.
    """
    if name == ALL:
        return dict(tables)
    names = list(dict.fromkeys(pd.concat([table["setting"] for table in tables.values()])))
    if name not in names:
        raise unknown("setting", name, [*names, ALL], f"there are: {', '.join([*names, ALL])}")
    return {key: table.reset_index(drop=True) for key, table in setting(tables, name).items()}


@contextmanager
def blamed_on_version(tier: Tier, what: str) -> Iterator[None]:
    """Says in one line that a claim or a figure fails on the tables of a recorded run.

    Raises:
        RepriseError: in place of any error: tables of another version can fail in any way.
    """
    try:
        yield
    except Exception as error:
        not_in_tables = isinstance(error, NotInTablesError)
        if not tier.is_recorded or (isinstance(error, RepriseError) and not not_in_tables):
            raise
        why = str(error).splitlines()[0] if not_in_tables else one_line(error)
        raise RepriseError(
            f"{tier.name}: its tables are not what {what} in this version ({why}); "
            "read them with the commit that made them"
        ) from error


def _other_version(record: Mapping[str, Any], here: Mapping[str, str]) -> str:
    """Names the first library on which a result depends that has another version here; empty if none has."""
    made = {**record.get("versions", {}), versions.PYTHON: record.get("python", "").rpartition(".")[0]}
    for name, version in here.items():
        if made.get(name, version) not in ("", version):
            return f"made with {name} {made[name]}, here is {version}"
    return ""
