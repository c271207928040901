"""Ids as people write them: `fig4`, `Figure 6(a)`, `jing2022/fig06a`, the name of a Snakemake rule."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Literal, NamedTuple

from reprise.engine import registry
from reprise.errors import RepriseError

Kind = Literal["paper", "experiment", "figure or table", "claim"]
SHORT = {
    "figure": "fig",
    "tab": "table",
    "section": "sec",
    "appendix": "app",
    "equation": "eq",
    "theorem": "thm",
    "proposition": "prop",
    "corollary": "cor",
}
"""Words that ids shorten."""
MOST = 12
"""Candidates that an error lists, at most."""
NEAREST, ALIKE = 3, 0.6
"""Most ids that are offered for an unknown one, and their least similarity with it, from 0 to 1."""


class Id(NamedTuple):
    kind: Kind
    id: str


def find(written: str, *kinds: Kind) -> Id:
    """The paper, experiment, figure, table or claim that an id names. Capitals, spaces and punctuation,
    leading zeros and long words for short ones do not count; the paper's key may be missing. A figure or
    table may be called as the paper numbers it.

    Args:
        kinds: those that are looked for; by default all.

    Raises:
        RepriseError: if nothing or more than one thing is called so, naming the nearest or the candidates.
    """
    known = [each for each in _known() if not kinds or each.kind in kinds]
    if exact := [each for each in known if each.id == written]:
        return exact[0]
    name = spelled(written)
    found = [each for each in known if name in _names(each)]
    if len(found) == 1:
        return found[0]
    if found:
        raise RepriseError(f"'{written}' may be {_listed([each.id for each in found])}; write one of them")
    what = " or ".join(kinds) if kinds else "id"
    raise RepriseError(f"unknown {what} '{written}'; {_nearest(name, known)}{_list_them(written, kinds)}")


def experiments(found: Id) -> list[str]:
    """The experiments that belong to what an id names: to a paper all its own, to a figure, a table or a
    claim the one that it is from; none to a claim that no experiment decides."""
    if found.kind == "paper":
        return list(registry.paper(found.id).experiments)
    if found.kind == "experiment":
        return [found.id]
    if found.kind == "figure or table":
        return [registry.artifact(found.id).experiment]
    decided_by = registry.claim(found.id)[1]
    return [decided_by.id] if decided_by else []


def experiment(written: str) -> str:
    """The one experiment that an id names, or that a figure, a table or a claim is from.

    Raises:
        RepriseError: as `find` does; of a paper, and of a claim that no experiment decides.
    """
    found = find(written)
    several = experiments(found)
    if len(several) != 1:
        has = f"has {_listed(several)}; write one of them" if several else "is decided by no experiment"
        raise RepriseError(f"{found.kind} {found.id} {has}")
    return several[0]


def papers(*written: str) -> list[str]:
    """The keys of the papers that ids name, each once; `jing2022,tian2023` names two.

    Raises:
        RepriseError: as `find` does, and if there are commas alone, as from variables that are empty.
    """
    each = [id.strip() for several in written for id in several.split(",")]
    named = list(filter(None, each))
    if not named and any(written):
        raise RepriseError(f"'{' '.join(written)}' names no paper; there are: {', '.join(registry.papers())}")
    return list(dict.fromkeys(find(id, "paper").id for id in named))


def spelled(written: str) -> str:
    """Normalises the spelling of an id: `fig6a` for `Figure 6(a)` and `fig06a`."""
    text = re.sub(r"[a-z]+", lambda word: SHORT.get(word[0], word[0]), written.lower())
    text = re.sub(r"(?<!\d)(?<!\d\.)0+(?=\d)", "", text)  # the zeros of 04, not those of 100 and 0.05
    return re.sub(r"[\W_]", "", text)


def _known() -> Iterator[Id]:
    yield from (Id("paper", id) for id in registry.papers())
    yield from (Id("experiment", id) for id in registry.experiments())
    yield from (Id("figure or table", id) for id in registry.artifacts())
    yield from (Id("claim", id) for id in registry.claims())


def _names(each: Id) -> set[str]:
    """All that something may be called, as `spelled` has it."""
    key, _, own = each.id.partition("/")
    called = [own] if own else []
    if each.kind == "figure or table":
        called.append(registry.artifact(each.id).number)
    return {spelled(name) for own in called for name in (own, f"{key}/{own}")} or {spelled(key)}


def _nearest(name: str, known: list[Id]) -> str:
    """Ids that begin as a name does or are like it, as a question."""
    by_name = {called: each.id for each in reversed(known) for called in _names(each)}
    begun = [by_name[called] for called in sorted(by_name) if name and called.startswith(name)]
    alike = [by_name[called] for called in get_close_matches(name, by_name, n=NEAREST, cutoff=ALIKE)]
    near = list(dict.fromkeys([*begun, *alike]))[:NEAREST]
    return f"did you mean {_listed(near)}? " if near else ""


def _listed(ids: list[str]) -> str:
    shown, rest = ids[:MOST], len(ids) - MOST
    if rest > 0:
        return f"{', '.join(shown)} or {rest} more"
    return " or ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def _list_them(written: str, kinds: tuple[Kind, ...]) -> str:
    if kinds == ("paper",):
        return f"there are: {', '.join(registry.papers())}"
    key = next((key for key in registry.papers() if spelled(written).startswith(spelled(key))), "")
    words = ["list them with: reprise list", key, "--claims" if kinds == ("claim",) else ""]
    return " ".join(filter(None, words))
