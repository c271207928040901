"""What the tests of all papers share."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from filelock import FileLock

from reprise.execute import registry
from reprise.execute.tiers import load_tier
from reprise.study.experiment import Context, evaluate

ROOT = Path(__file__).parents[2]


class Smoke:
    """Experiment -> its tables and parameters at the smoke tier, computed when a test first asks for them,
    once for all processes that test."""

    def __init__(self, folder):
        self.folder, self.params = folder, load_tier("smoke", ROOT).params
        self.tables = {}

    def __getitem__(self, id):
        if id not in self.tables:
            self.tables[id] = self._shared_tables(id)
        return self.tables[id], self.params[id]

    def _shared_tables(self, id):
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


@pytest.fixture(autouse=True)
def no_figure_left_open():
    yield
    plt.close("all")
