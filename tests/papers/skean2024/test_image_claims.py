"""Every claim of the image experiments on tables made so that it holds, and so that it does not."""

import numpy as np
import pandas as pd
import pytest

from reprise.evidence.judgement import judge
from reprise.evidence.measures import Setting
from reprise.papers.skean2024.eigenvalue_saturation import claims as saturation
from reprise.papers.skean2024.eigenvalue_saturation.experiment import SHARED_RATE
from reprise.papers.skean2024.eigenvalue_saturation.measures import TOP, half_rise
from reprise.papers.skean2024.lineup import FIGURE3_PUBLISHED

SEEDS, START, PIXELS = range(6), 20.0, {"pixel_neighbours": 35.0, "pixel_probe": 18.0}
noise = np.random.default_rng(0)


def jitter():
    return noise.normal(0, 0.02)


OWN, BOTH = {0.03: True}, {SHARED_RATE: False, 0.03: True}
"""Learning rates: whether they are the methods' own."""


def runs(methods, rates=OWN):
    return [
        {"method": method, "learning_rate": rate, "own_rate": own, "seed": seed}
        for method in methods
        for rate, own in rates.items()
        for seed in SEEDS
    ]


def ends(methods, top1, *, rates=OWN, data_sets=("shapes",), learned=True):
    """Linear probes: `top1(method, data_set)`."""
    return pd.DataFrame(
        {
            **run, "data_set": name, "place": place, "top1": value, "top5": value + 5, **PIXELS,
            "start": START if learned else value - 10,
        }
        for run in runs(methods, rates)
        for place, name in enumerate(data_sets)
        for value in [top1(run["method"], name) + jitter()]
    )  # fmt: skip


def spectra(sign, **more):
    """Figure 3 in which FroSSL's metrics are better by the sign: flatter, richer, sooner."""
    methods = (*FIGURE3_PUBLISHED, "frossl")
    eigenvalues, traces = [], []
    for run in runs(methods, BOTH):
        ours = sign * (run["method"] == "frossl")
        rise = 40 - 10 * ours + 2 * noise.integers(2)
        for step in range(0, 101, 2):
            level = 0.1 + 0.9 * (step >= rise)
            base = {**run, "data_set": "shapes", "step": step}
            values = level * np.exp(-(0.3 - 0.1 * ours + 0.01 * jitter()) * np.arange(14))
            eigenvalues += [
                {**base, "index": k, "raw": value, "normalised": value} for k, value in enumerate(values, 1)
            ]
            entropy = 2 + ours + jitter()
            traces.append(
                {**base, "entropy_raw": entropy, "entropy_normalised": entropy, "view_correlation": 0.9}
            )
    return {
        "eigenvalues": pd.DataFrame(eigenvalues),
        "traces": pd.DataFrame(traces),
        "probes": ends(methods, lambda *_: 60, rates=BOTH, **more),
    }


def swept(lead, **more):
    """Linear probes at the shared rate that lead those at the methods' own rates."""
    probes = ends((*FIGURE3_PUBLISHED, "frossl"), lambda *_: 60, rates=BOTH, **more)
    return {"probes": probes.assign(top1=probes["top1"] + lead * ~probes["own_rate"])}


def rising(apart, **more):
    """Spectra whose first eigenvalue rises so many steps before the 14th, at the shared rate."""
    methods = (*FIGURE3_PUBLISHED, "frossl")
    rows = [
        {
            **run, "step": step, "index": index,
            "raw": float(step >= 40 + 2 * noise.integers(2) + apart * (index == TOP)),
        }
        for run in runs(methods, BOTH)
        for index in (1, TOP)
        for step in range(0, 101, 2)
    ]  # fmt: skip
    return {"eigenvalues": pd.DataFrame(rows), "probes": ends(methods, lambda *_: 60, rates=BOTH, **more)}


REDUCED = {
    "saturation": [claim for claim in saturation.CLAIMS if claim.artifact.endswith("fig3")],
    "sweep": [claim for claim in saturation.CLAIMS if claim.id.endswith("shared-rate-best")],
    "stepwise": [claim for claim in saturation.CLAIMS if claim.id.endswith("stepwise-nonlinear")],
}
WORLDS = {
    "saturation": (spectra(1), spectra(-1), spectra(1, learned=False)),
    "sweep": (swept(-1.0), swept(-4.0), swept(-1.0, learned=False)),
    "stepwise": (rising(20), rising(-20), rising(20, learned=False)),
}
UNTRAINED = {
    room: Setting(
        {
            name: table.assign(top1=START, top5=START) if "top1" in table else table
            for name, table in holding.items()
        }
    )
    for room, (holding, *_) in WORLDS.items()
}
"""Probes that give what they do at the start, and online ones that do too."""
WHERE = {room: tuple(map(Setting, worlds)) for room, worlds in WORLDS.items()}
"""Where the claims hold, where they do not, and where no net learned: all claims read the same tables."""
EACH = pytest.mark.parametrize(
    ("room", "claim"), [pytest.param(room, c, id=c.id) for room, claims in REDUCED.items() for c in claims]
)


@EACH
def test_it_is_reproduced_where_it_holds(room, claim):
    assert judge(claim, WHERE[room][0]).verdict == "reproduced"


@EACH
def test_it_is_contradicted_where_it_does_not(room, claim):
    assert judge(claim, WHERE[room][1]).verdict == "contradicted"


@EACH
def test_networks_that_did_not_learn_are_no_evidence(room, claim):
    found = judge(claim, WHERE[room][2])
    leaves = found.cells.values() or [found]
    assert found.verdict == "inconclusive"
    assert all("did not learn" in leaf.observation.obstacle for leaf in leaves)


@EACH
def test_untrained_networks_reproduce_nothing(room, claim):
    assert judge(claim, UNTRAINED[room]).verdict != "reproduced"


def test_a_method_that_diverges_at_the_shared_rate_and_learns_at_another_refutes_the_sweep():
    (claim,) = REDUCED["sweep"]
    tables = swept(0.0)
    probes = tables["probes"]
    probes.loc[(probes["method"] == "vicreg") & ~probes["own_rate"], "top1"] = np.nan
    found = judge(claim, tables)
    assert found.verdict == "contradicted"
    assert "holds in 3 of 4 cells; not: VICReg" in found.reason


def test_an_eigenvalue_has_risen_by_half_between_its_start_and_its_end():
    steps = np.arange(0, 101, 10)
    assert half_rise(steps, np.linspace(1.0, 3.0, 11)) == 50.0  # towards 2.9, the mean of the last tenth
    assert half_rise(steps, np.array([1.0] * 3 + [5.0] * 8)) == 30.0
    assert np.isnan(half_rise(steps, np.linspace(3.0, 1.0, 11)))


def test_a_net_that_raw_pixels_beat_is_no_evidence():
    (claim,) = REDUCED["sweep"]
    probes = swept(0.0)["probes"]
    for beaten in PIXELS:
        found = judge(claim, {"probes": probes.assign(**{beaten: 61.0})})
        assert found.verdict == "inconclusive"
        assert all("did not learn" in cell.observation.obstacle for cell in found.cells.values())


def test_an_eigenvalue_that_still_moves_at_the_end_saturates_after_those_that_do_not():
    claim = next(c for c in REDUCED["saturation"] if c.id.endswith("saturation-raw-own-rate"))
    tables = spectra(0)
    for moving, verdict in ((FIGURE3_PUBLISHED, "reproduced"), (("frossl",), "contradicted")):
        eigenvalues = tables["eigenvalues"].copy()
        rising = eigenvalues["method"].isin(moving) & (eigenvalues["index"] == TOP)
        eigenvalues.loc[rising, "raw"] *= 2.0 ** (eigenvalues["step"] / 10)
        assert judge(claim, {**tables, "eigenvalues": eigenvalues}).verdict == verdict
