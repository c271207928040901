"""Edits of the constants that compiled code is made from, with the machine code of the unedited ones on disk.

Hashes that see an edit are not enough: what then runs must be compiled from it. In a copy of the package,
each constant, option of a decorator and default is edited once. The compiled function must then compute other
bytes or, where the constant does not matter for these inputs, run other machine code. After the edit is taken
back, it must compute the former bytes by the former machine code.
"""

import ast
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tracing import SOURCE

from reprise.storage import closure
from reprise.storage.closure import Symbol

FLAGS = "reprise.numerics.compiled"
BATCH_NORM = """
import torch
from torch import nn
from reprise.networks import batch_norm

draw = torch.Generator().manual_seed(0)
for after in ([], [nn.ReLU()], [nn.MaxPool2d(2), nn.ReLU()]):
    norm = nn.BatchNorm2d(16)
    x = torch.randn(4, 16, 12, 10, generator=draw).bfloat16().to(memory_format=torch.channels_last)
    x.requires_grad_()
    output = batch_norm.batch_norm(x, norm, *after)
    (output.float() ** 2).sum().backward()
    gradients = [each.grad.float() for each in (x, norm.weight, norm.bias)]
    outputs += [output.detach().float(), *gradients, norm.running_mean, norm.running_var]
"""
ON_THEIR_OWN = {"compiled", "compiled_rows"}
"""The decorators of functions that others call; those that they call are `inlined_rows`."""
LOOPS = {
    ("reprise.networks.batch_norm", "_normalise"): f"{BATCH_NORM}\nloop = batch_norm._normalise\n",
    ("reprise.networks.batch_norm", "_differentiate"): f"{BATCH_NORM}\nloop = batch_norm._differentiate\n",
    ("reprise.papers.tian2023.descent", "_descend"): """
import torch
from itertools import product
from reprise.papers.tian2023 import descent
from reprise.papers.tian2023.receptive_fields import Block, Net
from reprise.papers.tian2023.sequences import Arm

draw = torch.Generator().manual_seed(0)
arms = [Arm(*names) for names in product(descent.ACTIVATIONS, descent.LOSSES)]
start = [
    torch.randn(size, generator=draw).repeat(len(arms), 1, 1, 1, 1)
    for size in ((1, 2, 3, 7, 6), (1, 2, 3, 6, 5))
]
start[1][:, 1] = 0  # its outputs have no length
block = Block(torch.randint(7, (2, 8, 2, 11, 3), generator=draw).int())
for batch_norm in (True, False):
    path = descent.descend(
        Net(arms, batch_norm=batch_norm), start, iter([block]), learning_rate=0.02, momentum=0.9,
        weight_decay=5e-3, steps=8, checkpoints={8},
    )
    outputs += [weight for _, weights in path for weight in weights]
loop = descent._descend
""",
    ("reprise.training.replicas", "_descend_each"): """
import torch
from reprise.training import replicas

start = [torch.randn(3, 5, generator=torch.Generator().manual_seed(0))]
path = replicas.sgd(
    start, lambda weights: weights[0].square().sum(1), learning_rate=0.1, momentum=0.9, weight_decay=0.1,
    steps=5, checkpoints={5},
)
outputs += [weight for _, weights in path for weight in weights]
loop = replicas._descend_each
""",
}  # fmt: skip
"""Compiled loops, each with a program that runs it and leaves tensors in `outputs`."""
END = """
import hashlib
print(hashlib.sha256(b"".join(each.numpy().tobytes() for each in outputs)).hexdigest())
print(loop.stats.cache_path)
"""
OTHER_OPTIONS = {"'numpy'": "'python'", "REORDERED": "False", "True": "False"}
ARGUMENTS = {
    ("reprise.papers.tian2023.descent", "_descend"): [
        ("reprise.papers.tian2023.receptive_fields", "BATCH_NORM_EPS")
    ]
}
"""Constants that a loop is called with."""


class Edit(NamedTuple):
    """A file below the package, its new text, and the change in words."""

    file: str
    text: str
    said: str


def loops() -> set[Symbol]:
    """All functions of the package that are compiled on their own."""
    return {
        (".".join(("reprise", *file.relative_to(SOURCE).with_suffix("").parts)), node.name)
        for file in SOURCE.rglob("*.py")
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and ON_THEIR_OWN & set(_decorators(node))
    }


def _decorators(node: ast.stmt) -> list[str]:
    return [ast.unparse(decorator) for decorator in getattr(node, "decorator_list", ())]


def edits(loop: Symbol) -> Iterator[Edit]:
    """One edit of each constant, option and default that a loop's machine code is made from."""
    seen = set()
    for module, name in sorted(_reached(loop)) + ARGUMENTS.get(loop, []):
        path = closure._module(module).path
        text = path.read_text(encoding="utf-8")
        for number in range(len([*_changes(ast.parse(text), name)])):
            tree = ast.parse(text)
            said, change = [*_changes(tree, name)][number]
            change()
            new = ast.unparse(tree)
            if new not in seen:  # of several names that one statement binds
                seen.add(new)
                yield Edit(str(path.relative_to(SOURCE)), new, f"{name}: {said}")


def _reached(loop: Symbol) -> set[Symbol]:
    """The functions, constants and decorators' options that go into a loop's machine code."""
    reached: set[Symbol] = set()
    queue = [loop]
    while queue:
        symbol = queue.pop()
        module = closure._module(symbol[0])
        if symbol in reached or symbol[1] not in module.definitions:
            continue
        reached.add(symbol)
        for node in module.definitions[symbol[1]]:
            is_function = isinstance(node, ast.FunctionDef)
            if is_function and symbol[0] == FLAGS:  # it decides where machine code lies
                continue
            queue += [(FLAGS, each) for each in _decorators(node)]
            for part in (node.args, *node.body) if is_function else [node]:
                for name in (each.id for each in ast.walk(part) if isinstance(each, ast.Name)):
                    queue.append((symbol[0], name))
                    targets = module.imports.get(name, ())
                    queue += [found for target in targets for found in closure._follow(target)]
    return reached


def _changes(tree: ast.Module, name: str) -> Iterator[tuple[str, Callable[[], object]]]:
    """Edits of the definition of a top-level name."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
                yield from _other_numbers(default)
        if not isinstance(node, ast.Assign) or name not in closure._defined_names(node):
            continue
        (target,) = node.targets
        if isinstance(target, ast.Tuple):
            yield f"{ast.unparse(target)} the other way round", target.elts.reverse
        elif isinstance(node.value, ast.Set):
            for item in node.value.elts:
                yield f"without {ast.unparse(item)}", functools.partial(node.value.elts.remove, item)
        elif isinstance(node.value, ast.Call):
            for keyword in node.value.keywords:
                new = {"'numpy'": "'python'", "REORDERED": "False", "True": "False"}[
                    ast.unparse(keyword.value)
                ]
                value = ast.parse(new, mode="eval").body
                yield f"{keyword.arg}={new}", functools.partial(setattr, keyword, "value", value)
        else:
            yield from _other_numbers(node.value)


def _other_numbers(value: ast.expr) -> Iterator[tuple[str, Callable[[], object]]]:
    for part in ast.walk(value):
        if isinstance(part, ast.Constant) and type(part.value) in (int, float):
            yield f"{part.value} + 1", functools.partial(setattr, part, "value", part.value + 1)


@dataclass
class Outcome:
    """Counts of edits, each run with the machine code of the unedited constant on disk.

    Attributes:
        bytes, code: how many edits gave other bytes; the same bytes by other machine code.
        wrong: those that ran the former machine code, or after which something else than before stayed.
    """

    edits: int = 0
    bytes: int = 0
    code: int = 0
    wrong: list[str] = field(default_factory=list)


def judge(loop: Symbol, chosen: Iterable[Edit]) -> Outcome:
    """Edits each constant once, and runs the loop before, with the edit and after."""
    outcome = Outcome()
    with tempfile.TemporaryDirectory(prefix="reprise-constants-") as folder:
        package = Path(folder) / "reprise"
        shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))
        before = _run(loop, folder)
        for file, text, said in chosen:
            former = (package / file).read_bytes()
            (package / file).write_text(text, encoding="utf-8")
            edited = _run(loop, folder)
            (package / file).write_bytes(former)
            after = _run(loop, folder)
            outcome.edits += 1
            outcome.bytes += edited[0] != before[0]
            outcome.code += edited[0] == before[0] and edited[1] != before[1]
            if edited == before or after != before:
                outcome.wrong.append(f"{loop[1]}: {file} ({said}): {before}, {edited}, {after}")
    return outcome


def _run(loop: Symbol, folder: str) -> list[str]:
    """A digest of what a loop computes, and where its machine code lies."""
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-c", f"outputs = []\n{LOOPS[loop]}{END}"],
        env={**environment, "PYTHONPATH": folder}, cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def report(outcomes: Sequence[Outcome]) -> str:
    edits, other, code = (
        sum(getattr(each, name) for each in outcomes) for name in ("edits", "bytes", "code")
    )
    wrong = sum(len(each.wrong) for each in outcomes)
    return (
        f"{edits} edits of constants that compiled code is made from, with the machine code of the unedited "
        f"ones on disk: {other} gave other bytes, {code} the same bytes by other machine code; {wrong} ran "
        "the former, or left another behind when it was taken back (wrong)."
    )
