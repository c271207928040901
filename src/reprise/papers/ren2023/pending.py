"""The claims on MSCOCO, which no experiment of ours can decide yet."""

from reprise.evidence.claims import Claim, ordering

NEEDS = (
    "a trainer of heads on frozen RoBERTa and ResNet-101, which the package does not have yet, and "
    "MSCOCO-2014 at its root"
)


def contrast(name: str, statement: str, unit: str) -> Claim:
    """A difference, paired by seed, that should be positive."""
    return ordering(
        f"ren2023/fig2/{name}",
        statement,
        source="Section 6, Figure 2",
        measure=None,
        above=0.0,
        unit=unit,
        needs=NEEDS,
    )


CLAIMS: list[Claim] = [
    contrast(
        "contrastive-more-accurate",
        "The contrastive model's zero-shot accuracy is above the non-contrastive one's.",
        "percentage points of zero-shot accuracy, MSCOCO val2014",
    ),
    contrast(
        "contrastive-more-balanced",
        "The contrastive model's embeddings are more balanced than the non-contrastive one's.",
        "stable rank, difference",
    ),
    contrast(
        "contrastive-better-conditioned",
        "The contrastive model's embeddings have a smaller condition number than the non-contrastive one's.",
        "log condition number, difference",
    ),
]
