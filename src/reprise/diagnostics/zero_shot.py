"""Zero-shot classification of images by the embeddings of prompts (Radford et al. 2021)."""

from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import normalize


def zero_shot_accuracy(
    images: Float[Tensor, "image dim"],
    prompts: Float[Tensor, "category dim"],
    present: Bool[Tensor, "image category"],
) -> float:
    """The share of images in which the category is present whose prompt has the largest cosine with the image
    (Ren 2023, Section 6).

    Raises:
        ValueError: when an embedding is not finite: it would name a category all the same.
    """
    scores = images @ normalize(prompts).T
    if not scores.isfinite().all():
        raise ValueError("embeddings are not finite")
    named = scores.argmax(1, keepdim=True)
    return float(present.to(named.device).gather(1, named).double().mean())


def most_frequent_accuracy(
    train: Bool[Tensor, "image category"], test: Bool[Tensor, "image category"]
) -> float:
    """The share of test images that show the category which most training images show."""
    return float(test[:, train.sum(0).argmax()].double().mean())
