"""Captioned images: MSCOCO-2014, or scenes that are rendered once into files of its format."""

from functools import lru_cache
from pathlib import Path

from reprise.papers.ren2023.zero_shot import coco, scenes
from reprise.papers.ren2023.zero_shot.coco import Captioned
from reprise.papers.ren2023.zero_shot.params import Params
from reprise.storage.kept import code_of, key_of

KEPT = Path("results") / "kept"
"""Folder of scenes, encoders and features, keyed by what determines them."""
SEED = 0
"""Seed of the scenes, which all seeds of the heads share, as they would MSCOCO."""

_read = lru_cache(maxsize=4)(coco.load)
"""Cached, because MSCOCO's annotations take a minute to read and all settings of an experiment use them."""


def data_key(params: Params) -> str:
    """Key of the images and captions; for MSCOCO just its name."""
    if params.data_set == "coco":
        return "coco"
    code = code_of(("reprise.papers.ren2023.zero_shot.scenes", "write"))
    return key_of("scenes", SEED, params.scenes, params.image_size, code)


def captioned(params: Params, root: Path, split: str) -> Captioned:
    """A split of the data set; `scenes` are rendered under the checkout `root` if they are not there yet.

    Raises:
        RepriseError: from `coco.load`.
    """
    if params.data_set == "coco":
        return _read(Path(params.root).expanduser().absolute(), split)
    folder = root / KEPT / f"scenes-{data_key(params)}"
    count = params.scenes[scenes.SPLITS.index(split)]
    scenes.write(folder, split, count, seed=SEED, size=params.image_size)
    return _read(folder, split)
