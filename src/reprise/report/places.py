"""Where in the repository a claim, a figure and a counter-case are written."""

import ast
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from reprise.report.schema import Place
from reprise.study.experiment import Artifact

PACKAGE = Path(str(files("reprise")))
TESTS = "tests/papers"


@dataclass(frozen=True)
class Text:
    """A string of the code: its constant parts, with anything between them."""

    pattern: re.Pattern[str]
    size: int
    """How many characters are constant."""
    line: int
    name: str


@dataclass(frozen=True)
class Checkout:
    """The places of a checkout, seen from the folder in which the report will lie."""

    root: Path
    folder: Path

    def claim(self, id: str, statement: str, module: str) -> Place | None:
        """Where a claim is defined: the string that its id, or else its statement, is made of. It is looked
        for in the module first, and then in the whole of the paper's folder.

        Args:
            module: `reprise.papers.KEY.NAME.claims`.
        """
        paper = PACKAGE / "papers" / id.split("/")[0]
        own = PACKAGE.parent / f"{module.replace('.', '/')}.py"
        for words in (id, id.split("/", 1)[1], statement):
            for sources in ([own] if own.is_file() else [], sorted(paper.rglob("*.py"))):
                if best := _most_constant(words, sources):
                    return self._place(*best)
        return None

    def figure(self, artifact: Artifact) -> Place | None:
        """Where a figure is drawn."""
        code = getattr(artifact.draw, "__code__", None)
        if code is None or not Path(code.co_filename).is_relative_to(PACKAGE):
            return None
        return self._place(Path(code.co_filename), code.co_firstlineno, artifact.draw.__name__)

    def counter_case(self, id: str) -> Place | None:
        """The test that names a claim, by its whole id or without its paper; None if there is none."""
        key, rest = id.split("/", 1)
        for file in sorted((self.root / TESTS / key).glob("test_*.py")):
            for text in _texts(file):
                if text.size and text.pattern.pattern in (re.escape(id), re.escape(rest)):
                    return self._place(file, text.line, text.name)
        return None

    def _place(self, file: Path, line: int, name: str) -> Place:
        inside = PACKAGE in file.parents
        shown = f"src/reprise/{file.relative_to(PACKAGE)}" if inside else str(file.relative_to(self.root))
        there = (self.root / shown).is_file()
        path = os.path.relpath(self.root / shown, self.folder) if there else ""
        return Place(file=shown, line=line, name=name, path=path)


def _most_constant(words: str, sources: Iterable[Path]) -> tuple[Path, int, str] | None:
    """The string that `words` may have been made of with the most constant characters."""
    matches = [
        (text.size, file, text)
        for file in sources
        for text in _texts(file)
        if text.size > 4 and text.pattern.fullmatch(words)
    ]
    if not matches:
        return None
    _, file, text = max(matches, key=lambda match: match[0])
    return file, text.line, text.name


@cache
def _texts(file: Path) -> tuple[Text, ...]:
    """Every string of a file, with the function or constant in which it stands."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return tuple(text for node in tree.body for text in _within(node))


def _within(node: ast.stmt) -> Iterator[Text]:
    name = getattr(node, "name", "")
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        name = target.id if isinstance(target, ast.Name) else ""
    inner = {id(part) for each in ast.walk(node) if isinstance(each, ast.JoinedStr) for part in each.values}
    for each in ast.walk(node):
        if isinstance(each, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else None for part in each.values]
        elif isinstance(each, ast.Constant) and isinstance(each.value, str) and id(each) not in inner:
            parts = [each.value]
        else:
            continue
        pattern = "".join(".+" if part is None else re.escape(part) for part in parts)
        size = sum(len(part) for part in parts if part is not None)
        yield Text(re.compile(pattern, re.DOTALL), size, each.lineno, name)
