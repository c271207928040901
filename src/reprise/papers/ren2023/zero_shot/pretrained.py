"""Encoders that others have trained, read from files of this machine and never fetched."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from reprise.errors import RepriseError

RESERVED = 2
"""Positions that RoBERTa has and no token takes."""

Pooling = Literal["mean", "first"]


def resnet101(file: Path) -> nn.Module:
    """torchvision's ResNet101 without its last layer: normalised images to 2048 features.

    Raises:
        RepriseError: when the file does not hold its weights.
    """
    from torchvision.models import resnet

    encoder = resnet.resnet101()
    try:
        encoder.load_state_dict(torch.load(file, map_location="cpu", weights_only=True))
    except Exception as error:  # of zip, of unpickling, or a key
        said = str(error).splitlines()[0]
        raise RepriseError(f"{file}: not the weights of ResNet101: {said}; copy the file again") from None
    encoder.fc = nn.Identity()
    return encoder.eval().requires_grad_(False)


class Roberta(nn.Module):
    """RoBERTa (Liu et al. 2019), frozen: texts to the last layer's states, pooled."""

    def __init__(self, folder: Path, pooling: Pooling) -> None:
        """
        Args:
            folder: as transformers saves a model and its tokenizer.
            pooling: the mean over the tokens, or the state of the first one, <s>.

        Raises:
            RepriseError: when the folder does not hold them whole.
        """
        super().__init__()
        from transformers import AutoTokenizer, RobertaModel

        try:
            self.tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            self.model = RobertaModel.from_pretrained(folder, local_files_only=True, add_pooling_layer=False)
        except Exception as error:  # of JSON, safetensors, unpickling
            said = str(error).splitlines()[0]
            raise RepriseError(
                f"{folder}: not RoBERTa's model and tokenizer: {said}; copy it again"
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
        inside = tokens["attention_mask"][..., None].to(states)
        return (states * inside).sum(1) / inside.sum(1)
