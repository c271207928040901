"""`reprise new`: what it begins runs at once, and the tests that it turns red say what is left to write."""

import sys

import pytest

BEGUN = (
    ("paper", "smith2030"),
    ("experiment", "tian2023/spare"),
    ("claim", "tian2023/spare"),
    ("claim", "jing2022/layer_alignment"),
    ("loss", "my_loss"),
)
OF_ALL = (
    "tests/test_unwritten.py",
    "tests/test_artifacts.py",
    "tests/golden/test_lock.py",
    "tests/papers/test_statements.py",
    "tests/papers/test_other_losses.py::test_every_experiment_takes_losses_or_says_why_not",
    "tests/papers/tian2023/test_tian_wiring.py::test_every_experiment_is_here",
)
OF_EACH = ("tests/engine/test_conformance.py", "tests/papers/test_figures.py", "tests/objectives")
EACH = ("-k", "spare or smith2030 or layer_alignment or my_loss")


@pytest.mark.slow
def test_what_is_begun_is_green_but_for_what_is_left_to_write(clone):
    for what, name in BEGUN:
        code, printed = clone.call("reprise", "new", what, name)
        assert code == 0, printed
    code, printed = clone.call("reprise", "run", "smith2030/first", "--tier", "smoke")
    assert code == 0, printed
    for lint in (("check",), ("format", "--check")):
        code, printed = clone.call(sys.executable, "-m", "ruff", *lint, "src")
        assert code == 0, printed

    red = set()
    for tests in (OF_ALL, (*OF_EACH, *EACH)):
        options = ("-m", "not slow", "-p", "no:cacheprovider", "-rfE", "--tb=line")
        _, printed = clone.call(sys.executable, "-m", "pytest", *options, *tests)
        red |= {line.split(" - ")[0] for line in printed.splitlines() if line.startswith(("FAILED", "ERROR"))}
    value = "test_values.py::test_a_published_loss_has_the_value_of_its_reference[my_loss]"
    assert red == {
        "FAILED tests/test_unwritten.py::test_nothing_that_was_begun_is_left_to_write",
        f"FAILED tests/objectives/{value}",
    }, printed


@pytest.mark.slow
def test_a_name_that_is_taken_or_is_no_name_is_one_line(clone):
    for words, said in {
        ("paper", "jing2022"): "there is a paper 'jing2022'",
        ("experiment", "jing2022/layer_alignment"): "there is an experiment",
        ("experiment", "jing2023/new"): "did you mean 'jing2022'?",
        ("claim", "jing2022/layer_alignmen"): "did you mean 'jing2022/layer_alignment'?",
        ("loss", "vicreg"): "there is a loss or a module 'vicreg'",
        ("loss", "My Loss"): "is no name",
    }.items():
        code, printed = clone.call("reprise", "new", *words)
        assert (code, printed.count("\n")) == (2, 1), printed
        assert said in printed
