"""Resume states: two generations; damage is reported and passed over; a full disk costs nothing."""

import errno
import os

import pytest
import torch

from reprise.errors import RepriseError
from reprise.storage import checkpoints


def save(folder, step):
    log = torch.tensor([]).byte()
    tensors = {"weight": torch.full((100,), float(step)), "count": torch.tensor(step), "log": log}
    checkpoints.save(folder, step, tensors, {"note": [step]})


def newest(folder):
    found = checkpoints.load(folder)
    return found and found.step


def files(folder):
    return sorted(file for file in folder.iterdir())


def test_what_was_saved_comes_back_and_two_generations_are_kept(tmp_path):
    assert checkpoints.load(tmp_path / "none") is None
    for step in (20, 40, 60):
        save(tmp_path, step)
    step, tensors, record = checkpoints.load(tmp_path)
    assert (step, record) == (60, {"note": [60]})
    assert torch.equal(tensors["weight"], torch.full((100,), 60.0))
    assert tensors["count"].shape == ()
    assert tensors["log"].numpy().tobytes() == b""
    assert [file.name[:9] for file in files(tmp_path)] == ["000000040", "000000060"]


def truncate(file):
    file.write_bytes(file.read_bytes()[:-5])


def alter(file):
    content = bytearray(file.read_bytes())
    content[-50] ^= 1
    file.write_bytes(bytes(content))


def empty(file):
    file.write_bytes(b"")


@pytest.mark.parametrize("damage", [truncate, alter, empty])
def test_a_damaged_generation_is_reported_and_passed_over(tmp_path, capsys, damage):
    save(tmp_path, 20)
    save(tmp_path, 40)
    damage(files(tmp_path)[1])
    assert newest(tmp_path) == 20
    assert "truncated or altered" in capsys.readouterr().err
    save(tmp_path, 30)
    assert newest(tmp_path) == 30
    assert [file.name[:9] for file in files(tmp_path)] == ["000000020", "000000030"]


def test_when_both_are_damaged_there_is_none(tmp_path):
    save(tmp_path, 20)
    save(tmp_path, 40)
    for file in files(tmp_path):
        truncate(file)
    assert newest(tmp_path) is None


def test_a_full_disk_loses_nothing(tmp_path, monkeypatch):
    save(tmp_path, 20)
    save(tmp_path, 40)
    before = {file: file.read_bytes() for file in files(tmp_path)}

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RepriseError, match="No space left"):
        save(tmp_path, 60)
    assert {file: file.read_bytes() for file in files(tmp_path)} == before


def test_drafts_of_killed_runs_go(tmp_path):
    (tmp_path / ".123.000000020.aa.safetensors").write_bytes(b"half")
    assert newest(tmp_path) is None
    save(tmp_path, 20)
    assert [file.name[:9] for file in files(tmp_path)] == ["000000020"]


def test_the_same_content_gives_the_same_bytes_in_any_order_and_layout():
    a, b = torch.rand(2, 3, 4, 4), torch.rand(5)
    one = checkpoints.pack({"a": a, "b": b}, {"x": 1, "y": 2})
    other = checkpoints.pack({"b": b, "a": a.to(memory_format=torch.channels_last)}, {"y": 2, "x": 1})
    assert one == other
