"""What Section 6.1 proposes of the projector."""

from reprise.evidence.claims import Claim, value
from reprise.evidence.measures import column, last

UNITS = {
    "off_diagonal_mass": "1 - mean A_kk²",
    "mass_outside_subspace": "share outside the subspace",
}


def _aligned(id: str, arm: str, statement: str, source: str, mass: str = "off_diagonal_mass") -> Claim:
    return value(
        id,
        statement,
        source=source,
        quantity="score",
        measure=column("trajectory", mass, step=last, arm=arm),
        published=0.0,
        unit=UNITS[mass],
    )


CLAIMS = [
    _aligned(
        "jing2022/sec61/frozen-aligned",
        "frozen",
        "Alignment needs only one of the two layers to evolve: W1 aligns with a frozen W2.",
        "Section 6.1, proposition 1",
    ),
    _aligned(
        "jing2022/sec61/diagonal-aligned",
        "diagonal",
        "W1 aligns with a second layer that is constrained to be diagonal.",
        "Section 6.1, proposition 1",
    ),
    _aligned(
        "jing2022/sec61/low-rank-aligned",
        "low-rank",
        "The leading left singular vectors of W1 move into the subspace that a fixed low-rank W2 reads.",
        "Section 6.1, proposition 2",
        "mass_outside_subspace",
    ),
]
