"""The two files of a report, from which a script of nobody's derives every verdict again."""

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
    claims, found = made(), tables(seeds, np.random.default_rng(seeds))
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
    found = {
        "t": pd.concat(
            pd.DataFrame({"seed": range(5), "setting": name, "up": values}) for name, values in rows
        )
    }
    judged = judge_all(claims, found, Open())
    assert redo(tmp_path, judged, claims, found, Open())[0] == 0


def test_a_verdict_that_does_not_follow_is_named(tmp_path):
    claims, found = made(), tables(9, np.random.default_rng(0))
    judged = judge_all(claims, found, None)
    judged.loc[judged["claim"] == "p/f/near", "verdict"] = "contradicted"
    code, printed = redo(tmp_path, judged, claims, found)
    assert code == 1
    assert "p/f/near: contradicted in claims.csv, reproduced from the observations" in printed


def redo(folder, judged, claims, found, params=None):
    judged.to_csv(folder / "claims.csv", index=False)
    observations(claims, found, params).to_parquet(folder / "observations.parquet")
    copy = folder / SCRIPT.name
    copy.write_bytes(SCRIPT.read_bytes())
    done = subprocess.run([sys.executable, copy, folder], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout or done.stderr


def test_the_script_imports_nothing_of_ours():
    assert "reprise" not in SCRIPT.read_text(encoding="utf-8").lower().replace("nothing of reprise", "")
