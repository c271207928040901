"""Images that worker processes decode ahead."""

import multiprocessing
import os
import time

import numpy as np
import pytest
import torch
from PIL import Image

from reprise.datasets import reading
from reprise.datasets.folders import Files
from reprise.errors import RepriseError

pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")  # of more than there are cores


@pytest.fixture
def files(tmp_path):
    """Ten images of noise, of several sizes."""
    random, names = np.random.default_rng(0), [tmp_path / f"{place}.png" for place in range(10)]
    for name in names:
        Image.fromarray(random.integers(0, 256, (*random.integers(20, 40, 2), 3), dtype=np.uint8)).save(name)
    return Files(names, size=16)


@pytest.fixture(params=[1, 3])
def workers(request, monkeypatch):
    monkeypatch.setattr(reading, "workers", lambda: request.param)
    return request.param


def test_images_come_in_order_from_any_number_of_workers(files, workers):
    everything = files[torch.arange(10)]
    assert everything.shape == (10, 3, 16, 16)
    assert [len(chunk) for chunk in reading.chunks(files, 4)] == [4, 4, 2]
    assert torch.equal(torch.cat(list(reading.chunks(files, 4))), everything)
    assert torch.equal(torch.cat(list(reading.chunks(files, 4, range(3, 9)))), everything[3:9])
    assert torch.equal(torch.cat(list(reading.chunks(everything, 4, range(3, 9)))), everything[3:9])
    assert list(reading.chunks(files, 4, range(0))) == []


def test_the_work_is_done_by_so_many_other_processes(workers):
    who = {int(worker) for worker in reading.ahead(lambda task: torch.tensor(os.getpid()), range(9))}
    assert len(who) == workers
    assert os.getpid() not in who


def test_results_are_there_before_they_are_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "workers", lambda: 1)

    def make(task):
        (tmp_path / f"{task}").touch()
        return torch.tensor(task)

    results = reading.ahead(make, range(20), depth=6)
    assert [int(next(results)) for _ in range(13)] == list(range(13))
    deadline = time.monotonic() + 60
    while len(list(tmp_path.iterdir())) <= 13:
        assert time.monotonic() < deadline, "nothing is computed ahead"
        time.sleep(0.01)
    results.close()  # waits for the worker
    assert len(list(tmp_path.iterdir())) <= 13 + 6


def test_the_global_random_stream_stays_as_it_was(files):
    torch.manual_seed(0)
    before = torch.get_rng_state()
    list(reading.chunks(files, 4))
    assert torch.equal(torch.get_rng_state(), before)


def test_a_damaged_file_is_named_as_without_workers(files, tmp_path, workers):
    (tmp_path / "7.png").write_bytes(b"no image")
    with pytest.raises(RepriseError) as alone:
        files[torch.arange(10)]
    with pytest.raises(RepriseError) as ahead:
        list(reading.chunks(files, 2))
    assert str(ahead.value) == str(alone.value)
    assert f"{tmp_path / '7.png'}: not an image that can be decoded" in str(ahead.value)


def test_workers_are_forks_where_python_would_start_a_server():
    multiprocessing.set_start_method("forkserver", force=True)  # the default from Python 3.14 on
    try:  # a server could not be sent the function
        assert list(map(int, reading.ahead(lambda task: torch.tensor(task), range(3)))) == [0, 1, 2]
    finally:
        multiprocessing.set_start_method(None, force=True)


def test_without_forks_this_process_computes(monkeypatch):
    monkeypatch.setattr(reading, "can_fork", lambda: False)
    made = list(reading.ahead(lambda task: torch.tensor([task, os.getpid()]), range(3)))
    assert torch.stack(made).tolist() == [[task, os.getpid()] for task in range(3)]


def test_processes_of_one_training_share_the_cores(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(16)))
    monkeypatch.delenv("LOCAL_WORLD_SIZE", raising=False)
    assert reading.workers() == 16
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "8")
    assert reading.workers() == 2
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "32")
    assert reading.workers() == 1
