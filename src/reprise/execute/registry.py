"""What there is to reproduce, found by looking into `reprise.papers`: a folder is a paper, a folder in it an
experiment."""

import csv
import importlib
import importlib.util
import io
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from types import ModuleType
from typing import Any

import pandas as pd

from reprise.errors import RepriseError
from reprise.evidence.claims import Claim
from reprise.evidence.errata import Erratum
from reprise.storage.closure import Symbol, closure_hash, defines
from reprise.storage.store import key_of
from reprise.study import losses
from reprise.study.experiment import BASE, Artifact, Resources
from reprise.study.settings import Settings

ROOM = "reprise.papers"
OBJECTIVES = "reprise.objectives"


@dataclass(frozen=True)
class Experiment:
    """A folder `papers/KEY/NAME/`. Its computation is imported only when it runs, because that needs
    torch."""

    id: str
    module: str
    params: type[Settings]
    alternatives: Callable[[Any], dict[str, Settings]] | None
    tables: tuple[str, ...]
    artifacts: tuple[Artifact, ...]
    claims: tuple[Claim, ...]
    needs: Callable[[Any], None] | None = None
    resources: Resources = field(default_factory=Resources)

    @property
    def paper(self) -> str:
        return self.id.split("/")[0]

    def compute(self) -> Callable:
        return importlib.import_module(f"{self.module}.compute").compute

    def tasks(self) -> Callable | None:
        """The function that cuts the computation into tasks; None where it is in one piece."""
        return getattr(importlib.import_module(f"{self.module}.compute"), "tasks", None)

    @property
    def has_tasks(self) -> bool:
        """Whether the computation is cut into tasks; known without importing it."""
        return defines(f"{self.module}.compute", "tasks")

    def settings(self, params: Settings) -> dict[str, Settings]:
        """`params` and, for what the paper leaves unstated, other plausible values of them."""
        return {BASE: params, **(self.alternatives(params) if self.alternatives else {})}

    def symbols(self, params: Settings) -> list[Symbol]:
        """What of the package the tables depend on; a user's loss apart."""
        symbols = [(f"{self.module}.compute", "compute"), ("reprise.study.experiment", "evaluate")]
        if self.alternatives:
            symbols.append((f"{self.module}.params", "alternatives"))
        return symbols + [(OBJECTIVES, name) for name in self._losses(params) if ":" not in name]

    def code(self, params: Settings) -> str:
        """The hash of all that the tables depend on, bar the parameters' values: our code, and a user's loss
        with the modules that it imports.

        Raises:
            RepriseError: when the file of a user's loss is missing or is not Python.
        """
        symbols, content = self.symbols(params), b""
        for name in self._losses(params):
            if ":" in name:
                loss = losses.foreign(name)
                symbols += loss.symbols
                content += loss.content
        return closure_hash(*symbols, extra=content)

    def key(self, params: Settings) -> str:
        """16 hexadecimal digits over all that the tables depend on: the code, the parameters, of which the
        kind of device is one, and the versions of torch and torchvision."""
        return key_of(self.code(params), params.model_dump(mode="json"))[:16]

    @staticmethod
    def _losses(params: Settings) -> list[str]:
        """The losses that the parameters name."""
        return list(params.objective) if isinstance(params, losses.TakesLosses) else []

    def check(self, params: Settings) -> None:
        """That the experiment finds what it needs, by its `params.py`'s own `check` if it has one.

        Raises:
            RepriseError: naming what is missing, where, and what to do.
        """
        if self.needs:
            self.needs(params)


@dataclass(frozen=True)
class Paper:
    """A folder `papers/KEY/`.

    Attributes:
        pending: the claims that no experiment can decide yet.
        printed: the claims about the paper's own numbers, which need no experiment.
    """

    key: str
    title: str
    bibtex: str
    experiments: Mapping[str, Experiment]
    pending: tuple[Claim, ...]
    printed: tuple[Claim, ...]
    errata: tuple[Erratum, ...]
    coverage: tuple[dict[str, str], ...]

    @property
    def claims(self) -> dict[str, tuple[Claim, Experiment | None]]:
        """Every claim of the paper by id, with the experiment that decides it, if there is one yet."""
        decided = {claim.id: (claim, e) for e in self.experiments.values() for claim in e.claims}
        return {**decided, **{claim.id: (claim, None) for claim in (*self.pending, *self.printed)}}

    @property
    def artifacts(self) -> dict[str, Artifact]:
        return {a.id: a for e in self.experiments.values() for a in e.artifacts}

    def published(self) -> pd.DataFrame:
        """The numbers that the paper's tables and text print; none without a `published.csv`."""
        content = _published(self.key)
        return pd.read_csv(io.BytesIO(content)) if content else pd.DataFrame()


@cache
def papers() -> dict[str, Paper]:
    """Every paper by key."""
    return {key: _paper(key) for key in _folders(ROOM)}


def paper(key: str) -> Paper:
    """Raises RepriseError for an unknown key, naming the known ones."""
    if key not in papers():
        raise RepriseError(f"unknown paper '{key}'; there are: {', '.join(papers())}")
    return papers()[key]


def experiments() -> dict[str, Experiment]:
    """Every experiment by id, `KEY/NAME`."""
    return {id: e for paper in papers().values() for id, e in paper.experiments.items()}


def artifacts() -> dict[str, Artifact]:
    """Every figure and table by id, `KEY/fig04`."""
    return {id: a for paper in papers().values() for id, a in paper.artifacts.items()}


def experiment(id: str) -> Experiment:
    """Raises RepriseError for an unknown id, naming the known ones."""
    if id not in experiments():
        raise RepriseError(f"unknown experiment '{id}'; there are: {', '.join(experiments())}")
    return experiments()[id]


def artifact(id: str) -> Artifact:
    """Raises RepriseError for an unknown id, naming the known ones."""
    if id not in artifacts():
        raise RepriseError(f"unknown figure or table '{id}'; there are: {', '.join(artifacts())}")
    return artifacts()[id]


def benches() -> list[ModuleType]:
    """The papers' `bench.py`, each with a `TITLE` and a function `measure() -> DataFrame`."""
    names = (f"{ROOM}.{key}.bench" for key in _folders(ROOM))
    return [importlib.import_module(name) for name in names if importlib.util.find_spec(name)]


def artifact_symbols(id: str) -> list[Symbol]:
    """What of the package drawing the artifact depends on."""
    draw = artifact(id).draw
    return [(draw.__module__, draw.__name__), ("reprise.execute.pipeline", "draw")]


def artifact_code(id: str) -> str:
    """The hash of all that drawing the artifact depends on, bar the tables."""
    return closure_hash(*artifact_symbols(id))


def claims_symbols(key: str) -> list[Symbol]:
    """What of the package the verdicts of a paper depend on."""
    symbols = [(f"{e.module}.claims", "CLAIMS") for e in paper(key).experiments.values() if e.claims]
    for name in ("pending", "printed"):
        if getattr(paper(key), name):
            symbols.append((f"{ROOM}.{key}.{name}", "CLAIMS"))
    return [*symbols, ("reprise.execute.pipeline", "check")]


def claims_code(key: str) -> str:
    """The hash of all that the verdicts of a paper depend on, bar the tables."""
    return closure_hash(*claims_symbols(key), extra=_published(key))


def report_symbols() -> list[Symbol]:
    """What of the package the report depends on."""
    symbols = [("reprise.report.html", "write"), ("reprise.execute.pipeline", "join")]
    for key, paper in papers().items():
        symbols += [(f"{ROOM}.{key}", "TITLE"), (f"{ROOM}.{key}", "BIBTEX")]
        symbols += [(f"{ROOM}.{key}.errata", "ERRATA")] if paper.errata else []
    return symbols


def report_code() -> str:
    """The hash of all that the report depends on, bar verdicts and figures."""
    return closure_hash(*report_symbols(), extra=b"".join(_data(key, "artifacts.csv") for key in papers()))


def _data(key: str, name: str) -> bytes:
    return (files(f"{ROOM}.{key}") / name).read_bytes()


def _published(key: str) -> bytes:
    return _data(key, "published.csv") if (files(f"{ROOM}.{key}") / "published.csv").is_file() else b""


def _folders(package: str) -> list[str]:
    path = importlib.import_module(package).__path__
    return [info.name for info in pkgutil.iter_modules(path) if info.ispkg]


def _paper(key: str) -> Paper:
    package = f"{ROOM}.{key}"
    about = importlib.import_module(package)
    ids = {f"{key}/{name}": f"{package}.{name}" for name in _folders(package)}
    rows = _data(key, "artifacts.csv").decode().splitlines()
    return Paper(
        key=key,
        title=about.TITLE,
        bibtex=about.BIBTEX,
        experiments={id: _experiment(id, module) for id, module in ids.items()},
        pending=tuple(_module_if_any(package, "pending").get("CLAIMS", ())),
        printed=tuple(_module_if_any(package, "printed").get("CLAIMS", ())),
        errata=tuple(_module_if_any(package, "errata").get("ERRATA", ())),
        coverage=tuple(csv.DictReader(rows)),
    )


def _experiment(id: str, module: str) -> Experiment:
    """`figures.py` and `claims.py` may be missing from an experiment's folder; `params.py` and `compute.py`
    may not."""
    params = importlib.import_module(f"{module}.params")
    key = id.split("/")[0]
    return Experiment(
        id=id,
        module=module,
        params=params.Params,
        alternatives=getattr(params, "alternatives", None),
        needs=getattr(params, "check", None),
        resources=getattr(params, "RESOURCES", Resources()),
        tables=params.TABLES,
        artifacts=tuple(
            Artifact(id=f"{key}/{draw.__name__}", experiment=id, draw=draw, **draw.artifact)
            for draw in _module_if_any(module, "figures").values()
            if hasattr(draw, "artifact") and draw.__module__ == f"{module}.figures"
        ),
        claims=tuple(_module_if_any(module, "claims").get("CLAIMS", ())),
    )


def _module_if_any(package: str, name: str) -> dict[str, Any]:
    if importlib.util.find_spec(f"{package}.{name}") is None:
        return {}
    return vars(importlib.import_module(f"{package}.{name}"))
