"""Images with captions: MSCOCO-2014, or scenes that are rendered once into files of its format."""

from functools import lru_cache
from pathlib import Path

from reprise.papers.ren2023.zero_shot import coco, scenes
from reprise.papers.ren2023.zero_shot.coco import Captioned
from reprise.papers.ren2023.zero_shot.params import Params
from reprise.storage.kept import code_of, key_of

KEPT = Path("results") / "kept"
"""Scenes, encoders and features, by what determines them."""
SEED = 0
"""Of the scenes: the heads' seeds share them, as they share MSCOCO."""

_read = lru_cache(maxsize=4)(coco.load)
"""MSCOCO's annotations take a minute to read; the settings of an experiment share them."""


def data_key(params: Params) -> str:
    """Of what determines the images and captions; of MSCOCO only that it is."""
    if params.data_set == "coco":
        return "coco"
    code = code_of(("reprise.papers.ren2023.zero_shot.scenes", "write"))
    return key_of("scenes", SEED, params.scenes, params.image_size, code)


def captioned(params: Params, root: Path, split: str) -> Captioned:
    """A split; of `scenes`, rendered under the checkout `root` where it is not yet there.

    Raises:
        RepriseError: of `coco.load`.
    """
    if params.data_set == "coco":
        return _read(Path(params.root).expanduser().absolute(), split)
    folder = root / KEPT / f"scenes-{data_key(params)}"
    count = params.scenes[scenes.SPLITS.index(split)]
    scenes.write(folder, split, count, seed=SEED, size=params.image_size)
    return _read(folder, split)
