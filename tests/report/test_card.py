"""The card of a claim says what the tables, the paper's files and the source say."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from reprise.engine import registry, run, tiers
from reprise.engine.check import Verdicts
from reprise.engine.coverage import coverage
from reprise.engine.draw import Drawing
from reprise.errors import RepriseError
from reprise.report.card import as_json, card
from reprise.report.numbers import number
from reprise.storage import store

ROOT = Path(__file__).parents[2]
KEY = "jing2022"
ID = f"{KEY}/layer_alignment"
CLAIM = f"{KEY}/fig4/towards-identity"


@pytest.fixture(scope="module")
def tier(tmp_path_factory):
    """A tier in which one experiment has run."""
    root = tmp_path_factory.mktemp("ran")
    shutil.copytree(ROOT / "configs", root / "configs")
    smoke = tiers.load_tier("smoke", root).overrides[ID] | {"seeds": 3}
    settings = ", ".join(f"{name}: {value}" for name, value in smoke.items())
    text = f"tier: tiny\nlooked: {{{ID}: its steps}}\nexperiments:\n  {ID}: {{{settings}}}\n"
    (root / "configs" / "tiny.yaml").write_text(text)
    (root / ".git").touch()  # git fails here, wherever the folder lies
    tier = tiers.load_tier("tiny", root)
    run.run(tier.experiment(ID))
    return tier


def fields(text):
    """The card's title, and its texts by their labels."""
    title, *lines = text.splitlines()
    found = {}
    for line in lines:
        label = line[:16].strip() or label
        found.setdefault(label, []).append(line[16:])
    return title, {label: " ".join(parts) for label, parts in found.items()}


def test_a_card_says_what_was_found_and_where_it_lies(tier):
    title, said = fields(card(CLAIM, tier))
    row = Verdicts(registry.paper(KEY), tier).judged().set_index("claim").loc[CLAIM]
    claim, _ = registry.claims()[CLAIM]
    assert title == CLAIM
    assert said["says"] == claim.statement
    assert said["source"] == "Figure 4, Section 5.3"
    assert said["verdict"].startswith(row["verdict"])
    assert "changed after seeing results: its steps" in said["notes"]
    assert "steps" in said["basis"]  # a departure
    table = pd.read_parquet(tier.results / ID / "trajectory.parquet")
    of_arm = table.query("setting == 'published' and arm == 'independent'")
    ends = of_arm[of_arm["step"] == of_arm["step"].max()]["off_diagonal_mass"]
    assert float(said["observed"].split()[0]) == pytest.approx(
        ends.mean(), abs=(row["high"] - row["low"]) / 40
    )
    assert said["seeds"].startswith("3: ")
    assert said["table file"] == f"results/tiny/{ID}/trajectory.parquet"
    assert said["run it again"].startswith(
        f"reprise run {ID} --tier tiny && reprise check {KEY} --tier tiny (took "
    )
    record = store.load_record(tier.results / ID, "")
    assert said["commit"] == f"{record['commit']} ({record['commit_problem']})"
    file, line = said["written in"].split(":")
    decorator = (ROOT / file).read_text().splitlines()[int(line) - 1 :]
    assert decorator[0] == "@claim("
    assert "fig4/towards-identity" in decorator[1]


def test_it_quotes_the_paper_and_names_the_figure(tier):
    _, said = fields(card(CLAIM, tier, width=100_000))
    entries = [row for row in coverage(registry.paper(KEY)) if CLAIM in row["covered_by"].split()]
    assert entries
    for entry in entries:
        quoted = entry["item"].removeprefix("Sentence: “").removesuffix("”")
        assert f"{quoted} ({entry['section']})" in said["in the paper"]
    assert said["figure"] == f"Figure 4, {KEY}/fig04: reprise draw {KEY}/fig04 --tier tiny"
    Drawing(registry.artifact(f"{KEY}/fig04"), tier).draw()
    _, said = fields(card(CLAIM, tier))
    assert said["figure"] == f"Figure 4, {KEY}/fig04: figures/tiny/{KEY}/fig04.pdf"


def test_a_claim_without_results_says_how_to_get_them(tier):
    _, said = fields(card("tian2023/table1/beta1-P1-mean0-var1", tier, width=1000))
    assert said["verdict"] == (
        "not run: no results; compute them with: reprise run tian2023/batch_normalization --tier tiny"
    )
    assert said["published"] == "0.23 ± 0.06 matching score, 3 repetitions"
    assert said["holds if"] == "near 0.23"
    assert said["margin"] == "0.1"
    assert "observed" not in said


def test_stale_results_are_not_shown(tier, monkeypatch):
    monkeypatch.setattr(registry.Experiment, "code", lambda self, params: "edited")
    _, said = fields(card(CLAIM, tier, width=1000))
    assert said["verdict"].startswith("not run: ")
    assert "made by other code than is here now" in said["verdict"]
    assert "observed" not in said


def test_a_target_of_ours_is_not_called_published(tier):
    _, said = fields(card(f"{KEY}/fig4/off-diagonal", tier, width=1000))
    assert "published" not in said
    assert said["holds if"] == "near 0 (the target that the paper implies; it prints no such number)"
    _, said = fields(card(CLAIM, tier, width=1000))
    assert said["holds if"].endswith(" (measured in the same run)")
    _, said = fields(card(f"{KEY}/lemma1/gradient-flow", tier, width=1000))
    assert said["holds if"] == "at most 1e−6 (more is not rounding)"


def test_a_figures_card_names_its_claims_and_files(tier):
    title, said = fields(card(f"{KEY}/fig04", tier, width=1000))
    assert title == f"{KEY}/fig04"
    assert said["figure"].startswith("Figure 4 of Understanding Dimensional Collapse")
    assert said["shows"] == registry.artifact(f"{KEY}/fig04").caption
    assert f"not judged: {CLAIM}" in said["claims"]
    assert "/fig5/" not in said["claims"]
    assert said["from"] == f"results/tiny/{ID}"
    assert re.fullmatch(rf"src/reprise/papers/{ID}/figures.py:\d+", said["written in"])


def test_a_drawing_that_is_not_up_to_date_is_not_shown_as_one(tier, monkeypatch):
    Drawing(registry.artifact(f"{KEY}/fig04"), tier).draw()
    _, said = fields(card(f"{KEY}/fig04", tier, width=1000))
    endings = ("pdf", "svg", "csv", "png")
    assert said["files"].split() == [f"figures/tiny/{KEY}/fig04.{ending}" for ending in endings]
    monkeypatch.setattr(registry, "artifact_code", lambda id: "edited")
    _, said = fields(card(f"{KEY}/fig04", tier, width=1000))
    assert said["files"].startswith("not up to date: ")
    assert said["files"].endswith("drawn by other code than is here now")
    _, said = fields(card(CLAIM, tier, width=1000))
    assert said["figure"] == f"Figure 4, {KEY}/fig04: reprise draw {KEY}/fig04 --tier tiny"


@pytest.mark.parametrize("id", ["jing2022/fig4/nothing-like-it", "nobody/fig01", ""])
def test_an_unknown_id_is_one_line(tier, id):
    with pytest.raises(RepriseError, match=r"^unknown id '") as caught:
        card(id, tier)
    assert len(str(caught.value)) < 300


def test_an_experiments_card_names_its_claims_and_figures(tier):
    title, said = fields(card("layer alignment", tier, width=1000))
    assert (title, said["state"]) == (ID, "done")
    for claim in registry.experiment(ID).claims:
        assert f": {claim.id}" in said["claims"]
    assert f"{KEY}/fig04" in said["figure"]
    assert said["in"] == f"results/tiny/{ID}"
    assert said["written in"] == f"src/reprise/papers/{ID}/experiment.py"
    assert said["run it again"].startswith(f"reprise run {ID} --tier tiny (about ")
    _, said = fields(card(f"{KEY}/gradient_flow", tier, width=1000))
    assert said["state"] == f"no results; reprise run {KEY}/gradient_flow --tier tiny"


def test_a_card_as_json_says_what_the_card_says(tier):
    _, said = fields(card(CLAIM, tier, width=1000))
    content = as_json(CLAIM, tier)
    assert (content["id"], content["statement"]) == (CLAIM, said["says"])
    assert said["verdict"].startswith(content["verdict"])
    assert number(content["reference"]) in said["holds if"]
    assert as_json("layer alignment", tier)["state"] == "done"
    assert as_json(f"{KEY}/fig4", tier)["claims"][CLAIM] == "not judged"
