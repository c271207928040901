"""What the tests of running, comparing and recording share."""

import shutil
from pathlib import Path

import pytest
from filelock import FileLock

from reprise.execute import pipeline, tiers
from reprise.storage import store

ROOT = Path(__file__).parents[2]
RAN = "jing2022/layer_alignment"


@pytest.fixture(scope="session")
def ran(shared):
    """A checkout in which one experiment, `RAN`, has run in a tier `tiny`, once for all processes that test;
    not to be changed."""
    root = shared / "ran"
    done = root / ".whole"
    with FileLock(f"{root}.lock"):
        if not done.exists():
            shutil.rmtree(root, ignore_errors=True)
            shutil.copytree(ROOT / "configs", root / "configs")
            smoke = tiers.load_tier("smoke", root).overrides[RAN]
            settings = ", ".join(f"{name}: {value}" for name, value in smoke.items())
            text = f"tier: tiny\nlooked:\n  {RAN}: its steps\nexperiments:\n  {RAN}: {{{settings}}}\n"
            (root / "configs" / "tiny.yaml").write_text(text)
            pipeline.run(RAN, tiers.load_tier("tiny", root))
            done.touch()
    return root


@pytest.fixture
def reseal():
    """A function that gives `RAN` other tables under the same key, as a run on another machine may make."""

    def moved(tier):
        tables, record = store.load_results(tier.results / RAN, "")
        for table in tables.values():
            table[table.select_dtypes("float").columns] *= 1.01
        store.save_tables(tier.results / RAN, tables, record.pop("key"), record)

    return moved
