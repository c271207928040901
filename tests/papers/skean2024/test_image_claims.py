"""Claims on Figure 3's networks, where its ideal tables do not lead: a network that diverges, that did not
learn, or whose eigenvalues do not come to rest or never rise."""

import numpy as np
import pytest

from reprise.engine import registry
from reprise.evidence.judgement import judge
from reprise.evidence.learning import PIXELS
from reprise.evidence.measures import Setting
from reprise.papers.skean2024.eigenvalue_saturation.measures import TOP, half_rise
from reprise.papers.skean2024.lineup import FIGURE3_PUBLISHED

ROOM = registry.experiment("skean2024/eigenvalue_saturation")
TABLES = ROOM.ideal(ROOM.params())
CLAIMS = {claim.id.removeprefix("skean2024/"): claim for claim in ROOM.claims}
EACH = pytest.mark.parametrize("name", CLAIMS)


def changed(**columns):
    """The tables with other columns of the linear probes."""
    return Setting({**TABLES, "probes": TABLES["probes"].assign(**columns)})


def judged_on_eigenvalues(name, rows, change):
    eigenvalues = TABLES["eigenvalues"].copy()
    chosen = rows(eigenvalues)
    eigenvalues.loc[chosen, "raw"] = change(eigenvalues[chosen])
    return judge(CLAIMS[name], Setting({**TABLES, "eigenvalues": eigenvalues}))


@EACH
def test_networks_whose_probe_has_not_risen_are_no_evidence(name):
    """Accuracy on raw pixels is no measure of first epochs, and a rise of eigenvalues is one of its own."""
    if name == "sec52/stepwise-nonlinear":
        return
    found = judge(CLAIMS[name], changed(start=61.0))
    assert found.verdict == "inconclusive"
    words = "above its random initialisation"
    assert all(words in cell.observation.obstacle for cell in found.cells.values())
    assert judge(CLAIMS[name], changed(**dict.fromkeys(PIXELS, 61.0))).verdict == "reproduced"


def test_a_method_that_diverges_at_the_shared_rate_and_learns_at_another_refutes_the_sweep():
    probes = TABLES["probes"]
    diverged = (probes["method"] == "vicreg") & ~probes["own_rate"]
    found = judge(CLAIMS["sec52/shared-rate-best"], changed(top1=probes["top1"].mask(diverged)))
    assert found.verdict == "contradicted"
    assert "holds in 3 of 4 cells; not: VICReg" in found.reason


def test_an_eigenvalue_has_risen_by_half_between_its_start_and_its_end():
    steps = np.arange(0, 101, 10)
    assert half_rise(steps, np.linspace(1.0, 3.0, 11)) == 50.0  # towards 2.9, the mean of the last tenth
    assert half_rise(steps, np.array([1.0] * 3 + [5.0] * 8)) == 30.0
    assert np.isnan(half_rise(steps, np.linspace(3.0, 1.0, 11)))


def test_where_the_largest_eigenvalue_falls_nothing_is_said_of_steps():
    found = judged_on_eigenvalues(
        "sec52/stepwise-nonlinear",
        lambda table: (table["index"] == 1) & (table["method"] == "frossl"),
        lambda table: 9.0 - table["raw"],
    )
    assert (found.verdict, found.code) == ("inconclusive", "no premise")
    assert found.cells["SimCLR"].verdict == "reproduced"


@pytest.mark.parametrize(
    ("moving", "verdict"), [(FIGURE3_PUBLISHED, "reproduced"), (("frossl",), "contradicted")]
)
def test_an_eigenvalue_that_still_moves_at_the_end_saturates_after_those_that_do_not(moving, verdict):
    found = judged_on_eigenvalues(
        "fig3/saturation-raw-shared-rate",
        lambda table: (table["index"] == TOP) & table["method"].isin(moving),
        lambda table: table["raw"] * 2.0 ** (table["step"] / 10),
    )
    assert found.verdict == verdict
