"""The command line: what it prints, and with which code it exits."""

import json
import os
import subprocess
import sys

import pandas as pd
import pytest

from reprise.cli import main
from reprise.evidence import claims as c
from reprise.evidence.verdicts import COLUMNS, judge_all
from reprise.execute import pipeline, registry, tiers


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["report", "--tier", "nightly"], ["unknown tier 'nightly'", "configs/ holds: ", "default"]),
        (["check", "nobody2020"], ["unknown paper 'nobody2020'", "jing2022", "skean2024", "tian2023"]),
        (["run", "jing2022/nothing"], ["unknown experiment 'jing2022/nothing'", "jing2022/layer_alignment"]),
        (["draw", "jing2022/fig99"], ["unknown figure or table 'jing2022/fig99'", "jing2022/fig04"]),
        (["draw", "jing2022/fig04"], ["no finished results here", "reprise run jing2022/layer_alignment"]),
        (["check", "--tier", "default/../default"], ["unknown tier"]),
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


@pytest.mark.parametrize("arguments", [[], ["walk"], ["run"], ["draw"], ["check", "--fail-on", "anything"]])
def test_a_wrong_command_line_is_explained_with_exit_code_2(checkout, capsys, arguments):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: reprise" in capsys.readouterr().err


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


def test_list_names_every_experiment_artifact_and_claim_and_what_is_missing(checkout, capsys):
    assert main(["list"]) == 0
    shown = capsys.readouterr().out
    for key, paper in registry.papers().items():
        assert key in shown
        assert paper.title in shown
        for id, experiment in paper.experiments.items():
            for tier in tiers.names():
                assert f"missing; reprise run {id} --tier {tier}" in shown
            for artifact in experiment.artifacts:
                assert artifact.id.split("/")[1] in shown
        for id in paper.claims:
            assert id in shown


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
    assert {path.name for path in (checkout / "results" / "default").iterdir()} == set(registry.papers())


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
    assert f"{checkout}/results/default/tian2023: cannot be written" in message


@pytest.fixture
def verdicts(monkeypatch):
    """Makes `check` find a contradicted claim, or none."""

    def find(*found):
        def check(key, tier):
            claims = []
            for i, observed in enumerate(found):
                claim = c.printed(
                    f"{key}/text/{i}",
                    "s",
                    source="",
                    unit="%",
                    measure=lambda tables: tables["t"]["x"],
                    above=1.0,
                )
                table = {"t": pd.DataFrame({"x": [observed], "setting": "published"})}
                claims.append(judge_all([claim], table, None))
            return pd.concat(claims, ignore_index=True)

        monkeypatch.setattr(pipeline, "check", check)

    return find


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


@pytest.mark.parametrize("kind", ["typo", "substantive"])
def test_nor_with_a_known_erratum_unless_its_correction_fails_too(checkout, capsys, monkeypatch, kind):
    def forms(key, tier):
        printed, corrected = (
            c.identity(
                f"{key}/eq1/{form}", "s", source="", measure=lambda tables, form=form: tables["t"][form]
            )
            for form in ("printed", "corrected")
        )
        table = pd.DataFrame({"printed": [1.0] * 20, "corrected": error, "setting": "published"})
        return judge_all(c.both_forms(kind, printed, corrected), {"t": table}, None)

    monkeypatch.setattr(pipeline, "check", forms)
    error = 0.0
    assert main(["check", "tian2023", "--fail-on", "contradicted"]) == 0
    error = 1.0
    assert main(["check", "tian2023", "--fail-on", "contradicted"]) == 3
    assert capsys.readouterr().err == "contradicted: tian2023/eq1/corrected: 1 relative error\n"


def test_json_stays_json_beside_what_check_fails_on(checkout, capsys, verdicts):
    verdicts(0.25)
    assert main(["check", "tian2023", "--json", "--fail-on", "contradicted"]) == 3
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["verdict"], row["observed"]) == ("contradicted", 0.25)


def test_a_reader_that_has_had_enough_is_no_crash(checkout):
    """As `head` is of `reprise list`."""
    command = [sys.executable, "-m", "reprise.cli", "list"]
    listing = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    listing.stdout.readline()
    listing.stdout.close()
    assert listing.stderr.read() == ""
    assert listing.wait(60) == 141


def test_ctrl_c_is_no_crash(monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("reprise.execute.pipeline.run", interrupted)
    assert main(["run", "jing2022/layer_alignment", "--tier", "smoke"]) == 130
    captured = capsys.readouterr()
    assert "reprise: interrupted; what was finished is kept" in captured.err
    assert "Traceback" not in captured.err


def test_a_process_computes_in_one_thread_whatever_its_caller_has_set():
    """As Snakemake does for a rule of several threads."""
    asked = "from reprise.cli import main; main(['list']); import torch; print(torch.get_num_threads())"
    told = {"OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    ran = subprocess.run(
        [sys.executable, "-c", asked], env=os.environ | told, capture_output=True, text=True, check=True
    )
    assert ran.stdout.split()[-1] == "1"
