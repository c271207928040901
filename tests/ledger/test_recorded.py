"""A recorded run is bundled here, merged there and judged again; anything else is refused, and nothing of it
is left."""

import io
import json
import os
import random
import resource
import shutil
import struct
import sys
import time
import warnings
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reprise.cli import main
from reprise.engine import check, foreign, registry, tiers
from reprise.engine.check import Verdicts
from reprise.errors import RepriseError
from reprise.ledger import bundles, bundling, diff, recorded
from reprise.ledger.bundles import MANIFEST
from reprise.report import html
from reprise.storage import disk, records, store

KEY = "jing2022"
ID = f"{KEY}/layer_alignment"


@pytest.fixture
def elsewhere(checkout, ran):
    """Another checkout, without that tier and its results, and their bundle."""
    file = checkout.parent / "bundle.zip"
    bundling.bundle([KEY], tiers.load_tier("tiny", ran), file)
    return checkout, file


def left_in(root):
    folder = root / "results" / "recorded"
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".lock") if folder.is_dir() else []


def test_a_merged_run_is_judged_as_it_was_where_it_ran(ran, elsewhere):
    root, file = elsewhere
    here = Verdicts(registry.paper(KEY), tiers.load_tier("tiny", ran)).judged()
    tier, was_here = bundling.merge(file, root)
    there = recorded.verdicts(tier)
    assert not was_here
    assert set(there["claim"]) == {claim.id for claim in registry.experiment(ID).claims}
    expected = here[here["claim"].isin(there["claim"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(there, expected)
    assert (there["looked"].str.contains("its steps")).all()
    assert there["departures"].str.contains("seeds").all()  # computed from the recorded parameters
    assert bundling.merge(file, root)[1]  # the second time it is here already
    assert left_in(root) == [tier.name.split("/")[1]]


def test_a_merged_run_can_be_drawn_and_checked_but_not_run(elsewhere, capsys):
    root, file = elsewhere
    assert main(["merge", str(file)]) == 0
    name = recorded.recorded_names(root)[0]
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
    before = check.join(tiers.load_tier("default"))
    tier, _ = bundling.merge(file, root)
    claims = check.join(tiers.load_tier("default"))
    pd.testing.assert_frame_equal(claims, before)
    page = html.write(tiers.load_tier("default"), claims).read_text()
    decided = recorded.verdicts(tier).query("verdict in ['reproduced', 'contradicted']")
    assert len(decided)
    for row in decided.itertuples():
        row_on_page = page.split(f'id="{row.claim}"')[1].split("</details>")[0]
        assert f"{tier.name}: {row.verdict}, " in row_on_page
        assert "not run" in row_on_page
    section = page.split('<section id="recorded">')[1].split("</section>")[0]
    record = store.load_record(tier.results / ID, "")
    assert record["commit"] in section
    assert record["hardware"]["processor"] in section
    own = html.write(tier, check.join(tier)).read_text()
    assert 'id="recorded"' not in own


def test_a_run_that_has_changed_since_does_not_stop_the_report(elsewhere):
    root, file = elsewhere
    tier, _ = bundling.merge(file, root)
    table = next((tier.results / ID).glob("*.parquet"))
    table.write_bytes(table.read_bytes()[:-1])
    default = tiers.load_tier("default")
    page = html.write(default, check.join(default)).read_text()
    assert "Cannot be judged by this version: " in page
    assert f"{table.name}: truncated or altered" in page


def test_the_same_results_give_the_same_bytes(ran, tmp_path):
    tier = tiers.load_tier("tiny", ran)
    first, second = (bundling.bundle([KEY], tier, tmp_path / name)[0] for name in ("a.zip", "b.zip"))
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
        manifest = records.unseal(contents[MANIFEST].decode())
        manifest["sha256"] = {name: disk.sha256(c) for name, c in contents.items() if name != MANIFEST}
        change(manifest)
        contents[MANIFEST] = records.seal(manifest).encode()

    changed(file, both)


def record_with(**fields):
    def edit(contents):
        name = f"{ID}/{store.RECORD}"
        contents[name] = records.seal({**records.unseal(contents[name].decode()), **fields}).encode()

    return edit


def without(table):
    def edit(contents):
        name = next(name for name in contents if name.startswith(ID) and name.endswith(f"{table}.parquet"))
        frame = pd.read_parquet(io.BytesIO(contents[name]))
        contents[name] = frame.drop(columns="seed").to_parquet(index=False)
        record = records.unseal(contents[f"{ID}/run.json"].decode())
        record["sha256"][f"{table}.parquet"] = disk.sha256(contents[name])
        contents[f"{ID}/run.json"] = records.seal(record).encode()

    return edit


def nothing_but_the_manifest(contents):
    for name in [name for name in contents if name != MANIFEST]:
        del contents[name]


NOTHING = {"experiments": [], "looked": {}, "sha256": {}}
NESTED = b"[" * 100_000 + b"]" * 100_000
UNREAD = f"{ID}/alignment.parquet"
"""No claim reads it."""


def lacking(name):
    def edit(contents):
        record = records.unseal(contents[f"{ID}/run.json"].decode())
        del record[name]
        contents[f"{ID}/run.json"] = records.seal(record).encode()

    return edit


def with_table(content, name=UNREAD):
    def edit(contents):
        contents[name] = content
        record = records.unseal(contents[f"{ID}/run.json"].decode())
        record["sha256"][name.rpartition("/")[2]] = disk.sha256(content)
        contents[f"{ID}/run.json"] = records.seal(record).encode()

    return edit


def with_frame(change, name=UNREAD):
    def edit(contents):
        frame = change(pd.read_parquet(io.BytesIO(contents[name])))
        with_table(frame.to_parquet(index=False), name)(contents)

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
        lambda file: remade(file, nothing, record_with(params={"speed": 1})), "seeds, speed, steps; read it"
    ),
    "fewer parameters": (
        lambda file: remade(file, nothing, record_with(params={})), f"where {ID} had other parameters"
    ),
    "another experiment's": (
        lambda file: remade(file, nothing, record_with(experiment="tian2023/dynamics")),
        "the record is of tian2023/dynamics",
    ),
    "no parameters": (lambda file: remade(file, nothing, record_with(params=None)), "'params': Input should"),
    "no experiments": (
        lambda file: remade(file, lambda m: m.update(NOTHING), nothing_but_the_manifest),
        "'experiments': List should have at least 1",
    ),
    "an experiment twice": (
        lambda file: remade(file, lambda m: m.update(experiments=[ID, ID])),
        "'experiments': Value error, names"
    ),
    "looked of another": (
        lambda file: remade(file, lambda m: m.update(looked={"a/b": "x"})), "a/b is none of its experiments"
    ),
    "a long tier": (lambda file: remade(file, lambda m: m.update(tier="x" * 5000)), "'tier': String should"),
    "nested lists": (
        lambda file: remade(file, nothing, lambda c: c.update({f"{ID}/run.json": NESTED})),
        "run.json: damaged"
    ),
    "a nested manifest": (
        lambda file: changed(file, lambda c: c.update({MANIFEST: NESTED})),
        "json: damaged",
    ),
    "nested parameters": (
        lambda file: remade(file, nothing, record_with(params={"x": json.loads("[" * 21 + "]" * 21)})),
        "more than 20 lists and mappings",
    ),
    **{
        f"{name}: {value!r}": (
            lambda file, name=name, value=value: remade(file, nothing, record_with(**{name: value})),
            f"'{name}",
        )
        for name in ("key", "sha256", "commit", "command", "versions", "hardware", "files")
        for value in (True, [1])
    },
    "a record without a key": (lambda file: remade(file, nothing, lacking("key")), "'key': Field required"),
    "a long record": (
        lambda file: remade(file, nothing, record_with(x=["y" * 9999] * 200)), "expected at most 1,048,576"
    ),
    "a terminal's codes": (
        lambda file: remade(file, nothing, record_with(command="\x1b[2J\nall is well")),
        "holds the text '\\x1b[2J"
    ),
    "half a character": (
        lambda file: remade(file, nothing, record_with(python="\udc80")), "holds the text '\\udc80'"
    ),
    **{
        f"a record of {name!r}": (
            lambda file, name=name: remade(file, nothing, record_with(sha256={name: "0" * 64})), message
        )
        for name, message in {
            "../../x.parquet": "should match pattern",
            "/etc/passwd": "should match pattern",
            "a\0b.parquet": "holds the text 'a\\x00b.parquet'",
            "x.parquet": "not what the records of its experiments list",
        }.items()
    },
    "names that some disks take for one": (
        lambda file: remade(file, nothing, record_with(sha256={f"{x}.parquet": "0" * 64 for x in "aA"})),
        "names must differ by more than the case",
    ),
    "no table": (lambda file: remade(file, nothing, with_table(b"hello")), "not readable as a table"),
    "an empty table": (
        lambda file: remade(file, nothing, with_frame(lambda t: t.iloc[:0])), "the table is empty"
    ),
    "a table without settings": (
        lambda file: remade(file, nothing, with_frame(lambda t: t.drop(columns="setting"))),
        "expected a column 'setting'",
    ),
    "settings of numbers": (
        lambda file: remade(file, nothing, with_frame(lambda t: t.assign(setting=1))),
        "expected a column 'setting'"
    ),
    "nothing published": (
        lambda file: remade(file, nothing, with_frame(lambda t: t.assign(setting="x"))),
        "'setting' is 'published'"
    ),
    "other columns in a table that no claim reads": (
        lambda file: remade(file, nothing, with_frame(lambda t: t[["setting"]])),
        f"{KEY}/fig04 draws in this version (",
    ),
    "a column of lists": (
        lambda file: remade(file, nothing, with_frame(lambda t: t.assign(x=[[1]] * len(t)))),
        "of the type list"
    ),
    "a terminal's codes in a table": (
        lambda file: remade(file, nothing, with_frame(lambda t: t.assign(arm="\x1b[2J"))), "holds the text"
    ),
    "tables of another version": (
        lambda file: remade(file, nothing, without("trajectory")), f"not what the claims of {ID} read"
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
    assert str(file) in error
    assert len(error.splitlines()) == 1
    assert len(error) < 500
    assert left_in(root) == []


def test_a_setting_that_is_gone_from_a_list_of_settings_is_left_out():
    """With the other settings of the record kept."""
    optimisers = [{"kind": "sgd", "learning_rate": 0.1, "warmth": 1}]
    kind, params = registry.experiment("jing2022/projector_map").params, {"optimisers": optimisers}
    read = foreign.params_of(kind, {**params, "base_seeds": 5}, "the record")
    assert read == kind(base_seeds=5)
    assert "optimisers" in recorded._changed(read, params)


def test_a_bomb_is_refused_before_it_is_unpacked(elsewhere, monkeypatch):
    root, file = elsewhere
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, json.dumps({}))
        archive.writestr("zeros", bytes(3 << 20))
    monkeypatch.setattr(bundles, "MAX_BYTES", 1 << 20)
    with pytest.raises(RepriseError, match="unpacks to more than"):
        bundling.merge(file, root)


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
        recorded.load("recorded")


def parquet(table, **options):
    content = io.BytesIO()
    pq.write_table(table, content, **options)
    return content.getvalue()


def rows():
    return parquet(pa.table({"x": np.zeros(50_000_000), "y": np.zeros(50_000_000)}))


def texts():
    """A text of 1 MB in each of 3,000 rows, stored once."""
    text = pa.DictionaryArray.from_arrays(pa.array(np.zeros(3000, "int32")), ["x" * 1_000_000])
    return parquet(pa.table({"setting": ["published"] * 3000, "text": text}), store_schema=False)


def zstd():
    return parquet(pa.table({"x": [b"x" * 50_000_000]}), compression="zstd", use_dictionary=False)


@pytest.mark.parametrize(
    ("bomb", "message"),
    [
        (rows, "unfolds to 50,000,000 rows and 763 MiB; expected at most 64 MiB"),
        (texts, "unfolds to 3,000 rows and 2,861 MiB; expected at most 64 MiB"),
        (zstd, "is of the type binary"),
    ],
)
def test_a_table_that_unfolds_is_refused_before_it_is(bomb, message):
    content = bomb()
    assert len(content) < 2_000_000
    before = pa.total_allocated_bytes()
    pool = pa.default_memory_pool()
    peak = pool.max_memory()
    with pytest.raises(RepriseError, match=f"^here: .*{message}"):
        foreign.table(content, "here")
    assert pool.max_memory() <= max(peak, before + 2**26)


def test_tables_as_we_write_them_are_read_as_they_are(ran):
    for file in (ran / "results" / "tiny" / ID).glob("*.parquet"):
        read = foreign.observations(file.read_bytes(), "here")
        pd.testing.assert_frame_equal(read, pd.read_parquet(file))


def many(file):
    """Four million members, which a file of 188 MB can list."""
    member = b"PK\x01\x02" + struct.pack("<HHHHHHIIIHHHHHII", 20, 20, *[0] * 7, 1, *[0] * 6) + b"a"
    size = 4_000_000 * len(member)
    with file.open("wb") as opened:
        opened.truncate(size)
        opened.seek(size)
        opened.write(b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, size, 0, 0))


def lying(file, method=zipfile.ZIP_DEFLATED):
    """A member of 300 MB that says that it has 10 bytes."""
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr(MANIFEST, bytes(300_000_000))
    content = bytearray(file.read_bytes())
    place = content.rfind(b"PK\x01\x02")
    content[place + 24 : place + 28] = struct.pack("<I", 10)
    file.write_bytes(content)


def twice(file):
    with warnings.catch_warnings(), zipfile.ZipFile(file, "a") as archive:
        warnings.simplefilter("ignore")
        archive.writestr(MANIFEST, archive.read(MANIFEST))


def encrypted(file):
    content = bytearray(file.read_bytes())
    content[content.rfind(b"PK\x01\x02") + 8] |= 1
    file.write_bytes(content)


def linked_to(target):
    def put(file):
        file.unlink()
        file.symlink_to(target)

    return put


def a_pipe(file):
    file.unlink()
    os.mkfifo(file)


def large(file):
    os.truncate(file, 20 << 30)  # takes no room on the disk


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (linked_to("/dev/zero"), "not a regular file"),
        (linked_to("/dev/stdin"), "not a"),
        (a_pipe, "not a regular file"),
        (large, "has 20,480 MiB; expected at most 512"),
        (many, "lists its files in more than 1 MiB"),
        (lying, "Bad CRC-32"),
        (lambda file: lying(file, zipfile.ZIP_BZIP2), "packed in a way that no bundle is"),
        (twice, "two files of the same name"),
        (encrypted, "is encrypted"),
        (
            lambda file: changed(file, lambda c: c.update({"in.zip": file.read_bytes()})),
            "other files than its",
        ),
    ],
)
@pytest.mark.parametrize("read", ["merge", "diff"])
def test_a_file_that_is_no_bundle_is_refused_at_once(elsewhere, capsys, make, message, read):
    root, file = elsewhere
    make(file)
    start = time.process_time()
    assert main(["merge", str(file)] if read == "merge" else ["diff", str(file), str(file)]) == 2
    error = capsys.readouterr().err.strip()
    assert message in error
    assert str(file) in error
    assert len(error.splitlines()) == 1
    assert time.process_time() - start < 5
    assert left_in(root) == []


def table_cut(folder):
    file = next((folder / ID).glob("*.parquet"))
    file.write_bytes(file.read_bytes()[:-1])


def table_and_record_remade(folder):
    """As by somebody with our code: the record's seal and sums are right."""
    file, record = folder / UNREAD, folder / ID / "run.json"
    file.write_bytes(pd.read_parquet(file).iloc[::-1].to_parquet(index=False))
    made = records.unseal(record.read_text())
    record.write_text(
        records.seal({**made, "sha256": made["sha256"] | {file.name: disk.sha256(file.read_bytes())}})
    )


def manifest_remade(folder):
    made = records.unseal((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(records.seal({**made, "looked": {}}))


def table_gone(folder):
    (folder / UNREAD).unlink()


def another_experiment_added(folder):
    shutil.copytree(folder / ID, folder / KEY / "projector_map")


@pytest.mark.parametrize(
    "change", [table_cut, table_and_record_remade, manifest_remade, table_gone, another_experiment_added]
)
def test_a_run_that_has_changed_since_it_was_merged_is_noticed_by_every_reader_and_mended(
    elsewhere, capsys, change
):
    root, file = elsewhere
    tier, _ = bundling.merge(file, root)
    before = recorded.verdicts(tier)
    change(tier.results)
    capsys.readouterr()
    for command in (["check", KEY], ["report"], ["draw", f"{KEY}/fig04"], ["show", before["claim"][0]]):
        assert main([*command, "--tier", tier.name]) == 2, command
        assert tier.name in capsys.readouterr().err
    default = tiers.load_tier("default")
    assert "Cannot be judged by this version: " in html.write(default, check.join(default)).read_text()
    assert main(["merge", str(file)]) == 0
    out, err = capsys.readouterr()
    assert "; merged again" in err
    assert f"{tier.name}: merged; " in out
    pd.testing.assert_frame_equal(recorded.verdicts(recorded.load(tier.name)), before)
    assert left_in(root) == [tier.name.split("/")[1]]


def test_what_stands_where_a_run_would_be_merged_is_replaced(elsewhere):
    root, file = elsewhere
    tier, _ = bundling.merge(file, root)
    shutil.rmtree(tier.results)
    tier.results.write_text("no folder")
    assert bundling.merge(file, root)[1] is False
    assert recorded.load(tier.name).is_recorded


def test_bundles_that_say_other_things_of_the_same_tables_have_other_names(elsewhere):
    root, file = elsewhere
    first, _ = bundling.merge(file, root)
    remade(file, lambda m: m.update(looked={}))
    second, was_here = bundling.merge(file, root)
    assert not was_here
    assert first.name != second.name
    shown = [recorded.verdicts(tier)["looked"].str.contains("its steps") for tier in (first, second)]
    assert shown[0].all()
    assert not shown[1].any()


VALUES = (
    *(None, True, 0, -1, 10**9, 10**40, 0.5, float("nan"), float("inf"), "", "x", "../../x", "/etc/passwd"),
    *("\0", "\x1b[31m", "\udc80", "x" * 20_000, [], {}, [[[]]], {"x": {"x": None}}, [None] * 1000),
)


def damage(contents, draw):
    """One random change of a bundle's contents."""
    name = draw.choice([each for each in contents if each != MANIFEST])
    if name.endswith(".json"):
        record = records.unseal(contents[name].decode())
        place, depth = record, draw.randrange(4)
        while depth and (inner := [value for value in place.values() if isinstance(value, dict) and value]):
            place, depth = draw.choice(inner), depth - 1
        key = draw.choice(list(place))
        if draw.random() < 0.3:
            del place[key]
        else:
            place[draw.choice([key, "../x", "\n", "y"])] = draw.choice(VALUES)
        contents[name] = records.seal(record).encode()
    elif draw.random() < 0.3:
        content = bytearray(contents[name])
        for _ in range(draw.randrange(1, 20)):
            content[draw.choice([draw.randrange(len(content)), -draw.randrange(1, 3000)])] = draw.randrange(
                256
            )
        with_table(bytes(content), name)(contents)
    else:
        frame = pd.read_parquet(io.BytesIO(contents[name]))
        column = draw.choice(list(frame.columns))
        change = draw.choice(
            [
                lambda t: t.drop(columns=column),
                lambda t: t.rename(columns={column: draw.choice(["", "x", "\x1b"])}),
                lambda t: t.iloc[: draw.randrange(50)],
                lambda t: t.sample(len(t), random_state=0),
                lambda t: t.assign(**{column: t[column].astype(str)}),
                lambda t: t.assign(**{column: None}),
                lambda t: t.assign(**{column: np.nan}),
                lambda t: t.assign(**{column: np.inf}),
                lambda t: t.assign(**{column: t[column].iloc[::-1].to_numpy()}),
                lambda t: pd.concat([t] * 3),
                lambda t: t.set_index(column),
            ]
        )
        content = io.BytesIO()
        change(frame).to_parquet(content)
        with_table(content.getvalue(), name)(contents)


TRIES = int(os.environ.get("EXAMPLES", "20"))


@pytest.mark.parametrize("seed", range(TRIES))
def test_a_made_up_bundle_merges_or_is_refused_in_one_line(elsewhere, capsys, seed):
    """Its seals and sums are right. What merges is judged as the same tables are without merging."""
    root, file = elsewhere
    draw = random.Random(seed)
    remade(file, nothing, lambda contents: damage(contents, draw))
    start, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    code = main(["merge", str(file)])
    error = capsys.readouterr().err.strip()
    if code == 0:
        (name,) = recorded.recorded_names(root)
        tier, run = recorded.load(name), diff.opened(file)
        expected = diff._judged(run, ID).set_index("claim")["verdict"]
        merged = recorded.verdicts(tier).set_index("claim")["verdict"]
        assert merged.to_dict() == expected.to_dict()
    else:
        assert code == 2
        assert len(error.splitlines()) == 1
        assert str(file) in error
        assert len(error) < 1200
        assert left_in(root) == []
    assert time.process_time() - start < 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**20  # in kB


def test_a_record_without_its_libraries_is_reported(elsewhere):
    root, file = elsewhere
    remade(file, lambda manifest: None, record_with(arithmetic=None))
    tier, _ = bundling.merge(file, root)
    assert html.write(tier, check.join(tier)).is_file()
    default = tiers.load_tier("default")
    assert html.write(default, check.join(default)).is_file()


def test_a_formula_from_a_table_that_cannot_be_set_is_refused_when_merged(elsewhere, monkeypatch):
    root, file = elsewhere
    artifact = registry.artifact(f"{KEY}/fig04")
    drawing, module = artifact.draw, sys.modules[artifact.module]

    def titled(tables, params):
        figure = drawing(tables, params)
        figure.suptitle(r"$\frac$")
        return figure

    monkeypatch.setattr(module, artifact.name, titled)
    with pytest.raises(RepriseError, match="not what jing2022/fig04 draws in this version"):
        bundling.merge(file, root)
    assert left_in(root) == []
