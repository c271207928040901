"""Docstrings stand alone: each names its concept, and none continues the name above it."""

import ast
from pathlib import Path

import pytest

import reprise

FRAGMENTS = {"Of", "Those", "What", "Whether", "That", "When", "How", "Which", "Where", "Who"}
SOURCE = Path(reprise.__file__).parent


def fragments(tree):
    """The line and the first words of each docstring that opens as a fragment, also below a name."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            value = getattr(statement, "value", None)
            if not (isinstance(statement, ast.Expr) and isinstance(value, ast.Constant)):
                continue
            words = value.value.split() if isinstance(value.value, str) else []
            if words and words[0].rstrip(",:") in FRAGMENTS:
                yield statement.lineno, " ".join(words[:6])


@pytest.mark.parametrize("word", sorted(FRAGMENTS))
def test_a_fragment_is_found_wherever_a_docstring_stands(word):
    text = f'"""{word} the tasks need."""'
    lines = (text, "N = 3", text, "class A:", f"    {text}", "    def f(self):", f"        {text}")
    assert [line for line, _ in fragments(ast.parse("\n".join(lines)))] == [1, 3, 5, 7]


def test_no_docstring_opens_as_a_fragment():
    wrong = [
        f"{file.relative_to(SOURCE)}:{line}: '{opening} ...'"
        for file in sorted(SOURCE.rglob("*.py"))
        for line, opening in fragments(ast.parse(file.read_text(encoding="utf-8")))
    ]
    assert not wrong, "say what it is or does, such as 'Tells if' or 'Resources of':\n" + "\n".join(wrong)
