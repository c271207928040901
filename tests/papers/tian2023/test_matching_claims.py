"""Matching scores and BatchNorm: what claims measure; what is computed, against training each cell alone;
what the paper says of its own Table 1."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from reprise.contract.experiment import BASE, Context, evaluate
from reprise.contract.tidy import in_numbers
from reprise.engine import registry, run
from reprise.engine.tiers import load_tier
from reprise.errors import RepriseError
from reprise.evidence.judgement import judge
from reprise.evidence.measures import Setting
from reprise.evidence.statistics import mean_interval
from reprise.evidence.verdicts import judge_all
from reprise.papers.tian2023 import printed
from reprise.papers.tian2023.batch_normalization import agreement
from reprise.papers.tian2023.batch_normalization import compute as normalization
from reprise.papers.tian2023.batch_normalization import ideal as ideal_normalization
from reprise.papers.tian2023.batch_normalization.claims import shown as cell_of_figure_11
from reprise.papers.tian2023.batch_normalization.claims import table_cells
from reprise.papers.tian2023.batch_normalization.figures import (
    fig11,
    table1,
    table1_differences,
    table1_whole,
)
from reprise.papers.tian2023.matching_scores import compute as matching
from reprise.papers.tian2023.matching_scores import ideal as ideal_matching
from reprise.papers.tian2023.published import CELL
from reprise.papers.tian2023.sequences import Arm, Cell
from reprise.papers.tian2023.two_layers import train
from reprise.storage import store

MATCHING, NORMALIZATION = "tian2023/matching_scores", "tian2023/batch_normalization"
COMPUTE = {MATCHING: matching, NORMALIZATION: normalization}
TINY = {
    "tokens": 8, "fields": 4, "generators": 8, "filled": 2, "output_dim": 8, "batch_size": 32, "steps": 3,
    "over_parameterisation": (1, 2), "candidates": (1, 2),
}  # fmt: skip
"""A replica's numbers fill whole vectors of the processor: torch's exponentials round the rest otherwise."""
SMALL = {
    MATCHING: {
        **TINY, "seeds": 2, "seeds_compared": 3, "shown_over_parameterisation": 2, "shown_candidates": 2,
    },
    NORMALIZATION: {
        **TINY, "nonuniformity": (2.0, 10.0), "seeds": 3, "figure_seeds": 2, "text_seeds": 1,
        "text_over_parameterisation": 2,
    },
}  # fmt: skip
CELLS_READ = {
    MATCHING: {
        "over_parameterisation": (1, 2, 5, 10), "candidates": (1, 3, 5, 10), "seeds": 3, "seeds_compared": 10,
        "shown_over_parameterisation": 5, "shown_candidates": 3, "steps": 1, "tokens": 12,
    },
    NORMALIZATION: {
        "over_parameterisation": (1, 2, 5, 10), "candidates": (1, 3, 5, 10),
        "nonuniformity": (2.0, 5.0, 10.0), "seeds": 5, "figure_seeds": 3, "text_seeds": 3,
        "text_over_parameterisation": 5, "steps": 2, "tokens": 12,
    },
}  # fmt: skip
"""Settings that the claims need beside `SMALL`."""


def params(id, **changes):
    return registry.experiment(id).params(**{**SMALL[id], **changes})


def computed(id, context=None, **changes):
    return COMPUTE[id].compute(params(id, **changes), context or Context())


def published():
    """Table 1 by (beta, P, mean and variance backpropagated), from the file itself."""
    table = registry.paper("tian2023").printed_numbers()
    return table.set_index(["beta", "P", "backprop_mean", "backprop_variance"])[["value", "std"]]


# Claims, and tables in which they hold.

HOLDING = {
    MATCHING: Setting(ideal_matching.ideal(registry.experiment(MATCHING).params())),
    NORMALIZATION: Setting(ideal_normalization.ideal(registry.experiment(NORMALIZATION).params())),
}
CLAIMS = {claim.id: (id, claim) for id in HOLDING for claim in registry.experiment(id).claims}
SEEDS, MORE_SEEDS = 4, 10
"""Seeds of most cells; of ReLU and linear filters in cells that are judged alone, and of Table 1."""


def changed(tables, query, column="chi_plus", by=0.0):
    table = tables["matching"].copy()
    hit = table.query(query).index
    assert 0 < len(hit) < len(table)
    table.loc[hit, column] += by
    return {**tables, "matching": table}


def table_cell(beta, candidates, mean, variance):
    return (
        f"{TABLE} and beta == {beta} and candidates == {candidates} and {MEAN[mean]} and {VARIANCE[variance]}"
    )


MEAN = {False: "not mean_gradient", True: "mean_gradient"}
VARIANCE = {False: "not variance_gradient", True: "variance_gradient"}
TABLE = "run == 'table'"


@pytest.mark.parametrize("id", HOLDING)
def test_all_claims_can_be_judged_on_what_is_computed(id):
    tables = evaluate(COMPUTE[id].compute, {BASE: params(id, **CELLS_READ[id])}, Context())
    assert {*HOLDING[id]["matching"], "setting"} == set(tables["matching"])
    for claim in registry.experiment(id).claims:
        found = judge(claim, tables)
        assert np.isfinite([found.observed, found.low, found.high, found.reference]).all(), claim.id


@pytest.mark.parametrize("claim_id", CLAIMS)
def test_training_that_diverged_is_no_evidence(claim_id):
    id, claim = CLAIMS[claim_id]
    table = HOLDING[id]["matching"]
    measured = ("chi_plus", "chi_minus", "missed", "noise", "complete")
    lost = table.assign(**{name: np.nan for name in table if name.removeprefix("absolute_") in measured})
    assert judge(claim, {**HOLDING[id], "matching": lost}).verdict == "inconclusive"


def test_all_seeds_that_both_have_are_paired():
    """ReLU and linear nets have more seeds in some cells."""

    def seeds(name):
        _, claim = CLAIMS[f"tian2023/{name}"]
        return {each.seeds for each in judge(claim, HOLDING[MATCHING]).cells.values()}

    assert seeds("fig9/linear-above-relu-at-one-candidate") == {MORE_SEEDS}
    assert seeds("fig10/linear-above-relu-at-one-candidate") == {MORE_SEEDS}
    assert seeds("fig9/linear-chi-plus-unaffected") == {SEEDS, MORE_SEEDS}
    assert seeds("fig9/relu-lowest-chi-minus") == {SEEDS}


@pytest.mark.parametrize("batch_norm", [True, False])
def test_a_cell_of_figure_11_has_the_nets_with_or_without_batchnorm(batch_norm):
    table = HOLDING[NORMALIZATION]["matching"]
    tables = {"matching": table.assign(chi_plus=table["batch_norm"].astype(float))}
    found = cell_of_figure_11(10.0, 5, 3, batch_norm=batch_norm)(tables)
    assert len(found) > 1
    assert set(found) == {float(batch_norm)}


def test_a_cells_claim_has_the_printed_number():
    """A claim's name is the key of the printed number."""
    keys = registry.paper("tian2023").printed_numbers()["key"]
    assert len(keys) == len(set(keys)) == 64
    for key in keys:
        beta, candidates, mean, variance = (
            int(part[-1]) if part[0] in "mv" else int(part.strip("betaP"))
            for part in key.rpartition("/")[2].split("-")
        )
        row = published().loc[(beta, candidates, bool(mean), bool(variance))]
        _, claim = CLAIMS[f"tian2023/{key}"]
        assert (claim.published, claim.published_std, claim.published_n) == (row["value"], row["std"], 3)


def test_the_mean_distance_takes_every_cell_for_itself():
    """Cells that are too high do not make up for others that are too low; nor do they in the whole table."""
    tables = HOLDING[NORMALIZATION]
    for which, by in (("", 0.3), ("not ", -0.3)):
        tables = changed(tables, f"{TABLE} and beta == 5 and {which}mean_gradient", "chi_plus", by)
    found = judge(CLAIMS["tian2023/table1-learning-rate"][1], tables).cells["as corrected, 2e-2"]
    assert found.verdict == "contradicted"
    assert found.observed == pytest.approx(0.3, abs=0.01)
    whole = judge(CLAIMS["tian2023/table1/whole-table"][1], tables)
    assert whole.cells["mean difference"].verdict == "reproduced"
    assert whole.cells["mean square beyond repetitions"].verdict == "contradicted"


def test_other_settings_vary_one_thing_each_in_all_the_cells_or_in_figure_5s():
    chosen = registry.experiment(MATCHING).params()
    others = registry.experiment(MATCHING).declaration.alternatives(chosen)
    varied = {"batch_norm", "variance_gradient", "temperature", "pooled_statistics"}
    for other in others.values():
        changes = {name for name in varied if getattr(other, name) != getattr(chosen, name)}
        assert len(changes) == 1
        varied -= changes
        cells = {*product(other.over_parameterisation, other.candidates)}
        whole = changes <= {"batch_norm", "variance_gradient"}
        assert len(cells) == (16 if whole else 1)
        assert (chosen.shown_over_parameterisation, chosen.shown_candidates) in cells
        assert (other.seeds, other.steps) == (chosen.seeds, chosen.steps)
    assert not varied


# Table 1.


def test_table_1_shows_our_numbers_beside_the_published():
    tables = {"matching": HOLDING[NORMALIZATION]["matching"].assign(setting=BASE)}
    made = table1(tables, registry.experiment(NORMALIZATION).params())
    assert len(made) == 16
    names = {"none": (False, False), "σ²": (False, True), "μ": (True, False), "μ and σ²": (True, True)}
    assert list(made) == ["beta", "P", *(f"{n}: {who}" for n in names for who in ("ours", "published"))]
    for row, (name, flags) in product(made.to_dict("records"), names.items()):
        cell = (row["beta"], row["P"], *flags)
        ours = tables["matching"].query(table_cell(*cell))["chi_plus"]
        assert len(ours) == MORE_SEEDS
        assert row[f"{name}: ours"] == f"{np.mean(ours):.2f} ± {np.std(ours, ddof=1):.2f}"
        theirs = published().loc[cell]
        assert row[f"{name}: published"] == f"{theirs['value']:.2f} ± {theirs['std']:.2f}"


@pytest.mark.parametrize("damage", ["no rows", "no numbers", "a cell missing", "a cell without numbers"])
def test_table_1_without_numbers_is_an_error(damage):
    table = HOLDING[NORMALIZATION]["matching"].assign(setting=BASE)
    hit = (
        table.index
        if damage in ("no rows", "no numbers")
        else table.query(table_cell(2, 3, True, False)).index
    )
    if damage in ("no rows", "a cell missing"):
        table = table.drop(hit)
    else:
        table.loc[hit, ["chi_plus", "chi_minus"]] = np.nan
    with pytest.raises((RepriseError, ValueError, KeyError)):
        table1({"matching": table}, registry.experiment(NORMALIZATION).params())


def test_errors_of_cells_are_welchs():
    cells = table_cells(HOLDING[NORMALIZATION])
    against = agreement.compared(cells)
    for place, row in against.iterrows():
        theirs = published().loc[place]
        spread = np.hypot(theirs["std"], 0.01 / 12**0.5)
        expected = stats.ttest_ind_from_stats(
            cells[place].mean(), cells[place].std(), len(cells), theirs["value"], spread, 3, equal_var=False
        )
        assert row["errors"] == pytest.approx(expected.statistic)
        assert 2 * stats.norm.sf(abs(row["score"])) == pytest.approx(expected.pvalue)
        assert np.sign(row["score"]) == np.sign(row["errors"])


def test_the_slope_is_that_of_the_regression_of_the_means_on_print():
    cells = table_cells(HOLDING[NORMALIZATION])
    printed = [published().loc[place, "value"] for place in cells]
    assert agreement.slopes(cells).mean() == pytest.approx(stats.linregress(printed, cells.mean()).slope)


def test_intervals_of_the_whole_table_hold_the_truth_as_often_as_they_say():
    """Ten seeds against three printed repetitions, cells of either depending on each other through ten
    factors; true scores differ too. Intervals of our seeds' spread alone hold it in 68 to 83 % of draws."""
    rng, draws, seeds = np.random.default_rng(0), 400, 10
    printed, spreads = published()["value"].to_numpy(), published()["std"].to_numpy()
    loadings = rng.normal(size=(10, len(printed)))
    loadings *= spreads / np.linalg.norm(loadings, axis=0)
    off = rng.normal(0, 0.05, len(printed))
    held = dict.fromkeys(("differences", "slopes", "unexplained"), 0)
    for _ in range(draws):
        theirs = printed - (rng.normal(size=(3, 10)) @ loadings).mean(0)  # the means of many repetitions
        ours = theirs + off + rng.normal(size=(seeds, 10)) @ loadings
        cells = pd.DataFrame(ours, columns=published().index).rename_axis(columns=CELL)
        truth = {
            "differences": off.mean(),
            "slopes": stats.linregress(theirs, theirs + off).slope,
            "unexplained": np.square(off).mean(),
        }
        for name, true in truth.items():
            ends = mean_interval(getattr(agreement, name)(cells))
            held[name] += ends.low <= true <= ends.high
    assert min(held.values()) >= 0.93 * draws, held
    assert max(held.values()) < 0.99 * draws, held


def test_the_printed_error_widens_an_interval_to_first_order():
    """The printed error of a mean difference, of which each cell is one of 64 with equal weight."""
    cells = table_cells(HOLDING[NORMALIZATION])
    rng = np.random.default_rng(0)
    cells = cells + rng.normal(0, 0.05, cells.shape)
    spreads = [np.hypot(published().loc[place, "std"], 0.01 / 12**0.5) for place in cells]
    error = np.sqrt(spreads @ cells.corr().to_numpy() @ spreads) / len(spreads) / 3**0.5
    own = (cells - cells.mean()).mean(axis=1).sem()
    found = agreement.differences(cells)
    assert found.sem() == pytest.approx(np.hypot(own, error), rel=1e-9)
    against = agreement.compared(cells)
    assert found.mean() == pytest.approx((against["ours"] - against["printed"]).mean(), abs=1e-12)


def test_the_p_value_is_that_of_a_chi_square():
    assert agreement.p_value(83.7, 64) == pytest.approx(stats.chi2.sf(83.7, 64))
    assert agreement.chi_square(np.array([1.0, -2.0])) == 5


def test_repetitions_of_a_table_differ_from_it_by_no_more_than_repetitions_do():
    """Forty made-up pairs of tables have the printed spreads; one table of each is .15 off in every cell."""
    rng = np.random.default_rng(0)
    unexplained, beyond = [], []
    for _ in range(40):
        table = {
            place: row["value"] + row["std"] * rng.normal(size=10) for place, row in published().iterrows()
        }
        cells = pd.DataFrame(table).rename_axis(columns=CELL)
        for off in (0.0, 0.15):
            unexplained.append(agreement.unexplained(cells + off).mean())
            beyond.append(agreement.outliers(agreement.compared(cells + off)["errors"]))
    assert abs(np.mean(unexplained[::2])) < 0.003 < 0.02 < np.mean(unexplained[1::2])
    assert np.mean(unexplained[1::2]) == pytest.approx(0.15**2, abs=0.004)
    assert np.mean(beyond[1::2]) > 3 * np.mean(beyond[::2])


def test_the_table_as_a_whole_names_its_outliers():
    tables = changed(HOLDING[NORMALIZATION], table_cell(2, 3, False, True), "chi_plus", 0.157)
    made = table1_whole(
        {"matching": tables["matching"].assign(setting=BASE)}, registry.experiment(NORMALIZATION).params()
    )
    assert "beta 2, P 3, gradient through σ²" in list(made["quantity"])
    far = made[made["quantity"].str.startswith("cells beyond")]["ours"].item()
    assert int(far) == made["quantity"].str.contains("gradient through").sum()


def test_the_table_as_a_whole_is_loaded_as_numbers():
    """The p-value is the tail of the chi-square above it, and a cell's errors are its own."""
    matching = HOLDING[NORMALIZATION]["matching"].copy()
    spread = 0.02 * np.random.default_rng(0).normal(size=len(matching))
    matching["chi_plus"] += spread  # so that cells lie off in both directions
    tables = changed({"matching": matching}, table_cell(2, 3, False, True), "chi_plus", 0.157)
    made = table1_whole(
        {"matching": tables["matching"].assign(setting=BASE)}, registry.experiment(NORMALIZATION).params()
    )
    numbers = in_numbers(made).set_index("quantity")
    assert [column for column in numbers if numbers[column].dtype.kind != "f"] == []
    ours = numbers["ours"]
    tail = stats.chi2.sf(ours["chi-square of the cells"], df=ours["cells"])
    assert ours["p-value of the chi-square"] == pytest.approx(tail, rel=0.06, abs=1e-12)
    cell = numbers.loc["beta 2, P 3, gradient through σ²"]
    printed = published().loc[(2, 3, False, True)]
    assert (cell["in print"], cell["in print, std"]) == pytest.approx((printed["value"], printed["std"]))
    ours_there = tables["matching"].query(table_cell(2, 3, False, True))["chi_plus"]
    assert cell["ours"] == pytest.approx(ours_there.mean(), abs=5.1e-4)
    assert np.sign(cell["standard errors"]) == np.sign(cell["ours"] - cell["in print"])


def test_every_cell_shows_its_difference_both_scores_and_its_verdict():
    place = (2, 3, False, True)
    tables = changed(HOLDING[NORMALIZATION], table_cell(*place), "chi_plus", 0.3)
    matching = tables["matching"].assign(setting=BASE)
    params = registry.experiment(NORMALIZATION).params()
    figure = table1_differences({"matching": matching}, params)
    judged = judge_all(registry.experiment(NORMALIZATION).claims, [{"matching": matching}], params)
    verdicts = judged.set_index("claim")["verdict"]  # as the report has them
    place_of = ["beta", "candidates", "mean_gradient", "variance_gradient"]
    rows = matching.query("run == 'table'").groupby(place_of)["chi_plus"]
    panel = figure.axes[0]
    texts = {tuple(np.floor(text.get_position())): text.get_text() for text in panel.texts}
    assert len(texts) == 64
    flows = list(product((False, True), repeat=2))
    for index, (key, ours) in enumerate(rows):
        printed = published().loc[key]
        text = texts[flows.index(key[2:]), index // 4]
        first, second = text.split("\n")
        assert float(first.split()[0]) == pytest.approx(ours.mean() - printed["value"], abs=0.0051)
        verdict = verdicts["tian2023/table1/beta{}-P{}-mean{:d}-var{:d}".format(*key)]
        assert first.split()[1] == {"reproduced": "✓", "contradicted": "✗", "inconclusive": "?"}[verdict]
        assert (verdict == "contradicted") == (key == place)
        assert second == (
            f"{ours.mean():.2f} ± {ours.std():.2f}  |  {printed['value']:.2f} ± {printed['std']:.2f}"
        )
    assert "✗ contradicted" in panel.get_xlabel()
    mesh = panel.collections[0]
    assert mesh.norm.vmin == -mesh.norm.vmax  # no difference is the colour in the middle
    shown = [[float(texts[flow, row].split()[0]) for flow in range(4)] for row in range(16)]
    np.testing.assert_allclose(mesh.get_array().reshape(16, 4), shown, atol=0.0051)


def test_figure_11_shows_the_printed_scores_at_their_places():
    params = registry.experiment(NORMALIZATION).params()
    figure = fig11({"matching": HOLDING[NORMALIZATION]["matching"].assign(setting=BASE)}, params)
    shown = {}
    for panel, (zeta, candidates) in zip(
        figure.axes, product(params.nonuniformity, params.candidates), strict=True
    ):
        for line in panel.lines:
            if line.get_marker() == "x":
                shown |= {(zeta, beta, candidates): score for beta, score in line.get_xydata()}
    expected = published().xs((True, False), level=["backprop_mean", "backprop_variance"])["value"]
    assert shown == {(10, *place): score for place, score in expected.items()}


# Computation.


def test_matching_scores_are_complete():
    """Every combination once, with more seeds of ReLU and linear nets."""

    def seeds_of(objective, activation, beta, candidates):
        return 3 if activation in ("relu", "linear") else 2

    table = computed(MATCHING)["matching"]
    expected = {
        (objective, activation, beta, candidates, seed)
        for objective, activation, beta, candidates in product(
            ("infonce_cosine", "quadratic_cosine"),
            ("linear", "relu", "leaky_relu", "quadratic", "sigmoid"),
            (1, 2),
            (1, 2),
        )
        for seed in range(seeds_of(objective, activation, beta, candidates))
    }
    keys = table[["objective", "activation", "beta", "candidates", "seed"]]
    assert sorted(keys.itertuples(index=False, name=None)) == sorted(expected)
    assert np.isfinite(table[["chi_plus", "chi_minus"]]).all(axis=None)
    filters = computed(MATCHING)["filters"]
    axes = filters[["activation", "field", "token", "unit"]]
    assert sorted(axes.itertuples(index=False, name=None)) == sorted(
        product(("relu", "linear"), range(4), range(8), range(4))
    )


def test_scores_of_batch_normalization_are_complete():
    table = computed(NORMALIZATION)["matching"]
    expected = []
    for beta, candidates in product((1, 2), (1, 2)):
        flags = list(product((False, True), (False, True)))
        expected += [(beta, candidates, 10.0, True, *f, 2e-2, s) for f in flags for s in range(3)]
        expected += [(beta, candidates, 2.0, True, True, False, 2e-2, s) for s in range(2)]
        expected += [
            (beta, candidates, z, False, True, False, 2e-2, s) for z in (2.0, 10.0) for s in range(2)
        ]
        if beta == 2:
            expected += [(beta, candidates, 10.0, True, *f, 2e-3, 0) for f in flags]
    keys = ["beta", "candidates", "zeta", "batch_norm", "mean_gradient", "variance_gradient", "learning_rate"]
    assert sorted(table[[*keys, "seed"]].itertuples(index=False, name=None)) == sorted(expected)
    assert np.isfinite(table[["chi_plus", "chi_minus"]]).all(axis=None)


def alone(params, cell, arm, seed):
    """The two scores of one replica trained by itself."""
    scores = train(params, cell, [arm], [seed]).scores
    return scores["chi_plus"].item(), scores["chi_minus"].item()


@pytest.mark.parametrize("variance_gradient", [False, True])
@pytest.mark.parametrize("batch_norm", [False, True])
def test_a_matching_score_is_that_of_a_replica_trained_alone(variance_gradient, batch_norm):
    chosen = params(MATCHING, variance_gradient=variance_gradient, batch_norm=batch_norm)
    table = matching.compute(chosen, Context())["matching"]
    seen = set()
    for row in table.query("seed == 1 and (beta == 2 or candidates == 2)").to_dict("records"):
        arm = Arm(row["activation"], row["objective"], variance=variance_gradient)
        found = alone(chosen, Cell(row["beta"], row["candidates"], batch_norm), arm, 1)
        assert found == (row["chi_plus"], row["chi_minus"])
        seen.add(found)
    assert len(seen) > 20  # of 30: some activations have the same filters as others


def test_a_score_under_batch_normalization_is_that_of_a_replica_trained_alone():
    chosen = params(NORMALIZATION)
    seen = set()
    table = normalization.compute(chosen, Context())["matching"]
    for row in table.query("seed == seed.max() or beta == 2").query("candidates == 2").to_dict("records"):
        arm = Arm(mean=row["mean_gradient"], variance=row["variance_gradient"], zeta=row["zeta"])
        cell = Cell(row["beta"], row["candidates"], row["batch_norm"])
        at_rate = chosen.model_copy(update={"learning_rate": row["learning_rate"]})
        found = alone(at_rate, cell, arm, row["seed"])
        assert found == (row["chi_plus"], row["chi_minus"])
        seen.add((found, row["seed"]))
    assert len(seen) > 15


def test_figure_11_takes_table_1s_cells_where_they_are_the_same():
    """Mean-backprop BatchNorm at zeta = 10 is trained once, and is there for the seeds of both."""
    table = computed(NORMALIZATION)["matching"].query("learning_rate == 0.02")
    shared = table.query("zeta == 10 and batch_norm and mean_gradient and not variance_gradient")
    keys = ["beta", "candidates", "seed"]
    assert not shared.duplicated(keys).any()
    without = table.query("zeta == 10 and not batch_norm")
    assert len(shared.merge(without, on=keys)) == len(without) == 2 * 2 * 2
    for row in shared.to_dict("records"):
        found = alone(
            params(NORMALIZATION), Cell(row["beta"], row["candidates"]), Arm(zeta=10.0), row["seed"]
        )
        assert found == (row["chi_plus"], row["chi_minus"])


def test_the_filters_drawn_are_those_that_are_scored():
    """χ+ and χ- of the drawn weights, by their definition."""
    tables = computed(MATCHING)
    for activation in ("relu", "linear"):
        rows = tables["filters"][tables["filters"]["activation"] == activation]
        plus, minus = [], []
        for _, field in rows.groupby("field"):
            weights = field.pivot(index="token", columns="unit", values="weight").to_numpy()
            relevant = field.groupby("token")["relevant"].first().to_numpy()
            length = np.sqrt((weights**2).sum(0)) + max(np.abs(weights).max() / 1000, 1e-6)
            cosine = weights / length
            best = np.stack([cosine.max(1), np.abs(cosine).max(1)])
            assert relevant.any()
            plus.append(best[:, relevant].mean(1))
            minus.append(best[:, ~relevant].mean(1))
        (row,) = (
            tables["matching"]
            .query("seed == 0 and beta == 2 and candidates == 2 and objective == 'infonce_cosine'")
            .query(f"activation == '{activation}'")
            .to_dict("records")
        )
        for name, scores in (("chi_plus", plus), ("chi_minus", minus)):
            found = [row[name], row[f"absolute_{name}"]]
            assert np.mean(scores, axis=0) == pytest.approx(found, rel=1e-5)


# A computation that is killed goes on.


class Killed(Exception):
    pass


def keeping(folder):
    return Context(
        cached=lambda name, make: store.cached_table(folder, "key", name, lambda: make(lambda share: None))
    )


@pytest.mark.parametrize("blocks", [0, 1, 3])
@pytest.mark.parametrize("id", HOLDING)
def test_a_killed_computation_goes_on_where_it_was(id, blocks, monkeypatch, tmp_path):
    trained = []

    def counted(params, cell, arms, seeds, *rest):
        if len(trained) == killed_at:
            raise Killed
        trained.append((params.learning_rate, cell, tuple(arms), tuple(seeds)))
        return train(params, cell, arms, seeds, *rest)

    monkeypatch.setattr(COMPUTE[id], "train", counted)
    killed_at = None
    expected = computed(id, keeping(tmp_path / "whole"))
    whole, killed_at = list(trained), blocks
    trained.clear()
    context = keeping(tmp_path)
    with pytest.raises(Killed):
        computed(id, context)
    assert trained == whole[:blocks]
    killed_at = None
    found = computed(id, context)
    assert trained == whole  # no block twice
    for name, table in expected.items():
        pd.testing.assert_frame_equal(found[name], table, check_exact=True)
    assert len(whole) == len(set(whole)) > 4


@pytest.mark.parametrize("id", HOLDING)
def test_progress_never_goes_back(id, checkout):
    seen = []
    run.run(load_tier("smoke").experiment(id), lambda done, total, what: seen.append((done, total)))
    assert len(seen) > 10
    assert seen == sorted(seen)
    assert len({total for _, total in seen}) == 1
    assert seen[-1][0] == seen[-1][1]


# The paper's sentences about its own table.


@pytest.fixture
def table():
    return registry.paper("tian2023").printed_numbers()


def test_where_the_table_is_worse_is_at_beta_10_and_10_candidates(table):
    gains = printed.gains({"published": table})
    assert sorted(gains[gains < -0.005].index) == [(10, 10, False), (10, 10, True)]
    for (beta, candidates, mean), gain in gains.items():
        cell = table[(table["beta"] == beta) & (table["P"] == candidates) & (table["backprop_mean"] == mean)]
        with_it, without = (cell.loc[cell["backprop_variance"] == f, "value"].item() for f in (True, False))
        assert gain == without - with_it


def test_other_artifacts_are_not_read(table):
    alien = table.assign(artifact="Table 9", value=-table["value"])
    claim = printed.variance_detached_better
    assert judge(claim, {"published": pd.concat([table, alien])}) == judge(claim, {"published": table})
