"""Costs of training and probing a network, computed from the spec. Imports no torch, because a run's plan
calls this."""

from reprise.contract.experiment import Resources
from reprise.datasets.catalogue import DATA_SETS
from reprise.training.image_settings import Probe, Source
from reprise.training.spec import Spec

CPU_FLOPS = 60e9
"""Operations a second of one core with AVX-512 on small networks, half as many without; see
docs/performance.md."""
CPU_PIXELS = 25e6
"""Pixels that one core augments in a second; docs/performance.md."""
GPU = "A100"
"""The GPU whose speed and memory are assumed."""
GPU_FLOPS = {"float32": 15e12, "bfloat16": 50e12}
"""Operations a second of an A100 that trains a ResNet; float32 is TensorFloat-32, which
convolutions have. Assumed, not measured."""
GPU_MEMORY = 70e9
"""Bytes of a GPU's memory that a batch may take; the rest of an A100's 80 GB is for weights and libraries."""
GPUS = 8
"""GPUs in a machine, at most."""
KEPT = 2
"""Arrays that the backward pass needs of each convolution: its result and ReLU's; docs/performance.md."""
CORES_PER_GPU = 8
"""Cores that decode and augment images for a GPU."""
FILES_PER_SECOND = 170
"""Image files that one core decodes and crops for training in a second; docs/performance.md."""
PASSES = 3
"""A backward pass takes twice the operations of a forward pass."""
WEIGHT_BYTES = 12
"""Bytes on disk for each weight: the network, a teacher, and the optimiser's state while it trains."""
PIXEL_FITS = 2.2
"""Linear probes of raw pixels that `training.baselines` fits: six of a quarter of the epochs on four fifths
of the images, and one in full."""
PIXEL_IMAGES, PIXEL_SIDE = 50_000, 32
"""Images of a split for the probes of raw pixels, and an image's pixels a side, at most."""
PROCESS_MB = 1200
"""Memory of a process that has imported torch and compiled its loops."""


def resources(
    spec: Spec, source: Source, probe: Probe, *, device: str = "cpu", probes: int = 1, probe_views: int = 0
) -> Resources:
    """The resources of a network's task: training, then features of all images, and linear probes on them.

    Args:
        probes: number of linear probes.
        probe_views: augmented views of each image that every probe learns from; 0: the images.
    """
    data_set = DATA_SETS[source.name]
    images = sum(
        min(data_set.counts[split], first or data_set.counts[split])
        for split, first in ((source.split, source.first), ("test", source.first_test))
    )
    forward = spec.encoder.work(data_set.channels, data_set.side)
    dim = spec.encoder.dim
    views = 2 * spec.batch * spec.steps
    probing = 2 * PASSES * dim * data_set.classes * images * probe.epochs
    training = PASSES * (forward.flops + spec.projector.flops(dim)) * views
    seen = probes * min(probe_views, probe.epochs) * images
    flops = training + forward.flops * (images + seen) + probes * probing
    pixels = data_set.side**2
    images_mb = data_set.channels * pixels * images / 1e6 if data_set.in_memory else 0
    features_mb = (6 if probe_views else 2) * 4 * dim * images / 1e6
    activations = KEPT * forward.outputs * 2 * spec.batch * (2 if spec.precision == "bfloat16" else 4)
    disk_mb = WEIGHT_BYTES * forward.weights / 1e6 if spec.steps else 0
    if device == "cpu":
        minutes = (flops / CPU_FLOPS + (views + seen) * pixels / CPU_PIXELS) / 60
        memory_mb = PROCESS_MB + images_mb + features_mb + activations / 1e6
        return Resources(minutes, _rounded(memory_mb), disk_mb)
    gpus = next((count for count in (1, 2, 4) if activations <= count * GPU_MEMORY), GPUS)
    files = 0 if data_set.in_memory else spec.batch * spec.steps + seen / 2  # two views of each
    decoding = files / FILES_PER_SECOND / CORES_PER_GPU
    minutes = max(flops / GPU_FLOPS[spec.precision], decoding) / gpus / 60
    return Resources(minutes, _rounded(gpus * (PROCESS_MB + images_mb) + features_mb), disk_mb, gpus)


def pixel_resources(source: Source, probe: Probe, *, device: str = "cpu") -> Resources:
    """The resources of `baselines.pixel_baselines`."""
    data_set = DATA_SETS[source.name]
    train, test = (min(data_set.counts[split], PIXEL_IMAGES) for split in (source.split, "test"))
    pixels = data_set.channels * min(data_set.side, PIXEL_SIDE) ** 2
    fits = PIXEL_FITS * PASSES * train * probe.epochs * data_set.classes
    flops = 2 * pixels * (fits + 4 * train * (train + test))
    memory_mb = _rounded(PROCESS_MB + 16 * pixels * (train + test) / 1e6)
    if device == "cpu":
        return Resources(flops / CPU_FLOPS / 60, memory_mb)
    return Resources(flops / GPU_FLOPS["float32"] / 60, memory_mb, gpus=1)


def _rounded(megabytes: float) -> int:
    return 100 * -int(-megabytes // 100)
