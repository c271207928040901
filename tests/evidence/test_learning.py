"""The gain in accuracy that counts as learning."""

import pandas as pd

from reprise.evidence.comparison import LEARNED
from reprise.evidence.learning import PIXELS, gain


def test_a_network_that_gains_just_enough_has_learned():
    """Accuracies are of 2,000 images; in floating point, many differences of 15 points come out smaller."""
    start = pd.Series([number / 20 for number in range(1700)])
    pixels = pd.DataFrame(dict.fromkeys(PIXELS, 0.0), index=start.index)
    enough, too_little = ((start + more).round(2) for more in (15.0, 14.95))
    assert (enough - start < LEARNED).any()
    assert (gain(enough, start, pixels) >= LEARNED).all()
    assert (gain(too_little, start, pixels) < LEARNED).all()


def test_a_network_at_the_pixels_accuracy_has_not_learned():
    pixels = pd.DataFrame({PIXELS[0]: [60.1], PIXELS[1]: [33.3]})
    assert gain(pd.Series([60.1]), pd.Series([20.0]), pixels).item() == 0
