"""The command line: what it prints, and with which code it exits."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from importlib import metadata

import pandas as pd
import pytest
from stating import stated

from reprise.cli import main
from reprise.engine import registry, tiers
from reprise.engine.check import Verdicts
from reprise.evidence import comparison as m
from reprise.evidence.claim import CORRECTED
from reprise.evidence.errata import Misprint, Text
from reprise.evidence.formula import AS_PRINTED
from reprise.evidence.measures import column
from reprise.evidence.verdicts import COLUMNS, judge_all
from reprise.report import wording
from reprise.report.schema import Claim


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["report", "--tier", "nightly"], ["unknown tier 'nightly'", "configs/ holds: ", "default"]),
        (["check", "nobody2020"], ["unknown paper 'nobody2020'", "jing2022", "skean2024", "tian2023"]),
        (["run", "jing2022/nothing"], ["unknown id 'jing2022/nothing'; ", "reprise list jing2022"]),
        (["run", "jing2022"], ["paper jing2022 has ", "jing2022/layer_alignment"]),
        (["draw", "jing2022/fig99"], ["unknown id 'jing2022/fig99'; did you mean jing2022/fig09"]),
        (["draw", "Figure 4"], ["'Figure 4' may be ", "jing2022/fig04, ", "; write one of them"]),
        (["draw", "jing2022/fig04"], ["no finished results here", "reprise run jing2022/layer_alignment"]),
        (["check", "--tier", "default/../default"], ["unknown tier"]),
        (["check", "--tier", "defualt"], ["unknown tier 'defualt'; did you mean 'default'? "]),
        (["list", "jing202"], ["unknown paper 'jing202'; did you mean jing2022"]),
        (["run", "jing2022/layer_alignmnt"], ["did you mean jing2022/layer_alignment"]),
        (["draw", "jing2022/fig4"], ["no finished results here", "reprise run jing2022/layer_alignment"]),
        (["show", "jing2022/fig4/off-diagnal"], ["did you mean jing2022/fig4/off-diagonal"]),
        (["show", "??"], ["unknown id '??'; list them with: reprise list"]),
        (["diff", "configs", "nothing"], ["configs: no results here; name a folder such as results/default"]),
    ],
)  # fmt: skip
def test_a_mistake_is_one_message_and_exit_code_2(checkout, capsys, arguments, parts):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    (message,) = [
        line for line in captured.err.splitlines() if not line.startswith("{")
    ]  # less the log's first record
    assert message.startswith("reprise: error: ")
    assert [part for part in parts if part not in message] == []
    assert captured.out == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "required"),
        (["walk"], "unknown command 'walk'; there are: list, show, "),
        (["chek"], "unknown command 'chek'; did you mean 'check'? there are: "),
        (["run"], "required: KEY/NAME"),
        (["draw"], "required: ID"),
        (["diff"], "required: A"),
        (["check", "--fail-on", "anything"], "unknown choice 'anything'; there are: contradicted, drift"),
    ],
)
def test_a_wrong_command_line_is_explained_with_exit_code_2(checkout, capsys, arguments, said):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    message = capsys.readouterr().err
    assert message.startswith("usage: reprise")
    assert said in message.splitlines()[-1]


def test_the_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"reprise {metadata.version('reprise-ssl')}\n"


def test_outside_a_checkout_every_command_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["list"]) == 2
    assert "run this inside a checkout" in capsys.readouterr().err


def test_a_bad_config_stops_a_run_before_it_writes_anything(checkout, capsys):
    (checkout / "configs" / "bad.yaml").write_text(
        "tier: bad\nexperiments: {jing2022/layer_alignment: {seeds: ten}}\n"
    )
    assert main(["run", "jing2022/layer_alignment", "--tier", "bad"]) == 2
    message = capsys.readouterr().err
    assert (
        "configs/bad.yaml: experiments: jing2022/layer_alignment: key 'seeds' has the value 'ten'" in message
    )
    assert not (checkout / "results").exists()


def test_list_has_a_line_an_experiment_with_its_state_in_each_tier(checkout, capsys):
    folder = checkout / "results" / "smoke" / "jing2022" / "layer_alignment"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text("{")
    assert main(["list"]) == 0
    head, *lines, _ = capsys.readouterr().out.splitlines()
    assert head.split() == ["experiment", *tiers.names()]
    titles = [f"{key}: {paper.title}" for key, paper in registry.papers().items()]
    states = {line.split()[0]: line.split()[1:] for line in lines if line not in titles}
    assert len(states) == len(lines) - len(titles)
    assert set(states) == set(registry.experiments())
    for id, cells in states.items():
        expected = "damaged" if id == "jing2022/layer_alignment" else "-"
        assert cells == [expected if tier == "smoke" else "-" for tier in tiers.names()]


def test_list_of_a_paper_names_its_experiments_and_figures_and_what_is_missing(checkout, capsys):
    assert main(["list", "jing2022", "--tier", "smoke"]) == 0
    shown, paper = capsys.readouterr().out, registry.paper("jing2022")
    for id, experiment in paper.experiments.items():
        line = f"  {id}: {len(experiment.claims)} claims; no results; reprise run {id} --tier smoke\n"
        assert line in shown
    for id in paper.artifacts:
        assert f"  {id}: " in shown
    assert "claims; judge them with: reprise check jing2022 --write --tier smoke\n" in shown
    counts = dict(re.findall(r"^  (\S+): (\d+) not judged$", shown, re.MULTILINE))
    expected = Counter(claim.artifact for claim, _ in paper.claims.values())
    assert {artifact: int(count) for artifact, count in counts.items()} == expected


def test_list_of_claims_has_a_line_each(checkout, capsys):
    assert main(["list", "--claims"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sorted(line.removeprefix("not judged").split()[1] for line in lines) == sorted(registry.claims())
    assert main(["list", "tian2023", "--claims"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(registry.paper("tian2023").claims)


def printed_json(capsys, *arguments, code=0):
    assert main([*arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out, parse_constant=pytest.fail)  # NaN is no JSON


def test_list_as_json_has_the_states_of_the_lines(checkout, capsys):
    folder = checkout / "results" / "smoke" / "jing2022" / "layer_alignment"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text("{")
    rows = printed_json(capsys, "list")
    assert {(row["id"], row["tier"]) for row in rows} == {
        (id, tier) for id in registry.experiments() for tier in tiers.names()
    }
    for row in rows:
        experiment = registry.experiment(row["id"])
        is_damaged = (row["id"], row["tier"]) == ("jing2022/layer_alignment", "smoke")
        assert row["state"] == ("damaged" if is_damaged else "-")
        assert (row["paper"], row["claims"]) == (experiment.paper, len(experiment.claims))
        assert (row["verdicts"], row["is_recorded"]) == (None, False)
        assert row["figures"] == [each.id for each in experiment.artifacts]
        assert row["command"] == f"reprise run {row['id']} --tier {row['tier']}"
    of_paper = printed_json(capsys, "list", "Jing2022", "--tier", "smoke")
    assert of_paper == [row for row in rows if (row["paper"], row["tier"]) == ("jing2022", "smoke")]


def test_claims_are_listed_as_tasks_whose_weights_follow_from_the_headlines_alone(checkout, capsys):
    tasks = printed_json(capsys, "list", "--claims")
    assert [task["id"] for task in tasks] == [
        id for paper in registry.papers().values() for id in paper.claims
    ]
    for key, paper in registry.judged().items():
        own = [task for task in tasks if task["paper"] == key]
        assert sum(task["weight"] for task in own) == pytest.approx(1)
        deciding = {id for _, id in paper.headlines}
        assert {task["id"] for task in own if task["is_headline"]} == deciding
        theirs = [task for task in own if task["weight"]]
        assert {task["id"] for task in own} - {task["id"] for task in theirs} == {
            id for id, (claim, _) in paper.claims.items() if claim.form == "ours"
        }
        if deciding:
            assert len({task["weight"] for task in theirs}) == 2
            heavy = max(task["weight"] for task in theirs)
            assert {task["id"] for task in theirs if task["weight"] == heavy} <= deciding
            assert sum(task["weight"] for task in own if task["is_headline"]) == pytest.approx(0.5)
    for task in tasks:
        claim, decided_by = registry.claims()[task["id"]]
        assert (task["statement"], task["unit"]) == (claim.statement, claim.first.unit)
        assert task["experiment"] == (decided_by.id if decided_by else None)
        assert task["command"].endswith(f"reprise show {task['id']} --tier default --json")
        assert decided_by is None or task["command"].startswith(f"reprise run {decided_by.id} --tier default")
        assert task["expected"] is None


def test_a_card_as_json_is_of_a_claim_what_the_report_has(checkout, capsys):
    claim = printed_json(capsys, "show", "jing2022/Fig4/towards identity", "--tier", "smoke")
    assert set(claim) == set(Claim.model_fields)
    assert (claim["id"], claim["verdict"]) == ("jing2022/fig4/towards-identity", "not run")
    figure = printed_json(capsys, "show", "fig6a", "--tier", "smoke")
    assert (figure["id"], figure["number"]) == ("jing2022/fig06a", "Figure 6a")
    assert figure["command"] == "reprise draw jing2022/fig06a --tier smoke"
    assert figure["experiment"] == registry.artifact("jing2022/fig06a").experiment
    experiment = printed_json(capsys, "show", figure["experiment"], "--tier", "smoke")
    own = registry.experiment(figure["experiment"])
    assert set(experiment["claims"]) == {each.id for each in own.claims}
    assert experiment["figures"] == [each.id for each in own.artifacts]
    paper = printed_json(capsys, "show", "jing2022", "--tier", "smoke")
    assert set(paper["claims"]) == set(registry.paper("jing2022").claims)
    assert [row["id"] for row in paper["experiments"]] == list(registry.paper("jing2022").experiments)


@pytest.mark.parametrize("id", ["jing2022", "jing2022/layer_alignment", "jing2022/fig4", "jing2022/eq17"])
def test_a_card_is_shown_of_anything(checkout, capsys, id):
    assert main(["show", id, "--tier", "smoke"]) == 0
    banner, title, *lines = capsys.readouterr().out.splitlines()
    assert banner == wording.TEST
    assert title.startswith("jing2022")
    assert lines
    assert main(["show", id]) == 0
    assert wording.TEST not in capsys.readouterr().out


def test_list_says_which_config_has_a_name_that_no_tier_may_have(checkout, capsys):
    (checkout / "configs" / "my tier.yaml").write_text("tier: my tier\n")
    assert main(["list"]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("reprise: error: configs/my tier.yaml: a tier's name has letters")
    assert captured.out == ""


def test_without_results_every_claim_is_not_run_and_says_why(checkout, capsys):
    assert main(["check", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)  # NaN is no JSON
    decided = {id for paper in registry.papers().values() for id, (_, owner) in paper.claims.items() if owner}
    assert decided
    found = {row["claim"]: row for row in rows}
    assert len(found) == len(rows)
    for row in rows:
        assert tuple(row) == COLUMNS
        if row["claim"] in decided or row["kind"] != "printed":
            assert (row["verdict"], row["observed"]) == ("not run", None)
            assert row["reason"]
    # What only the papers' own scale can decide names the tier, the rest the experiment.
    asked = ("reprise run ", "tier=paper")
    assert all(any(what in found[id]["reason"] for what in asked) for id in decided)


def test_check_of_one_paper_writes_that_papers_claims_alone(checkout, capsys):
    assert main(["check", "tian2023", "--write"]) == 0
    assert [path.name for path in (checkout / "results" / "default").iterdir()] == ["tian2023"]
    assert main(["check", "--write"]) == 0
    assert {path.name for path in (checkout / "results" / "default").iterdir()} == set(registry.judged())


def test_damaged_results_are_one_message_and_exit_code_2(checkout, capsys):
    folder = checkout / "results" / "default" / "jing2022" / "layer_alignment"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text("{")
    assert main(["check", "jing2022"]) == 2
    (message,) = capsys.readouterr().err.splitlines()
    assert f"{folder}/run.json: damaged" in message
    assert "reprise run jing2022/layer_alignment --tier default" in message
    assert not (folder.parent / "claims.parquet").exists()


def test_a_place_that_cannot_be_written_is_one_message_and_exit_code_2(checkout, capsys):
    (checkout / "results").write_text("a file, not a folder")
    assert main(["check", "tian2023", "--write"]) == 2
    (message,) = capsys.readouterr().err.splitlines()
    assert f"{checkout}/results/default/tian2023/.lock: cannot be written" in message


@pytest.fixture
def verdicts(monkeypatch):
    """Makes `check` find a contradicted claim, or none."""

    def find(*found):
        def judged(verdicts):
            claims = []
            for i, observed in enumerate(found):
                printed = replace(m.above(lambda tables: tables["t"]["x"], 1.0, unit="%"), kind="printed")
                claim = stated(printed, f"{verdicts.paper.key}/text/{i}")
                table = {"t": pd.DataFrame({"x": [observed], "setting": "published"})}
                claims.append(judge_all([claim], [table], None))
            return pd.concat(claims, ignore_index=True)

        monkeypatch.setattr(Verdicts, "judged", judged)

    return find


def test_check_names_what_was_contradicted_by_id(checkout, capsys, verdicts):
    verdicts(0.25, 2.0, 0.5)
    assert main(["check", "tian2023"]) == 0
    shown = capsys.readouterr().out
    assert shown.endswith("contradicted: 2\n  tian2023/text/0: 0.25 %\n  tian2023/text/2: 0.5 %\n")


def test_check_may_fail_on_a_contradicted_claim_with_exit_code_3(checkout, capsys, verdicts):
    verdicts(2.0, 0.25)
    assert main(["check", "tian2023"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["check", "tian2023", "--fail-on", "contradicted"]) == 3
    assert capsys.readouterr().err == "contradicted: tian2023/text/1: 0.25 %\n"


def test_and_does_not_fail_without_one(checkout, capsys, verdicts):
    verdicts(2.0, 3.0)
    assert main(["check", "tian2023", "--fail-on", "contradicted"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("kind", ["typo", "condition", "substantive"])
@pytest.mark.parametrize(
    ("form", "error", "verdict", "code"),
    [
        ("printed", 0.0, "contradicted", 0),
        ("printed", 1.0, "inconclusive", 0),  # its correction fails too
        ("ours", 0.0, "contradicted", 3),
    ],
)
def test_nor_with_a_misprint_but_with_one_of_ours(
    checkout, capsys, monkeypatch, kind, form, error, verdict, code
):
    def misprint(verdicts):
        names = {AS_PRINTED: "printed", CORRECTED: "corrected"}
        cells = {name: m.identity(column("t", values)) for name, values in names.items()}
        words = Misprint(kind, Text("a = b"), Text("a = 2 b"))
        claim = stated(cells, f"{verdicts.paper.key}/eq1", form=form, erratum=kind, misprint=words)
        table = pd.DataFrame({"seed": range(200), "printed": 1.0, "corrected": error, "setting": "published"})
        return judge_all([claim], [{"t": table}], None)

    monkeypatch.setattr(Verdicts, "judged", misprint)
    assert main(["check", "tian2023", "--json", "--fail-on", "contradicted"]) == code
    shown = capsys.readouterr()
    assert [row["verdict"] for row in json.loads(shown.out)] == [verdict]
    assert shown.err == ("contradicted: tian2023/eq1: 1 relative error\n" if code else "")


def test_json_stays_json_beside_what_check_fails_on(checkout, capsys, verdicts):
    verdicts(0.25)
    assert main(["check", "tian2023", "--json", "--fail-on", "contradicted"]) == 3
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["verdict"], row["observed"]) == ("contradicted", 0.25)


def test_json_has_every_digit(checkout, capsys, verdicts):
    verdicts(3.4567890123456e-12)
    assert main(["check", "tian2023", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["observed"] == 3.4567890123456e-12


def test_costs_are_of_all_papers(checkout, capsys):
    assert main(["list", "tian2023", "--cost"]) == 2
    assert "leave out KEY" in capsys.readouterr().err


READERS = {
    "after a line": ("list --claims | head -1", {0, 141}),  # it may all fit into the pipe before
    "at once": ("list --claims | true", {141}),
    "of a table": ("check tian2023 | true", {141}),
    "of costs": ("list --cost | true", {141}),
    "of the help": ("--help | true", {0, 141}),  # argparse passes over it where nothing is buffered
    "of errors too": ("draw x 2>&1 | true", {141}),
    "of a wrong command": ("lst 2>&1 | true", {2, 141}),
}
"""A command with its reader, and the codes with which it may end."""


@pytest.mark.parametrize(("command", "codes"), READERS.values(), ids=READERS)
def test_a_reader_that_has_had_enough_is_no_crash(checkout, command, codes):
    """Wherever the pipe breaks, also when the interpreter exits."""
    ours, _, reader = command.partition("|")
    script = f"{{ sleep .2; {sys.executable} -m reprise.cli {ours}; echo $? >&3; }} | {reader}"
    ran = subprocess.run(
        ["bash", "-c", f"exec 3>code; {script}"], cwd=checkout, capture_output=True, text=True, check=True
    )
    assert "Traceback" not in ran.stderr
    assert "Error" not in ran.stderr
    assert int((checkout / "code").read_text()) in codes


@pytest.mark.parametrize(("to", "code"), [("> /dev/full", 2), (">&-", 0)], ids=["full", "closed"])
def test_a_full_disk_or_no_output_at_all_is_no_crash(checkout, to, code):
    ran = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m reprise list jing2022 {to}"],
        cwd=checkout, capture_output=True, text=True,
    )  # fmt: skip
    assert ran.returncode == code, ran.stderr
    assert len(ran.stderr.splitlines()) == bool(code)
    assert not code or "no space left for the output; free space" in ran.stderr


def test_ctrl_c_is_no_crash(monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("reprise.engine.run.run", interrupted)
    assert main(["run", "jing2022/layer_alignment", "--tier", "smoke"]) == 130
    captured = capsys.readouterr()
    assert "reprise: interrupted; what was saved is kept" in captured.err
    assert "Traceback" not in captured.err


def test_a_process_computes_in_one_thread_whatever_its_caller_has_set():
    """As Snakemake does for a rule of several threads."""
    asked = "from reprise.cli import main; main(['list']); import torch; print(torch.get_num_threads())"
    told = {"OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    ran = subprocess.run(
        [sys.executable, "-c", asked], env=os.environ | told, capture_output=True, text=True, check=True
    )
    assert ran.stdout.split()[-1] == "1"
