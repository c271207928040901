"""Reprise: five papers on the training dynamics of self-supervised learning, run again, claim by claim."""

from typing import Any

from reprise.errors import RepriseError

__all__ = ["RepriseError", "draw", "load"]


def load(id: str, tier: str = "default") -> Any:
    """Result tables, for a notebook.

    Args:
        id: an experiment (`jing2022/layer_alignment`) or a figure (`jing2022/fig04`): a dict of the
        DataFrames it is made
            of; a table (`tian2023/table1`): its DataFrame.
        tier: which results to read: `smoke`, `default` or `paper`.

    Raises:
        RepriseError: when there is no such id, or its results are missing, damaged or of other parameters.
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
    """A figure (matplotlib Figure) or table (DataFrame) drawn from result tables, for a notebook.

    Raises:
        RepriseError: as `load`.
    """
    from reprise.execute import pipeline, tiers

    return pipeline.make(id, tiers.load_tier(tier))
