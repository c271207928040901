"""Encoders that learn which categories are present."""

import torch
from torch import nn

from reprise.papers.ren2023.zero_shot.presence import train_on_presence

SAMPLES = torch.randn(200, 6, generator=torch.Generator().manual_seed(0))
PRESENT = torch.stack([SAMPLES[:, 0] > 0, SAMPLES[:, 1] + SAMPLES[:, 2] > 0], 1)


def trained(steps=150, **changed):
    return train_on_presence(
        lambda: nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Tanh()), 8, lambda index: SAMPLES[index],
        PRESENT, steps=steps, batch=32, learning_rate=0.03, seed=0, **changed,
    )  # fmt: skip


def test_what_is_present_can_be_read_off_the_frozen_encoder_and_not_off_a_random_one():
    def error(encoder):
        features = torch.cat([encoder(SAMPLES).detach(), torch.ones(200, 1)], 1)
        target = 2 * PRESENT.float() - 1
        fitted = features @ torch.linalg.lstsq(features, target).solution
        return float(((fitted > 0) != PRESENT).float().mean())

    encoder = trained()
    assert not encoder.training
    assert not any(weight.requires_grad for weight in encoder.parameters())
    assert error(encoder) < 0.03 < error(trained(steps=0).eval())


def test_it_is_the_same_bits_whatever_torchs_own_generator_was_and_leaves_that_alone():
    torch.manual_seed(1)
    first, after = trained(steps=3), torch.rand(1)
    torch.manual_seed(1)
    assert torch.equal(torch.rand(1), after)
    for a, b in zip(first.parameters(), trained(steps=3).parameters(), strict=True):
        assert torch.equal(a, b)


def test_progress_is_told():
    shares = []
    trained(steps=41, progress=shares.append)
    assert shares == [0, 20 / 41, 40 / 41]
