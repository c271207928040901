"""Matching scores against a loop over their definition, and limit cases."""

import pytest
import torch

from reprise.diagnostics.matching import captured_tokens, complete_fields, matching_score, token_matches


def test_matches_are_the_largest_cosines():
    filters = torch.randn(2, 3, 5, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for absolute in (False, True):
        found = token_matches(filters, absolute=absolute)
        for replica, field, token in torch.cartesian_prod(*map(torch.arange, (2, 3, 5))).tolist():
            of_field = filters[replica, field]
            guard = of_field.abs().max() / 1000
            cosines = of_field[token] / (of_field.norm(dim=0) + guard)
            expected = cosines.abs().max() if absolute else cosines.max()
            assert found[replica, field, token] == pytest.approx(float(expected))


def test_a_perfect_match_is_a_little_under_one_and_an_unused_filter_matches_nothing():
    filters = torch.eye(4)[None, :, :3]  # three filters of four tokens
    torch.testing.assert_close(token_matches(filters), torch.tensor([[1.0, 1, 1, 0]]) / 1.001)
    filters[:, :, 2] *= 1e-9
    assert token_matches(filters)[0, 2] < 1e-5


def test_scores_are_means_of_means():
    matches = torch.tensor([[1.0, 0.5, 0.0], [0.2, 0.4, 0.9], [7.0, 7.0, 7.0]])
    chosen = torch.tensor([[True, False, False], [True, True, False], [False, False, False]])
    assert matching_score(matches, chosen).item() == pytest.approx((1.0 + 0.3) / 2)


def test_a_token_is_captured_where_most_of_a_filters_squared_length_is():
    """The first filter captures the first token, the second none: its squared length is shared by three."""
    filters = torch.tensor([[0.8, 0.6, 0.0], [0.58, 0.58, 0.58], [0.0, 0.0, -1.0]]).T[None]
    chosen = torch.tensor([[True, False, True]])
    for absolute, captured, complete in ((False, 1, 0), (True, 2, 1)):
        matches = token_matches(filters, absolute=absolute)
        assert captured_tokens(matches, chosen).item() == captured
        assert captured_tokens(matches, ~chosen).item() == 0
        assert complete_fields(matches, chosen).item() == complete


def test_filters_that_diverged_capture_no_number_of_tokens():
    matches = torch.full((2, 3), torch.nan)
    chosen = torch.tensor([[True, False, True], [False, False, False]])
    assert captured_tokens(matches, chosen).isnan()
    assert complete_fields(matches, chosen).isnan()
