"""What the tests of all papers share."""

from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from reprise.execute import registry
from reprise.execute.tiers import load_tier
from reprise.study.experiment import Context, evaluate

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def smoke(tmp_path_factory):
    """Tables and parameters of every experiment that has a figure or table, at the smoke tier."""
    tier = load_tier("smoke", ROOT)
    context = Context(root=tmp_path_factory.mktemp("trained"))
    found = {}
    for id in {artifact.experiment for artifact in registry.artifacts().values()}:
        experiment = registry.experiment(id)
        settings = experiment.settings(tier.params[id])
        found[id] = evaluate(experiment.compute(), settings, context), tier.params[id]
    return found


@pytest.fixture(autouse=True)
def no_figure_left_open():
    yield
    plt.close("all")
