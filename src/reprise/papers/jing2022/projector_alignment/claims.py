"""What Section 6.1 proposes of the projector."""

from reprise.evidence.claim import Claim
from reprise.evidence.claims import limit, value
from reprise.evidence.comparison import SHARE
from reprise.evidence.measures import column, course, last
from reprise.papers.jing2022.limits import off_diagonal_error


def _aligned(id: str, arm: str, statement: str, word: str) -> Claim:
    return limit(
        id,
        statement,
        source="Section 6.1, proposition 1",
        word=word,
        measure=column("trajectory", "off_diagonal_mass", step=last, arm=arm),
        reaches=0.0,
        resolution=off_diagonal_error(arm),
        course=course("trajectory", "off_diagonal_mass", arm=arm),
        unit="1 - mean A_kk²",
    )


CLAIMS = [
    _aligned(
        "jing2022/sec61/frozen-aligned",
        "frozen",
        "Conjecture (“we suspect”): alignment needs only one of the two layers to evolve; W1 aligns with a "
        "frozen W2.",
        "only requires one of",
    ),
    _aligned(
        "jing2022/sec61/diagonal-aligned",
        "diagonal",
        "Conjecture (“we suspect”): W1 aligns with a second layer that is constrained to be diagonal.",
        "only needs to be diagonal",
    ),
    value(
        "jing2022/sec61/low-rank-aligned",
        "The leading left singular vectors of W1 move into the subspace that a fixed low-rank W2 reads.",
        source="Section 6.1, proposition 2",
        word="only applies",
        quantity="score",
        measure=column("trajectory", "mass_outside_subspace", step=last, arm="low-rank"),
        published=0.0,
        unit="share outside the subspace",
        bounds=SHARE,
        reading="ours: the paper says that the projector applies a gradient to a subspace only",
    ),
]
