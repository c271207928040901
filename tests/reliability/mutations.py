"""Edits of the package, one by one, and which results become stale by each: `make mutations`. It
also edits the constants of compiled code (`reliability.constants`).

Freshness rests on hashes of syntax trees (`storage.closure`). What they must see, this module learns from
elsewhere: a tracer's record of what each step of the smoke tier really runs and reads, and the graph of
imports. A step computes an experiment's tables, draws a figure or table, judges a paper's claims or writes
the report. An edit of a function must make every step stale that runs it, and none whose modules do not
import the function's, directly or indirectly. Between the two lies what a step could run with other settings,
or what a function that numba has compiled calls; there an edit may make it stale, and how often it does is
counted. The same holds for the package's data files: a step that reads one must become stale, and none whose
modules do not name it. And for a statement that runs when a module is imported, inserted in each module: a
step whose modules import that module must become stale.

The edits are made in copies of the package, each by one process that imports its copy.
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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import grimp
from tracing import BESIDE, SOURCE, Function, Ran, forget_results, import_everything, traced

from reliability import constants, document
from reprise.contract.experiment import Context, evaluate
from reprise.engine import check, memo, provenance, registry
from reprise.engine.check import Verdicts
from reprise.engine.configured import Tier
from reprise.engine.draw import Drawing
from reprise.engine.tiers import load_tier
from reprise.report import html
from reprise.storage import closure, store
from reprise.storage.closure import Symbol

ROOT = Path(__file__).parents[2]
SWAPS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn,
    ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
"""An operator -> the one that an edit puts in its place."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
REPORT = "report"
READS = "reads"
"""The function of an experiment's parameters that names the files in the key of its tables."""
TWICE_EVERY = 25
"""Number of edits, one of which is hashed anew from every file, too: the hashes must be the same."""
STATEMENTS = (
    "__import__('torch').set_default_dtype(__import__('torch').float64)",
    "setattr(__import__('math'), 'pi', 3)",
    "__import__('math').pi = 3",
    "if len('a'):\n    __import__('random').seed(0)",
    "while print():\n    pass",
    "try:\n    __import__('numpy').seterr(all='raise')\nfinally:\n    pass",
)
"""Statements with an effect, which a module might run when it is imported."""
IMPORT = """
import json, multiprocessing, sys
import matplotlib.pyplot, numpy, pandas, torch

def imported(names):
    for name in names:
        __import__(name)
    return [name for name in sys.modules if name.partition(".")[0] == "reprise"]

steps = json.load(sys.stdin)
with multiprocessing.get_context("fork").Pool(1, maxtasksperchild=1) as pool:
    print(json.dumps(dict(zip(steps, pool.map(imported, steps.values(), chunksize=1)))))
"""
"""Imports each step's modules, each time in a new process."""

Edited = Function | str
"""A function, or a data file below the package."""


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
    """Changes that an edit may make to a node: in words, and as a function."""

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
    """Reads edits, a line of JSON each: [[[file, new text], ...], whether to read every file again]. Writes
    the steps that they make stale, a line each, and takes the edit back."""
    for name in ("_module", "_definition", "_uses", "_code", "_libraries"):
        setattr(closure, name, Answers(getattr(closure, name)))
    tier = load_tier("smoke", ROOT)
    folder = Path(SOURCE)

    def keys() -> dict[str, str]:
        memo.of_package.cache_clear()  # as in a new process
        hashes = {id: e.key(tier.params[id]) for id, e in registry.experiments().items()}
        hashes |= {id: registry.artifact_code(id) for id in registry.artifacts()}
        judged = {verdicts(key): registry.claims_code(key) for key in registry.judged()}
        hashes |= judged
        # Its inputs are the verdicts: what makes one of them again, makes the report again.
        hashes[REPORT] = " ".join([registry.report_code(), *judged.values()])
        atexit.unregister(memo.of_package().write)
        return hashes

    before = keys()
    print(json.dumps(list(before)), flush=True)
    for line in sys.stdin:
        pairs, read_everything = json.loads(line)
        edits = {folder / file: text for file, text in pairs}
        originals = {file: file.read_bytes() for file in edits}
        for file, text in edits.items():
            file.write_text(text, encoding="utf-8")
        forget(edits)
        if read_everything:
            closure.read_again()
        after = keys()
        for file, content in originals.items():
            file.write_bytes(content)
        forget(edits)
        print(json.dumps([step for step in before if before[step] != after[step]]), flush=True)
    closure.read_again()
    assert keys() == before


class Answers(dict):
    """Answers of a function with a cache, by its argument. Unlike those of `functools.cache`, they can be
    forgotten one by one: an edit costs a tenth of a second, not two."""

    def __init__(self, cached: "functools._lru_cache_wrapper") -> None:
        self._function = cached.__wrapped__

    def __missing__(self, argument):
        self[argument] = answer = self._function(argument)
        return answer

    __call__ = dict.__getitem__
    cache_clear = dict.clear


def forget(files: Iterable[Path]) -> None:
    """Forgets the answers that a change of these files and no others may alter: those about a module or its
    symbols; those about all modules, if one now binds other names, by which others find a definition; all
    symbols' code, if one is a data file."""
    files = set(files)
    if any(file.suffix != ".py" for file in files):
        closure._code.clear()
    edited = {name: module for name, module in closure._module.items() if module.path in files}
    for name, module in edited.items():
        new = closure._Module(name, module.path)
        if (new.definitions.keys(), new.imports) != (module.definitions.keys(), module.imports):
            closure.read_again()
            return
    for name in edited:
        del closure._module[name]
    for answers in (closure._definition, closure._uses, closure._code, closure._libraries):
        for symbol in [symbol for symbol in answers if symbol[0] in edited]:
            del answers[symbol]


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

    def stale(self, edits: Mapping[str, str], *, read_everything: bool = False) -> set[str]:
        """The steps that the edits, new texts by file, make stale."""
        self._process.stdin.write(json.dumps([list(edits.items()), read_everything]) + "\n")
        self._process.stdin.flush()
        return set(self._answer())

    def _answer(self) -> list[str]:
        line = self._process.stdout.readline()
        assert line, "the process with the copy has ended"
        return json.loads(line)


@functools.cache
def _imports() -> grimp.ImportGraph:
    return grimp.build_graph("reprise", exclude_type_checking_imports=False)


def verdicts(key: str) -> str:
    """The step that judges a paper's claims."""
    return f"{key}/claims"


def symbols(step: str) -> list[Symbol]:
    """The symbols from which a step's closure begins."""
    if step in registry.experiments():
        return registry.experiment(step).symbols(load_tier("smoke", ROOT).params[step])
    if step in registry.artifacts():
        return registry.artifact_symbols(step)
    return registry.report_symbols() if step == REPORT else registry.claims_symbols(step.partition("/")[0])


def reachable(step: str) -> set[str]:
    """The modules that a step's own import, directly or indirectly."""
    roots = {module for module, _ in symbols(step)}
    return roots.union(*(_imports().find_upstream_modules(root) for root in roots))


def module_of(file: str) -> str:
    """`training/images.py` -> `reprise.training.images`."""
    return ".".join(("reprise", *Path(file).with_suffix("").parts)).removesuffix(".__init__")


@functools.cache
def naming(file: str) -> frozenset[str]:
    """The modules that name a data file, or name one that names it, such as a template."""
    name, found = Path(file).name, set()
    for other in (path for path in SOURCE.rglob("*") if path.suffix in (".py", ".j2")):
        below = str(other.relative_to(SOURCE))
        if below != file and name in other.read_text(encoding="utf-8"):
            found |= {module_of(below)} if other.suffix == ".py" else naming(below)
    return frozenset(found)


@dataclass
class Outcome:
    """Pairs of an edit and a step, by what the step runs and what becomes of its results.

    Attributes:
        run: pairs of an edit and a step that runs the function, or reads the file: stale.
        reached: pairs whose step does not run or read it, and is stale.
        fresh: pairs whose step does not run or read it, and is fresh.
        missed: pairs whose step runs or reads it, and is fresh: a wrong result would count.
        strange: stale pairs that neither an import nor the name of a file connects.
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

    def __add__(self, other: "Outcome") -> "Outcome":
        return Outcome(**{name: value + getattr(other, name) for name, value in vars(self).items()})


def judge(copy: Copy, ran: Mapping[str, Iterable[Edited]], chosen: Iterable[Edited], seed: int) -> Outcome:
    """Edits each function or data file once.

    Args:
        ran: step -> what it runs and reads.
    """
    outcome = Outcome()
    running = {step: set(names) for step, names in ran.items()}
    modules = {step: with_packages(reachable(step)) for step in running}
    for number, edited in enumerate(chosen):
        file, text, said = edit(edited, random.Random(f"{seed} {edited}"))
        stale = copy.stale({file: text})
        if number % TWICE_EVERY == 0:
            assert stale == copy.stale({file: text}, read_everything=True), f"{edited} ({said})"
        sources = {module_of(file)} if isinstance(edited, Function) else naming(file)
        outcome.edits += 1
        for step, names in running.items():
            if edited in names:
                outcome.run += step in stale
                outcome.missed += [f"{step}: {edited} ({said})"] * (step not in stale)
            elif step not in stale:
                outcome.fresh += 1
            elif sources & modules[step]:
                outcome.reached += 1
            else:
                outcome.strange.append(f"{step}: {edited} ({said})")
    return outcome


def judge_imports(copy: Copy, steps: Iterable[str], chosen: Iterable[str], seed: int) -> Outcome:
    """Inserts a statement that runs at import in each of these files below the package."""
    outcome = Outcome()
    imported = loaded(steps)
    modules = {step: with_packages(reachable(step)) for step in imported}
    for file in chosen:
        said = random.Random(f"{seed} {file}").choice(STATEMENTS)
        stale = copy.stale({file: f"{(SOURCE / file).read_text(encoding='utf-8')}\n\n{said}\n"})
        outcome.edits += 1
        for step, names in imported.items():
            if module_of(file) in names:
                outcome.run += step in stale
                outcome.missed += [f"{step}: {file} ({said})"] * (step not in stale)
            elif step not in stale:
                outcome.fresh += 1
            elif module_of(file) in modules[step]:
                outcome.reached += 1
            else:
                outcome.strange.append(f"{step}: {file} ({said})")
    return outcome


def loaded(steps: Iterable[str]) -> dict[str, set[str]]:
    """The package's modules that Python imports for the modules of each step."""
    names = {step: sorted({module for module, _ in symbols(step)}) for step in steps}
    done = subprocess.run(
        [sys.executable, "-c", IMPORT], input=json.dumps(names), stdout=subprocess.PIPE, text=True, check=True
    )
    return {step: set(modules) for step, modules in json.loads(done.stdout).items()}


def with_packages(modules: Iterable[str]) -> set[str]:
    """Modules, and the packages that they lie in, which an import runs, too, and what these import."""
    packages = {name.rsplit(".", depth)[0] for name in modules for depth in range(name.count(".") + 1)}
    return packages.union(*(_imports().find_upstream_modules(name) for name in packages - set(modules)))


def python_files() -> list[str]:
    return sorted(str(file.relative_to(SOURCE)) for file in SOURCE.rglob("*.py"))


def edit(edited: Edited, chance: random.Random) -> tuple[str, str, str]:
    """A file, its new text, and the change in words."""
    if isinstance(edited, Function):
        return edited.file, *mutated((SOURCE / edited.file).read_text(encoding="utf-8"), edited, chance)
    lines = (SOURCE / edited).read_text(encoding="utf-8").splitlines(keepends=True)
    return edited, "".join([*lines, lines[-1]]), "the last line twice"


def side_by_side(copies: int, judge: Callable, ran: Iterable, chosen: Sequence[Edited], seed: int) -> Outcome:
    """`judge` or `judge_imports`, the edits shared out among several copies."""

    def share(number: int) -> Outcome:
        with Copy() as copy:
            return judge(copy, ran, chosen[number::copies], seed)

    with ThreadPoolExecutor(copies) as threads:
        return sum(threads.map(share, range(copies)), Outcome())


def functions(ran: Mapping[str, Iterable[Edited]]) -> list[Function]:
    """Functions that can be edited: not comprehensions, which are part of the function that holds them."""
    every = {one for names in ran.values() for one in names if isinstance(one, Function)}
    return sorted(one for one in every if not one.name.endswith(("comp>", "<genexpr>")))


def data_files(ran: Mapping[str, Iterable[Edited]]) -> list[str]:
    return sorted({one for names in ran.values() for one in names if isinstance(one, str)})


def report(
    outcomes: Sequence[Outcome], of_constants: str, of: int, steps: int, seed: int, seconds: float
) -> str:
    """The study's results in words, and as a table of stale and fresh steps."""
    rows = [
        ["runs the function, reads the file or imports the module: stale", "run"],
        ["runs, reads or imports it: fresh (wrong)", "missed"],
        ["does not, but its modules import the function's or name the file: stale", "reached"],
        ["does not: fresh", "fresh"],
        ["no import or name connects them: stale (wrong)", "strange"],
    ]
    numbers = [[vars(outcome)[name] for outcome in outcomes] for _, name in rows]
    counted = [
        [said, *(f"{len(n) if isinstance(n, list) else n:,}" for n in pair)]
        for (said, _), pair in zip(rows, numbers, strict=True)
    ]
    header = ["a step that", "pairs of an edited function and a step", "of an edited data file and a step"]
    header.append("of a statement at import and a step")
    of_functions, of_files, of_imports = outcomes
    return (
        f"{of_functions.edits:,} edits, each in a different one of the {of:,} functions that run in the "
        f"smoke tier's {steps} steps (an experiment's tables, a figure, a paper's verdicts, the report), "
        f"{of_files.edits} edits of the data files that they read, and a statement that runs at import "
        f"inserted in each of {of_imports.edits} modules; seed {seed}, {seconds / 60:.1f} minutes.\n\n"
        f"{document.table(header, counted)}\n\n{of_constants}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="make mutations", description=__doc__.splitlines()[0])
    parser.add_argument("--edits", type=int, help="a sample of so many functions; default: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--copies", type=int, default=os.cpu_count(), help="that are edited side by side")
    parser.add_argument("--traces", type=Path, help="what ran; written by the first call, read by later ones")
    arguments = parser.parse_args()
    if arguments.traces and arguments.traces.exists():
        ran = load(arguments.traces)
    else:
        ran = everything()
        if arguments.traces:
            arguments.traces.write_text(json.dumps(ran))
    every, seed = functions(ran), arguments.seed
    chosen = random.Random(seed).sample(every, arguments.edits or len(every))
    begin = time.monotonic()
    outcomes = [
        side_by_side(arguments.copies, judge, ran, chosen, seed),
        side_by_side(arguments.copies, judge, ran, data_files(ran), seed),
        side_by_side(arguments.copies, judge_imports, ran, python_files(), seed),
    ]
    with ThreadPoolExecutor(arguments.copies) as threads:
        compiled = [*threads.map(lambda loop: constants.judge(loop, constants.edits(loop)), constants.LOOPS)]
    of_constants, seconds = constants.report(compiled), time.monotonic() - begin
    text = report(outcomes, of_constants, len(every), len(ran), seed, seconds)
    wrong = [line for outcome in (*outcomes, *compiled) for line in outcome.wrong]
    print("\n".join([*wrong, text]))
    document.write("make mutations", text)
    return int(bool(wrong))


def load(file: Path) -> dict[str, list[Edited]]:
    """Reads back the result of `everything` from JSON."""
    return {
        step: [one if isinstance(one, str) else Function(*one) for one in names]
        for step, names in json.loads(file.read_text()).items()
    }


def everything() -> dict[str, list[Edited]]:
    """Functions and data files that each step of the smoke tier uses; the steps are experiments, drawings,
    papers' verdicts and the report."""
    ran: dict[str, list[Edited]] = {}
    with tempfile.TemporaryDirectory() as root:
        tier = replace(load_tier("smoke", ROOT), root=Path(root))
        for id in registry.experiments():
            with tempfile.TemporaryDirectory() as alone:  # or nets of others are not trained
                steps = run_traced(id, replace(tier, root=Path(alone)))
                shutil.copytree(alone, root, dirs_exist_ok=True, ignore=shutil.ignore_patterns("cache"))
            ran |= {step: used(step, record) for step, record in steps.items()}
            print(f"{id}: {len(ran[id])} functions and data files", flush=True)
        ran |= {step: used(step, record) for step, record in judge_traced(tier).items()}
    return ran


def used(step: str, record: Ran) -> list[Edited]:
    """Functions and data files that a step used. Left out are, for tables, the registry, which finds what
    their hash is of and computes nothing; for drawings and verdicts, the function that names an experiment's
    files, since other files make the tables stale."""
    is_of_tables = step in registry.experiments()
    names = {one for one in record.functions if (one.file != BESIDE if is_of_tables else one.name != READS)}
    return [*sorted(names), *sorted(record.data_files)]


def run_traced(id: str, tier: Tier) -> dict[str, Ran]:
    """Runs an experiment and each of its drawings in a tier, and leaves the results there; returns what each
    step ran."""
    import_everything()
    _as_in_a_new_process()
    experiment, params = registry.experiment(id), tier.params[id]
    with traced() as ran:
        tables = evaluate(experiment.compute(), experiment.settings(params), Context(root=tier.root))
    steps = {id: ran}
    record = {
        **provenance.describe(tier.root),
        "experiment": id,
        "not_finite": {},
        "params": params.model_dump(mode="json"),
        "code": experiment.code(params),
        "duration_seconds": 1.0,
    }
    store.save_tables(tier.results / id, tables, experiment.key(params), record)
    for artifact in experiment.artifacts:
        _as_in_a_new_process()
        with traced() as ran:
            Drawing(artifact, tier).draw()
        steps[artifact.id] = ran
    return steps


def judge_traced(tier: Tier) -> dict[str, Ran]:
    """Judges the papers on the results of a tier, and writes the report; returns what each step ran."""
    steps = {}
    for key in registry.judged():
        _as_in_a_new_process()
        with traced() as ran:
            claims = Verdicts(registry.paper(key), tier).judged()
        Verdicts(registry.paper(key), tier).save(claims, Verdicts(registry.paper(key), tier).evidence())
        steps[verdicts(key)] = ran
    _as_in_a_new_process()
    with traced() as ran:
        html.write(tier, check.join(tier))
    steps[REPORT] = ran
    return steps


def _as_in_a_new_process() -> None:
    """Forgets what was computed before, except what the registry holds, which no step reads."""
    forget_results()
    registry.papers()


if __name__ == "__main__":
    sys.exit(main())
