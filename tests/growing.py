"""Papers in another repository, as many as the package may hold one day."""

from pathlib import Path

from reprise.annex import new

STATEMENT = (
    "With the widths, rates and temperatures of Table {number}, the mean of part {name} lies above that of "
    "networks without a projector, for every seed and at every step after the first hundred."
)


def write_papers(folder: Path, papers: int, experiments: int, claims: int) -> list[str]:
    """Writes papers with experiments, each of which has claims and a figure; returns the keys of the papers.

    Args:
        claims: of each experiment.
    """
    keys = [f"grown{2000 + number}" for number in range(papers)]
    for key in keys:
        names = [f"part{number}" for number in range(experiments)]
        files = {
            folder / key / "__init__.py": new.PAPER.format(key=key),
            folder / key / "artifacts.csv": new.ARTIFACTS + "".join(new._row(key, name) for name in names),
        }
        for name in names:
            files |= new._experiment_files(folder / key / name, key)
            made = "".join(_claim(key, name, number) for number in range(claims))
            text = new.CLAIMS.format(name=name) + new.IMPORTS + made
            files[folder / key / name / "claims.py"] = text
        for file, text in files.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    return keys


def _claim(key: str, name: str, number: int) -> str:
    id = f"{key}/{name}/claim-{number}"
    text = new.CLAIM.format(id=id, name=name, table="observations", column="value")
    sentence = f"TODO: the paper's sentence about {name}, in our words."
    text = text.replace(sentence, STATEMENT.format(name=name, number=number))
    return text.replace("def todo", f"def claim_{number}")
