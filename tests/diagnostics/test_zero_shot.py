"""Zero-shot accuracy and what it is held against."""

import numpy as np
import pytest
import torch

from reprise.diagnostics.balance import condition_number
from reprise.diagnostics.zero_shot import most_frequent_accuracy, zero_shot_accuracy


def test_a_prediction_is_right_if_it_is_among_the_labels():
    random = np.random.default_rng(0)
    images, prompts = random.normal(size=(50, 6)), random.normal(size=(7, 6)) * random.uniform(0.1, 9, (7, 1))
    present = random.random((50, 7)) < 0.3
    right = 0
    for image, labels in zip(images, present, strict=True):
        cosines = [image @ prompt / np.linalg.norm(image) / np.linalg.norm(prompt) for prompt in prompts]
        right += labels[int(np.argmax(cosines))]
    found = zero_shot_accuracy(*(torch.from_numpy(array) for array in (images, prompts, present)))
    assert found == right / 50


def test_a_long_prompt_is_no_better_than_a_short_one():
    images, present = torch.tensor([[1.0, 0.2]]), torch.tensor([[True, False]])
    assert zero_shot_accuracy(images, torch.tensor([[0.1, 0.0], [90.0, 90.0]]), present) == 1


def test_embeddings_that_are_not_finite_name_nothing():
    with pytest.raises(ValueError, match="not finite"):
        zero_shot_accuracy(
            torch.full((2, 2), torch.nan), torch.ones(3, 2), torch.ones(2, 3, dtype=torch.bool)
        )


def test_the_most_frequent_label_is_that_of_training():
    train = torch.tensor([[1, 0, 0], [1, 1, 0], [1, 0, 1], [0, 0, 1]]).bool()
    test = torch.tensor([[0, 1, 1], [1, 1, 0], [0, 1, 1], [0, 1, 1]]).bool()
    assert most_frequent_accuracy(train, test) == 0.25


def test_the_condition_number_is_of_the_centred_embeddings():
    z = np.random.default_rng(1).normal(size=(3, 40, 5)) * [1, 2, 3, 4, 50] + 7
    expected = [np.linalg.cond(each - each.mean(0)) for each in z]
    np.testing.assert_allclose(condition_number(torch.from_numpy(z)), expected)
    empty = torch.from_numpy(z[0] * [1, 1, 1, 1, 0])
    assert condition_number(empty) > 1e12
    assert condition_number(empty, 4) == pytest.approx(np.linalg.cond((z[0] - z[0].mean(0))[:, :4]))
