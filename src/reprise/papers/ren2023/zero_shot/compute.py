"""Trains the heads of Figure 2, and looks at them on the way."""

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from reprise.diagnostics.balance import (
    alignment_score,
    condition_number,
    covariance_eigenvalues,
    intrinsic_dimension,
    stable_rank,
)
from reprise.diagnostics.zero_shot import most_frequent_accuracy, zero_shot_accuracy
from reprise.papers.ren2023.zero_shot.data import captioned
from reprise.papers.ren2023.zero_shot.heads import Heads, trained
from reprise.papers.ren2023.zero_shot.inputs import (
    Inputs,
    first_captions,
    image_features,
    prompts,
    read,
    text_features,
)
from reprise.papers.ren2023.zero_shot.params import MODALITIES, SPLITS, Params
from reprise.study.experiment import Context, Task

Told = Callable[[float], None]
PERCENT = 100
FEATURES_WORK = 10
"""What the features of a modality take, in heads of a seed."""


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """`course`: what Figure 2 shows of the heads of each loss and seed at each look. `baselines`: what they
    are held against. `counts`: images, captions, and what was odd about them. Another loss than the paper's
    two has a course alone.

    Scenes, encoders and features are made by whoever needs them first, and kept on the disk.
    """
    counts, _, *courses = context.results(tasks(params, context))
    course = pd.concat(courses, ignore_index=True)
    if context.objective:
        return {"course": course}
    return {"course": course, "baselines": baselines(read(params, context.root)), "counts": counts}


def tasks(params: Params, context: Context) -> list[Task]:
    """The features of images and of texts, which count what they are of, and the heads of each seed."""
    features = [
        Task(f"{modality} features", partial(_made, params, context.root, modality), work=FEATURES_WORK)
        for modality in MODALITIES
    ]
    inputs = cache(partial(read, params, context.root))
    heads = [
        Task(f"seed {seed}", partial(_course, params, inputs, seed, context.objective))
        for seed in range(params.seeds)
    ]
    return [*features, *heads]


def _made(params: Params, root: Path, modality: str, told: Told) -> pd.DataFrame:
    """Features of a modality, on the disk; the table counts what they are of."""
    train, val = (captioned(params, root, split) for split in SPLITS)
    if modality == "image":
        image_features(params, root, train, "training images", told)
        image_features(params, root, val, "test images", told)
    else:
        text_features(params, root, train.captions, "training captions", told)
        text_features(params, root, first_captions(val), "test captions", told)
        text_features(params, root, prompts(params, val), "prompts", told)
    rows = [
        {"split": split, "what": what, "count": count}
        for split, data in zip(SPLITS, (train, val), strict=True)
        for what, count in data.counts.items()
    ]
    return pd.DataFrame(rows)


def looks_of(params: Params, images: int) -> list[int]:
    """Steps at which the heads are looked at: 0, then ever farther apart, to the last."""
    last = params.epochs * (images // params.batch_size)
    return [0, *sorted({round(step) for step in np.geomspace(1, last, params.looks)})]


def _course(
    params: Params, read_inputs: Callable[[], Inputs], seed: int, objective: str | None, told: Told
) -> pd.DataFrame:
    inputs = read_inputs()
    looks = looks_of(params, len(inputs.images))
    rows = []
    for step, heads, losses in trained(params, inputs, seed, looks, objective):
        epoch = step * params.batch_size / len(inputs.images)
        for loss, each in heads.items():
            found = measures(each, inputs, params.device) | {"loss_value": losses[loss]}
            rows.append({"loss": loss, "seed": seed, "step": step, "epoch": epoch, **found})
        told(step / looks[-1])
    return pd.DataFrame(rows)


@torch.no_grad()
def measures(heads: Heads, inputs: Inputs, device: str) -> dict[str, float]:
    """Of the embeddings of the test images and of their captions, in float64: condition number, of all and of
    as many singular values as there are categories, and both readings of the stable rank by modality; their
    alignment score, where a pair's negative is another pair's caption; zero-shot accuracy in per cent."""
    image, text = (z.double() for z in heads((inputs.test_images.to(device), inputs.test_texts.to(device))))
    found = {
        "accuracy": PERCENT
        * zero_shot_accuracy(image, heads.text(inputs.prompts.to(device)).double(), inputs.test_present),
        "alignment": float(alignment_score(image, text, text.roll(1, 0))),
    }
    for modality, z in zip(MODALITIES, (image, text), strict=True):
        eigenvalues = covariance_eigenvalues(z)
        found |= {
            f"condition_{modality}": float(condition_number(z)),
            f"effective_condition_{modality}": float(condition_number(z, inputs.test_present.shape[1])),
            f"stable_rank_{modality}": float(stable_rank(eigenvalues)),
            f"intrinsic_dimension_{modality}": float(intrinsic_dimension(eigenvalues)),
        }
    return found


def baselines(inputs: Inputs) -> pd.DataFrame:
    """Zero-shot accuracies in per cent: of always naming the category that most training images show; of the
    frozen features themselves, centred, if they are as many of images as of texts; and of their least-squares
    map from a training image to the mean of its captions."""
    found = {"most frequent label": most_frequent_accuracy(inputs.present, inputs.test_present)}
    images, texts = inputs.images.double(), captions_mean(inputs)
    test = inputs.test_images.double() - images.mean(0)
    named = inputs.prompts.double() - texts.mean(0)
    if images.shape[1] == texts.shape[1]:
        found["frozen features"] = zero_shot_accuracy(test, named, inputs.test_present)
    mapping = torch.linalg.lstsq(images - images.mean(0), texts - texts.mean(0), driver="gelsd").solution
    found["linear map"] = zero_shot_accuracy(test @ mapping, named, inputs.test_present)
    return pd.DataFrame(
        {"baseline": list(found), "accuracy": [PERCENT * accuracy for accuracy in found.values()]}
    )


def captions_mean(inputs: Inputs) -> Tensor:
    """Mean features of each training image's captions."""
    owner = torch.repeat_interleave(torch.arange(len(inputs.first)), inputs.captions)
    summed = torch.zeros(len(inputs.first), inputs.texts.shape[1], dtype=torch.float64)
    return summed.index_add_(0, owner, inputs.texts.double()) / inputs.captions[:, None]
