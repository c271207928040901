"""The rule that chooses each method's learning rate, fixed before any run: one pilot at every rate of a grid
that all methods share, with a seed of its own, and of the rates at which it stays finite the one with the
best linear probe on held-out images.

The held-out images are a fifth of the labelled training images (`observations.held_out_accuracy`); test
images and the seeds that claims compare play no part.
"""

import math
from collections.abc import Mapping


def chosen(accuracies: Mapping[float, float]) -> float:
    """The learning rate with the best accuracy; among equals, and if no pilot stayed finite, the lowest.

    Args:
        accuracies: by learning rate, each pilot's on the held-out images; NaN if it diverged.
    """
    finite = {rate: value for rate, value in accuracies.items() if not math.isnan(value)}
    best = max(finite.values(), default=math.nan)
    return min([rate for rate, value in finite.items() if value == best] or accuracies)
