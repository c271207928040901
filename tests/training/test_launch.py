"""A model that two processes train for one that waits is found by it."""

import pytest
import tiny

from reprise.errors import RepriseError
from reprise.training.launch import launch
from reprise.training.models import data_set, trained

pytestmark = pytest.mark.slow


def test_what_the_processes_trained_is_found(tmp_path, capfd):
    spec = tiny.spec(steps=3)
    launch(spec, "digits", "data", tmp_path, device="cpu", processes="2")
    assert capfd.readouterr().err.count("MISS") == 1
    trained(spec, data_set("digits", "data"), tmp_path)
    assert "HIT" in capfd.readouterr().err


def test_a_process_that_fails_is_an_error(tmp_path):
    with pytest.raises(RepriseError, match="exit code"):
        launch(tiny.spec(batch=15), "digits", "data", tmp_path, device="cpu", processes="2")
