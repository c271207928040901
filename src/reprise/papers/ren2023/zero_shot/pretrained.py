"""Encoders that others have trained, read from local files and never downloaded."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from reprise.errors import RepriseError

RESERVED = 2
"""RoBERTa's position embeddings that no token uses."""

Pooling = Literal["mean", "first"]


def resnet101(file: Path) -> nn.Module:
    """torchvision's ResNet101 without its last layer; it maps normalised images to 2048 features.

    Source: He et al. 2015, "Deep Residual Learning for Image Recognition".

    Raises:
        RepriseError: if the file does not contain its weights.
    """
    from torchvision.models import resnet

    encoder = resnet.resnet101()
    try:
        encoder.load_state_dict(torch.load(file, map_location="cpu", weights_only=True))
    except Exception as error:  # from zip, unpickling, or a missing key
        raise RepriseError(
            f"{file}: not the weights of ResNet101: {_reason(error)}; copy the file again"
        ) from None
    encoder.fc = nn.Identity()
    return encoder.eval().requires_grad_(False)


def _reason(error: Exception) -> str:
    """The first line of an error's message, or its type if it has none."""
    return next(iter(str(error).splitlines()), "") or type(error).__name__


class Roberta(nn.Module):
    """RoBERTa, frozen, which maps texts to the pooled states of its last layer.

    Source: Liu et al. 2019, "RoBERTa: A Robustly Optimized BERT Pretraining Approach".
    """

    def __init__(self, folder: Path, pooling: Pooling) -> None:
        """
        Args:
            folder: folder in which transformers has saved the model and its tokenizer.
            pooling: the mean over the tokens, or the state of the first one, <s>.

        Raises:
            RepriseError: if the folder does not contain both, undamaged.
        """
        super().__init__()
        from transformers import AutoTokenizer, RobertaModel

        try:
            self.tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            self.model = RobertaModel.from_pretrained(folder, local_files_only=True, add_pooling_layer=False)
        except Exception as error:  # from JSON, safetensors or unpickling
            raise RepriseError(
                f"{folder}: not RoBERTa's model and tokenizer: {_reason(error)}; copy it again"
            ) from None
        self.pooling = pooling
        self.eval().requires_grad_(False)

    def forward(self, texts: Sequence[str]) -> Float[Tensor, "text dim"]:
        longest = self.model.config.max_position_embeddings - RESERVED
        tokens = self.tokenizer(
            list(texts), return_tensors="pt", padding=True, truncation=True, max_length=longest
        ).to(self.model.device)
        states = self.model(**tokens).last_hidden_state
        if self.pooling == "first":
            return states[:, 0]
        is_token = tokens["attention_mask"][..., None].to(states)
        return (states * is_token).sum(1) / is_token.sum(1)
