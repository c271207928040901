"""Names on Snakemake's command line. Snakemake ignores a workflow profile or a rule that it does not find,
and so it runs something else than what was asked for."""

from argparse import ArgumentParser
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from reprise.errors import RepriseError, unknown

DEFAULT, NONE = "default", "none"
"""The workflow profile that Snakemake looks for if none is named, and the name that asks for no profile."""


def require_profile(arguments: Sequence[str], root: Path) -> None:
    """Looks for the workflow profile where Snakemake does. (Snakemake itself refuses an unknown `--profile`.)

    Args:
        arguments: those of Snakemake.
        root: the folder of the Snakefile.

    Raises:
        RepriseError: if there is no such profile.
    """
    parser = ArgumentParser(add_help=False)
    parser.add_argument("--workflow-profile")
    name = parser.parse_known_args(arguments)[0].workflow_profile or DEFAULT
    link = root / "profiles"
    if name == NONE or any((folder / name).exists() for folder in (Path(), Path(link.name), link)):
        return
    places = (link, root / "workflow" / link.name)
    known = sorted({file.parent.name for place in places for file in place.glob("*/config.yaml")})
    there_are = f"there are: {', '.join(known)}"
    if any((link / each).exists() for each in known):
        raise unknown("workflow profile", name, known, f"{there_are}; or name a folder, or {NONE}")
    raise RepriseError(
        f"workflow profile '{name}' not found ({there_are}): {link} is not the symbolic link to "
        "workflow/profiles that it must be; git leaves a text file where symbolic links are switched off; "
        "remove it and make it with: ln -sfn workflow/profiles profiles; or name the folder: "
        "--workflow-profile workflow/profiles/NAME"
    )


def require_rules(option: str, names: Iterable[str], rules: Collection[str], there_are: str) -> None:
    """Looks for the rules that an option names.

    Args:
        rules: those that it can name.
        there_are: which these are, in words.

    Raises:
        RepriseError: for any other rule.
    """
    for name in names:
        if name not in rules:
            raise RepriseError(f"{option}: {unknown('rule', name, rules, there_are)}")
