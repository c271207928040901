"""Encoders that others have trained, read from local files and never downloaded."""

import pickle
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import safetensors.torch
import torch
from jaxtyping import Float
from torch import Tensor, nn

from reprise.contract.settings import one_line
from reprise.errors import RepriseError
from reprise.papers.ren2023.zero_shot.pretrained_files import (
    INDEX,
    RESNET101,
    ROBERTA,
    first,
    lacking,
    not_roberta,
    weight_files,
)

RESERVED = 2
"""RoBERTa's position embeddings that no token uses."""
UNREAD = ("num_batches_tracked", "_ids")
"""Endings of tensors that nobody has trained and no feature depends on: counts of batches, and ranges of
indices, which are in old files alone."""

Pooling = Literal["mean", "first"]


def resnet101(file: Path) -> nn.Module:
    """torchvision's ResNet101 without its last layer; it maps normalised images to 2048 features.

    Source: He et al. 2015, "Deep Residual Learning for Image Recognition".

    Raises:
        RepriseError: if the file does not contain its weights.
    """
    from torchvision.models import resnet

    encoder = resnet.resnet101()
    encoder.fc = nn.Identity()
    _fill(encoder, _tensors(file, RESNET101), file, RESNET101, lambda name: not name.startswith("fc."))
    return encoder.eval().requires_grad_(False)


def _tensors(file: Path, expected: str) -> dict[str, Tensor]:
    """The tensors in a file of weights, by name; runs no code that the file may contain.

    Raises:
        RepriseError: if the file is damaged or holds anything else; it names the weights that were expected.
    """
    again = f"expected the weights of {expected}; copy them again"
    try:
        if file.suffix == ".safetensors":
            return safetensors.torch.load_file(file)
        found = torch.load(file, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:  # its message recommends to run the code
        code = re.search(r"GLOBAL (\S+)", str(error))
        reason = f"holds code, {code[1]}, where only tensors belong" if code else "is no file of tensors"
        raise RepriseError(f"{file}: {reason}; {again}") from None
    except Exception as error:  # from zip or safetensors
        raise RepriseError(f"{file}: cannot be read: {one_line(error)}; {again}") from None
    if not isinstance(found, Mapping) or not all(isinstance(each, Tensor) for each in found.values()):
        raise RepriseError(
            f"{file}: holds {_contents(found)}, not tensors by name, as a model's state_dict is; {again}"
        )
    return {str(name): tensor for name, tensor in found.items()}


def _contents(found: object) -> str:
    others = found.items() if isinstance(found, Mapping) else ()
    names = [f"{name} ({type(each).__name__})" for name, each in others if not isinstance(each, Tensor)]
    return first(names) or f"a {type(found).__name__}"


def _fill(
    encoder: nn.Module, found: Mapping[str, Tensor], place: Path, expected: str, used: Callable[[str], bool]
) -> None:
    """Copies tensors into an encoder, unless they are another model's.

    Args:
        used: whether a tensor of this name would matter, so that the encoder must have one.

    Raises:
        RepriseError: if the encoder's tensors and those that were found differ in names, shapes or types.
    """
    needed = {name: tensor for name, tensor in encoder.state_dict().items() if not name.endswith(UNREAD)}
    missing = [name for name in needed if name not in found]
    is_stranger = len(missing) == len(needed)
    others = [
        name
        for name in found
        if name not in needed and not name.endswith(UNREAD) and (used(name) or is_stranger)
    ]
    differing = [
        f"{name} {[*found[name].shape]} for {[*tensor.shape]}"
        for name, tensor in needed.items()
        if name in found and not (found[name].shape == tensor.shape and found[name].is_floating_point())
    ]
    problems = [
        f"holds {lacking(missing, len(needed))}" if missing else "",
        f"has others: {first(others)}" if others else "",
        f"has {len(differing)} of another shape or type: {first(differing)}" if differing else "",
    ]
    if any(problems):
        raise RepriseError(
            f"{place}: {'; '.join(filter(None, problems))}; expected the weights of {expected}; copy them "
            "again"
        )
    encoder.load_state_dict({name: found[name] for name in needed}, strict=False)


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
        from transformers import AutoTokenizer, RobertaConfig, RobertaModel

        if found := not_roberta(folder):
            raise RepriseError(f"{folder}: found {found}; put {ROBERTA} there")
        try:
            config = RobertaConfig.from_pretrained(folder, local_files_only=True)
            self.model = RobertaModel(config, add_pooling_layer=False)
            self.tokenizer = AutoTokenizer.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False
            )
        except Exception as error:  # from JSON, or settings that do not fit
            raise RepriseError(
                f"{folder}: not RoBERTa's model and tokenizer: {one_line(error)}; copy {ROBERTA} again"
            ) from None
        self._require_own_tokenizer(folder)
        # Not by from_pretrained, which fills what a file lacks at random.
        found_tensors = {
            name.removeprefix("roberta."): tensor
            for file in weight_files(folder)
            if not file.name.endswith(INDEX)
            for name, tensor in _tensors(file, ROBERTA).items()
        }
        _fill(self.model, found_tensors, folder, ROBERTA, _is_roberta)
        self.pooling = pooling
        self.eval().requires_grad_(False)

    def _require_own_tokenizer(self, folder: Path) -> None:
        """Refuses a tokenizer whose tokens are not those of the model's embeddings."""
        config, ids = self.model.config, self.tokenizer("a")["input_ids"]
        found = len(self.tokenizer), self.tokenizer.pad_token_id, ids[:1], ids[-1:]
        expected = config.vocab_size, config.pad_token_id, [config.bos_token_id], [config.eos_token_id]
        if found != expected:
            raise RepriseError(
                f"{folder}: a tokenizer of {found[0]:,} tokens, with {found[1]} to pad, {found[2]} first and "
                f"{found[3]} last in a text, expected {expected[0]:,}, {expected[1]}, {expected[2]} and "
                f"{expected[3]}, as in its config.json; copy the tokenizer of {ROBERTA} again"
            )

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


def _is_roberta(name: str) -> bool:
    """Tells whether a tensor belongs to RoBERTa without the pooler and head, which some files hold too."""
    return name.startswith(("embeddings.", "encoder."))
