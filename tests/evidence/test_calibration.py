"""How often a verdict is wrong: the rates that each claim carries, against worlds drawn by other means."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from reprise.contract.experiment import BASE
from reprise.evidence import claims as c
from reprise.evidence import comparison as m
from reprise.evidence.calibration import FALSE, calibrated, fragility, rates, what_would_decide
from reprise.evidence.judgement import judge
from reprise.evidence.verdicts import judge_all

WORLDS = 1000
ERROR = 3 * (FALSE * (1 - FALSE) / WORLDS) ** 0.5
"""Three standard errors of a rate of 5 %."""


def tables(values, reference=0.0):
    return {"t": pd.DataFrame({"seed": range(len(values)), "x": values, "y": reference})}


def x(found):
    return found["t"].set_index("seed")["x"]


def y(found):
    return found["t"].set_index("seed")["y"]


def ordering(**which):
    return c.ordering("p/fig1/o", "s", source="Figure 1", measure=x, unit="1", **which)


def value(published=0.0, **rest):
    return c.value(
        "p/fig1/v", "s", source="Figure 1", quantity="score", measure=x, published=published, unit="1", **rest
    )


def count(**which):
    return c.count("p/fig1/c", "s", source="Figure 1", measure=x, unit="1", **which)


def always(**which):
    return c.always("p/fig1/a", "s", source="Figure 1", measure=x, unit="1", **which)


def share_of(verdict, claim, samples):
    """Of samples that come out so. Calibration only widens intervals, so that others need none."""
    found = [tables(sample) for sample in samples]
    firm = [each for each in found if judge(claim, each).verdict == verdict]
    return sum(calibrated(claim, each)[0].verdict == verdict for each in firm) / len(samples)


DRAWN = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "three seeds": lambda rng, shape: rng.normal(size=(shape[0], 3)),
    "bimodal": lambda rng, shape: rng.choice([-1.0, 1.0], shape) + 0.1 * rng.normal(size=shape),
    "heavy": lambda rng, shape: rng.standard_t(3, size=shape),
    "counts": lambda rng, shape: rng.poisson(2, shape) - 2.0,
}


@pytest.mark.parametrize("world", list(DRAWN))
def test_an_effect_that_is_gone_is_seldom_reproduced(world):
    """Fresh samples of a world without effect, judged as claims are."""
    samples = DRAWN[world](np.random.default_rng(5), (WORLDS, 10))
    assert share_of("reproduced", ordering(above=y), samples) <= FALSE + ERROR


@pytest.mark.parametrize("failing", [0.02, 0.05])
def test_runs_that_sometimes_fail_are_seldom_taken_to_never_fail(failing):
    samples = (np.random.default_rng(6).random((WORLDS, 149)) < failing).astype(float)
    assert share_of("reproduced", always(at_most=0), samples) <= FALSE + ERROR
    assert share_of("reproduced", always(at_most=0), samples[:100, :30]) == 0


def test_a_share_of_one_half_is_seldom_taken_for_most():
    samples = (np.random.default_rng(7).random((WORLDS, 10)) < 0.5).astype(float)
    assert share_of("reproduced", ordering(above=0.5), samples) <= FALSE + ERROR


def test_a_median_count_that_is_too_low_is_seldom_reproduced():
    samples = np.random.default_rng(8).choice([7.0, 8.0], (WORLDS, 10), p=[0.51, 0.49])
    assert share_of("reproduced", count(at_least=8), samples) <= FALSE + ERROR


def test_the_rate_of_a_normal_sample_is_the_levels():
    """One side of a 95 % interval; for an equivalence, the published number lies at the margin's edge."""
    values = stats.norm.ppf((np.arange(40) + 0.5) / 40)
    measured = rates(ordering(above=0.0), judge(ordering(above=0.0), tables(values + 1)))
    assert measured.false_reproduced == pytest.approx(0.025, abs=0.008)
    assert measured.false_contradicted == pytest.approx(0.025, abs=0.008)
    claim = value()
    measured = rates(claim, judge(claim, tables(0.1 * values)))
    assert measured.false_reproduced == pytest.approx(0.025, abs=0.008)


def test_the_power_is_that_of_a_t_test():
    values = stats.norm.ppf((np.arange(20) + 0.5) / 20)
    values = values / values.std(ddof=1) + 0.8
    measured = rates(ordering(above=0.0), judge(ordering(above=0.0), tables(values)))
    effect, freedom = 0.4 * 20**0.5, 19
    expected = stats.nct.sf(stats.t.ppf(0.975, freedom), freedom, effect)
    assert measured.power_half == pytest.approx(expected, abs=0.05)


def test_the_p_value_is_scipys():
    values = np.random.default_rng(9).normal(0.7, 1, 12)
    measured = rates(ordering(above=0.0), judge(ordering(above=0.0), tables(values)))
    assert measured.p_value == pytest.approx(stats.ttest_1samp(values, 0, alternative="greater").pvalue)
    measured = rates(ordering(below=0.0), judge(ordering(below=0.0), tables(values)))
    assert measured.p_value == pytest.approx(stats.ttest_1samp(values, 0, alternative="greater").pvalue)


def test_the_p_value_of_an_equivalence_is_the_larger_of_two_one_sided_tests():
    values = np.random.default_rng(10).normal(0.02, 0.08, 12)
    measured = rates(value(), judge(value(), tables(values)))
    sides = [
        stats.ttest_1samp(values, -0.1, alternative="greater").pvalue,
        stats.ttest_1samp(values, 0.1, alternative="less").pvalue,
    ]
    assert measured.p_value == pytest.approx(max(sides), rel=1e-6)


@pytest.mark.parametrize("number", [0, 3, 9, 10])
def test_the_p_value_of_a_share_is_the_binomial_tests(number):
    claim = ordering(above=0.5)
    measured = rates(claim, judge(claim, tables([1.0] * number + [0.0] * (10 - number))))
    tests = [stats.binomtest(number, 10, 0.5, alternative=side).pvalue for side in ("greater", "less")]
    assert measured.p_value == pytest.approx(min(tests))


def test_a_skewed_sample_gets_a_wider_interval_until_its_rate_is_met():
    """A few large values among many small ones: Student's interval is too short on their side."""
    values = np.concatenate([np.full(27, 1.0) + 1e-3 * np.arange(27), [9.0, 15.0, 30.0]])
    claim = ordering(below=9.0)
    plain, (widened, measured, _) = judge(claim, tables(values)), calibrated(claim, tables(values))
    assert rates(claim, plain).false_reproduced > FALSE
    assert measured.false_reproduced <= FALSE or widened.verdict == "inconclusive"
    assert widened.observation.level > plain.observation.level


def test_three_equal_counts_decide_no_mean():
    claim = ordering(above=y)
    judgement, *_ = calibrated(claim, tables([2.0, 3.0, 2.0], [1.0, 2.0, 2.0]))
    assert judgement.verdict == "inconclusive"


def test_a_margin_wider_than_the_bounds_has_no_false_world():
    claim = value(0.5, bounds=(0.45, 0.55))
    judgement, measured, _ = calibrated(claim, tables([0.5, 0.51, 0.49, 0.5]))
    assert judgement.verdict == "reproduced"
    assert (measured.false_reproduced, measured.false_contradicted) == (0.0, 0.0)


def test_an_edge_that_no_mean_can_pass_is_no_false_world():
    """The number may be 1 at most, as the statement allows: it can be false below .8 alone."""
    values = 0.905 + 0.03 * stats.norm.ppf((np.arange(10) + 0.5) / 10)
    bounded, free = value(0.9, bounds=(-1.0, 1.0)), value(0.9)
    judgement, measured, _ = calibrated(bounded, tables(values))
    assert judgement.verdict == "reproduced"
    assert measured.false_reproduced < FALSE
    assert measured.p_value == pytest.approx(stats.ttest_1samp(values, 0.8, alternative="greater").pvalue)
    assert measured.p_value < calibrated(free, tables(values))[1].p_value


@pytest.mark.parametrize("number", [-1.0, -0.3])
def test_an_effect_that_every_seed_denies_alike_is_contradicted(number):
    judgement, measured, _ = calibrated(ordering(above=0.0), tables(np.full(10, number)))
    assert judgement.verdict == "contradicted"
    assert (measured.false_reproduced, measured.false_contradicted) == (0.0, 0.0)


def test_the_error_of_a_count_is_that_of_the_order_statistic_with_or_without_ties():
    expected = stats.binom.cdf(1, 10, 0.5)
    for values in (np.full(10, 5.0), np.arange(10.0)):
        claim = count(at_least=3)
        assert rates(claim, judge(claim, tables(values))).false_reproduced == pytest.approx(expected)


def test_counts_on_both_sides_are_no_evidence_against_a_number_between_them():
    claim = count(exactly=5)
    assert rates(claim, judge(claim, tables([3.0] * 5 + [7.0] * 5))).p_value > 0.5
    one_sided = rates(claim, judge(claim, tables([4.0] + [7.0] * 9))).p_value
    assert one_sided == pytest.approx(stats.binom.sf(8, 10, 0.5))


def test_margins_of_a_sentence_about_cells_are_judged_at_its_own_level():
    """Without a margin, half and twice of it change nothing."""
    cells = {str(shift): m.above(x, shift, unit="1") for shift in (0.0, 0.1, 0.2)}
    claim = c.for_all("p/fig1/q", "s", cells, source="Figure 1")
    base = stats.norm.ppf((np.arange(10) + 0.5) / 10)
    for mean in np.linspace(-2, 3, 60):
        (row,) = judge_all([claim], {"t": tables(base + mean)["t"].assign(setting=BASE)}, None).to_dict(
            "records"
        )
        assert row["verdict_half_margin"] == row["verdict_twice_margin"] == row["verdict"]


def test_runs_that_would_decide_a_share_are_more_than_there_are():
    claim = value(1.0, bounds=m.SHARE)
    said = what_would_decide(claim, judge(claim, tables(np.ones(10))))
    runs = int(said.split("about ")[1].split()[0])
    assert stats.binomtest(runs, runs).proportion_ci(0.95, method="exact").low >= 0.9
    assert stats.binomtest(10, 10).proportion_ci(0.95, method="exact").low < 0.9


def test_what_calibration_leaves_open_is_not_called_fragile():
    claim = value(0.9)
    judgement = judge(claim, tables(0.9 + 0.03 * stats.norm.ppf((np.arange(10) + 0.5) / 10)))
    assert judgement.verdict == "reproduced"
    assert not fragility(claim, judgement)
    assert not fragility(claim, replace(judgement, verdict="inconclusive", reason="wrong too often"))


def test_the_rate_of_a_sentence_about_cells_is_that_of_its_weakest_cell():
    strong, weak = tables(np.linspace(5, 6, 10)), tables(np.linspace(-1, 3, 10))
    found = {"t": strong["t"].assign(y=weak["t"]["x"])}
    alone = {
        "a": ordering(above=0.0),
        "b": c.ordering("p/fig1/o", "s", source="", measure=y, unit="1", above=0.0),
    }
    cells = {name: each.first for name, each in alone.items()}
    claim = c.for_all("p/fig1/q", "s", cells, source="Figure 1", stream="p/fig1/o")
    joint = rates(claim, judge(claim, found))
    each = [rates(one, judge(one, found, level=0.975)) for one in alone.values()]
    assert joint.false_reproduced == max(one.false_reproduced for one in each)
    assert joint.p_value == pytest.approx(max(one.p_value for one in each))


def test_a_verdict_that_one_seed_could_change_is_fragile():
    firm = tables([1.0, 1.1, 0.9, 1.0, 1.05, 0.95])
    assert fragility(ordering(above=0.0), judge(ordering(above=0.0), firm)) == ""
    edge = tables([1.0, 1.1, 0.9, 1.0, 1.05, 0.1])
    claim = ordering(above=0.46)
    assert judge(claim, edge).verdict == "reproduced"
    assert "one seed" in fragility(claim, judge(claim, edge))


def test_a_verdict_that_rests_on_the_last_bits_is_fragile():
    claim = value(0.5)
    assert fragility(claim, judge(claim, tables([0.6] * 6))) == "within rounding of an edge"


def test_an_undecided_claim_says_how_many_seeds_would_decide_it():
    values = np.array([-0.5, 1.0, 0.2, 0.9, -0.3, 0.6])
    claim = ordering(above=0.0)
    judgement = judge(claim, tables(values))
    assert judgement.verdict == "inconclusive"
    number = int(what_would_decide(claim, judgement).split("about ")[1].split()[0])
    mean, std = values.mean(), values.std(ddof=1)
    half = [stats.t.ppf(0.975, n - 1) * std / n**0.5 for n in (number, 0.9 * number)]
    assert half[0] < mean < half[1]


def test_or_that_no_number_would():
    claim = value(0.0, std=0.3, n=3)
    judgement = judge(claim, tables(np.linspace(-0.01, 0.01, 10)))
    assert judgement.verdict == "inconclusive"
    assert "no number of seeds" in what_would_decide(claim, judgement)
