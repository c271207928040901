"""Seeds that would decide a claim: in draws, they do."""

import math

import numpy as np
import pytest
from worlds import judged, rate, sentence, tables

from reprise.evidence.judgement import judge
from reprise.evidence.power import seeds_to_decide
from reprise.evidence.rounds import FIRST

CLAIM = sentence("universal", 1)


@pytest.mark.parametrize("effect", [0.5, 1.0])
def test_so_many_seeds_decide_nine_times_in_ten(effect):
    sample = effect + np.sqrt(4 / 5) * np.array([[-1.0, 1.0, -1.0, 1.0, 0.0]]) * np.sqrt(5 / 4)
    judgement = judge(CLAIM, tables(sample))
    assert judgement.verdict == "inconclusive"
    seeds = seeds_to_decide(CLAIM, judgement, FIRST.alpha)
    found = rate(judged(CLAIM, [effect], int(seeds), 400), "reproduced")
    assert found == pytest.approx(0.9, abs=0.06)


def test_no_number_of_seeds_decides_what_lies_on_the_edge():
    assert seeds_to_decide(CLAIM, judge(CLAIM, tables(np.array([[-1.0, 0.0, 1.0]]))), FIRST.alpha) == math.inf


def test_seeds_are_not_what_a_decided_claim_lacks():
    assert math.isnan(seeds_to_decide(CLAIM, judge(CLAIM, tables(np.full((1, 8), 1.0))), FIRST.alpha))


@pytest.mark.parametrize(
    ("quantifier", "effects", "verdict"),
    [
        ("universal", [0.9] * 16, "reproduced"),
        ("universal", [3.0] * 15 + [-1.0], "contradicted"),
        ("existential", [-2.0] * 7 + [1.0], "reproduced"),
    ],
)
def test_so_many_seeds_decide_sentences_about_many_cells(quantifier, effects, verdict):
    """From a draw with these means and a spread of 1, of too few seeds."""
    claim = sentence(quantifier, len(effects))
    drawn = np.array([-1.0, 0.0, 1.0])
    judgement = judge(claim, tables(np.array(effects)[:, None] + drawn))
    assert judgement.verdict == "inconclusive"
    seeds = int(seeds_to_decide(claim, judgement, FIRST.alpha))
    assert rate(judged(claim, effects, seeds, 300), verdict) >= 0.8


def test_a_search_that_leans_nowhere_has_no_number_of_seeds():
    claim = sentence("existential", 2)
    assert math.isnan(
        seeds_to_decide(claim, judge(claim, tables(np.array([[-0.1, -2.0, 1.0]] * 2))), FIRST.alpha)
    )


def test_an_effect_just_under_the_smallest_is_decided_by_its_sign():
    small = sentence("universal", 1, unit="matching score")
    sample = tables(0.049 + 0.06 * np.array([[-1.0, 0.0, 1.0]]))
    judgement = judge(small, sample)
    assert judgement.verdict == "inconclusive"
    seeds = seeds_to_decide(small, judgement, FIRST.alpha)
    generator = np.random.default_rng(0)
    worlds = 0.049 + 0.06 * generator.normal(size=(300, 1, int(seeds)))
    decided = np.mean([judge(small, tables(world)).verdict != "inconclusive" for world in worlds])
    assert decided == pytest.approx(0.9, abs=0.07)
