"""Two runs are compared claim by claim and number by number, without a change of either."""

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from reprise.cli import main
from reprise.engine import registry, tiers
from reprise.engine.check import Verdicts
from reprise.errors import RepriseError
from reprise.evidence.verdicts import judge_all
from reprise.ledger import bundling, diff, drift
from reprise.storage import disk, records

ROOT = Path(__file__).parents[2]
KEY = "jing2022"
ID = f"{KEY}/layer_alignment"
CLAIM = f"{KEY}/fig4/off-diagonal"


@pytest.fixture(scope="module")
def checked(ran, tmp_path_factory):
    """A checkout in which one experiment has run and its paper is checked."""
    root = shutil.copytree(ran, tmp_path_factory.mktemp("checked"), dirs_exist_ok=True)
    tier = tiers.load_tier("tiny", root)
    verdicts = Verdicts(registry.paper(KEY), tier)
    evidence = verdicts.evidence()
    verdicts.save(verdicts.judged(), evidence)
    return root


@pytest.fixture
def pair(checked, tmp_path):
    """Two copies of its results."""
    folders = tmp_path / "before" / "tiny", tmp_path / "after" / "tiny"
    for folder in folders:
        shutil.copytree(checked / "results" / "tiny", folder)
    return folders


def edit(folder, change=lambda tables: None, **fields):
    """Changes tables and fields of a record, as another run would have made them."""
    tables = {file.stem: pd.read_parquet(file) for file in (folder / ID).glob("*.parquet")}
    record = records.unseal((folder / ID / "run.json").read_text())
    change(tables)
    for name, table in tables.items():
        table.to_parquet(folder / ID / f"{name}.parquet", index=False)
        record["sha256"][f"{name}.parquet"] = disk.sha256((folder / ID / f"{name}.parquet").read_bytes())
    record |= fields
    (folder / ID / "run.json").write_text(records.seal(record))


def scaled(name, column, by, rows="index == index"):
    def change(tables):
        chosen = tables[name].query(rows).index
        tables[name].loc[chosen, column] *= by

    return change


def files(*folders):
    return {file: file.read_bytes() for folder in folders for file in folder.rglob("*") if file.is_file()}


def compared(pair, root=ROOT):
    before = files(*pair)
    comparison = diff.compare(*pair, root)
    assert files(*pair) == before
    return comparison, "\n".join(diff.lines(comparison))


def test_the_same_run_does_not_differ_from_itself_or_its_bundle(checked, pair, tmp_path):
    assert not compared(pair)[0].has_moved
    bundle, _ = bundling.bundle([KEY], tiers.load_tier("tiny", checked), tmp_path / "run.zip")
    comparison = diff.compare(pair[0], bundle, ROOT)
    assert comparison.same == (ID,)
    assert [*diff.lines(comparison)] == ["no difference; experiments compared: 1"]


def test_the_command_exits_with_3_if_something_moved(pair, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    command = ["diff", *map(str, pair)]
    assert main(command) == 0
    assert capsys.readouterr().out == "no difference; experiments compared: 1\n"
    edit(pair[1], scaled("trajectory", "off_diagonal_mass", 1.5, "arm == 'balanced'"))
    assert main(command) == 3
    assert capsys.readouterr().out.startswith(f"{ID}\n  may be why: nothing recorded differs\n")
    assert main(["diff", str(pair[0]), "nowhere"]) == 2


def test_as_json_it_says_what_the_lines_say(pair, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    edit(pair[1], scaled("trajectory", "off_diagonal_mass", 1.5, "arm == 'independent'"))
    assert main(["diff", *map(str, pair), "--json"]) == 3
    content = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)  # NaN is no JSON
    comparison, text = compared(pair)
    (found,), (expected,) = content["differences"], comparison.differences
    assert (content["has_moved"], found["id"]) == (True, ID)
    assert len(found["numbers"]) == len(expected.numbers)
    assert {each["column"] for each in found["numbers"]} == {"off_diagonal_mass"}
    for claim in found["claims"]:
        assert f": {claim['id']}: {claim['then']['observed']:.4g}" in text


def test_what_moved_is_named_with_what_was_recorded(pair):
    record = records.unseal((pair[1] / ID / "run.json").read_text())
    edit(
        pair[1],
        scaled("trajectory", "off_diagonal_mass", 1.5, "arm == 'independent'"),
        commit="1" * 40,
        versions=record["versions"] | {"torch": "9.9"},
        params=record["params"] | {"noise_std": 7.0},
        hardware=record["hardware"] | {"processor": "another"},
    )
    comparison, text = compared(pair)
    (found,) = comparison.differences
    assert "other code computed it" not in text
    for line in (
        f"commit: {record['commit']} -> {'1' * 40}",
        f"torch: {record['versions']['torch']} -> 9.9",
        f"parameter noise_std: {record['params']['noise_std']} -> 7.0",
        f"hardware processor: {record['hardware']['processor']} -> another",
    ):
        assert f"  may be why: {line}\n" in text
    assert len(found.causes) == 4
    moved = set(found.numbers[["table", "column"]].itertuples(index=False, name=None))
    assert moved == {("trajectory", "off_diagonal_mass")}
    assert set(found.numbers["group"]) >= {"independent published"}
    assert not found.numbers["group"].str.startswith("balanced").any()


def test_verdicts_are_those_of_the_tables(pair):
    """Judged here, because the saved verdicts are on other tables."""
    edit(pair[1], scaled("trajectory", "off_diagonal_mass", 0.0, "arm == 'independent'"))
    comparison, text = compared(pair)
    (found,) = comparison.differences
    moved = {each.claim: each for each in found.claims}
    rows = [
        judge_all(*arguments).set_index("claim").loc[CLAIM]
        for arguments in ((claims(), [tables(folder)], params()) for folder in pair)
    ]
    before, after = (row["verdict"] for row in rows)
    assert (before, after) == ("contradicted", "inconclusive"), "two seeds can refute; they show no limit"
    assert (moved[CLAIM].before["verdict"], moved[CLAIM].after["verdict"]) == (before, after)
    assert re.search(rf"verdict: {before} -> {after}: {CLAIM}: {rows[0]['observed']:.4g} \[.+\] -> 0 ", text)
    assert comparison.has_moved


def claims():
    from reprise.engine import registry

    return registry.experiment(ID).claims


def params():
    return tiers.load_tier("smoke", ROOT).params[ID].model_copy(update={"seeds": 3})


def tables(folder):
    return {file.stem: pd.read_parquet(file) for file in (folder / ID).glob("*.parquet")}


def test_saved_verdicts_of_these_results_are_compared_as_saved(pair):
    """As after an edit of a claim."""
    folder = pair[1] / KEY
    verdicts = pd.read_parquet(folder / "claims.parquet")
    verdicts.loc[verdicts["claim"] == CLAIM, "verdict"] = "depends"
    verdicts.to_parquet(folder / "claims.parquet", index=False)
    record = records.unseal((folder / "run.json").read_text())
    record["sha256"]["claims.parquet"] = disk.sha256((folder / "claims.parquet").read_bytes())
    (folder / "run.json").write_text(records.seal(record))
    comparison, text = compared(pair)
    ((moved,),) = [each.claims for each in comparison.differences]
    assert (moved.claim, moved.before["verdict"], moved.after["verdict"]) == (
        CLAIM,
        "contradicted",
        "depends",
    )
    assert "moved: verdicts 1, other observations 0, numbers 0; in experiments 1 of 1" in text


ROW = {"claim": "a", "verdict": "reproduced", "kind": "value", "observed": 1.0, "low": 0.9, "high": 1.1}


@pytest.mark.parametrize(
    ("before", "after", "moved"),
    [
        ({"margin": 0.3}, {"observed": 1.29}, False),
        ({"margin": 0.3}, {"observed": 1.31}, True),
        ({"margin": 0.0}, {"observed": 1.09}, False),  # half of the interval
        ({"margin": 0.0}, {"observed": 1.11}, True),
        ({"margin": 0.0}, {"observed": 0.89}, True),
        ({"margin": 0.0}, {"observed": 1.4, "low": 0.9, "high": 1.9}, False),  # the wider interval
        ({"margin": 0.0}, {"observed": 1.0, "verdict": "depends"}, True),
        ({"margin": 0.3, "low": float("nan"), "high": float("nan")}, {"observed": 1.2}, False),
        ({"margin": 0.3}, {"observed": float("nan")}, True),
        ({"margin": 0.3, "observed": float("nan")}, {"observed": float("nan")}, False),
        ({"margin": 0.0, "kind": "identity", "observed": 0.0}, {"observed": 9e-7}, False),
        ({"margin": 0.0, "kind": "identity", "observed": 0.0}, {"observed": 2e-6}, True),
        ({"margin": 0.0, "kind": "always", "low": 1.0, "high": 1.0}, {"observed": 1.0 + 1e-8}, False),
        ({"margin": 0.0, "kind": "always", "low": 1.0, "high": 1.0}, {"observed": 2.0}, True),
    ],
)  # fmt: skip
def test_an_observation_moves_beyond_its_margin_and_interval(before, after, moved):
    old = ROW | before
    new = old | after
    for pair in ((old, new), (new, old)):
        assert bool([*diff._moved(*(pd.DataFrame([row]) for row in pair))]) == moved


def test_numbers_may_move_as_far_as_golden_ones(pair, tmp_path):
    change = scaled("trajectory", "off_diagonal_mass", 1 + 1e-4, "arm == 'independent'")
    golden = drift.summarise(tables(pair[0])).assign(tolerance=1e-2)
    edit(pair[1], change)
    assert len(compared(pair)[0].differences[0].numbers)
    file = drift.golden_file(tmp_path, "tiny", ID)
    file.parent.mkdir(parents=True)
    golden.to_csv(file, index=False)
    assert not any(len(each.numbers) for each in compared(pair, tmp_path)[0].differences)


def test_what_only_one_run_has_is_named_and_times_are_not_compared(pair):
    shutil.copytree(pair[0] / ID, pair[0] / KEY / "another")
    comparison, text = compared(pair)
    assert text.startswith(f"only in {pair[0]}: {KEY}/another\n")
    assert not comparison.has_moved


def test_tables_that_the_claims_here_cannot_read_are_compared_number_by_number(pair):
    for folder in pair:
        edit(folder, lambda tables: tables.update(trajectory=tables["trajectory"].drop(columns="seed")))
    edit(pair[1], scaled("trajectory", "off_diagonal_mass", 2.0))
    comparison, text = compared(pair)
    assert comparison.has_moved
    assert "reads a column or row that is not there: seed" in text


def test_where_no_number_moved_and_no_verdict_could_be_read_it_does_not_say_that_nothing_differs(pair):
    for folder, factor in zip(pair, (1.0, 1.0 + 3e-7), strict=True):
        edit(folder, lambda tables: tables.update(trajectory=tables["trajectory"].drop(columns="seed")))
        edit(folder, scaled("trajectory", "off_diagonal_mass", factor))
    comparison, text = compared(pair)
    assert not comparison.has_moved
    assert text.splitlines()[-1] == "no number moved; in experiments 1 of 1, verdicts could not be compared"


def spoil(name):
    def cut(folder):
        file = folder / ID / name
        file.write_bytes(file.read_bytes()[:-9])

    return cut


@pytest.mark.parametrize(
    ("spoiled", "said"),
    [
        (shutil.rmtree, "not found; name a folder such as results/default, or a bundle"),
        (lambda folder: shutil.rmtree(folder / KEY), "no results here; name a folder such as"),
        (spoil("run.json"), f"{ID}/run.json: damaged"),
        (lambda folder: (folder / ID / "trajectory.parquet").unlink(), "trajectory.parquet: cannot be read"),
        (lambda folder: (folder / ID / ".ready").mkdir(), "a run was killed while it wrote this"),
        (lambda folder: (folder / ID).rename(folder / KEY / "x"), "have no experiment in common"),
    ],
)  # fmt: skip
def test_what_is_no_run_or_damaged_is_one_message(pair, spoiled, said):
    edit(pair[0], scaled("trajectory", "off_diagonal_mass", 2.0))
    spoiled(pair[1])
    with pytest.raises(RepriseError) as caught:
        diff.compare(*pair, ROOT)
    (line,) = str(caught.value).splitlines()
    assert said in line
    assert str(pair[1]) in line


def test_the_folder_of_all_tiers_is_no_run(pair):
    with pytest.raises(RepriseError, match="no results here; name a folder such as"):
        diff.compare(pair[0].parent, pair[1].parent, ROOT)


def test_a_damaged_table_is_one_message(pair):
    edit(pair[0], scaled("trajectory", "off_diagonal_mass", 2.0))
    spoil("trajectory.parquet")(pair[1])
    with pytest.raises(RepriseError, match=r"trajectory.parquet: truncated or altered"):
        diff.compare(*pair, ROOT)


def test_a_file_that_is_no_bundle_is_said(pair, tmp_path):
    (tmp_path / "no.zip").write_text("hello")
    with pytest.raises(RepriseError, match=r"no\.zip: not a bundle, or damaged"):
        diff.compare(pair[0], tmp_path / "no.zip", ROOT)


def test_the_same_record_of_a_file_that_is_damaged_in_both_is_no_same_result(pair):
    for folder in pair:
        (folder / ID / "alignment.parquet").write_bytes(b"PAR1")
    with pytest.raises(RepriseError, match=r"alignment\.parquet: truncated or altered"):
        diff.compare(*pair, ROOT)
