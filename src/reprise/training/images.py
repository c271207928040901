"""The training loop of image models: one loop for all objectives, on a CPU, one GPU or several.

Each step is a pure function of the seed, the step and the previous state: the order of the samples, the
augmentations and the learning rate carry no state of their own. An interrupted run therefore resumes from its
last checkpoint and ends with the same bytes.
"""

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from reprise.datasets.augment import Views, normalised
from reprise.datasets.folders import Images
from reprise.diagnostics.probes import accuracy, representations
from reprise.diagnostics.spectra import embedding_spectrum, view_correlation
from reprise.errors import RepriseError
from reprise.networks.layers import Stage
from reprise.numerics.streams import generator
from reprise.storage import checkpoints
from reprise.training import processes
from reprise.training.batches import Batch, Batches, ViewCache, at_each_step
from reprise.training.descent import SGD, Optimiser
from reprise.training.methods import Method, Student
from reprise.training.precision import arithmetic
from reprise.training.replicas import keep_freed_memory

if TYPE_CHECKING:  # what a spec may contain is not what a model depends on
    from reprise.training.spec import Spec

BLOCK = 20
"""Steps between two reads of the losses, so that a GPU does not wait for each."""
NONE = -1
"""The label of a sample of unknown class, as in STL-10's unlabelled split."""
CHANNELS_LAST = 16
"""Smallest number of channels for the channels-last layout. With fewer, gradients of strided 1x1 convolutions
write out of bounds on CPUs (torch 2.14)."""
PROBE_LEARNING_RATE, PROBE_MOMENTUM = 0.1, 0.9


class Data(NamedTuple):
    """Training and test data of a model, in memory or on disk.

    Attributes:
        images, test_images: [sample, channel, size, size], bytes or floats in [0, 1]; or a `Folder`.
        labels, test_labels: classes from 0, or `NONE`, which the online probe ignores.
    """

    images: Images
    labels: Int[Tensor, " sample"]
    test_images: Images
    test_labels: Int[Tensor, " sample"]

    @property
    def channels(self) -> int:
        """Number of channels of an image."""
        return self.images[torch.arange(1)].shape[1]

    @property
    def classes(self) -> int:
        """Number of classes."""
        return int(max(self.labels.max(), self.test_labels.max())) + 1


class Trained(NamedTuple):
    """Attributes:
    method: the method in its final state.
    probe: the online linear probe.
    log: JSON lines.
    diverged: the step at which the loss was not finite, where training stopped; None if it never happened.
    """

    method: Method
    probe: nn.Linear
    log: bytes
    diverged: int | None


# `Spec` is quoted: otherwise a model's code hash would depend on everything that a spec may contain.
def assemble(spec: "Spec", channels: int) -> Method:
    """The method at step 0; its weights depend only on the spec's seed and architecture."""
    with torch.random.fork_rng():
        torch.manual_seed(generator(spec.seed, "weights").initial_seed())
        student = Student(
            spec.encoder.build(channels),
            spec.projector.build(spec.encoder.dim),
            features=spec.encoder.dim,
            dim=spec.projector.dim(spec.encoder.dim),
            precision=getattr(torch, spec.precision),
        )
        for module in student.encoder.modules():
            if isinstance(module, Stage):
                again = partial(arithmetic, precision=student.precision)
                module.recompute = again if spec.checkpoint_blocks else None
        return spec.objective.build(student, spec.steps)


def train(
    spec: "Spec",
    data: Data,
    folder: Path,
    *,
    device: str = "cpu",
    save_every: float = 60.0,
    progress: Callable[[int], None] = lambda step: None,
    keep: ViewCache = at_each_step,
) -> Trained:
    """Trains a model, resuming from the checkpoint of an interrupted run in `folder`.

    Args:
        folder: holds the checkpoints of this training only.
        save_every: seconds between two checkpoints.
        progress: called every few steps with the number of steps done.
        keep: for the views of images in memory; changes no number.

    Raises:
        RepriseError: if there are fewer images than a batch, or `folder` cannot be written.
    """
    keep_freed_memory()
    samples = len(data.labels)
    if samples < spec.batch:
        raise RepriseError(f"a batch of {spec.batch} from {samples} images; lower the batch")
    with torch.random.fork_rng():
        run = _Run(spec, data, folder, device, keep)
        step, saved = run.resume(), time.monotonic()
        batches = run.batches.between(step, spec.steps, device)
        while step < spec.steps and run.diverged is None:
            end = min(step + BLOCK, spec.steps)
            run.write([run.step(index, next(batches)) for index in range(step, end)])
            step = end
            progress(step)
            # Only the first process checks the clock; the others wait for it at the next step.
            due = time.monotonic() - saved >= save_every
            if due and run.diverged is None and processes.rank() == 0:
                run.save(step)
                saved = time.monotonic()
    return Trained(run.method, run.probe, bytes(run.log), run.diverged)


class _Run:
    """The state of a training run."""

    def __init__(self, spec: "Spec", data: Data, folder: Path, device: str, keep: ViewCache) -> None:
        self.spec, self.folder, self.device = spec, folder, device
        self.on_gpu = torch.device(device).type == "cuda"
        if self.on_gpu:
            torch.backends.cudnn.deterministic = True
            # Sums of products in bfloat16 are in float32, as `precision` says.
            torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
        self.data = _on_device(data, device)
        views, rows = Views(spec.augmentation, spec.normalisation), processes.own_rows(spec.batch)
        self.batches = Batches(self.data.images, len(data.labels), views, spec.seed, spec.batch, rows, keep)
        self.method = assemble(spec, data.channels)
        self.method = processes.synchronised(self.method, device).to(device)
        if narrowest(self.method) >= CHANNELS_LAST:
            self.method.to(memory_format=torch.channels_last)  # a quarter faster, also on CPUs
        self.forward: nn.Module = self.method
        if processes.count() > 1:
            self.forward = nn.parallel.DistributedDataParallel(self.method, broadcast_buffers=False)
        unscheduled = {id(weight) for weight in self.method.unscheduled()}
        trainable = [weight for weight in self.method.parameters() if weight.requires_grad]
        groups = [
            {"params": [weight for weight in trainable if id(weight) not in unscheduled]},
            {"params": [weight for weight in trainable if id(weight) in unscheduled]},
        ]
        self.optimiser = spec.optimiser.build([group for group in groups if group["params"]])
        self.probe = nn.Linear(spec.encoder.dim, data.classes, device=device)
        nn.init.zeros_(self.probe.weight)
        nn.init.zeros_(self.probe.bias)
        self.probe_optimiser = SGD(self.probe.parameters(), PROBE_LEARNING_RATE, momentum=PROBE_MOMENTUM)
        self.log = bytearray()
        self.diverged: int | None = None

    def step(self, step: int, batch: Batch) -> dict[str, Any]:
        """Runs one training step and returns its record, whose tensors may still be on the device."""
        spec = self.spec
        # For anything random besides the augmentations. torch.manual_seed looks for GPUs too, for .6 ms.
        seed = generator(spec.seed, f"step/{step}").initial_seed()
        torch.manual_seed(seed) if self.on_gpu else torch.default_generator.manual_seed(seed)
        views = normalised(batch.pixels, spec.normalisation)
        rate = spec.schedule(step, spec.steps)
        self.optimiser.param_groups[0]["lr"] = rate * spec.optimiser.learning_rate
        labels = self.data.labels[batch.index.to(self.device, non_blocking=True)]
        self.method.before_forward(labels)
        loss, r, z = self.forward(views, step)
        self.optimiser.zero_grad()
        # DistributedDataParallel averages the gradients of the processes; the batch's gradient is their sum.
        (loss * processes.count()).backward()
        self.method.before_update(step)
        self.optimiser.step()
        self.method.after_update(step)
        record = {"step": step, "loss": loss.detach(), "learning_rate": self.optimiser.param_groups[0]["lr"]}
        if spec.trace_every and step % spec.trace_every == 0:
            z = z.cpu()  # a core decomposes matrices this small in float64 about as fast as a GPU
            if z.isfinite().all():
                record |= trace(z)
        if spec.probe_every:
            self._train_probe(r, labels)
            tested = (step + 1) % spec.probe_every == 0 or step + 1 == spec.steps
            if tested and processes.rank() == 0:  # whose log is kept
                record |= self._test_probe()
        return record

    def write(self, records: list[dict[str, Any]]) -> None:
        """Appends the records of steps to the log, up to the first loss that is not finite."""
        losses = torch.stack([record["loss"] for record in records]).tolist()
        for record, loss in zip(records, losses, strict=True):
            if not math.isfinite(loss):
                self.diverged = record["step"]
                return
            self.log += json.dumps(record | {"loss": loss}).encode() + b"\n"

    def save(self, step: int) -> None:
        """Saves a checkpoint after `step` steps."""
        checkpoints.save(self.folder, step, dict(self._tensors()), {"steps": self.spec.steps})

    def resume(self) -> int:
        """Restores the newest intact checkpoint; returns the number of steps done."""
        checkpoint = checkpoints.load(self.folder)
        if checkpoint:
            self._restore(checkpoint.tensors)
        processes.wait()
        return checkpoint.step if checkpoint else 0

    def _train_probe(self, r: Float[Tensor, "2 batch features"], labels: Int[Tensor, " batch"]) -> None:
        scores, labels = self.probe(r.flatten(0, 1)), labels.repeat(2)
        losses = cross_entropy(scores, labels, ignore_index=NONE, reduction="sum")
        loss = losses / (labels != NONE).sum().clamp_min(1)
        self.probe_optimiser.zero_grad()
        loss.backward()
        self.probe_optimiser.step()

    def _test_probe(self) -> dict[str, float]:
        plain = partial(normalised, normalisation=self.spec.normalisation)
        r = representations(self.method.student.encoder, plain, self.data.test_images, self.device)
        with torch.no_grad():
            scores = self.probe(r)
        return {f"probe_top{k}": accuracy(scores, self.data.test_labels, k) for k in (1, 5)}

    def _optimisers(self) -> Mapping[str, Optimiser]:
        return {"optimiser": self.optimiser, "probe_optimiser": self.probe_optimiser}

    def _tensors(self) -> Iterator[tuple[str, Tensor]]:
        yield "log", torch.frombuffer(self.log, dtype=torch.uint8).clone()
        for name, module in (("method", self.method), ("probe", self.probe)):
            for entry, tensor in module.state_dict().items():
                yield f"{name}/{entry}", tensor
        for name, optimiser in self._optimisers().items():
            for entry, tensor in optimiser.tensors().items():
                yield f"{name}/{entry}", tensor

    def _restore(self, tensors: Mapping[str, Tensor]) -> None:
        self.log = bytearray(tensors["log"].numpy())
        for name, module in (("method", self.method), ("probe", self.probe)):
            module.load_state_dict(_under(tensors, name))
        for name, optimiser in self._optimisers().items():
            optimiser.restore(_under(tensors, name))


def narrowest(network: nn.Module) -> int:
    """Smallest number of output channels among the convolutions; 0 without any."""
    return min((len(layer.weight) for layer in network.modules() if isinstance(layer, nn.Conv2d)), default=0)


def trace(z: Float[Tensor, "2 batch dim"]) -> dict[str, Any]:
    """Spectra of a batch's embeddings: eigenvalues of the first view's covariance and of its correlation
    matrix, largest first, and the correlation between the views, averaged over dimensions."""
    first = z[0].double()
    scaled = (first - first.mean(0)) / first.std(0, correction=0).clamp_min(1e-12)
    return {
        "eigenvalues": embedding_spectrum(first).tolist(),
        "eigenvalues_of_correlation": embedding_spectrum(scaled).tolist(),
        "view_correlation": view_correlation(*z).diagonal().mean().item(),
    }


def _on_device(data: Data, device: str) -> Data:
    """Moves the data to the device, except images that would take more than half of its free memory."""
    if torch.device(device).type != "cuda":
        return data
    images = data.images
    if isinstance(images, Tensor) and images.nbytes < torch.cuda.mem_get_info(device)[0] / 2:
        images = images.to(device)
    return Data(images, data.labels.to(device), data.test_images, data.test_labels.to(device))


def _under(tensors: Mapping[str, Tensor], name: str) -> dict[str, Tensor]:
    return {path.removeprefix(f"{name}/"): t for path, t in tensors.items() if path.startswith(f"{name}/")}
