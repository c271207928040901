"""Reprise: five papers on the training dynamics of self-supervised learning, reproduced claim by claim."""

import sys
from typing import Any

from reprise import sources  # first: it looks at the files of those that follow
from reprise.errors import RepriseError, unknown

sources.verify(__spec__, sys._getframe().f_code)

__all__ = ["RepriseError", "draw", "load"]


def load(id: str, tier: str = "default", settings: str = "published") -> Any:
    """Loads results as numbers, for a notebook.

    Args:
        id: an experiment (`jing2022/layer_alignment`) or a figure (`jing2022/fig04`), for a dict of result
            tables; or a table of a paper (`tian2023/table1`), for its DataFrame, in which a mean and its
            deviation are columns of their own.
        tier: the results to read: a file of configs/, such as `default`, or `recorded/NAME`.
        settings: which rows of result tables: `published`, the experiment's own parameters; the name of
            another plausible setting or of a user's loss, in the column `setting`; or `all`.

    Raises:
        RepriseError: for an unknown id or setting, or if its results are missing, damaged or out of date.
    """
    from reprise.contract.tidy import in_numbers
    from reprise.engine import registry
    from reprise.engine.configured import in_setting
    from reprise.engine.draw import Drawing
    from reprise.ledger import recorded

    read, experiments, artifacts = recorded.load(tier), registry.experiments(), registry.artifacts()
    known = [*experiments, *artifacts]
    if id not in known:
        key = id.split("/")[0]
        where = f" {key}" if key in registry.papers() else ""
        raise unknown("experiment, figure or table", id, known, f"list them with: reprise list{where}")
    experiment = id if id in experiments else artifacts[id].experiment
    read = recorded.source(read, [experiment])
    if id in artifacts and artifacts[id].kind == "table":
        return in_numbers(Drawing(artifacts[id], read).content())
    return in_setting(read.experiment(experiment).tables(), settings)


def draw(id: str, tier: str = "default") -> Any:
    """Draws a figure (matplotlib Figure) or table (DataFrame) from result tables, for a notebook.

    Raises:
        RepriseError: as in `load`.
    """
    from reprise.engine import registry
    from reprise.engine.draw import Drawing
    from reprise.ledger import recorded

    artifact = registry.artifact(id)
    return Drawing(artifact, recorded.source(recorded.load(tier), [artifact.experiment])).content()
