"""Edits of the package, one by one, and which results become stale by each: `make mutations`.

Freshness rests on hashes of syntax trees (`storage.closure`). What they must see, this module learns from
elsewhere: a tracer's record of what each step of the smoke tier really runs, and the graph of imports. An
edit of a function must make every step stale that runs it, and none whose modules do not import the
function's, directly or indirectly. Between the two lies what a step could run with other settings, or what a
function that numba has compiled calls; there an edit may make it stale, and how often it does is counted.

The edits are made in a copy of the package, by one process that imports the copy.
"""

import argparse
import ast
import atexit
import functools
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import grimp
from tracing import SOURCE, Function, Ran, forget_results, import_everything, traced

from reliability import document
from reprise.execute import kept, pipeline, registry
from reprise.execute.tiers import Tier, load_tier
from reprise.storage import closure, store
from reprise.study.experiment import Context, evaluate

ROOT = Path(__file__).parents[2]
SWAPS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn,
    ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
"""An operator -> the one that an edit puts in its place."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def mutated(text: str, function: Function, chance: random.Random) -> tuple[str, str]:
    """A module's text with one change of what a function does, and the change in words.

    Raises:
        LookupError: if the function does not begin at its line.
    """
    tree = ast.parse(text)
    node = _find(tree, function)
    body = node.body if isinstance(node.body, list) else [node.body]
    changes = [change for statement in body for inner in ast.walk(statement) for change in _changes(inner)]
    if changes:
        said, change = chance.choice(changes)
        change()
    elif isinstance(node, ast.Lambda):
        said, node.body = "another value", ast.Tuple([node.body], ast.Load())
    else:
        said = "an assertion"
        node.body.insert(
            len(body) > 1 and isinstance(body[0], ast.Expr), ast.parse("assert None is None").body[0]
        )
    return ast.unparse(ast.fix_missing_locations(tree)), said


def _find(tree: ast.Module, function: Function) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda:
    name = function.name.rpartition(".")[2]
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS) and getattr(node, "name", "<lambda>") == name:
            first = min(part.lineno for part in (node, *getattr(node, "decorator_list", ())))
            if first == function.line:
                return node
    raise LookupError(f"{function}: not there")


def _changes(node: ast.AST) -> Iterator[tuple[str, functools.partial]]:
    """What an edit may change of a node."""

    def operator(name, value, new):
        return f"{type(value).__name__} -> {type(new).__name__}", functools.partial(setattr, node, name, new)

    if isinstance(node, (ast.BinOp, ast.AugAssign, ast.BoolOp)) and type(node.op) in SWAPS:
        yield operator("op", node.op, SWAPS[type(node.op)]())
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        new = SWAPS[type(node.ops[0])]()
        yield operator("ops", node.ops[0], new)[0], functools.partial(node.ops.__setitem__, 0, new)
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield f"not {node.value}", functools.partial(setattr, node, "value", not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield f"{node.value} + 1", functools.partial(setattr, node, "value", node.value + 1)
    if isinstance(node, ast.Return) and node.value and not isinstance(node.value, ast.Constant):
        yield "return None", functools.partial(setattr, node, "value", ast.Constant(None))
    if isinstance(node, (ast.If, ast.IfExp, ast.While)):
        negated = ast.UnaryOp(ast.Not(), node.test)
        yield "not the condition", functools.partial(setattr, node, "test", negated)


def reworded(text: str) -> str:
    """A module with other comments, docstrings and layout, that does the same."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                value.value = f"In other words: {value.value}"
    lines = ast.unparse(tree).splitlines()
    return "# A remark.\n" + "\n".join(lines).replace("\n\n", "\n\n\n") + "\n# Another.\n"


# In the process that imports the copy.


def serve() -> None:
    """Reads edits, a line of JSON each: [[file, new text], ...]. Writes the steps that they make stale,
    a line each, and takes the edit back."""
    _remember_what_no_edit_changes()
    tier = load_tier("smoke", ROOT)
    folder = Path(SOURCE)

    def keys() -> dict[str, str]:
        kept.of_package.cache_clear()  # as in a new process
        closure.read_again()
        hashes = {id: e.key(tier.params[id]) for id, e in registry.experiments().items()}
        hashes |= {id: registry.artifact_code(id) for id in registry.artifacts()}
        atexit.unregister(kept.of_package().write)
        return hashes

    before = keys()
    print(json.dumps(list(before)), flush=True)
    for line in sys.stdin:
        edits = {folder / file: text for file, text in json.loads(line)}
        originals = {file: file.read_bytes() for file in edits}
        for file, text in edits.items():
            file.write_text(text, encoding="utf-8")
        after = keys()
        for file, content in originals.items():
            file.write_bytes(content)
        print(json.dumps([step for step in before if before[step] != after[step]]), flush=True)
    assert keys() == before


def _remember_what_no_edit_changes() -> None:
    """Python's own work on texts and trees that stay as they are, which would take most of the time."""
    parse, dump = ast.parse, ast.dump
    trees: dict[str, ast.Module] = {}
    dumps: dict[int, str] = {}

    def parse_once(text, *arguments, **options):
        if text not in trees:
            trees[text] = parse(text, *arguments, **options)
        return trees[text]

    def dump_once(node, *arguments, **options):  # the trees are kept, and so no number is given twice
        if id(node) not in dumps:
            dumps[id(node)] = dump(node, *arguments, **options)
        return dumps[id(node)]

    ast.parse, ast.dump = parse_once, dump_once


# In the process that judges.


class Copy:
    """A copy of the package that can be edited, as a context."""

    def __enter__(self) -> "Copy":
        self._folder = tempfile.TemporaryDirectory(prefix="reprise-mutations-")
        package = Path(self._folder.name) / "reprise"
        shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))
        path = os.pathsep.join([self._folder.name, str(ROOT / "tests")])
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from reliability import mutations; mutations.serve()"],
            env={**os.environ, "PYTHONPATH": path}, cwd=self._folder.name, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self.steps: list[str] = self._answer()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._folder.cleanup()

    def stale(self, edits: Mapping[str, str]) -> set[str]:
        """The steps that the edits, new texts by file, make stale."""
        self._process.stdin.write(json.dumps(list(edits.items())) + "\n")
        self._process.stdin.flush()
        return set(self._answer())

    def _answer(self) -> list[str]:
        line = self._process.stdout.readline()
        assert line, "the process with the copy has ended"
        return json.loads(line)


@functools.cache
def _imports() -> grimp.ImportGraph:
    return grimp.build_graph("reprise", exclude_type_checking_imports=False)


def reachable(step: str) -> set[str]:
    """The modules that a step's own import, directly or indirectly."""
    if step in registry.experiments():
        experiment = registry.experiment(step)
        params = load_tier("smoke", ROOT).params[step]
        roots = [module for module, _ in experiment.symbols(params)]
    else:
        roots = [module for module, _ in registry.artifact_symbols(step)]
    modules = set(roots)
    for root in roots:
        modules |= _imports().find_upstream_modules(root)
    return modules


def module_of(file: str) -> str:
    """`training/images.py` -> `reprise.training.images`."""
    return ".".join(("reprise", *Path(file).with_suffix("").parts)).removesuffix(".__init__")


@dataclass
class Outcome:
    """Of many edits, each looked at by each step.

    Attributes:
        run: pairs of an edit and a step that runs the function, or reads the file: stale.
        reached: pairs of which the step does not run it, and is stale.
        fresh: pairs of which it does not, and is fresh.
        missed: pairs of which it does, and is fresh: a wrong result would count.
        strange: pairs that no import connects, and stale.
    """

    edits: int = 0
    run: int = 0
    reached: int = 0
    fresh: int = 0
    missed: list[str] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)

    @property
    def wrong(self) -> list[str]:
        return self.missed + self.strange


def judge(
    copy: Copy, ran: Mapping[str, Iterable[Function]], functions: Iterable[Function], seed: int
) -> Outcome:
    """Edits each function once.

    Args:
        ran: step -> what it runs.
    """
    chance, outcome = random.Random(seed), Outcome()
    running = {step: set(names) for step, names in ran.items()}
    modules = {step: reachable(step) for step in running}
    for function in functions:
        text, said = mutated((SOURCE / function.file).read_text(encoding="utf-8"), function, chance)
        stale = copy.stale({function.file: text})
        outcome.edits += 1
        for step, names in running.items():
            pair = f"{step}: {function} ({said})"
            if function in names:
                outcome.run += step in stale
                outcome.missed += [pair] * (step not in stale)
            elif step not in stale:
                outcome.fresh += 1
            elif module_of(function.file) in modules[step]:
                outcome.reached += 1
            else:
                outcome.strange.append(pair)
    return outcome


def editable(ran: Mapping[str, Iterable[Function]]) -> list[Function]:
    """The functions, without comprehensions, which are part of the function that holds them."""
    functions = {function for names in ran.values() for function in names}
    return sorted(function for function in functions if not function.name.endswith(("comp>", "<genexpr>")))


def report(outcome: Outcome, of: int, steps: int, seed: int, seconds: float) -> str:
    """What became stale, as a table."""
    rows = [
        ["runs the function: stale", outcome.run],
        ["runs the function: fresh (wrong)", len(outcome.missed)],
        ["does not run it, but its modules import the function's: stale", outcome.reached],
        ["does not run it: fresh", outcome.fresh],
        ["no import connects them: stale (wrong)", len(outcome.strange)],
    ]
    return (
        f"{outcome.edits} edits, each in a different one of the {of:,} functions that run in the smoke "
        f"tier's {steps} experiments, figures and tables; seed {seed}, {seconds / 60:.1f} minutes.\n\n"
        f"{document.table(['a step that', 'pairs of an edit and a step'], rows)}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="make mutations", description=__doc__.splitlines()[0])
    parser.add_argument("--edits", type=int, help="a sample of so many; default: every function")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--traces", type=Path, help="what ran; written by the first call, read by later ones")
    arguments = parser.parse_args()
    if arguments.traces and arguments.traces.exists():
        ran = load(arguments.traces)
    else:
        ran = everything()
        if arguments.traces:
            arguments.traces.write_text(json.dumps(ran))
    functions = editable(ran)
    chosen = random.Random(arguments.seed).sample(functions, arguments.edits or len(functions))
    begin = time.monotonic()
    with Copy() as copy:
        outcome = judge(copy, ran, chosen, arguments.seed)
    text = report(outcome, len(functions), len(ran), arguments.seed, time.monotonic() - begin)
    print("\n".join([*outcome.wrong, text]))
    document.write("make mutations", text)
    return int(bool(outcome.wrong))


def load(file: Path) -> dict[str, list[Function]]:
    """What ran, as `everything` returned it and JSON keeps it."""
    return {step: [Function(*one) for one in names] for step, names in json.loads(file.read_text()).items()}


def everything() -> dict[str, list[Function]]:
    """What each experiment of the smoke tier runs, and each of its drawings."""
    ran: dict[str, list[Function]] = {}
    for id in registry.experiments():
        with tempfile.TemporaryDirectory() as root:
            steps = run_traced(id, replace(load_tier("smoke", ROOT), root=Path(root)))
        ran |= {step: sorted(record.functions) for step, record in steps.items()}
        print(f"{id}: {len(ran[id])} functions run", flush=True)
    return ran


def run_traced(id: str, tier: Tier) -> dict[str, Ran]:
    """What an experiment and each of its drawings run in a tier; leaves the results there."""
    import_everything()
    forget_results()
    experiment, params = registry.experiment(id), tier.params[id]
    with traced() as ran:
        tables = evaluate(experiment.compute(), experiment.settings(params), Context(root=tier.root))
    steps = {id: ran}
    record = {"params": params.model_dump(mode="json")}
    store.save_tables(tier.results / id, tables, experiment.key(params), record)
    for artifact in experiment.artifacts:
        with traced() as ran:
            pipeline.draw(artifact.id, tier)
        steps[artifact.id] = ran
    return steps


if __name__ == "__main__":
    sys.exit(main())
