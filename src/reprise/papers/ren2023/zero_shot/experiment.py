"""Settings of Figure 2; the text names the data, encoders, heads and prompts, but gives no numbers."""

from pathlib import Path
from typing import Literal, NamedTuple, Self

from pydantic import model_validator

from reprise.contract.experiment import Experiment, Plan, Resources
from reprise.contract.losses import TakesLosses
from reprise.contract.settings import Seeded, location, lost, ours, stated, unstated
from reprise.errors import RepriseError
from reprise.papers.ren2023.zero_shot import coco, pretrained_files

LOSSES = ("contrastive", "non-contrastive")
MODALITIES = ("image", "text")
SPLITS = ("train", "val")
COCO_IMAGES = 123_287
"""Images of MSCOCO-2014 in both splits."""
IN_SPLIT = {"train": 82_783, "val": 40_504}
"""Images of MSCOCO-2014 in each split."""
COCO_CAPTIONS = 414_113
"""Captions of MSCOCO-2014 in the split for training."""
SCENE_CAPTIONS = 5
"""Captions per scene."""
FEATURES = {"pretrained": {"image": 2048, "text": 768}, "presence": {"image": 128, "text": 128}}
"""Features of each encoder, by modality; RoBERTa's are those of roberta-base."""
FEATURE_BYTES = 4


class Params(Seeded, TakesLosses):
    """For each modality, a frozen encoder and a head of three layers, trained on images and their
    captions."""

    data_set: Literal["coco", "scenes"] = stated("coco", "Section 6: MSCOCO-2014")
    encoders: Literal["pretrained", "presence"] = stated(
        "pretrained",
        "Section 6: ResNet101 and RoBERTa; `presence` trains two on the shapes and colours of other scenes",
    )
    root: str = location("data/coco", "folder that holds train2014/, val2014/, annotations/", min_length=1)
    resnet101: str = location("data/resnet101-63fe2227.pth", "torchvision's weight file", min_length=1)
    roberta: str = location("data/roberta-base", "folder of transformers' model and tokenizer", min_length=1)
    device: Literal["cpu", "cuda"] = location("cpu", "where encoders and heads run")
    prompt: str = stated("This is a {}", "Section 6", pattern=r"^[^{}]*\{\}[^{}]*$")
    image_size: int = unstated(
        224, "that of torchvision's evaluation, which takes the middle of an image", ge=16
    )
    pooling: Literal["mean", "first"] = unstated(
        "mean", "of RoBERTa's last states; no task of its own has trained the first token's state"
    )
    width: int = lost(512, "width of the three layers: CLIP's output dimension", ge=2)
    normalisation: Literal["batch", "unit"] = unstated(
        "batch", "of the outputs, as in Section 3; prevents a constant optimum without negatives"
    )
    inverse_temperature: float = unstated(14.3, "τ² throughout: CLIP's initial value, 1/0.07", gt=0)
    learning_rate: float = unstated(1e-3, "Adam's default", gt=0)
    batch_size: int = unstated(256, "pairs per step; all others of a batch are a pair's negatives", ge=2)
    epochs: int = unstated(20, "passes over the images, each with one random caption per image", ge=1)
    looks: int = ours(12, "measurements of the heads besides the start, denser at first", ge=2)
    scenes: tuple[int, int, int] = ours(
        (8000, 8000, 2000), "numbers of scenes for training the encoders, training the heads, and testing"
    )
    encoder_steps: int = ours(1000, "training steps of our encoders", ge=1)
    encoder_learning_rate: float = ours(3e-3, "Adam's, of our encoders", gt=0)
    encoder_batch: int = ours(128, "items per training step of our encoders", ge=1)
    encoder_precision: Literal["float32", "bfloat16"] = ours(
        "float32", "of the products when our encoder of images trains; bfloat16 takes two thirds of the time"
    )
    seeds: int = ours(
        6,
        "independent heads; with scenes, each has its own scenes and encoders, as many as time allows",
        ge=1,
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.encoders == "presence" and self.data_set != "scenes":
            raise ValueError("encoders: presence are trained on scenes, so data_set must be scenes too")
        if self.data_set == "scenes" and min(self.scenes) < self.batch_size:
            raise ValueError("scenes must be at least batch_size in each split")
        return self


def check(params: Params) -> None:
    """Checks that packages, images, annotations and weights are present.

    Raises:
        RepriseError: if not; it names everything that is missing, where, and what to do.
    """
    splits = SPLITS if params.data_set == "coco" else ()
    problems = coco.missing(Path(params.root).expanduser().absolute(), splits)
    if params.encoders == "pretrained":
        problems += pretrained_files.missing_resnet101(Path(params.resnet101).expanduser().absolute())
        problems += pretrained_files.missing_roberta(Path(params.roberta).expanduser().absolute())
    if problems:
        raise RepriseError(
            "ren2023/zero_shot lacks "
            + "; ".join(problems)
            + ". Put files there (docs/cluster.md says where they come from), name other places, or take "
            "data_set: scenes with encoders: presence"
        )


def verify(params: Params) -> None:
    """Checks that no image of MSCOCO is missing, and that ResNet101's file is what its name says.

    Raises:
        RepriseError: naming the folder that lacks some, or the file.
    """
    for split in SPLITS if params.data_set == "coco" else ():
        folder = Path(params.root).expanduser().absolute() / f"{split}2014"
        if (images := sum(1 for _ in folder.glob("*.jpg"))) != IN_SPLIT[split]:
            raise RepriseError(
                f"data set 'coco': {folder}: {images:,} images, expected {IN_SPLIT[split]:,}; unpack "
                f"{split}2014.zip again"
            )
    if params.encoders == "pretrained":
        pretrained_files.require_published(Path(params.resnet101).expanduser().absolute())


def reads(params: Params) -> list[Path]:
    """The annotations, the images' folders, and the weights' files."""
    root, roberta = Path(params.root).expanduser(), Path(params.roberta).expanduser()
    files = []
    if params.data_set == "coco":
        names = [f"annotations/{kind}_{split}2014.json" for kind in coco.KINDS for split in SPLITS]
        files += [root / name for name in (*names, *(f"{split}2014" for split in SPLITS))]
    if params.encoders == "pretrained":
        files += [Path(params.resnet101).expanduser(), *pretrained_files.roberta_files(roberta)]
    return files


class Features(NamedTuple):
    """The task of a modality's features of a seed's data."""

    seed: int
    modality: str

    def __str__(self) -> str:
        return f"{self.modality} features {self.seed}"


class Heads(NamedTuple):
    """The task of a seed's heads."""

    seed: int

    def __str__(self) -> str:
        return f"seed {self.seed}"


Task = Features | Heads


def data_of(params: Params, seed: int) -> int:
    """The seed of the data and encoders that a seed's heads are trained on: its own scenes and the encoders
    that were trained for them, or the one MSCOCO."""
    return seed if params.data_set == "scenes" else 0


def features(params: Params) -> list[Features]:
    """A task for each modality's features of each data set, which also counts the data."""
    data = sorted({data_of(params, seed) for seed in params.seed_range(params.seeds)})
    return [Features(seed, modality) for seed in data for modality in MODALITIES]


def heads(params: Params) -> list[Heads]:
    """A task for each seed's heads."""
    return [Heads(seed) for seed in params.seed_range(params.seeds)]


def tasks(params: Params, objective: str | None = None) -> list[Task]:
    """All tasks."""
    return [*features(params), *heads(params)]


def needs(params: Params, task: Task, objective: str | None = None) -> Resources:
    """Resources of a task; its time is a rough estimate. The settings that have a seed use the same features
    of its data: each counts for its part of their disk, and another loss for none."""
    gpus = int(params.device == "cuda")
    images = COCO_IMAGES if params.data_set == "coco" else sum(params.scenes[1:])
    if isinstance(task, Heads):
        return Resources(
            minutes=(1e-6 if gpus else 5e-10 * (params.width + 1000)) * params.epochs * images,
            memory_mb=1500 + images // 20,
            gpus=gpus,
        )
    users = 1 + sum(task in features(other) for other in alternatives(params).values())
    disk_mb = 0.0 if objective else features_mb(params)[task.modality] / users
    if params.encoders == "pretrained":  # on a GPU decoding takes longest, on a core the encoder
        minutes = images / (1500 if gpus else 3) / 60
        return Resources(minutes, memory_mb=16_000, disk_mb=disk_mb, gpus=gpus)
    rendering = 9e-9 * sum(params.scenes) * params.image_size**2  # and encoding
    training = (5e-7 * params.image_size**2 if task.modality == "image" else 1.4e-4) * params.encoder_steps
    minutes = training + (rendering if task.modality == "image" else 0.04)
    return Resources(minutes / users, disk_mb=disk_mb, gpus=gpus)


def features_mb(params: Params) -> dict[str, float]:
    """The size of each modality's features of one data set: of all images, and of all captions for training
    and one of each image for testing. The prompts' are not counted."""
    _, train, test = params.scenes
    items = {"image": train + test, "text": train * SCENE_CAPTIONS + test}
    if params.data_set == "coco":
        items = {"image": COCO_IMAGES, "text": COCO_CAPTIONS + IN_SPLIT["val"]}
    dims = FEATURES[params.encoders]
    return {modality: items[modality] * dims[modality] * FEATURE_BYTES / 1e6 for modality in MODALITIES}


def alternatives(params: Params) -> dict[str, Params]:
    """Other plausible values of the unstated settings, with three seeds."""
    common = {"seeds": min(params.seeds, 3)}
    grid: dict[str, dict[str, object]] = {
        "learning rate / 3": {"learning_rate": params.learning_rate / 3},
        "learning rate * 3, half the epochs": {
            "learning_rate": params.learning_rate * 3,
            "epochs": max(params.epochs // 2, 1),
        },
        "a quarter of the epochs": {"epochs": max(params.epochs // 4, 1)},
        "three times the epochs": {"epochs": 3 * params.epochs},
        "half the width": {"width": params.width // 2},
        "half the batch": {"batch_size": params.batch_size // 2},
        "outputs at unit length": {"normalisation": "unit"},
        "half the inverse temperature": {"inverse_temperature": params.inverse_temperature / 2},
    }
    return {name: params.model_copy(update={**common, **changes}) for name, changes in grid.items()}


EXPERIMENT = Experiment(
    params=Params,
    tables=("course", "baselines", "counts"),
    plan=Plan(tasks, needs),
    alternatives=alternatives,
    excused={
        "image_size": "another size asks for the features of all images anew, and a stand-in's is its own",
        "pooling": "only RoBERTa's states are pooled, and its features take hours",
        "together": "every setting trains two nets on all features; the rate and the epochs go together, and "
        "the epochs alone",
    },
    gaps=("course.loss_value",),  # none at step 0
    reads=reads,
    check=check,
    verify=verify,
)
