"""What the registry refuses in a folder of experiments."""

import pytest

from reprise.contract.experiment import figure
from reprise.engine import registry
from reprise.errors import RepriseError
from reprise.evidence.claims import value


def test_a_figure_that_reads_an_unknown_table_is_told_the_nearest(monkeypatch):
    drawn = [{"name": "fig01", "number": "Figure 1", "kind": "figure", "caption": "", "reads": ["matchin"]}]
    monkeypatch.setattr(registry, "_drawn", lambda module: drawn)
    with pytest.raises(RepriseError, match=r"new2030/fig01.*'matchin'; did you mean 'matching'\?"):
        registry._artifacts("new2030/toy", "new2030.toy", ("matching", "filters"))


def test_one_table_is_a_tuple_of_one():
    with pytest.raises(RepriseError, match=r"fig01: reads='matching' is no tuple; write \('matching',\)"):

        @figure("Figure 1", reads=("matching"), caption="New.")
        def fig01(tables, params): ...


def test_an_unknown_quantity_is_told_the_nearest_with_the_claim():
    with pytest.raises(RepriseError, match=r"new2030/fig1/rises.*'scor'; did you mean 'score'\?"):
        value(
            "new2030/fig1/rises",
            "It rises.",
            source="",
            quantity="scor",
            measure=None,
            published=0.0,
            unit="",
        )
