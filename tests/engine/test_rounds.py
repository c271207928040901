"""Further rounds of seeds stand beside the first: each its own computation, joined where claims are
judged."""

import pandas as pd
import pytest

from reprise.cli import main
from reprise.engine import cache, registry, run, tiers
from reprise.engine.check import Verdicts
from reprise.engine.configured import STRIDE, Attempt
from reprise.errors import RepriseError
from reprise.evidence.rounds import LEVELS, join
from reprise.ledger import bundling, recorded
from reprise.report import sealed

ID = "jing2022/augmentation_threshold"
WITHOUT_CHANCE = "ren2023/dimension"


@pytest.fixture
def first(checkout):
    return tiers.load_tier("smoke").experiment(ID)


@pytest.fixture
def two(first):
    """The first round and a second one, with results."""
    second = first.in_round(2)
    for each in (first, second):
        run.run(each)
    return first, second


def test_a_round_has_seeds_a_folder_and_a_command_of_its_own(first):
    rounds = [first.in_round(number) for number in range(1, len(LEVELS) + 1)]
    assert rounds[0].params == first.params
    assert [each.params.first_seed for each in rounds] == [STRIDE * k for k in range(len(LEVELS))]
    assert [each.name for each in rounds[:2]] == [ID, f"{ID}/round-2"]
    assert rounds[1].folder == first.folder / "round-2"
    assert rounds[1].how_to_make == f"reprise run {ID} --round 2 --tier smoke"
    assert len({each.key() for each in rounds}) == len(rounds)
    assert len({cache.run_of(each) for each in rounds}) == len(rounds)
    changed = {name for name, value in rounds[1].params if value != getattr(first.params, name)}
    assert changed == {"first_seed"}


def test_an_attempt_takes_the_place_of_a_round(first):
    attempt = first.in_round(2).in_attempt(Attempt(3, 123 * STRIDE))
    assert (attempt.name, attempt.params.first_seed) == (f"{ID}/attempt-3", 123 * STRIDE)
    assert attempt.how_to_make == f"reprise run {ID} --attempt 3 --tier smoke"


def test_seeds_of_rounds_never_meet():
    for tier in ("default", "paper"):
        for each in tiers.load_tier(tier).experiments().values():
            counts = [getattr(each.params, name, 0) for name in ("seeds", "points")]
            assert max(count for count in counts if isinstance(count, int)) < STRIDE, each.id


@pytest.mark.parametrize("number", [0, len(LEVELS) + 1])
def test_there_are_so_many_rounds(first, number, capsys):
    assert main(["run", ID, "--tier", "smoke", "--round", str(number)]) == 2
    assert f"{ID}: no round {number}; there are 1 to {len(LEVELS)}" in capsys.readouterr().err
    assert not first.folder.exists()


def test_where_chance_has_no_part_there_are_no_rounds(checkout, capsys):
    each = tiers.load_tier("smoke").experiment(WITHOUT_CHANCE)
    assert each.rounds() == [each]
    assert main(["run", WITHOUT_CHANCE, "--tier", "smoke", "--round", "2"]) == 2
    assert "chance has no part in it, so that a further round would give the same" in capsys.readouterr().err
    with pytest.raises(RepriseError, match="an attempt would give the same numbers"):
        each.in_attempt(Attempt(1, STRIDE))


def test_an_attempt_that_nobody_recorded_does_not_run(first, capsys):
    assert main(["run", ID, "--tier", "smoke", "--attempt", "1"]) == 2
    assert "has: none; reprise confirm records one" in capsys.readouterr().err
    assert not first.folder.exists()


def test_no_round_makes_another_stale_or_changes_it(two):
    first, second = two
    before = [each.tables() for each in two]
    run.run(first)
    run.run(second)
    for each, tables in zip(two, before, strict=True):
        assert not each.staleness()
        for name, table in each.tables().items():
            pd.testing.assert_frame_equal(table, tables[name])
    assert first.rounds() == [first, second]


def test_claims_are_judged_on_the_seeds_of_all_rounds(two):
    first, _ = two
    tier, paper = first.tier, registry.paper("jing2022")
    verdicts = Verdicts(paper, tier)
    verdicts.save(verdicts.judged(), verdicts.evidence())
    own = [claim.id for claim in registry.experiment(ID).claims]
    rows = verdicts.table().set_index("claim").loc[own]
    again = rows[rows["rounds"] == 2]
    assert len(again)
    assert (again["alpha"] == LEVELS[1]).all()
    assert set(rows.loc[rows["rounds"] == 1, "verdict"]) <= {"reproduced", "contradicted", "tied", "depends"}
    joined = join([each.tables() for each in two])
    seeds = {name: set(table["seed"]) for name, table in joined.items() if "seed" in table}
    assert all({0, STRIDE} <= each for each in seeds.values())
    assert (again["seeds"] == 2 * first.params.seeds).any()


def test_verdicts_and_the_report_know_of_a_round(first):
    run.run(first)
    verdicts = Verdicts(registry.paper("jing2022"), first.tier)
    verdicts.save(verdicts.judged(), verdicts.evidence())
    shown = sealed.shown(first.tier)
    assert verdicts.is_checked()
    run.run(first.in_round(2))
    assert not verdicts.is_checked()
    assert set(sealed.shown(first.tier)["results"]) - set(shown["results"]) == {f"{ID}/round-2"}


def test_a_bundle_holds_all_rounds(two, tmp_path):
    first, _ = two
    file, names = bundling.bundle(["jing2022"], first.tier, tmp_path / "bundle.zip")
    assert names == [ID, f"{ID}/round-2"]
    tier, _ = bundling.merge(file, first.tier.root)
    assert [each.name for each in tier.experiment(ID).rounds()] == names
    here, there = Verdicts(registry.paper("jing2022"), first.tier).judged(), recorded.verdicts(tier)
    expected = here[here["claim"].isin(there["claim"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(there, expected)
