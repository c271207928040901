"""Settings of Figure 2; the text names the data, the encoders, the heads and the prompts, and no number."""

from pathlib import Path
from typing import Literal, Self

from pydantic import model_validator

from reprise.errors import RepriseError
from reprise.papers.ren2023.zero_shot import coco, pretrained_files
from reprise.study.experiment import Resources
from reprise.study.losses import TakesLosses
from reprise.study.settings import lost, ours, place, stated, unstated

TABLES = ("course", "baselines", "counts")
RESOURCES = Resources(minutes=600, memory_mb=16_000)

LOSSES = ("contrastive", "non-contrastive")
MODALITIES = ("image", "text")
SPLITS = ("train", "val")


class Params(TakesLosses):
    """Per modality a frozen encoder and a head of three layers, trained on images and their captions."""

    data_set: Literal["coco", "scenes"] = stated("coco", "Section 6: MSCOCO-2014")
    encoders: Literal["pretrained", "presence"] = stated(
        "pretrained", "Section 6: ResNet101 and RoBERTa; or two that we train on other scenes' objects"
    )
    root: str = place("data/coco", "folder that holds train2014/, val2014/, annotations/", min_length=1)
    resnet101: str = place("data/resnet101-63fe2227.pth", "torchvision's file of weights", min_length=1)
    roberta: str = place("data/roberta-base", "folder with transformers' model and tokenizer", min_length=1)
    device: Literal["cpu", "cuda"] = place("cpu", "where encoders and heads run")
    prompt: str = stated("This is a {}", "Section 6", pattern=r"^[^{}]*\{\}[^{}]*$")
    image_size: int = unstated(224, "of torchvision's evaluation: the middle of an image", ge=16)
    pooling: Literal["mean", "first"] = unstated(
        "mean", "of RoBERTa's last states; its first token's was trained for no task of its own"
    )
    width: int = lost(512, "of the three layers: CLIP's output dimension", ge=2)
    normalisation: Literal["batch", "unit"] = unstated(
        "batch", "of the outputs: Section 3's; a constant is then no optimum without negatives"
    )
    inverse_temperature: float = unstated(14.3, "τ² throughout: CLIP's at its start, 1/0.07", gt=0)
    learning_rate: float = unstated(1e-3, "Adam's default", gt=0)
    batch_size: int = unstated(256, "pairs a step; all others of it are a pair's negatives", ge=2)
    epochs: int = unstated(20, "passes over the images, each time with one of their captions", ge=1)
    looks: int = ours(12, "at the heads beside the start, the more the earlier", ge=2)
    scenes: tuple[int, int, int] = ours(
        (8000, 8000, 2000), "rendered to train the encoders, to train the heads, to test them"
    )
    encoder_steps: int = ours(1000, "of the encoders that we train", ge=1)
    seeds: int = ours(10, "independent heads and orders of the pairs", ge=1)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.encoders == "presence" and self.data_set != "scenes":
            raise ValueError("encoders: presence are trained on scenes; data_set must be scenes too")
        if self.data_set == "scenes" and min(self.scenes) < self.batch_size:
            raise ValueError("scenes must be at least batch_size in each part")
        return self


def check(params: Params) -> None:
    """That packages, images, annotations and weights are there.

    Raises:
        RepriseError: naming all that is missing, where, and what to do.
    """
    splits = SPLITS if params.data_set == "coco" else ()
    lacks = coco.missing(Path(params.root).expanduser().absolute(), splits)
    if params.encoders == "pretrained":
        lacks += pretrained_files.missing_resnet101(Path(params.resnet101).expanduser().absolute())
        lacks += pretrained_files.missing_roberta(Path(params.roberta).expanduser().absolute())
    if lacks:
        raise RepriseError(
            "ren2023/zero_shot lacks "
            + "; ".join(lacks)
            + ". Put them there, name other places, or take data_set: scenes with encoders: presence"
        )


def alternatives(params: Params) -> dict[str, Params]:
    """Other plausible values of what the paper leaves unstated, with three seeds."""
    common = {"seeds": min(params.seeds, 3)}
    grid: dict[str, dict[str, object]] = {
        "learning rate / 3": {"learning_rate": params.learning_rate / 3},
        "learning rate * 3": {"learning_rate": params.learning_rate * 3},
        "half the width": {"width": params.width // 2},
        "half the batch": {"batch_size": params.batch_size // 2},
        "outputs at unit length": {"normalisation": "unit"},
        "half the inverse temperature": {"inverse_temperature": params.inverse_temperature / 2},
    }
    return {name: params.model_copy(update={**common, **changed}) for name, changed in grid.items()}
