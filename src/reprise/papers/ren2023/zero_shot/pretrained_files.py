"""Whether the files of pretrained encoders are there; without torch, because the plan of a run asks it."""

import hashlib
from pathlib import Path

from reprise.papers.ren2023.zero_shot import extras

TOKENIZERS = (("tokenizer.json",), ("vocab.json", "merges.txt"))
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
"""Of RoBERTa, as transformers has saved it now and before."""


def missing_resnet101(file: Path) -> list[str]:
    """What `pretrained.resnet101` needs and does not find: a sentence each."""
    return [] if file.is_file() else [f"{file}: torchvision's weights of ResNet101 (IMAGENET1K_V1)"]


def missing_roberta(folder: Path) -> list[str]:
    """What `pretrained.Roberta` needs and does not find: a sentence each."""
    lacks = extras.missing("transformers", "multimodal")
    if not (folder / "config.json").is_file():
        lacks.append(f"{folder / 'config.json'}: of RoBERTa, as transformers saves it")
    if not any((folder / name).is_file() for name in WEIGHTS):
        lacks.append(f"{folder / WEIGHTS[0]}: RoBERTa's weights")
    if not any(all((folder / name).is_file() for name in names) for names in TOKENIZERS):
        lacks.append(f"{folder / TOKENIZERS[0][0]}: RoBERTa's tokenizer")
    return lacks


def digest(place: Path) -> str:
    """SHA-256 of a file, or of all files in a folder and their names."""
    files = sorted(place.iterdir()) if place.is_dir() else [place]
    sums = hashlib.sha256()
    for file in (file for file in files if file.is_file()):
        with file.open("rb") as opened:
            sums.update(f"{file.name} {hashlib.file_digest(opened, 'sha256').hexdigest()}\n".encode())
    return sums.hexdigest()
