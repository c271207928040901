"""Two processes on the CPU train as one does, with BatchNorm's statistics over both."""

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
import tiny
import torch
from filelock import FileLock
from safetensors.torch import load_file

from reprise.contract.settings import replaced
from reprise.networks.projectors import Linear
from reprise.training.models import trained
from reprise.training.optimisers import SGD
from reprise.training.processes import joined

pytestmark = pytest.mark.slow

HOW = {"nt_xent": {}, "vicreg": {}, "supervised": {}, **tiny.STATEFUL}


def spec(objective):
    # Small steps for those in which rounding errors grow at each.
    rate = 0.01 if objective == "nt_xent" else 0.001
    found = tiny.spec(objective, hyperparameters=HOW[objective], optimiser=SGD(learning_rate=rate), steps=15)
    return replaced(found, {"projector": Linear(out=4)}) if objective == "supervised" else found


def lines(folder):
    return [json.loads(line) for line in (folder / "log.jsonl").open()]


@pytest.fixture(scope="module")
def of_two(shared):
    """The folder in which two processes have trained, once for all that test, and what they said."""
    root = shared / "two processes"
    said = root / "said"
    with FileLock(f"{root}.lock"):
        if not said.exists():
            torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node"]
            root.mkdir(exist_ok=True)
            done = subprocess.run(
                [*torchrun, "2", __file__, str(root)], capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
            said.write_text(done.stderr)
    return root, said.read_text()


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
    assert of_two[1].count("MISS") == len(HOW) + 4


def test_blocks_that_are_computed_again_change_no_byte(of_two):
    (again,) = of_two[0].glob("again/results/cache/models/*/model.safetensors")
    plain = of_two[0] / again.relative_to(of_two[0] / "again")
    assert again.read_bytes() == plain.read_bytes()


def test_they_go_on_after_an_interruption_to_the_same_bytes(of_two):
    names = ("model.safetensors", "log.jsonl")
    (whole,) = (
        found.parent
        for found in of_two[0].glob("results/cache/models/*/log.jsonl")
        if len(lines(found.parent)) == 45
    )
    (cut,) = (found.parent for found in of_two[0].glob("cut/results/cache/models/*/log.jsonl"))
    assert [(cut / name).read_bytes() for name in names] == [(whole / name).read_bytes() for name in names]
    assert json.loads((of_two[0] / "steps").read_text()) == [20, 40, 40, 45]


def main(root):
    """The work of each process: networks are trained, and one training is interrupted and resumed."""
    with joined("cpu") as device:
        for objective in HOW:
            trained(spec(objective), tiny.data(), root, device=device)
        again = spec("nt_xent").model_copy(update={"checkpoint_blocks": True})
        trained(again, tiny.data(), root / "again", device=device)
        longer, steps = spec("moco").model_copy(update={"steps": 45}), []
        trained(longer, tiny.data(), root, device=device)

        def progress(step):
            steps.append(step)
            if steps == [20, 40]:
                raise KeyboardInterrupt

        with suppress(KeyboardInterrupt):
            trained(longer, tiny.data(), root / "cut", device=device, save_every=0, progress=progress)
        trained(longer, tiny.data(), root / "cut", device=device, progress=progress)
        (root / "steps").write_text(json.dumps(steps))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
