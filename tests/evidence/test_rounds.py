"""Rounds of seeds: how they are joined, and how often the looks at them err."""

import math

import numpy as np
import pandas as pd
import pytest
from stating import stated
from worlds import IN_ROUNDS, in_rounds, reproduced_by

from reprise.contract.experiment import BASE
from reprise.contract.settings import Settings, unstated
from reprise.errors import RepriseError
from reprise.evidence import comparison as m
from reprise.evidence.estimates import ALPHA
from reprise.evidence.measures import column
from reprise.evidence.rounds import LEVELS, Look, join, looks, rounds_of
from reprise.evidence.verdicts import judge_all

CLAIM = stated(m.above(column("t", "x"), 0.0, unit="1"))
UP, MIXED, DOWN = [1.0, 1.1, 0.9, 1.05, 0.95], [-0.2, 1.0, 2.2, 0.3, 1.8], [-9.0, -9.1, -8.9, -9.2, -9.3]


def test_the_looks_spend_the_error_rate_and_200_runs_without_a_failure_pass_the_first():
    assert math.fsum(LEVELS) <= ALPHA
    assert LEVELS[0] >= 0.98**200


def round_of(values, first=0, setting=BASE):
    seeds = range(first, first + len(values))
    return {"t": pd.DataFrame({"seed": seeds, "setting": setting, "x": values})}


def in_settings(*rounds):
    """A round of several settings."""
    return {"t": pd.concat([each["t"] for each in rounds], ignore_index=True)}


def judged(*rounds, **arguments):
    (row,) = judge_all([CLAIM], list(rounds), None, **arguments).to_dict("records")
    return row


def test_a_further_round_adds_its_seeds_in_each_table_and_setting():
    one = in_settings(round_of([1.0, 2.0]), round_of([3.0], setting="other"))
    two = in_settings(round_of([4.0], 2), round_of([5.0], 2, "other"))
    joined = join([one, two])["t"]
    assert list(joined.loc[joined["setting"] == BASE, "x"]) == [1.0, 2.0, 4.0]
    assert list(joined.loc[joined["setting"] == "other", "x"]) == [3.0, 5.0]
    assert joined.index.is_unique
    assert rounds_of([one, two]) == {0: 1, 1: 1, 2: 2}


def test_what_belongs_to_no_seed_or_to_one_that_is_there_stays_the_first_rounds():
    def tables(first, value):
        seeds = pd.DataFrame({"seed": [first, np.nan], "setting": BASE, "x": value})
        whole = pd.DataFrame({"dim": [1, 2], "setting": BASE, "x": value})
        pilots = pd.DataFrame({"seed": [100], "setting": BASE, "x": value})
        return {"seeds": seeds, "whole": whole, "pilots": pilots}

    joined = join([tables(0, 1.0), tables(1, 2.0), tables(2, 3.0)])
    assert list(joined["seeds"]["x"]) == [1.0, 1.0, 2.0, 3.0]
    assert list(joined["whole"]["x"]) == [1.0, 1.0]
    assert list(joined["pilots"]["x"]) == [1.0]


def test_one_round_is_not_copied():
    one = round_of(UP)
    assert join([one]) is one


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"t": round_of(UP)["t"], "more": round_of(UP)["t"]}, "round 2 has the tables t, more"),
        (
            {"t": round_of(UP)["t"].assign(y=1.0)},
            "the table 't' of round 2 has the columns seed, setting, x, y",
        ),
    ],
)
def test_rounds_of_different_versions_are_not_joined(other, words):
    with pytest.raises(RepriseError, match=words):
        join([round_of(UP), other])


def test_there_are_at_most_four_looks():
    assert looks(4) == [Look(number, level) for number, level in enumerate(LEVELS, start=1)]
    with pytest.raises(RepriseError, match="leave out the last 2"):
        looks(6)
    assert looks(6, alpha=0.0125) == [Look(6, 0.0125)]


def test_a_decided_claim_is_not_judged_anew():
    """Neither by seeds that contradict it, nor are they read: the second round has no such column."""
    one = judged(round_of(UP))
    assert (one["verdict"], one["rounds"], one["alpha"]) == ("reproduced", 1, LEVELS[0])
    pd.testing.assert_series_equal(pd.Series(judged(round_of(UP), round_of(DOWN, 5))), pd.Series(one))
    unreadable = {"t": round_of(DOWN, 5)["t"].drop(columns="x")}
    assert judged(round_of(UP), unreadable)["verdict"] == "reproduced"


def test_an_undecided_claim_is_judged_on_all_seeds_at_the_next_level():
    rounds = round_of(MIXED), round_of([0.9, 1.1, 1.0, 1.2, 0.7], 5), round_of(DOWN, 10)
    assert judged(rounds[0])["verdict"] == "inconclusive"
    two = judged(*rounds)
    assert (two["verdict"], two["rounds"], two["alpha"], two["seeds"]) == ("reproduced", 2, LEVELS[1], 10)
    assert two["p_reproduced"] <= LEVELS[1]
    assert two["level"] == pytest.approx(1 - 2 * LEVELS[1])
    assert two["low"] > 0


def test_what_the_first_level_would_decide_a_later_look_does_not():
    """The p-value of both rounds, by signed ranks, lies between the levels of the looks."""
    values = [0.9, 1.1, -0.35, 1.2, 0.7]
    row = judged(round_of(MIXED), round_of(values, 5))
    assert LEVELS[1] < row["p_reproduced"] <= LEVELS[0]
    assert (row["verdict"], row["rounds"]) == ("inconclusive", 2)
    single = judged(round_of(MIXED), round_of(values, 5), alpha=LEVELS[0])
    assert (single["verdict"], single["rounds"], single["alpha"]) == ("reproduced", 2, LEVELS[0])


class Open(Settings):
    width: int = unstated(8, "the paper does not say")


def test_other_settings_are_judged_at_the_level_of_the_look_corrected_for_their_number():
    """The other setting has p = .0074: enough at half of .019, and not at half of .01."""
    spread = np.array([-2.0, -1.0, 0.0, 1.0, 2.0]) / 2.5**0.5
    both = in_settings(round_of(UP), round_of(spread - 4.1 / 5**0.5, setting="other"))
    verdicts = [
        judge_all([CLAIM], [both], Open(), alpha=level).to_dict("records")[0]["verdict"]
        for level in (0.019, 0.01)
    ]
    assert verdicts == ["depends", "reproduced"]


@pytest.mark.parametrize(("about", "worlds"), [(IN_ROUNDS[0], 500), (IN_ROUNDS[1], 120), (IN_ROUNDS[3], 120)])
def test_a_false_sentence_is_rarely_reproduced_in_any_of_four_rounds(about, worlds):
    assert about.is_false
    wrong = reproduced_by(in_rounds(about, worlds))
    assert wrong == sorted(wrong)
    assert wrong[-1] <= ALPHA + 3 * (ALPHA * (1 - ALPHA) / worlds) ** 0.5


def test_further_rounds_find_an_effect_that_one_misses():
    (about,) = (each for each in IN_ROUNDS if each.says == "1" and len(each.effects) == 1)
    shares = reproduced_by(in_rounds(about, 150))
    assert shares[0] < 0.5 < 0.8 < shares[-1]
