"""The one exception for mistakes that a user can mend."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

LEAST_ALIKE = 0.7
"""Least similarity, from 0 to 1, of an unknown name with the known name that may have been meant."""
INTERRUPTION = "reprise: interrupted; what was saved is kept, and an experiment resumes from it"
"""Message of a command that Ctrl-C has ended."""
INTERRUPTED = 130
"""Exit code after Ctrl-C, as in shells."""


EXTRAS = {
    "latex2mathml": "workflow",
    "pycocotools": "multimodal",
    "seaborn": "workflow",
    "skimage": "workflow",
    "snakemake": "workflow",
    "tabulate": "workflow",
    "timm": "timm",
    "transformers": "multimodal",
}
"""The extra of pyproject.toml that installs a package, by the name that is imported."""


class RepriseError(Exception):
    """A mistake that a user can mend. The message, printed without a traceback, says what is wrong, where,
    what was expected and what to do."""

    def _render_traceback_(self) -> list[str]:
        """The lines that IPython shows in a notebook, in place of a traceback."""
        return [f"reprise: error: {self}"]


class NotInstalledError(RepriseError):
    """A package is missing that one of the extras installs."""

    def __init__(self, package: str) -> None:
        """
        Args:
            package: one of `EXTRAS`.
        """
        super().__init__(f"needs the package {package}, of the extra `{EXTRAS[package]}`: {install(package)}")


def install(package: str) -> str:
    """The command that installs a package of `EXTRAS`. pip takes Reprise as it is installed, also from a
    path, and adds what the extra names."""
    return f"pip install 'reprise-ssl[{EXTRAS[package]}]'"


def unknown(what: str, name: str, known: Iterable[str], rest: str) -> RepriseError:
    """The error for a name that is not known, with the known one that may have been meant.

    Args:
        what: the kind of name: `paper`.
        rest: what else to say: which names there are.
    """
    return RepriseError(f"unknown {what} '{name}'; {_guess(name, known)}{rest}")


def one_of(name: str, known: Iterable[str]) -> str:
    """The known names, and first the one that may have been meant by an unknown one."""
    names = list(known)
    return f"{_guess(name, names)}allowed: {', '.join(names)}"


def _guess(name: str, known: Iterable[str]) -> str:
    near = alike(str(name), known)
    return f"did you mean '{near}'? " if near else ""


def alike(name: str, known: Iterable[str]) -> str:
    """The known name that may have been meant; empty if none is like it."""
    return next(iter(get_close_matches(name, list(known), n=1, cutoff=LEAST_ALIKE)), "")


@contextmanager
def naming_extras() -> Iterator[None]:
    """Says which extra installs what cannot be imported.

    Raises:
        NotInstalledError: in place of an error that is or was raised from the lack of such a package.
    """
    try:
        yield
    except Exception as error:
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, ModuleNotFoundError) and cause.name in EXTRAS:
                raise NotInstalledError(cause.name) from error
            # pandas 2 raises an ImportError of its own from none.
            cause = cause.__cause__ or (cause.__context__ if isinstance(cause, ImportError) else None)
        raise
