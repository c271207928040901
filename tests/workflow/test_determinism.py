"""The same seeds give the same bytes: on one core or two, in shares or whole, in this checkout or a clone."""

import sys

import pytest

from reprise.engine import registry

pytestmark = pytest.mark.slow
SHARES = ("ren2023_zero_shot=2", "tian2023_batch_normalization=2")
"""Experiments that the clone computes in shares, the first checkout in one piece."""
COMPUTED = [*registry.experiments(), *(f"{key}/claims" for key in registry.judged())]
DRAW_EVERYTHING = """
from reprise.engine import registry
from reprise.engine.draw import Drawing
from reprise.engine.tiers import load_tier
tier = load_tier("smoke")
for artifact in registry.artifacts().values():
    Drawing(artifact, tier).draw()
"""


def test_a_second_clone_on_one_core_makes_the_same_bytes_as_the_first_on_two(smoke_run, clone):
    """The clone draws everything in one process, the first checkout each figure and table in its own. It
    compiles its loops itself."""
    for file in clone.machine_code():
        file.unlink()
    clone.done("--cores", "1", *(id.replace("/", "_") for id in COMPUTED), "--set-scatter", *SHARES)
    for command in ((sys.executable, "-c", DRAW_EVERYTHING), ("reprise", "report", "--tier", "smoke")):
        code, printed = clone.call(*command)
        assert code == 0, printed
    first, second = smoke_run.results(), clone.results()
    assert set(first) == set(second)
    assert len(first) > 20
    assert [name for name in first if first[name] != second[name]] == []
