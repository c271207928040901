"""The parts of docs/reliability.md that commands write."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "reliability.md"


def read(command):
    """The part of the document that a command has written."""
    return _parts(command)[1]


def write(command, text):
    """Replaces what the command wrote before."""
    before, _, after = _parts(command)
    DOCUMENT.write_text(f"{before}\n{text.strip()}\n{after}", encoding="utf-8")


def _parts(command):
    """The document before, between and after the two comments that name the command."""
    begin, end = f"<!-- {command} writes this -->", f"<!-- end of {command} -->"
    before, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(begin)
    between, _, after = rest.partition(end)
    return before + begin, between.strip(), end + after


def table(header, rows):
    """A Markdown table, every cell as text."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
