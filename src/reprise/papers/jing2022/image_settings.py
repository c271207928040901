"""Settings of a training, the networks compared, their specs and resources, shared by the image experiments.
Imports no torch."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from reprise.contract.experiment import Resources
from reprise.contract.settings import from_code, location, ours, stated, unstated
from reprise.datasets.catalogue import DATA_SETS, DataSetName
from reprise.datasets.catalogue import check as check_files
from reprise.datasets.recipes import RECIPES, Recipe, Strengths
from reprise.networks.encoders import ResNet
from reprise.networks.projectors import MLP, Diagonal, Identity, Linear, LowRank, Projector
from reprise.training import grid
from reprise.training.grid import WHOLE, Net, Part, Scalar, Task
from reprise.training.image_settings import ImageTraining, Probe, Source
from reprise.training.objective import Contrastive, DirectCLR, Named, Objective
from reprise.training.optimisers import LARS, SGD, OptimiserSpec
from reprise.training.schedules import Schedule, WarmupCosine

Shortcut = Literal["identity", "projection", "none"]

NETS = ("nonlinear", "linear", "none", "directclr", "low_rank", "diagonal")
"""The networks, by what lies between representation and loss: SimCLR's projectors, or DirectCLR's
sub-vector."""
PARTS = ("all", "subvector", "rest")


class Training(ImageTraining):
    """SimCLR training of an encoder on images, and a linear probe of its representation."""

    data_set: DataSetName = stated("imagenet", "Section 3")
    root: str = location("data/imagenet", "folder that holds train/ and val/", min_length=1)
    encoder: ResNet = stated(
        ResNet(block="bottleneck", blocks=(3, 4, 6, 3), zero_init_residual=True),
        "ResNet50, Section 6.2",
        code={"zero_init_residual": "residual branches start at zero"},
    )
    projector: MLP = stated(
        MLP(dims=(2048, 128), last_norm=True, last_bias=False),
        "two layers to 128 dimensions, Section 3",
        code=dict.fromkeys(
            ("dims", "last_norm", "last_bias"), "2048 hidden units, and a BatchNorm at the end"
        ),
    )
    d0: int = from_code(360, "number of DirectCLR's dimensions, and rank of the fixed projector", ge=1)
    temperature: float = from_code(0.1, "of the loss", gt=0)
    recipe: Literal["directclr", "shapes"] = from_code("directclr", "recipe of the augmentations")
    crop: float = from_code(0.08, "smallest share of an image in a crop", gt=0, le=1)
    jitter: float = from_code(0.4, "of brightness and contrast; saturation in the recipe's proportion", ge=0)
    hue: float = from_code(0.1, "largest shift of hue, as a fraction of the circle", ge=0, le=0.5)
    optimiser: OptimiserSpec = from_code(
        LARS(learning_rate=4.8), "0.3 per 256 images of a batch; weight decay on matrices only"
    )
    schedule: Schedule = from_code(
        WarmupCosine(warmup=0.1, final=1e-3), "10 of 100 epochs of warm-up, then a cosine"
    )
    batch: int = from_code(4096, "total over all GPUs", ge=2)
    epochs: float = stated(100.0, "Section 3", gt=0, le=100_000)
    precision: Literal["float32", "bfloat16"] = unstated("bfloat16", "mixed precision; float32 is slower")
    probe_views: int = from_code(
        100,
        "random crops and flips of each image, one an epoch, that a probe learns from; 0: the images",
        ge=0,
    )
    probe: Probe = from_code(
        Probe(optimiser=SGD(learning_rate=0.1, weight_decay=1e-6), schedule=WarmupCosine()),
        "100 epochs of batches of 256, with a cosine",
    )
    seeds: int = ours(3, "independent weights, orders of the images and augmentations", ge=1)

    @property
    def parts(self) -> tuple[Part, ...]:
        """All of a representation r, r[:d0] and r[d0:], by the names `PARTS`."""
        return tuple(map(Part, PARTS, (None, None, self.d0), (None, self.d0, None)))

    @property
    def source(self) -> Source:
        """The source of the images."""
        return Source(name=self.data_set, root=self.root)


def net(
    training: Training,
    kind: str,
    seed: int,
    name: str,
    columns: Mapping[str, Scalar],
    *,
    parts: tuple[Part, ...] = (WHOLE,),
    objective: str | None = None,
) -> Net:
    """A trained network.

    Args:
        kind: one of `NETS`.
        parts: of the representation, to be probed for the data set's labels and any others asked for.
        objective: another loss to train with instead of the published one.
    """
    data_set = DATA_SETS[training.data_set]
    spec = training.spec(
        objective=Named(name=objective) if objective else published(training, kind),
        augmentation=augmentation(training),
        normalisation=data_set.normalisation,
        projector=projector(training, kind),
        steps=max(1, round(training.epochs * (data_set.counts["train"] // training.batch))),
        seed=seed,
    )
    return Net(
        name=name,
        columns=tuple(columns.items()),
        spec=spec,
        source=training.source,
        probed=(training.source,) if parts else (),
        parts=parts,
        views=training.probe_views,
    )


def published(training: Training, kind: str) -> Objective:
    """The published objective of a network."""
    if kind == "directclr":
        return DirectCLR(dimensions=training.d0, temperature=training.temperature)
    return Contrastive(kind="infonce_other_view", temperature=training.temperature)


def projector(training: Training, net: str) -> Projector:
    """The projector between the representation and the loss; DirectCLR selects its sub-vector in the
    objective."""
    projectors: dict[str, Projector] = {
        "nonlinear": training.projector,
        "linear": Linear(out=training.projector.dims[-1]),
        "low_rank": LowRank(rank=training.d0),
        "diagonal": Diagonal(),
        "none": Identity(),
        "directclr": Identity(),
    }
    return projectors[net]


def augmentation(training: Training) -> Recipe:
    """The configured recipe at the configured strengths."""

    def at_strength(strengths: Strengths) -> Strengths:
        return replace(
            strengths,
            scale=(training.crop, 1.0),
            brightness=training.jitter,
            contrast=training.jitter,
            saturation=strengths.saturation / strengths.brightness * training.jitter,
            hue=training.hue,
        )

    recipe = RECIPES[training.recipe]
    return Recipe(at_strength(recipe.first), at_strength(recipe.second))


def needs(params: Training, task: Task, objective: str | None = None) -> Resources:
    """Resources of a task."""
    return grid.needs(params, task)


def check(params: Training) -> None:
    """Checks that the data set exists.

    Raises:
        RepriseError: naming what is missing, where, and what to do.
    """
    check_files(params.data_set, params.root)
