"""Losses as settings: what a plan admits is what `objectives.resolve` finds."""

import subprocess
import sys

import pytest

from reprise import objectives
from reprise.contract import losses
from reprise.contract.settings import departures, overridden, stated
from reprise.errors import RepriseError


class Params(losses.TakesLosses):
    steps: int = stated(5, "Section 5")


def resolved():
    """The names of the room that `resolve` takes."""
    for name in vars(objectives):
        try:
            objectives.resolve(name)
        except RepriseError:
            continue
        yield name


def test_a_plan_admits_what_is_found_when_it_runs():
    assert losses.names() == sorted(resolved())
    for name in (*losses.names(), "mine.py:my_loss", "/some where/losses.py:one"):
        assert Params(objective=name).objective == (name,)


@pytest.mark.parametrize("name", ["", "simclr", "moco", "resolve", "mine.py", "mine:loss", "mine.py:", ":x"])
def test_an_unknown_one_is_an_error_that_names_the_known_ones(name):
    with pytest.raises(RepriseError) as caught:
        overridden(Params, {"objective": name}, "configs/mine.yaml")
    (line,) = str(caught.value).splitlines()
    assert f"configs/mine.yaml: key 'objective' has the value '{name}'" in line
    assert line.endswith(f"unknown loss; allowed: {', '.join(losses.names())}, or path/mine.py:my_loss")


@pytest.mark.parametrize(
    ("text", "names"), [("vicreg", ("vicreg",)), (["vicreg", "a.py:f"], ("vicreg", "a.py:f")), ([], ())]
)
def test_a_config_names_one_loss_or_a_list(text, names):
    params = overridden(Params, {"objective": text}, "configs/mine.yaml")
    assert params.objective == names
    assert Params(**params.model_dump()) == params
    assert departures(params) == []  # what stands beside the published loss replaces nothing


@pytest.mark.parametrize(
    ("value", "said"),
    [(["vicreg", "vicreg"], "names a loss twice"), (3, "array"), ([3], "string"), (None, "array")],
)
def test_what_is_no_list_of_losses_is_said(value, said):
    with pytest.raises(RepriseError, match=said):
        overridden(Params, {"objective": value}, "configs/mine.yaml")


def test_labels_are_short_and_tell_losses_apart():
    assert losses.labels(["vicreg", "here/mine.py:my_loss"]) == {
        "vicreg": "vicreg",
        "here/mine.py:my_loss": "my_loss",
    }
    alike = ["a.py:loss", "b.py:loss", "c.py:vicreg", "vicreg", "d.py:_hidden"]
    assert losses.labels(alike) == {**{name: name for name in alike}}


def test_the_check_needs_no_torch():
    """The plan of a run makes it."""
    code = "import sys; from reprise.contract.losses import names; names(); sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"import os\ndef my_loss(:\n", "2: SyntaxError: invalid syntax"),
        (b"x = '\xff'\n", "1: UnicodeDecodeError: "),
        (b"\0", "1: SyntaxError: source code string cannot contain null bytes"),
    ],
)
def test_a_file_that_is_no_python_is_one_line_in_a_plan_too(tmp_path, content, said):
    file = tmp_path / "mine.py"
    file.write_bytes(content)
    with pytest.raises(RepriseError) as caught:
        losses.foreign(f"{file}:my_loss")
    (line,) = str(caught.value).splitlines()
    assert line.startswith(f"objective '{file}:my_loss': {file}:{said}")
