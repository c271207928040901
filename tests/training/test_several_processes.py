"""Two processes on the CPU train as one does, with BatchNorm's statistics over both."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import tiny
import torch
from safetensors.torch import load_file

from reprise.training.models import trained
from reprise.training.optimisers import SGD
from reprise.training.processes import joined

pytestmark = pytest.mark.slow

HOW = {"nt_xent": {}, "vicreg": {}, **tiny.STATEFUL}


def spec(objective):
    # Small steps for those in which rounding errors grow at each.
    rate = 0.01 if objective in ("nt_xent", "vicreg") else 0.001
    return tiny.spec(objective, hyperparameters=HOW[objective], optimiser=SGD(learning_rate=rate), steps=15)


def lines(folder):
    return [json.loads(line) for line in (folder / "log.jsonl").open()]


@pytest.fixture(scope="module")
def of_two(tmp_path_factory):
    root = tmp_path_factory.mktemp("two")
    torchrun = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    done = subprocess.run([*torchrun, __file__, str(root)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return root, done.stderr


@pytest.mark.parametrize("objective", HOW)
def test_the_losses_are_those_of_one_process(of_two, tmp_path, objective):
    one = trained(spec(objective), tiny.data(), tmp_path)
    two = of_two[0] / one.relative_to(tmp_path)
    for said, expected in zip(lines(two), lines(one), strict=True):
        assert said.keys() == expected.keys()
        for name, value in expected.items():
            assert said[name] == pytest.approx(value, rel=1e-4 if name == "loss" else 1e-3, abs=1e-4), name
    found, expected = (load_file(folder / "model.safetensors") for folder in (two, one))
    for name, tensor in expected.items():
        torch.testing.assert_close(found[name], tensor, rtol=1e-3, atol=1e-4, msg=name)


def test_they_say_once_what_they_do(of_two):
    assert of_two[1].count("MISS") == len(HOW)


def main(root):
    """What each of the processes does."""
    with joined("cpu") as device:
        for objective in HOW:
            trained(spec(objective), tiny.data(), root, device=device)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
