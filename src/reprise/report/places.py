"""Where in the repository a claim, a figure and a counter-case are written."""

import ast
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from reprise import sources
from reprise.contract.experiment import Artifact
from reprise.evidence.claim import Claim, place_of
from reprise.evidence.comparison import FORMULAS
from reprise.report.schema import CodeLine

PACKAGE = Path(str(files("reprise")))
TESTS = "tests/papers"
FEWEST = 14
"""Constant characters of a string with gaps that says anything."""
ANY = re.compile("")
VIOLATING = re.compile(
    "break|broken|counter|fail|flipped|contradict|wrong|false|refute|misprint", re.IGNORECASE
)
"""Names of tests, and of the lists that they read, that give claims data which violate them."""
COUNTER_CASE = re.compile("^test_.*(counter_case|contradicted|refutes|should_not$)")
EACH = re.compile("parametrize|EACH")
OF_FORMULAS = re.compile("IDENTITIES|FORMULAS")
"""What tests call the claims that are equations and bounds."""
FORMS = ("printed", "corrected")
"""Ends of the ids of many claims, which name none of them."""
Where = tuple[Path, int, str]
"""A file, a line, and the name of the function or constant there."""


@dataclass(frozen=True)
class Texts:
    """The strings of some files, each with its file, its line and the function or constant around it.

    Attributes:
        constants: the first place of each string without gaps.
        patterns: strings with gaps, and how many of their characters are constant.
    """

    constants: Mapping[str, Where]
    patterns: Sequence[tuple[int, re.Pattern[str], Where]]

    def source(self, words: str) -> Where | None:
        """The string that `words` may have been made of with the most constant characters."""
        if words in self.constants:
            return self.constants[words]
        matches = [(size, where) for size, pattern, where in self.patterns if pattern.fullmatch(words)]
        return max(matches, key=lambda match: match[0])[1] if matches else None


@dataclass(frozen=True)
class Checkout:
    """The places of a checkout, seen from the folder in which the report will lie."""

    root: Path
    folder: Path

    def claim(self, claim: Claim, module: str) -> CodeLine | None:
        """Where a claim is defined: where it says so itself, else the string that its id, its statement or
        the end of its id is made of. It is looked for in the module first, and then in the whole of the
        paper's folder.

        Args:
            module: `reprise.papers.KEY.NAME.claims`.
        """
        if claim.code:
            return self._place(*claim.code)
        id, statement = claim.id, claim.statement
        key, rest = id.split("/", 1)
        file = _file(module)
        folder = next((each for each in file.parents if each.name == key), file.parent)
        for path, texts in ((file, _of_file), (folder, _of_folder)):
            for words in (id, rest, statement, rest.rpartition("/")[2]):
                if where := texts(path).source(words):
                    return self._place(*where)
        return None

    def figure(self, artifact: Artifact) -> CodeLine | None:
        """Where a figure is drawn, from its decorator on. Its module is read, not imported."""
        file = _file(artifact.module)
        for node in _statements(file) if file.is_file() else ():
            if isinstance(node, ast.FunctionDef) and node.name == artifact.name:
                first = min([node.lineno, *(part.lineno for part in node.decorator_list)])
                return self._place(file, first, artifact.name)
        return None

    def counter_case(self, claim: Claim, experiment: str) -> CodeLine | None:
        """Finds where data that contradict a claim are written: beside it, in its `broken_by`; in a test that
        names the claim, by its whole id or without its paper or figure; or in the test that takes each claim
        of an experiment in turn, of formulas or of others. None if there is none.

        Args:
            experiment: its id; empty for a claim about printed numbers.
        """
        if claim.broken_by:
            return self._place(*(claim.code or place_of(claim.broken_by[0])))
        key, rest = claim.id.split("/", 1)
        folder, end = self.root / TESTS / key, rest.rpartition("/")[2]
        own = _of_experiment(folder, experiment.partition("/")[2] or "printed")
        named = [(folder, claim.id), (folder, rest)]
        named += [(file, end) for file in own if end not in FORMS]
        for place, name in named:
            if where := _of_tests(place).constants.get(name):
                return self._place(*where)
        if claim.needs:
            return None
        of_formulas = claim.kind in FORMULAS
        return next(
            (self._place(*where) for file in own for where in _in_turn(file, of_formulas=of_formulas)), None
        )

    def _place(self, file: Path | str, line: int, name: str) -> CodeLine:
        file = Path(file)
        inside = PACKAGE in file.parents
        shown = f"src/reprise/{file.relative_to(PACKAGE)}" if inside else os.path.relpath(file, self.root)
        own = not inside or (self.root / "src" / "reprise").resolve() == PACKAGE.resolve()
        there = own and (self.root / shown).is_file()
        path = os.path.relpath(self.root / shown, self.folder) if there else ""
        return CodeLine(file=shown, line=line, name=name, path=path)


def _file(module: str) -> Path:
    top = module.partition(".")[0]
    beside = next((each.parent for each in sources.folders() if each.name == top), PACKAGE.parent)
    if top == PACKAGE.name:
        beside = PACKAGE.parent
    return beside / f"{module.replace('.', '/')}.py"


@cache
def _of_file(file: Path) -> Texts:
    return _texts([file] if file.is_file() else [])


@cache
def _of_folder(folder: Path) -> Texts:
    return _texts(sorted(folder.rglob("*.py")))


@cache
def _of_tests(place: Path) -> Texts:
    return _texts([place] if place.suffix else sorted(place.glob("test_*.py")), VIOLATING)


@cache
def _of_experiment(folder: Path, name: str) -> list[Path]:
    """The tests of an experiment: the file named after it first, then those that import from it."""
    own = folder / f"test_{name}.py"
    imports = re.compile(rf"\bpapers\.{folder.name}\.{name}\b")
    others = [
        file for file in sorted(folder.glob("test_*.py")) if imports.search(file.read_text(encoding="utf-8"))
    ]
    return [*([own] if own.is_file() else []), *(file for file in others if file != own)]


@cache
def _in_turn(file: Path, *, of_formulas: bool) -> list[Where]:
    """The parametrised tests in which each of a list of claims is given data that violate it."""
    return [
        (file, node.lineno, node.name)
        for node in _statements(file)
        if isinstance(node, ast.FunctionDef) and COUNTER_CASE.search(node.name)
        for decorator in map(ast.unparse, node.decorator_list)
        if EACH.search(decorator) and (of_formulas or not OF_FORMULAS.search(decorator))
    ]


@cache
def _statements(file: Path) -> list[ast.stmt]:
    return ast.parse(file.read_text(encoding="utf-8")).body


def _texts(sources: Iterable[Path], named: re.Pattern[str] = ANY) -> Texts:
    """
    Args:
        named: which functions and constants are read, by their names.
    """
    constants: dict[str, Where] = {}
    patterns = []
    for file in sources:
        for node in _statements(file):
            for parts, line in _strings(node) if named.search(_name(node)) else ():
                where = (file, line, _name(node))
                if None not in parts:
                    constants.setdefault("".join(filter(None, parts)), where)
                elif (size := sum(len(part) for part in parts if part)) >= FEWEST:
                    pattern = "".join(".+" if part is None else re.escape(part) for part in parts)
                    patterns.append((size, re.compile(pattern, re.DOTALL), where))
    return Texts(constants, patterns)


def _strings(node: ast.stmt) -> Iterator[tuple[list[str | None], int]]:
    """The parts of each string in a statement, None for a gap, and its line."""
    queue: list[ast.AST] = [node]
    for each in queue:  # from the outside to the inside
        if isinstance(each, ast.JoinedStr):
            parts = [str(part.value) if isinstance(part, ast.Constant) else None for part in each.values]
            yield parts, each.lineno
            queue.extend(part for part in each.values if not isinstance(part, ast.Constant))
        elif isinstance(each, ast.Constant):
            if isinstance(each.value, str):
                yield [each.value], each.lineno
        elif not isinstance(each, (ast.Name, ast.expr_context)):
            queue.extend(ast.iter_child_nodes(each))


def _name(node: ast.stmt) -> str:
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        return target.id if isinstance(target, ast.Name) else ""
    return getattr(node, "name", "")
