"""A checkout with an experiment whose truth is known, for tests of frozen claims: no job starts, and its
tables follow from the seeds."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
from stating import stated

from reprise.contract import experiment as contract
from reprise.contract.experiment import BASE
from reprise.contract.settings import Seeded, ours, unstated
from reprise.engine import memo, provenance, registry, tiers
from reprise.engine.check import judge
from reprise.engine.configured import STRIDE, Tier
from reprise.engine.registry import Experiment, Paper
from reprise.evidence import comparison as m
from reprise.evidence.measures import column
from reprise.ledger import confirm, frozen, jobs
from reprise.numerics.streams import stream
from reprise.report import confirmation
from reprise.storage import store

KEY, ID = "toy2030", "toy2030/worlds"
NAME = "mini"
UNIT = "matching score"
"""A unit in which an effect of .05 is worth a name."""
NOISE = 0.1


class Params(Seeded):
    """Settings of the toy."""

    seeds: int = ours(6, "worlds", ge=1)
    width: int = unstated(8, "a usual width")


@dataclass
class World:
    """The truth.

    Attributes:
        effects: by claim.
        lucky: what is added on the tier's own seeds and the rounds after them, and not in an attempt.
    """

    effects: dict[str, float]
    lucky: dict[str, float] = field(default_factory=dict)

    def tables(self, params):
        """Normal observations about the truth, one a seed and claim."""
        seeds = list(params.seed_range(params.seeds))
        developed = params.first_seed < STRIDE * frozen.FIRST_BLOCK
        made = {"seed": seeds, "setting": BASE}
        for name, effect in self.effects.items():
            shift = self.lucky.get(name, 0.0) if developed else 0.0
            made[name] = [effect + shift + NOISE * stream(seed, name).normal() for seed in seeds]
        return {"t": pd.DataFrame(made)}


def above(name, **about):
    """The claim that the effect of this name is positive."""
    return stated(m.above(column("t", name), 0.0, unit=UNIT), f"{KEY}/fig1/{name}", **about)


def ideal(names, seeds):
    """Tables in which all effects are positive."""
    values = {name: 0.4 + 0.1 * np.sin(np.arange(seeds) + place) for place, name in enumerate(names)}
    return {"t": pd.DataFrame({"seed": range(seeds), **values})}


class Toy:
    """The experiment in a tier of its own, in a checkout `root`. `claims` and `world` can be replaced."""

    def __init__(self, root, monkeypatch, world, claims=None):
        self.root, self.world, self.patch = Path(root), world, monkeypatch
        self.params = Params()
        self.claims = tuple(map(above, world.effects)) if claims is None else tuple(claims)
        self.runs = 0
        monkeypatch.setattr(registry, "papers", self.papers)
        monkeypatch.setattr(registry, "_published", lambda key: b"")
        monkeypatch.setattr(tiers, "load_tier", lambda name, root=None: self.tier)
        monkeypatch.setattr(Experiment, "code", lambda experiment, params: "abc")
        monkeypatch.setattr(Experiment, "versions", lambda experiment, params: {})
        monkeypatch.setattr(Experiment, "has_ideal", True)
        monkeypatch.setattr(
            Experiment, "ideal", lambda experiment, params: ideal(self.world.effects, params.seeds)
        )
        self.kept = []
        kept = SimpleNamespace(value=self.value, is_current=lambda: True)
        monkeypatch.setattr(memo, "of_package", lambda: kept)
        monkeypatch.setattr(provenance, "commit", lambda root: {"commit": "c0ffee"})
        monkeypatch.setattr(jobs, "run", self.run_jobs)

    def papers(self):
        declared = contract.Experiment(params=Params, tables=("t",))
        toy = Experiment(ID, "toy2030.worlds", declared, artifacts=(), claims=self.claims)
        paper = Paper(
            package="toy2030", key=KEY, title="T", bibtex="", experiments={ID: toy}, pending=(),
            printed=(), by_reading=(), items=(),
        )  # fmt: skip
        return {KEY: paper}

    def value(self, name, make):
        """The value, kept as by `memo.Memo` for as long as the claims are the same."""
        if not self.kept or self.kept[0] is not self.claims:
            self.kept = [self.claims, make()]
        return self.kept[1]

    @property
    def tier(self):
        return Tier(NAME, self.root, {}, (), {}, {ID: self.params}, "0123456789ab")

    @property
    def experiment(self):
        return self.tier.experiment(ID)

    def compute(self, configured):
        """Writes the tables of a round or an attempt."""
        params = configured.params.model_dump(mode="json")
        record = {
            "experiment": ID, "params": params, "command": "", "commit": "", "python": "3.11.0",
            "versions": {}, "duration_seconds": 1.0, "code": "abc",
            "hardware": {"processor": "", "cores": 1, "memory_gib": 1.0, "system": ""},
        }  # fmt: skip
        store.save_tables(configured.folder, self.world.tables(configured.params), configured.key(), record)

    def run_jobs(self, tier, targets, *, rounds=None, attempts=None):
        self.runs += 1
        for number in (attempts or {}).values():
            self.compute(self.experiment.in_attempt(frozen.attempt(self.root, ID, number)))

    def develop(self):
        """Runs the tier's seeds and freezes what was found."""
        self.compute(self.experiment)
        return self.freeze()

    def freeze(self):
        return confirm.freeze(self.tier, [], judge(self.experiment))

    def confirm(self, phrase=""):
        """An attempt, with all that the command does but the printing."""
        begun = confirm.begin(self.root, phrase)
        confirm.run(self.root, begun)
        confirmation.write(self.root, begun)
        return begun

    def record(self, phrase):
        """An attempt that is recorded and does not run."""
        key = lambda id, attempt: self.experiment.in_attempt(attempt).key()  # noqa: E731
        return frozen.record(self.root, phrase, frozen.load_lock(self.root).experiments, "c0ffee", key)

    def marks(self):
        """Marks of the claims in words, by the last part of the claims' ids."""
        return {
            id.rpartition("/")[2]: mark.beside(mark.verdict) for id, mark in frozen.marks(self.tier).items()
        }

    def edit(self, name, **changes):
        """Changes a claim."""
        self.claims = tuple(
            replace(each, **changes) if each.id == f"{KEY}/fig1/{name}" else each for each in self.claims
        )

    def edit_comparison(self, name, **changes):
        """Changes what a claim compares."""
        (cells,) = [each.cells for each in self.claims if each.id == f"{KEY}/fig1/{name}"]
        self.edit(name, cells={cell: replace(each, **changes) for cell, each in cells.items()})
