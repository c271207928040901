"""Zero-shot classification of images by the embeddings of prompts.

Source: Radford et al. 2021, "Learning Transferable Visual Models From Natural Language Supervision".
"""

from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import normalize


def zero_shot_accuracy(
    images: Float[Tensor, "image dim"],
    prompts: Float[Tensor, "category dim"],
    present: Bool[Tensor, "image category"],
) -> float:
    """Share of images whose best-matching category, the one whose prompt has the largest cosine with the
    image, is present in the image (Ren 2023, Section 6).

    Range: 0 to 1.

    Example:
        >>> zero_shot_accuracy(torch.eye(2), torch.eye(2), torch.tensor([[True, False], [True, False]]))
        0.5

    Raises:
        ValueError: if an embedding is not finite; it would otherwise still select a category.
    """
    scores = images @ normalize(prompts).T
    if not scores.isfinite().all():
        raise ValueError("embeddings are not finite")
    predictions = scores.argmax(1, keepdim=True)
    return float(present.to(predictions.device).gather(1, predictions).double().mean())


def most_frequent_accuracy(
    train: Bool[Tensor, "image category"], test: Bool[Tensor, "image category"]
) -> float:
    """Share of test images that show the category most frequent in the training images.

    Range: 0 to 1.

    Example:
        >>> present = torch.tensor([[True, False], [True, True], [False, True], [True, False]])
        >>> most_frequent_accuracy(present, present)
        0.75
    """
    return float(test[:, train.sum(0).argmax()].double().mean())
