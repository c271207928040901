"""Tables in which every claim of this room holds."""

from itertools import product

import numpy as np
import pandas as pd

from reprise.papers.ren2023.zero_shot.experiment import LOSSES, MODALITIES, Params

STEPS = (0, 3, 6, 9)
COURSES: dict[str, dict[str, tuple[float, ...]]] = {
    "accuracy": {"contrastive": (2, 50, 60, 66), "non-contrastive": (2, 40, 20, 28)},
    "alignment": {"contrastive": (0.5, 0.9, 0.97, 0.98), "non-contrastive": (0.5, 0.9, 0.96, 0.97)},
    "effective_condition": {"contrastive": (10, 30, 20, 12), "non-contrastive": (10, 90, 300, 600)},
    "stable_rank": {"contrastive": (3, 4, 6, 7), "non-contrastive": (3, 2, 1.4, 1.1)},
}
BASELINES = {"most frequent label": 14, "frozen features": 3, "linear map": 50}


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """Heads that align with both losses, and collapse without negatives."""
    rng, seeds = np.random.default_rng(0), params.seed_range(params.seeds)
    course = pd.DataFrame(product(LOSSES, seeds, STEPS), columns=["loss", "seed", "step"])
    for name, courses in COURSES.items():
        values = [
            courses[loss][STEPS.index(step)]
            for loss, step in zip(course["loss"], course["step"], strict=True)
        ]
        by_modality = "accuracy" != name != "alignment"
        for each in [f"{name}_{modality}" for modality in MODALITIES] if by_modality else [name]:
            course[each] = np.array(values) * (1 - 0.01 * rng.random(len(course)))
    baselines = pd.DataFrame(product(BASELINES, seeds), columns=["baseline", "seed"])
    baselines["accuracy"] = baselines["baseline"].map(BASELINES) + rng.random(len(baselines))
    return {"course": course, "baselines": baselines}
