"""Images with captions: MSCOCO-2014, or scenes that are rendered once into files of its format."""

from functools import lru_cache, partial
from pathlib import Path

from reprise.papers.ren2023.zero_shot import coco, scenes
from reprise.papers.ren2023.zero_shot.coco import Captioned
from reprise.papers.ren2023.zero_shot.params import Params
from reprise.storage.features import code_of
from reprise.storage.store import kept, key_of

SEED = 0
"""Of the scenes: the heads' seeds share them, as they share MSCOCO."""

_read = lru_cache(maxsize=4)(coco.load)
"""MSCOCO's annotations take a minute to read; the settings of an experiment share them."""


def data_key(params: Params) -> str:
    """Of what determines the images and captions; of MSCOCO only that it is."""
    if params.data_set == "coco":
        return "coco"
    return key_of("scenes", SEED, params.scenes, params.image_size, _code())


def captioned(params: Params, root: Path, split: str) -> Captioned:
    """A split; of `scenes`, rendered into the cache of the checkout `root` where it is not yet there.

    Raises:
        RepriseError: of `coco.load`.
    """
    if params.data_set == "coco":
        return _read(Path(params.root).expanduser().absolute(), split)
    return _rendered(root, split, params.scenes[scenes.SPLITS.index(split)], params.image_size)


@lru_cache(maxsize=4)
def _rendered(root: Path, split: str, count: int, size: int) -> Captioned:
    key = key_of("scenes", SEED, split, count, size, _code())
    write = partial(scenes.write, split=split, count=count, seed=SEED, size=size)
    with kept(root, "scenes", key, f"{split}, {count} scenes", write) as entry:
        return coco.load(entry.folder, split)


def _code() -> str:
    return code_of(("reprise.papers.ren2023.zero_shot.scenes", "write"))
