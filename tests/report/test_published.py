"""Every printed number stands beside ours once, and only what measures the same thing is compared."""

import csv
import io
import zipfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from reprise.contract.experiment import BASE
from reprise.engine import registry
from reprise.engine.tiers import load_tier
from reprise.ledger import plan
from reprise.report import agreement, published
from reprise.report.schema import Claim, Figure, Paper, PrintedNumber

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "results"
KEYS = [key for key, paper in registry.papers().items() if len(paper.printed_numbers())]
is_published = pytest.mark.skipif(
    not (FOLDER / "published.csv").is_file(), reason="no printed numbers are published yet"
)


def printed(**fields):
    blank = dict.fromkeys(PrintedNumber.model_fields)
    return PrintedNumber(
        **{
            **blank, "key": "table1/a", "artifact": "Table 1", "row": "a", "value": 0.5, "places": 2,
            "unit": "share", "claim": "", "setting": "not judged", "note": "", "together": 0, "gpu_jobs": 0,
            "longest_job_gpus": 0, **fields,
        }
    )  # fmt: skip


def paper(*numbers, **fields):
    return Paper.model_construct(key="new2030", numbers=list(numbers), figures=[], claims=[], **fields)


# The prediction interval.


@pytest.mark.parametrize(("seeds", "repetitions"), [(5, 1), (20, 3)])
def test_a_prediction_interval_holds_95_percent_of_further_means(seeds, repetitions):
    """For normal runs the interval is exact, however few there are: 4,000 worlds are within 4 standard
    errors."""
    draws, worlds = np.random.default_rng(0), 4000
    held = 0
    for _ in range(worlds):
        low, high = published.predicted(draws.normal(3.0, 2.0, seeds), repetitions)
        held += low <= draws.normal(3.0, 2.0, repetitions).mean() <= high
    assert abs(held / worlds - 0.95) < 4 * np.sqrt(0.95 * 0.05 / worlds)


def test_runs_without_spread_predict_their_own_number_and_one_run_predicts_none():
    assert published.predicted([0.25] * 3, 3) == (0.25, 0.25)
    assert published.predicted([0.1], 3) == (None, None)
    assert published.is_inside(0.1, 1, None, None) is None


@pytest.mark.parametrize(
    ("value", "places", "inside"),
    [
        (0.31, 2, True), (0.30, 2, True), (0.29, 2, False), (0.35, 2, True), (0.36, 2, False), (0.3, 1, True),
        (0.4, 1, True), (0.2, 1, False),
    ],
)  # fmt: skip
def test_a_printed_number_stands_for_all_that_round_to_it(value, places, inside):
    """0.30 may be 0.304, which lies in the interval; 0.29 is at most 0.295."""
    assert published.is_inside(value, places, 0.304, 0.354) is inside


# Words.


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"key": "k", "artifact": "Table 1", "beta": 1, "P": 3, "backprop_mean": True,
          "backprop_variance": False, "metric": "chi", "value": 0.1, "std": 0.2},
         "beta = 1, P = 3, backprop mean, no backprop variance"),
        ({"loss": "SimCLR", "projector": "none", "unit": "%", "source": "Table 1"}, "SimCLR, no projector"),
        ({"row": "FroSSL", "column": "epoch 3", "value": 44.8}, "FroSSL, epoch 3"),
        ({"artifact": "Table 9", "value": 2.0, "key": float("nan")}, ""),
    ],
)  # fmt: skip
def test_the_place_of_a_number_is_what_its_row_says(row, words):
    assert published.place(row) == words


@pytest.mark.parametrize("key", KEYS)
def test_places_within_a_table_differ(key):
    rows = registry.paper(key).printed_numbers().to_dict("records")
    places = [(row["artifact"], published.place(row)) for row in rows]
    assert len(set(places)) == len(places)
    assert all(words for _, words in places)


def test_cells_of_a_line_show_what_is_compared_and_what_is_not():
    same = printed(
        value=-0.001, std=0.24, setting="the same", observed=0.1, low=0.05, high=0.15, difference=0.101,
        difference_low=-0.2, difference_high=0.4, predicted_low=-0.5, predicted_high=0.2, inside=True,
    )  # fmt: skip
    assert published.line(same) == (
        "0.00 ± 0.24", "0.100 [0.050, 0.150]", "0.10 [−0.20, 0.40]", "in [−0.50, 0.20]", "the same",
    )  # fmt: skip
    other = printed(
        setting="reduced", observed=0.4, low=0.3, high=0.5, gpu_hours=12.34, together=7, note="did not learn"
    )
    assert published.line(other) == ("0.50", "0.40 [0.30, 0.50]", "—", "—", "reduced; did not learn")


def test_a_summary_counts_each_number_once_and_each_run_once():
    numbers = [
        printed(setting="the same", inside=True, difference=0.2, claim="a"),
        printed(setting="the same, with assumptions", inside=False, difference=-0.1, claim="b"),
        printed(setting="the same", claim="c"),
        printed(setting="reduced", gpu_hours=3.0, claim="d"),
        printed(setting="not run", gpu_hours=3.0, claim="e"),
        printed(setting="not run", gpu_hours=2.0, claim="f"),
        printed(),
    ]
    experiments = {"d": "k/one", "e": "k/one", "f": "k/two"}
    claims = {id: Claim.model_construct(id=id, experiment=name) for id, name in experiments.items()}
    found = published.summary(numbers, claims)
    assert (found.numbers, found.same, found.inside, found.with_interval) == (7, 3, 1, 2)
    assert (found.reduced, found.not_run, found.not_judged) == (1, 2, 1)
    assert found.same + found.reduced + found.not_run + found.not_judged == found.numbers
    assert found.mean_difference == pytest.approx(0.05)
    assert found.gpu_hours == 5.0


def test_one_line_says_how_many_numbers_agree_and_what_the_others_cost():
    claims = {id: Claim.model_construct(id=id, experiment="k/one") for id in "abde"}
    compared = [
        printed(setting="the same", inside=True, difference=-0.25, claim="a"),
        printed(setting="the same", inside=False, difference=0.05, claim="b"),
    ]
    run = {"gpu_hours": 81.0, "gpu_jobs": 3, "longest_job_hours": 5.0, "longest_job_gpus": 8, "together": 9}
    waiting = [printed(setting="reduced", claim="d", **run), printed(setting="not run", claim="e", **run)]
    agree = (
        "1 of 2 printed numbers lie in the prediction intervals of our runs; ours are 0.1 lower on average"
    )
    assert published.answer(compared, claims) == agree
    about = [
        Claim.model_construct(label=label, relation=relation, ground=ground)
        for label, relation, ground in (
            ("reproduced", "above", "paper scale"),
            ("contradicted", "near", "errata"),
            ("leans yes", "near", "paper scale"),
            ("tied", "near", "paper scale"),
        )
    ]
    assert published.answer(compared, claims, about) == f"{agree}; judged as a whole: leans yes"
    cost = "as published, 9 numbers take 81.0 GPU-hours: 3 jobs, the longest 5.0 hours on 8 A100"
    assert published.answer(waiting, claims) == f"Not compared: 1 reduced, 1 not run; {cost}"
    assert (
        published.answer([*compared, *waiting, printed()], claims)
        == f"{agree}; not compared: 1 reduced, 1 not run, 1 not judged; {cost}"
    )


def test_sentences_about_a_table_are_not_those_about_its_numbers():
    claims = [
        Claim.model_construct(id=id, verdict=verdict, ground=ground, relation=relation)
        for id, verdict, ground, relation in (
            ("a", "reproduced", "single numbers", "near"),
            ("misprint", "contradicted", "errata", "near"),
            ("order", "reproduced", "paper scale", "above"),
            ("whole", "reproduced", "paper scale", "near"),
            ("later", "not run", "not run", "near"),
        )
    ]
    table = Figure.model_construct(number="Table 1", claims=[claim.id for claim in claims])
    made = Paper.model_construct(numbers=[printed(claim="a")], figures=[table], claims=claims)
    assert [claim.id for claim in published.whole(made, "Table 1")] == ["whole", "order", "misprint"]
    assert published.whole(made, "Table 2") == []


# The picture.


def test_what_was_measured_on_other_images_lies_on_no_axis_with_print():
    made = paper(
        printed(setting="the same", value=0.2, observed=0.3, low=0.2, high=0.4, difference=0.1, inside=True),
        printed(
            setting="the same", value=0.6, observed=0.1, low=0.0, high=0.2, difference=-0.5, inside=False
        ),
        printed(setting="reduced", value=0.9, observed=0.7, low=0.6, high=0.8),
        printed(setting="not run", value=0.95),
    )
    scatter, bars = agreement.figure([made]).axes
    drawn = {tuple(line.get_xydata()[0]) for line in scatter.lines if len(line.get_xydata()) == 1}
    assert drawn == {(0.2, 0.3), (0.6, 0.1)}
    assert [patch.get_width() for patch in bars.patches] == [1, 1, 1, 1]
    plt.close("all")


def test_where_nothing_was_measured_as_published_the_picture_has_counts_alone():
    (bars,) = agreement.figure([paper(printed(setting="reduced", observed=0.7), printed())]).axes
    assert [patch.get_width() for patch in bars.patches] == [0, 0, 1, 1]
    plt.close("all")


# Costs.


def test_hours_are_those_that_a_plan_of_the_paper_tier_gives():
    """A plan leaves out what is in the cache: here nothing is."""
    tier = load_tier("default", ROOT)
    ids = ("jing2022/projector_spectra", "skean2024/linear_probes", "skean2024/early_lead")
    whole = load_tier("paper", ROOT)
    for id in ids:
        made = published.PrintedNumbers(tier, registry.paper(id.split("/")[0]), {})
        planned = plan.estimate(whole.experiment(id)).gpu_hours
        assert planned > 0
        cost = made._cost(id)
        assert cost["gpu_hours"] >= planned * (1 - 1e-9)
        whole_run = cost["gpu_jobs"] * cost["longest_job_hours"] * cost["longest_job_gpus"]
        assert cost["longest_job_hours"] < cost["gpu_hours"] <= whole_run * (1 + 1e-9)


# Publication.


@is_published
def test_every_printed_number_is_published_once_as_it_is_printed():
    """The papers' own files are read as text: `0.30` stays `0.30`."""
    expected = []
    for key in [each.key for each in registry.in_order()]:
        file = registry.folder(key) / "published.csv"
        for row in csv.DictReader(file.open(encoding="utf-8")) if file.is_file() else ():
            spread = f" ± {row['std']}" if row.get("std") else ""
            value = row["value"].removeprefix("-") if float(row["value"]) == 0 else row["value"]
            expected.append((key, row["artifact"], f"{value}{spread}".replace("-", "−")))
    rows = csv.DictReader((FOLDER / "published.csv").open(encoding="utf-8"))
    assert [(row["paper"], row["artifact"], row["printed"]) for row in rows] == expected
    assert expected


@is_published
def test_published_numbers_of_table_1_are_those_of_the_recorded_tables():
    """tian2023's scores, from the bundle alone: mean, and whether a mean of three further runs would reach
    the printed one."""
    with zipfile.ZipFile(FOLDER / "recorded.zip") as bundle:
        (name,) = [
            each for each in bundle.namelist() if each.endswith("batch_normalization/matching.parquet")
        ]
        scores = pd.read_parquet(io.BytesIO(bundle.read(name)))
    shown = pd.read_csv(FOLDER / "published.csv").query("paper == 'tian2023'")
    cells = registry.paper("tian2023").printed_numbers()
    assert len(shown) == len(cells) == 64
    for row, cell in zip(shown.to_dict("records"), cells.to_dict("records"), strict=True):
        own = scores[
            (scores["run"] == "table") & (scores["setting"] == BASE) & (scores["beta"] == cell["beta"])
            & (scores["candidates"] == cell["P"]) & (scores["mean_gradient"] == cell["backprop_mean"])
            & (scores["variance_gradient"] == cell["backprop_variance"])
        ]["chi_plus"].to_numpy()  # fmt: skip
        assert row["observed"] == pytest.approx(own.mean(), rel=1e-4, abs=1e-5)
        assert row["difference"] == pytest.approx(own.mean() - cell["value"], rel=1e-3, abs=1e-5)
        error = np.std(own, ddof=1) * np.sqrt(1 / len(own) + 1 / 3)
        off = max(0.0, abs(own.mean() - cell["value"]) - 0.005)
        assert row["inside"] == (off <= stats.t.ppf(0.975, len(own) - 1) * error + 1e-9)


@is_published
def test_no_difference_is_taken_from_what_is_reduced_or_was_not_run():
    rows = pd.read_csv(FOLDER / "published.csv")
    other = ~rows["setting"].isin(published.SAME)
    assert rows.loc[other, ["difference", "predicted_low", "inside"]].isna().all(axis=None)
    verdicts = pd.read_csv(FOLDER / "verdicts.csv").set_index("claim")["verdict"]
    judged = rows[rows["claim"].notna()]
    assert (verdicts[judged["claim"]].to_numpy() == judged["verdict"].to_numpy()).all()
    needing = rows["setting"].isin(["not run", "reduced"]) & rows["verdict"].eq("not run")
    assert (rows.loc[needing, "gpu_hours"] > 0).all()


@is_published
def test_the_page_of_printed_numbers_has_a_row_each():
    page = (FOLDER / "published.md").read_text(encoding="utf-8")
    rows = pd.read_csv(FOLDER / "published.csv")
    for (key, artifact), some in rows.groupby(["paper", "artifact"]):
        section = page.partition(f"\n## {key}, {artifact}\n")[2].partition("\n## ")[0]
        table = [line for line in section.splitlines() if line.startswith("| ")][2:]
        assert [line.split(" | ")[0].removeprefix("| ") for line in table] == list(some["row"])
