"""What several rooms' tests share."""

import gc
import shutil
from pathlib import Path

import hypothesis
import pytest

hypothesis.settings.register_profile("reprise", deadline=None)  # a busy machine is no failure
hypothesis.settings.load_profile("reprise")
ROOT = Path(__file__).parents[1]


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collects tests without garbage collection, which takes half of the time: it would search the modules
    that the tests import again and again. Later collections leave out what is there by then."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


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
