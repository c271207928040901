"""Section 3.1's grid search: what is trained, what the figure shows."""

import pytest
from reading import assert_mean, drawn, labels, where

from reprise.contract.settings import departures
from reprise.papers.skean2024 import lineup, nets
from reprise.papers.skean2024.trade_off.experiment import OTHERS, Params
from reprise.training.objective import FroSSL


def test_one_weight_is_frossl_itself_and_others_say_so():
    assert lineup.method(lineup.weighted("frossl", 1.0)) == lineup.METHODS["frossl"]
    params = Params(data_set="shapes")
    of = {
        weight: nets.net(params, nets.Budget(10), lineup.weighted("frossl", weight), "shapes", 0).spec
        for weight in params.weights
    }
    assert {weight: spec.objective for weight, spec in of.items()} == {
        weight: FroSSL(invariance_weight=weight) for weight in (1.0, *OTHERS)
    }
    assert len({spec.model_dump_json(exclude={"objective"}) for spec in of.values()}) == 1


@pytest.mark.parametrize("weights", [(1.0, 4.0), (0.0625, 0.25, 1.0, 16.0, 4.0)])
def test_weights_at_which_claims_read_must_be_there(weights):
    with pytest.raises(ValueError, match="weights must"):
        Params(weights=weights)


def test_the_search_alone_has_other_weights():
    with pytest.raises(ValueError, match="invariance_weight must be 1"):
        Params(objectives=lineup.Objectives(frossl=FroSSL(invariance_weight=4.0)))


def test_more_weights_are_no_departure():
    assert departures(Params(weights=(0.01, *Params().weights))) == []


def test_the_figure(smoke):
    (panel,), base, params = drawn("skean2024/sec31_tradeoff", smoke)
    pilots = [f"pilot at rate {rate:g}" for rate in params.learning_rates]
    assert labels(panel) == [*pilots, "own rate", "random initialisation", "raw pixels"]
    probes = base["probes"]
    assert len(probes) == len(params.weights) * params.seeds
    assert_mean(panel, "own rate", probes, "weight", "top1", log=False)
    for rate, label in zip(params.learning_rates, pilots, strict=True):
        pilot = where(base["pilots"], learning_rate=rate).sort_values("weight")
        (line,) = (line for line in panel.lines if line.get_label() == label)
        assert line.get_xydata().tolist() == pilot[["weight", "held_out"]].to_numpy().tolist()
