"""A supervised network of the same size, which shows what its classes allow a representation to reach."""

import math
from collections.abc import Callable
from pathlib import Path

import torch

from reprise.contract.settings import replaced
from reprise.diagnostics.probes import accuracy
from reprise.errors import RepriseError
from reprise.networks.projectors import Linear
from reprise.training.image_settings import Source
from reprise.training.image_tasks import features, observed
from reprise.training.objective import Supervised
from reprise.training.optimisers import SGD
from reprise.training.schedules import WarmupCosine
from reprise.training.spec import Spec


def supervised(spec: Spec, classes: int) -> Spec:
    """The spec of a classifier with the encoder, augmentation, batch, steps and seed of a network."""
    return replaced(
        spec,
        {
            "objective": Supervised(),
            "projector": Linear(out=classes),
            "optimiser": SGD(learning_rate=0.05, momentum=0.9, weight_decay=1e-4),
            "schedule": WarmupCosine(warmup=0.05),
            "trace_every": 0,
            "probe_every": 0,
        },
    )


def supervised_accuracy(
    spec: Spec,
    source: Source,
    root: Path,
    *,
    device: str = "cpu",
    progress: Callable[[float], None] = lambda share: None,
) -> float:
    """Top-1 accuracy, as a share, of `supervised(spec)`'s own classifier on the test images, without
    augmentation; NaN if its training diverges. The network comes from the cache, or is trained now.

    Args:
        root: the checkout.

    Raises:
        RepriseError: if an image has no class.
    """
    data = source.load()
    if min(data.labels.min(), data.test_labels.min()) < 0:
        raise RepriseError(f"{source.name}, {source.split}: images without a class cannot train a classifier")
    classifier = supervised(spec, data.classes)
    network = observed(classifier, source, root, device=device, progress=progress)
    if network.diverged is not None:
        return math.nan
    represented = features(network.student, classifier, data.test_images, device)
    with torch.no_grad():
        scores = network.student.projector(represented)
    return accuracy(scores, data.test_labels, 1)
