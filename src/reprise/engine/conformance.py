"""Checks that an experiment keeps to the contract, in this repository or in another one:

    @pytest.mark.parametrize("check", conformance.CHECKS, ids=conformance.name)
    def test_the_experiment(check):
        check(conformance.subject("oord2018/bound", {"seeds": 2}))

Each check raises RepriseError, which says what is wrong. `check_experiment` runs all of them, and
`check_paper` those of a paper and its experiments.
"""

import math
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property, partial
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import pandas as pd

from reprise import sources
from reprise.contract.experiment import (
    BASE,
    TOGETHER,
    Context,
    Make,
    Plan,
    Resources,
    Tables,
    evaluate,
)
from reprise.contract.losses import TakesLosses
from reprise.contract.settings import Seeded, Settings, differing, open_fields, origin_of, overridden
from reprise.engine import coverage, registry
from reprise.engine.registry import Experiment
from reprise.errors import RepriseError
from reprise.evidence import verdicts
from reprise.evidence.claim import Quantifier
from reprise.evidence.judgement import check_refuted, check_reproduced
from reprise.evidence.measures import Setting

OTHER_LOSS = "vicreg"
"""A published loss, by which tasks with another loss are listed."""
COUNTS = ("seeds", "points")
"""Names of the fields that hold a number of seeds; a random point counts as a seed."""
LATER = 1000
"""Shift of the first seed, by which all seeds must move."""


@dataclass(frozen=True)
class Subject:
    """An experiment with the parameters that it is checked with.

    Attributes:
        params: at a size at which it takes seconds.
        make: returns its tables with these parameters; by default computes them.
    """

    experiment: Experiment
    params: Settings
    make: Callable[[], Tables] | None = None

    @cached_property
    def tables(self) -> Tables:
        """The experiment's tables, with the alternatives and other losses."""
        if self.make:
            return self.make()
        settings = self.experiment.settings(self.params)
        with TemporaryDirectory() as root:
            return evaluate(self.experiment.compute(), settings, Context(root=Path(root)))

    def wrong(self, what: str) -> RepriseError:
        return RepriseError(f"{self.experiment.module}: {what}")

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Names the experiment in an error."""
        try:
            yield
        except RepriseError as error:
            raise self.wrong(str(error)) from error


Check = Callable[[Subject], None]


def subject(experiment: Experiment | str, settings: Mapping[str, Any] | None = None) -> Subject:
    """The subject of the checks.

    Args:
        experiment: or its id, `KEY/NAME`; of a paper that no config and no entry point names, the package
            that its folder is, `mine.bound`.
        settings: differences from the published settings, with which the experiment takes seconds.

    Raises:
        RepriseError: if the package does not declare an experiment, or a setting is none.
    """
    found = experiment
    if isinstance(found, str):
        found = registry.experiment(found) if "/" in found else registry.in_package(found)
    return Subject(found, overridden(found.params, settings or {}, found.module))


def name(check: Check) -> str:
    """A check as a test's id has it."""
    return check.__name__


def check_experiment(experiment: Experiment | str, settings: Mapping[str, Any] | None = None) -> None:
    """Runs all checks.

    Args:
        experiment, settings: as `subject` takes them.

    Raises:
        RepriseError: with a line for each check that fails.
    """
    checked, failures = subject(experiment, settings), []
    for check in CHECKS:
        try:
            check(checked)
        except RepriseError as error:
            failures.append(str(error))
        except Exception:
            if not failures:  # otherwise it may follow from them
                raise
    if failures:
        raise RepriseError("\n".join(dict.fromkeys(failures)))


def check_paper(key: str, settings: Mapping[str, Mapping[str, Any]] | None = None) -> None:
    """Runs all checks of a paper and of its experiments.

    Args:
        settings: experiment's name -> the settings that differ from the published ones, so that it takes
            seconds.

    Raises:
        RepriseError: with a line for each check that fails.
    """
    paper, failures = registry.paper(key), []
    checks: list[Callable[[], None]] = [partial(check, paper) for check in coverage.CHECKS]
    for id, experiment in paper.experiments.items():
        checks.append(partial(check_experiment, experiment, (settings or {}).get(id.partition("/")[2])))
    for check in checks:
        try:
            check()
        except RepriseError as error:
            failures.append(str(error))
    if failures:
        raise RepriseError("\n".join(failures))


# Checks of the declaration.


def defaults_are_settings(checked: Subject) -> None:
    """The published settings are valid, also when a record has kept them, and say where they come from."""
    kind = checked.experiment.params
    try:
        published = kind()
        again = kind.model_validate_json(published.model_dump_json())
    except ValueError as error:
        raise checked.wrong(f"the defaults of Params are not allowed: {error}") from None
    if again != published:
        raise checked.wrong("Params does not come back from its JSON as it was")
    if silent := [name for name, field in kind.model_fields.items() if not field.description]:
        raise checked.wrong(f"Params does not say where '{silent[0]}' comes from")


def alternatives_keep_what_is_stated(checked: Subject) -> None:
    """An alternative is valid and has another value of something that the paper leaves open, or of something
    that the run replaces, such as a stand-in for its images. It may leave out seeds, methods or data sets;
    what the paper states stays where the run has it."""
    experiment, params = checked.experiment, checked.params
    replaced = set(differing(experiment.declaration.params(), params))
    for name, other in experiment.settings(params).items():
        if name == BASE:
            continue
        try:
            type(other).model_validate(other.model_dump())
        except ValueError as error:
            raise checked.wrong(f"alternative '{name}': {error}") from None
        changed = differing(params, other)
        opened = experiment.varied(params)[name]
        origins = {path: origin_of(type(params), path) for path in changed}
        kept = {path for path, its in origins.items() if its == "stated"} - opened - replaced
        if stated := sorted(kept):
            raise checked.wrong(
                f"alternative '{name}' changes '{stated[0]}', which the paper states; it may change "
                f"{', '.join(open_fields(params)) or 'nothing'}"
            )
        if not opened and "code" not in origins.values() and not replaced & set(changed):
            raise checked.wrong(f"alternative '{name}' changes nothing that the paper leaves open")


def open_fields_are_varied_or_excused(checked: Subject) -> None:
    """If claims are judged, each open field is in an alternative, and each two of these fields are in one
    together, or `excused` says why not."""
    experiment, params = checked.experiment, checked.params
    if not experiment.claims:
        return
    changes = list(experiment.varied(params).values())
    varied, excused = set().union(*changes), set(experiment.excused) - {TOGETHER}
    if left := sorted(set(open_fields(params)) - varied - excused):
        raise checked.wrong(f"'{left[0]}' is open, and neither in an alternative nor in `excused`")
    if both := sorted(varied & excused):
        raise checked.wrong(f"'{both[0]}' is in an alternative, and needs no excuse")
    pairs = combinations(sorted(varied), 2)
    apart = [pair for pair in pairs if not any(set(pair) <= change for change in changes)]
    if apart and TOGETHER not in experiment.excused:
        raise checked.wrong(f"{' and '.join(apart[0])} are in no alternative together; excuse '{TOGETHER}'")
    if TOGETHER in experiment.excused and not apart:
        raise checked.wrong(f"all fields are varied together; '{TOGETHER}' needs no excuse")


def seeds_follow_the_first(checked: Subject) -> None:
    """Settings with a number of seeds or random points are `Seeded`; and with another first seed the `ideal`
    tables, if there are any, hold as many others in the column `seed`, by which claims read them."""
    experiment, params = checked.experiment, checked.params
    if not isinstance(params, Seeded):
        fields = {name: field.annotation for name, field in type(params).model_fields.items()}
        if counts := [name for name in COUNTS if fields.get(name) is int]:
            raise checked.wrong(
                f"Params has '{counts[0]}' and no first seed: derive it from contract.settings.Seeded, and "
                f"take the seeds from params.seed_range(params.{counts[0]})"
            )
        return
    if not experiment.has_ideal:
        return
    later = params.model_copy(update={"first_seed": params.first_seed + LATER})
    before, after = experiment.ideal(params), experiment.ideal(later)
    for name, table in before.items():
        if "seed" in table and set(after[name]["seed"]) != set(table["seed"] + LATER):
            raise checked.wrong(
                f"seeds of the ideal table '{name}' do not follow first_seed: with {later.first_seed} they "
                f"go from {after[name]['seed'].min()} to {after[name]['seed'].max()}; take them from "
                "params.seed_range"
            )


# Checks of the plan.


def tasks_have_names_of_their_own(checked: Subject) -> None:
    """Names are unique, and the same when the tasks are listed again, from parameters that were stored."""
    for setting, params, loss in _runs(checked):
        names = _names(checked, params, loss)
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise checked.wrong(f"{setting}: two tasks have the name '{twice[0]}'")
        if nameless := [name for name in names if " object at 0x" in name or not name.strip()]:
            raise checked.wrong(f"{setting}: a task's name is '{nameless[0]}'; give its class a __str__")
        stored = type(params).model_validate_json(params.model_dump_json())
        if _names(checked, stored, loss) != names:
            raise checked.wrong(f"{setting}: tasks are listed in another order, or by other names, again")


def needs_are_positive(checked: Subject) -> None:
    """Each computation takes some time and memory."""
    for task, needs in checked.experiment.needs(checked.params).items():
        if not isinstance(needs, Resources):
            raise checked.wrong(f"the plan's `needs` of task '{task}' is {needs!r}, no Resources")
        numbers = (needs.minutes, needs.memory_mb, needs.disk_mb, needs.gpus)
        if (
            not all(map(math.isfinite, numbers))
            or min(numbers) < 0
            or not (needs.minutes and needs.memory_mb)
        ):
            raise checked.wrong(
                f"{task} needs {needs}; minutes and memory must be above 0, the rest at least 0"
            )


def compute_asks_for_its_plan(checked: Subject) -> None:
    """`compute` asks for the tasks that the plan lists: another one would be in no share. It gets no table,
    and is stopped when it has asked for all of them."""
    plan = checked.experiment.declaration.plan
    if not isinstance(plan, Plan):
        return
    for setting, params, loss in _runs(checked):
        listener = _Listener(set(_names(checked, params, loss)))
        try:
            checked.experiment.compute()(params, Context(cached=listener, objective=loss))
        except Exception as error:  # it cannot go on without the tables
            if not listener.asked:
                raise checked.wrong(f"{setting}: compute asks for no task: {error}") from error
        if odd := sorted(listener.asked ^ listener.planned):
            which = (
                "is not planned" if odd[0] in listener.asked else "is planned; compute does not ask for it"
            )
            raise checked.wrong(f"{setting}: task '{odd[0]}' {which}")


class _Listener:
    """Hears which tasks a computation asks for, until it has asked for all that are planned."""

    def __init__(self, planned: set[str]) -> None:
        self.planned, self.asked = planned, set[str]()

    def __call__(self, name: str, make: Make) -> pd.DataFrame:
        self.asked.add(name.partition("/")[2])
        if self.planned <= self.asked:
            raise InterruptedError
        return pd.DataFrame()


def _runs(checked: Subject) -> Iterator[tuple[str, Settings, str | None]]:
    """The settings, and another loss if the experiment takes one."""
    for setting, params in checked.experiment.settings(checked.params).items():
        yield setting, params, None
    if isinstance(checked.params, TakesLosses):
        yield OTHER_LOSS, checked.params, OTHER_LOSS


def _names(checked: Subject, params: Settings, loss: str | None) -> list[str]:
    plan = checked.experiment.declaration.plan
    return [str(task) for task in plan.tasks(params, loss)] if isinstance(plan, Plan) else []


def inputs_are_checked(checked: Subject) -> None:
    """The declared `check` accepts the inputs or says what is missing, and `reads` lists paths."""
    experiment = checked.experiment
    try:
        experiment.check(checked.params)
    except RepriseError:
        pass  # what is missing here
    except Exception as error:
        raise checked.wrong(f"its check fails: {type(error).__name__}: {error}") from error
    reads = experiment.declaration.reads
    if odd := [each for each in (reads(checked.params) if reads else []) if not isinstance(each, Path)]:
        raise checked.wrong(f"`reads` lists {odd[0]!r}, which is no Path")


# Checks of the modules.


def listing_needs_no_torch(checked: Subject) -> None:
    """`experiment.py`, `figures.py` and `claims.py` are imported without torch, which takes seconds."""
    if guilty := importing_torch([checked.experiment]):
        raise checked.wrong(f"{guilty} imports torch; import it in compute.py, or inside a function")


def importing_torch(experiments: Iterable[Experiment]) -> str:
    """The first of the experiments' modules that imports torch; empty if none does."""
    modules = [f"{e.module}.{file}" for e in experiments for file in ("experiment", "claims", "figures")]
    places = {name: str(folder) for name, folder in sources.PACKAGES.items() if folder}
    program = f"""
import importlib.util, pathlib, sys
sys.path[:] = {sys.path!r}
from reprise import sources
for name, folder in {places!r}.items():
    sources.adopt(name, pathlib.Path(folder))
for name in {modules!r}:
    if importlib.util.find_spec(name):
        importlib.import_module(name)
    if "torch" in sys.modules:
        print(name)
        break
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RepriseError(f"importing {', '.join(modules)} fails: {done.stderr.strip().splitlines()[-1]}")
    return done.stdout.strip()


# Checks of the tables.


def tables_are_as_declared(checked: Subject) -> None:
    """`compute` returns the tables that are declared, each with rows of the published setting."""
    declared, made = set(checked.experiment.tables), set(checked.tables)
    if odd := sorted(declared ^ made):
        which = "is declared and not returned" if odd[0] in declared else "is returned and not declared"
        raise checked.wrong(f"table '{odd[0]}' {which} by compute")
    if empty := [name for name, table in checked.tables.items() if not (table["setting"] == BASE).any()]:
        raise checked.wrong(f"table '{empty[0]}' has no rows of the published setting")
    columns = {f"{name}.{column}" for name, table in checked.tables.items() for column in table}
    declaration = checked.experiment.declaration
    if unused := [each for each in declaration.gaps if not any(fnmatchcase(name, each) for name in columns)]:
        raise checked.wrong(f"`gaps` names '{unused[0]}', which no table has")
    names = {column for table in checked.tables.values() for column in table}
    if unused := [each for each in declaration.coordinates if each not in names]:
        raise checked.wrong(f"`coordinates` names '{unused[0]}', which no table has")


def figures_draw(checked: Subject) -> None:
    """Each figure and table is drawn of the declared tables. It may say that there is nothing to draw."""
    import matplotlib.pyplot as plt
    from matplotlib.figure import Figure

    kinds = {"figure": Figure, "table": pd.DataFrame}
    for artifact in checked.experiment.artifacts:
        try:
            drawn = artifact.draw(checked.tables, checked.params)
        except RepriseError as error:
            if not str(error).startswith("nothing to draw: "):
                raise checked.wrong(f"{artifact.id}: {error}") from error
            continue
        except Exception as error:
            raise checked.wrong(f"{artifact.id} cannot be drawn: {type(error).__name__}: {error}") from error
        finally:
            plt.close("all")
        if not isinstance(drawn, kind := kinds[artifact.kind]):
            raise checked.wrong(f"{artifact.id} must return a {kind.__name__}, not {type(drawn).__name__}")


def claims_are_judged(checked: Subject) -> None:
    """Each claim has an id in its paper, once, says what decides its quantifier, and has a verdict on the
    tables."""
    experiment = checked.experiment
    with checked.blamed():
        coverage.check_claim_ids(experiment.paper, experiment.claims)
    settings = verdicts.settings_of(checked.tables, checked.params)
    for claim in experiment.claims:
        if not claim.word:
            raise checked.wrong(
                f"claim '{claim.id}' has no `word`: give the words of the paper's sentence that make it "
                f"{claim.quantifier}, or another `quantifier` ({', '.join(get_args(Quantifier))})"
            )
        try:
            with checked.blamed():
                verdicts.judged(claim, settings, checked.params)
        except RepriseError:
            raise
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise checked.wrong(f"claim '{claim.id}' cannot be judged: {what}") from error


def claims_come_out_both_ways(checked: Subject) -> None:
    """Each claim is reproduced by the experiment's `ideal` tables at the published settings, if there are
    any, and contradicted by them as its `broken_by` changes them, in each of its cells."""
    experiment = checked.experiment
    if not experiment.has_ideal:
        tables = Setting(verdicts.setting(checked.tables, BASE))
    else:
        tables = Setting(experiment.ideal(experiment.params()))
        for claim in experiment.claims:
            with checked.blamed():
                check_reproduced(claim, tables)
    for claim in experiment.claims:
        with checked.blamed():
            check_refuted(claim, tables)


OF_DECLARATION: tuple[Check, ...] = (
    defaults_are_settings,
    alternatives_keep_what_is_stated,
    open_fields_are_varied_or_excused,
    seeds_follow_the_first,
    tasks_have_names_of_their_own,
    needs_are_positive,
    compute_asks_for_its_plan,
    inputs_are_checked,
    listing_needs_no_torch,
)
"""The checks that compute nothing."""
OF_TABLES: tuple[Check, ...] = (
    tables_are_as_declared,
    figures_draw,
    claims_are_judged,
    claims_come_out_both_ways,
)
"""The checks that need the experiment's tables."""
CHECKS = (*OF_DECLARATION, *OF_TABLES)
