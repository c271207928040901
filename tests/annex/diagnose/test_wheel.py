"""The wheel in a fresh environment and an empty folder: no checkout, no configs, no network."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

from reprise.annex.diagnose.page import DISTRIBUTION

ROOT = Path(__file__).parents[3]
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")


def call(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=500, **options).stdout


@pytest.mark.slow
def test_the_wheel_diagnoses_in_an_empty_folder(tmp_path):
    sources, folder = tmp_path / "sources", tmp_path / "empty"
    sources.mkdir()
    folder.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, sources)
    shutil.copytree(ROOT / "src", sources / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    call(*PIP, "wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", str(tmp_path), str(sources))
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.startswith(DISTRIBUTION.replace("-", "_"))
    assert "reprise/py.typed" in ZipFile(wheel).namelist()  # mypy reads our annotations
    environment = tmp_path / "venv"
    venv.create(environment)
    python = str(environment / "bin" / "python")
    call(*PIP, "--python", python, "install", "--no-deps", "--no-index", str(wheel))

    # The dependencies are this environment's. Its `.pth` files, by which it has the checkout, are not read.
    variables = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": sysconfig.get_paths()["purelib"],
        "OMP_NUM_THREADS": "1",
    }

    def run(*command):
        return call(*command, cwd=folder, env=variables)

    place = run(python, "-c", "import reprise; print(reprise.__file__)").strip()
    assert place.startswith(str(environment))
    version = run(python, "-c", f"from importlib import metadata; print(metadata.version({DISTRIBUTION!r}))")
    np.save(folder / "z.npy", np.random.default_rng(0).normal(size=(200, 12)))
    printed = run(str(environment / "bin" / "reprise"), "diagnose", "z.npy")
    assert "healthy: 0 of 12 dimensions collapsed" in printed
    page = (folder / "diagnosis" / "diagnosis.html").read_text()
    assert f"Made by reprise {version.strip()}" in page
    assert "python -m reprise.annex.diagnose.reference" in page  # the reference is in the wheel
    assert {file.name for file in folder.iterdir()} == {"z.npy", "diagnosis"}
