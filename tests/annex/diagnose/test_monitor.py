"""The code on docs/monitor.md runs as it stands, and its numbers are those of `reprise diagnose`."""

import json
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from torch import nn

from reprise.annex.diagnose.measures import values
from reprise.annex.diagnose.moments import gather

PAGE = Path(__file__).parents[3] / "docs" / "monitor.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@pytest.fixture
def names():
    """Names that the page's first block of code defines, with their values."""
    defined = {}
    exec(BLOCKS[0], defined)
    return defined


@pytest.fixture
def held_out_views():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(200, 6, generator=generator)
    return x, x + 0.3 * torch.randn(200, 6, generator=generator)


def test_the_numbers_are_those_of_diagnose(names, held_out_views):
    found = names["diagnostics"](nn.Identity(), held_out_views)
    theirs = values(gather([view.numpy() for view in held_out_views], ["a", "b"]))
    by_name = {each.measure.name: each.value for each in theirs if each.view != "2"}
    assert abs(found.pop("uniformity") - by_name["uniformity"]) < 0.1  # there, of fewer pairs
    assert len(found) == 4
    for name, value in found.items():
        assert value == pytest.approx(by_name[name], rel=1e-5), name


def test_a_loop_writes_a_line_every_hundred_steps(names, held_out_views, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    net = nn.Sequential(nn.Linear(6, 6), nn.BatchNorm1d(6))
    names |= {
        "net": net,
        "optimizer": torch.optim.SGD(net.parameters(), 0.1),
        "loss": lambda z1, z2: (z1 - z2).square().mean(),
        "batches": [tuple(torch.randn(2, 16, 6)) for _ in range(201)],
        "held_out_views": held_out_views,
    }
    exec(BLOCKS[1], names)
    rows = list(map(json.loads, Path("diagnostics.jsonl").read_text(encoding="utf-8").splitlines()))
    assert [row["step"] for row in rows] == [0, 100, 200]
    assert all(np.isfinite(value) for row in rows for value in row.values())
    assert net.training


def test_a_callback_logs_after_each_epoch(names, held_out_views, monkeypatch):
    if not find_spec("lightning"):
        library = ModuleType("lightning.pytorch")
        library.Callback = object
        monkeypatch.setitem(sys.modules, "lightning", ModuleType("lightning"))
        monkeypatch.setitem(sys.modules, "lightning.pytorch", library)
    exec(BLOCKS[2], names)
    logged, module = [], nn.Linear(6, 6)
    module.device, module.log_dict = torch.device("cpu"), logged.append
    names["Diagnostics"](held_out_views).on_train_epoch_end(None, module)
    assert logged == [names["diagnostics"](module, held_out_views)]
    assert module.training
