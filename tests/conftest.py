"""What several rooms' tests share."""

import shutil
from pathlib import Path

import hypothesis
import pytest

hypothesis.settings.register_profile("reprise", deadline=None)  # a busy machine is no failure
hypothesis.settings.load_profile("reprise")
ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def shared(tmp_path_factory, worker_id):
    """A folder that all processes of this test run share."""
    base = tmp_path_factory.getbasetemp()
    return base if worker_id == "master" else base.parent


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout without results: a folder with our configs/, which is the working directory."""
    root = tmp_path / "checkout"
    shutil.copytree(ROOT / "configs", root / "configs")
    monkeypatch.chdir(root)
    return root
