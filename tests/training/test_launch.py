"""A model that two processes train for one that waits is found by it."""

import fcntl

import pytest
import tiny

from reprise.errors import RepriseError
from reprise.training import launch as launching
from reprise.training.image_settings import Source
from reprise.training.launch import launch, train_on_all_gpus
from reprise.training.models import trained

DIGITS = Source(name="digits", root="data")


def test_all_gpus_are_asked_for_by_one_at_a_time(tmp_path, monkeypatch):
    asked = []

    def launched(*given, device, processes):
        asked.append((device, processes))
        lock = (tmp_path / "results" / "cache" / ".gpus.lock").open("w")
        with pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    monkeypatch.setattr(launching, "launch", launched)
    train_on_all_gpus(tiny.spec(), DIGITS, tmp_path)
    assert asked == [("cuda", "gpu")]


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
