"""From tables to verdicts: every kind and relation, and every column of a verdict."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from stating import stated as claimed

from reprise.contract.settings import Settings, from_code, lost, ours, stated, unstated
from reprise.evidence import comparison as m
from reprise.evidence.claim import ALONE, CORRECTED
from reprise.evidence.errata import Misprint, Text
from reprise.evidence.formula import AS_PRINTED
from reprise.evidence.judgement import judge
from reprise.evidence.measures import column
from reprise.evidence.verdicts import COLUMNS, judge_all, setting, split, summary


def tables(values, reference=None, setting="published"):
    table = pd.DataFrame({"seed": range(len(values)), "x": values, "setting": setting})
    if reference is not None:
        table["y"] = reference
    return {"t": table}


def x(found):
    return found["t"].set_index("seed")["x"]


def y(found):
    return found["t"].set_index("seed")["y"]


def x_is(relation, reference, **conditions):
    return claimed(relation(x, reference, unit="1", **conditions))


def value(published=0.5, quantity="score", **rest):
    near = m.near(x, published, quantity=quantity, unit="1", **rest)
    return claimed(near, "p/table1/v", at="Table 1")


def all_are(relation, reference, read=m.in_every_case, **conditions):
    """A claim about each case or, by `read`, each run."""
    return claimed(read(relation(x, reference, unit="1", **conditions)))


def always(relation, number):
    return all_are(relation, number, m.in_every_run)


def constantly(resolution):
    return lambda tables: x(tables) * 0 + resolution


def agreement(resolution):
    return x_is(m.agrees, 1.0, resolution=constantly(resolution))


def limit(resolution, course=lambda tables: pd.DataFrame({0: [1.0] * 40}, index=range(1, 41))):
    return x_is(m.tends_to, 1.0, resolution=constantly(resolution), course=course)


def printed(above=1.0):
    return claimed(replace(m.above(x, above, unit="%"), kind="printed"))


IDENTITY, INEQUALITY = claimed(m.identity(x)), claimed(m.inequality(x))
T = stats.t.ppf(0.981, 2)
"""Student's t at the upper end of the interval of the first look."""


def spread(mean, half):
    """Three seeds whose interval at the first look is mean +- half: the error is d/sqrt(3)."""
    d = half * math.sqrt(3) / T
    return [mean - d, mean, mean + d]


@pytest.mark.parametrize(
    ("claim", "values", "verdict"),
    [
        # near: the margin of a score is .10
        (value(), spread(0.55, 0.04), "reproduced"),
        (value(), spread(0.45, 0.04), "reproduced"),
        (value(), spread(0.65, 0.04), "contradicted"),
        (value(), spread(0.35, 0.04), "contradicted"),
        (value(), spread(0.58, 0.04), "inconclusive"),
        (value(), spread(0.42, 0.04), "inconclusive"),
        (value(), spread(0.5, 0.2), "inconclusive"),  # wider than the margin on both sides
        (value(75.0, "accuracy"), spread(76.5, 0.4), "reproduced"),
        (value(75.0, "accuracy"), spread(77.5, 0.4), "contradicted"),
        (value(0.4), [0.5] * 3, "reproduced"),  # on the edge counts as inside
        (value(-1.0, "slope"), spread(-1.1, 0.04), "reproduced"),
        (value(-1.0, "slope"), spread(-1.2, 0.04), "contradicted"),
        # ten per cent of the published singular value
        (value(4.0, "singular value"), spread(4.35, 0.04), "reproduced"),
        (value(4.0, "singular value"), spread(4.45, 0.04), "contradicted"),
        (value(0.04, "singular value"), spread(0.0435, 0.0004), "reproduced"),
        (value(0.04, "singular value"), spread(0.0445, 0.0004), "contradicted"),
        (value(-4.0, "singular value"), spread(-4.35, 0.04), "reproduced"),
        # strictly above and below
        (x_is(m.above, 1.0), spread(1.1, 0.05), "reproduced"),
        (x_is(m.above, 1.0), spread(1.0, 0.05), "inconclusive"),
        (x_is(m.above, 1.0), spread(0.9, 0.05), "contradicted"),
        (x_is(m.above, 2.0), [2.0, 2.0, 2.0], "contradicted"),
        (x_is(m.above, 0.1), [0.1, 0.1, 0.1], "contradicted"),  # the mean of three .1 rounds to more than .1
        (x_is(m.below, 1.0), spread(0.9, 0.05), "reproduced"),
        (x_is(m.below, 1.0), spread(1.0, 0.05), "inconclusive"),
        (x_is(m.below, 1.0), spread(1.1, 0.05), "contradicted"),
        (x_is(m.below, 2.0), [2.0, 2.0, 2.0], "contradicted"),
        # at least and at most include the number itself, and are about the median
        (x_is(m.at_least, 8), [8] * 6, "reproduced"),
        (x_is(m.at_least, 8), [8, 9, 8, 9, 8, 10], "reproduced"),
        (x_is(m.at_least, 8), [8, 9, 8, 9, 7, 10], "inconclusive"),
        (x_is(m.at_least, 8), [8, 9, 8, 9, 7, 10, 9, 9, 8, 8], "reproduced"),  # one of ten may differ
        (x_is(m.at_least, 8), [7] * 6, "contradicted"),
        (x_is(m.at_most, 2), [2] * 6, "reproduced"),
        (x_is(m.at_most, 2), [2, 2, 2, 2, 2, 3], "inconclusive"),
        (x_is(m.at_most, 2), [3] * 6, "contradicted"),
        (x_is(m.at_most, 0), [0] * 6, "reproduced"),
        (x_is(m.exactly, 2), [2] * 6, "reproduced"),
        (x_is(m.exactly, 2), [2.32] * 6, "inconclusive"),  # two sides
        (x_is(m.exactly, 2), [2.32] * 7, "contradicted"),
        (value(2, "count"), [2] * 6, "reproduced"),
        # every run: at most 2 % may fail, and many are needed to show it
        (always(m.at_most, 0), [0] * 197, "reproduced"),
        (always(m.at_most, 0), [0] * 196, "inconclusive"),
        (always(m.at_most, 0), [0] * 400 + [1], "reproduced"),
        (always(m.at_most, 0), [0] * 200 + [1], "inconclusive"),
        (always(m.at_most, 0), [0] * 190 + [1] * 10, "contradicted"),
        (always(m.at_least, 1), [0, 1], "inconclusive"),
        (always(m.at_least, 1), [0, 0, 1], "contradicted"),
        # all cases are looked at
        (all_are(m.at_least, 8), [8, 9], "reproduced"),
        (all_are(m.at_least, 8), [8, 9, 7], "contradicted"),
        (all_are(m.above, y), [1.0], "reproduced"),
        # identities: every point within 1e-6
        (IDENTITY, [1e-9] * 200, "reproduced"),
        (IDENTITY, [1e-6] * 200, "reproduced"),
        (IDENTITY, [1e-9] * 199, "inconclusive"),
        (IDENTITY, [1e-9] * 19 + [1e-3], "contradicted"),
        (IDENTITY, [1e-3] * 20, "contradicted"),
        (INEQUALITY, [0.0] * 200, "reproduced"),
        (INEQUALITY, [0.0] * 199, "inconclusive"),
        (INEQUALITY, [0.0] * 20 + [1e-3], "contradicted"),
        # the resolution is the margin, of an agreement with theory and of a limit
        (agreement(resolution=0.001), spread(1.0005, 0.0004), "reproduced"),
        (agreement(resolution=0.001), spread(1.0015, 0.0004), "contradicted"),
        (agreement(resolution=0.011), spread(1.0, 0.004), "inconclusive"),  # too coarse to tell
        (limit(resolution=0.001), spread(1.0005, 0.0004), "reproduced"),
        (limit(resolution=0.001), spread(1.0015, 0.0004), "contradicted"),  # and at rest
        # shares of runs
        (x_is(m.above, 0.5), [1.0] * 6, "reproduced"),
        (x_is(m.above, 0.5), [1.0] * 5, "inconclusive"),
        # a sample of eight or more by signed ranks
        (x_is(m.above, 0.0), [1.0] * 7 + [-0.5], "reproduced"),
        (x_is(m.above, 0.0), [1.0] * 6 + [-5.0, -6.0], "inconclusive"),
        (x_is(m.above, 0.9), [1.0] * 30, "inconclusive"),
        # printed numbers need no repetition
        (printed(), [1.5], "reproduced"),
        (printed(), [1.5, 0.5], "contradicted"),
        (printed(), [0.5, 1.0], "contradicted"),
    ],
)
def test_the_verdict_follows_from_where_the_interval_lies(claim, values, verdict):
    found = judge(claim, tables(values, 0.0))
    assert found.verdict == verdict
    assert found.reason or verdict != "inconclusive"


def test_a_trend_is_judged_like_a_value():
    claim = value(2.0, "slope", kind="trend")
    assert claim.kind == "trend"
    assert judge(claim, tables(spread(2.1, 0.04))).verdict == "reproduced"
    assert judge(claim, tables(spread(2.2, 0.04))).verdict == "contradicted"


def test_an_ordering_is_paired_by_seed():
    base = np.array([0.0, 10.0, 20.0])
    assert judge(x_is(m.above, y), tables(np.add(base, [1, 1.1, 0.9]), base)).verdict == "reproduced"
    assert judge(x_is(m.below, y), tables(np.add(base, [1, 1.1, 0.9]), base)).verdict == "contradicted"
    assert judge(x_is(m.above, y), tables(np.add(base, [1, -1, 0.5]), base)).verdict == "inconclusive"
    found = judge(x_is(m.above, y), tables(np.add(base, [1, 1.1, 0.9]), base))
    assert (found.observed, found.reference) == pytest.approx((11, 10))
    assert found.low - found.reference == pytest.approx(1 - T * 0.1 / 3**0.5)


def test_pairs_of_different_seeds_are_an_error():
    found = {"t": tables([1.0, 2, 3], 0.0)["t"].assign(seed=[0, 1, 2])}
    with pytest.raises(KeyError, match="seeds differ"):
        judge(x_is(m.above, lambda tables: y(tables).set_axis([0, 1, 3])), found)


def test_a_true_agreement_is_rarely_contradicted_however_small_its_margin():
    claim = agreement(resolution=0.01)
    samples = np.random.default_rng(0).normal(1, 1, (1000, 5))
    wrong = np.mean([judge(claim, tables(sample)).verdict == "contradicted" for sample in samples])
    assert wrong <= 0.025 + 3 * (0.025 * 0.975 / 1000) ** 0.5


def test_a_value_may_be_compared_with_another_measure():
    base = np.array([1.0, 2.0, 6.0])
    assert judge(value(y), tables(np.add(base, [0.05, 0.04, 0.06]), base)).verdict == "reproduced"
    assert judge(value(y), tables(np.add(base, [0.15, 0.14, 0.16]), base)).verdict == "contradicted"


@pytest.mark.parametrize("scale", [100.0, 1.0, 0.01])
def test_the_margin_of_a_singular_value_is_relative_to_another_measure_too(scale):
    base = np.array([3.0, 3.1, 2.9]) * scale
    off = np.array([0.01, -0.01, 0.0]) * scale
    assert judge(value(y, "singular value"), tables(base * 1.08 + off, base)).verdict == "reproduced"
    assert judge(value(y, "singular value"), tables(base * 1.12 + off, base)).verdict == "contradicted"
    (row,) = judge_all([value(y, "singular value")], [tables(base * 1.08, base)], None).to_dict("records")
    assert row["margin"] == pytest.approx(0.3 * scale)


def test_a_relative_margin_counts_the_noise_of_the_measured_reference():
    """Each observation lies just a tenth above its own reference, on the margin."""
    generator = np.random.default_rng(0)
    wrong = 0
    for _ in range(300):
        base = np.abs(generator.normal(1.0, 0.3, 5)) + 0.05
        claim = value(y, "singular value")
        wrong += (
            judge(claim, tables(base * (1.1 + generator.normal(0, 0.01, 5)), base)).verdict == "reproduced"
        )
    assert wrong / 300 <= 0.025 + 3 * (0.025 * 0.975 / 300) ** 0.5


@pytest.mark.parametrize("claim", [value(), x_is(m.above, 0.0), x_is(m.above, y)])
def test_two_seeds_are_no_evidence(claim):
    found = judge(claim, tables([0.5, 0.5], [0.1, 0.1]))
    assert (found.verdict, found.reason, found.seeds) == ("inconclusive", "fewer than 3 seeds", 2)
    assert found.observed == 0.5
    assert math.isnan(found.low)
    assert math.isnan(found.high)


def test_five_counts_are_no_evidence():
    found = judge(x_is(m.at_least, 0), tables([1.0] * 5))
    assert (found.verdict, found.reason, found.seeds) == ("inconclusive", "fewer than 6 seeds", 5)


def test_nineteen_points_are_no_proof():
    found = judge(IDENTITY, tables([0.0] * 19))
    assert (found.verdict, found.reason) == (
        "inconclusive",
        "holds at all of 19 random points, and 200 are needed",
    )


@pytest.mark.parametrize("claim", [value(), x_is(m.above, 0.0), x_is(m.at_most, 1), IDENTITY, printed(0.0)])
def test_an_observation_that_is_not_a_number_is_no_evidence(claim):
    found = judge(claim, tables([0.0] * 20 + [math.nan]))
    assert (found.verdict, found.code) == ("inconclusive", "undefined")
    assert "undefined in 1 of 21 observations" in found.reason


@pytest.mark.parametrize("bad", [math.inf, -math.inf])
@pytest.mark.parametrize("claim", [IDENTITY, printed(0.0), x_is(m.above, y)])
def test_nor_is_an_infinite_error_or_difference(claim, bad):
    assert judge(claim, tables([0.0] * 20 + [bad], 0.0)).code == "undefined"


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_nor_is_one_in_the_reference(bad):
    found = judge(x_is(m.above, y), tables([1.0, 1, 1, 1], [0, 0, 0, bad]))
    assert (found.verdict, found.code) == ("inconclusive", "undefined")


def test_a_run_that_diverges_is_an_outcome_ordered_last():
    steps = x_is(m.below, 100.0)
    assert judge(steps, tables([10.0] * 9 + [math.inf])).verdict == "reproduced"
    assert judge(steps, tables([10.0] * 5 + [math.inf] * 5)).verdict == "inconclusive"
    assert judge(steps, tables([10.0] + [math.inf] * 9)).verdict == "contradicted"


def test_a_limit_that_is_not_reached_yet_is_not_contradicted():
    times = np.arange(1, 500)
    course = pd.DataFrame(dict.fromkeys(range(3), times**-0.5), index=times)
    falling = limit(0.001, course=lambda tables: course)
    found = judge(falling, tables(spread(1.05, 0.004)))
    assert (found.verdict, found.code) == ("inconclusive", "not yet")
    assert "t^-0.5" in found.reason


def test_the_runs_of_one_unit_are_one_unit():
    """Fifty data sets with four starts each are 50, not 200."""
    four = {"t": pd.concat([tables([0.0] * 50)["t"]] * 4)}
    assert judge(always(m.at_most, 0), four).code == "few runs"
    assert (
        judge(always(m.at_most, 0), {"t": pd.concat([tables([0.0] * 200)["t"]] * 4)}).verdict == "reproduced"
    )


@pytest.mark.parametrize("claim", [value(), x_is(m.above, y), IDENTITY, printed()])
def test_no_observation_at_all_is_no_evidence(claim):
    found = judge(claim, tables([], []))
    assert (found.verdict, found.reason) == ("not run", "no observations")


def test_several_observations_of_a_seed_do_not_pass_for_seeds():
    twice = {"t": pd.concat([tables([0.5, 0.5])["t"]] * 2)}
    with pytest.raises(ValueError, match="p/table1/v: its measure gives more than one observation a seed"):
        judge(value(), twice)
    four = pd.Series([0.5] * 4, pd.MultiIndex.from_product([[0, 1], ["a", "b"]]))
    runs = claimed(m.above(lambda tables: four, 0.0, unit="1"))
    with pytest.raises(ValueError, match="more than one observation a seed"):
        judge(runs, {"t": pd.DataFrame()})


@pytest.mark.parametrize("make", [value, lambda **rest: x_is(m.above, 0.2, **rest),
                                  lambda **rest: all_are(m.at_most, 1, **rest)])  # fmt: skip
@pytest.mark.parametrize("gains", [[40, 14.9, 40], [40, math.nan, 40], []])
def test_a_net_that_did_not_learn_is_no_evidence(make, gains):
    found = tables([0.5, 0.51, 0.49])
    assert judge(make(learned=lambda tables: pd.Series([15.0, 40.0])), found).verdict == "reproduced"
    verdict = judge(make(learned=lambda tables: pd.Series(gains, dtype=float)), found)
    assert verdict.verdict == "inconclusive"
    assert "did not learn" in verdict.reason


@pytest.mark.parametrize("there", [[1.0, 0.0, 1.0], [math.nan, 1.0], [0.0]])
def test_what_lacks_its_premise_is_not_testable(there):
    """A run without a collapse cannot show that one is prevented, whatever the numbers say."""
    held = value(premise=m.Premise("collapse", lambda tables: pd.Series([1.0, 1.0])))
    missing = value(premise=m.Premise("collapse", lambda tables: pd.Series(there)))
    assert judge(held, tables(spread(0.5, 0.01))).verdict == "reproduced"
    for mean in (0.5, 0.9):
        found = judge(missing, tables(spread(mean, 0.01)))
        assert (found.verdict, found.reason) == ("inconclusive", "not testable here: there is no collapse")


def test_a_published_spread_makes_the_interval_welchs():
    values = spread(0.55, 0.04)
    without = judge(value(), tables(values))
    few = judge(value(std=0.05, n=3), tables(values))
    many = judge(value(std=0.05, n=30000), tables(values))
    assert few.verdict == "inconclusive"
    assert few.high - few.low > 1.5 * (without.high - without.low)
    assert many.high - many.low == pytest.approx(without.high - without.low, rel=0.01)


def test_half_and_twice_the_margin_are_shown_beside_the_verdict():
    (row,) = judge_all([value()], [tables(spread(0.57, 0.01))], None).to_dict("records")
    assert (row["verdict_half_margin"], row["verdict"], row["verdict_twice_margin"]) == (
        "contradicted",
        "reproduced",
        "reproduced",
    )
    (row,) = judge_all([IDENTITY], [tables([1.5e-6] * 200)], None).to_dict("records")
    assert (row["verdict_half_margin"], row["verdict"], row["verdict_twice_margin"]) == (
        "contradicted",
        "contradicted",
        "reproduced",
    )
    (row,) = judge_all([x_is(m.above, 0.0)], [tables(spread(1, 0.5))], None).to_dict("records")
    assert row["verdict_half_margin"] == row["verdict"] == row["verdict_twice_margin"] == "reproduced"


class Published(Settings):
    seeds: int = ours(3, "ours")
    lr: float = stated(0.1, "Section 4")
    momentum: float = from_code(0.9, "the code")


class Assuming(Published):
    batch: int = unstated(128, "usual")
    sigma: float = lost(0.3, "lost")


def row_of(params, found=None, claim=None):
    (row,) = judge_all([claim or value()], [found or tables(spread(0.5, 0.01))], params).to_dict("records")
    return row


def test_a_run_of_the_papers_own_settings_is_at_paper_scale():
    row = row_of(Published(seeds=20))
    assert (row["scale"], row["departures"], row["assumptions"], row["settings"]) == ("paper", "", "", "")


def test_departures_make_a_run_reduced_and_are_listed():
    row = row_of(Assuming(lr=0.2, seeds=2))
    assert row["scale"] == "reduced"
    assert row["departures"] == "seeds: 2 (ours: 3); lr: 0.2 (paper: 0.1)"


def test_what_the_paper_leaves_out_travels_with_the_verdict():
    row = row_of(Assuming())
    assert (row["scale"], row["assumptions"]) == ("paper", "batch=128; sigma=0.3")


def test_the_verdict_is_tried_at_other_plausible_settings():
    row = row_of(Assuming(), in_settings(published=0.5, a=0.51, b=0.49))
    assert (row["verdict"], verdicts_in(row)) == ("reproduced", {"a": "reproduced", "b": "reproduced"})
    assert row["observed"] == pytest.approx(0.5)  # the other settings' rows are not mixed in
    assert row["seeds"] == 3


def test_a_claim_that_fails_in_another_setting_depends_on_it():
    row = row_of(Assuming(), in_settings(published=0.5, a=0.51, b=0.9))
    assert (row["verdict"], row["reason"]) == ("depends", "reproduced here; contradicted with b")
    assert verdicts_in(row) == {"a": "reproduced", "b": "contradicted"}
    row = row_of(Assuming(), in_settings(published=0.9, a=0.5, b=0.9))
    assert (row["verdict"], row["reason"]) == ("depends", "contradicted here; reproduced with a")


def test_settings_that_are_undecided_are_not_opposite():
    found = in_settings(published=0.5)
    unclear = tables(spread(0.61, 0.05), setting="a")["t"]
    row = row_of(Assuming(), {"t": pd.concat([found["t"], unclear])})
    assert (row["verdict"], row["stands"], verdicts_in(row)) == ("reproduced", "here", {"a": "inconclusive"})
    unclear = tables(spread(0.59, 0.05), setting="a")["t"]
    assert row_of(Assuming(), {"t": pd.concat([found["t"], unclear])})["stands"] == "everywhere"


def test_settings_are_read_by_intervals_that_hold_together():
    found = tables(spread(0.5, 0.01))["t"]
    alone = tables(spread(0.58, 0.010), setting="a")["t"]
    others = [tables(spread(0.5, 0.001), setting=name)["t"] for name in "bcdef"]
    assert verdicts_in(row_of(Assuming(), {"t": pd.concat([found, alone])}))["a"] == "reproduced"
    assert verdicts_in(row_of(Assuming(), {"t": pd.concat([found, alone, *others])}))["a"] == "inconclusive"


def test_a_statement_of_existence_is_searched_in_every_setting():
    claim = replace(value(), exists=True)
    assert row_of(Assuming(), in_settings(published=0.9, a=0.5), claim)["verdict"] == "reproduced"
    assert row_of(Assuming(), in_settings(published=0.9, a=0.8), claim)["reason_code"] == "not found"
    assert row_of(Assuming(), in_settings(published=0.9, a=0.6), claim)["reason_code"] == "in some settings"


def in_settings(**means):
    runs = [tables(spread(mean, 0.01), setting=name)["t"] for name, mean in means.items()]
    return {"t": pd.concat(runs)}


def verdicts_in(row, column="settings"):
    return {each["name"]: each["verdict"] for each in json.loads(row[column])}


def in_cells(quantifier="universal", **references):
    cells = {name: m.above(x, number, unit="1") for name, number in references.items()}
    return claimed(cells, quantifier=quantifier)


def test_a_sentence_about_many_cells_needs_all_of_them():
    found = tables(spread(1.0, 0.1))
    row = row_of(Published(), found, in_cells(a=0.1, b=0.5, c=0.2))
    assert (row["verdict"], row["reason"], row["quantifier"]) == (
        "reproduced",
        "holds in 3 of 3 cells",
        "universal",
    )
    row = row_of(Published(), found, in_cells(a=0.1, b=1.5, c=0.2))
    assert (row["verdict"], row["reason"]) == ("contradicted", "holds in 2 of 3 cells; not: b")
    assert (row["reference"], verdicts_in(row, "cells")["b"]) == (1.5, "contradicted")
    row = row_of(Published(), found, in_cells(a=0.1, b=0.95, c=0.2))
    assert (row["verdict"], row["reason"]) == ("inconclusive", "holds in 2 of 3 cells; undecided: b")


def test_a_row_has_the_relation_and_the_unit_of_the_cell_that_decides():
    cells = {"far": m.above(x, -9.0, unit="1"), "close": m.below(x, 1.5, unit="ranks")}
    row = row_of(Published(), tables(spread(1.0, 0.1)), claimed(cells))
    assert row["verdict"] == "reproduced"
    assert (row["relation"], row["reference"], row["unit"]) == ("below", 1.5, "ranks")


def test_a_mean_over_cells_cannot_hide_one_that_fails():
    """Four cells far above 0 and one below it."""
    gains = {f"P = {p}": -gain for p, gain in {1: 9, 2: 9, 3: -2, 4: 9, 5: 9}.items()}
    assert judge(in_cells(**gains), tables(spread(0.0, 0.5))).verdict == "contradicted"


def test_each_cell_of_a_universal_sentence_is_read_by_its_own_interval():
    """An intersection-union test needs no correction; what contradicts the sentence does."""
    found = tables(spread(1.0, 0.5))
    assert judge(x_is(m.above, 0.4), found).verdict == "reproduced"
    assert judge(in_cells(a=0.4, b=0.4), found).verdict == "reproduced"
    assert judge(x_is(m.above, 1.6), found).verdict == "contradicted"
    assert judge(in_cells(a=1.6, b=0.4), found).verdict == "inconclusive"


def of_arms(*arms, partial=True):
    """x is above 0.4 in each arm."""
    cells = {arm: m.above(column("t", "x", arm=arm), 0.4, unit="1") for arm in arms}
    return claimed(cells, partial=partial)


def test_cells_that_a_run_does_not_look_at_have_no_part():
    """The verdict, its interval and its rates are those of the sentence about the others."""
    found = {"t": tables(spread(1.0, 0.5))["t"].assign(arm="a")}
    for claim, same in ((of_arms("a", "b", "c"), of_arms("a")), (of_arms("b", "a"), of_arms("a"))):
        one, other = (row_of(Published(), found, each) for each in (claim, same))
        assert one["verdict"] == "reproduced"
        assert one["reason"] == "holds in 1 of 1 cells"
        pd.testing.assert_series_equal(pd.Series(one), pd.Series(other))
    assert judge(of_arms("a", "b", partial=False), found).verdict == "not run"
    none = judge(of_arms("b", "c"), found)
    assert (none.verdict, set(none.cells)) == ("not run", {"b", "c"})
    failing = tables(spread(-1.0, 0.5))["t"].assign(arm="b")
    assert judge(of_arms("a", "b", "c"), {"t": pd.concat([found["t"], failing])}).verdict == "contradicted"


def test_a_sentence_about_some_cell_needs_one():
    found = tables(spread(1.0, 0.1))
    assert judge(in_cells("existential", a=1.5, b=0.1), found).verdict == "reproduced"
    assert judge(in_cells("existential", a=1.5, b=2.0), found).code == "not found"
    assert judge(in_cells("existential", a=1.5, b=1.0), found).verdict == "inconclusive"


def test_a_sentence_about_no_cell_or_about_claims_is_an_error():
    with pytest.raises(ValueError, match="p/fig1/c: a sentence about no cell"):
        claimed({})
    with pytest.raises(TypeError, match="p/fig1/c: both is no comparison"):
        claimed({"both": in_cells(a=0.5, b=1.5)})
    with pytest.raises(TypeError, match="p/fig1/c: what is compared is no comparison"):
        claimed({ALONE: x_is(m.above, 0.5)})


def test_an_observation_beyond_its_bounds_is_not_expected():
    found = tables([0.99, 0.9, 0.98])
    free, bounded = judge(value(1.0), found), judge(value(1.0, bounds=m.SHARE), found)
    assert free.high > 1 == bounded.high
    assert free.low == bounded.low


def test_what_was_set_after_a_look_is_said():
    claim = replace(value(), looked="its seeds")
    rows = judge_all([claim], [tables(spread(0.5, 0.01))], Published(), looked="steps")
    assert rows["looked"].tolist() == ["its seeds; steps"]


def test_a_claim_without_a_measure_is_not_run_and_says_what_it_needs():
    claim = claimed(m.near(None, 0.5, quantity="singular value", unit="1"), needs="ImageNet")
    (row,) = judge_all([claim], None, None).to_dict("records")
    assert (row["verdict"], row["reason"], row["scale"], row["published"]) == ("not run", "ImageNet", "", 0.5)
    assert row["verdict_half_margin"] == row["verdict_twice_margin"] == "not run"
    assert math.isnan(row["observed"])
    assert (row["reference"], row["margin"]) == (0.5, 0.05)


def test_a_claim_with_a_measure_may_need_a_run_without_departures():
    """A run with departures leaves the claim not run, however its numbers look; the claim still says what was
    published."""
    claim = replace(value(), needs="GPUs")
    found = tables(spread(0.5, 0.01))
    runs = (Published(lr=0.2), "not run", "GPUs"), (Published(), "reproduced", "")
    for params, verdict, reason in runs:
        row = row_of(params, found, claim)
        assert (row["verdict"], row["reason"]) == (verdict, reason)
        assert math.isnan(row["observed"]) == (verdict == "not run")


def test_such_a_claim_is_not_run_where_the_run_left_its_rows_out():
    claim = replace(value(), needs="GPUs")
    row = row_of(Published(), tables([]), claim)
    assert (row["verdict"], row["reason"]) == ("not run", "GPUs")


def test_a_claim_whose_experiment_has_not_run_says_what_would_run_it():
    (row,) = judge_all([value()], None, None, missing="reprise run p/e").to_dict("records")
    assert (row["verdict"], row["reason"]) == ("not run", "reprise run p/e")


def test_a_sentence_about_printed_numbers_has_no_scale():
    assert row_of(Published(lr=0.2), tables([2.0]), printed())["scale"] == ""


def test_a_row_has_every_column_and_names_the_claims_place():
    found = judge_all([value(std=0.1, n=3)], [tables(spread(0.5, 0.01))], Published())
    assert tuple(found.columns) == COLUMNS
    row = found.iloc[0]
    assert (row["claim"], row["paper"], row["artifact"]) == ("p/table1/v", "p", "p/table1")
    assert (row["published"], row["published_std"], row["published_n"], row["margin"]) == (0.5, 0.1, 3, 0.1)
    assert (row["kind"], row["relation"], row["source"], row["unit"]) == ("value", "near", "Table 1", "1")
    assert tuple(judge_all([], None, None).columns) == COLUMNS


def misprint(kind):
    """The cells of a misprint: 0.5, which is printed as 0.9."""
    cells = {AS_PRINTED: value(0.9).first, CORRECTED: value(0.5).first}
    return claimed(cells, erratum=kind, misprint=Misprint(kind, Text("0.9"), Text("0.5")))


def test_grounds_are_counted_apart():
    rows = [
        judge_all([value()], [tables(spread(0.5, 0.01))], Published()),
        judge_all([value()], [tables(spread(0.5, 0.01))], Assuming()),
        judge_all([value()], [tables(spread(0.5, 0.01))], Published(lr=0.2)),
        judge_all([value()], [tables(spread(0.9, 0.01))], Assuming(lr=0.2)),
        judge_all([misprint("substantive"), misprint("typo")], [tables(spread(0.5, 0.01))], Published()),
        judge_all([replace(value(), form="restated")], [tables(spread(0.5, 0.01))], Published()),
        judge_all([printed(), replace(printed(), form="ours")], [tables([2.0])], None),
        judge_all([value()], None, None),
    ]
    counts = summary(pd.concat(rows)).set_index("ground")
    verdicts = ["reproduced", "contradicted", "tied", "depends", "inconclusive", "not run"]
    assert list(counts.columns) == ["paper", *verdicts]
    assert counts["reproduced"].to_dict() == {
        "paper scale": 1,
        "paper scale, with assumptions": 1,
        "reduced": 1,
        "restated by us": 1,
        "our own": 1,
        "errata": 0,
        "printed numbers": 1,
        "not run": 0,
    }
    assert counts.loc["paper scale", "contradicted"] == 1, "what is false as printed is the paper's"
    assert counts.loc["errata", "contradicted"] == 1
    assert counts.loc["reduced", "contradicted"] == 1
    assert counts.loc["not run", "not run"] == 1
    assert counts.drop(columns="paper").to_numpy().sum() == sum(map(len, rows))


def test_no_claims_have_an_empty_summary():
    assert summary(judge_all([], None, None)).empty


@given(
    st.lists(st.lists(st.integers(-6, 12), min_size=9, max_size=9), min_size=1, max_size=4),
    st.sampled_from(["universal", "generic", "existential"]),
    st.sampled_from(["1", "matching score", "% top-1"]),
)
def test_a_verdict_is_what_its_p_values_say(cells, quantifier, unit):
    columns = {f"{n}": values for n, values in enumerate(cells)}
    table = pd.DataFrame({"seed": range(9), "setting": "published"} | columns)
    compared = {f"{n}": m.above(column("t", f"{n}"), 0.0, unit=unit) for n in range(len(cells))}
    claim = claimed(compared, quantifier=quantifier)
    (row,) = judge_all([claim], [{"t": table}], None).to_dict("records")
    says = {"reproduced": row["p_reproduced"], "contradicted": row["p_contradicted"], "tied": row["p_tied"]}
    decided = [verdict for verdict, p in says.items() if p <= 0.019]
    assert [row["verdict"]] == (decided[:1] or ["inconclusive"])


observations = st.lists(st.floats(-10, 10), min_size=6, max_size=7)


@given(observations, st.floats(0.01, 5), st.sampled_from(["value", "ordering", "paired", "count"]))
def test_observed_low_and_high_come_from_the_table_alone(values, shift, kind):
    claim = {
        "value": value(),
        "ordering": x_is(m.above, 0.0),
        "paired": x_is(m.above, y),
        "count": x_is(m.at_least, 1),
    }[kind]
    before = judge(claim, tables(values, [0.0] * len(values)))
    after = judge(claim, tables([v + shift for v in values], [0.0] * len(values)))
    moved = (after.observed - before.observed, after.low - before.low, after.high - before.high)
    assert moved == pytest.approx((shift, shift, shift), abs=1e-9)


@given(observations, st.integers(0, 6), st.floats(0.1, 5))
def test_one_altered_observation_moves_the_mean_and_the_interval(values, which, shift):
    assume(which < len(values))
    altered = [v + shift * (i == which) for i, v in enumerate(values)]
    before, after = judge(value(), tables(values)), judge(value(), tables(altered))
    assert after.observed - before.observed == pytest.approx(shift / len(values), abs=1e-9)
    assert (after.low, after.high) != (before.low, before.high)


def test_the_rows_of_each_setting_are_split_as_one_selects_them():
    table = pd.DataFrame({"setting": list("abacb"), "x": range(5), "word": list("vwxyz")}, index=range(3, 8))
    found = {"all": table, "only a": table[table["setting"] == "a"], "none": table[:0]}
    parts = split(found, ("b", "a", "d"))
    assert list(parts) == ["b", "a", "d"]
    for name, part in parts.items():
        for key, expected in setting(found, name).items():
            pd.testing.assert_frame_equal(part[key], expected)


def test_a_measure_is_evaluated_once_a_setting():
    seen = []

    def measure(found):
        seen.append(found["t"]["setting"].iloc[0])
        return x(found)

    near, far = (tables(spread(0.5, 0.01), setting=name)["t"] for name in ("published", "batch = 64"))
    two = [claimed(m.near(measure, number, quantity="score", unit="1")) for number in (0.5, 0.9)]
    judged = judge_all(two, [{"t": pd.concat([near, far])}], Assuming())
    assert judged["verdict"].tolist() == ["reproduced", "contradicted"]
    assert sorted(seen) == ["batch = 64", "published"]


# Scores that are compared seed by seed.


def test_a_score_is_judged_by_the_whole_interval_and_shown_within_its_range():
    """At 0.98 the interval of n differences with a deviation s is 0.98 ± t s / √n, beyond 1."""
    differences = np.array([-0.06, 0.01, 0.05, 0.09, 0.16])
    found = tables(np.full(5, 0.98), reference=0.98 - differences)
    claim, without_range = x_is(m.above, y, range=m.SHARE), x_is(m.above, y)
    half = stats.t.ppf(0.981, df=4) * differences.std(ddof=1) / np.sqrt(5)
    judged = judge(claim, found)
    assert (judged.low, judged.high) == pytest.approx((0.98 - half, 0.98 + half))
    assert judged.high > 1
    without = judge(without_range, found)
    assert (judged.verdict, judged.low, judged.high) == (without.verdict, without.low, without.high)
    assert claim.shown(judged.low, judged.high) == (judged.low, 1.0)


@pytest.mark.parametrize("ends", [(None, None), (0.2, 0.7), (-0.4, 1.3), (1.2, 1.3)])
def test_what_is_shown_of_a_sentence_lies_in_the_range_of_one_of_its_cells(ends):
    score, change = m.above(x, 0.0, unit="1", range=m.SHARE), m.above(x, 0.0, unit="1")
    assert m.shown([change], *ends) == ends  # a change is no score
    assert claimed({"score": score, "change": change}).shown(*ends) == ends
    expected = tuple(None if end is None else float(np.clip(end, 0, 1)) for end in ends)
    assert m.shown([score], *ends) == claimed(score).shown(*ends) == expected
    assert m.shown([replace(change, bounds=m.SHARE)], *ends) == expected
