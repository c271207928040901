"""Every claim of an experiment with `ideal` tables can come out both ways, in each tier that judges it."""

import importlib

import numpy as np
import pytest

from reprise.engine import registry, tiers
from reprise.evidence.comparison import IDENTITY_TOLERANCE
from reprise.evidence.formula import Formula
from reprise.evidence.judgement import check_refuted, check_reproduced
from reprise.evidence.measures import Setting

POINT = 20261128
"""The stream of the points at which decoys are tried."""
WITH_IDEAL = [id for id, experiment in registry.experiments().items() if experiment.has_ideal]


@pytest.mark.parametrize("tier", ["default", "paper"])
@pytest.mark.parametrize("id", WITH_IDEAL)
def test_every_claim_holds_in_an_ideal_world_and_is_refuted_in_another(id, tier):
    experiment = registry.experiment(id)
    params = tiers.load_tier(tier).experiment(id).params
    tables = Setting(experiment.ideal(params))
    for claim in experiment.claims:
        check_reproduced(claim, tables)
        check_refuted(claim, tables)


@pytest.mark.parametrize("id", WITH_IDEAL)
def test_the_order_of_rows_does_not_matter(id):
    experiment = registry.experiment(id)
    tables = experiment.ideal(experiment.params())
    turned = Setting({name: table.iloc[::-1].reset_index(drop=True) for name, table in tables.items()})
    for claim in experiment.claims:
        check_reproduced(claim, turned)


def formulas_of(id):
    """The formulas beside their checks, which the module of an experiment's claims names."""
    module = importlib.import_module(f"{registry.experiment(id).module}.claims")
    several = [value for value in vars(module).values() if isinstance(value, tuple)]
    return {each.name: each for value in several for each in value if isinstance(each, Formula)}


@pytest.mark.parametrize(
    ("id", "name"),
    [(id, name) for id in WITH_IDEAL for name, each in formulas_of(id).items() if not each.misprint],
)
def test_the_check_of_a_right_formula_refuses_a_decoy(id, name):
    formula, largest = formulas_of(id)[name], registry.experiment(id).params().largest
    streams = [np.random.default_rng([POINT, seed]) for seed in range(20)]
    errors = [formula.all_errors(formula.tried_at(stream, largest)) for stream in streams]
    refused = [each.decoy > 1e3 * IDENTITY_TOLERANCE for each in errors]
    assert sum(refused) >= (5 if formula.is_bound else 18)
    assert all(each.printed <= IDENTITY_TOLERANCE for each in errors)
