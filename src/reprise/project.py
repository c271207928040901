"""Where a checkout keeps its configs, results and figures."""

from pathlib import Path

from reprise.errors import RepriseError


def root(start: Path | None = None) -> Path:
    """The checkout that holds `start` (the working directory): the nearest folder upwards with a
    `configs/default.yaml`.

    Raises:
        RepriseError: outside a checkout.
    """
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        if (folder / "configs" / "default.yaml").is_file():
            return folder
    raise RepriseError(
        f"{start}: no configs/default.yaml here or above; run this inside a checkout of Reprise"
    )
