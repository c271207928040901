"""Finds a model's weights in whatever self-supervised learning code saves: in nested dicts, under any prefix,
beside projectors, heads, queues, teachers and optimisers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from reprise.annex.diagnose.contents import INDEX, WHOLE, content, leaves, not_loaded, unread, words
from reprise.errors import RepriseError

COUNTED = "num_batches_tracked"
"""A buffer of batch normalisation that evaluation does not use, and that old checkpoints lack."""
COMPILED = "_orig_mod."
"""torch.compile puts this into the names of a module's tensors, anywhere in a network."""
LISTED = 4
"""Names in a list, at most; further ones are counted."""


class Naming(NamedTuple):
    """Names that a checkpoint may have for a model's tensors, behind a prefix.

    Attributes:
        keys: each name's key in the model's state dict.
        how: what is unusual about the names, for a note.
    """

    keys: dict[str, str]
    how: str


class Saved(NamedTuple):
    """The tensors of a file.

    Attributes:
        tensors: by the keys that lead to each, joined by dots.
        entries: the keys that lead to the dict that each lies in, joined by dots.
        unread: names of the classes and functions that were not loaded.
    """

    tensors: dict[str, Tensor]
    entries: dict[str, str]
    unread: list[str]


def load(net: nn.Module, name: str) -> str:
    """Gives a model its weights from a file.

    Args:
        name: `FILE`, or `FILE:PREFIX` where several weights in it fit: `checkpoint.pth:teacher`. A folder of
            Hugging Face's counts as a file.

    Returns:
        A note: which entry and prefix were taken, and what was left out.

    Raises:
        RepriseError: if the file cannot be read; if not exactly one prefix has all tensors of the model, in
            their shapes; or if there are further ones in the same modules.
    """
    file, prefix = split(name)
    folder = file.parent if file.name in WHOLE or file.name.endswith(INDEX) else file
    if prefix is None and (folder / "config.json").is_file() and (inner := _of_transformers(net)) is not None:
        return _from_pretrained(inner, folder)
    saved = _saved(file)
    fits = {place: naming for naming in _namings(net) for place in _places(net, naming, saved.tensors)}
    if not fits:
        raise RepriseError(f"{file}: does not fit the model: {_misfit(net, saved)}")
    place = _chosen(file, list(fits), prefix)
    keys, how = fits[place]
    taken = {path: keys[key] for key in keys if (path := _join(place, key)) in saved.tensors}
    left_out = _roots(saved.tensors, taken)
    if inside := [root for root in left_out if _is_inside(root, place)]:
        raise RepriseError(
            f"{file}: does not fit the model: it has {listed(inside)} as well, inside modules that the model "
            "has; use the larger network that was trained"
        )
    try:
        net.load_state_dict(net.state_dict() | {key: saved.tensors[path] for path, key in taken.items()})
    except Exception as error:  # sparse or quantised tensors; and a model's own loading may raise anything
        raise RepriseError(f"{file}: does not fit the model: {words(error)}") from None
    where = _where(place, saved.entries[next(iter(taken))])
    rest = listed([f"{root} ({count})" for root, count in left_out.items()]) or "nothing"
    note = f"Weights from {file.name}: {len(taken)} tensors{where}{how}; left out: {rest}"
    return note + (f"; not loaded: {listed(saved.unread)}." if saved.unread else ".")


def _of_transformers(net: nn.Module) -> nn.Module | None:
    """The network of transformers that a module wraps, if it has all tensors of the module."""
    inner = next((each for each in net.modules() if hasattr(each, "base_model_prefix")), None)
    return inner if inner is not None and len(inner.state_dict()) == len(net.state_dict()) else None


def _from_pretrained(net: Any, folder: Path) -> str:
    """Reads a folder as transformers does, which renames tensors when it saves and when it reads them."""
    from transformers import logging

    content(folder, "weights")  # refuses what is damaged or pickled
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()  # its report is the note and the message below
    logging.disable_progress_bar()
    try:
        read, info = type(net).from_pretrained(
            folder, config=net.config, local_files_only=True, output_loading_info=True
        )
        found = {key: value for key, value in read.state_dict().items() if key not in info["missing_keys"]}
        lacking = sorted(net.state_dict().keys() - found.keys())
        if not lacking:
            net.load_state_dict({key: found[key] for key in net.state_dict()})
    except Exception as error:  # shapes that differ, and whatever else transformers raises
        raise RepriseError(f"{folder}: does not fit the model: {words(error)}") from None
    finally:
        logging.set_verbosity(verbosity)
        logging.enable_progress_bar()
    if lacking:
        raise RepriseError(
            f"{folder}: does not fit the model: it lacks {listed(lacking)}; use the network that was trained"
        )
    rest = listed(sorted(info["unexpected_keys"])) or "nothing"
    return f"Weights from {folder.name}, read by transformers: {len(_state(net))} tensors; left out: {rest}."


def split(name: str) -> tuple[Path, str | None]:
    """The file, and the key of `FILE:KEY` unless a file has that whole name."""
    cuts = [place for place, letter in enumerate(name) if letter == ":" and place]
    if Path(name).exists() or not cuts:
        return Path(name), None
    cut = next((place for place in reversed(cuts) if Path(name[:place]).exists()), cuts[-1])
    file, key = Path(name[:cut]), name[cut + 1 :]
    return (file, key) if file.exists() or file.suffix else (Path(name), None)


def listed(names: Sequence[str]) -> str:
    """The first names, and the number of the others."""
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more


def _saved(file: Path) -> Saved:
    found = content(file, "weights")
    tensors: dict[str, Tensor] = {}
    entries: dict[str, str] = {}
    for path, value in leaves(found):
        if isinstance(value, np.ndarray) and value.dtype.kind in "fiu":
            value = torch.from_numpy(np.array(value))
        if isinstance(value, Tensor) and path:
            name = ".".join(path).replace(COMPILED, "")
            tensors[name], entries[name] = value, ".".join(path[:-1])
    if not tensors:
        raise not_loaded(file, found, "weights") or RepriseError(
            f"{file}: holds no weights; expected a state dict, as torch.save(model.state_dict(), FILE)"
        )
    return Saved(tensors, entries, list(unread(found)))


def _state(net: nn.Module) -> dict[str, Tensor]:
    return {key: value for key, value in net.state_dict().items() if isinstance(value, Tensor)}


def _namings(net: nn.Module) -> Iterator[Naming]:
    """The model's own names, behind the prefix that a wrapper gives all of them; and those that its modules
    have in `nn.Sequential(*net.children())`, as lightly's examples build encoders."""
    keys = list(_state(net))
    modules = zip(*(key.split(".")[:-1] for key in keys), strict=False)
    shared = [level[0] for level in takewhile(lambda level: len(set(level)) == 1, modules)]
    if all(key.count(".") == len(shared) for key in keys):  # one layer, whose name is all that tells it
        shared = []
    own = {".".join(key.split(".")[len(shared) :]).replace(COMPILED, ""): key for key in keys}
    yield Naming(own, "")
    children = [name for name, _ in net.get_submodule(".".join(shared)).named_children()]
    numbers = {name: str(number) for number, name in enumerate(children)}
    heads = {name: name.partition(".")[0] for name in own}
    if set(heads.values()) <= set(numbers) and any(numbers[head] != head for head in heads.values()):
        numbered = {numbers[heads[name]] + name.removeprefix(heads[name]): key for name, key in own.items()}
        yield Naming(numbered, ", numbered as in nn.Sequential(*model.children())")


def _needed(names: Iterable[str]) -> list[str]:
    return [name for name in names if not name.endswith(COUNTED)]


def _counts(naming: Naming, tensors: Mapping[str, Tensor]) -> Counter[str]:
    """Counts, under each prefix, the names that a model needs."""
    needed = set(_needed(naming.keys))
    counts: Counter[str] = Counter()
    for path in tensors:
        parts = path.split(".")
        counts.update(".".join(parts[:cut]) for cut in range(len(parts)) if ".".join(parts[cut:]) in needed)
    return counts


def _places(net: nn.Module, naming: Naming, tensors: Mapping[str, Tensor]) -> list[str]:
    """The prefixes under which all names lie that a model needs, in the model's shapes."""
    needed = len(_needed(naming.keys))
    places = [place for place, count in _counts(naming, tensors).items() if count == needed]
    return [place for place in places if not _reshaped(net, naming, tensors, place)]


def _reshaped(net: nn.Module, naming: Naming, tensors: Mapping[str, Tensor], place: str) -> list[str]:
    """The tensors under a prefix that have another shape in the model."""
    own = _state(net)
    return [
        f"{path} has shape {list(tensors[path].shape)}; the model's has {list(own[key].shape)}"
        for name, key in naming.keys.items()
        if (path := _join(place, name)) in tensors and tensors[path].shape != own[key].shape
    ]


def _misfit(net: nn.Module, saved: Saved) -> str:
    """Says what a file lacks under the prefix that fits best, or which shapes differ there."""
    tensors = saved.tensors
    counted = [(each, *found) for each in _namings(net) for found in _counts(each, tensors).most_common(1)]
    entries = Counter(saved.entries.values())
    firsts = {entry: path for path, entry in reversed(saved.entries.items())}
    holds = [firsts[entry] + f" and {count - 1} more" * (count > 1) for entry, count in entries.most_common()]
    if not counted:
        lacks = f"it has none of {listed(_needed(_state(net)))}"
        return f"{lacks}; it holds {listed(holds)}; use the network that was trained"
    naming, place, _ = max(counted, key=lambda each: each[2])
    needed = _needed(naming.keys)
    if lacking := [naming.keys[name] for name in needed if _join(place, name) not in tensors]:
        lacks = f"it lacks {listed(lacking)}" + (f" under '{place}'{naming.how}" if place else naming.how)
        return (
            f"{lacks}; it holds {listed(holds)}; use the network that was trained, without modules that the "
            "file lacks (model.fc = torch.nn.Identity())"
        )
    return f"{_reshaped(net, naming, tensors, place)[0]}; use the network that was trained"


def _chosen(file: Path, places: list[str], prefix: str | None) -> str:
    """The prefix that a user means, in full or by a part that only one has; without any, the only one."""
    if prefix is None:
        meant = places
    else:
        prefix = prefix.strip(".")
        meant = [place for place in places if place == prefix]
        meant = meant or [place for place in places if prefix and f".{prefix}." in f".{place}."]
    if len(meant) == 1:
        return meant[0]
    names = ", ".join(f"{file}:{place}" for place in meant or places)
    if meant:
        raise RepriseError(f"{file}: {len(meant)} weights in it fit the model; name one: --weights {names}")
    raise RepriseError(f"{file}: no weights of the model under '{prefix}'; these fit: --weights {names}")


def _roots(paths: Mapping[str, Tensor], taken: Mapping[str, str]) -> dict[str, int]:
    """The shortest prefixes under which nothing was taken, each with its number of tensors."""
    inner = {path[:end] for path in taken for end, letter in enumerate(path) if letter == "."}
    roots: Counter[str] = Counter()
    for path in paths:
        if path not in taken:
            parts = path.split(".")
            heads = (".".join(parts[:end]) for end in range(1, len(parts) + 1))
            roots[next((head for head in heads if head not in inner), path)] += 1
    return dict(roots)


def _is_inside(root: str, place: str) -> bool:
    """Tells if something left out belongs to a module of which tensors were taken."""
    if root.endswith(COUNTED) or not root.startswith(_join(place, "")):
        return False
    return "." in root.removeprefix(_join(place, ""))


def _where(place: str, entry: str) -> str:
    """A prefix in words: the dict that tensors lie in, and how their keys there begin."""
    if not _join(place, "").startswith(_join(entry, "")):  # each module has a dict of its own
        entry = place
    behind = place.removeprefix(entry).removeprefix(".")
    return (f", entry '{entry}'" if entry else "") + (f", prefix '{behind}.'" if behind else "")


def _join(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key
