"""Section 3.1's grid search: what is trained, what the claims read, what the figure shows."""

import itertools

import pandas as pd
import pytest
from reading import assert_mean, drawn, labels, where

from reprise.errors import RepriseError
from reprise.evidence.judgement import judge
from reprise.objectives import frossl
from reprise.papers.skean2024 import lineup, nets
from reprise.papers.skean2024.trade_off.claims import CLAIMS
from reprise.papers.skean2024.trade_off.params import OTHERS, Params
from reprise.study.settings import departures
from reprise.training.methods import build


def probes(best, *, spread=0.1, start=20.0):
    """Linear probes that lose five points a factor of four away from the best weight; at the smaller learning
    rate all are worse on the test images, and better only there."""
    rows = [
        {
            "data_set": "shapes", "method": lineup.weighted("frossl", weight), "weight": weight,
            "learning_rate": rate, "seed": seed, "start": start,
            "top1": 70 - 5 * abs(steps - best) + spread * seed - (30 if rate < 0.1 else 0),
            "validation": 90 if rate >= 0.1 else 50,
        }
        for (steps, weight), rate, seed in itertools.product(
            enumerate(Params().weights), (0.01, 0.1), range(3)
        )
    ]  # fmt: skip
    return {"probes": pd.DataFrame(rows)}


EQUAL = 1
"""Its place among the weights."""


def test_verdicts_follow_the_numbers():
    (claim,) = CLAIMS
    assert judge(claim, probes(EQUAL)).verdict == "reproduced"
    for place, weight in enumerate(OTHERS):
        found = judge(claim, probes(place if place < EQUAL else place + 1))
        assert found.verdict == "contradicted"
        assert found.cells[f"weight {weight:g}"].verdict == "contradicted"
    unlearned = judge(claim, probes(EQUAL, start=60.0)).cells.values()
    assert all("did not learn" in cell.observation.obstacle for cell in unlearned)


def test_a_weight_is_read_at_its_best_rate():
    (claim,) = CLAIMS
    tables = probes(EQUAL)
    assert judge(claim, tables).observed == pytest.approx(70.1)
    assert judge(claim, {"probes": tables["probes"].assign(validation=1.0)}).observed == pytest.approx(40.1)


def test_one_weight_is_frossl_itself_and_others_say_so():
    assert lineup.method(lineup.weighted("frossl", 1.0)) == lineup.METHODS["frossl"]
    params = Params(data_set="shapes")
    of = {
        weight: nets.spec(
            params,
            nets.grid(params, [lineup.weighted("frossl", weight)], [0.1], "shapes")[0],
            nets.Plan(10),
        )
        for weight in params.weights
    }
    assert of[1.0].hyperparameters == {}
    assert {weight: spec.hyperparameters for weight, spec in of.items() if weight != 1} == {
        weight: {"invariance_weight": weight} for weight in OTHERS
    }
    assert (
        len({spec.model_copy(update={"hyperparameters": {}}).model_dump_json() for spec in of.values()}) == 1
    )


def test_the_loss_takes_the_weight_and_no_other_name():
    assert build("frossl", None, 1, {"invariance_weight": 4.0}).embedding_loss.func is frossl
    with pytest.raises(RepriseError, match="unknown hyperparameter"):
        build("frossl", None, 1, {"weight": 4.0})


@pytest.mark.parametrize("weights", [(1.0, 4.0), (0.0625, 0.25, 1.0, 16.0, 4.0)])
def test_weights_at_which_claims_read_must_be_there(weights):
    with pytest.raises(ValueError, match="weights must"):
        Params(weights=weights)


def test_more_weights_are_no_departure():
    assert departures(Params(weights=(0.01, *Params().weights))) == []


def test_the_figure(smoke):
    (panel,), base, params = drawn("skean2024/sec31_tradeoff", smoke)
    (rate,) = params.learning_rates
    means = [f"learning rate {rate:g}", "best rate of each"]
    assert labels(panel) == [*means, "random initialisation"]
    rows = where(base["probes"], learning_rate=rate)
    assert len(rows) == len(params.weights) * params.seeds
    for label in means:
        assert_mean(panel, label, rows, "weight", "top1", log=False)
