"""Every experiment keeps to the contract, and one that does not, in a folder outside this repository, is told
what is wrong."""

import importlib
import sys
import textwrap
from pathlib import Path

import pytest

from reprise.engine import conformance, registry, tiers
from reprise.engine.conformance import Subject
from reprise.errors import RepriseError

ROOT = Path(__file__).parents[2]
TIERS = {name: tiers.load_tier(name, ROOT) for name in ("smoke", "default")}
EACH = pytest.mark.parametrize("id", registry.experiments())
QUICK = [
    (tier, check)
    for tier in TIERS
    for check in conformance.OF_DECLARATION
    if check is not conformance.listing_needs_no_torch  # asked of all experiments at once
    # At its tiny size a setting may have the alternative's value.
    and (tier, check) != ("smoke", conformance.open_fields_are_varied_or_excused)
]


@pytest.mark.parametrize(
    ("tier", "check"), [pytest.param(*each, id=f"{each[1].__name__}-{each[0]}") for each in QUICK]
)
@EACH
def test_every_declaration_keeps_to_the_contract(id, check, tier):
    check(Subject(registry.experiment(id), TIERS[tier].params[id]))


def test_no_experiment_is_listed_with_torch():
    assert conformance.importing_torch(registry.experiments().values()) == ""


@pytest.mark.parametrize("check", conformance.OF_TABLES, ids=conformance.name)
@EACH
def test_the_tables_of_every_experiment_keep_to_the_contract(id, check, smoke):
    check(Subject(registry.experiment(id), smoke.params[id], lambda: smoke[id][0]))


FILES = {
    "__init__": "",
    "toy/__init__": "",
    "toy/experiment": '''
        """Settings of a rate's powers."""
        from typing import NamedTuple

        from reprise.contract.experiment import Experiment, Plan, Resources
        from reprise.contract.losses import TakesLosses
        from reprise.contract.settings import Seeded, ours, stated, unstated

        class Params(Seeded, TakesLosses):
            """One rate."""
            steps: int = stated(3, "Section 1", ge=1)
            rate: float = unstated(0.5, "a usual rate", gt=0)
            seeds: int = ours(4, "starts", ge=1)

        class Task(NamedTuple):
            """A seed."""
            seed: int

            def __str__(self):
                return f"seed {self.seed}"

        def tasks(params, objective=None):
            return [Task(seed) for seed in params.seed_range(params.seeds)]

        def needs(params, task, objective=None):
            return Resources(minutes=0.1)

        def alternatives(params):
            return {"half the rate": params.model_copy(update={"rate": params.rate / 2})}

        EXPERIMENT = Experiment(
            params=Params,
            tables=("course",),
            plan=Plan(tasks, needs),
            alternatives=alternatives,
        )
    ''',
    "toy/compute": '''
        """Computes them."""
        import pandas as pd

        from {package}.toy.experiment import Task, tasks

        def compute(params, context):
            results = context.results(perform, params, tasks(params, context.objective))
            return {{"course": pd.concat(results.values(), ignore_index=True)}}

        def perform(params, task, context, progress):
            steps = range(params.steps + 1)
            values = [params.rate**step * (1 + task.seed / 100) for step in steps]
            return pd.DataFrame({{"seed": task.seed, "step": steps, "value": values}})
    ''',
    "toy/ideal": '''
        """Halves."""
        import pandas as pd

        def ideal(params):
            rows = [(seed, step, 0.5**step) for seed in params.seed_range(params.seeds) for step in (0, 3)]
            return {"course": pd.DataFrame(rows, columns=["seed", "step", "value"])}
    ''',
    "toy/figures": '''
        """Draws them."""
        import matplotlib.pyplot as plt

        from reprise.contract.experiment import figure

        @figure("Figure 1", reads=("course",), caption="The powers of the rate.")
        def fig01(tables, params):
            drawn, axes = plt.subplots()
            axes.plot(tables["course"]["step"], tables["course"]["value"])
            return drawn
    ''',
    "toy/claims": '''
        """They fall."""
        from reprise.evidence.claim import claim
        from reprise.evidence.comparison import below
        from reprise.evidence.measures import column, first, last

        @claim("{package}/falls", "The powers fall.", at="Section 1", word="falls")
        def falls():
            return below(
                column("course", "value", step=last), column("course", "value", step=first), unit=""
            )
    ''',
}  # fmt: skip


@pytest.fixture
def elsewhere(tmp_path, monkeypatch, request):
    """A function that writes the toy experiment into a package of its own, with a mistake, and returns the
    name of its folder's package."""
    package = f"elsewhere{abs(hash(request.node.nodeid))}"
    monkeypatch.syspath_prepend(tmp_path)

    def write(file="__init__", old="", new=""):
        for name, text in FILES.items():
            content = textwrap.dedent(text).lstrip()
            content = content.format(package=package) if "{package}" in content else content
            if name == file and old:
                assert content.count(old) == 1, (old, content)
                content = content.replace(old, new)
            elif name == file:
                content += textwrap.dedent(new)
            path = tmp_path / package / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        importlib.invalidate_caches()
        return f"{package}.toy"

    yield write
    for name in [each for each in sys.modules if each.startswith(package)]:
        del sys.modules[name]


def told(module):
    with pytest.raises(RepriseError) as failure:
        conformance.check_experiment(module)
    return str(failure.value)


def test_an_experiment_outside_the_repository_keeps_to_the_contract(elsewhere):
    module = elsewhere()
    conformance.check_experiment(module)
    assert conformance.subject(module, {"seeds": 2}).experiment.id == f"{module.split('.')[0]}/toy"


DECLARED = "    alternatives=alternatives,\n"
BEGINS = "EXPERIMENT = Experiment("
CHECKING = f"def check(params):\n    params.none\n\n{BEGINS}check=check,"
READING = f"def reads(params):\n    return ['a.csv']\n\n{BEGINS}reads=reads,"
CHANGE = '{"rate": params.rate / 2}'
ALTERNATIVE = f'return {{"half the rate": params.model_copy(update={CHANGE})}}'
NAME = 'return f"seed {self.seed}"'
EXCUSE = f'{DECLARED}    excused={{"WHAT": "takes too long"}},\n'


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (DECLARED, "    alternative=alternatives,\n", ["'alternative'; did you mean 'alternatives'?"]),
        (DECLARED, f"{DECLARED}    checks=print,\n", ["'checks'; did you mean 'check'?", "allowed: params"]),
        ('    tables=("course",),\n', "", ["missing 1 required keyword-only argument: 'tables'"]),
        ("EXPERIMENT =", "EXPERIMENTS =", ["declares no experiment", "'EXPERIMENTS' is not read"]),
        ('("course",)', '"course"', ["tables is 'course'", "a tuple"]),
        ('("course",)', '("course", "course")', ["a table twice"]),
        (DECLARED, f'{DECLARED}    gaps=("courses.value",),\n', ["'courses'; did you mean 'course'?"]),
        (DECLARED, f'{DECLARED}    gaps=("course",),\n', ["'course'", "write table.column"]),
        (
            DECLARED,
            f'{DECLARED}    excused={{"rates": "takes far too long"}},\n',
            ["unknown field 'rates'; did you mean 'rate'?"],
        ),
        (DECLARED, f'{DECLARED}    excused={{"rate": "long"}},\n', ["'rate' has the reason 'long'"]),
        (DECLARED, f"{DECLARED}    check=lambda params: None,\n", ["check is <function", "defines by name"]),
        ("Plan(tasks, needs)", "needs", ["plan is <function needs", "Plan(tasks, needs) or Resources"]),
        ('stated(3, "Section 1", ge=1)', "3", ["field 'steps' has no origin"]),
        ("", '\nTABLES = ("course",)\n', ["'TABLES' looks like the experiment's 'tables'"]),
        ("", '\nGAP = ("course.*",)\n', ["'GAP' looks like the experiment's 'gaps'"]),
        ("", "\ndef checks(params):\n    pass\n", ["'checks' looks like the experiment's 'check'"]),
        ("", "\nRESOURCES = Resources(minutes=3)\n", ["'RESOURCES' looks like the experiment's 'plan'"]),
    ],
)  # fmt: skip
def test_a_wrong_declaration_is_one_line_that_names_the_module_and_what_is_near(elsewhere, old, new, words):
    module = elsewhere("toy/experiment", old, new)
    message = told(module)
    assert message.startswith(f"{module}.experiment: ")
    assert "\n" not in message
    for word in words:
        assert word in message


def test_a_mistake_of_python_in_a_declaration_stays_a_mistake_of_python(elsewhere):
    module = elsewhere("toy/experiment", "EXPERIMENT =", "len(3)\nEXPERIMENT =")
    with pytest.raises(TypeError, match="has no len"):
        conformance.check_experiment(module)


def test_a_name_like_a_declaration_that_the_module_uses_is_none(elsewhere):
    old = "def needs(params, task, objective=None):\n    return Resources(minutes=0.1)\n"
    new = "PLANS = Resources(minutes=0.1)\n\ndef needs(params, task, objective=None):\n    return PLANS\n"
    conformance.check_experiment(elsewhere("toy/experiment", old, new))


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("experiment", "unstated(0.5", "unstated(-0.5", "the defaults of Params are not allowed"),
        ("experiment", '"a usual rate"', '""', "Params does not say where 'rate' comes from"),
        ("experiment", CHANGE, '{"rate": 0.2, "steps": 2}', "'steps', which the paper states"),
        ("experiment", CHANGE, '{"seeds": 2}', "changes nothing that the paper leaves open"),
        ("experiment", CHANGE, '{"rate": -1.0}', "alternative 'half the rate': "),
        ("experiment", ALTERNATIVE, "return {}", "'rate' is open, and neither in an alternative nor in"),
        ("experiment", DECLARED, EXCUSE.replace("WHAT", "rate"), "needs no excuse"),
        ("experiment", DECLARED, EXCUSE.replace("WHAT", "together"), "needs no excuse"),
        ("experiment", "(Seeded, TakesLosses)", "(TakesLosses)", "has 'seeds' and no first seed: derive it"),
        ("ideal", "params.seed_range(", "range(", "do not follow first_seed: with 1000 they go from 0 to 3"),
        ("experiment", NAME, 'return "seed"', "two tasks have the name 'seed'"),
        ("experiment", NAME, "return object.__repr__(self)", "give its class a __str__"),
        ("experiment", "minutes=0.1", "minutes=0.0", "must be above 0"),
        ("experiment", "minutes=0.1", "disk_mb=-1.0", "the rest at least 0"),
        ("experiment", '"""Settings of', 'import torch\n"""Settings of', "toy.experiment imports torch"),
        ("claims", '"""They fall."""', "import torch", "toy.claims imports torch"),
        ("figures", '"""Draws them."""', "import torch", "toy.figures imports torch"),
        ("compute", "context.objective))", "context.objective)[1:])", "'seed 0' is planned; compute does"),
        ("compute", "params, tasks(", "params, [Task(9)] + tasks(", "task 'seed 9' is not planned"),
        ("compute", '{"course": ', '{"curse": ', "'course' is declared and not returned by compute"),
        ("compute", "ignore_index=True)}", "ignore_index=True)[:0]}", "has no rows of the published setting"),
        ("figures", 'tables["course"]["step"]', 'tables["curse"]["step"]', "'curse'; did you mean 'course'?"),
        ("figures", 'tables["course"]["step"]', 'tables["course"]["stop"]', "not there: stop; did you"),
        ("figures", 'reads=("course",)', "reads=()", "unknown table 'course'"),
        ("experiment", "return Resources(minutes=0.1)", "return None", "is None, no Resources"),
        ("experiment", BEGINS, CHECKING, "its check fails: AttributeError"),
        ("experiment", BEGINS, READING, "`reads` lists 'a.csv', which is no Path"),
        ("experiment", DECLARED, f'{DECLARED}    gaps=("course.valu",),\n', "'course.valu', which no"),
        ("experiment", DECLARED, f'{DECLARED}    coordinates=("stop",),\n', "'stop', which no table has"),
        ("figures", "return drawn", "return axes", "must return a Figure, not Axes"),
        ("claims", "", "from copy import copy\nagain = copy(falls)\n", "two claims have the id"),
        ("claims", 'word="falls"', 'word=""', "has no `word`"),
        ("claims", '"elsewhere', '"nowhere', "must begin with"),
        ("claims", "step=last", "stop=last", "not there: stop; did you mean 'step'?"),
        ("claims", '"falls")', '"falls", broken_by=dict)', "speaks against none of its cells"),
    ],
)  # fmt: skip
def test_each_check_can_fail(elsewhere, file, old, new, words, monkeypatch):
    if "torch" in words:  # in a process of its own, which an empty one does not hold up
        Path(sys.path[0], "torch.py").touch()
    else:
        left = [check for check in conformance.CHECKS if check is not conformance.listing_needs_no_torch]
        monkeypatch.setattr(conformance, "CHECKS", left)
    module = elsewhere(f"toy/{file}", old, new)
    message = told(module)
    assert words in message
    assert message.startswith(module)


def test_all_that_is_wrong_is_told_at_once(elsewhere):
    module = elsewhere("toy/experiment", "minutes=0.1)", 'minutes=0.0)\n\nNAMES = "seed"')
    file = Path(sys.path[0], *module.split("."), "experiment.py")
    file.write_text(file.read_text().replace(NAME, "return NAMES"))
    lines = told(module).splitlines()
    assert len(lines) == 2
    assert "two tasks have the name 'seed'" in lines[0]
    assert "must be above 0" in lines[1]
