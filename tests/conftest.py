"""What several rooms' tests share."""

import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout without results: a folder with our configs/, which is the working directory."""
    root = tmp_path / "checkout"
    shutil.copytree(ROOT / "configs", root / "configs")
    monkeypatch.chdir(root)
    return root
