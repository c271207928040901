"""Settings of Figure 2; the text states the images, their number, and that descent is full-batch.

No other loss can be shown: Eqs. 7 and 8 are solutions for the two losses of Figure 2.
"""

from itertools import product
from typing import Literal, NamedTuple, Self

from pydantic import model_validator

from reprise.contract.experiment import Experiment, Plan, Resources
from reprise.contract.settings import Seeded, location, ours, stated, unstated
from reprise.datasets import catalogue
from reprise.errors import RepriseError

VIEWS = ("same", "noise", "crops", "strong")
"""Ways to make the two views."""
READ = "strong"
"""The views that claims read, where they are among the experiment's."""
MINUTES = {"same": 0.03, "noise": 0.06, "crops": 0.06, "strong": 0.08}
"""Minutes of a task at the published settings on one core: views that differ more span more directions."""
SHOWN = 10
"""Number of eigenvalues in Figure 2; claims read the last."""


class Params(Seeded):
    """Z_v = X_v W_vᵀ, one linear layer per view; pixels in [0, 1], centred and divided by the square root of
    the number of images; t = learning rate * step."""

    data_set: Literal["cifar10", "photographs"] = stated("cifar10", "Section 5.1")
    root: str = location("data", "folder that holds cifar-10-batches-py/", min_length=1)
    samples: int = stated(1024, "Section 5.1", ge=16)
    views: tuple[Literal["same", "noise", "crops", "strong"], ...] = unstated(
        VIEWS, "the same image twice; noise; weak crops and jitter; the authors' augmentation for CIFAR"
    )
    dim: int = unstated(10, "d: the number of eigenvalues in Figure 2", ge=SHOWN)
    init_std: float = unstated(
        1e-3, "standard deviation of the initial weights, which are independent in each layer", gt=0
    )
    rate_share: float = unstated(
        0.9,
        "learning rate relative to the largest stable one, 2 / sharpness, of Eq. 8 for both losses",
        gt=0,
        lt=1,
    )
    horizon: float = unstated(6.0, "t at the end of training at that learning rate", gt=0)
    records: int = ours(150, "times at which a run is measured, spaced as squares: closer at first", ge=3)
    seeds: int = ours(10, "independent images, views and initial weights", ge=1)

    @model_validator(mode="after")
    def _sizes_fit(self) -> Self:
        if self.dim > self.samples:
            raise ValueError("samples must be at least dim")
        return self


class Task(NamedTuple):
    """The descents on one kind of views of one seed's images."""

    views: str
    seed: int

    def __str__(self) -> str:
        return f"{self.views}, seed {self.seed}"


def tasks(params: Params, objective: str | None = None) -> list[Task]:
    """A task for each kind of views and seed."""
    return [Task(views, seed) for seed, views in product(params.seed_range(params.seeds), params.views)]


def needs(params: Params, task: Task, objective: str | None = None) -> Resources:
    """Resources of a task; its time was measured at the default settings."""
    return Resources(minutes=MINUTES[task.views] * params.horizon / 6 * (params.samples / 1024) ** 2)


def check(params: Params) -> None:
    """Checks that the data set exists, and that no views are left out of the figure.

    Raises:
        RepriseError: naming what is missing, where, and what to do.
    """
    if not set(VIEWS) <= set(params.views):
        raise RepriseError(f"skean2024/linear_regime: views must hold {list(VIEWS)}, which Figure 2 shows")
    catalogue.check(params.data_set, params.root)


def alternatives(params: Params) -> dict[str, Params]:
    """Other plausible values of what the paper leaves unstated, with three seeds and the authors' views
    where these are not what varies."""
    grid: dict[str, dict[str, object]] = {
        "views: the same image": {"views": ("same",)},
        "views: noise": {"views": ("noise",)},
        "views: weak crops": {"views": ("crops",)},
        "initial weights of 1e-2": {"init_std": 1e-2},
        "initial weights of 1e-4": {"init_std": 1e-4},
        "d = 20": {"dim": 20},
        "smaller and fewer steps": {"rate_share": params.rate_share / 2, "horizon": params.horizon / 2},
        "the same image, initial weights of 1e-2, d = 20, smaller and fewer steps": {
            "views": ("same",), "init_std": 1e-2, "dim": 20, "rate_share": params.rate_share / 2,
            "horizon": params.horizon / 2,
        },
    }  # fmt: skip
    common = {"seeds": min(params.seeds, 3), "views": (READ,)}
    return {name: params.model_copy(update={**common, **changes}) for name, changes in grid.items()}


EXPERIMENT = Experiment(
    params=Params,
    tables=("spectrum", "loss", "modes", "runs"),
    plan=Plan(tasks, needs),
    alternatives=alternatives,
    check=check,
    coordinates=("learning_rate", "start"),
)
