"""A sheet of images beside their views, for checking an augmentation before hours of training."""

from pathlib import Path

import torch
from jaxtyping import Int
from torch import Tensor

from reprise.datasets.augment import Views, unit_floats
from reprise.datasets.folders import Images
from reprise.datasets.recipes import Normalisation, Recipe


def contact_sheet(
    file: str | Path,
    images: Images,
    recipe: Recipe,
    index: Int[Tensor, " row"],
    *,
    pairs: int = 5,
    seed: int = 0,
) -> None:
    """Writes a PNG; each row shows an image and `pairs` pairs of its views, before normalisation.

    Example:
        `contact_sheet("shapes.png", load("shapes", "")[0], RECIPES["shapes"], torch.arange(10))`.
    """
    from torchvision.utils import make_grid, save_image  # takes a second to import

    views, generator = Views(recipe, Normalisation((0.0,), (1.0,))), torch.Generator().manual_seed(seed)
    columns = [unit_floats(images[index])[None]]
    for _ in range(pairs):
        columns.append(views.of(images, index, views.draw(len(index), generator)))
    sheet = torch.cat(columns).transpose(0, 1).flatten(0, 1)
    magnified = sheet.repeat_interleave(max(1, 64 // sheet.shape[-1]), -1)
    magnified = magnified.repeat_interleave(magnified.shape[-1] // sheet.shape[-1], -2)
    save_image(make_grid(magnified, nrow=1 + 2 * pairs, padding=2, pad_value=1), file)
