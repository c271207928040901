"""Claims of tests, declared as a paper's module declares them."""

from collections.abc import Mapping
from typing import Any

from reprise.evidence.claim import Claim, claim
from reprise.evidence.comparison import Comparison


def stated(
    compared: Comparison | Mapping[str, Comparison],
    id: str = "p/fig1/c",
    statement: str = "s",
    *,
    at: str = "Figure 1",
    **about: Any,
) -> Claim:
    """A claim of this comparison, or of these cells."""

    def made():
        return compared if isinstance(compared, Comparison) else iter(compared.items())

    return claim(id, statement, at=at, **about)(made)
