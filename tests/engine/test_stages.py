"""Readers take results for what they are: fresh, stale, damaged, or under way in another process."""

import os
import re
import shutil
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pandas as pd
import pytest

from reprise.cli import main
from reprise.engine import check, memo, registry, run, tiers
from reprise.engine.check import Verdicts
from reprise.engine.configured import ConfiguredExperiment
from reprise.engine.draw import Drawing
from reprise.errors import RepriseError
from reprise.ledger import bundling, costs, diff
from reprise.report import sealed
from reprise.storage import records, store, versions

KEY = "jing2022"
ID = f"{KEY}/layer_alignment"
UNUSED = {"sklearn", "skimage", "transformers", "jinja2"}


@pytest.fixture
def tier(ran, checkout):
    """A tier in which one experiment has run."""
    shutil.copytree(ran, checkout, dirs_exist_ok=True)
    return tiers.load_tier("tiny")


@pytest.fixture
def edited(monkeypatch):
    """Makes the experiment's code another from now on."""

    def edit():
        code = registry.Experiment.code
        monkeypatch.setattr(registry.Experiment, "code", lambda self, params: f"{code(self, params)} edited")

    return edit


def test_results_of_other_code_are_refused_by_all_that_read_them(tier, edited, capsys):
    assert tier.experiment(ID).tables()
    edited()
    for command in (["draw", f"{KEY}/fig04"], ["check", KEY]):
        assert main([*command, "--tier", "tiny"]) == 2
        message = capsys.readouterr().err
        assert f"{tier.results / ID}: made by other code than is here now; make it again with: " in message
        assert f"reprise run {ID} --tier tiny" in message


@pytest.mark.parametrize("library", ["numpy", "torch", "Python"])
def test_results_of_another_version_are_refused_and_say_so(tier, library):
    """The record names another version of a library that the experiment uses."""
    folder = tier.results / ID
    record = store.load_record(folder, "")
    used = registry.experiment(ID).versions(tier.params[ID])
    assert {"numpy", "torch", "pandas"} <= used.keys()
    assert {name: record["versions"].get(name) for name in used if name != "Python"} == {
        name: version for name, version in used.items() if name != "Python"
    }
    if library == "Python":
        record["python"] = "3.1.4"
    else:
        record["versions"][library] = "3.1"
    with_other = used | {library: "3.1"}
    experiment = registry.experiment(ID)
    key = records.key_of(
        experiment.code(tier.params[ID]), with_other, tier.params[ID].model_dump(mode="json"), {}
    )[:16]
    store.save_tables(folder, store.load_tables(folder, ""), key, record)
    with pytest.raises(RepriseError, match=rf"made with {library} 3\.1, here is {used[library]}; make it"):
        tier.experiment(ID).tables()


def test_a_library_that_an_experiment_does_not_use_makes_nothing_stale(tier, monkeypatch):
    monkeypatch.setattr(versions, "_installed", lambda name: [(name, "9" if name in UNUSED else "1")])
    before = tier.experiment(ID).key()
    monkeypatch.setattr(versions, "_installed", lambda name: [(name, "8" if name in UNUSED else "1")])
    assert tier.experiment(ID).key() == before
    monkeypatch.setattr(versions, "_installed", lambda name: [(name, "2")])
    assert tier.experiment(ID).key() != before


def test_the_marker_that_snakemake_looks_for_is_of_that_code(tier, edited):
    def marker():
        return tier.results / ID / store.marker(tier.experiment(ID).key())

    assert marker().is_file()
    edited()
    assert not marker().is_file()
    run.run(tier.experiment(ID))
    assert [file.name for file in (tier.results / ID).glob(".*.done")] == [marker().name]


def test_a_check_writes_only_when_it_is_told_to(tier, capsys):
    def files():
        return {file: file.stat().st_mtime_ns for file in tier.root.rglob("*")}

    before = files()
    assert main(["check", KEY, "--tier", "tiny"]) == 0
    assert files() == before
    assert main(["check", KEY, "--tier", "tiny", "--write"]) == 0
    assert {file.name for file in files().keys() - before.keys() if file.is_file()} >= {"claims.parquet"}


def verdicts(tier):
    return Verdicts(registry.paper(KEY), tier)


def check_and_save(tier):
    evidence = verdicts(tier).evidence()
    verdicts(tier).save(verdicts(tier).judged(), evidence)


def verdicts_of(tier, key=KEY):
    joined = check.join(tier)
    return joined[joined["paper"] == key]


def test_verdicts_are_joined_as_long_as_nothing_changed_that_they_hang_on(tier, edited):
    claims = verdicts(tier).judged()
    assert (claims["verdict"] != "not run").sum() > 5
    verdicts(tier).save(claims, verdicts(tier).evidence())
    pd.testing.assert_frame_equal(verdicts_of(tier).reset_index(drop=True), claims, check_dtype=False)
    edited()
    stale = verdicts_of(tier).reset_index(drop=True)
    assert stale["claim"].equals(claims["claim"])
    assert set(stale["verdict"]) == {"not run"}
    reasons = stale["reason"][claims["verdict"] != "not run"]
    assert reasons.str.startswith("checked with other results or by other code").all()


def test_verdicts_do_not_count_for_other_tables_under_the_same_key(tier, reseal):
    file, _ = bundling.bundle([KEY], tier, tier.root / "bundle.zip")
    merged, _ = bundling.merge(file, tier.root)
    for each in (tier, merged):
        check_and_save(each)
        assert verdicts(each).is_checked()
        reseal(each)
        assert each.experiment(ID).tables()  # the results count
        assert not verdicts(each).is_checked()
        assert verdicts(each).saved() == {}
        assert set(verdicts_of(each)["verdict"]) == {"not run"}
    assert {each.decided for each in costs.of_experiments(tier)} == {None}
    check_and_save(tier)
    assert verdicts(tier).is_checked()


def test_a_recorded_run_whose_record_is_not_the_merged_one_is_refused(tier, capsys, reseal):
    file, _ = bundling.bundle([KEY], tier, tier.root / "bundle.zip")
    merged, _ = bundling.merge(file, tier.root)
    reseal(merged)
    for command in (["check", KEY], ["draw", f"{KEY}/fig04"], ["report"]):
        assert main([*command, "--tier", merged.name]) == 2
        (message,) = capsys.readouterr().err.splitlines()
        assert ": truncated or altered since it was merged; merge the bundle again: reprise merge" in message


def test_an_experiment_without_claims_leaves_the_verdicts_of_its_paper(tier, reseal):
    """Verdicts are not about this experiment, which may end after they are judged."""
    id = f"{KEY}/projector_map"
    assert not registry.experiment(id).claims
    check_and_save(tier)
    record = tier.experiment(ID).record() | {
        "experiment": id,
        "params": tier.params[id].model_dump(mode="json"),
    }
    store.save_tables(tier.results / id, {"t": pd.DataFrame({"x": [1.0]})}, "0" * 16, record)
    assert verdicts(tier).is_checked()
    assert diff.opened(tier.results).verdicts(KEY) is not None
    reseal(tier)
    assert diff.opened(tier.results).verdicts(KEY) is None


def test_verdicts_on_results_that_have_changed_since_are_not_saved(tier, monkeypatch, capsys, reseal):
    """Another process finishes an experiment between the judgement and the save."""

    def judged_too_early(verdicts):
        claims = judged(verdicts)
        reseal(tier)
        return claims

    judged = Verdicts.judged
    monkeypatch.setattr(Verdicts, "judged", judged_too_early)
    assert main(["check", KEY, "--tier", "tiny", "--write"]) == 2
    assert "changed while the claims were judged; check them again" in capsys.readouterr().err
    assert not verdicts(tier).is_checked()


def test_processes_that_save_verdicts_at_once_take_turns(tier):
    claims, evidence = verdicts(tier).judged(), verdicts(tier).evidence()
    with ThreadPoolExecutor(2) as pool:
        saves = [pool.submit(verdicts(tier).save, claims, evidence) for _ in range(40)]
    assert [save.result() for save in saves] == [None] * 40
    assert verdicts(tier).is_checked()


def test_no_flipped_bit_of_the_verdicts_reaches_the_report(tier):
    """Each of 150 bits spread over the file is flipped in turn; the remedy is shown, and no verdict."""
    claims = verdicts(tier).judged()
    verdicts(tier).save(claims, verdicts(tier).evidence())
    file = tier.results / KEY / "claims.parquet"
    good = file.read_bytes()
    for place in range(0, 8 * len(good), 8 * len(good) // 150):
        flipped = bytearray(good)
        flipped[place // 8] ^= 1 << place % 8
        file.write_bytes(flipped)
        shown = check.join(tier).query("paper == @KEY")
        assert set(shown["verdict"]) == {"not run"}
        assert shown["reason"].str.contains("saved verdicts are damaged; check them with: reprise c").any()


def test_of_runs_at_once_one_computes_and_the_others_find_it_done(tier):
    with suppress(FileNotFoundError):
        (tier.results / ID / store.RECORD).unlink()
    command = [sys.executable, "-m", "reprise.cli", "run", ID, "--tier", "tiny"]
    runs = [
        subprocess.Popen(command, cwd=tier.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    said = [run.communicate(timeout=300)[1] for run in runs]
    assert [run.returncode for run in runs] == [0, 0, 0], said
    assert sum("waiting for another process" in text for text in said) == 2, said
    assert tier.experiment(ID).tables()


def test_the_report_hangs_on_the_papers_own_files(monkeypatch):
    """`published.csv` is of the verdicts, which are among the report's inputs."""
    before = registry.report_code(), registry.claims_code(KEY)
    data = registry._data
    for name, changes in (("artifacts.csv", (True, False)), ("published.csv", (False, True))):

        def one_line_more(key, file, edited=name):
            return data(key, file) + (b"1\n" if file == edited else b"")

        monkeypatch.setattr(registry, "_data", one_line_more)
        now = registry.report_code(), registry.claims_code(KEY)
        assert tuple(a != b for a, b in zip(before, now, strict=True)) == changes


def test_the_package_edited_before_its_modules_are_imported_is_not_saved(checkout, monkeypatch):
    """The edit comes while a run waits for another one, after the hash was taken."""
    tier = tiers.load_tier("smoke")
    monkeypatch.setattr(memo.Memo, "is_current", lambda self: False)
    with pytest.raises(RepriseError, match=r"the package, .* edited while this ran; nothing was saved"):
        run.run(tier.experiment(ID))
    assert not tier.experiment(ID).has_results()


@pytest.mark.parametrize("id", [ID, "tian2023/batch_normalization"])
def test_a_loss_edited_during_a_run_is_not_saved_as_either(checkout, monkeypatch, id):
    """The file edits itself when the last of the run's nets are trained by it."""
    file = checkout / "mine.py"
    (checkout / "configs" / "mine.yaml").write_text(
        f"tier: mine\nbase: smoke\nexperiments:\n  {id}: {{objective: 'mine.py:loss'}}\n"
    )
    file.write_text(
        "from pathlib import Path\n\n\n"
        "def loss(z1, z2):\n"
        "    if z1.shape[-1] not in (4, 8):\n"  # not the trial, which is in two shapes
        "        Path('mine.py').write_text('def loss(z1, z2):\\n    return (z1 + z2).mean()\\n')\n"
        "    return (z1 - z2).square().mean()\n"
    )
    mine = tiers.load_tier("mine")
    with pytest.raises(RepriseError, match=rf"{id}: the package, a loss.*was edited.*reprise run {id}"):
        run.run(mine.experiment(id))
    assert not mine.experiment(id).has_results()
    assert not [entry.record["what"] for entry in store.entries(checkout) if "mine.py" in str(entry.record)]


def failing(error):
    def compute(params, context):
        raise error

    return lambda self: compute


def test_a_computation_that_fails_names_the_settings_and_keeps_the_traceback(tier, monkeypatch, capsys):
    monkeypatch.setattr(registry.Experiment, "compute", failing(ZeroDivisionError("division by zero")))
    assert main(["run", ID, "--tier", "tiny"]) == 2
    message = capsys.readouterr().err.splitlines()[-1]
    log = tier.results / "logs" / f"{ID}.traceback"
    assert f"{ID}: fails with the settings of configs/tiny.yaml: batch_size = 64, " in message
    assert f"ZeroDivisionError: division by zero; try other values; the traceback is in {log}" in message
    assert "Traceback (most recent call last)" in log.read_text()
    assert "test_stages.py" in log.read_text()


def test_a_failure_with_the_published_settings_is_a_mistake_of_ours(checkout, monkeypatch):
    (checkout / "configs" / "published.yaml").write_text("tier: published\n")
    monkeypatch.setattr(registry.Experiment, "compute", failing(ZeroDivisionError("division by zero")))
    with pytest.raises(ZeroDivisionError):
        run.run(tiers.load_tier("published").experiment(ID))


def test_numbers_that_are_not_finite_are_said_and_recorded(tier, monkeypatch, capsys):
    tables = tier.experiment(ID).tables()
    record = store.load_record(tier.results / ID, "")
    assert record["not_finite"] == {}
    tables["trajectory"].loc[tables["trajectory"].index % 4 == 0, "imbalance"] = float("nan")
    tables["trajectory"].loc[tables["trajectory"].index % 2 == 0, "norm_w1"] = float("inf")
    monkeypatch.setattr(registry.Experiment, "compute", lambda self: lambda params, context: tables)
    run.run(tier.experiment(ID))
    assert store.load_record(tier.results / ID, "")["not_finite"].keys() == {
        "trajectory.imbalance", "trajectory.norm_w1",
    }  # fmt: skip
    said = capsys.readouterr().err.splitlines()[-1]
    assert re.search(r"diverged: 25\.\d% of trajectory.imbalance, 50\.\d% of trajectory.norm_w1", said)
    assert run._not_finite(tables, ("trajectory.*",)) == {}
    tables["trajectory"] = tables["trajectory"][["step"]].assign(diverged=float("nan"))  # never
    run.run(tier.experiment(ID))
    assert "not finite" not in capsys.readouterr().err
    assert store.load_record(tier.results / ID, "")["not_finite"] == {}


def test_nothing_is_saved_drawn_or_reported_by_code_that_was_edited_meanwhile(tier, monkeypatch):
    claims, evidence = verdicts(tier).judged(), verdicts(tier).evidence()
    made_from = sealed.shown(tier)
    monkeypatch.setattr(memo.of_package(), "is_current", lambda: False)
    with pytest.raises(RepriseError, match="code changed while the claims were judged"):
        verdicts(tier).save(claims, evidence)
    with pytest.raises(RepriseError, match="edited while this was drawn"):
        Drawing(registry.artifact(f"{KEY}/fig04"), tier).draw()
    with pytest.raises(RepriseError, match="code changed while the report was made"):
        sealed.save_report(tier, {}, made_from)
    assert not (tier.results / KEY / store.RECORD).exists()


def test_damaged_tables_are_damaged_in_the_list(tier, capsys):
    table = tier.results / ID / "alignment.parquet"
    content = bytearray(table.read_bytes())
    content[100] ^= 1
    table.write_bytes(content)
    assert not tier.experiment(ID).is_whole()
    assert main(["list", "--tier", "tiny"]) == 0
    (row,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith(ID)]
    assert row.split()[1] == "damaged"


def test_a_folder_that_may_not_be_read_is_one_line(tier, monkeypatch, capsys):
    def refuse(*_):
        raise PermissionError(13, "Permission denied", "results/tiny")

    monkeypatch.setattr(ConfiguredExperiment, "has_results", refuse)
    for command in (["list"], ["check", KEY], ["show", f"{KEY}/fig04"], ["report"]):
        assert main([*command, "--tier", "tiny"]) == 2
        said = capsys.readouterr().err
        assert said == "reprise: error: results/tiny: Permission denied; give yourself access to it\n"


def test_a_bundle_takes_the_place_of_no_folder_and_no_device(tier, monkeypatch, capsys):
    os.mkfifo("pipe")
    for place in (".", "pipe"):
        assert main(["bundle", KEY, "--tier", "tiny", "--to", place]) == 2
        assert "not a regular file; name another one" in capsys.readouterr().err
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)
