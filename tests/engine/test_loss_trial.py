"""The trial of a user's loss in a process of its own: what ends Python, and what is no loss."""

import pytest
import torch

from reprise.cli import main
from reprise.engine import tiers
from reprise.engine.loss_trial import try_loss
from reprise.errors import RepriseError

LOSS = "def my_loss(z1, z2):\n    return (z1 - z2).square().sum(1).mean()"


@pytest.fixture
def tries(tmp_path, monkeypatch):
    """Tries the loss of a file `mine.py` in the working directory."""
    monkeypatch.chdir(tmp_path)

    def tries(body):
        (tmp_path / "mine.py").write_text(body)
        try_loss("mine.py:my_loss")

    return tries


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("import os\nos._exit(0)\n", 0),
        ("import os\ndef my_loss(z1, z2):\n    os._exit(7)\n", 7),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n", -11),
    ],
)
def test_a_loss_that_ends_python_is_refused_in_one_line(tries, body, code):
    with pytest.raises(RepriseError) as caught:
        tries(body)
    assert str(caught.value) == (
        f"objective 'mine.py:my_loss': ended Python (exit code {code}) when it was tried; a loss must "
        "return, or raise an exception"
    )


def test_a_run_with_a_loss_that_ends_python_is_an_error(checkout, capsys):
    (checkout / "mine.py").write_text("import os\ndef my_loss(z1, z2):\n    os._exit(0)\n")
    config = "tier: mine\nexperiments: {jing2022/layer_alignment: {objective: mine.py:my_loss}}\n"
    (checkout / "configs" / "mine.yaml").write_text(config)
    assert main(["run", "jing2022/layer_alignment", "--tier", "mine"]) == 2
    assert "objective 'mine.py:my_loss': ended Python (exit code 0)" in capsys.readouterr().err
    assert not (tiers.load_tier("mine").results / "jing2022/layer_alignment/run.json").exists()


def test_a_loss_is_accepted_and_an_odd_one_refused_as_without_a_process(tries):
    tries(LOSS)
    with pytest.raises(RepriseError, match=r"^objective 'mine.py:my_loss': mine.py:1: returned nothing"):
        tries("def my_loss(z1, z2): pass\n")


def test_threads_that_computed_before_the_trial_do_not_stop_it(tries):
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        torch.ones(1500, 1500) @ torch.ones(1500, 1500)
        torch.ones(10**6).exp()
        tries(
            "import torch\n\n\n"
            "def my_loss(z1, z2):\n"
            "    large = torch.ones(1500, 1500)\n"
            "    return (z1 - z2).square().sum() + (large @ large).exp().isfinite().sum()\n"
        )
    finally:
        torch.set_num_threads(threads)
