"""Every claim of the image experiments on tables made so that it holds, and so that it does not."""

import numpy as np
import pandas as pd
import pytest

from reprise.contract.experiment import BASE
from reprise.evidence.judgement import judge
from reprise.evidence.measures import Setting
from reprise.evidence.verdicts import judge_all
from reprise.papers.skean2024.early_lead import claims as early_lead
from reprise.papers.skean2024.early_lead.experiment import PAIR
from reprise.papers.skean2024.eigenvalue_saturation import claims as saturation
from reprise.papers.skean2024.eigenvalue_saturation.experiment import SHARED_RATE
from reprise.papers.skean2024.eigenvalue_saturation.measures import TOP, half_rise
from reprise.papers.skean2024.linear_probes import claims as linear_probes
from reprise.papers.skean2024.linear_probes.experiment import Params
from reprise.papers.skean2024.lineup import EPOCHS, FIGURE3_PUBLISHED, METHODS
from reprise.papers.skean2024.projector_and_batch import claims as projector_and_batch
from reprise.papers.skean2024.published import rows_of, slug

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


def probing(lead, **more):
    """Tables 2 and 3 in which FroSSL is `lead` points above all others."""
    sets = ("shapes", "shapes-80")
    probes = ends(METHODS, lambda method, name: 60 + lead * (method == "frossl"), data_sets=sets, **more)
    online = [
        {
            **run, "data_set": "shapes", "epoch": epoch,
            "top1": 40 + jitter() + lead * (run["method"] == "frossl"),
        }
        for run in runs(METHODS)
        for epoch in EPOCHS
    ]  # fmt: skip
    return {"probes": probes, "online": pd.DataFrame(online)}


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


def racing(early, late, **more):
    """Figure 4 in which FroSSL leads by `early` points for 30 epochs and by `late` in the end."""
    online = []
    for run in runs(PAIR):
        for epoch in range(10, 101, 10):
            lead = (early if epoch <= 30 else late) * (run["method"] == "frossl")
            value = 30 + lead + jitter()
            online.append(
                {**run, "data_set": "shapes", "epoch": epoch, "top1": value, "top5": value + jitter()}
            )
    probes = ends(PAIR, lambda method, _: 60 + late * (method == "frossl"), **more)
    return {"online": pd.DataFrame(online), "probes": probes}


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


def batches(lead, *, learned=True):
    """Appendix C in which the smallest batch is `lead` points above the largest, of one dimension."""
    sizes = [(batch, 256) for batch in (32, 64, 128)] + [(64, dim) for dim in (64, 1024)]
    rows = [
        {
            "batch": batch, "dim": dim, "seed": seed, **PIXELS,
            "top1": value, "start": START if learned else value - 10,
        }
        for batch, dim in sizes
        for seed in SEEDS
        for value in [60 + lead * (batch == 32) + jitter()]
    ]  # fmt: skip
    return {"probes": pd.DataFrame(rows)}


REDUCED = {
    "linear_probes": [claim for claim in linear_probes.CLAIMS if not claim.needs],
    "saturation": [claim for claim in saturation.CLAIMS if claim.artifact.endswith("fig3")],
    "sweep": [claim for claim in saturation.CLAIMS if claim.id.endswith("shared-rate-best")],
    "stepwise": [claim for claim in saturation.CLAIMS if claim.id.endswith("stepwise-nonlinear")],
    "early_lead": [claim for claim in early_lead.CLAIMS if not claim.needs],
    "projector_and_batch": projector_and_batch.CLAIMS,
}
WORLDS = {
    "linear_probes": (probing(3.0), probing(-3.0), probing(3.0, learned=False)),
    "saturation": (spectra(1), spectra(-1), spectra(1, learned=False)),
    "sweep": (swept(-1.0), swept(-4.0), swept(-1.0, learned=False)),
    "stepwise": (rising(20), rising(-20), rising(20, learned=False)),
    "early_lead": (racing(8.0, 0.5), racing(-8.0, 5.0), racing(8.0, 0.5, learned=False)),
    "projector_and_batch": (batches(0.0), batches(-4.0), batches(0.0, learned=False)),
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


def test_one_look_at_which_frossl_is_behind_ends_its_lead():
    claim = next(c for c in REDUCED["linear_probes"] if c.id.endswith("early-lead"))
    for epoch, verdict in ((30, "contradicted"), (50, "reproduced")):
        tables = probing(3.0)
        online = tables["online"]
        behind = (online["method"] == "byol") & (online["epoch"] == epoch)
        online.loc[behind, "top1"] += 10
        found = judge(claim, tables)
        assert found.verdict == verdict
        assert ("not: BYOL, epoch 30" in found.reason) == (epoch == 30)


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


def test_one_method_more_than_two_points_ahead_is_not_competed_with():
    claim = next(c for c in REDUCED["linear_probes"] if c.id.endswith("competitive"))
    for lead, verdict in ((3.0, "contradicted"), (1.0, "reproduced")):
        tables = probing(0.0)
        probes = tables["probes"]
        ahead = (probes["method"] == "byol") & (probes["place"] == 1)
        probes.loc[ahead, "top1"] += lead
        found = judge(claim, tables)
        assert found.verdict == verdict
        assert ("not: BYOL, many classes" in found.reason) == (verdict == "contradicted")


EQUAL_WORLDS = 40


def test_looks_at_equal_methods_refute_no_lead():
    """Three seeds and noise of a point: 5 % of verdicts may be wrong, of 40 at most 5."""
    claim = next(c for c in REDUCED["early_lead"] if c.id.endswith("ahead-for-30-epochs"))
    random = np.random.default_rng(1)
    online, probes = (table.query("seed < 3") for table in racing(0.0, 0.0).values())
    wrong = 0
    for _ in range(EQUAL_WORLDS):
        online = online.assign(top1=random.normal(30, 1, len(online)))
        online["top5"] = online["top1"] + random.normal(0, 0.3, len(online))
        wrong += judge(claim, {"online": online, "probes": probes}).verdict == "contradicted"
    assert wrong <= 5


def test_corinfomax_on_stl10():
    """It fails if it diverges or stays where it started, and not if it learns; FroSSL must have learned."""
    claim = next(c for c in linear_probes.CLAIMS if c.id.endswith("corinfomax-fails"))
    methods = ("frossl", "corinfomax")
    for top1, verdict in ((START + 1, "reproduced"), (np.nan, "reproduced"), (60.0, "contradicted")):
        probes = ends(methods, lambda *_: 60.0, data_sets=("stl10",))
        probes.loc[probes["method"] == "corinfomax", "top1"] = top1
        assert judge(claim, {"probes": probes}).verdict == verdict
    probes = ends(methods, lambda *_: START, data_sets=("stl10",))
    assert "did not learn" in judge(claim, {"probes": probes}).reason


def test_a_divergence_decides_nothing():
    tables = probing(3.0)
    probes, online = tables["probes"], tables["online"]
    probes.loc[probes["method"] == "w-mse-2", "top1"] = np.nan
    online.loc[online["method"] == "w-mse-2", "top1"] = np.nan
    claim = next(c for c in REDUCED["linear_probes"] if c.id.endswith("early-lead"))
    cells = judge(claim, tables).cells
    assert {cells[f"W-MSE 2, epoch {epoch}"].verdict for epoch in EPOCHS[:3]} == {"inconclusive"}
    assert {cells[f"VICReg, epoch {epoch}"].verdict for epoch in EPOCHS[:3]} == {"reproduced"}


# The printed numbers, which a run without departures alone decides.


def published_tables(shift):
    numbers = {
        (row["artifact"], slug(row["row"]), row["column"]): row["value"] + shift
        for artifact in ("Table 2", "Table 3")
        for row in rows_of(artifact)
    }
    probes, online = [], []
    for (artifact, method, column), value in numbers.items():
        for seed in SEEDS:
            row = {
                "method": method,
                "seed": seed,
                "top1": value + 0.02 * (seed - 2.5),
                "start": 20.0,
                **PIXELS,
            }
            if artifact == "Table 3":
                online.append({**row, "data_set": "stl10", "epoch": int(column.split()[1])})
            elif column != "Average":
                place = ("CIFAR-10", "CIFAR-100", "STL-10").index(column)
                name = ("cifar10", "cifar100", "stl10")[place]
                probes.append({**row, "data_set": name, "place": place})
    return {
        "probes": pd.DataFrame(probes).assign(setting=BASE),
        "online": pd.DataFrame(online).assign(setting=BASE),
    }


PRINTED = [claim for claim in linear_probes.CLAIMS if claim.published is not None]


def test_a_run_without_departures_judges_the_printed_numbers():
    published = Params()
    for shift, verdict in ((0.0, "reproduced"), (4.0, "contradicted")):
        found = judge_all(PRINTED, published_tables(shift), published)
        assert set(found["verdict"]) == {verdict}, found[found["verdict"] != verdict]["claim"].tolist()
        assert set(found["scale"]) == {"paper"}


def test_a_reduced_run_does_not():
    found = judge_all(PRINTED, published_tables(0.0), Params(batch=64))
    assert set(found["verdict"]) == {"not run"}
    assert found["reason"].str.contains("tier=paper paper=skean2024").all()


def test_a_run_that_leaves_methods_or_data_sets_out_judges_the_numbers_of_the_others():
    """Its rows are those of the whole run; an average over data sets is not decided."""
    kept = {"methods": ("simclr", "frossl"), "data_sets": ("cifar100", "stl10"), "steps": (195_000, 205_000)}
    rest = {
        name: table[table["method"].isin(kept["methods"])] for name, table in published_tables(0.0).items()
    }
    probes = rest["probes"]
    probes = probes[probes["data_set"].isin(kept["data_sets"])]
    rest["probes"] = probes.assign(place=probes["data_set"].map(kept["data_sets"].index))
    verdicts = judge_all(PRINTED, rest, Params(**kept)).set_index("claim")["verdict"]
    assert set(verdicts) == {"reproduced", "not run"}
    columns = {"table2": ("cifar-100", "stl-10"), "table3": [f"epoch{epoch}" for epoch in EPOCHS]}
    decided = {
        f"skean2024/{table}/{method}-{column}"
        for table, names in columns.items()
        for column in names
        for method in kept["methods"]
    }
    assert set(verdicts.index[verdicts == "reproduced"]) == decided


def test_figure_4s_printed_numbers():
    final, lead = early_lead.CLAIMS[-2], early_lead.CLAIMS[-1]
    assert (final.published, lead.published) == (77.5, 12.2)
    tables = racing(12.2, 0.5)
    assert judge(lead, tables).verdict == "reproduced"
    assert judge(lead, racing(6.0, 0.5)).verdict == "contradicted"
    probes = tables["probes"].assign(top5=77.0)
    assert judge(final, {**tables, "probes": probes}).verdict == "reproduced"
    assert judge(final, {**tables, "probes": probes.assign(top5=70.0)}).verdict == "contradicted"
