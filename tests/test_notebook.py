"""Loading in a notebook: numbers, of one setting."""

import os
import subprocess
import sys

import pandas as pd
import pytest

import reprise
from reprise.engine import registry, tiers
from reprise.engine.configured import ConfiguredExperiment
from reprise.engine.draw import Drawing
from reprise.errors import RepriseError

ID = "jing2022/layer_alignment"


@pytest.fixture
def tables(checkout, monkeypatch):
    """Tables of two settings and a user's loss."""
    settings = ["published", "published", "noise halved", "mine.py:my_loss"]
    table = pd.DataFrame({"seed": [0, 1, 0, 0], "mass": [0.1, 0.2, 0.3, 0.4], "setting": settings})
    tables = {"trajectory": table, "alignment": table[:3]}
    monkeypatch.setattr(ConfiguredExperiment, "tables", lambda self: tables)
    return tables


@pytest.mark.parametrize("id", [ID, "jing2022/fig04", "Jing2022 Figure 4", "jing2022/fig4/towards-identity"])
def test_one_setting_is_loaded_unless_all_are_asked_for(tables, id):
    loaded = reprise.load(id)
    assert loaded["trajectory"]["mass"].tolist() == [0.1, 0.2]
    assert loaded["trajectory"].index.tolist() == [0, 1]
    assert reprise.load(id, settings="noise halved")["alignment"]["mass"].tolist() == [0.3]
    assert reprise.load(id, settings="noise halved")["trajectory"].index.tolist() == [0]
    mine = reprise.load(id, settings="mine.py:my_loss")
    assert [len(table) for table in mine.values()] == [1, 0]
    for name, table in reprise.load(id, settings="all").items():
        pd.testing.assert_frame_equal(table, tables[name])


def test_an_unknown_setting_or_id_is_said(tables):
    with pytest.raises(
        RepriseError, match=r"unknown setting 'noise halvd'; did you mean 'noise halved'\? there"
    ):
        reprise.load(ID, settings="noise halvd")
    with pytest.raises(RepriseError, match=r"^'fig4' may be .*jing2022/fig04"):
        reprise.load("fig4")
    for id, list_them in (("jing2022/nothing", "reprise list jing2022"), ("nothing", "reprise list")):
        with pytest.raises(RepriseError, match=f"list them with: {list_them}$") as caught:
            reprise.load(id)
        assert len(str(caught.value)) < 300
    with pytest.raises(RepriseError, match="unknown tier 'defualt'; did you mean 'default'"):
        reprise.load(ID, "defualt")


def test_a_paper_is_loaded_with_the_experiments_that_have_run(tables, monkeypatch):
    assert reprise.load("jing2022") == {}
    monkeypatch.setattr(ConfiguredExperiment, "has_results", lambda self: self.id == ID)
    (loaded,) = reprise.load("Jing 2022").items()
    assert (loaded[0], set(loaded[1])) == (ID, {"trajectory", "alignment"})


def test_one_figure_is_drawn_at_a_time(checkout, monkeypatch):
    monkeypatch.setattr(Drawing, "content", lambda self: self.id)
    assert reprise.draw("jing2022 fig4") == "jing2022/fig04"
    assert reprise.draw("jing2022/fig4/towards-identity") == "jing2022/fig04"
    with pytest.raises(
        RepriseError, match=r"^jing2022/layer_alignment has 2 .*jing2022/fig04, jing2022/fig05$"
    ):
        reprise.draw(ID)


def test_a_table_of_a_paper_is_in_numbers(checkout, monkeypatch):
    printed = pd.DataFrame({"beta": [1, 2], "none: ours": ["0.16 ± 0.19", "0.70 ± 0.02"]})
    monkeypatch.setattr(Drawing, "content", lambda self: printed if self.id == "tian2023/table1" else None)
    found = reprise.load("tian2023/table1")
    assert found.to_dict("list") == {
        "beta": [1, 2],
        "none: ours": [0.16, 0.70],
        "none: ours, std": [0.19, 0.02],
    }
    assert reprise.draw("tian2023/table1") is printed


def test_every_table_of_the_papers_can_be_asked_for(checkout):
    """Without results the message says how to make them."""

    for artifact in registry.artifacts().values():
        with pytest.raises(RepriseError, match="no finished results here; make them with: reprise run"):
            reprise.load(artifact.id)
    assert tiers.names()


@pytest.mark.parametrize(("is_notebook", "backend"), [(True, "svg"), (False, "agg")])
def test_a_notebook_keeps_the_backend_that_shows_figures(is_notebook, backend):
    code = (
        "import sys, types, matplotlib\n"
        "notebook = types.SimpleNamespace(get_ipython=lambda: None)\n"
        f"sys.modules.update({{'IPython': notebook}} if {is_notebook} else {{}})\n"
        "import reprise.plotting.style\n"
        "print(matplotlib.get_backend().lower())"
    )
    environment = {**os.environ, "MPLBACKEND": "svg"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout.split() == [backend], done.stderr


def test_a_mistake_in_a_notebook_is_one_line():
    """IPython shows what an exception's `_render_traceback_` returns, if it has one."""
    with pytest.raises(RepriseError) as mistake:
        reprise.load("fig4")
    (line,) = mistake.value._render_traceback_()
    assert line.startswith("reprise: error: 'fig4' may be ")
