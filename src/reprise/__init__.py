"""Reprise: five papers on the training dynamics of self-supervised learning, reproduced claim by claim."""

import sys
from typing import Any

from reprise import sources  # first: it looks at the files of those that follow
from reprise.errors import RepriseError, naming_extras

sources.verify(__spec__, sys._getframe().f_code)

__all__ = ["RepriseError", "draw", "load"]


@naming_extras()
def load(id: str, tier: str = "default", settings: str = "published") -> Any:
    """Loads results as numbers, for a notebook.

    Args:
        id: in any spelling (`jing2022/fig04`, `Figure 6a`): of a table of a paper, for its DataFrame, in
            which a mean and its deviation are columns of their own; of a figure, an experiment or a claim,
            for a dict of the experiment's result tables; of a paper, for such a dict of each experiment that
            has results.
        tier: the results to read: a file of configs/, such as `default`, or `recorded/NAME`.
        settings: which rows of result tables: `published`, the experiment's own parameters; the name of
            another plausible setting or of a user's loss, in the column `setting`; or `all`.

    Raises:
        RepriseError: for an unknown or ambiguous id or an unknown setting, or if its results are missing,
            damaged or out of date.
    """
    from reprise.contract.tidy import in_numbers
    from reprise.engine import ids, registry
    from reprise.engine.configured import in_setting
    from reprise.engine.draw import Drawing
    from reprise.ledger import recorded

    found, read = ids.find(id), recorded.load(tier)
    read = recorded.source(read, ids.experiments(found))
    if found.kind == "paper":
        each = map(read.experiment, ids.experiments(found))
        return {one.id: in_setting(one.tables(), settings) for one in each if one.has_results()}
    experiment = ids.experiment(found.id)
    if found.kind == "figure or table" and registry.artifact(found.id).kind == "table":
        return in_numbers(Drawing(registry.artifact(found.id), read).content())
    return in_setting(read.experiment(experiment).tables(), settings)


@naming_extras()
def draw(id: str, tier: str = "default", *, loss: Any = None, against: str | tuple[str, ...] = ()) -> Any:
    """Draws a figure (matplotlib Figure) or table (DataFrame), for a notebook: from result tables; or with a
    loss, in seconds and in any folder, from networks that are trained now, at a reduced size.

    Args:
        id: in any spelling, of a figure or table, or of what has only one.
        tier: as in `load`; not used with a loss.
        loss: gets rows beside the published one: a function or `torch.nn.Module` of two views' embeddings,
            each of shape [batch, dim], that returns a number; or `path/mine.py:my_loss(tau=.1)`.
        against: published losses that get rows, too, such as `"vicreg"` or `("vicreg", "simclr")`.

    Raises:
        RepriseError: as in `load`; with a loss, if the figure takes none or takes longer, or if this is no
            loss or fails in training.
    """
    if loss is not None:
        from reprise.annex.trial.figures import with_loss

        return _shown_once(with_loss(id, loss, against))
    from reprise.engine import ids
    from reprise.engine.draw import Drawing
    from reprise.ledger import recorded
    from reprise.report import card

    found = ids.find(id)
    drawn = card.drawn(found)
    if len(drawn) != 1:
        raise RepriseError(
            f"{found.id} has {len(drawn)} figures and tables; draw one of them: "
            f"{', '.join(each.id for each in drawn) or 'there is none'}"
        )
    (artifact,) = drawn
    return _shown_once(
        Drawing(artifact, recorded.source(recorded.load(tier), [artifact.experiment])).content()
    )


def _shown_once(drawn: Any) -> Any:
    """Closes a figure, which a notebook would show once more at the end of the cell."""
    from matplotlib import pyplot as plt
    from matplotlib.figure import Figure

    if isinstance(drawn, Figure):
        plt.close(drawn)
    return drawn
