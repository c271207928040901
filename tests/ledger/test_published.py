"""The recorded run that comes with a checkout is read where nothing has run, and changes no verdict."""

import io
import shutil
import zipfile

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reprise
from reprise.cli import main
from reprise.engine import registry, tiers
from reprise.engine.check import Verdicts
from reprise.engine.configured import PUBLISHED
from reprise.engine.draw import Drawing
from reprise.errors import RepriseError
from reprise.ledger import bundles, bundling, recorded, reduced
from reprise.ledger.recorded import BUNDLE
from reprise.storage import disk, records, store

KEY = "jing2022"
ID = f"{KEY}/layer_alignment"
CLAIM, FIGURE = f"{KEY}/fig4/off-diagonal", f"{KEY}/fig04"
SAID = "recorded on 2030-01-31 at 1234567 on 2 cores"
TIER = ("--tier", "tiny")


@pytest.fixture(scope="module")
def bundle(ran):
    """The bytes of a recorded run of `ID`, all of whose tables are reduced."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reduced, "LARGE", 0)
        patch.setattr(reduced, "FEW", 0)
        return bundling.small_bundle(tiers.load_tier("tiny", ran))


@pytest.fixture
def published(checkout, ran, bundle, tmp_path):
    """A checkout without results, with that run."""
    shutil.copy(ran / "configs" / "tiny.yaml", checkout / "configs")
    (checkout / BUNDLE).parent.mkdir(parents=True)
    (checkout / BUNDLE).write_bytes(bundle)
    remade(checkout, commit="1234567" + 33 * "8", hardware={"cores": 2})
    return checkout


def remade(root, date="2030-01-31", tables=lambda tables: tables, **record):
    """Another record, other tables and another date in the bundle, with seals and sums that are right."""
    manifest, files = bundles.unpacked(root / BUNDLE)
    made = records.unseal(files[f"{ID}/{store.RECORD}"].decode())
    names = made["sha256"]
    changed = tables({name: pd.read_parquet(io.BytesIO(files[f"{ID}/{name}"])) for name in names})
    contents = {name: table.to_parquet(index=False) for name, table in changed.items()}
    sums = {name: disk.sha256(content) for name, content in contents.items()}
    hardware = {**made["hardware"], **record.pop("hardware", {})}
    sealed = records.seal({**made, **record, "hardware": hardware, "sha256": sums})
    files = {f"{ID}/{store.RECORD}": sealed.encode(), **{f"{ID}/{n}": c for n, c in contents.items()}}
    sums = {name: disk.sha256(content) for name, content in files.items()}
    manifest = manifest.model_copy(update={"date": date, "sha256": sums})
    bundles.pack(root / BUNDLE, manifest, files, small=True)


def test_each_command_falls_back_on_it_with_one_line(published, capsys, monkeypatch):
    monkeypatch.setenv("BROWSER", "echo %s")
    for command, shown in {
        ("list", *TIER): f"{ID} +recorded [0-9/]+\n".replace(" +", "  "),
        ("list", KEY, *TIER): "done",
        ("show", CLAIM, *TIER): "results/recorded/published/",
        ("show", FIGURE, *TIER): "from            results/recorded/published/",
        ("check", KEY, *TIER): "reduced",
        ("draw", FIGURE, *TIER): "figures/recorded/published/jing2022/fig04.pdf",
        ("report", *TIER): "results/recorded/published/report.html",
        ("open", CLAIM, *TIER): f"report.html#{CLAIM}",
    }.items():
        assert main(command) == 0
        printed = capsys.readouterr()
        lines = [line for line in printed.err.splitlines() if "recorded on" in line]
        assert len(lines) == 1, command
        assert lines[0].startswith(SAID)
        assert lines[0].endswith("; not run here")
        assert ("; judged by the rules of " in lines[0]) == (command[0] != "draw")
        if command[:1] == ("list",) and KEY not in command:
            (row,) = [line for line in printed.out.splitlines() if line.startswith(ID)]
            assert "recorded " in row
        else:
            assert shown in printed.out, command
    assert set(reprise.load(ID, "tiny")) == set(registry.experiment(ID).tables)
    plt.close(reprise.draw(FIGURE, "tiny"))
    said = capsys.readouterr().err.splitlines()
    assert [line.startswith(SAID) for line in said] == [True, True]
    assert "reduced tables: alignment" in said[0]
    assert "Results recorded on 2030-01-31" in (published / "results" / PUBLISHED / "report.html").read_text()


def test_the_report_is_opened_or_its_path_is_said_where_there_is_no_browser(published, capsys, monkeypatch):
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    for is_first in (True, False):
        assert main(["open", CLAIM, *TIER]) == 0
        printed = capsys.readouterr()
        report = published / "results" / PUBLISHED / "report.html"
        assert printed.out == f"{report.as_uri()}#{CLAIM}\n"
        assert ("writes the report first" in printed.err) == is_first
        assert "no browser found" in printed.err


def test_what_has_run_here_comes_first_and_is_counted_alone(published, ran, capsys):
    shutil.copytree(ran / "results" / "tiny", published / "results" / "tiny")
    for command in ("list", *TIER), ("show", CLAIM, *TIER), ("check", KEY, *TIER), ("report", *TIER):
        assert main(command) == 0
        printed = capsys.readouterr()
        assert "recorded" not in printed.err
        assert PUBLISHED not in printed.out


def test_other_tiers_and_verdicts_to_be_saved_have_nothing_to_do_with_it(published, capsys):
    assert main(["check", KEY, *TIER, "--write"]) == 0
    assert main(["check", KEY, "--tier", "smoke"]) == 0
    assert main(["draw", FIGURE, "--tier", "smoke"]) == 2
    printed = capsys.readouterr()
    assert "recorded on" not in printed.err
    assert "no finished results here; make them with: reprise run" in printed.err


FOREIGN = {
    "half of it": lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
    "a text": lambda file: file.write_text("version https://git-lfs.github.com/spec/v1\n"),
    "nothing": lambda file: file.write_bytes(b""),
    "another archive": lambda file: zipfile.ZipFile(file, "w").close(),
    "a folder": lambda file: (file.unlink(), file.mkdir()),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_what_is_no_bundle_is_said_in_one_line_and_hides_nothing_else(published, ran, capsys, what):
    FOREIGN[what](published / BUNDLE)
    for command in ("check", KEY, *TIER), ("draw", FIGURE, *TIER), ("show", CLAIM, *TIER):
        assert main(command) == 2
        said = capsys.readouterr().err
        assert "recorded.zip" in said
        assert said.endswith(f"; restore it with: git checkout HEAD {BUNDLE}\n")
        assert said.count("\n") == 1
    assert main(["list", *TIER]) == 0
    assert "warning: " in capsys.readouterr().err
    assert not (published / "results" / PUBLISHED).exists()
    shutil.copytree(ran / "results" / "tiny", published / "results" / "tiny")
    assert main(["check", KEY, *TIER]) == 0


def test_a_bundle_of_another_tier_is_not_shown_as_this_one(published, capsys):
    manifest, files = bundles.unpacked(published / BUNDLE)
    del files[bundles.MANIFEST]
    bundles.pack(published / BUNDLE, manifest.model_copy(update={"tier": "smoke"}), files)
    assert main(["draw", FIGURE, *TIER]) == 2
    assert "no finished results here" in capsys.readouterr().err


def test_it_is_unpacked_again_if_its_files_or_its_bundle_change(published, capsys):
    tier = recorded.load_published(published)
    table = tier.results / ID / "alignment.parquet"
    whole = table.read_bytes()
    table.write_bytes(whole[:-1])
    assert main(["draw", FIGURE, *TIER]) == 0
    assert table.read_bytes() == whole
    remade(published, date="2031-01-31")
    assert main(["draw", FIGURE, *TIER]) == 0
    assert "recorded on 2031-01-31" in capsys.readouterr().err


@pytest.mark.parametrize("change", ["a column", "a table", "a parameter", "a former parameter", "code"])
def test_an_older_version_is_judged_where_its_columns_serve(published, capsys, change):
    expected = (
        Verdicts(registry.paper(KEY), recorded.load_published(published))
        .judged()
        .set_index("claim")["verdict"]
    )
    params = recorded.load_published(published).params[ID].model_dump(mode="json")
    without = {name: value for name, value in params.items() if name != "aligned_below"}
    file, read = "trajectory.parquet", "off_diagonal_mass"
    changes = {
        "a column": {"tables": lambda tables: {**tables, file: tables[file].drop(columns=read)}},
        "a table": {"tables": lambda tables: {name: tables[name] for name in tables if name != file}},
        "a parameter": {"params": without},
        "a former parameter": {"params": {**params, "speed": 1}},
        "code": {},
    }
    remade(published, **changes[change], code="0" * 16)
    assert main(["check", KEY, *TIER]) == 0
    tier = recorded.load_published(published)
    assert tier.experiment(ID).older()
    judged = Verdicts(registry.paper(KEY), tier).judged().set_index("claim")
    same = judged["verdict"] == expected
    if change in ("a column", "a table"):
        lost = judged[~same]
        assert set(lost["verdict"]) == {"not run"}
        assert lost["reason"].str.contains("of an older version of this experiment").all()
        assert 0 < len(lost) < 8
    else:
        assert same.all()
    assert main(["show", CLAIM, *TIER]) == 0
    assert "; of an older version of this experiment" in capsys.readouterr().err
    assert main(["report", *TIER]) == 0
    assert "Recorded with an older version of this experiment" in (tier.results / "report.html").read_text()


# Reduced runs.


def test_a_reduced_run_is_smaller_with_the_same_verdicts_and_the_same_lines(ran, published):
    """The lines as matplotlib holds them, to a thousandth of what an axis shows."""
    whole, small = tiers.load_tier("tiny", ran), recorded.load_published(published)
    notes = small.experiment(ID).record()["reduced"]
    assert any("the published setting alone" in note for note in notes.values())
    assert any("rounded" in note for note in notes.values())
    before, after = (
        Verdicts(registry.paper(KEY), tier).judged().set_index("claim") for tier in (whole, small)
    )
    assert before["verdict"].equals(after["verdict"])
    np.testing.assert_allclose(after["observed"], before["observed"], rtol=1e-3, atol=1e-6)
    compared = 0
    for artifact in registry.experiment(ID).artifacts:
        drawn = [Drawing(artifact, tier).content() for tier in (whole, small)]
        for one, other in zip(*(figure.axes for figure in drawn), strict=True):
            for a, b in zip(one.lines, other.lines, strict=True):
                spans = np.ptp(one.dataLim.get_points(), axis=0)
                distances = np.abs(a.get_xydata() - b.get_xydata()) / spans
                assert not (distances > 1e-3).any()
                compared += distances.size
        plt.close("all")
    assert compared > 1000
    (table,) = [name for name in notes if name == "alignment.parquet"]
    assert len(pd.read_parquet(small.results / ID / table)) < len(pd.read_parquet(whole.results / ID / table))


def test_what_would_move_is_kept(ran, monkeypatch):
    """A figure that shows other settings, and a claim about the 30th digit."""
    tier = tiers.load_tier("tiny", ran)
    monkeypatch.setattr(reduced, "LARGE", 0)
    monkeypatch.setattr(reduced, "CLOSE", 0.0)
    monkeypatch.setattr(reduced, "TINY", 0.0)
    content = Drawing.content

    def every_setting(drawing, tables):
        figure = content(drawing, tables)
        figure.text(0.5, 0.5, f"{sum(map(len, tables.values()))}", fontsize=20)
        return figure

    monkeypatch.setattr(Drawing, "content", every_setting)
    record = records.unseal(reduced.reduced(tier.experiment(ID))[store.RECORD].decode())
    assert not any("alone" in note for note in record["reduced"].values())


@given(
    st.lists(st.floats(allow_nan=True, allow_infinity=True, allow_subnormal=False), min_size=1),
    st.integers(5, 40),
)
def test_rounding_keeps_so_many_digits(values, bits):
    values = np.array(values)
    near = reduced.rounded(values, bits)
    ends = ~np.isfinite(values) | (np.abs(values) > 1e300)
    np.testing.assert_array_equal(near[~np.isfinite(values)], values[~np.isfinite(values)])
    np.testing.assert_allclose(near[~ends], values[~ends], rtol=2.0**-bits, atol=0)
    low = near[~ends][:, None].view(np.uint64) & np.uint64(2 ** (52 - bits) - 1)
    assert not low.any()  # which is why they shrink


def test_a_run_too_large_is_left_out_by_name(ran, monkeypatch, capsys):
    tier = tiers.load_tier("tiny", ran)
    monkeypatch.setattr(bundling, "SMALL", 1000)
    with pytest.raises(RepriseError, match="nothing"):
        bundling.small_bundle(tier)
    assert f"without {ID}, " in capsys.readouterr().err
