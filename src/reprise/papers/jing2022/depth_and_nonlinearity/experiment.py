"""Settings of Figure 6; the text states only the widths, the depths, plain SGD and singular values that start
non-degenerate."""

from reprise.contract.experiment import Experiment, Quick, Resources
from reprise.contract.losses import TakesLosses
from reprise.contract.settings import Seeded, from_code, ours, stated, unstated
from reprise.papers.jing2022.two_layer_settings import CODE_SCALE, CODE_SPAN


class Params(Seeded, TakesLosses):
    """z = W_L ... W_1 x with layers that start alike (`starts.layers`); trained with `infonce_distance`
    (Eq. 2)."""

    dim: int = stated(16, "Figure 6: weight matrices of 16x16", ge=2)
    depths: tuple[int, ...] = unstated((1, 2, 3, 4), "the text names L = 1 and L = 2", min_length=1)
    relu_depths: tuple[int, ...] = ours((2, 3), "Figure 6b has L = 2", min_length=1)
    isotropic_depths: tuple[int, ...] = ours((1, 4), "control: data of covariance I", min_length=1)
    degenerate_depths: tuple[int, ...] = ours(
        (1, 4), "control: the same, from multiples of orthogonal matrices, which Section 5.3 excludes"
    )
    covariance_span: float = unstated(
        2.0, "data covariance diag(geomspace(span, 1/span)): a mild spread", ge=1
    )
    noise_std: float = unstated(0.3, "on both views, below the data's smallest deviation of 0.7", ge=0)
    product_scale: float = unstated(
        0.01, "geometric mean of the product's initial singular values: small, as in the theory", gt=0
    )
    init_span: float = unstated(
        1.3, "each layer's largest over its smallest: non-degenerate (5.3), how far is not said", gt=1
    )
    init_balanced: bool = unstated(False, "independent singular vectors, as in the authors' toy code")
    learning_rate: float = unstated(0.05, "close to gradient flow", gt=0)
    batch_size: int = from_code(128, "fresh samples at each step", ge=2)
    steps: int = unstated(
        4000, "where the claims read: collapse is slow growth, so the count falls with the steps", ge=4
    )
    long_steps: int = ours(6000, "how far the count of collapsed values is followed", ge=2)
    samples: int = ours(4096, "clean inputs on which the spectrum is taken", ge=64)
    seeds: int = ours(10, "independent data, noise and weights", ge=1)


def alternatives(params: Params) -> dict[str, Params]:
    """Other plausible values of what the paper leaves unstated, for the nets and up to the steps that claims
    read, with half the batch: the initialisation, noise and learning rate of the authors' toy code with the
    loss of Eq. 2, and others with fewer but larger steps."""
    cheaper = {
        "seeds": min(params.seeds, 10),
        "isotropic_depths": params.isotropic_depths[-1:],
        "degenerate_depths": (),
        "batch_size": params.batch_size // 2,
    }
    coarser = {"learning_rate": 2 * params.learning_rate, "steps": params.steps // 2}
    grid: dict[str, dict[str, float]] = {
        "half the time": {"steps": params.steps // 4},
        "twice the time": {"steps": params.steps},
        "initial product doubled, noise halved": {
            "product_scale": 2 * params.product_scale, "noise_std": params.noise_std / 2,
        },
        "initial product halved, more noise": {
            "product_scale": params.product_scale / 2, "noise_std": 1.5 * params.noise_std,
        },
        "initial product and spread of the data doubled": {
            "product_scale": 2 * params.product_scale, "covariance_span": 2 * params.covariance_span,
        },
        "init barely distinct, noise halved, data less spread": {
            "init_span": 1.1, "noise_std": params.noise_std / 2,
            "covariance_span": params.covariance_span**0.5,
        },
        "init balanced and further apart, product doubled, more noise, data less spread": {
            "init_balanced": True, "init_span": 2.0, "product_scale": 2 * params.product_scale,
            "noise_std": 1.5 * params.noise_std, "covariance_span": params.covariance_span**0.5,
        },
        "authors' initialisation and rate, our loss": {
            "product_scale": CODE_SCALE**2, "init_span": CODE_SPAN, "covariance_span": 1.0,
            "noise_std": 0.001, "learning_rate": params.learning_rate / 5, "steps": params.steps * 5 // 2,
        },
    }  # fmt: skip
    settings = {
        name: params.model_copy(update={**cheaper, **coarser, **changes}) for name, changes in grid.items()
    }
    return {name: each.model_copy(update={"long_steps": each.steps}) for name, each in settings.items()}


EXPERIMENT = Experiment(
    params=Params,
    tables=("spectrum",),
    plan=Resources(minutes=3),
    alternatives=alternatives,
    excused={"depths": "the four hold both that the text names"},
    quick=Quick(
        changes={"steps": 1000, "long_steps": 1000, "samples": 1024, "seeds": 3},
        figures=("fig06a", "fig06b"),
    ),
)
