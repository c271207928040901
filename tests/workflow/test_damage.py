"""Damaged results, failing computations and folders that take no files: what is said, and what is left."""

import os
import re
import resource

import pytest

from reprise.storage import locks

pytestmark = pytest.mark.slow

ID = "jing2022/layer_alignment"
COMPUTE = f"src/reprise/papers/{ID}/compute.py"
LINE = '    streams = Streams(params.seed_range(params.seeds), f"{start} weights")\n'
AGAIN = f"make it again with: reprise run {ID} --tier smoke"


def content(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def readable(checkout):
    """The results of the experiment, as a reader gets them who checks them first."""
    code, printed = checkout.call("reprise", "draw", "jing2022/fig04", "--tier", "smoke")
    assert code == 0, printed
    return {
        name: data
        for name, data in content(checkout.root / "results" / "smoke" / ID).items()
        if not name.startswith(".")
    }


def truncate(file):
    file.write_bytes(file.read_bytes()[:-100])


def alter(file):
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


@pytest.mark.parametrize("damage", [truncate, alter])
def test_a_damaged_table_is_named_by_every_command_that_reads_it(finished, damage):
    file = finished.root / "results" / "smoke" / ID / "alignment.parquet"
    damage(file)
    drawn = content(finished.root / "figures" / "smoke" / "jing2022")
    for command in (("draw", "jing2022/fig04"), ("check", "jing2022")):
        code, printed = finished.call("reprise", *command, "--tier", "smoke")
        assert code == 2
        assert f"reprise: error: {file}: truncated or altered" in printed
        assert AGAIN in printed
        assert "Traceback" not in printed
    assert content(finished.root / "figures" / "smoke" / "jing2022") == drawn


def test_a_damaged_table_is_made_again_by_snakemake_whatever_its_date(finished, smoke_run):
    file = finished.root / "results" / "smoke" / ID / "alignment.parquet"
    times = file.stat().st_atime_ns, file.stat().st_mtime_ns
    truncate(file)
    os.utime(file, ns=times)
    assert finished.plan() >= {"jing2022_layer_alignment"}
    finished.done("--cores", "2")
    assert finished.results() == smoke_run.results()
    assert finished.plan() == set()


def test_a_computation_that_fails_loses_nothing_and_does_not_count_as_done(finished, smoke_run):
    good = readable(finished)
    finished.edit(COMPUTE, LINE, f'{LINE}    raise ValueError("no luck")\n')
    for _ in range(2):
        code, printed = finished.snakemake("--cores", "2")
        assert code != 0
        assert "ValueError: no luck" in printed
        assert content(finished.root / "results" / "smoke" / ID).items() >= good.items()
        assert finished.plan() >= {"jing2022_layer_alignment", "jing2022_fig04", "jing2022_fig05", "report"}
    finished.edit(COMPUTE, '    raise ValueError("no luck")\n', "")
    assert readable(finished) == good
    finished.done("--cores", "2")
    assert finished.results() == smoke_run.results()
    assert finished.plan() == set()


def test_a_computation_that_fails_at_first_leaves_no_results(blank):
    blank.edit(COMPUTE, LINE, f'{LINE}    raise ValueError("no luck")\n')
    code, printed = blank.snakemake("--cores", "2", f"results/smoke/{ID}/run.json")
    assert code != 0
    assert "ValueError: no luck" in printed
    folder = blank.root / "results" / "smoke" / ID
    assert not folder.exists() or set(content(folder)) == {locks.LOCK}


def test_a_full_disk_is_said_and_loses_nothing(finished, smoke_run):
    """Files may not outgrow those of the finished run by half, and ten times the seeds need more: that fails
    as on a full disk."""
    good = readable(finished)
    few = f"{ID}:\n    batch_size: 64\n    steps: 40\n    seeds: 3\n"
    many = few.replace("3", "30")
    finished.edit("configs/smoke.yaml", few, many)
    largest = max(map(len, content(finished.root / "results" / "smoke" / ID).values()))
    limit = (largest * 3 // 2,) * 2
    process = finished.start(
        "snakemake", "--cores", "2", "--config", "tier=smoke",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
    )  # fmt: skip
    printed, _ = process.communicate(timeout=300)
    assert process.returncode != 0
    folder = finished.root / "results" / "smoke" / ID
    assert re.search(
        rf"reprise: error: {folder}: cannot be written \(.*\); free space or give write", printed
    )
    assert "jing2022_layer_alignment" in finished.plan()
    finished.edit("configs/smoke.yaml", many, few)
    assert readable(finished) == good
    finished.done("--cores", "2")
    assert finished.results() == smoke_run.results()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_write_access_is_said_before_the_first_job(finished):
    good = finished.results()
    (finished.root / "results").chmod(0o500)
    try:
        code, printed = finished.snakemake("--cores", "2")
    finally:
        (finished.root / "results").chmod(0o700)
    assert code != 0
    assert f"{finished.root / 'results'}: not a folder that can be written to" in printed
    assert finished.results() == good
