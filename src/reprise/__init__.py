"""Reprise: five papers on the training dynamics of self-supervised learning, reproduced claim by claim."""

from typing import Any

from reprise.errors import RepriseError

__all__ = ["RepriseError", "draw", "load"]


def load(id: str, tier: str = "default") -> Any:
    """Loads result tables, for a notebook.

    Args:
        id: an experiment (`jing2022/layer_alignment`) or a figure (`jing2022/fig04`), for a dict of result
            tables; or a table of a paper (`tian2023/table1`), for its DataFrame.
        tier: the results to read: `smoke`, `default` or `paper`.

    Raises:
        RepriseError: for an unknown id, or if its results are missing, damaged or out of date.
    """
    from reprise.execute import pipeline, registry, tiers

    settings = tiers.load_tier(tier)
    if id in registry.experiments():
        return pipeline.load(id, settings)[0]
    artifact = registry.artifact(id)
    return (
        pipeline.make(id, settings)
        if artifact.kind == "table"
        else pipeline.load(artifact.experiment, settings)[0]
    )


def draw(id: str, tier: str = "default") -> Any:
    """Draws a figure (matplotlib Figure) or table (DataFrame) from result tables, for a notebook.

    Raises:
        RepriseError: as in `load`.
    """
    from reprise.execute import pipeline, tiers

    return pipeline.make(id, tiers.load_tier(tier))
