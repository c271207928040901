"""Identity of a trained network besides its spec and its data: code, and versions of libraries.
Imports no torch, because a run's plan asks which networks of the cache count."""

from collections.abc import Iterator

from pydantic import BaseModel

from reprise.contract import losses
from reprise.storage import versions
from reprise.storage.closure import Symbol, closure_hash, libraries
from reprise.training.objective import Named
from reprise.training.spec import Spec


def symbols(spec: Spec) -> Iterator[Symbol]:
    """The package's symbols whose code determines a network of this spec: the loop, and what the spec
    selects; a user's loss is none."""
    yield "reprise.training.images", "train"
    for _, value in spec:
        if isinstance(value, BaseModel):
            yield type(value).__module__, type(value).__name__
    if isinstance(spec.objective, Named) and not users_loss(spec):
        yield "reprise.objectives", spec.objective.name


def users_loss(spec: Spec) -> str:
    """The name of a user's loss, or none."""
    return spec.objective.name if isinstance(spec.objective, Named) and ":" in spec.objective.name else ""


def code_hash(spec: Spec) -> str:
    """Hash of the code that determines a network. Of a user's loss, the content of its file counts, with the
    local modules that it imports, what they use of the package, and the files that it was seen to read."""
    code, content = list(symbols(spec)), b""
    if name := users_loss(spec):
        loss, seen = losses.foreign(name), losses.seen(name)
        code += loss.symbols
        content = loss.content + repr(sorted(losses.states(seen.files).values())).encode()
    return closure_hash(*code, extra=content)


def versions_used(spec: Spec) -> dict[str, str]:
    """The versions of Python and of the libraries that a training uses."""
    used = libraries(*symbols(spec))
    if name := users_loss(spec):
        loss = losses.foreign(name)
        used |= libraries(*loss.symbols) | loss.libraries | losses.seen(name).libraries
    return versions.of(used)
