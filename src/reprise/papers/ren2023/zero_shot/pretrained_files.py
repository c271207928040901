"""Looks for the files of pretrained encoders, and at what can be told about them without torch, because a
run's plan calls it."""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from reprise.contract.settings import quoted
from reprise.errors import RepriseError
from reprise.papers.ren2023.zero_shot import extras

RESNET101 = "torchvision's ResNet101_Weights.IMAGENET1K_V1"
ROBERTA = "Hugging Face's roberta-base"
SHA256 = {"resnet101-63fe2227.pth": "63fe2227"}
"""First digits of the SHA-256 of torchvision's file, which stand in its name."""

CONFIG = "config.json"
INDEX = ".index.json"
"""Ending of the file that lists the shards of weights and which tensors each holds."""
WEIGHTS = ("model.safetensors", f"model.safetensors{INDEX}", "pytorch_model.bin", f"pytorch_model.bin{INDEX}")
"""RoBERTa's weight files, whole or in shards, in transformers' current and former format; the first one that
exists is read."""
TOKENIZERS = (("tokenizer.json",), ("vocab.json", "merges.txt"))
TOKENIZER_SETTINGS = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")

SIZES = {
    "roberta-base": {"num_hidden_layers": 12, "hidden_size": 768, "num_attention_heads": 12},
    "roberta-large": {"num_hidden_layers": 24, "hidden_size": 1024, "num_attention_heads": 16},
}
"""The two models of Liu et al. 2019; Ren 2023 does not say which of them it uses."""

EMBEDDINGS = ("word_embeddings", "position_embeddings", "token_type_embeddings")
LINEAR = (
    *(f"attention.self.{name}" for name in ("query", "key", "value")),
    *("attention.output.dense", "intermediate.dense", "output.dense"),
)
"""Linear maps of one of RoBERTa's layers."""
POINTER = b"version https://git-lfs"
"""First bytes of a file that Git LFS has not replaced by its content."""


def missing_resnet101(file: Path) -> list[str]:
    """Describes the file that `pretrained.resnet101` needs, if it is missing or a pointer of Git LFS."""
    return _missing(file, RESNET101)


def require_published(file: Path) -> None:
    """Checks that a file with the name of torchvision's is torchvision's.

    Raises:
        RepriseError: if its SHA-256 is another.
    """
    expected = SHA256.get(file.name, "")
    with file.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest() if expected else ""
    if not found.startswith(expected):
        raise RepriseError(
            f"{file}: its SHA-256 begins with {found[: len(expected)]}, expected {expected}, that of "
            f"{RESNET101}; download it again, or give other weights another name"
        )


def missing_roberta(folder: Path) -> list[str]:
    """Describes each file or package that `pretrained.Roberta` needs, if it is missing or that of another
    model."""
    problems = extras.missing("transformers")
    config, weights = folder / CONFIG, weight_files(folder)
    lacks_config = _missing(config, f"of {ROBERTA}")
    problems += lacks_config
    if not lacks_config and (found := not_roberta(folder) or _other_size(config)):
        problems.append(f"{config}: of {ROBERTA}, but found {found}")
    what = f"weights of {ROBERTA}"
    lacks_weights = [line for file in weights or [folder / WEIGHTS[0]] for line in _missing(file, what)]
    problems += lacks_weights
    if weights and not lacks_weights and (found := _incomplete(weights, config)):
        problems.append(f"{weights[0]}: {what}, but found {found}")
    names = next((names for names in TOKENIZERS if os.path.isfile(folder / names[0])), TOKENIZERS[0])
    return problems + [line for name in names for line in _missing(folder / name, f"tokenizer of {ROBERTA}")]


def _missing(file: Path, what: str) -> list[str]:
    """Describes a file that is missing, unreadable, empty or a pointer of Git LFS."""
    if not (os.access(file, os.R_OK) and file.is_file() and file.stat().st_size > 0):
        return [f"{file}: {what}"]
    with file.open("rb") as stream:
        is_pointer = stream.read(len(POINTER)) == POINTER
    return [f"{file}: {what}, but found a pointer of Git LFS; run git lfs pull there"] if is_pointer else []


def not_roberta(folder: Path) -> str:
    """Describes the other model that a folder's config.json is of; empty if it is RoBERTa's."""
    config = _mapping(folder / CONFIG)
    kind, architectures = config.get("model_type"), config.get("architectures") or []
    if kind == "roberta" and all(str(name).startswith("Roberta") for name in architectures):
        return ""
    return f"model_type {quoted(kind)} with architectures {quoted(architectures)}, not 'roberta'"


def _other_size(file: Path) -> str:
    """The size in a config.json that none of RoBERTa's models has; empty if one has it."""
    config = _mapping(file)
    size = {name: config.get(name) for name in SIZES["roberta-base"]}
    if size in SIZES.values():
        return ""
    expected = " or ".join(f"{_listed(each)} ({name})" for name, each in SIZES.items())
    return f"{_listed(size)}, not {expected}"


def _listed(size: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {quoted(value)}" for name, value in size.items())


def weight_files(folder: Path) -> list[Path]:
    """The files of RoBERTa's weights: one, or an index and its shards; none if there are none."""
    file = next((folder / name for name in WEIGHTS if os.path.isfile(folder / name)), None)
    if file is None or not file.name.endswith(INDEX):
        return [file] if file else []
    shards = _mapping(file).get("weight_map")
    names = set(shards.values()) if isinstance(shards, dict) else set()
    return [file, *(folder / name for name in sorted(map(str, names)))]


def roberta_files(folder: Path) -> list[Path]:
    """The files that `pretrained.Roberta` reads; a folder may hold others, such as weights for TensorFlow."""
    names = (CONFIG, *(name for names in TOKENIZERS for name in names), *TOKENIZER_SETTINGS)
    return sorted(
        [*(folder / name for name in names if os.path.isfile(folder / name)), *weight_files(folder)]
    )


def tensor_names(layers: int) -> list[str]:
    """Names of the tensors of a RoBERTa with this number of layers, without pooler and head."""
    both = ("weight", "bias")
    parts = [(*LINEAR, "attention.output.LayerNorm", "output.LayerNorm")] * layers
    return [
        *(f"embeddings.{name}.weight" for name in EMBEDDINGS),
        *(f"embeddings.LayerNorm.{kind}" for kind in both),
        *(
            f"encoder.layer.{i}.{part}.{kind}"
            for i, names in enumerate(parts)
            for part in names
            for kind in both
        ),
    ]


def _incomplete(weights: list[Path], config: Path) -> str:
    """Describes what the headers of weights in safetensors' format tell to be missing or damaged; empty if
    nothing is, or if the weights have another format."""
    files = [file for file in weights if file.suffix == ".safetensors"]
    layers = _mapping(config).get("num_hidden_layers")
    if not files or type(layers) is not int or layers > max(s["num_hidden_layers"] for s in SIZES.values()):
        return ""
    found: set[str] = set()
    for file in files:
        with file.open("rb") as stream:
            size = int.from_bytes(stream.read(8), "little")
            header = _parsed(stream.read(size) if size < file.stat().st_size else b"")
        try:
            end = max(entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__")
        except (ValueError, LookupError, TypeError):  # no tensors, or no header
            end = None
        if end is None or 8 + size + end != file.stat().st_size:
            return f"{file.name} damaged or truncated"
        found |= {name.removeprefix("roberta.") for name in header}
    names = tensor_names(layers)
    return lacking([name for name in names if name not in found], len(names))


def lacking(missing: list[str], of: int) -> str:
    """Says how many tensors are missing, and the first of them; empty if none is."""
    return f"{of - len(missing)} of {of} tensors, without {first(missing)}" if missing else ""


def first(names: Iterable[str], most: int = 3) -> str:
    """The first of some names, and how many more there are."""
    listed = list(names)
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more


def _mapping(file: Path) -> dict[str, Any]:
    """The mapping in a JSON file; empty if there is none."""
    try:
        return _parsed(file.read_bytes())
    except OSError:
        return {}


def _parsed(content: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {}


def digest(*files: Path) -> str:
    """SHA-256 of the names and contents of files."""
    sums = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            sums.update(f"{file.name} {hashlib.file_digest(stream, 'sha256').hexdigest()}\n".encode())
    return sums.hexdigest()
