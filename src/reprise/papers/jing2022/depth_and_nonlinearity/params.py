"""Settings of Figure 6; the text states only the widths, the depths and plain SGD."""

from reprise.study.experiment import Resources
from reprise.study.losses import TakesLosses
from reprise.study.settings import ours, stated, unstated

TABLES = ("spectrum",)
RESOURCES = Resources(minutes=3)
EXCUSED = {"depths": "the four hold both that the text names"}


class Params(TakesLosses):
    """z = W_L ... W_1 x with W_l = product_scale^(1/L) x random orthogonal, so that networks of all depths
    start alike; trained with `infonce_distance` (Eq. 2)."""

    dim: int = stated(16, "Figure 6: weight matrices of 16x16", ge=2)
    depths: tuple[int, ...] = unstated((1, 2, 3, 4), "the text names L = 1 and L = 2", min_length=1)
    relu_depths: tuple[int, ...] = ours((2, 3), "Figure 6b has L = 2", min_length=1)
    isotropic_depths: tuple[int, ...] = ours((1, 4), "control: data of covariance I", min_length=1)
    public_depths: tuple[int, ...] = ours((1, 2, 4), "control: the initialisation of the authors' code")
    covariance_span: float = unstated(
        2.0, "data covariance diag(geomspace(span, 1/span)): a mild spread", gt=1
    )
    noise_std: float = unstated(0.3, "on both views, below the data's smallest deviation of 0.7", ge=0)
    product_scale: float = unstated(
        0.01, "initial scale of the product of the layers: small, as in the theory", gt=0
    )
    learning_rate: float = unstated(0.05, "close to gradient flow", gt=0)
    batch_size: int = unstated(128, "fresh samples at each step", ge=2)
    steps: int = unstated(
        4000, "where the claims read: collapse is slow growth, so the count falls with the steps", ge=2
    )
    long_steps: int = ours(6000, "how far the count of collapsed values is followed", ge=2)
    samples: int = ours(4096, "clean inputs on which the spectrum is taken", ge=64)
    seeds: int = ours(10, "independent data, noise and weights", ge=1)


def alternatives(params: Params) -> dict[str, Params]:
    """Other plausible values of what the paper leaves unstated, for the nets and up to the steps that
    claims read: half
    the batch, with fewer but larger steps, which is cheap, and on top of it other times, initial weights
    and data."""
    coarser = {
        "seeds": min(params.seeds, 10),
        "isotropic_depths": params.isotropic_depths[-1:],
        "public_depths": (),
        "batch_size": params.batch_size // 2,
        "learning_rate": 2 * params.learning_rate,
        "steps": params.steps // 2,
    }
    grid: dict[str, dict[str, float]] = {
        "coarser": {},
        "coarser, half the time": {"steps": params.steps // 4},
        "coarser, twice the time": {"steps": params.steps},
        "coarser, initial product doubled, noise halved": {
            "product_scale": 2 * params.product_scale, "noise_std": params.noise_std / 2,
        },
        "coarser, initial product halved, more noise": {
            "product_scale": params.product_scale / 2, "noise_std": 1.5 * params.noise_std,
        },
        "coarser, initial product and spread doubled": {
            "product_scale": 2 * params.product_scale, "covariance_span": 2 * params.covariance_span,
        },
        "coarser, noise halved, less spread": {
            "noise_std": params.noise_std / 2, "covariance_span": params.covariance_span**0.5,
        },
    }  # fmt: skip
    settings = {name: params.model_copy(update={**coarser, **changes}) for name, changes in grid.items()}
    return {name: each.model_copy(update={"long_steps": each.steps}) for name, each in settings.items()}
