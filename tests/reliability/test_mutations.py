"""An edit of a function makes exactly those results stale that may depend on it, by the code of
`make mutations`."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
from tracing import SOURCE, Function

from reliability import constants, mutations
from reprise.engine.tiers import load_tier

pytestmark = pytest.mark.slow

EDITS = 60
FILES = 12
EXPERIMENTS = ("jing2022/layer_alignment", "esser2024/theory", "tian2023/power_iteration")
"""Whose runs are traced here; `make mutations` traces all."""


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    tier = replace(load_tier("smoke", mutations.ROOT), root=tmp_path_factory.mktemp("traced"))
    steps = {step: ran for id in EXPERIMENTS for step, ran in mutations.run_traced(id, tier).items()}
    return {step: mutations.used(step, ran) for step, ran in steps.items()}


@pytest.fixture(scope="module")
def copy():
    with mutations.Copy() as copy:
        yield copy


def test_an_edit_of_what_runs_is_seen_by_the_steps_that_run_it_and_by_none_without_an_import(copy, ran):
    seed = random.randrange(10**6)
    chosen = random.Random(seed).sample(mutations.functions(ran), EDITS)
    outcome = mutations.judge(copy, ran, chosen, seed)
    assert not outcome.wrong, f"seed {seed}:\n" + "\n".join(outcome.wrong)
    assert outcome.edits == EDITS
    assert outcome.run >= EDITS


def test_an_edit_of_a_data_file_is_seen_by_the_steps_that_read_it(copy):
    files = ["papers/jing2022/published.csv", "report/macros.html.j2"]
    ran = {"jing2022/claims": files[:1], "report": files, "jing2022/layer_alignment": []}
    outcome = mutations.judge(copy, ran, files, 0)
    assert not outcome.wrong, "\n".join(outcome.wrong)
    assert (outcome.edits, outcome.run, outcome.fresh) == (2, 3, 3)


def test_a_statement_that_runs_at_import_is_seen_by_the_steps_that_import_its_module(copy):
    seed = random.randrange(10**6)
    steps = [*EXPERIMENTS, "jing2022/claims", "jing2022/fig04", "report"]
    chosen = ["__init__.py", "papers/jing2022/layer_alignment/compute.py", "numerics/__init__.py"]
    chosen += random.Random(seed).sample(mutations.python_files(), FILES)
    outcome = mutations.judge_imports(copy, steps, chosen, seed)
    assert not outcome.wrong, f"seed {seed}:\n" + "\n".join(outcome.wrong)
    assert outcome.run >= FILES
    assert outcome.fresh


def test_every_compiled_function_is_run_by_a_program():
    assert constants.loops() == set(constants.LOOPS)


@pytest.mark.parametrize(
    ("loop", "chosen"),
    [
        ("_descend_each", ["error_model"]),
        ("_descend", ["LEAK:", "BATCH_NORM_EPS", "contract"]),
        ("_normalise", ["BLOCK"]),
        ("_differentiate", ["BLOCK"]),
    ],
)
def test_an_edit_of_a_constant_of_compiled_code_runs_other_machine_code(loop, chosen):
    (symbol,) = (symbol for symbol in constants.LOOPS if symbol[1] == loop)
    edits = [edit for edit in constants.edits(symbol) if any(name in edit.said for name in chosen)]
    outcome = constants.judge(symbol, edits)
    assert not outcome.wrong, "\n".join(outcome.wrong)
    assert outcome.edits == len(chosen)
    assert outcome.bytes == (0 if loop == "_descend_each" else len(chosen))
    assert outcome.bytes + outcome.code == outcome.edits


def test_other_comments_docstrings_and_layout_make_nothing_stale(copy):
    texts = {
        str(file.relative_to(SOURCE)): mutations.reworded(file.read_text()) for file in SOURCE.rglob("*.py")
    }
    assert len(texts) > 200
    assert copy.stale(texts) == set()


def test_a_name_that_now_leads_elsewhere_is_followed_from_all_modules(copy):
    """The answers about other modules are forgotten, too, which an edit in a function leaves as they are."""
    file, name = "objectives/__init__.py", "negative_cosine"
    text = (SOURCE / file).read_text().replace(f"{name}, ", "")
    text = f"from reprise.objectives.self_distillation import byol as {name}\n{text}"
    stale = copy.stale({file: text})
    assert "skean2024/linear_probes" in stale
    assert stale == copy.stale({file: text}, read_everything=True)


def test_an_edit_that_no_hash_sees_is_noticed():
    """The judgement can fail: nothing ever becomes stale, or everything does."""

    class Blind:
        stale = staticmethod(lambda edits, read_everything=False: set())

    class Alarmed:
        stale = staticmethod(lambda edits, read_everything=False: {"tian2023/power_iteration"})

    text = (SOURCE / "report" / "html.py").read_text().splitlines()
    line = next(number for number, words in enumerate(text, 1) if words.startswith("def "))
    function = Function("report/html.py", line, text[line - 1].split()[1].partition("(")[0])
    assert mutations.judge(Blind, {"tian2023/power_iteration": {function}}, [function], 0).missed
    assert mutations.judge(Alarmed, {"tian2023/power_iteration": set()}, [function], 0).strange


def test_an_edit_changes_what_a_function_does():
    text = Path(mutations.__file__).read_text()
    line = next(n for n, words in enumerate(text.splitlines(), 1) if words.startswith("def module_of"))
    changed, _ = mutations.mutated(text, Function("mutations.py", line, "module_of"), random.Random(0))
    assert mutations.ast.dump(mutations.ast.parse(changed)) != mutations.ast.dump(mutations.ast.parse(text))
