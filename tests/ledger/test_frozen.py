"""Frozen claims keep their marks, attempts are never lost or made twice, and chance seldom confirms."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from freezing import ID, KEY, NOISE, Params, Toy, World
from scipy import stats
from stating import stated

from reprise.contract.experiment import BASE
from reprise.engine import registry
from reprise.engine.registry import Experiment
from reprise.errors import RepriseError
from reprise.evidence import comparison as m
from reprise.evidence.estimates import ALPHA
from reprise.evidence.judgement import judge
from reprise.evidence.measures import column
from reprise.evidence.verdicts import ONE_WAY, chances_in_attempts, judge_all
from reprise.ledger import confirm, frozen, jobs, judged
from reprise.ledger.frozen import LEDGER, LOCK
from reprise.report import confirmation


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A world with a true claim, one that luck alone made so, one that luck turned round, and an open one."""
    effects = {"solid": 0.5, "lucky": 0.0, "turned": -0.5, "open": 0.05}
    return Toy(tmp_path, monkeypatch, World(effects, {"lucky": 0.5, "turned": 1.0}))


@pytest.fixture
def tried(toy):
    toy.develop()
    toy.confirm()
    return toy


# Verdicts of attempts.


def test_luck_falls_back_and_truth_is_confirmed(tried):
    assert tried.marks() == {
        "solid": "confirmed in attempt 1 of 1",
        "lucky": "fell back in attempt 1 of 1",
        "turned": "reversed in attempt 1 of 1",
    }
    outcomes = confirm.outcomes(tried.root, [each for each, _ in frozen.attempts(tried.root)])
    assert {each.claim: (each.frozen, each.found) for each in outcomes} == {
        f"{KEY}/fig1/solid": ("reproduced", "reproduced"),
        f"{KEY}/fig1/lucky": ("reproduced", "inconclusive"),
        f"{KEY}/fig1/turned": ("reproduced", "contradicted"),
    }


@pytest.mark.parametrize(
    ("before", "found", "word"),
    [
        ("reproduced", ["inconclusive", "reproduced"], "confirmed"),
        ("reproduced", ["inconclusive", "not run"], "fell back"),
        ("reproduced", ["reproduced", "contradicted"], "reversed"),
        ("reproduced", ["tied"], "fell back"),
        ("tied", ["tied"], "confirmed"),
        ("contradicted", ["reproduced"], "reversed"),
        ("inconclusive", ["reproduced"], ""),
    ],
)
def test_a_mark_is_of_all_attempts(before, found, word):
    assert frozen.mark(before, found) == word


def test_a_mark_says_which_attempt_of_how_many(tried):
    tried.world.effects["lucky"] = 0.5
    tried.confirm("again")
    tried.record("never run")
    assert tried.marks()["lucky"] == "confirmed in attempt 2 of 3"
    assert tried.marks()["solid"] == "confirmed in attempt 1 of 3"


def test_marks_are_of_a_tier(tried):
    assert frozen.marks(replace(tried.tier, name="other")) == {}


# The lock.


def test_another_spacing_of_the_lock_draws_no_other_seeds_and_moves_no_mark(tried):
    before = tried.marks()
    lock = tried.root / LOCK
    lock.write_text(json.dumps(json.loads(lock.read_text()), indent=7) + " \n")
    assert tried.marks() == before
    (again,) = tried.confirm()
    assert (again.number, again.first_seed) == (2, frozen.first_seed(ID, 2, ""))


EDITS = {
    "relation": {"relation": "at least"},
    "reference": {"reference": 0.01},
    "measure": {"measure": column("t", "solid")},
    "unit": {"unit": "accuracy (%)"},
    "margin": {"relation": "near", "margin": 0.3},
}


@pytest.mark.parametrize("edit", EDITS)
def test_what_is_edited_loses_its_mark_and_gets_no_new_seeds(tried, edit):
    tried.edit_comparison("lucky", **EDITS[edit])
    assert tried.marks().keys() == {"solid", "turned"}
    assert confirm.begin(tried.root, "again")[0].claims.keys() == {
        f"{KEY}/fig1/solid", f"{KEY}/fig1/turned"
    }  # fmt: skip


@pytest.mark.parametrize("about", [{"quantifier": "universal"}, {"quantifier": "existential"}])
def test_another_quantifier_or_cell_loses_the_mark(tmp_path, monkeypatch, about):
    cells = {name: m.above(column("t", name), 0.0, unit="matching score") for name in ("a", "b")}
    claim = stated(cells, f"{KEY}/fig1/both", quantifier="generic")
    toy = Toy(tmp_path, monkeypatch, World({"a": 0.5, "b": 0.5, "c": 0.5}), [claim])
    toy.develop()
    toy.confirm()
    assert toy.marks() == {"both": "confirmed in attempt 1 of 1"}
    toy.edit("both", cells={"a": cells["a"]})
    assert toy.marks() == {}
    toy.claims = (stated(cells, claim.id, **about),)
    assert toy.marks() == {}


@pytest.mark.parametrize("words", [{"statement": "Otherwise said."}, {"source": "Figure 9"}, {"word": "so"}])
def test_other_words_keep_the_mark(tried, words):
    before = tried.marks()
    tried.edit("lucky", **words)
    assert tried.marks() == before


def test_how_a_measure_is_written_does_not_matter(tried):
    """The function is the same, by another code."""
    before = tried.marks()
    tried.edit_comparison("lucky", measure=lambda tables: tables["t"].set_index("seed")["lucky"])
    assert tried.marks() == before


def test_another_setting_loses_all_marks_and_another_first_seed_none(tried):
    hashes = judged.judged_hashes(tried.experiment.experiment, tried.params)
    later = tried.params.model_copy(update={"first_seed": 70_000})
    assert judged.judged_hashes(tried.experiment.experiment, later) == hashes
    tried.params = tried.params.model_copy(update={"width": 9})
    assert tried.marks() == {}


def test_a_damaged_lock_is_one_line(tried):
    lock = tried.root / LOCK
    for text in ("{", "[]", lock.read_text().replace('"verdict"', '"word"', 1)):
        lock.write_text(text)
        with pytest.raises(RepriseError) as failure:
            frozen.load_lock(tried.root)
        message = str(failure.value)
        assert "\n" not in message
        assert message.startswith(f"{lock}: damaged")
        assert "git checkout HEAD" in message


def test_seeds_that_were_looked_at_stay_known(toy):
    toy.develop()
    toy.compute(toy.experiment.in_round(2))
    assert toy.freeze().experiments[ID].first_seeds == [0, 10_000]


def test_hashes_of_real_claims_are_those_of_another_process():
    ids = ["esser2024/width", "tian2023/image_filters"]
    program = f"""
import json, warnings
from reprise.engine import registry
from reprise.ledger import judged
warnings.simplefilter("ignore")
made = {{}}
for each in map(registry.experiment, {ids}):
    made |= judged.digests(each.claims, each.ideal(each.params()), each.params(), each.coordinates)
print(json.dumps(made))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": "11"}, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    here = {}
    for each in map(registry.experiment, ids):
        here |= judged.digests(each.claims, each.ideal(each.params()), each.params(), each.coordinates)
    assert json.loads(done.stdout) == here
    assert len(set(here.values())) == len(here)


OTHER = {"above": "below", "below": "above", "at least": "at most", "at most": "at least", "near": "above"}


@pytest.mark.parametrize("id", ["ren2023/dimension", "esser2024/limiting_dynamics", "tian2023/image_filters"])
def test_an_edit_of_any_cell_of_a_real_claim_is_seen(id):
    """Some ideal tables have an error of 0, and some references are measured."""
    experiment = registry.experiment(id)

    def hashes(change):
        claims = [
            replace(each, cells={**each.cells, name: change(each.cells[name])})
            for each in experiment.claims
            for name in list(each.cells)[:1]
        ]
        params = experiment.params()
        return judged.digests(claims, experiment.ideal(params), params, experiment.coordinates)

    def larger(measured):
        return (lambda tables: 1.1 * measured(tables)) if callable(measured) else 1.1 * measured + 0.1

    before = hashes(lambda cell: cell)
    for change in (
        lambda cell: replace(cell, relation=OTHER[cell.relation]),
        lambda cell: replace(cell, reference=larger(cell.reference)),
        lambda cell: replace(cell, measure=larger(cell.measure)),
    ):
        after = hashes(change)
        assert [claim for claim in before if before[claim] == after[claim]] == []


# The ledger.


def without(lines, number):
    return [*lines[:number], *lines[number + 1 :]]


def changed(lines, number):
    return [*lines[:number], lines[number].replace('"reproduced"', '"tied"', 1), *lines[number + 1 :]]


def doubled(lines, number):
    return [*lines[: number + 1], *lines[number:]]


@pytest.mark.parametrize("fault", [without, changed, doubled], ids=lambda each: each.__name__)
def test_a_line_taken_out_changed_or_put_in_is_refused(tried, fault):
    tried.confirm("again")
    ledger = tried.root / LEDGER
    lines = ledger.read_text().splitlines()
    assert len(lines) == 4
    for number in range(4):
        ledger.write_text("\n".join(fault(lines, number)) + "\n")
        with pytest.raises(RepriseError, match=r"ledger.jsonl.*git checkout HEAD") as failure:
            tried.marks()
        assert "\n" not in str(failure.value)


def test_a_line_that_chooses_its_seeds_is_refused_even_if_its_digests_fit(toy):
    toy.develop()
    first = toy.record("x")[0]
    chosen = first.model_copy(update={"first_seed": 10_000})
    (toy.root / LEDGER).write_text(chosen.model_dump_json() + "\n")
    with pytest.raises(RepriseError, match=r"line 1: the seeds from 10000 do not follow"):
        frozen.load_ledger(toy.root)


def test_a_ledger_that_a_kill_left_ahead_of_the_lock_is_whole(tried):
    lock = (tried.root / LOCK).read_bytes()
    tried.confirm("again")
    (tried.root / LOCK).write_bytes(lock)
    assert len(frozen.attempts(tried.root)) == 2


def test_levels_are_halved_and_their_sum_is_the_error_rate():
    levels = [frozen.alpha_of(number) for number in range(1, 60)]
    assert levels[:2] == [0.0125, 0.00625]
    assert sum(levels) <= ALPHA


def test_two_phrases_two_numbers_and_two_experiments_have_other_seeds():
    asked = [(ID, 1, ""), (ID, 1, "a"), (ID, 1, "b"), (ID, 2, "a"), ("toy2030/other", 1, "a")]
    drawn = {frozen.first_seed(*each) for each in asked}
    assert len(drawn) == len(asked)
    assert all(first % 10_000 == 0 and first >= 10_000 * frozen.FIRST_BLOCK for first in drawn)


# Interrupted attempts.


def test_one_that_was_killed_before_it_ran_goes_on_with_the_same_seeds(toy, monkeypatch):
    toy.develop()
    with monkeypatch.context() as killed:
        killed.setattr(jobs, "run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            toy.confirm("mine")
    ((begun, found),) = frozen.attempts(toy.root)
    assert found is None
    assert toy.marks() == {}
    (again,) = toy.confirm("mine")
    assert (again.number, again.first_seed) == (begun.number, begun.first_seed)
    assert len(frozen.load_ledger(toy.root)) == 2


def test_one_that_was_killed_before_it_was_concluded_goes_on_likewise(toy, monkeypatch):
    toy.develop()
    with monkeypatch.context() as killed:
        killed.setattr(frozen, "conclude", interrupted)
        with pytest.raises(KeyboardInterrupt):
            toy.confirm()
    assert toy.confirm()[0].number == 1
    assert [found is not None for _, found in frozen.attempts(toy.root)] == [True]


def test_one_that_was_killed_before_it_was_written_is_not_run_again(toy, monkeypatch):
    toy.develop()
    with monkeypatch.context() as killed:
        killed.setattr(confirmation, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            toy.confirm()
    assert toy.confirm()[0].number == 1
    assert toy.runs == 1
    assert len(frozen.load_ledger(toy.root)) == 2
    assert toy.confirm()[0].number == 2


def test_seeds_that_were_looked_at_are_refused(toy):
    """Seeds on which claims were developed count as looked at."""
    toy.params = Params(first_seed=frozen.first_seed(ID, 1, "mine"))
    toy.develop()
    with pytest.raises(RepriseError, match="which this phrase gives, have been looked at; choose another"):
        toy.record("mine")
    assert frozen.attempts(toy.root) == []
    (other,) = toy.record("yours")
    assert other.number == 1


def test_other_code_than_an_attempt_was_recorded_with_does_not_end_it(toy, monkeypatch):
    toy.develop()
    (begun,) = toy.record("mine")
    monkeypatch.setattr(Experiment, "code", lambda experiment, params: "other")
    with pytest.raises(RepriseError, match="recorded with other code, settings or libraries than are here"):
        confirm.run(toy.root, [begun])
    toy.compute(toy.experiment.in_attempt(begun.attempt))
    with pytest.raises(RepriseError, match="recorded with other code"):
        confirm.conclude(toy.experiment.in_attempt(begun.attempt), begun)
    assert [found for _, found in frozen.attempts(toy.root)] == [None]


def test_what_so_few_seeds_cannot_confirm_is_not_tried(toy):
    toy.develop()
    lock = frozen.load_lock(toy.root)
    entry = lock.experiments[ID]
    hopeless = {
        id: claim.model_copy(update={"chances": [0.0, 0.0]}) if id.endswith("solid") else claim
        for id, claim in entry.claims.items()
    }
    changed = lock.model_copy(update={"experiments": {ID: entry.model_copy(update={"claims": hopeless})}})
    (toy.root / LOCK).write_text(changed.model_dump_json())
    (begun,) = toy.record("mine")
    assert f"{KEY}/fig1/solid" not in begun.claims
    assert begun.claims
    reasons = {f"{KEY}/fig1/solid": "so few seeds cannot confirm it at 1.25 %"}
    assert confirm.left_out(toy.root, [begun]) == reasons


def test_nothing_to_confirm_is_one_line(toy):
    with pytest.raises(RepriseError, match="nothing is frozen; freeze claims with: reprise freeze"):
        confirm.begin(toy.root, "")
    toy.claims = toy.claims[-1:]  # the open one
    toy.develop()
    with pytest.raises(RepriseError, match="no claim to confirm"):
        confirm.begin(toy.root, "")
    assert not (toy.root / LEDGER).exists()


def interrupted(*_, **__):
    raise KeyboardInterrupt


# Confirmation by chance.


def draws(truth, seeds, random, first=0):
    values = {name: effect + NOISE * random.normal(size=seeds) for name, effect in truth.items()}
    return {"t": pd.DataFrame({"seed": range(first, first + seeds), "setting": BASE, **values})}


def test_of_false_claims_at_most_a_fortieth_is_ever_confirmed():
    random, attempts, seeds = np.random.default_rng(1), 3, 6
    truth = dict.fromkeys(map(str, range(250)), 0.0)
    claims = {name: stated(m.above(column("t", name), 0.0, unit="")) for name in truth}
    confirmed = set()
    for number in range(1, attempts + 1):
        tables = draws(truth, seeds, random)
        alpha = frozen.alpha_of(number)
        confirmed |= {
            name for name, claim in claims.items()
            if judge(claim, tables, alpha=alpha).verdict == "reproduced"
        }  # fmt: skip
    spent = sum(frozen.alpha_of(number) for number in range(1, attempts + 1))
    assert stats.binomtest(len(confirmed), len(truth), spent).pvalue > 0.001
    assert stats.binom.sf(len(confirmed) - 1, len(truth), ALPHA) > 0.001


def test_as_many_verdicts_change_as_their_chances_say():
    """Worlds of 20 claims are developed on six seeds; what is decided there is judged on six others."""
    random, worlds, seeds = np.random.default_rng(2), 25, 6
    names = list(map(str, range(20)))
    claims = [stated(m.above(column("t", name), 0.0, unit=""), f"{KEY}/fig1/{name}") for name in names]
    inside, moved, predicted, decided = 0, 0, 0.0, 0
    for _ in range(worlds):
        truth = dict(zip(names, 2 * NOISE * random.standard_cauchy(len(names)), strict=True))
        developed_on = draws(truth, seeds, random)
        developed = judge_all(claims, [developed_on], None).set_index("claim")
        fresh = draws(truth, seeds, random)
        frozen_ones = developed[developed["verdict"].isin(ONE_WAY)]
        changes = sum(
            judge(claim, fresh, alpha=frozen.alpha_of(1)).verdict != frozen_ones.loc[claim.id, "verdict"]
            for claim in claims
            if claim.id in frozen_ones.index
        )
        chances = chances_in_attempts(claims, [developed_on], None, [frozen.alpha_of(1)])
        expected, low, high = confirm.changes_expected([chances[id][0] for id in frozen_ones.index])
        inside += low <= changes <= high
        moved, predicted, decided = moved + changes, predicted + expected, decided + len(frozen_ones)
    assert stats.binom.cdf(inside, worlds, 0.95) > 0.001
    assert moved / decided == pytest.approx(predicted / decided, abs=0.03)


def test_what_took_several_rounds_is_less_likely_on_the_seeds_of_one():
    """The chance is of one round's seeds: that of as many as the verdict rests on is larger."""
    random = np.random.default_rng(3)
    claim = stated(m.above(column("t", "a"), 0.0, unit=""), f"{KEY}/fig1/a")
    truth, alpha = {"a": 1.2 * NOISE}, frozen.alpha_of(1)
    chances = []
    for _ in range(60):
        rounds = [draws(truth, 5, random, first) for first in (0, 5, 10)]
        row = judge_all([claim], rounds, None).iloc[0]
        if row["verdict"] == "reproduced" and row["rounds"] > 1:
            chances.append(chances_in_attempts([claim], rounds, None, [alpha])[claim.id][0])
            assert chances[-1] < row["chance_same"]
    fresh = [judge(claim, draws(truth, 5, random), alpha=alpha).verdict == "reproduced" for _ in range(400)]
    assert np.mean(chances) == pytest.approx(np.mean(fresh), abs=0.15)


def test_the_interval_of_changes_is_that_of_the_binomial_distribution():
    for count, chance in ((20, 0.9), (50, 0.99), (3, 1.0)):
        expected, low, high = confirm.changes_expected([chance] * count)
        assert expected == pytest.approx(count * (1 - chance))
        assert (low, high) == tuple(stats.binom.interval(0.95, count, 1 - chance))
