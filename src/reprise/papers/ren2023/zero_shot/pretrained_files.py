"""Looks for the files of pretrained encoders. Does not import torch, because a run's plan calls it."""

import hashlib
import os
from pathlib import Path

from reprise.papers.ren2023.zero_shot import extras

TOKENIZERS = (("tokenizer.json",), ("vocab.json", "merges.txt"))
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
"""RoBERTa's weight files, in transformers' current and former format."""


def missing_resnet101(file: Path) -> list[str]:
    """Describes each file that `pretrained.resnet101` needs and cannot find."""
    return [] if _has_content(file) else [f"{file}: torchvision's weights of ResNet101 (IMAGENET1K_V1)"]


def missing_roberta(folder: Path) -> list[str]:
    """Describes each file or package that `pretrained.Roberta` needs and cannot find."""
    problems = extras.missing("transformers", "multimodal")
    if not _has_content(folder / "config.json"):
        problems.append(f"{folder / 'config.json'}: of RoBERTa, as transformers saves it")
    if not any(_has_content(folder / name) for name in WEIGHTS):
        problems.append(f"{folder / WEIGHTS[0]}: RoBERTa's weights")
    if not any(all(_has_content(folder / name) for name in names) for names in TOKENIZERS):
        problems.append(f"{folder / TOKENIZERS[0][0]}: RoBERTa's tokenizer")
    return problems


def _has_content(file: Path) -> bool:
    """Whether the file exists, is readable and not empty."""
    return os.access(file, os.R_OK) and file.is_file() and file.stat().st_size > 0


def digest(place: Path) -> str:
    """SHA-256 of a file, or of the names and contents of all files in a folder."""
    files = sorted(place.iterdir()) if place.is_dir() else [place]
    sums = hashlib.sha256()
    for file in (file for file in files if file.is_file()):
        with file.open("rb") as stream:
            sums.update(f"{file.name} {hashlib.file_digest(stream, 'sha256').hexdigest()}\n".encode())
    return sums.hexdigest()
