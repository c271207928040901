"""What the paper says of its own numbers; its 106 numbers as claims that wait for a run."""

import pytest

from reprise.engine import registry
from reprise.evidence.comparison import MARGINS
from reprise.evidence.judgement import judge
from reprise.papers.skean2024.lineup import EPOCHS, METHODS, ROWS
from reprise.papers.skean2024.printed import CLAIMS
from reprise.papers.skean2024.published import DATA_SETS, slug

WRONG = {
    "skean2024/text/best-dimension-contrastive-epoch50": -0.4,
    "skean2024/text/substantially-stronger-epoch3": -0.8,
    "skean2024/text/substantially-stronger-epoch30": -1.8,
}
"""The sentences that the numbers contradict, and by how much."""
FLIPPED = {
    "skean2024/table2-printed/best-in-no-column": ("Table 2", "FroSSL", 100.0),
    "skean2024/text/some-converge-slower": ("Table 3", "SwAV", 0.0),
    "skean2024/text/frossl-above-barlow-imagenet": ("Section 6.2 text", "FroSSL", 0.0),
    "skean2024/text/barlow-similar-in-the-end": ("Section 6.2 text", "FroSSL", 90.0),
    "skean2024/text/barlow-catches-up": ("Section 6.2 text", "FroSSL", 90.0),
    "skean2024/table2-printed/averages": ("Table 2", None, None),
}
"""Rows set to another number; of the other sentences, FroSSL's to 0, or to 100 where they are wrong."""


@pytest.fixture
def published():
    return registry.paper("skean2024").printed_numbers()


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_the_papers_sentences_against_its_numbers(published, claim):
    found = judge(claim, {"published": published})
    assert found.verdict == ("contradicted" if claim.id in WRONG else "reproduced")
    if claim.id in WRONG:
        assert found.observed == pytest.approx(WRONG[claim.id])


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_counter_case(published, claim):
    artifact, method, value = FLIPPED.get(claim.id, (None, "FroSSL", 100.0 if claim.id in WRONG else 0.0))
    if method is None:
        changed = published["column"] == "Average"
        value = published.loc[changed, "value"] + 0.1
    else:
        changed = published["row"] == method
    if artifact:
        changed &= published["artifact"] == artifact
    other = published.assign(value=published["value"].mask(changed, value))
    assert judge(claim, {"published": other}).verdict == (
        "reproduced" if claim.id in WRONG else "contradicted"
    )


def test_a_sentence_reads_its_own_table_alone(published):
    by_id = {claim.id: claim for claim in CLAIMS}
    claim = by_id["skean2024/text/best-dimension-contrastive-epoch50"]
    table = published[published["artifact"] == "Table 3"]
    for columns in (["epoch 50"], ["epoch 50", "epoch 3"]):
        rows = table[table["column"].isin(columns)]
        assert judge(claim, {"published": rows}) == judge(claim, {"published": published})


NEED = [claim for claim, _ in registry.paper("skean2024").claims.values() if claim.needs]
"""The claims that a run without departures alone decides."""
NUMBERS = [claim for claim in NEED if claim.published is not None]


def test_what_needs_a_run_without_departures_besides_the_numbers():
    assert [claim.id for claim in NEED if claim not in NUMBERS] == ["skean2024/sec6.1/corinfomax-fails"]


def test_every_printed_number_is_a_claim(published):
    assert sorted(claim.published for claim in NUMBERS) == sorted(published["value"])
    assert len(NUMBERS) == 106
    assert {claim.first.margin for claim in NUMBERS} == {MARGINS["accuracy"]}


def test_their_ids():
    methods = [slug(METHODS[key].name) for key in ROWS]
    assert {"mocov2", "barlow-twins", "w-mse-2", "frossl-no-logs"} <= set(methods)
    columns = [slug(name) for name in (*DATA_SETS, "Average")]
    expected = {f"skean2024/table2/{method}-{column}" for method in methods for column in columns}
    expected -= {"skean2024/table2/corinfomax-stl-10", "skean2024/table2/corinfomax-average"}
    expected |= {
        f"skean2024/table3/{method}-epoch{epoch}"
        for method in methods
        if method != "corinfomax"
        for epoch in EPOCHS
    }
    expected |= {f"skean2024/fig4/{name}-top{k}" for name in ("frossl", "barlow-twins") for k in (1, 5)}
    assert {claim.id for claim in NUMBERS} == expected | {"skean2024/fig4/lead-after-epoch1"}
