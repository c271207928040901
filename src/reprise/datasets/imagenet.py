"""ImageNet (ILSVRC 2012), in ROOT/train/ and ROOT/val/; its images stay on disk."""

import re
from pathlib import Path

from reprise.datasets.data_set import DataSet, Labelled
from reprise.datasets.recipes import Normalisation
from reprise.errors import RepriseError

COUNTS = {"train": 1_281_167, "val": 50_000}
"""Number of images in each folder."""


class ImageNet(DataSet):
    """ImageNet, whose split `test` is the validation set, which has labels."""

    def check(self, root: Path) -> None:
        missing = [f"{part}/" for part in COUNTS if not (root / part).is_dir()]
        remedy = "put ILSVRC 2012's images there, in a folder for each class: train/n01440764/*.JPEG"
        self.require(root, missing, remedy, stand_in="shapes")
        classes = {}
        for part in COUNTS:
            names = {entry.name for entry in (root / part).iterdir() if entry.is_dir()}
            strangers = sorted(name for name in names if not re.fullmatch(r"n\d{8}", name))
            if strangers or len(names) != self.classes:
                example = f", '{strangers[0]}' among them" if strangers else ""
                raise RepriseError(
                    f"data set 'imagenet': {root / part} holds {len(names)} folders{example}; expected one "
                    f"for each of the {self.classes} classes, named like n01440764, with the class's images"
                )
            classes[part] = names
        if unpaired := sorted(classes["train"] ^ classes["val"]):
            raise RepriseError(
                f"data set 'imagenet': {root}: class '{unpaired[0]}' is in only one of train/ and val/, "
                f"which should have the same classes; add the missing folders"
            )

    def load(self, root: Path, split: str) -> Labelled:
        from reprise.datasets.folders import Folder

        part = "val" if split == "test" else "train"
        try:
            folder = Folder(root / part)
        except FileNotFoundError as error:  # a class without images
            raise RepriseError(f"data set 'imagenet': {root / part}: {error}") from None
        return self.as_published(folder, folder.labels, COUNTS[part], folder.classes)


IMAGENET = ImageNet(
    name="imagenet",
    normalisation=Normalisation((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    counts={"train": COUNTS["train"], "test": COUNTS["val"]},
    side=224,
    in_memory=False,
    classes=1000,
)
