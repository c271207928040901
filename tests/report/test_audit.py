"""The two files of a report, from which a script of nobody's derives every verdict again."""

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from stating import stated

from reprise.contract.experiment import BASE, Tables
from reprise.contract.settings import Settings, unstated
from reprise.evidence import comparison as m
from reprise.evidence.claim import Claim
from reprise.evidence.measures import column
from reprise.evidence.rounds import LEVELS
from reprise.evidence.verdicts import judge_all
from reprise.report.audit import SCRIPT, observations


class Open(Settings):
    width: int = unstated(8, "the paper does not say")


def x(name: str) -> m.Measure:
    return column("t", name)


def first_three(tables: Tables) -> pd.Series:
    return x("few")(tables).iloc[:3]


def made() -> list[Claim]:
    """Claims of every kind, relation and quantifier."""
    orderings = {
        name: m.above(x(name), 0.0, unit="matching score") for name in ("up", "tie", "down", "noise")
    }
    some_seeds = {"few": m.above(first_three, 0.0, unit="matching score"), "up": orderings["up"]}
    alone = {
        "near": m.near(x("up"), 0.5, quantity="score", unit="1"),
        "printed": m.near(x("up"), 0.5, quantity="score", unit="1", std=0.1, n=3),
        "paired": m.near(x("up"), x("noise"), quantity="score", unit="1"),
        "share": m.above(x("flag"), 0.5, unit="share"),
        "below": m.below(x("down"), x("up"), unit="1", effect=0.2),
        "count": m.at_least(x("number"), 3, unit="values"),
        "exactly": m.exactly(x("number"), 4, unit="values"),
        "always": m.in_every_run(m.at_least(x("number"), 1, unit="values")),
        "identity": m.identity(x("tiny")),
        "given": m.in_every_case(m.at_most(x("number"), 4, unit="values")),
    }
    return [
        *(
            stated({name: orderings[name] for name in names}, f"p/f/{quantifier}-{'-'.join(names)}",
                   quantifier=quantifier)
            for quantifier in ("universal", "generic", "existential")
            for names in (("up",), ("up", "noise"), ("up", "down"), ("tie", "up"), ("down", "noise"))
        ),
        stated(some_seeds, "p/f/generic-some-seeds", quantifier="generic"),
        *(stated(compared, f"p/f/{name}") for name, compared in alone.items()),
    ]  # fmt: skip


def tables(seeds: int, generator: np.random.Generator) -> dict[str, pd.DataFrame]:
    noise = generator.normal(size=(7, seeds))
    return {
        "t": pd.DataFrame({
            "seed": range(seeds), "setting": "published", "up": 0.5 + 0.1 * noise[0], "tie": 0.02 * noise[1],
            "down": -0.3 + 0.1 * noise[2], "noise": noise[3], "flag": (noise[4] > -1).astype(float),
            "few": 0.4 + 0.1 * noise[3], "number": np.round(3 + noise[5]), "tiny": np.abs(1e-8 * noise[6]),
        })
    }  # fmt: skip


@pytest.mark.parametrize("seeds", [4, 9, 220])
def test_every_verdict_follows_from_the_two_files_alone(tmp_path, seeds):
    claims, found = made(), [tables(seeds, np.random.default_rng(seeds))]
    judged = judge_all(claims, found, None)
    assert len(set(judged["verdict"])) >= 3
    assert redo(tmp_path, judged, claims, found) == (
        0,
        f"{len(claims)} of {len(claims)} verdicts are the same\n",
    )


def test_verdicts_over_settings_follow_too(tmp_path):
    """One is tied at its own level and not at the one that is corrected for settings; one is a search."""
    above = m.above(x("up"), 0.0, unit="matching score")
    claims = [stated(above, "p/f/depends"), stated(above, "p/f/search", exists=True)]
    up = [0.03 + 0.0145 * shift for shift in (-1.0, -0.5, 0.0, 0.5, 1.0)]
    rows = [(BASE, up), ("other", [each - 1.0 for each in up])]
    parts = [pd.DataFrame({"seed": range(5), "setting": name, "up": values}) for name, values in rows]
    found = [{"t": pd.concat(parts)}]
    judged = judge_all(claims, found, Open())
    assert redo(tmp_path, judged, claims, found, Open())[0] == 0


def test_a_verdict_that_does_not_follow_is_named(tmp_path):
    claims, found = made(), [tables(9, np.random.default_rng(0))]
    judged = judge_all(claims, found, None)
    judged.loc[judged["claim"] == "p/f/near", "verdict"] = "contradicted"
    code, printed = redo(tmp_path, judged, claims, found)
    assert code == 1
    assert "p/f/near: contradicted in claims.csv, reproduced from the observations" in printed


def in_rounds(number, seeds=4):
    """Rounds of seeds in which `noise` is undecided at first and has an effect later."""
    generator, rounds = np.random.default_rng(3), []
    for place in range(number):
        table = tables(seeds, generator)["t"]
        noise = 0.6 + 0.5 * generator.normal(size=seeds) if place else [-1.0, 1.0, 0.6, 0.8]
        rounds.append({"t": table.assign(seed=table["seed"] + seeds * place, noise=noise)})
    return rounds


def test_verdicts_that_a_later_round_decides_follow_too(tmp_path):
    claims, rounds = made(), in_rounds(4)
    judged = judge_all(claims, rounds, None)
    assert set(judged["rounds"]) >= {1, 2, 4}, "some are decided at once, some later, some never"
    later = judged["rounds"].gt(1) & judged["verdict"].ne("inconclusive")
    assert later.any()
    assert redo(tmp_path, judged, claims, rounds)[0] == 0
    rows = pd.read_parquet(tmp_path / "observations.parquet")
    assert rows.loc[rows["rounds"].eq(2) & rows["obstacle"].eq(""), "round"].isin([1, 2]).all()
    assert dict(rows.groupby("rounds")["alpha"].first()) == dict(enumerate(LEVELS, start=1))


def test_a_single_look_at_all_rounds_follows_too(tmp_path):
    claims, rounds = made(), in_rounds(2)
    judged = judge_all(claims, rounds, None, alpha=0.0125)
    assert set(judged["rounds"]) == {2}
    assert redo(tmp_path, judged, claims, rounds, alpha=0.0125)[0] == 0


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [("alpha", 0.025, "levels"), ("rounds", 3, "rounds in the observations")],
)
def test_a_level_or_a_look_that_does_not_follow_is_named(tmp_path, column, value, words):
    claims, rounds = made(), in_rounds(2)
    judged = judge_all(claims, rounds, None)
    redo(tmp_path, judged, claims, rounds)
    judged.loc[judged["claim"] == "p/f/near", column] = value
    judged.to_csv(tmp_path / "claims.csv", index=False)
    code, printed = again(tmp_path)
    assert code == 1
    assert re.search(rf"^p/f/near: .*{words}", printed)


def test_a_claim_that_is_judged_anew_and_levels_beyond_what_may_be_spent_are_named(tmp_path):
    """`up` is decided at once: a second look at it is one too many, and so is any more of the error rate."""
    claims, rounds = [made()[0]], in_rounds(2)
    judged = judge_all(claims, rounds, None).assign(rounds=2, alpha=LEVELS[1])
    code, printed = redo(tmp_path, judged, claims, rounds)
    assert (code, "judged anew after a look had decided" in printed) == (1, True)
    file = tmp_path / "observations.parquet"
    rows = pd.read_parquet(file)
    rows.assign(alpha=rows["alpha"].replace(LEVELS[0], 0.024)).to_parquet(file)
    assert "levels [0.024, 0.002]" in again(tmp_path)[1]


def redo(folder, judged, claims, rounds, params=None, alpha=None):
    judged.to_csv(folder / "claims.csv", index=False)
    made = dict(zip(judged["claim"], judged["rounds"], strict=True))
    observations(claims, rounds, params, made, alpha).to_parquet(folder / "observations.parquet")
    return again(folder)


def again(folder):
    copy = folder / SCRIPT.name
    copy.write_bytes(SCRIPT.read_bytes())
    done = subprocess.run([sys.executable, copy, folder], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout or done.stderr


def test_the_script_imports_nothing_of_ours():
    assert "reprise" not in SCRIPT.read_text(encoding="utf-8").lower().replace("nothing of reprise", "")
