"""As many papers and claims as the package may hold one day: papers in another repository, and a report."""

import json
from pathlib import Path

from reprise.annex import new
from reprise.report.schema import Report

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


def grown_report(report: Report, papers: int, claims: int) -> Report:
    """A report with copies of its papers and of their claims under other names, that many or more in all."""
    whole = json.loads(report.model_dump_json())
    copies = -(-papers // sum(bool(paper["bibtex"]) for paper in whole["papers"]))
    times = -(-claims // (copies * sum(len(paper["claims"]) for paper in whole["papers"])))
    made = []
    for copy in range(copies):
        for paper in whole["papers"]:
            ids = [claim["id"] for claim in paper["claims"]]
            more = {id: [id, *(f"{id}-{number}" for number in range(1, times))] for id in ids}
            grown = {
                **paper,
                "claims": [{**claim, "id": id} for claim in paper["claims"] for id in more[claim["id"]]],
                "sections": [
                    {**each, "claims": [other for id in each["claims"] for other in more[id]]}
                    for each in paper["sections"]
                ],
            }
            if copy:
                grown = json.loads(json.dumps(grown).replace(paper["key"], f"{paper['key']}n{copy}"))
                for figure, drawn in zip(grown["figures"], paper["figures"], strict=True):
                    figure["files"] = drawn["files"]
            made.append(grown)
    return Report.model_validate_json(json.dumps({**whole, "papers": made}))
