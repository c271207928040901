"""The rule by which learning rates are chosen, and the samples on which pilots are tested."""

import math

import pytest
import torch

from reprise.numerics.streams import generator
from reprise.training.pilots import chosen, held_out


def test_a_random_fifth_is_held_out_and_the_rest_learned():
    tested, learned = held_out(23, generator(4, "held out"))
    order = torch.randperm(23, generator=generator(4, "held out")).tolist()
    assert tested.tolist() == order[::5]
    assert learned.tolist() == [each for each in order if each not in order[::5]]


@pytest.mark.parametrize(
    ("accuracies", "rate"),
    [
        ({0.01: 50.0, 0.1: 80.0, 1.0: 70.0}, 0.1),
        ({0.01: 30.0, 0.1: math.nan}, 0.01),
        ({0.1: 30.0, 0.01: 30.0}, 0.01),
        ({0.1: math.nan, 0.01: math.nan}, 0.01),
        ({0.1: math.nan, 1.0: 0.0}, 1.0),
    ],
    ids=["the best", "not one that diverged", "of equals the lowest", "of none the lowest", "zero is finite"],
)
def test_the_rate_of_the_best_pilot_is_chosen(accuracies, rate):
    assert chosen(accuracies) == rate
