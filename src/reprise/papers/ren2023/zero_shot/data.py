"""Captioned images: MSCOCO-2014, or scenes that are rendered once into files of its format."""

from functools import lru_cache, partial
from pathlib import Path

from reprise.papers.ren2023.zero_shot import coco, scenes
from reprise.papers.ren2023.zero_shot.coco import Captioned
from reprise.papers.ren2023.zero_shot.experiment import Params
from reprise.papers.ren2023.zero_shot.features import code_of
from reprise.storage.records import key_of
from reprise.storage.store import cached

_read = lru_cache(maxsize=4)(coco.load)
"""Cached, because MSCOCO's annotations take a minute to read and all settings of an experiment use them."""


def data_key(params: Params, seed: int) -> str:
    """Key of a seed's images and captions; for MSCOCO just its name."""
    if params.data_set == "coco":
        return "coco"
    return key_of("scenes", seed, params.scenes, params.image_size, _code())


def captioned(params: Params, root: Path, split: str, seed: int) -> Captioned:
    """A split of a seed's data set. MSCOCO is the same for every seed; `scenes` are rendered into the cache
    of the checkout `root` if they are not there yet.

    Raises:
        RepriseError: from `coco.load`.
    """
    if params.data_set == "coco":
        return _read(Path(params.root).expanduser().absolute(), split)
    return _rendered(root, split, params.scenes[scenes.SPLITS.index(split)], params.image_size, seed)


@lru_cache(maxsize=32)
def _rendered(root: Path, split: str, count: int, size: int, seed: int) -> Captioned:
    """Cached, because every setting of an experiment verifies and reads them."""
    key = key_of("scenes", seed, split, count, size, _code())
    write = partial(scenes.write, split=split, count=count, seed=seed, size=size)
    with cached(root, "scenes", key, f"{split}, {count} scenes of seed {seed}", write) as entry:
        return coco.load(entry.folder, split)


def _code() -> str:
    return code_of(("reprise.papers.ren2023.zero_shot.scenes", "write"))
