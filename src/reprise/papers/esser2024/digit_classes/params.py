"""Settings of Figure 4; the text gives the data set, two classes and 200 points of each."""

from typing import Literal, Self

from pydantic import model_validator

from reprise.datasets import catalogue
from reprise.errors import RepriseError
from reprise.study.losses import TakesLosses
from reprise.study.settings import ours, place, stated, unstated

TABLES = ("pairs", "pixels", "accuracy", "step_seconds")

DIMS = (2, 4, 8)
"""Embedding dimensions at which claims read."""
PIXELS = {"mnist": 28 * 28, "digits": 8 * 8}


class Params(TakesLosses):
    """u(x) = W2ᵀ W1 x of the pixels of the two classes that a classifier of raw pixels confuses most.

    A positive is the image with normal noise, a negative another image of the two classes, drawn at random
    (Example 1's; the text gives neither).
    """

    data_set: Literal["mnist", "digits"] = stated("mnist", "'Runtime and downstream task'")
    root: str = place("data", "folder that holds MNIST/raw/", min_length=1)
    per_class: int = stated(200, "'Runtime and downstream task'", ge=4)
    positive_variance: float = unstated(0.1, "Example 1's, in each pixel; pixels lie in [0, 1]", ge=0)
    centred: bool = unstated(False, "whether the mean image is taken off: no preprocessing is mentioned")
    embedding_dims: tuple[int, ...] = unstated(DIMS, "z")
    width: int = unstated(1000, "h of the net whose embeddings are classified; at least the pixels", ge=1)
    learning_rate: float = unstated(0.01, "Figure 3's", gt=0)
    steps: int = unstated(500, "Figure 2's epochs", ge=1)
    svm_c: float = unstated(1.0, "scikit-learn's default", gt=0)
    train_share: float = ours(0.5, "of the embeddings; the rest are classified", gt=0, lt=1)
    splits: int = ours(10, "random splits of each seed's embeddings", ge=1)
    seeds: int = ours(20, "independent images, positives, negatives and starts", ge=1)
    selection_splits: int = ours(10, "random splits by which the two classes are chosen", ge=1)
    timed_widths: tuple[int, ...] = unstated(
        (800, 1600, 3200, 6400, 12800), "h of Figure 4 left; at least the pixels", min_length=3
    )
    repeats: int = ours(10, "times each step is timed", ge=1)

    @model_validator(mode="after")
    def _claims_have_their_numbers(self) -> Self:
        if not set(DIMS) <= set(self.embedding_dims):
            raise ValueError(f"embedding_dims must hold {list(DIMS)}, at which claims read")
        if list(self.timed_widths) != sorted(set(self.timed_widths)):
            raise ValueError("timed_widths must increase")
        return self


def check(params: Params) -> None:
    """That the data set is there and that the layers are wide enough.

    Raises:
        RepriseError: naming what is missing, where, and what to do.
    """
    catalogue.check(params.data_set, params.root)
    pixels = PIXELS[params.data_set]
    for name, least in (("width", params.width), ("timed_widths", min(params.timed_widths))):
        if least < pixels:
            raise RepriseError(
                f"{name} {least}: W1ᵀ W1 = I needs a width of at least the inputs, and an image of "
                f"'{params.data_set}' has {pixels} pixels; make it {pixels} or more"
            )


def alternatives(params: Params) -> dict[str, Params]:
    """Other plausible values of what the paper leaves unstated, with three seeds and repeats."""
    common = {"seeds": min(params.seeds, 3), "repeats": min(params.repeats, 3)}
    grid: dict[str, dict[str, object]] = {
        "centred pixels": {"centred": True},
        "positives of variance 0.01": {"positive_variance": 0.01},
        "twice the steps": {"steps": 2 * params.steps},
    }
    return {name: params.model_copy(update={**common, **changed}) for name, changed in grid.items()}
