"""Words to numbers to a sentence's vector."""

import torch

from reprise.papers.ren2023.zero_shot.words import PADDING, UNKNOWN, Vocabulary, WordGRU, words


def test_words_are_lower_case_without_signs():
    assert words("An orange-red Disc, and 2 stars.") == ["an", "orange", "red", "disc", "and", "2", "stars"]


def test_a_word_has_a_number_of_its_own_and_an_unknown_one_has_none():
    vocabulary = Vocabulary(["a red disc", "A blue disc"])
    assert len(vocabulary) == 4 + 2
    numbers = vocabulary(["a green disc", "red", "..."])
    a, blue, disc, red = range(2, 6)
    assert numbers.tolist() == [[a, UNKNOWN, disc], [red, PADDING, PADDING], [UNKNOWN, PADDING, PADDING]]
    assert blue not in numbers


def test_a_sentences_vector_is_the_mean_of_its_words_states_in_any_company():
    torch.manual_seed(0)
    encoder = WordGRU(9, 8)
    sentences = torch.tensor([[3, 4, 5, 6], [7, 8, PADDING, PADDING]])
    together = encoder(sentences)
    for row, length in enumerate((4, 2)):
        states, _ = encoder.gru(encoder.embedding(sentences[row : row + 1, :length]))
        torch.testing.assert_close(together[row], states[0].mean(0))


def test_order_matters():
    torch.manual_seed(0)
    encoder = WordGRU(9, 8)
    a, b = encoder(torch.tensor([[3, 4, 5, 6], [3, 6, 5, 4]]))
    assert (a - b).abs().max() > 1e-3
