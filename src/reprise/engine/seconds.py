"""Durations of tasks and networks when they last ran in full, and estimates of a run to come from them.

`reprise publish` writes the seconds of the run that it publishes into `FILE`, with that run's parameters.
Shares, priorities and limits of jobs follow from that file and the parameters alone, so that two plans are
cut alike. Where an experiment has no seconds there, the estimates that it declares count.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reprise.contract.experiment import Resources
from reprise.contract.settings import Settings
from reprise.engine.foreign import Taken, params_of
from reprise.engine.registry import Experiment
from reprise.errors import RepriseError
from reprise.storage import store

FILE = Path("docs") / "results" / "seconds.json"


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class OfExperiment(_Read):
    """Parameters of an experiment's first round, and the seconds that it took."""

    params: dict[str, Any]
    taken: Taken


class Recorded(_Read):
    """Contents of `FILE`.

    Attributes:
        speed_test: the seconds of the speed test (`ledger.speed`) on the machine of the run; None if unknown.
    """

    speed_test: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    experiments: dict[str, OfExperiment] = {}


def recorded(root: Path) -> Recorded:
    """Reads the checkout's `FILE`; empty if there is none.

    Raises:
        RepriseError: if it is damaged.
    """
    file = root / FILE
    try:
        state = file.stat()
    except FileNotFoundError:
        return Recorded()
    return _read(file, state.st_mtime_ns, state.st_size)


@lru_cache(4)
def _read(file: Path, *state: int) -> Recorded:
    try:
        return Recorded.model_validate_json(file.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise RepriseError(
            f"{file}: {place}: {first['msg']}; restore it with: git checkout HEAD {FILE}"
        ) from None


def written(content: Recorded) -> bytes:
    """The bytes of `FILE`: a line for each experiment, so that a difference shows which one changed."""
    experiments = (
        f"{json.dumps(id)}: {each.model_dump_json(exclude_defaults=True)}"
        for id, each in sorted(content.experiments.items())
    )
    lines = ",\n".join(experiments)
    return f'{{"speed_test": {json.dumps(content.speed_test)}, "experiments": {{\n{lines}\n}}}}\n'.encode()


def needs(experiment: Experiment, params: Settings, root: Path) -> dict[str, Resources]:
    """Resources of each task, by its name (`Experiment.needs`), with minutes by the recorded seconds.

    A task that was recorded takes as long as it did; with other parameters, as many times longer as the two
    sets of parameters let the experiment itself expect. One that was not recorded, such as that of another
    seed, takes what the experiment expects, times what all its recorded tasks took beside what it expected of
    them. Tasks that run on another number of GPUs than recorded take what the experiment expects.

    Raises:
        RepriseError: if `FILE` is damaged.
    """
    now = experiment.needs(params)
    known = recorded(root).experiments.get(experiment.id)
    then = _needs_then(experiment, params, now, known) if known else {}
    if not known or not then:
        return now
    gpus = {each.gpus for each in then.values()}
    factor = known.taken.total / 60 / sum(each.minutes for each in then.values())

    def minutes(name: str, need: Resources) -> float:
        if need.gpus not in gpus:
            return need.minutes
        if name not in then or name not in known.taken.tasks:
            return need.minutes * factor
        return known.taken.of_task(name) / 60 * need.minutes / then[name].minutes

    return {name: replace(need, minutes=max(minutes(name, need), LEAST)) for name, need in now.items()}


LEAST = 1e-4
"""Minutes of a task, at least: shares are balanced, and progress is counted, by positive numbers."""


def _needs_then(
    experiment: Experiment, params: Settings, now: dict[str, Resources], known: OfExperiment
) -> dict[str, Resources]:
    """Resources that the experiment now expects for the recorded parameters; empty if they no longer fit."""
    if known.params == params.model_dump(mode="json"):
        return now
    with suppress(RepriseError, ValueError, ArithmeticError):
        return experiment.needs(params_of(experiment.params, known.params, str(FILE)))
    return {}


def of_run(root: Path, asker: str, needs: Mapping[str, Resources], own: float) -> Taken:
    """Seconds of a run that ends now, by the records of its tasks.

    Args:
        asker: the run, as it asked for its tasks.
        needs: of each task, or of the computation in one piece; what needs no GPU is counted in CPU seconds.
        own: CPU seconds of a computation in one piece.
    """
    finished = (entry.record for entry in store.entries(root, store.TASKS) if asker in entry.askers)
    by_name = {record["what"]: record for record in finished if record}
    if not by_name:
        return Taken(tasks=dict.fromkeys(needs, round(own, 3)))
    tasks, shared = {}, {}
    asked: dict[str, list[str]] = {}
    for name in (each for each in needs if each in by_name):
        tasks[name] = _seconds(by_name[name], on_gpu=bool(needs[name].gpus))
        ahead = list(by_name[name].get("asked", ()))
        while ahead:
            entry = ahead.pop(0)
            if entry in shared or entry.startswith(f"{store.TASKS}/"):
                continue
            record = store.Entry(root / store.CACHE / entry).record
            shared[entry] = _seconds(record, on_gpu=record.get("device") == "cuda")
            asked.setdefault(name, []).append(entry)
            ahead += record.get("asked", ())
    return Taken(tasks=tasks, shared=shared, asked=asked)


def _seconds(record: Mapping[str, Any], *, on_gpu: bool) -> float:
    """Seconds of making an entry: CPU seconds where they were recorded and no GPU did the work. What resumed
    an interrupted training counts as if it had trained all of it, if it did at least a twentieth."""
    seconds = record.get("seconds", 0.0)
    spent = seconds if on_gpu else record.get("cpu_seconds", seconds)
    return float(spent / max(record.get("share", 1.0), 0.05))
