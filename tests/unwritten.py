"""Files that `reprise new` has begun and nobody has written yet: each says TODO."""

from pathlib import Path

from reprise.engine import registry

TODO = "TODO"
SRC = Path(__file__).parents[1] / "src"
OWN = [key for key in registry.papers() if SRC in registry.folder(key).parents]
"""The papers of this repository, whose golden numbers and refutations are here."""


def places():
    """Each line with a TODO in the papers' folders, as FILE:LINE: text."""
    folders = [Path(registry.folder(key)) for key in registry.papers()]
    files = [file for folder in folders for file in sorted((*folder.rglob("*.py"), folder / "artifacts.csv"))]
    return [
        f"{file}:{number}: {line.strip()}"
        for file in files
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if TODO in line
    ]


def experiments():
    """The ids of our experiments that are not written yet."""
    return {
        id
        for id, experiment in registry.experiments().items()
        if experiment.paper in OWN
        for file in (registry.folder(experiment.paper) / id.partition("/")[2]).glob("*.py")
        if TODO in file.read_text() and file.name != "claims.py"
    }


def claims():
    """The ids of the claims that are not written yet."""
    return {id for id, (claim, _) in registry.claims().items() if TODO in claim.statement}
