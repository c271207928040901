"""Further rounds of seeds: which ones begin, how likely they decide, and what is said of it."""

import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from conftest import put_configs
from stating import stated

from reprise.cli import main
from reprise.contract.experiment import BASE
from reprise.engine import registry, run, tiers
from reprise.evidence import comparison as m
from reprise.evidence.verdicts import COLUMNS, judge_all
from reprise.ledger import costs, decide
from reprise.ledger.decide import FurtherRounds
from reprise.numerics.processes import cores
from reprise.report import why
from reprise.report.wording import likely
from reprise.storage import store

ID = "tian2023/local_optima"
SEEDS = 5


def rounds(id, chances, core_minutes, *, headlines=(), numbers=(2,), longest=0.0, ended=()):
    """Further rounds of an experiment that is not there."""
    runs = [SimpleNamespace(id=id, round=n, has_results=lambda n=n: n in ended) for n in numbers]
    named = {f"{id}/{number}": chance for number, chance in enumerate(chances)}
    own = frozenset(f"{id}/{number}" for number in headlines)
    return FurtherRounds(tuple(runs), costs.RoundCost(core_minutes, longest), named, own)


def chosen(candidates, within, cores=1):
    return [(each.id, each.words) for each in decide.choose(candidates, within, cores)]


def test_headlines_come_first_then_claims_per_minute_and_what_does_not_fit_is_left_out():
    """Headlines per minute: .1 of A, .05 of B; claims per minute: 1.8 of C, .5 of D, which takes too long."""
    a = rounds("a", [0.4, 0.1], 4, headlines=[0])
    b = rounds("b", [0.5, 0.9, 0.9], 10, headlines=[0])
    c = rounds("c", [0.9, 0.9], 1)
    d = rounds("d", [1.0] * 3, 6)
    assert chosen([d, c, b, a], 9) == [("a", "2"), ("c", "2")]
    assert chosen([d, c, b, a], 11) == [("a", "2"), ("c", "2"), ("d", "2")]
    assert chosen([d, c, b, a], 21) == [("a", "2"), ("b", "2"), ("c", "2"), ("d", "2")]


def test_of_an_experiment_as_many_rounds_begin_as_decide_most_per_minute_and_fit():
    """Two rounds decide .6 in 2 minutes, one .1 in 1, three .8 in 3."""
    by_number = [
        rounds("a", [chance], 1, numbers=range(2, last + 1))
        for last, chance in ((2, 0.1), (3, 0.6), (4, 0.8))
    ]
    assert chosen(by_number, 30) == [("a", "2 to 3")]
    assert chosen(by_number, 1.5) == [("a", "2")]
    assert decide.last_rounds(decide.choose(by_number, 30, 1)) == {"a": 3}


def test_cores_share_the_work_but_not_a_job():
    work, job = rounds("a", [0.5], 8, longest=1), rounds("b", [0.5], 8, longest=8)
    assert decide.minutes([work], 4) == 2
    assert decide.minutes([job], 4) == 8
    assert decide.minutes([work, job], 4) == 8  # side by side
    assert decide.minutes([work, job], 1) == 16
    assert chosen([work, job], 4, cores=4) == [("a", "2")]


def test_rounds_that_have_ended_out_of_turn_cost_nothing():
    assert rounds("a", [0.5], 3, numbers=(2, 3, 4), ended=(3,)).core_minutes == 6


def test_what_is_said_when_nothing_begins():
    assert "no further round to begin" in decide.why_nothing([], 30, 1)
    dear, cheap = rounds("dear", [0.5], 9), rounds("cheap", [0.2], 4, numbers=(3, 4))
    said = decide.why_nothing([dear, cheap], 2, 1)
    assert said == "nothing fits into 2 minutes: the cheapest, rounds 3 to 4 of cheap, takes about 8"


def test_the_plan_names_each_round_its_claims_by_chance_and_the_total():
    lines = list(decide.plan_lines([rounds("a", [0.2, 0.6, 0.04], 3, headlines=[1])], 2))
    assert lines[1].split() == ["a", "2", "1.50", "0.8", "a/1:", "60", "%,", "a", "headline"]
    assert lines[2].strip() == "a/0: 20 %"
    assert lines[3].strip() == "1 more, with less than 10 % each"
    assert lines[4].startswith("together about 1.5 minutes on 2 cores; of 3 claims, 0.8 are expected")


def test_what_was_decided_stands_beside_what_was_expected():
    said = list(
        decide.outcome_lines(
            [rounds("a", [0.5, 0.7, 0.05], 1)],
            {"a/0": "inconclusive", "a/1": "contradicted", "a/2": "inconclusive"},
        )
    )
    assert said == [
        "a/0: still undecided; the chance of being decided was 50 %",
        "a/1: contradicted; the chance of being decided was 70 %",
        "decided 1 of 3 claims, 1.2 expected",
    ]


# Chances.

CLAIM = stated({"": m.above(lambda tables: tables["t"].set_index("seed")["effect"], 0.0, unit="1")})


def in_rounds(*values, first=0):
    """An experiment with these observations in its rounds."""
    tables, at = [], first
    for each in values:
        seeds = range(at, at + len(each))
        table = pd.DataFrame({"seed": seeds, "effect": each, "setting": BASE})
        tables.append(SimpleNamespace(tables=lambda table=table: {"t": table}))
        at += 10_000
    return SimpleNamespace(rounds=lambda: tables)


def test_chances_are_the_shares_of_worlds_in_which_a_round_decides():
    """Effects drawn from the prior of `evidence.chance`, a round of seeds, and another: of the claims that
    the first leaves undecided, the second decides as many as was said."""
    generator = np.random.default_rng(0)
    said, decided = [], []
    for _ in range(250):
        effect = 2 * generator.standard_cauchy()
        first, second = effect + generator.normal(size=(2, SEEDS))
        experiment = in_rounds(first, second)
        one, two = ([each.tables() for each in experiment.rounds()][:n] for n in (1, 2))
        if judge_all([CLAIM], one, None)["verdict"][0] == "inconclusive":
            (open_claim,) = decide.undecided(in_rounds(first), [CLAIM])
            assert open_claim.seeds == SEEDS
            said.append(open_claim.chances()[2])
            decided.append(judge_all([CLAIM], two, None)["verdict"][0] != "inconclusive")
    expected, spread = sum(said), np.sqrt(sum(p * (1 - p) for p in said))
    assert len(said) > 50
    assert abs(sum(decided) - expected) < 2.5 * spread


def test_chances_grow_with_rounds_and_end_with_the_last():
    effects = np.array([0.2, 1.9, 0.4, 1.1, -0.4])
    (after_one,) = decide.undecided(in_rounds(effects), [CLAIM])
    assert list(after_one.chances()) == [2, 3, 4]
    assert sorted(after_one.chances().values()) == list(after_one.chances().values())
    (after_four,) = decide.undecided(in_rounds(*[effects - 0.6] * 4), [CLAIM])
    assert (after_four.seeds, after_four.chances()) == (SEEDS, {})


def test_no_seeds_mend_what_is_not_theirs():
    (own,) = decide.undecided(in_rounds([0.2, 1.9, 0.4]), [CLAIM])
    assert own.chances()[4] > 0
    for code in ("print too imprecise", "not yet", "no premise", "did not learn"):
        assert set(replace(own, judgement=replace(own.judgement, code=code)).chances().values()) == {0.0}


def test_a_claim_on_what_all_rounds_share_has_no_chance():
    shared = stated({"": m.above(lambda tables: tables["t"].set_index("place")["effect"], 0.0, unit="1")})
    table = pd.DataFrame({"place": list("abc"), "effect": [0.2, 1.9, 0.4], "setting": BASE})
    experiment = SimpleNamespace(rounds=lambda: [SimpleNamespace(tables=lambda: {"t": table})])
    (own,) = decide.undecided(experiment, [shared])
    assert own.seeds == 0
    assert set(own.chances().values()) == {0.0}


# The commands, in a checkout in which one experiment has run.


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    root = tmp_path_factory.mktemp("decide")
    put_configs(root)
    run.run(tiers.load_tier("smoke", root).experiment(ID))
    return root


@pytest.fixture
def checkout(once, tmp_path, monkeypatch):
    """A copy of it, where a job gives its round the observations of the first one, for other seeds."""
    root = tmp_path / "checkout"
    shutil.copytree(once, root)
    monkeypatch.chdir(root)

    def in_process(tier, targets, *, rounds):
        each = tier.experiment(ID)
        runs = {decide.jobs.rule_name(r.name): r for r in map(each.in_round, range(1, rounds[ID] + 1))}
        for made in map(runs.__getitem__, targets):
            shift = made.params.first_seed
            tables = {
                name: table.assign(seed=table["seed"] + shift) if "seed" in table else table
                for name, table in each.tables().items()
            }
            record = {**each.record(), "params": made.params.model_dump(mode="json")}
            del record["key"]
            store.save_tables(made.folder, tables, made.key(), record)

    monkeypatch.setattr(decide.jobs, "run", in_process)
    return root


def test_decide_says_what_it_will_do_does_it_and_says_what_came_of_it(checkout, capsys):
    tier = tiers.load_tier("smoke")
    (planned,) = decide.choose(decide.candidates([tier.experiment(ID)]), 30, cores())
    enough = f"{1.01 * decide.minutes([planned], cores())}"
    before = decide.verdicts_of([tier.experiment(ID)])
    assert main(["decide", ID, "--tier", "smoke", "--minutes", enough]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[1].startswith(f"{ID}  {planned.words}")
    for id, chance in planned.chances.items():
        assert any(f"{id}: {100 * chance:.0f} %" in line for line in printed) == (chance >= decide.LEAST)
    assert printed[-1].startswith(("no further round to begin", "nothing fits into "))
    after = decide.verdicts_of([tier.experiment(ID)])
    moved = {id for id in after if after[id] != before[id]}
    assert all(before[id] == "inconclusive" for id in moved)  # what is decided is not judged anew
    assert all(any(line.startswith(f"{id}: {after[id]};") for line in printed) for id in moved)
    assert len(tier.experiment(ID).rounds()) >= planned.runs[-1].round
    saved = pd.read_parquet(checkout / "results" / "smoke" / "tian2023" / "claims.parquet")
    assert dict(zip(saved["claim"], saved["verdict"], strict=True)) == after


def test_what_was_begun_goes_on_after_a_kill_with_the_same_seeds(checkout, monkeypatch):
    """Killed twice, the first time when the last of several rounds has ended, out of turn."""
    tier = tiers.load_tier("smoke")
    in_process, begun = decide.jobs.run, []

    def killed(tier, targets, *, rounds):
        runs = [tier.experiment(ID).in_round(n) for n in range(2, rounds[ID] + 1)]
        begun.append([(each.name, each.params.first_seed, each.key()) for each in runs])
        in_process(tier, targets[-1:] if len(begun) == 1 else [], rounds=rounds)
        raise KeyboardInterrupt

    monkeypatch.setattr(decide.jobs, "run", killed)
    assert [main(["decide", ID, "--tier", "smoke"]) for _ in range(2)] == [130, 130]
    assert len(begun[0]) > 1
    assert begun[0] == begun[1]
    ended = [each for each in tier.experiment(ID).begun() if each.has_results()]
    assert [each.name for each in ended] == [ID, begun[0][-1][0]]
    assert len(tier.experiment(ID).rounds()) == 1  # it counts once those before it have ended


def test_nothing_undecided_is_said(checkout, monkeypatch, capsys):
    every = dict.fromkeys(registry.claims(), "reproduced")
    monkeypatch.setattr(decide, "verdicts_of", lambda experiments: every)
    assert main(["decide", "--tier", "smoke"]) == 0
    assert capsys.readouterr().out.startswith("no further round to begin")


def test_too_few_minutes_begin_nothing(checkout, capsys):
    assert main(["decide", "--tier", "smoke", "--minutes", "1e-6"]) == 0
    assert "nothing fits into 1e-06 minutes: the cheapest, round" in capsys.readouterr().out
    assert len(tiers.load_tier("smoke").experiment(ID).begun()) == 1


@pytest.mark.parametrize("text", ["0", "-1", "soon", "nan", "inf"])
def test_minutes_are_positive(checkout, text, capsys):
    assert main(["decide", "--tier", "smoke", "--minutes", text]) == 2
    assert f"--minutes is '{text}'; write a positive number" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["decide", "tian2023/nothing", "--tier", "smoke"], "unknown paper or experiment 'tian2023/nothing'"),
        (
            ["decide", "jing2022", "--tier", "smoke"],
            "jing2022, tier smoke: no experiment with claims has run",
        ),
        (["decide", "--tier", "recorded/published"], "recorded run"),
        (["why", "tian2023/nothing", "--tier", "smoke"], "list them with: reprise list tian2023 --claims"),
    ],
)
def test_what_is_not_there_is_an_error(checkout, arguments, said, capsys):
    assert main(arguments) == 2
    assert said in capsys.readouterr().err


def test_why_says_what_decided_a_claim_or_what_would(checkout, capsys):
    tier = tiers.load_tier("smoke")
    experiment = tier.experiment(ID)
    rows = decide.Verdicts(registry.paper("tian2023"), tier).judged().set_index("claim")
    open_claims = [id for id in rows.index if rows["reason_code"][id] == "crosses"]
    for id in open_claims:
        (undecided,) = decide.undecided(experiment, [registry.claim(id)[0]])
        said = why.why(id, tier, 200).splitlines()
        assert len(said) == 7
        assert f"about {rows['seeds_to_decide'][id]:.0f} seeds" in said[4]
        assert all(f"by round {n} {100 * p:.0f} %" in said[5] for n, p in undecided.chances().items())
        begins = undecided.chances()[4] >= decide.LEAST
        assert said[6].endswith(f"reprise decide {ID} --tier smoke") == begins
    done = "tian2023/sec1/more-units-more-optima"
    assert f"{likely(rows['chance_same'][done])} likely" in why.why(done, tier, 200).splitlines()[-1]
    missing = next(
        id for id, (_, by) in registry.claims().items() if by and by.id == "jing2022/gradient_flow"
    )
    assert why.why(missing, tier, 200).endswith("reprise run jing2022/gradient_flow --tier smoke")


def test_why_says_of_each_reason_what_would_mend_it(checkout):
    row = dict.fromkeys(COLUMNS, "") | {"verdict": "inconclusive", "reason_code": "not yet"}
    assert [text for _, text in why._further(row, None)] == [why.BEYOND_SEEDS["not yet"]]
