"""The registry of papers and experiments, discovered in `reprise.papers`: a folder is a paper, a folder in it
an experiment."""

import ast
import csv
import importlib
import importlib.util
import io
import pkgutil
import re
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from functools import cache, partial
from importlib.resources import files as package_files
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd

from reprise import sources
from reprise.contract import experiment as contract
from reprise.contract import losses
from reprise.contract.experiment import (
    BASE,
    Artifact,
    Assignment,
    CodePlace,
    Context,
    Plan,
    Quick,
    Resources,
    all_needs,
    all_tasks,
)
from reprise.contract.settings import Settings, open_fields
from reprise.engine import elsewhere, inputs, loss_trial, memo
from reprise.engine.memo import closure_hash, code_and_versions
from reprise.errors import RepriseError, alike, unknown
from reprise.evidence.claim import Claim
from reprise.evidence.errata import Erratum
from reprise.storage import versions
from reprise.storage.closure import Symbol
from reprise.storage.records import key_of

ROOM = "reprise.papers"
OURS = "reprise.annex.ours"
"""Experiments of our own, which are read like a paper's."""
OBJECTIVES = "reprise.objectives"
PAGE = ("report.css", "report.js")
"""The report's files besides its templates."""


@dataclass(frozen=True)
class Experiment:
    """A folder `papers/KEY/NAME/`, with what it declares. Its computation needs torch, and so is imported
    only when it runs."""

    id: str
    module: str
    declaration: contract.Experiment[Any]
    artifacts: tuple[Artifact, ...]
    claims: tuple[Claim, ...]

    @property
    def params(self) -> type[Settings]:
        return self.declaration.params

    @property
    def tables(self) -> tuple[str, ...]:
        return self.declaration.tables

    @property
    def excused(self) -> Mapping[str, str]:
        return self.declaration.excused

    @property
    def gaps(self) -> tuple[str, ...]:
        return self.declaration.gaps

    @property
    def coordinates(self) -> tuple[str, ...]:
        return self.declaration.coordinates

    @property
    def quick(self) -> Quick | None:
        return self.declaration.quick

    @property
    def paper(self) -> str:
        return self.id.split("/")[0]

    def compute(self) -> Callable:
        return importlib.import_module(f"{self.module}.compute").compute

    def perform(self) -> Callable:
        """The function that computes the table of a task, if the experiment `has_tasks`."""
        return importlib.import_module(f"{self.module}.compute").perform

    @property
    def has_ideal(self) -> bool:
        return importlib.util.find_spec(f"{self.module}.ideal") is not None

    def ideal(self, params: Settings) -> dict[str, pd.DataFrame]:
        """Tables in which every claim is true, if the experiment `has_ideal`."""
        return importlib.import_module(f"{self.module}.ideal").ideal(params)

    @property
    def has_tasks(self) -> bool:
        """Tells if the computation is split into tasks."""
        return isinstance(self.declaration.plan, Plan)

    def needs(self, params: Settings) -> dict[str, Resources]:
        """The resources of each task, by its name, in all settings and with all losses; those of the
        computation, by the experiment's id, if it is in one piece. Imports no torch."""
        plan = self.declaration.plan
        if isinstance(plan, Resources):
            return {self.id: plan}
        return all_needs(plan, self.settings(params))

    def tasks(self, params: Settings, context: Context) -> dict[str, Assignment]:
        """The tasks in all settings and with all losses, by their names; none if it is in one piece."""
        plan = self.declaration.plan
        return {} if isinstance(plan, Resources) else all_tasks(plan, self.settings(params), context)

    def settings(self, params: Settings) -> dict[str, Settings]:
        """`params`, and alternatives with other plausible values of what the paper leaves unstated."""
        alternatives = self.declaration.alternatives
        return {BASE: params, **(alternatives(params) if alternatives else {})}

    def varied(self, params: Settings) -> dict[str, frozenset[str]]:
        """The fields that the paper leaves open and that an alternative varies, by the alternative's name."""
        values = open_fields(params)
        return {
            name: frozenset(path for path, value in open_fields(other).items() if value != values.get(path))
            for name, other in self.settings(params).items()
            if name != BASE
        }

    def symbols(self, params: Settings) -> list[Symbol]:
        """The package's symbols that the tables depend on, apart from a user's loss."""
        symbols = [(f"{self.module}.compute", "compute"), ("reprise.contract.experiment", "evaluate")]
        if alternatives := self.declaration.alternatives:
            symbols.append((alternatives.__module__, alternatives.__name__))
        return symbols + [(OBJECTIVES, name) for name in self._losses(params) if ":" not in name]

    def code(self, params: Settings) -> str:
        """Hash of everything that the tables depend on except the parameters' values: our code, and a user's
        loss with the modules that it imports.

        Raises:
            RepriseError: if the file of a user's loss is missing or is not Python.
        """
        own = [losses.foreign(name) for name in self._own_losses(params)]
        symbols = [*self.symbols(params), *(symbol for loss in own for symbol in loss.symbols)]
        return closure_hash(*symbols, extra=b"".join(loss.content for loss in own))

    def versions(self, params: Settings) -> dict[str, str]:
        """The versions of Python and of the libraries that the tables depend on, by name.

        Raises:
            RepriseError: if a user's loss is none.
        """
        libraries = set(memo.libraries(*self.symbols(params)))
        for name in self._own_losses(params):
            libraries |= loss_trial.seen(name).libraries
            libraries |= set(memo.libraries(*losses.foreign(name).symbols))
        return versions.of(libraries)

    def files(self, params: Settings) -> dict[str, str]:
        """Digests of the files and folders that the tables depend on and that may change, by path. Those of
        data sets that are not here are left out.

        Raises:
            RepriseError: if a user's loss is none, or depends on what no key can cover.
        """
        reads = self.declaration.reads
        places = [*inputs.changeable(params), *(reads(params) if reads else [])]
        files = {str(place): inputs.digest(place) for place in places if place.exists()}
        for name in self._own_losses(params):
            files |= losses.states(loss_trial.seen(name).files)
        return files

    def key(self, params: Settings, files: Mapping[str, str] | None = None) -> str:
        """16 hexadecimal digits over everything that the tables depend on: the code, the parameters (which
        include the kind of device), the files read, and the versions of the libraries used.

        Args:
            files: from `files`, by default as they are now.
        """
        files = self.files(params) if files is None else files
        return key_of(self.code(params), self.versions(params), params.model_dump(mode="json"), files)[:16]

    def trying_losses(self, params: Settings) -> AbstractContextManager[None]:
        """Tries the users' losses that the parameters name, before anything is computed with another one; in
        the context they may read what they then read, and no more.

        Raises:
            RepriseError: if one of them is no loss, or depends on what no key can cover.
        """
        return loss_trial.guarded(self._own_losses(params))

    def _own_losses(self, params: Settings) -> list[str]:
        """The users' losses named by the parameters."""
        return [name for name in self._losses(params) if ":" in name]

    @staticmethod
    def _losses(params: Settings) -> list[str]:
        """The losses named by the parameters."""
        return list(params.objective) if isinstance(params, losses.TakesLosses) else []

    def check(self, params: Settings) -> None:
        """Checks that the experiment's inputs exist, by the `check` that it declares, if any.

        Raises:
            RepriseError: naming what is missing, where, and what to do.
        """
        if self.declaration.check:
            self.declaration.check(params)

    def require_published(self, params: Settings) -> None:
        """Checks, at the start of a run, what takes too long for a plan: that the inputs are the published
        ones, also by the `verify` that it declares, if any.

        Raises:
            RepriseError: naming what is not, where, and what to do.
        """
        self.check(params)
        inputs.require_published(params)
        if self.declaration.verify:
            self.declaration.verify(params)


@dataclass(frozen=True)
class Paper:
    """A folder `papers/KEY/`.

    Attributes:
        package: the package that the folder is.
        bibtex: its citation; empty for experiments of our own, which are no paper's.
        pending: claims that no experiment can decide yet.
        printed: claims about the paper's own numbers, which need no experiment.
        by_reading: errors in the text that show themselves to a reader.
        items: what the paper's `artifacts.csv` lists.
        version: the version of the paper's text that is judged; empty where none is named.
        headlines: sentences of the abstract and of the list of contributions, quoted in the paper's order,
            each with the claim that decides it, or once with each of several.
    """

    key: str
    package: str
    title: str
    bibtex: str
    experiments: Mapping[str, Experiment]
    pending: tuple[Claim, ...]
    printed: tuple[Claim, ...]
    by_reading: tuple[Erratum, ...]
    items: tuple[dict[str, str], ...]
    headlines: Sequence[tuple[str, str]] = ()
    version: str = ""

    @property
    def is_ours(self) -> bool:
        """Tells if the experiments are our own, so that they do not count as a paper."""
        return not self.bibtex

    @property
    def claims(self) -> dict[str, tuple[Claim, Experiment | None]]:
        """Every claim of the paper by id, with the experiment that decides it, or None."""
        decided = {claim.id: (claim, e) for e in self.experiments.values() for claim in e.claims}
        return {**decided, **{claim.id: (claim, None) for claim in (*self.pending, *self.printed)}}

    @property
    def artifacts(self) -> dict[str, Artifact]:
        return {a.id: a for e in self.experiments.values() for a in e.artifacts}

    @property
    def errata(self) -> tuple[Erratum, ...]:
        """The errors in the paper's text: shown by claims, or found by reading."""
        shown = (claim.own_erratum for claim, _ in self.claims.values())
        return (*filter(None, shown), *self.by_reading)

    def printed_numbers(self) -> pd.DataFrame:
        """The numbers printed in the paper's tables and text; none without a `published.csv`.

        Raises:
            RepriseError: if a column is missing, or a row has no artifact or no number.
        """
        if not (content := _published(self.key)):
            return pd.DataFrame()
        table = pd.read_csv(io.BytesIO(content))
        if missing := [name for name in ("artifact", "value") if name not in table]:
            raise RepriseError(f"{self.key}/published.csv has no column '{missing[0]}'")
        wrong = table["artifact"].isna() | pd.to_numeric(table["value"], errors="coerce").isna()
        if wrong.any():
            row = int(table.index[wrong][0])
            raise RepriseError(
                f"{self.key}/published.csv, row {row + 1}: expected the name of a table, figure or text as "
                f"'artifact' and a number as 'value'; found {list(table[['artifact', 'value']].iloc[row])}"
            )
        return table


COLUMNS = ("item", "section", "covered_by", "note")
"""The columns of `artifacts.csv`."""


@cache
def packages() -> dict[str, str]:
    """The package of each paper, by key."""
    own = {key: f"{ROOM}.{key}" for key in _folders(ROOM)} | {OURS.rpartition(".")[2]: OURS}
    others = elsewhere.packages()
    for key in own.keys() & others.keys():
        raise RepriseError(f"two papers have the key '{key}': {own[key]} and {others[key]}; rename one")
    return dict(sorted((own | others).items()))


def folder(key: str) -> Path:
    """The folder of a paper."""
    return Path(str(package_files(packages()[key])))


@cache
def papers() -> dict[str, Paper]:
    """All papers by key."""
    return {key: _paper(key) for key in packages()}


def judged() -> dict[str, Paper]:
    """The papers with claims, which have verdicts."""
    return {key: paper for key, paper in papers().items() if paper.claims}


def in_order() -> list[Paper]:
    """All papers, in the order in which they are shown: that of `papers.ORDER`, then others by key."""
    first = [key for key in importlib.import_module(ROOM).ORDER if key in papers()]
    return [papers()[key] for key in (*first, *(key for key in papers() if key not in first))]


def paper(key: str) -> Paper:
    """Looks up a paper; raises RepriseError for an unknown key, naming the known ones."""
    return _known("paper", key, papers())


def chosen(keys: Sequence[str]) -> list[Paper]:
    """The papers of some keys, or, without a key, all papers."""
    return [paper(key) for key in keys] or list(papers().values())


def in_package(package: str) -> Experiment:
    """The experiment whose folder is this package, `KEY.NAME` or longer.

    Raises:
        RepriseError: if there is none, or it does not declare one.
    """
    packages()  # of which some may lie where Python does not look
    if importlib.util.find_spec(package.partition(".")[0]) is None:
        raise RepriseError(
            f"no package '{package}'; name its paper in a config, or run Python where its folder lies"
        )
    return _experiment("/".join(package.split(".")[-2:]), package)


def experiments() -> dict[str, Experiment]:
    """All experiments by id, `KEY/NAME`."""
    return {id: e for paper in papers().values() for id, e in paper.experiments.items()}


def artifacts() -> dict[str, Artifact]:
    """All figures and tables by id, `KEY/fig04`."""
    return {id: a for paper in papers().values() for id, a in paper.artifacts.items()}


def claims() -> dict[str, tuple[Claim, Experiment | None]]:
    """All claims by id, each with the experiment that decides it, or None."""
    return {id: claim for paper in papers().values() for id, claim in paper.claims.items()}


def experiment(id: str) -> Experiment:
    """Looks up an experiment; raises RepriseError for an unknown id, naming the known ones."""
    return _known("experiment", id, experiments())


def artifact(id: str) -> Artifact:
    """Looks up a figure or table; raises RepriseError for an unknown id, naming the known ones."""
    return _known("figure or table", id, artifacts())


def claim(id: str) -> tuple[Claim, Experiment | None]:
    """Looks up a claim, with the experiment that decides it, or None; raises RepriseError for an unknown
    id."""
    if id not in claims():
        raise unknown("claim", id, claims(), f"list them with: {list_claims(id)}")
    return claims()[id]


def list_claims(id: str) -> str:
    """The command that lists the claims of the paper that an id begins with, or all."""
    key = id.split("/")[0]
    return f"reprise list {key} --claims" if key in papers() else "reprise list --claims"


def _known(what: str, name: str, known: Mapping[str, Any]) -> Any:
    if name not in known:
        raise unknown(what, name, known, f"there are: {', '.join(known)}")
    return known[name]


def benches() -> list[ModuleType]:
    """The papers' `bench.py`, each with a function `measure() -> list[Loop]`."""
    names = (f"{package}.bench" for package in packages().values())
    return [importlib.import_module(name) for name in names if importlib.util.find_spec(name)]


def artifact_symbols(id: str) -> list[Symbol]:
    """The package's symbols that drawing the artifact depends on."""
    return [artifact(id).symbol, ("reprise.engine.draw", "Drawing")]


def artifact_code(id: str) -> str:
    """Hash of everything that drawing the artifact depends on, libraries included, except the tables."""
    return code_and_versions(*artifact_symbols(id))


def claims_symbols(key: str) -> list[Symbol]:
    """The package's symbols that a paper's verdicts depend on."""
    modules = [(e.module, "claims") for e in paper(key).experiments.values()]
    modules += [(packages()[key], name) for name in ("pending", "printed")]
    symbols = [
        (f"{package}.{module}", name)
        for package, module in modules
        for name in claims_by_name(package, module)
    ]
    return [*symbols, ("reprise.engine.check", "Verdicts")]


def claims_code(key: str) -> str:
    """Hash of everything that a paper's verdicts depend on, libraries included, except the tables."""
    return code_and_versions(*claims_symbols(key), extra=_published(key))


def report_symbols() -> list[Symbol]:
    """The package's symbols that the report depends on."""
    symbols = [("reprise.report.html", "write"), ("reprise.engine.check", "join"), (ROOM, "ORDER")]
    for key, paper in papers().items():
        package = packages()[key]
        symbols += [(package, "TITLE")]
        symbols += [] if paper.is_ours else [(package, "BIBTEX")]
        symbols += [(package, "HEADLINES")] if paper.headlines else []
        symbols += [(package, "VERSION")] if paper.version else []
        symbols += [(f"{package}.errata", "ERRATA")] if paper.by_reading else []
        symbols += claims_symbols(key)  # it shows the observations of each seed
        # it says what a run as published costs
        symbols += [(f"{each.module}.experiment", DECLARATION) for each in paper.experiments.values()]
    return symbols


def report_code() -> str:
    """Hash of everything that the report depends on, libraries included, except verdicts and figures."""
    contents = [_data(key, "artifacts.csv") for key in papers()]
    return code_and_versions(*report_symbols(), extra=b"".join(contents + [_page(name) for name in PAGE]))


def _page(name: str) -> bytes:
    return (package_files("reprise.report") / name).read_bytes()


def _data(key: str, name: str) -> bytes:
    return (package_files(packages()[key]) / name).read_bytes()


def _published(key: str) -> bytes:
    return (
        _data(key, "published.csv") if (package_files(packages()[key]) / "published.csv").is_file() else b""
    )


def _folders(package: str) -> list[str]:
    path = importlib.import_module(package).__path__
    return [info.name for info in pkgutil.iter_modules(path) if info.ispkg]


def _paper(key: str) -> Paper:
    package = packages()[key]
    module = importlib.import_module(package)
    modules = {f"{key}/{name}": f"{package}.{name}" for name in _folders(package)}
    rows = _data(key, "artifacts.csv").decode().splitlines()
    if not rows or rows[0] != ",".join(COLUMNS):
        raise RepriseError(f"{key}/artifacts.csv: its first line must be {','.join(COLUMNS)}")
    for name in ("TITLE", "BIBTEX"):
        if not getattr(module, name, "") and (name == "TITLE" or package != OURS):
            near = alike(name, vars(module))
            guess = f"; '{near}' is not read" if near else ""
            raise RepriseError(f"{package}: declares no {name}{guess}")
    return Paper(
        key=key,
        package=package,
        title=module.TITLE,
        bibtex=getattr(module, "BIBTEX", ""),
        experiments={id: _experiment(id, name) for id, name in modules.items()},
        pending=_claims(package, "pending"),
        printed=_claims(package, "printed"),
        by_reading=tuple(_module_if_any(package, "errata").get("ERRATA", ())),
        items=tuple(csv.DictReader(rows)),
        headlines=_headlines(getattr(module, "HEADLINES", {})),
        version=getattr(module, "VERSION", ""),
    )


def _headlines(declared: Mapping[str, str | tuple[str, ...]]) -> tuple[tuple[str, str], ...]:
    """Each quotation with each of its claims."""
    several = {quotation: (ids,) if isinstance(ids, str) else ids for quotation, ids in declared.items()}
    return tuple((quotation, id) for quotation, ids in several.items() for id in ids)


def _experiment(id: str, module: str) -> Experiment:
    """An experiment's folder must hold `experiment.py` and `compute.py`, and may hold `figures.py` and
    `claims.py`."""
    declaration = declared(f"{module}.experiment")
    return Experiment(
        id=id,
        module=module,
        declaration=declaration,
        artifacts=_artifacts(id, module, declaration.tables),
        claims=_claims(module, "claims"),
    )


DECLARATION = "EXPERIMENT"
"""The name under which an `experiment.py` declares its experiment."""
DECLARABLE = [each.name for each in fields(contract.Experiment)]
"""Names of the arguments of an `Experiment`."""
UNDECLARED = re.compile(r"Experiment\.__init__\(\) (.+)")


def declared(name: str) -> contract.Experiment[Any]:
    """The declaration of the module `experiment.py` of this name.

    Raises:
        RepriseError: if it declares no experiment, or something that no experiment has, or defines what looks
            like a declaration and is none.
    """
    try:
        module = importlib.import_module(name)
    except TypeError as error:
        if not (wrong := UNDECLARED.fullmatch(str(error).partition(". Did you mean")[0])):
            raise
        raise RepriseError(f"{name}: {_explained(wrong[1])}") from error
    except RepriseError as error:
        raise RepriseError(f"{name}: {error}") from error
    found = getattr(module, DECLARATION, None)
    if not isinstance(found, contract.Experiment):
        example = f"{DECLARATION} = Experiment(params=Params, tables=(...))"
        near = alike(DECLARATION, [each for each in vars(module) if each != DECLARATION])
        instead = f"; '{near}' is not read" if near else ""
        raise RepriseError(f"{name}: declares no experiment{instead}; end it with {example}")
    for stray, meant in _strays(module, found):
        raise RepriseError(
            f"{name}: '{stray}' looks like the experiment's '{meant}', and nothing reads it; write "
            f"Experiment({meant}={stray}), or give it another name"
        )
    return found


def _explained(wrong: str) -> str:
    """The message about wrong arguments of an `Experiment`, given Python's words."""
    if given := re.fullmatch(r"got an unexpected keyword argument '(\w+)'", wrong):
        return str(
            unknown("argument of Experiment", given[1], DECLARABLE, f"allowed: {', '.join(DECLARABLE)}")
        )
    return f"Experiment {wrong}; allowed: {', '.join(DECLARABLE)}"


def _strays(module: ModuleType, found: contract.Experiment[Any]) -> Iterator[tuple[str, str]]:
    """The names that a module defines, does not use and that are like those of what it may declare; each with
    the one that may be meant."""
    words = {word: word for word in DECLARABLE} | {"resources": "plan", "tasks": "plan", "needs": "plan"}
    plan = found.plan
    used = [getattr(found, name) for name in DECLARABLE]
    used += [plan.tasks, plan.needs] if isinstance(plan, Plan) else []
    functions = {id(each) for each in used if callable(each)}  # equal tuples may be one object
    beginnings = {word[:2] for word in words}
    for name, value in vars(module).items():
        if name[:2].lower() not in beginnings or isinstance(value, type) or id(value) in functions:
            continue
        if (near := alike(name.lower(), words)) and name not in _loaded(module):
            yield name, words[near]


def _loaded(module: ModuleType) -> set[str]:
    """The names that a module's code reads."""
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    return {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }


def _artifacts(id: str, module: str, tables: Sequence[str]) -> tuple[Artifact, ...]:
    """The figures and tables of an experiment with these result tables.

    Raises:
        RepriseError: if one reads a table that the experiment does not have.
    """
    artifacts = []
    file = str(package_files(module) / "figures.py")
    for line, name, drawn in _drawn(module):
        drawn = {**drawn, "id": f"{id.split('/')[0]}/{name}", "reads": tuple(drawn["reads"])}
        for table in drawn["reads"]:
            if table not in tables:
                raise unknown(
                    f"table in {drawn['id']}'s `reads`:", table, tables, f"{id} has: {', '.join(tables)}"
                )
        place = CodePlace(file, line, name)
        artifacts.append(Artifact(experiment=id, module=f"{module}.figures", code=place, **drawn))
    return tuple(artifacts)


def _drawn(module: str) -> list[list[Any]]:
    """The figures and tables that an experiment's `figures.py` draws, each with the line and the name of its
    function."""
    if module.partition(".")[0] not in sources.PACKAGES:
        return _marked(module)
    return memo.of_package().value(f"{module}.figures", partial(_marked, module))


def _marked(module: str) -> list[list[Any]]:
    return [
        [draw.__code__.co_firstlineno, draw.__name__, draw.artifact]
        for draw in _module_if_any(module, "figures").values()
        if hasattr(draw, "artifact") and draw.__module__ == f"{module}.figures"
    ]


def _claims(package: str, name: str) -> tuple[Claim, ...]:
    """The claims of a module, in the order in which it defines them."""
    return tuple(claim for claims in claims_by_name(package, name).values() for claim in claims)


def claims_by_name(package: str, name: str) -> dict[str, tuple[Claim, ...]]:
    """The names of a module that stand for claims, alone or several, each with those that no name before
    stands for."""
    found: dict[str, tuple[Claim, ...]] = {}
    known: set[int] = set()
    for each, value in _module_if_any(package, name).items():
        several = value if isinstance(value, (tuple, list)) else (value,)
        if several and all(isinstance(claim, Claim) for claim in several):
            new = tuple(claim for claim in several if id(claim) not in known)
            known |= {id(claim) for claim in new}
            if new:
                found[each] = new
    return found


def _module_if_any(package: str, name: str) -> dict[str, Any]:
    if (spec := importlib.util.find_spec(f"{package}.{name}")) is None:
        return {}
    try:
        return vars(importlib.import_module(f"{package}.{name}"))
    except (TypeError, ValueError, KeyError) as error:  # of a claim's arguments
        frames = traceback.extract_tb(error.__traceback__)
        lines = [each.lineno for each in frames if each.filename == spec.origin]
        line = f", line {lines[-1]}" if lines else ""
        why = f"no entry {error}" if isinstance(error, KeyError) else error
        raise RepriseError(f"{package}.{name}{line}: {why}") from error
