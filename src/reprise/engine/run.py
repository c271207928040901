"""The computation of an experiment's tables, in one process or in shares, which reuses finished tasks."""

import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reprise.contract.experiment import Context, Make, Resources, Tables, evaluate, share_of
from reprise.contract.settings import one_line
from reprise.engine import cache, memo, provenance, seconds
from reprise.engine.configured import ConfiguredExperiment
from reprise.engine.tiers import changes
from reprise.errors import RepriseError
from reprise.notices import slower
from reprise.storage import disk, locks, store, versions

Progress = Callable[[int, int, str], None]

NEVER = "*.diverged"
"""The columns, in any experiment, in which a missing number is a result: the step at which training stopped
because its loss was not finite, if it did."""


def run(configured: ConfiguredExperiment, progress: Progress = lambda done, total, what: None) -> Path:
    """Computes an experiment's tables into `results/TIER/KEY/NAME/`.

    Reuses tasks that were finished by shares or by an interrupted run with the same code and parameters. If
    several processes run the same experiment, one computes and the others wait.

    Args:
        progress: called with (steps done, total steps, description of the current step).

    Raises:
        RepriseError: if the inputs are missing, a user's loss is none, either is edited meanwhile, the
            computation returns other tables than declared, or they cannot be written.
    """
    configured.tier.require_computed()
    experiment, params, folder = configured.experiment, configured.params, configured.folder
    experiment.require_published(params)
    guarded = experiment.trying_losses(params)
    files, root = configured.files(), configured.tier.root
    key, asker = configured.key(files), cache.asker(configured)
    compute, commit = experiment.compute(), provenance.commit(root)
    with guarded, locks.locked(folder / locks.LOCK) as waited, store.asking(asker):
        if waited and configured.has_results() and not configured.staleness():
            return folder
        _say_what_slows(configured)
        start, before = time.perf_counter(), cache.seconds_spent(asker, root)
        settings = experiment.settings(params)
        context = Context(progress, root=root)
        needs = configured.needs()
        if experiment.has_tasks:
            unchanged = partial(_require_unchanged, configured, key)
            context = replace(context, cached=_TaskCache(root, asker, needs, progress, unchanged))
        with _blamed_on_settings(configured):
            if experiment.has_tasks:
                _perform(configured, needs, context)
            began = store.cpu_seconds()
            tables = evaluate(compute, settings, context)
            own = store.cpu_seconds() - began
        _require_unchanged(configured, key)
        if set(tables) != set(experiment.tables):
            raise RepriseError(
                f"{experiment.id}: compute returned {sorted(tables)}, experiment.py declares "
                f"{sorted(experiment.tables)}"
            )
        if lacking := _not_finite(tables, (NEVER, *experiment.gaps)):
            shares = ", ".join(f"{share:.1%} of {column}" for column, share in lacking.items())
            print(
                f"{experiment.id}: warning: not finite, so that a run may have diverged: {shares}",
                file=sys.stderr,
            )
        record = {
            **_described(root, experiment.versions(params)),
            **provenance.of_run(commit, root),
            "experiment": experiment.id,
            "not_finite": lacking,
            "params": params.model_dump(mode="json"),
            "code": experiment.code(params),
            "files": files,
            "duration_seconds": round(before + time.perf_counter() - start, 3),
            "taken": seconds.of_run(root, asker, needs, own).model_dump(mode="json"),
        }
        store.save_tables(folder, tables, key, record)
        cache.forget_parts(configured)
    return folder


def run_share(
    configured: ConfiguredExperiment,
    number: int,
    shares: int,
    progress: Progress = lambda done, total, what: None,
) -> None:
    """Runs one of several shares of an experiment's tasks, whose tables `run` then reuses. Shares may run in
    parallel.

    Args:
        number: index of the share, from 1 to `shares`.

    Raises:
        RepriseError: if the experiment has no tasks, the inputs are missing, a user's loss is none, either is
            edited meanwhile, a task fails, or its table cannot be written.
    """
    configured.tier.require_computed()
    experiment, params, folder = configured.experiment, configured.params, configured.folder
    if not experiment.has_tasks:
        raise RepriseError(
            f"{experiment.id}: is in one piece and has no shares; run it with: {configured.how_to_make}"
        )
    experiment.require_published(params)
    guarded = experiment.trying_losses(params)
    needs = configured.needs()
    expected = {name: needs[name] for name in share_of(needs, number, shares)}
    key, asker, root = configured.key(), cache.asker(configured), configured.tier.root
    with guarded, locks.locked(folder / locks.LOCK, shared=True), store.asking(asker):
        _say_what_slows(configured)
        unchanged = partial(_require_unchanged, configured, key)
        task_cache = _TaskCache(root, asker, expected, progress, unchanged)
        with _blamed_on_settings(configured):
            _perform(configured, expected, Context(root=root, cached=task_cache))


def _perform(configured: ConfiguredExperiment, names: Iterable[str], context: Context) -> None:
    """Performs tasks, each of which the context keeps. A task that needs what another process makes is left
    until the others are done; when every one left does, the first waits.

    Raises:
        RepriseError: as the tasks do; of a task with another loss, it names the loss.
    """
    experiment, waiting = configured.experiment, list(names)
    tasks, perform = experiment.tasks(configured.params, context), experiment.perform()

    def do(name: str) -> None:
        settings, task, asking = tasks[name]
        try:
            asking.result(perform, settings, task)
        except RepriseError as error:
            if asking.objective is None:
                raise
            prefix = f"objective '{asking.objective}': "
            raise RepriseError(prefix + str(error).removeprefix(prefix)) from None

    while waiting:
        left = []
        for name in waiting:
            try:
                with store.not_waiting():
                    do(name)
            except store.MadeElsewhere:
                left.append(name)
        if len(left) == len(waiting):
            do(left.pop(0))
        waiting = left


def _say_what_slows(configured: ConfiguredExperiment) -> None:
    if lost := cache.lost_parts(configured):
        slower(
            "starts over",
            f"{lost} finished tasks of an interrupted run of {configured.id} do not count, because code, "
            "settings or data have changed since",
            "undo the change to go on from there",
        )
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        slower(
            "no compiled loops",
            "NUMBA_DISABLE_JIT is set, so that loops run in Python, a hundred times as long",
            "unset NUMBA_DISABLE_JIT",
        )


def _require_unchanged(configured: ConfiguredExperiment, key: str) -> None:
    """The file of a user's loss is executed anew for each task and loss, and data sets are read anew: after
    an edit, the results would be partly of the old files and partly of the new ones, under either's name.

    Raises:
        RepriseError: if what the results depend on is no longer what it was when the run began.
    """
    if not memo.of_package().is_current() or configured.key() != key:
        raise RepriseError(
            f"{configured.id}: the package, a loss, a module or file that it reads, or a file of the data "
            f"was edited while this ran; nothing was saved since; run it again: {configured.how_to_make}"
        )


def _not_finite(tables: Tables, gaps: tuple[str, ...]) -> dict[str, float]:
    """The share of numbers that are not finite in each column, `table.column`, that has any.

    Args:
        gaps: patterns of the columns in which that is expected.
    """
    shares = {
        f"{name}.{column}": float(1 - np.isfinite(table[column]).mean())
        for name, table in tables.items()
        for column in table.select_dtypes("float")
    }
    return {
        column: share
        for column, share in shares.items()
        if share and not any(fnmatchcase(column, gap) for gap in gaps)
    }


@contextmanager
def _blamed_on_settings(configured: ConfiguredExperiment) -> Iterator[None]:
    """Names in one line the settings that the tier has changed, if the computation fails; the traceback goes
    to a file. A failure with the published settings is a mistake of ours, whose traceback is shown.

    Raises:
        RepriseError: in place of an error of arithmetic, values or shapes.
    """
    try:
        yield
    except (ArithmeticError, LookupError, RuntimeError, ValueError) as error:
        id, tier = configured.id, configured.tier
        changed = tier.overrides.get(id)
        if not changed:
            raise
        log = tier.results / "logs" / f"{id}.traceback"
        disk.write(log, traceback.format_exc().encode(errors="backslashreplace"))
        raise RepriseError(
            f"{id}: fails with the settings of configs/{tier.name}.yaml: {changes(changed)}: "
            f"{one_line(error)}; try other values; the traceback is in {log}"
        ) from None


def _described(root: Path, used: Mapping[str, str]) -> dict[str, Any]:
    """The provenance of a result, which also names the versions of the libraries that it depends on."""
    made: dict[str, Any] = provenance.describe(root)
    libraries = {name: version for name, version in used.items() if name != versions.PYTHON}
    return {**made, "versions": {**made["versions"], **libraries}}


class _TaskCache:
    """Returns a task's table from the cache, or computes it now.

    Reports progress over the expected tasks. Other tasks that these request count towards the requesting
    task.
    """

    def __init__(
        self,
        root: Path,
        asker: str,
        expected: Mapping[str, Resources],
        progress: Progress,
        unchanged: Callable[[], None],
    ) -> None:
        self._cached = partial(store.cached_table, root, asker)
        self._unchanged = unchanged
        self._progress = progress
        self._expected = expected
        self._done = dict.fromkeys(expected, 0.0)

    def __call__(self, task: str, make: Make) -> pd.DataFrame:
        table = self._cached(task, partial(self._made, task, make))
        self._report(task, 1.0)
        return table

    def _made(self, task: str, make: Make) -> pd.DataFrame:
        table = make(partial(self._report, task))
        self._unchanged()
        return table

    def _report(self, task: str, share: float) -> None:
        if task in self._done:
            self._done[task] = share * self._expected[task].minutes
            total = sum(needs.minutes for needs in self._expected.values())
            self._progress(round(1000 * sum(self._done.values()) / total), 1000, task)
