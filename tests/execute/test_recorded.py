"""A recorded run is bundled here, merged there and judged again; anything else is refused, and nothing of it
is left."""

import io
import json
import zipfile

import pandas as pd
import pytest

from reprise.cli import main
from reprise.errors import RepriseError
from reprise.execute import pipeline, recorded, registry, tiers
from reprise.execute.tiers import MANIFEST
from reprise.report import html
from reprise.storage import store

KEY = "jing2022"
ID = f"{KEY}/layer_alignment"


@pytest.fixture
def elsewhere(checkout, ran):
    """Another checkout, without that tier and its results, and their bundle."""
    file = checkout.parent / "bundle.zip"
    recorded.bundle([KEY], tiers.load_tier("tiny", ran), file)
    return checkout, file


def left_in(root):
    folder = root / "results" / "recorded"
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".lock") if folder.is_dir() else []


def test_a_merged_run_is_judged_as_it_was_where_it_ran(ran, elsewhere):
    root, file = elsewhere
    here = pipeline.check(KEY, tiers.load_tier("tiny", ran))
    tier, was_here = recorded.merge(file, root)
    there = recorded.verdicts(tier)
    assert not was_here
    assert set(there["claim"]) == {claim.id for claim in registry.experiment(ID).claims}
    expected = here[here["claim"].isin(there["claim"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(there, expected)
    assert (there["looked"].str.contains("its steps")).all()
    assert there["departures"].str.contains("seeds").all()  # computed from the recorded parameters
    assert recorded.merge(file, root)[1]  # the second time it is here already
    assert left_in(root) == [tier.name.split("/")[1]]


def test_a_merged_run_can_be_drawn_and_checked_but_not_run(elsewhere, capsys):
    root, file = elsewhere
    assert main(["merge", str(file)]) == 0
    name = tiers.recorded_names(root)[0]
    assert f"{name}: merged; read it with --tier {name}" in capsys.readouterr().out
    assert main(["draw", f"{KEY}/fig04", "--tier", name]) == 0
    assert (root / "figures" / name / KEY / "fig04.pdf").is_file()
    assert main(["check", KEY, "--tier", name]) == 0
    for command in (["run", ID], ["plan", KEY]):
        assert main([*command, "--tier", name]) == 2
        assert "is a recorded run: it can be checked, drawn and reported, not run" in capsys.readouterr().err
    assert main(["check", KEY, "--tier", "recorded/other"]) == 2
    assert f"unknown recorded run 'recorded/other'; there are: {name}" in capsys.readouterr().err


def test_a_report_shows_recorded_verdicts_and_counts_them_apart(elsewhere):
    root, file = elsewhere
    before = pipeline.join(tiers.load_tier("default"))
    tier, _ = recorded.merge(file, root)
    claims = pipeline.join(tiers.load_tier("default"))
    pd.testing.assert_frame_equal(claims, before)
    page = html.write(tiers.load_tier("default"), claims).read_text()
    decided = recorded.verdicts(tier).query("verdict == 'contradicted'")
    assert len(decided)
    for row in decided.itertuples():
        row_on_page = page.split(f'id="{row.claim}"')[1].split("</details>")[0]
        assert f"{tier.name}: contradicted, " in row_on_page
        assert "not run" in row_on_page
    section = page.split('<section id="recorded">')[1].split("</section>")[0]
    record = store.load_record(tier.results / ID, "")
    assert record["commit"] in section
    assert record["hardware"]["processor"] in section
    own = html.write(tier, pipeline.join(tier)).read_text()
    assert 'id="recorded"' not in own


def test_a_run_that_this_version_cannot_judge_does_not_stop_the_report(elsewhere, monkeypatch):
    root, file = elsewhere
    tier, _ = recorded.merge(file, root)
    table = next((tier.results / ID).glob("*.parquet"))
    table.write_bytes(table.read_bytes()[:-1])
    monkeypatch.setattr(pipeline, "is_checked", lambda key, tier: False)
    default = tiers.load_tier("default")
    page = html.write(default, pipeline.join(default)).read_text()
    assert "Cannot be judged by this version: " in page
    assert f"{table.name}: truncated or altered" in page


def test_the_same_results_give_the_same_bytes(ran, tmp_path):
    tier = tiers.load_tier("tiny", ran)
    first, second = (recorded.bundle([KEY], tier, tmp_path / name)[0] for name in ("a.zip", "b.zip"))
    assert first.read_bytes() == second.read_bytes()


def changed(file, change):
    """Rewrites the bundle after `change` of its contents, a dict from path to bytes."""
    with zipfile.ZipFile(file) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    change(contents)
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)


def remade(file, change, edit=lambda contents: None):
    """A bundle with a changed manifest, as somebody with our code could make it: seals and sums are right."""

    def both(contents):
        edit(contents)
        manifest = store.unseal(contents[MANIFEST].decode())
        manifest["sha256"] = {name: store.sha256(c) for name, c in contents.items() if name != MANIFEST}
        change(manifest)
        contents[MANIFEST] = store.seal(manifest).encode()

    changed(file, both)


def record_with(**fields):
    def edit(contents):
        name = f"{ID}/{store.RECORD}"
        contents[name] = store.seal({**store.unseal(contents[name].decode()), **fields}).encode()

    return edit


def without(table):
    def edit(contents):
        name = next(name for name in contents if name.startswith(ID) and name.endswith(f"{table}.parquet"))
        frame = pd.read_parquet(io.BytesIO(contents[name]))
        contents[name] = frame.drop(columns="seed").to_parquet(index=False)
        record = store.unseal(contents[f"{ID}/run.json"].decode())
        record["sha256"][f"{table}.parquet"] = store.sha256(contents[name])
        contents[f"{ID}/run.json"] = store.seal(record).encode()

    return edit


def nothing(anything):
    pass


SPOILED = {
    "no zip": (lambda file: file.write_text("hello"), "not a bundle, or damaged"),
    "truncated": (lambda file: file.write_bytes(file.read_bytes()[:-100]), "not a bundle, or damaged"),
    "foreign": (lambda file: changed(file, lambda c: c.pop(MANIFEST)), "holds no bundle.json"),
    "a file more": (
        lambda file: changed(file, lambda c: c.update({"../../evil": b"x"})), "other files than its manifest"
    ),
    "a table cut": (
        lambda file: changed(file, lambda c: c.update({n: v[:-1] for n, v in c.items() if n != MANIFEST})),
        "its SHA-256 is not the manifest's",
    ),
    "manifest edited": (
        lambda file: changed(file, lambda c: c.update({MANIFEST: c[MANIFEST].replace(b"tiny", b"gpus")})),
        "bundle.json: damaged",
    ),
    "another format": (lambda file: remade(file, lambda m: m.update(format=2)), "'format': Input should be"),
    "a field missing": (lambda file: remade(file, lambda m: m.pop("looked")), "'looked': Field required"),
    "no tier": (lambda file: remade(file, lambda m: m.update(tier="../../x")), "is not the name of a tier"),
    "another project's": (
        lambda file: remade(file, lambda m: m.update(experiments=["he2020/moco"])),
        "he2020/moco, which this version does not know",
    ),
    "a table missing": (
        lambda file: remade(file, nothing, lambda c: c.pop(next(n for n in c if n.endswith(".parquet")))),
        "not those that this version makes",
    ),
    "a path out": (
        lambda file: remade(file, nothing, lambda c: c.update({f"{ID}/../../../x.parquet": b""})),
        "not those that this version makes",
    ),
    "other parameters": (
        lambda file: remade(file, nothing, record_with(params={"speed": 1})), "unknown key 'speed'"
    ),
    "fewer parameters": (
        lambda file: remade(file, nothing, record_with(params={})), f"where {ID} had other parameters"
    ),
    "another experiment's": (
        lambda file: remade(file, nothing, record_with(experiment="tian2023/dynamics")),
        "the record is of tian2023/dynamics",
    ),
    "no parameters": (lambda file: remade(file, nothing, record_with(params=None)), "'params': Input should"),
    "tables of another version": (
        lambda file: remade(file, nothing, without("trajectory")), "not what the claims of jing2022 read"
    ),
}  # fmt: skip


@pytest.mark.parametrize("spoil", SPOILED)
def test_what_is_no_intact_bundle_is_refused_in_one_line(elsewhere, capsys, spoil):
    root, file = elsewhere
    change, message = SPOILED[spoil]
    change(file)
    assert main(["merge", str(file)]) == 2
    error = capsys.readouterr().err.strip()
    assert message in error
    assert str(file) in error or "recorded/" in error
    assert len(error.splitlines()) == 1
    assert len(error) < 500
    assert left_in(root) == []


def test_a_record_with_a_setting_that_is_gone_from_a_list_of_settings_is_refused():
    record = {
        "experiment": "jing2022/projector_map",
        "params": {"optimisers": [{"kind": "sgd", "learning_rate": 0.1, "warmth": 1}]},
    }
    with pytest.raises(RepriseError, match="unknown key in a list of settings"):
        tiers._as_recorded(record["experiment"], record, "the record")


def test_a_bomb_is_refused_before_it_is_unpacked(elsewhere, monkeypatch):
    root, file = elsewhere
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, json.dumps({}))
        archive.writestr("zeros", bytes(3 << 20))
    monkeypatch.setattr(recorded, "MAX_BYTES", 1 << 20)
    with pytest.raises(RepriseError, match="unpacks to more than"):
        recorded.merge(file, root)


def test_only_finished_and_fresh_results_are_bundled(ran, monkeypatch, capsys):
    monkeypatch.chdir(ran)
    assert main(["bundle", "tian2023", "--tier", "tiny"]) == 2
    assert "no finished results of tian2023 to bundle" in capsys.readouterr().err
    monkeypatch.setattr(registry.Experiment, "code", lambda self, params: "edited")
    assert main(["bundle", KEY, "--tier", "tiny"]) == 2
    assert "made by other code than is here now" in capsys.readouterr().err
    assert not list(ran.glob("*.zip"))


def test_no_tier_is_named_like_the_folder_of_recorded_runs(checkout):
    (checkout / "configs" / "recorded.yaml").write_text("tier: recorded\n")
    with pytest.raises(RepriseError, match="is not 'cache' or 'recorded'"):
        tiers.load_tier("recorded")
