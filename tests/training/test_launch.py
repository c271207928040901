"""A model that two processes train for one that waits is found by it."""

import fcntl
import os
from types import SimpleNamespace

import pytest
import tiny
import torch

from reprise.errors import RepriseError
from reprise.training import launch as launching
from reprise.training.image_settings import Source
from reprise.training.launch import launch, train_on_all_gpus
from reprise.training.models import trained

DIGITS = Source(name="digits", root="data")


@pytest.mark.parametrize("count", [1, 2])
def test_each_visible_gpu_is_used_by_one_at_a_time_on_this_machine(count, tmp_path, monkeypatch):
    """By processes of their own if there are several, else by this one."""
    uuids = [f"{tmp_path.name}-{number}" for number in range(count)]
    locks = [launching.gpu_lock(uuid) for uuid in uuids]
    asked = []

    def training(name):
        def trains(*given, **settings):
            asked.append((name, settings))
            for lock in locks:
                with lock.open("w") as file, pytest.raises(BlockingIOError):
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

        return trains

    for name in ("launch", "trained"):
        monkeypatch.setattr(launching, name, training(name))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda index: SimpleNamespace(uuid=uuids[index]))
    train_on_all_gpus(tiny.spec(), DIGITS, tmp_path)
    several = ("launch", {"device": "cuda", "processes": "gpu"})
    assert asked == [several if count > 1 else ("trained", {"device": "cuda"})]
    assert not (tmp_path / "results").exists()  # which several machines may share
    for lock in locks:
        lock.unlink()


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_a_machine_without_a_gpu_is_one_message_before_any_process_starts(tmp_path, monkeypatch):
    monkeypatch.setattr(launching, "launch", None)
    with pytest.raises(RepriseError, match=f"no GPU can be used on {os.uname().nodename}.*device: cpu"):
        train_on_all_gpus(tiny.spec(), DIGITS, tmp_path)


@pytest.mark.slow
def test_what_the_processes_trained_is_found(tmp_path, capfd):
    spec = tiny.spec(steps=3)
    launch(spec, DIGITS, tmp_path, device="cpu", processes="2")
    assert capfd.readouterr().err.count("MISS") == 1
    trained(spec, DIGITS.load(), tmp_path)
    assert "HIT" in capfd.readouterr().err


@pytest.mark.slow
def test_a_process_that_fails_is_an_error(tmp_path):
    with pytest.raises(RepriseError, match="exit code"):
        launch(tiny.spec(batch=15), DIGITS, tmp_path, device="cpu", processes="2")
