"""Fixtures and hooks that the tests of several rooms share."""

import gc
import os
import shutil
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import hypothesis
import pandas as pd
import pytest
from filelock import FileLock

from reprise.cli import compute_in_one_thread
from reprise.contract.experiment import Context, evaluate
from reprise.engine import registry, run, tiers
from reprise.engine.tiers import load_tier
from reprise.storage import disk, records, store

hypothesis.settings.register_profile("reprise", deadline=None)  # a busy machine is no failure
hypothesis.settings.load_profile("reprise")
ROOT = Path(__file__).parents[1]
RAN = "jing2022/layer_alignment"
LONGEST = (
    "test_the_quick_suite_is_green_where_the_page_was_followed",
    "test_a_second_clone_on_one_core_makes_the_same_bytes_as_the_first_on_two",
)
KEPT = ROOT / ".pytest_cache" / "tables"
"""Tables that `kept` has computed, from one test run to the next: ID/DIGEST OF PARAMETERS/KEY.pickle."""


def pytest_configure():
    compute_in_one_thread()
    # Where Slurm is installed and not running, Snakemake's plugin for it waits ten seconds at each start.
    os.environ.setdefault("SLURM_CONF", os.devnull)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collects tests without garbage collection, which takes half of the time: it would search the modules
    that the tests import again and again. Later collections leave out what is there by then."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items):
    """Begins with the longest tests: begun last, they would run alone, beside idle processes."""
    items.sort(key=lambda item: item.name not in LONGEST)


@pytest.fixture(scope="session")
def shared(tmp_path_factory, worker_id):
    """A folder that all processes of this test run share."""
    base = tmp_path_factory.getbasetemp()
    return base if worker_id == "master" else base.parent


def put_configs(root):
    """Our tiers, without a user's, which may name folders beside the checkout."""
    (root / "configs").mkdir(parents=True)
    for name in ("smoke", "default", "gpu", "paper"):
        shutil.copy(ROOT / "configs" / f"{name}.yaml", root / "configs")


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout without results: a folder with our configs/, which is the working directory."""
    root = tmp_path / "checkout"
    put_configs(root)
    monkeypatch.chdir(root)
    return root


class Smoke:
    """Experiment -> its tables and parameters at the smoke tier.

    Tables that a smoke run has made by the code under test are read. Others are computed when a test first
    asks for them, once for all processes that test. The run is that of the checkout that the variable
    SMOKE_RUN names, or of this one.
    """

    def __init__(self, folder):
        self.folder, self.tables = folder, {}
        self.run = replace(load_tier("smoke", ROOT), root=Path(os.environ.get("SMOKE_RUN", ROOT)))
        self.params = self.run.params

    def __getitem__(self, id):
        if id not in self.tables:
            self.tables[id] = self._shared_tables(id)
        return self.tables[id], self.params[id]

    def _shared_tables(self, id):
        ran = self.run.experiment(id)
        if ran.has_results() and ran.is_whole() and not ran.staleness():
            return ran.tables()
        file = self.folder / f"{id.replace('/', '_')}.pickle"
        with FileLock(f"{file}.lock"):
            if not file.exists():
                experiment = registry.experiment(id)
                settings = experiment.settings(self.params[id])
                pd.to_pickle(evaluate(experiment.compute(), settings, Context(root=self.folder)), file)
        return pd.read_pickle(file)


@pytest.fixture(scope="session")
def smoke(shared):
    folder = shared / "smoke"
    folder.mkdir(exist_ok=True)
    return Smoke(folder)


@pytest.fixture(scope="session")
def kept(shared):
    """A function that gives the tables of an experiment's `compute` with some parameters, for fixtures.

    The first process that asks computes them. All processes that test read them, and later test runs do until
    the store's key is another: until the code, the parameters or the version of a library change.
    """

    def tables(id, params):
        experiment = registry.experiment(id)
        digest = records.key_of(params.model_dump(mode="json"))[:16]
        file = KEPT / id / digest / f"{experiment.key(params)}.pickle"
        file.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(file.parent / ".lock"):
            if not file.exists():
                made = experiment.compute()(params, Context(root=shared / "kept"))
                for older in file.parent.glob("*.pickle"):
                    older.unlink()
                disk.write_files({file: partial(pd.to_pickle, made)})
        return pd.read_pickle(file)

    return tables


@pytest.fixture(autouse=True)
def no_figure_left_open():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session")
def ran(shared):
    """A checkout in which one experiment, `RAN`, has run in a tier `tiny`, once for all processes that test;
    not to be changed."""
    root = shared / "ran"
    done = root / ".whole"
    with FileLock(f"{root}.lock"):
        if not done.exists():
            shutil.rmtree(root, ignore_errors=True)
            put_configs(root)
            smoke = tiers.load_tier("smoke", root).overrides[RAN]
            settings = ", ".join(f"{name}: {value}" for name, value in smoke.items())
            text = f"tier: tiny\nlooked:\n  {RAN}: its steps\nexperiments:\n  {RAN}: {{{settings}}}\n"
            (root / "configs" / "tiny.yaml").write_text(text)
            run.run(tiers.load_tier("tiny", root).experiment(RAN))
            done.touch()
    return root


@pytest.fixture
def reseal():
    """A function that gives `RAN` other tables under the same key, as a run on another machine may make."""

    def moved(tier):
        tables, record = store.load_results(tier.results / RAN, "")
        for table in tables.values():
            table[table.select_dtypes("float").columns] *= 1.01
        store.save_tables(tier.results / RAN, tables, record.pop("key"), record)

    return moved
