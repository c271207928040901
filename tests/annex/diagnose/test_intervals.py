"""Intervals cover known values as often as they say, and do not depend on the order of samples."""

import re
from pathlib import Path

import numpy as np
import pytest

from reprise.annex.diagnose import moments
from reprise.annex.diagnose.measures import MEASURES, observe
from reprise.annex.diagnose.moments import gather

VARIANCES = np.array([4.0, 2.0, 1.0, 0.5, 0.25, 0.12, 0.06, 0.03])
SHARES = VARIANCES / VARIANCES.sum()
ROOTS = np.sqrt(VARIANCES) / np.sqrt(VARIANCES).sum()
MIX = 0.6
"""Correlation of the two views in every dimension."""
KNOWN = {
    "largest singular value": 2.0,
    "effective rank": np.exp(-(ROOTS * np.log(ROOTS)).sum()),
    "RankMe": np.exp(-(ROOTS * np.log(ROOTS)).sum()),  # the mean is 0
    "stable rank": VARIANCES.sum() / 4,
    "balance": (VARIANCES**2).sum() / 16,
    "condition number": np.sqrt(4 / 0.03),
    "entropy": -(SHARES * np.log(SHARES)).sum(),
    "cross-view correlation": MIX,
    "alignment score, 1 to 2": None,
    "uniformity": None,
}
RUNS, SAMPLES = 150, 4000


@pytest.fixture(scope="module")
def observed():
    """The diagnostics of many samples of two Gaussian views with known covariance."""
    rng, runs = np.random.default_rng(0), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(moments, "PAIRED", 128)  # fewer pairs, to save time
        for _ in range(RUNS):
            first, other = rng.normal(size=(2, SAMPLES, len(VARIANCES))) * np.sqrt(VARIANCES)
            second = MIX * first + np.sqrt(1 - MIX**2) * other
            runs.append({each.measure.name: each for each in observe(gather([first, second], ["a", "b"]))})
    return runs


@pytest.mark.parametrize("name", KNOWN)
def test_intervals_hold_the_known_value_in_95_of_100_samples(observed, name):
    """If each of 150 intervals holds it with a probability of .95, under 131 do once in 15,000 such tests."""
    truth = KNOWN[name]
    if (
        truth is None
    ):  # no formula: the mean of so many samples, of which an interval is wide beside its error
        truth = np.mean([run[name].value for run in observed])
    held = sum(run[name].low <= truth <= run[name].high for run in observed)
    assert held >= 131, f"{held} of {RUNS}"
    widths = [run[name].high - run[name].low for run in observed]
    spread = np.std([run[name].value for run in observed])
    assert 3 < np.mean(widths) / spread < 6  # 2 * t(9) = 4.5 standard errors


def test_sorted_samples_have_the_same_intervals():
    """Files are often sorted by class; groups of neighbours would then differ more than random ones."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(1000, 4)) + np.repeat(np.eye(10)[:, :4] * 5, 100, axis=0)
    shuffled = z[rng.permutation(1000)]
    for one, other in zip(observe(gather([z], ["a"])), observe(gather([shuffled], ["a"])), strict=True):
        if one.high > one.low:
            assert (one.high - one.low) < 4 * (other.high - other.low)


def test_every_diagnostic_has_a_sentence_an_equation_and_a_source():
    for measure in MEASURES:
        assert measure.meaning.endswith(".")
        assert measure.equation.strip()
        assert re.search(r" 20\d\d", measure.source)


def test_intervals_stay_in_the_range():
    z = np.random.default_rng(0).normal(size=(60, 50))
    for each in observe(gather([z, z], ["a", "b"])):
        low, high = each.measure.range
        assert np.isnan(each.low) or low <= each.low <= each.high <= high


@pytest.mark.parametrize(("views", "opening"), [("each", "Of each view: "), ("both", "Of both views: ")])
def test_the_documentation_has_every_diagnostic(views, opening):
    text = " ".join((Path(__file__).parents[3] / "docs" / "diagnose.md").read_text().split())
    listed = text.partition(opening)[2].partition(". ")[0].split("; ")
    assert listed == [measure.name for measure in MEASURES if measure.views == views]
