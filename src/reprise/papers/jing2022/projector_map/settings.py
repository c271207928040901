"""Settings of the map."""

from typing import Annotated

from pydantic import Field

from reprise.contract.settings import ours
from reprise.papers.jing2022.image_settings import Shortcut, Training
from reprise.training.optimisers import LARS, SGD, AdamW, OptimiserSpec

Count = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(gt=0, le=1)]


class Params(Training):
    """The base point is the setting of `projector_spectra`, and its networks are the same. The default grids
    give the full map; the base point's own value is always included."""

    temperatures: tuple[Positive, ...] = ours((0.05, 0.1, 0.2, 0.5, 1.0), "of the loss")
    crops: tuple[Share, ...] = ours((0.08, 0.2, 0.35, 0.5, 0.8), "smallest share of an image in a crop")
    colours: tuple[Annotated[float, Field(ge=0)], ...] = ours(
        (0.0, 0.5, 1.0), "strength of jitter and hue, as a multiple"
    )
    budgets: tuple[Positive, ...] = ours((0.25, 0.5, 1.0, 2.0, 4.0), "epochs, as a multiple")
    depths: tuple[tuple[Count, Count, Count, Count], ...] = ours(
        ((1, 1, 1, 1), (1, 1, 1, 2), (2, 2, 2, 2), (3, 4, 6, 3)), "blocks of the encoder's stages"
    )
    widths: tuple[Positive, ...] = ours((0.5, 1.0, 2.0), "of the encoder, as a multiple")
    last_blocks: tuple[Shortcut, ...] = ours(
        ("identity", "projection", "none"), "shortcut around the last one"
    )
    optimisers: tuple[OptimiserSpec, ...] = ours(
        (
            LARS(learning_rate=4.8),
            SGD(learning_rate=0.5, weight_decay=1e-6),
            AdamW(learning_rate=0.005, weight_decay=1e-6),
        ),
        "each with a learning rate of its own",
    )
    head_norms: tuple[bool, ...] = ours((True, False), "BatchNorm at the end of the projector")
    head_depths: tuple[Count, ...] = ours((1, 2, 3), "layers of the projector; 1: linear")
    head_widths: tuple[Positive, ...] = ours((0.25, 1.0, 4.0), "hidden units of the projector, as a multiple")
    d0s: tuple[Share, ...] = ours((0.03, 0.09, 0.18, 0.35, 0.7), "DirectCLR's d0 as a share of r")
    base_seeds: int = ours(3, "of the nets at the base point", ge=1)
