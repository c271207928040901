"""The claims about linear and online probes: what networks are evidence, and which runs decide."""

import numpy as np
import pandas as pd
import pytest

from reprise.contract.experiment import BASE
from reprise.engine import registry
from reprise.evidence.judgement import judge
from reprise.evidence.verdicts import judge_all
from reprise.papers.skean2024.linear_probes.experiment import Params
from reprise.papers.skean2024.lineup import EARLY, EPOCHS

ROOMS = [f"skean2024/{name}" for name in ("linear_probes", "early_lead", "trade_off", "projector_and_batch")]
CLAIMS = {claim.id: claim for room in ROOMS for claim in registry.experiment(room).claims}


def ideal(room):
    experiment = registry.experiment(f"skean2024/{room}")
    return experiment.ideal(experiment.params())


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("gained", [-1, 10])
def test_networks_that_did_not_learn_are_no_evidence(room, gained):
    """Ten points are enough for a sentence about first epochs."""
    tables = ideal(room.removeprefix("skean2024/"))
    probes = tables["probes"]
    unlearned = {**tables, "probes": probes.assign(start=probes["top1"] - gained)}
    for claim in registry.experiment(room).claims:
        if claim.published is None:
            found = judge(claim, unlearned)
            for name, leaf in (found.cells or {"": found}).items():
                if claim.cells[name].premise is None:
                    assert "did not learn" in leaf.observation.obstacle
                elif gained < 0:
                    assert "above its random initialisation" in leaf.observation.obstacle
                else:
                    assert not leaf.observation.obstacle


@pytest.mark.parametrize(
    ("all_methods", "some"), [("early-lead", "converges-quicker"), ("competitive", "competitive")]
)
def test_methods_that_a_run_leaves_out_decide_one_sentence_and_not_the_other(all_methods, some):
    tables = {table: rows[rows["method"] != "byol"] for table, rows in ideal("linear_probes").items()}
    assert judge(CLAIMS[f"skean2024/sec6.1/{all_methods}"], tables).verdict == "not run"
    assert judge(CLAIMS[f"skean2024/abstract/{some}"], tables).verdict == "reproduced"


@pytest.mark.parametrize(("steps", "verdict"), [(12_300, "contradicted"), (12_301, "reproduced")])
def test_quicker_is_judged_by_all_tests_of_the_probe_in_the_first_30_epochs(steps, verdict):
    tables = ideal("linear_probes")
    online = tables["online"]
    more = online[online["epoch"] == EPOCHS[0]].assign(step=steps)
    more.loc[more["method"] != "frossl", "top1"] += 90
    found = judge(
        CLAIMS["skean2024/abstract/converges-quicker"], {**tables, "online": pd.concat([online, more])}
    )
    assert found.verdict == verdict


def test_a_slower_method_is_searched_for_beside_every_sample_contrastive_one():
    claim = CLAIMS["skean2024/abstract/some-require-more-epochs"]
    tables = ideal("linear_probes")
    found = judge(claim, tables)
    assert found.verdict == "reproduced"
    assert [name for name, cell in found.cells.items() if cell.verdict == "reproduced"] == ["W-MSE 2"]
    left_out = {table: rows[rows["method"] != "mocov2"] for table, rows in tables.items()}
    assert judge(claim, left_out).verdict == "not run"


def test_only_the_method_that_is_said_to_be_better_must_have_learned():
    """So that a loss without logarithms that learns nothing is worse."""
    tables = ideal("linear_probes")
    probes = tables["probes"]
    probes.loc[probes["method"] == "frossl-no-logs", "top1"] = probes["start"]
    assert judge(CLAIMS["skean2024/sec6.3/logs-help-no-logs"], tables).verdict == "reproduced"


def test_a_network_that_diverges_is_last():
    tables = ideal("linear_probes")
    for table in tables.values():
        table.loc[table["method"] == "w-mse-2", "top1"] = np.nan
    assert judge(CLAIMS["skean2024/sec6.1/early-lead"], tables).verdict == "reproduced"
    for table in tables.values():
        table.loc[table["method"] == "frossl", "top1"] = np.nan
    cells = judge(CLAIMS["skean2024/sec6.1/early-lead"], tables).cells
    assert {cells[f"VICReg, epoch {epoch}"].verdict for epoch in EARLY} == {"contradicted"}


@pytest.mark.parametrize(("epochs", "verdict"), [((50,), "reproduced"), (EPOCHS, "contradicted")])
def test_the_best_dimension_contrastive_method_is_ahead_on_average_over_epochs(epochs, verdict):
    tables = ideal("linear_probes")
    online = tables["online"]
    online.loc[(online["method"] == "vicreg") & online["epoch"].isin(epochs), "top1"] += 8.0
    claim = CLAIMS["skean2024/sec6.1/best-dimension-contrastive"]
    assert judge(claim, tables).verdict == verdict


def test_corinfomax_fails_where_it_diverges():
    tables = ideal("linear_probes")
    tables["probes"].loc[tables["probes"]["method"] == "corinfomax", "top1"] = np.nan
    assert judge(CLAIMS["skean2024/sec6.1/corinfomax-fails"], tables).verdict == "reproduced"


EQUAL_WORLDS = 40


def test_looks_at_equal_methods_refute_no_lead():
    """Three seeds and noise of a point: 5 % of verdicts may be wrong, of 40 at most 5."""
    claim = CLAIMS["skean2024/fig4/ahead-for-30-epochs"]
    random = np.random.default_rng(1)
    online, probes = (table.query("seed < 3") for table in ideal("early_lead").values())
    wrong = 0
    for _ in range(EQUAL_WORLDS):
        online = online.assign(top1=random.normal(30, 1, len(online)))
        online["top5"] = online["top1"] + random.normal(0, 0.3, len(online))
        wrong += judge(claim, {"online": online, "probes": probes}).verdict == "contradicted"
    assert wrong <= 5


# The printed numbers, which a run without departures alone decides.

PRINTED = [c for c in registry.experiment("skean2024/linear_probes").claims if c.published is not None]


def as_printed():
    return {name: table.assign(setting=BASE) for name, table in ideal("linear_probes").items()}


def test_a_run_without_departures_alone_judges_the_printed_numbers():
    found = judge_all(PRINTED, [as_printed()], Params())
    assert set(found["verdict"]) == {"reproduced"}
    assert set(found["scale"]) == {"paper"}
    reduced = judge_all(PRINTED, [as_printed()], Params(batch=64))
    assert set(reduced["verdict"]) == {"not run"}
    assert reduced["reason"].str.contains("tier=paper paper=skean2024").all()


def test_a_run_that_leaves_methods_or_data_sets_out_judges_the_numbers_of_the_others():
    """Its rows are those of the whole run; an average over data sets is not decided."""
    kept = {"methods": ("simclr", "frossl"), "data_sets": ("cifar100", "stl10"), "steps": (195_000, 205_000)}
    rest = {
        name: table[table["method"].isin(kept["methods"]) & table["data_set"].isin(kept["data_sets"])]
        for name, table in as_printed().items()
    }
    rest["probes"] = rest["probes"].assign(place=rest["probes"]["data_set"].map(kept["data_sets"].index))
    verdicts = judge_all(PRINTED, [rest], Params(**kept)).set_index("claim")["verdict"]
    assert set(verdicts) == {"reproduced", "not run"}
    columns = {"table2": ("cifar-100", "stl-10"), "table3": [f"epoch{epoch}" for epoch in EPOCHS]}
    decided = {
        f"skean2024/{table}/{method}-{column}"
        for table, names in columns.items()
        for column in names
        for method in kept["methods"]
    }
    assert set(verdicts.index[verdicts == "reproduced"]) == decided
