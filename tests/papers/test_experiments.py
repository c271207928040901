"""What every experiment keeps to: its settings have origins, it computes the tables that it declares, and its
claims read columns that there are."""

import pytest

from reprise.contract.experiment import BASE
from reprise.contract.settings import origin
from reprise.engine import registry
from reprise.evidence.judgement import judge
from reprise.evidence.verdicts import split

EACH = pytest.mark.parametrize("id", registry.experiments())


@EACH
def test_every_setting_says_where_its_value_comes_from(id):
    for name, field in registry.experiment(id).params.model_fields.items():
        try:
            origin(field)
        except TypeError as error:
            pytest.fail(f"{id}: {name}: {error}")


@EACH
def test_the_tables_that_are_computed_are_those_that_are_declared(id, smoke):
    tables, _ = smoke[id]
    assert set(tables) == set(registry.experiment(id).tables), (
        f"{id}: compute returns other tables than TABLES"
    )


@EACH
def test_every_claim_can_be_judged_by_the_tables(id, smoke):
    (tables,) = split(smoke[id][0], [BASE]).values()
    for claim in registry.experiment(id).claims:
        try:
            judge(claim, tables)
        except Exception as error:
            pytest.fail(f"{claim.id} cannot be judged: {type(error).__name__}: {error}")
