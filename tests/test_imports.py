"""Imports that a process does without, because nothing there needs them and each takes a second or more."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

TRAINING = """
import sys, tempfile
from pathlib import Path
from reprise.engine import registry
for experiment in registry.experiments().values():
    experiment.compute()
import tiny
from reprise.networks.encoders import Conv4
from reprise.training.images import train
from reprise.training.optimisers import LARS, SGD, AdamW
for changes in (
    {"optimiser": SGD()},
    {"optimiser": AdamW(), "precision": "bfloat16"},
    {"optimiser": LARS(), "encoder": Conv4(widths=(4, 4, 4, 4))},
):
    with tempfile.TemporaryDirectory() as folder:
        data = tiny.data(size=16)
        assert train(tiny.spec(**changes), data, Path(folder)).log
        assert train(tiny.spec(**changes), data, Path(folder), save_every=0.0).log
print(*({"torch", "torch._dynamo", "torchvision"} & sys.modules.keys()))
"""
READING = """
import sys
from reprise.cli import main
for words in (
    "list", "show {claim}", "show {figure}", "plan", "why {claim}", "diff results/tiny results/tiny",
    "draw {figure}", "check", "report", "open", "cache", "list --cost", "list {paper} --claims",
):
    words = words.format(paper="jing2022", claim="jing2022/eq6", figure="jing2022/fig04").split()
    tier = ["--tier", "tiny"] if words[0] not in ("diff", "cache") else []
    assert main([*words, *tier]) in (None, 0), words
    assert "torch" not in sys.modules, words
"""


def run(program, folder, *paths, **variables):
    path = os.pathsep.join([str(Path(__file__).parent / path) for path in paths] + sys.path)
    return subprocess.run(
        [sys.executable, "-c", program], cwd=folder, env={**os.environ, "PYTHONPATH": path, **variables},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_neither_torchs_compiler_nor_torchvision_for_any_experiment_and_optimiser(checkout):
    done = run(TRAINING, checkout, "training")
    assert done.stdout.split() == ["torch"], done.stderr


def test_no_torch_for_commands_that_look_at_files(ran, tmp_path):
    root = shutil.copytree(ran, tmp_path / "ran")
    done = run(READING, root, BROWSER="true")
    assert done.returncode == 0, done.stdout + done.stderr
