"""Figure 4 of Skean 2024 shows the numbers of its (smoke) tables, beside what chance gives, and no printed
accuracy on their axes."""

import numpy as np
import pytest
from reading import assert_mean, drawn, labels, where

from reprise.datasets.catalogue import DATA_SETS
from reprise.engine import registry

NAMES = {"barlow-twins": "Barlow Twins", "frossl": "FroSSL"}


@pytest.mark.parametrize(("at", "k"), [(0, 1), (1, 5)])
def test_figure_4(at, k, smoke):
    panels, base, params = drawn("skean2024/fig04", smoke)
    panel, column = panels[at], f"top{k}"
    ends = []
    for method, name in NAMES.items():
        assert_mean(panel, name, where(base["online"], method=method), "epoch", column, log=False)
        ends.append(where(base["probes"], method=method)[column].mean())
    stars = [line.get_ydata()[0] for line in panel.lines if line.get_marker() == "*"]
    np.testing.assert_allclose(stars, ends)
    (chance,) = (line.get_ydata()[0] for line in panel.lines if line.get_label() == "chance")
    classes = DATA_SETS[params.data_set].classes
    assert chance == 100 * k / classes == 10 * k

    printed = registry.paper("skean2024").printed_numbers().set_index("key")["value"]
    finals = [f"{name} {printed[f'fig4/{method}-top{k}']:g}" for method, name in NAMES.items()]
    assert panel.get_title().split("\n") == [
        f"{params.data_set}, top-{k} of {classes} classes",
        f"printed, ImageNet: {', '.join(finals)}",
    ]
    assert not any("printed" in label for label in labels(panel))
