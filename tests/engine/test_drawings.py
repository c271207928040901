"""A drawing counts as long as its files are those that the present code draws from the present tables."""

import json
import os
import shutil
from contextlib import suppress
from dataclasses import replace

import pytest
from filelock import FileLock

from reprise.cli import main
from reprise.engine import registry, tiers
from reprise.engine.draw import Drawing
from reprise.errors import RepriseError
from reprise.ledger import bundling
from reprise.storage import records

KEY = "jing2022"
ID = f"{KEY}/layer_alignment"
FIGURE, OTHER = f"{KEY}/fig04", f"{KEY}/fig05"


def drawing(id, tier):
    return Drawing(registry.artifact(id), tier)


@pytest.fixture(scope="session")
def drawn(ran, shared):
    """A checkout in which two figures of `ran` are drawn, once for all processes that test; not to be
    changed."""
    root = shared / "drawn"
    with FileLock(f"{root}.lock"):
        if not root.exists():
            shutil.copytree(ran, root)
            for id in (FIGURE, OTHER):
                drawing(id, tiers.load_tier("tiny", root)).draw()
    return root


@pytest.fixture
def tier(drawn, checkout):
    shutil.copytree(drawn, checkout, dirs_exist_ok=True)
    return tiers.load_tier("tiny")


def folder_of(tier):
    return (tier.figures / FIGURE).parent


def append(name):
    def edit(folder):
        with (folder / name).open("ab") as file:
            file.write(b"\n")

    return edit


def copy(name, to):
    return lambda folder: shutil.copy(folder / name, folder / to)


def remove(name):
    return lambda folder: (folder / name).unlink()


def forge_name(folder):
    """Copies the other figure and its record, under this figure's name."""
    for ending in registry.artifact(FIGURE).endings:
        shutil.copy(folder / f"fig05.{ending}", folder / f"fig04.{ending}")
    text = (folder / ".fig05.json").read_text().replace("fig05", "fig04")
    (folder / ".fig04.json").write_text(text)


def seal_name(folder):
    """Copies the other figure likewise, and seals the record again, as somebody with our code could."""
    forge_name(folder)
    record = json.loads((folder / ".fig04.json").read_text())
    del record[records.SEAL]
    (folder / ".fig04.json").write_text(records.seal(record))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        pytest.param(append("fig04.pdf"), "fig04.pdf: truncated or altered", id="a PDF is edited"),
        pytest.param(append("fig04.svg"), "fig04.svg: truncated or altered", id="an SVG is edited"),
        pytest.param(copy("fig05.png", "fig04.png"), "fig04.png: truncated or altered", id="another PNG"),
        pytest.param(remove("fig04.pdf"), "fig04.pdf: missing", id="a file is gone"),
        pytest.param(remove(".fig04.json"), ".fig04.json: missing", id="the record is gone"),
        pytest.param(append(".fig04.json"), "", id="white space around the record"),
        pytest.param(
            copy(".fig05.json", ".fig04.json"), "fig04.json: a record of other files", id="another record"
        ),
        pytest.param(
            lambda folder: (folder / ".fig04.json").write_text("[]"),
            "damaged, not the record",
            id="no record",
        ),
        pytest.param(forge_name, "damaged, not the record", id="another figure under its name"),
        pytest.param(seal_name, "drawn by other code", id="the same, sealed again"),
    ],
)
def test_files_that_are_not_those_drawn_are_seen(tier, change, reason):
    change(folder_of(tier))
    stale = drawing(FIGURE, tier).staleness()
    assert reason in stale
    assert bool(reason) == bool(stale)
    assert drawing(OTHER, tier).is_current()


def test_a_drawing_that_is_up_to_date_is_left_alone(tier, capsys):
    before = {file: file.stat().st_ino for file in folder_of(tier).iterdir()}
    drawing(FIGURE, tier).keep_current()
    assert {file: file.stat().st_ino for file in folder_of(tier).iterdir()} == before
    assert capsys.readouterr().err == ""


def test_other_tables_under_the_same_key_are_drawn_again(tier, capsys, reseal):
    before = (tier.figures / f"{FIGURE}.svg").read_bytes()
    reseal(tier)
    assert tier.experiment(ID).tables()  # the results count
    for _ in range(2):
        drawing(FIGURE, tier).keep_current()
    said = f"{tier.figures / FIGURE}: drawn from other tables than are here now; drawn again\n"
    assert capsys.readouterr().err == said
    assert (tier.figures / f"{FIGURE}.svg").read_bytes() != before
    assert not drawing(OTHER, tier).is_current()


def test_an_edit_of_the_drawing_code_is_drawn_again(tier, monkeypatch, capsys):
    code = registry.artifact_code
    monkeypatch.setattr(registry, "artifact_code", lambda id: f"{code(id)} edited")
    for _ in range(2):
        drawing(FIGURE, tier).keep_current()
    (said,) = capsys.readouterr().err.splitlines()
    assert said.endswith("fig04: drawn by other code than is here now; drawn again")


def test_nothing_is_drawn_from_results_that_are_out_of_date(tier):
    """The drawing is of the tables that are here, but not of the settings asked for now."""
    before = {file.name: file.read_bytes() for file in folder_of(tier).iterdir()}
    other = tier.params[ID].model_copy(update={"seeds": 2})
    changed = replace(tier, params={**tier.params, ID: other})
    assert "drawn with other parameters" in drawing(FIGURE, changed).staleness()
    with pytest.raises(RepriseError, match=rf"made with other parameters.*reprise run {ID} --tier tiny"):
        drawing(FIGURE, changed).keep_current()
    assert {file.name: file.read_bytes() for file in folder_of(tier).iterdir()} == before


def test_a_drawing_of_another_tier_is_seen(tier, reseal):
    (tier.root / "configs" / "other.yaml").write_text("tier: other\nbase: tiny\n")
    other = tiers.load_tier("other")
    shutil.copytree(tier.results / ID, other.results / ID)
    reseal(other)
    shutil.copytree(folder_of(tier), folder_of(other))
    assert "drawn from other tables" in drawing(FIGURE, other).staleness()


def test_tables_that_change_while_a_figure_is_drawn_make_it_stale(tier, monkeypatch, reseal):
    """Another process finishes the experiment between the reading and the writing."""

    def late(*arguments):
        reseal(tier)
        return content(*arguments)

    content = Drawing.content
    monkeypatch.setattr(Drawing, "content", late)
    drawing(FIGURE, tier).draw()
    assert "drawn from other tables" in drawing(FIGURE, tier).staleness()


@pytest.mark.parametrize("renamed", range(6))
def test_a_drawing_killed_between_its_files_is_seen_to_be_unfinished(tier, monkeypatch, renamed, reseal):
    """The kill comes when the first `renamed` of four files and their record have their new names."""
    before = {file.name: file.read_bytes() for file in folder_of(tier).iterdir()}
    reseal(tier)
    left = renamed

    def rename(draft, file):
        nonlocal left
        if not left:
            raise KeyboardInterrupt
        left -= 1
        os.rename(draft, file)

    with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
        patch.setattr(os, "replace", rename)
        drawing(FIGURE, tier).draw()
    now = {file.name: file.read_bytes() for file in folder_of(tier).iterdir()}
    assert len({name for name in before if before[name] != now[name]}) == renamed
    assert drawing(FIGURE, tier).is_current() == (renamed == 5)


def test_a_recorded_runs_drawing_is_bound_to_its_tables(tier, capsys):
    file, _ = bundling.bundle([KEY], tier, tier.root / "bundle.zip")
    merged, _ = bundling.merge(file, tier.root)
    drawing(FIGURE, merged).draw()
    assert drawing(FIGURE, merged).is_current()
    append("fig04.svg")(folder_of(merged))
    drawing(FIGURE, merged).keep_current()
    assert "fig04.svg: truncated or altered" in capsys.readouterr().err
    assert drawing(FIGURE, merged).is_current()


def test_a_report_after_a_run_shows_the_figures_of_that_run(tier, capsys):
    """Settings are changed and the experiment runs; nobody draws."""
    config = tier.root / "configs" / "tiny.yaml"
    config.write_text(config.read_text().replace("seeds: 3", "seeds: 2"))
    for command in (["run", ID], ["report"]):
        assert main([*command, "--tier", "tiny"]) == 0
    assert capsys.readouterr().err.count("; drawn again\n") == 2
    assert all(drawing(id, tiers.load_tier("tiny")).is_current() for id in (FIGURE, OTHER))
