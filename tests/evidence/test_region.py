"""The region in which a verdict stands, in worlds with several settings."""

import numpy as np
import pytest
from worlds import judged, sentence

from reprise.evidence.judgement import judge
from reprise.evidence.region import each_alpha, over_settings
from reprise.evidence.rounds import FIRST

CLAIM = sentence("universal", 1)


def regions(effects, seeds, worlds):
    """A region a world: judgements in settings with these effects, the first of them the published one."""
    import worlds as made

    generator = np.random.default_rng(0)
    alpha = each_alpha(len(effects), FIRST.alpha)
    for _ in range(worlds):
        samples = [made.tables((effect + generator.normal(size=seeds))[None]) for effect in effects]
        here = judge(CLAIM, samples[0])
        others = {f"{n}": judge(CLAIM, sample, alpha=alpha) for n, sample in enumerate(samples[1:])}
        yield over_settings(here, others, FIRST.alpha)


@pytest.mark.parametrize("settings", [2, 4, 8, 20])
@pytest.mark.parametrize("seeds", [3, 5])
def test_a_sentence_that_is_false_in_half_of_the_settings_rarely_holds_everywhere(settings, seeds):
    effects = [1.0, -1.0] * (settings // 2)
    found = list(regions(effects, seeds, 400))
    assert np.mean([each.stands == "everywhere" for each in found]) <= 0.05


@pytest.mark.parametrize("settings", [2, 8])
def test_a_sentence_that_is_true_in_all_settings_stands_everywhere(settings):
    found = list(regions([3.0] * settings, 5, 100))
    assert np.mean([each.stands == "everywhere" for each in found]) >= 0.9


def test_a_sentence_with_opposite_effects_depends():
    found = list(regions([9.0, -9.0, 9.0], 8, 20))
    assert all(each.judgement.verdict == "depends" and each.here == "reproduced" for each in found)


def test_a_sentence_without_an_effect_anywhere_rarely_depends():
    found = list(regions([0.0] * 8, 5, 400))
    assert np.mean([each.stands == "depends" for each in found]) <= FIRST.alpha


def test_opposite_settings_are_found_however_many_there_are():
    """Ten seeds reach no smaller level than 2^-10 by signed ranks; 49 settings ask for one of .0005."""
    (found,) = regions([5.0] * 25 + [-5.0] * 24, 10, 1)
    assert found.judgement.verdict == "depends"


def test_a_setting_that_is_undecided_by_design_agrees_with_nothing():
    here = judged(CLAIM, [9.0], 8, 1)[0]
    few = judged(CLAIM, [9.0], 2, 1)[0]
    assert over_settings(here, {"few": few}, FIRST.alpha).stands == "here"
    assert over_settings(here, {}, FIRST.alpha).stands == ""


def test_a_search_over_settings_reproduces_where_one_holds_and_contradicts_nowhere():
    up, down = judged(CLAIM, [9.0], 8, 1)[0], judged(CLAIM, [-9.0], 8, 1)[0]
    assert over_settings(down, {"other": up}, FIRST.alpha, exists=True).judgement.verdict == "reproduced"
    assert over_settings(down, {}, FIRST.alpha, exists=True).judgement.code == "not found"
    none = over_settings(down, {"other": down}, FIRST.alpha, exists=True).judgement
    assert (none.verdict, none.code) == ("inconclusive", "not found")
