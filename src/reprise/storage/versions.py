"""Versions of Python and of the libraries that code uses, for the keys of what it makes.

What a library itself depends on is left out: numba pins llvmlite, scikit-image carries its photographs.
"""

import hashlib
import json
import sys
from collections.abc import Iterable
from functools import cache
from importlib import metadata

from reprise.storage import closure
from reprise.storage.closure import Symbol

DISTRIBUTIONS = {"PIL": "pillow", "skimage": "scikit-image", "sklearn": "scikit-learn", "yaml": "PyYAML"}
"""The package on the index that holds a library, where its name is another; `packages_distributions` would
take a quarter of a second."""
ANNOTATIONS = {"jaxtyping"}
"""Libraries that annotate tensors with shapes, which nothing reads when a computation runs."""
ABSENT = "not installed"
PYTHON = "Python"


def of(libraries: Iterable[str]) -> dict[str, str]:
    """The version of Python, without its last part, and of each library, by the name of its package.

    Args:
        libraries: by the names that are imported.
    """
    found = (item for library in sorted(set(libraries) - ANNOTATIONS) for item in _installed(library))
    return {PYTHON: "{}.{}".format(*sys.version_info), **dict(found)}


def code_and_versions(*symbols: Symbol, extra: bytes = b"") -> str:
    """16 hexadecimal digits over `closure_hash` and the versions of Python and the libraries used."""
    return joined(closure.closure_hash(*symbols, extra=extra), of(closure.libraries(*symbols)))


def joined(code: str, versions: dict[str, str]) -> str:
    """16 hexadecimal digits over a hash of code and versions."""
    return hashlib.sha256(json.dumps([code, versions], sort_keys=True).encode()).hexdigest()[:16]


@cache
def _installed(library: str) -> list[tuple[str, str]]:
    """Each package that holds a library, with its version."""
    names = [DISTRIBUTIONS.get(library, library)]
    for find in (lambda: names, lambda: metadata.packages_distributions().get(library, [])):
        try:
            if found := [(name, metadata.version(name)) for name in sorted(set(find()))]:
                return found
        except metadata.PackageNotFoundError:
            continue
    return [(library, ABSENT)]
