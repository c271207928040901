"""Encoders with random weights, in the files that others publish theirs in."""

import json

import torch
import transformers
from torchvision import models

from reprise.papers.ren2023.zero_shot import pretrained_files

TINY = {"num_hidden_layers": 2, "hidden_size": 12, "num_attention_heads": 2}


def roberta(folder, patch=None):
    """A tiny one, as transformers saves it; with `patch` it counts among RoBERTa's sizes."""
    if patch:
        patch.setitem(pretrained_files.SIZES, "tiny", TINY)
    letters = [*"abcdefghijklmnopqrstuvwxyzTAĠ."]
    words = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *letters, "Ġa", "th", "Ġth", "is", "Ġc", "at"]
    merges = ["#version: 0.2", "Ġ a", "t h", "Ġ th", "i s", "Ġ c", "a t"]
    (folder / "vocab.json").write_text(json.dumps({word: number for number, word in enumerate(words)}))
    (folder / "merges.txt").write_text("\n".join(merges) + "\n")
    config = transformers.RobertaConfig(
        vocab_size=len(words), intermediate_size=16, max_position_embeddings=40,
        pad_token_id=1, bos_token_id=0, eos_token_id=2, **TINY,
    )  # fmt: skip
    torch.manual_seed(0)
    transformers.RobertaModel(config, add_pooling_layer=False).save_pretrained(folder)
    tokenizer = {"tokenizer_class": "RobertaTokenizer"}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    return folder


def resnet101(file):
    """As torchvision's, under a name that is not theirs."""
    torch.manual_seed(0)
    torch.save(models.resnet101().state_dict(), file)
    return file
