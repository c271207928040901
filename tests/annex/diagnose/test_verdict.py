"""The rule of the verdict on embeddings whose collapse is known, and on the networks of the reference."""

import numpy as np
import pytest

from reprise.annex.diagnose import reference
from reprise.annex.diagnose.measures import MEASURES, observe
from reprise.annex.diagnose.moments import gather
from reprise.annex.diagnose.trained import LAYERS
from reprise.annex.diagnose.verdict import judged, verdict


def embeddings(scales, mean=0.0, samples=500, seed=0):
    return np.random.default_rng(seed).normal(size=(samples, len(scales))) * np.asarray(scales) + mean


def word(*views):
    return verdict(observe(gather(list(views), ["a", "b"][: len(views)]))).word


@pytest.mark.parametrize(
    ("scales", "expected"),
    [
        ([1.0] * 20, "healthy"),
        (np.geomspace(1, 0.01, 20), "healthy"),  # a power law is no collapse
        ([1.0] * 19 + [1e-5], "healthy"),  # 5 %
        ([1.0] * 17 + [1e-5] * 3, "partly collapsed"),  # 15 %
        ([1.0] * 10 + [1e-5] * 10, "partly collapsed"),
        ([1.0] + [1e-5] * 19, "collapsed"),
        ([0.0] * 20, "collapsed"),
    ],
)
def test_the_share_of_collapsed_dimensions_decides(scales, expected):
    assert word(embeddings(scales)) == expected


def test_a_rotation_hides_nothing():
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(20, 20)))[0]
    assert word(embeddings([1.0] * 10 + [1e-5] * 10) @ turn) == "partly collapsed"


@pytest.mark.parametrize(
    ("noise", "expected"), [(1e-4, "collapsed"), (0.05, "partly collapsed"), (0.3, "healthy")]
)
def test_one_embedding_for_all_samples_is_collapse_though_its_noise_has_full_rank(noise, expected):
    assert word(embeddings([noise] * 20, mean=1.0)) == expected


def test_the_worse_view_decides():
    assert word(embeddings([1.0] * 8), embeddings([1.0] + [0.0] * 7)) == "collapsed"


def test_the_reference_covers_every_diagnostic_layer_and_state():
    table = reference.reference()
    names = {measure.name for measure in MEASURES} | {"nearest neighbours", "linear probe"}
    for layer in LAYERS:
        for state in reference.STATES:
            rows = table[(table["layer"] == layer) & (table["state"] == state)]
            assert names <= set(rows["diagnostic"]), (layer, state)
            assert np.isfinite(rows.loc[rows["diagnostic"] == "effective rank", "value"]).all()
    assert any(
        line.startswith("python -m reprise.annex.diagnose.reference") for line in reference.provenance()
    )


def test_trained_networks_of_the_reference_read_classes_and_the_others_do_not():
    for layer in LAYERS:
        low, _ = reference.band("linear probe", layer, "trained")
        for state in reference.STATES[1:]:
            assert reference.band("linear probe", layer, state)[1] < low


def test_the_networks_of_the_reference_are_told_apart():
    rows = reference.reference().pivot_table(
        index=["state", "net", "seed", "layer"], columns="diagnostic", values=["value", "share"]
    )
    for (state, net, _, layer), row in rows.iterrows():
        share = row["share", "collapsed dimensions"]
        dim = round(row["value", "collapsed dimensions"] / share) if share else 1000
        found = judged(row["value", "spread"], share * dim, dim).word
        if state != "untrained":
            assert (found == "healthy") == (state == "trained"), (net, layer, found)
