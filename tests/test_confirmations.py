"""Confirmations by strangers say what their seeds say, and each fault is told in a line."""

import json
import re
from pathlib import Path

import jsonschema
import pandas as pd
import pytest
from freezing import ID, KEY, Toy, World

from reprise.cli import main
from reprise.engine import tiers
from reprise.ledger import confirm, frozen
from reprise.report import confirmation
from reprise.storage import disk

ROOT = Path(__file__).parents[1]
FOLDERS = sorted(folder for folder in (ROOT / "confirmations").iterdir() if folder.is_dir())
SCHEMA = json.loads((ROOT / "confirmations" / "schema.json").read_text())


def test_every_confirmation_is_what_its_seeds_say():
    assert [line for folder in FOLDERS for line in confirmation.problems(folder, ROOT)] == []
    for folder in FOLDERS:
        jsonschema.validate(json.loads((folder / "confirmation.json").read_text()), SCHEMA)


def test_every_attempt_that_ended_has_its_confirmation():
    ended = {each.confirmation for each, found in frozen.attempts(ROOT) if found}
    assert ended <= {folder.name for folder in FOLDERS}


def test_the_schema_is_that_of_the_code():
    """Write it anew with: python -m reprise.report.confirmation >confirmations/schema.json"""
    assert confirmation.schema() == SCHEMA


@pytest.fixture
def sent(tmp_path, monkeypatch):
    """The folder of a confirmation, and its checkout."""
    world = World({"solid": 0.5, "lucky": 0.0, "turned": -0.5}, {"lucky": 0.5, "turned": 1.0})
    toy = Toy(tmp_path, monkeypatch, world)
    toy.develop()
    toy.confirm("Grüße from afar")
    return tmp_path / "confirmations" / "gr-e-from-afar", toy


def test_a_confirmation_says_what_was_found(sent):
    folder, toy = sent
    assert confirmation.problems(folder, toy.root) == []
    said = json.loads((folder / "confirmation.json").read_text())
    jsonschema.validate(said, SCHEMA)
    assert said["phrase"] == "Grüße from afar"
    assert said["machine"]["hardware"]["cores"] >= 1
    (attempt,) = said["attempts"]
    assert attempt["first_seed"] == frozen.first_seed(ID, 1, "Grüße from afar")
    assert attempt["level"] == 0.0125
    assert attempt["sha256"] == toy.experiment.in_attempt(
        frozen.attempt(toy.root, ID, 1)
    ).record()["sha256"]  # fmt: skip
    assert {id.rpartition("/")[2]: each["mark"] for id, each in attempt["claims"].items()} == {
        "solid": "confirmed", "lucky": "fell back", "turned": "reversed"
    }  # fmt: skip
    claims = pd.read_csv(folder / "claims.csv").set_index("claim")
    assert set(claims["alpha"]) == {0.0125}
    first = attempt["first_seed"]
    seen = pd.read_parquet(folder / "observations.parquet")
    assert set(seen["seed"].astype(float)) == {first + place for place in range(6)}


def test_the_next_with_the_same_phrase_has_a_folder_of_its_own(sent):
    folder, toy = sent
    toy.confirm("gr-e from afar")
    assert confirmation.problems(folder.with_name("gr-e-from-afar-2"), toy.root) == []
    toy.confirm()
    toy.confirm()
    assert {each.name for each in folder.parent.iterdir()} == {
        folder.name, f"{folder.name}-2", "no-phrase", "no-phrase-2"
    }  # fmt: skip


def test_the_command_says_what_was_confirmed_and_where_it_lies(sent, capsys, monkeypatch):
    folder, toy = sent
    monkeypatch.setattr(tiers, "checkout", lambda: toy.root)
    assert main(["confirm", "--phrase", "mine"]) == 0
    out = capsys.readouterr().out
    first = frozen.first_seed(ID, 2, "mine")
    assert f"{ID}: attempt 2, seeds from {first}, 3 claims, judged at 0.625 %\n" in out
    assert re.search(r"\nabout \d+ minutes on \d+ cores\n", out)
    assert f"{KEY}/fig1/turned: reversed: reproduced as frozen, contradicted now\n" in out
    assert "1 of 3 verdicts confirmed; 2 came out otherwise, " in out
    assert out.endswith(
        f"{folder.with_name('mine')}: to be sent with claims.lock and ledger.jsonl, as docs/confirm.md says\n"
    )


SOLID = f"{KEY}/fig1/solid"
LUCKY = f"{KEY}/fig1/lucky"


def in_json(folder, change):
    file = folder / "confirmation.json"
    said = json.loads(file.read_text())
    change(said, said["attempts"][0])
    file.write_text(json.dumps(said))


def sealed_again(folder, name, content):
    """Writes a file with a checksum that fits, as someone who forges it would."""
    (folder / name).write_bytes(content)
    in_json(folder, lambda said, _: said["files"].update({name: disk.sha256(content)}))


def another_verdict(folder):
    in_json(folder, lambda _, each: each["claims"][LUCKY].update(verdict="reproduced", mark="confirmed"))


def another_verdict_everywhere(folder):
    another_verdict(folder)
    claims = pd.read_csv(folder / "claims.csv", keep_default_na=False)
    claims.loc[claims["claim"] == LUCKY, "verdict"] = "reproduced"
    sealed_again(folder, "claims.csv", claims.to_csv(index=False).encode())


def another_observation(folder):
    seen = pd.read_parquet(folder / "observations.parquet")
    seen.loc[seen["claim"] == SOLID, "value"] *= -1
    sealed_again(folder, "observations.parquet", seen.to_parquet(index=False))


def another_file(folder):
    seen = pd.read_parquet(folder / "observations.parquet")
    seen.assign(value=seen["value"] * 1.001).to_parquet(folder / "observations.parquet")


def other_seeds(folder):
    seen = pd.read_parquet(folder / "observations.parquet")
    sealed_again(folder, "observations.parquet", seen.assign(seed="3").to_parquet(index=False))


def one_seed_for_all(folder):
    seen = pd.read_parquet(folder / "observations.parquet")
    sealed_again(folder, "observations.parquet", seen.assign(seed=seen["seed"][0]).to_parquet(index=False))


def seeds_that_are_none(folder):
    seen = pd.read_parquet(folder / "observations.parquet")
    names = [f"s{place}" for place in range(len(seen))]
    sealed_again(folder, "observations.parquet", seen.assign(seed=names).to_parquet(index=False))


def a_claim_left_out(folder):
    seen = pd.read_parquet(folder / "observations.parquet")
    sealed_again(folder, "observations.parquet", seen[seen["claim"] != SOLID].to_parquet(index=False))


FAULTS = {
    another_verdict: [
        f"{LUCKY}: reproduced in confirmation.json, inconclusive in claims.csv",
        f"{LUCKY}: reproduced, but inconclusive in ledger.jsonl",
    ],
    another_verdict_everywhere: [
        f"{LUCKY}: reproduced, but inconclusive in ledger.jsonl",
        f"{LUCKY}: reproduced in claims.csv, inconclusive from the observations",
    ],
    another_observation: [f"{SOLID}: reproduced in claims.csv, contradicted from the observations"],
    another_file: ["observations.parquet: not the file that was written"],
    other_seeds: [f"attempt 1 on {ID}: seed 3 in observations.parquet is none of its seeds"],
    a_claim_left_out: [f"{SOLID}: missing in observations.parquet"],
    one_seed_for_all: [f"attempt 1 on {ID}: observations.parquet has a seed twice in the same cell"],
    seeds_that_are_none: [f"attempt 1 on {ID}: seed s0 in observations.parquet is none of its seeds"],
    lambda folder: in_json(folder, lambda _, each: each["claims"].pop(LUCKY)): [
        f"{LUCKY}: left out, though attempt 1 was on it, says ledger.jsonl"
    ],
    lambda folder: in_json(
        folder, lambda _, each: each["claims"][SOLID].update(frozen="tied", mark="fell back")
    ): [f"{SOLID}: frozen as tied, with a chance of"],
    lambda folder: in_json(folder, lambda _, each: each["claims"][SOLID].update(chance=0.5)): [
        f"{SOLID}: frozen as reproduced, with a chance of 0.5; it was frozen as reproduced, with"
    ],
    lambda folder: in_json(folder, lambda said, _: said.update(attempts=[])): ["attempts: List should have"],
    lambda folder: in_json(folder, lambda _, each: each.update(first_seed=20_000)): [
        f"attempt 1 on {ID} has seeds from 20000; its number and phrase give",
        "is none of its seeds, from 20000",
    ],
    lambda folder: in_json(folder, lambda said, _: said.update(phrase="another")): [
        "its number and phrase give"
    ],
    lambda folder: in_json(folder, lambda _, each: each.update(level=0.025)): [
        f"attempt 1 on {ID} is judged at 0.025; its number gives 0.0125"
    ],
    lambda folder: in_json(folder, lambda _, each: each["claims"][SOLID].update(mark="reversed")): [
        f"{SOLID}: marked 'reversed', though it was frozen reproduced and is reproduced"
    ],
    lambda folder: in_json(folder, lambda _, each: each["claims"][SOLID].update(judged="0" * 16)): [
        f"{SOLID}: edited since, or never frozen"
    ],
    lambda folder: in_json(folder, lambda _, each: each["sha256"].update({"t.parquet": "0"})): [
        f"attempt 1 on {ID} had other tables, says ledger.jsonl"
    ],
    lambda folder: in_json(folder, lambda said, _: said.update(more=1)): ["more: Extra inputs"],
    lambda folder: (folder / "claims.csv").unlink(): ["damaged ("],
}


@pytest.mark.parametrize(("fault", "lines"), FAULTS.items())
def test_each_fault_is_a_line(sent, fault, lines):
    folder, toy = sent
    fault(folder)
    found = confirmation.problems(folder, toy.root)
    assert len(found) == len(lines), found
    for line, words in zip(found, lines, strict=True):
        assert words in line
        assert line.startswith(folder.name)


def test_claims_edited_before_an_attempt_ends_are_left_out(tmp_path, monkeypatch):
    toy = Toy(tmp_path, monkeypatch, World({"a": 0.5, "b": 0.5}))
    toy.develop()
    confirm.begin(tmp_path, "")  # and nothing more, as after a kill
    toy.edit_comparison("b", reference=0.01)
    toy.confirm()
    assert toy.marks() == {"a": "confirmed in attempt 1 of 1"}
    folder = tmp_path / "confirmations" / "no-phrase"
    (attempt,) = json.loads((folder / "confirmation.json").read_text())["attempts"]
    assert attempt["claims"][f"{KEY}/fig1/b"]["verdict"] == "edited"
    assert confirmation.problems(folder, tmp_path) == []


def test_a_confirmation_counts_where_the_ledger_has_others(sent):
    """The ledger can hold one of two confirmations sent at once: the claims' hashes are in the lock."""
    folder, toy = sent
    (toy.root / frozen.LEDGER).unlink()
    lock = toy.root / frozen.LOCK
    lock.write_text(json.dumps({**json.loads(lock.read_text()), "ledger": ""}))
    assert confirmation.problems(folder, toy.root) == []
