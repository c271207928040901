"""Trains the heads of Figure 2 and measures them during training."""

from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from reprise.contract.experiment import Context, Progress
from reprise.diagnostics.balance import (
    alignment_score,
    condition_number,
    covariance_eigenvalues,
    intrinsic_dimension,
    stable_rank,
)
from reprise.diagnostics.zero_shot import most_frequent_accuracy, zero_shot_accuracy
from reprise.papers.ren2023.zero_shot.data import captioned
from reprise.papers.ren2023.zero_shot.encoders import require_weights
from reprise.papers.ren2023.zero_shot.experiment import (
    MODALITIES,
    SPLITS,
    Features,
    Params,
    Task,
    data_of,
    features,
    heads,
)
from reprise.papers.ren2023.zero_shot.heads import Heads, trained
from reprise.papers.ren2023.zero_shot.inputs import (
    Inputs,
    first_captions,
    image_features,
    portions,
    prompts,
    read,
    text_features,
)

PERCENT = 100


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Tables: `course`, the quantities of Figure 2 for each loss, seed and look; `baselines`, each seed's
    accuracies to compare with; `counts`, numbers of images, captions and irregularities, the same for all
    scenes. With another loss than the published ones only the `course`.

    Scenes, encoders and features are computed when first needed and kept on disk.
    """
    counts, *_ = context.results(perform, params, features(params)).values()
    results = context.results(perform, params, heads(params))
    course = pd.concat(results.values(), ignore_index=True)
    if context.objective:
        return {"course": course}
    compared = [
        baselines(_inputs(params, context.root, data_of(params, seed))).assign(seed=seed)
        for seed in params.seed_range(params.seeds)
    ]
    return {
        "course": course,
        "baselines": pd.concat(compared, ignore_index=True),
        "counts": counts,
    }


def perform(params: Params, task: Task, context: Context, progress: Progress) -> pd.DataFrame:
    """The table of a task."""
    if isinstance(task, Features):
        return _features(params, context.root, task, progress)
    inputs = _inputs(params, context.root, data_of(params, task.seed))
    return _course(params, inputs, task.seed, context.objective, progress)


_inputs = lru_cache(maxsize=1)(read)
"""The inputs, which with MSCOCO the heads of all seeds share."""


def _features(params: Params, root: Path, task: Features, progress: Progress) -> pd.DataFrame:
    """Computes and keeps a modality's features of a seed's data; returns counts of the data."""
    require_weights(params)
    seed, modality = task
    train, val = (captioned(params, root, split, seed) for split in SPLITS)
    if modality == "image":
        parts = portions(progress, 2)
        image_features(params, root, seed, train, "training images", parts[0])
        image_features(params, root, seed, val, "test images", parts[1])
    else:
        parts = portions(progress, 3)
        text_features(params, root, seed, train.captions, "training captions", parts[0])
        text_features(params, root, seed, first_captions(val), "test captions", parts[1])
        text_features(params, root, seed, prompts(params, val), "prompts", parts[2])
    rows = [
        {"split": split, "what": kind, "count": count}
        for split, data in zip(SPLITS, (train, val), strict=True)
        for kind, count in data.counts.items()
    ]
    return pd.DataFrame(rows)


def looks_of(params: Params, images: int) -> list[int]:
    """Steps at which the heads are measured: 0, then increasingly far apart up to the last."""
    last = params.epochs * (images // params.batch_size)
    return [0, *sorted({round(step) for step in np.geomspace(1, last, params.looks)})]


def _course(
    params: Params, inputs: Inputs, seed: int, objective: str | None, progress: Progress
) -> pd.DataFrame:
    looks = looks_of(params, len(inputs.images))
    rows = []
    for step, trained_heads, losses in trained(params, inputs, seed, looks, objective):
        epoch = step * params.batch_size / len(inputs.images)
        for loss, pair in trained_heads.items():
            columns = measures(pair, inputs, params.device) | {"loss_value": losses[loss]}
            rows.append({"loss": loss, "seed": seed, "step": step, "epoch": epoch, **columns})
        progress(step / looks[-1])
    return pd.DataFrame(rows)


@torch.no_grad()
def measures(heads: Heads, inputs: Inputs, device: str) -> dict[str, float]:
    """Measures embeddings of the test images and of their captions, in float64.

    For each modality: the condition number over all singular values and over as many as there are categories,
    and both readings of the stable rank. For both: the alignment score, where a pair's negative is another
    pair's caption, and the zero-shot accuracy in per cent.
    """
    image, text = (z.double() for z in heads((inputs.test_images.to(device), inputs.test_texts.to(device))))
    results = {
        "accuracy": PERCENT
        * zero_shot_accuracy(image, heads.text(inputs.prompts.to(device)).double(), inputs.test_present),
        "alignment": float(alignment_score(image, text, text.roll(1, 0))),
    }
    for modality, z in zip(MODALITIES, (image, text), strict=True):
        eigenvalues = covariance_eigenvalues(z)
        results |= {
            f"condition_{modality}": float(condition_number(z)),
            f"effective_condition_{modality}": float(condition_number(z, inputs.test_present.shape[1])),
            f"stable_rank_{modality}": float(stable_rank(eigenvalues)),
            f"intrinsic_dimension_{modality}": float(intrinsic_dimension(eigenvalues)),
        }
    return results


def baselines(inputs: Inputs) -> pd.DataFrame:
    """Zero-shot accuracies of three baselines, in per cent.

    They are: always naming the category that most training images show; the centred frozen features
    themselves, if images and texts have equally many; and the least-squares map from a training image to the
    mean of its captions. The map is trained on positive pairs alone; it cannot collapse, since the features
    of captions, its targets, stay as they are.
    """
    accuracies = {"most frequent label": most_frequent_accuracy(inputs.present, inputs.test_present)}
    images, texts = inputs.images.double(), captions_mean(inputs)
    test = inputs.test_images.double() - images.mean(0)
    prompt_features = inputs.prompts.double() - texts.mean(0)
    if images.shape[1] == texts.shape[1]:
        accuracies["frozen features"] = zero_shot_accuracy(test, prompt_features, inputs.test_present)
    mapping = torch.linalg.lstsq(images - images.mean(0), texts - texts.mean(0), driver="gelsd").solution
    accuracies["linear map"] = zero_shot_accuracy(test @ mapping, prompt_features, inputs.test_present)
    return pd.DataFrame(
        {"baseline": list(accuracies), "accuracy": [PERCENT * accuracy for accuracy in accuracies.values()]}
    )


def captions_mean(inputs: Inputs) -> Tensor:
    """Mean features of each training image's captions."""
    owner = torch.repeat_interleave(torch.arange(len(inputs.first)), inputs.captions)
    sums = torch.zeros(len(inputs.first), inputs.texts.shape[1], dtype=torch.float64)
    return sums.index_add_(0, owner, inputs.texts.double()) / inputs.captions[:, None]
