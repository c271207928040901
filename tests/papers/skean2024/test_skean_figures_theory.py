"""Table 1 and the figures of the loss itself, drawn from smoke tables, show the numbers of their tables."""

from reading import assert_mean, drawn, labels, series, where

from reprise.engine import registry
from reprise.papers.skean2024.theory.figures import METHODS, READINGS, TERMS
from reprise.papers.skean2024.theory.readings import COMPARED
from reprise.plotting.style import styled


def test_table_1(smoke):
    artifact = registry.artifact("skean2024/table1")
    assert artifact.kind == "table"
    tables, params = smoke[artifact.experiment]
    with styled():
        made = artifact.draw(tables, params).set_index("method")
    assert len(made) == len(METHODS)
    invariant = made["rotation-invariant"] == "yes"
    assert set(made.index[invariant]) == {"CorInfoMax", "FroSSL, Eq. 6 without normalisation"}
    assert set(made.loc[invariant, "change under rotation"]) == {"0"}
    rows = where(tables["identities"], identity="table1/rotation-vicreg", setting="published")
    assert len(rows) == params.points
    assert made.loc["VICReg", "change under rotation"] == f"{rows['relative_error'].median():.2g}"


def test_the_readings(smoke):
    (left, right), base, _ = drawn("skean2024/appA_readings", smoke)
    assert set(READINGS) == set(COMPARED)
    table = base["gradients"]
    table = table.assign(ratio=table["invariance"] / table["variance"], apart=1 - table["correlation"])
    for reading, label in READINGS.items():
        assert_mean(left, label, where(table, reading=reading, correlation=0.5), "decay", "ratio")
        assert_mean(right, label, where(table, reading=reading, decay=1.0), "apart", "ratio")


def test_the_cost(smoke):
    (left, right), base, params = drawn("skean2024/sec43_cost", smoke)
    assert labels(left) == labels(right) == [*TERMS.values(), "d = batch size"]
    for term, label in TERMS.items():
        assert_mean(right, label, where(base["cost_seconds"], term=term), "dim", "seconds")
        counted = where(base["operations"], term=term, samples=params.batch)
        dims, operations = series(left)[label]
        assert dims.tolist() == list(params.timed_dims)
        assert operations.tolist() == counted["operations"].tolist()
