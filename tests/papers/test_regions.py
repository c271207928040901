"""What the papers leave open is varied, or the code says why not."""

from itertools import combinations

import pytest

from reprise.contract.settings import open_fields
from reprise.engine import registry
from reprise.engine.tiers import load_tier

DECIDING = [id for id, experiment in registry.experiments().items() if experiment.claims]


@pytest.fixture(scope="module")
def tier():
    return load_tier("default")


@pytest.mark.parametrize("id", DECIDING)
def test_every_open_field_is_varied_or_excused(id, tier):
    experiment, params = registry.experiments()[id], tier.params[id]
    varied = set().union(*experiment.varied(params).values())
    excused = set(experiment.excused) - {"together"}
    assert set(open_fields(params)) - varied <= excused
    assert not varied & excused, "a field that is varied needs no excuse"


@pytest.mark.parametrize("id", DECIDING)
def test_every_two_varied_fields_are_varied_together_or_excused(id, tier):
    experiment, params = registry.experiments()[id], tier.params[id]
    changes = experiment.varied(params).values()
    varied = sorted(set().union(*changes))
    apart = [pair for pair in combinations(varied, 2) if not any(set(pair) <= change for change in changes)]
    assert bool(apart) == ("together" in experiment.excused), apart


@pytest.mark.parametrize("id", DECIDING)
def test_an_excuse_is_a_sentence_about_a_field(id, tier):
    experiment = registry.experiments()[id]
    published = open_fields(experiment.params())  # a tier's optimiser may lack fields of the published one
    assert set(experiment.excused) <= {*open_fields(tier.params[id]), *published, "together"}
    assert all(len(why.split()) >= 3 for why in experiment.excused.values())
