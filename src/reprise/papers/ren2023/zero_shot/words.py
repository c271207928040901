"""A small sentence encoder, from words to a vector."""

import re
from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

PADDING, UNKNOWN = 0, 1
"""Numbers for padding and for a word that is not in the vocabulary."""


def words(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return re.findall(r"[a-z0-9]+", text.lower())


class Vocabulary:
    """Numbers words in alphabetical order."""

    def __init__(self, texts: Iterable[str]) -> None:
        vocabulary = sorted({word for text in texts for word in words(text)})
        self._numbers = {word: number for number, word in enumerate(vocabulary, UNKNOWN + 1)}

    def __len__(self) -> int:
        return len(self._numbers) + UNKNOWN + 1

    def __call__(self, texts: Sequence[str]) -> Int[Tensor, "text word"]:
        """The numbers of the texts' words, padded with `PADDING`; a text without words counts as one unknown
        word."""
        rows = [[self._numbers.get(word, UNKNOWN) for word in words(text)] or [UNKNOWN] for text in texts]
        longest = max(map(len, rows))
        return torch.tensor([row + [PADDING] * (longest - len(row)) for row in rows])


class WordGRU(nn.Module):
    """The states of a bidirectional GRU, averaged over the words.

    Source: Cho et al. 2014, "Learning Phrase Representations using RNN Encoder-Decoder for Statistical
    Machine Translation".
    """

    def __init__(self, vocabulary: int, dim: int) -> None:
        """
        Args:
            vocabulary: number of words, including padding and the unknown word.
            dim: dimension of the sentence's vector; even.
        """
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, dim, padding_idx=PADDING)
        self.gru = nn.GRU(dim, dim // 2, batch_first=True, bidirectional=True)

    def forward(self, numbers: Int[Tensor, "text word"]) -> Float[Tensor, "text dim"]:
        lengths = (numbers != PADDING).sum(1)
        packed = nn.utils.rnn.pack_padded_sequence(
            self.embedding(numbers), lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        states, _ = nn.utils.rnn.pad_packed_sequence(self.gru(packed)[0], batch_first=True)
        return states.sum(1) / lengths[:, None]  # padded states are 0
