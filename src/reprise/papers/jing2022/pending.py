"""The image claims, which no experiment of ours can decide yet."""

from reprise.evidence.claims import Claim, count, ordering, value

NEEDS = "the image trainer with ResNet-50, which the package does not have yet, and ImageNet at its root"
TOP1 = "% linear probe top-1, ImageNet"
DIFFERENCE = "percentage points of linear probe top-1"
FEWER = "collapsed singular values of 2048, difference"


def accuracy(name: str, statement: str, published: float, source: str) -> Claim:
    return value(
        f"jing2022/{name}",
        statement,
        source=source,
        quantity="accuracy",
        measure=None,
        published=published,
        unit=TOP1,
        needs=NEEDS,
    )


def positive(name: str, statement: str, unit: str, source: str) -> Claim:
    """A difference, paired by seed, that should be positive."""
    return ordering(
        f"jing2022/{name}", statement, source=source, measure=None, above=0.0, unit=unit, needs=NEEDS
    )  # fmt: skip


CLAIMS: list[Claim] = [
    value(
        "jing2022/fig2/collapsed-dimensions",
        "About 30 of the 128 singular values of SimCLR's embedding covariance collapse.",
        source="Figure 2, caption",
        quantity="count",
        measure=None,
        published=30,
        unit="collapsed singular values of 128",
        needs=NEEDS,
    ),
    count(
        "jing2022/fig7/collapse-without-projector",
        "Without a projector, singular values of SimCLR's representation covariance collapse: at least one.",
        source="Section 6.1, Figure 7b",
        measure=None,
        at_least=1,
        unit="collapsed singular values of 2048",
        needs=NEEDS,
    ),
    positive(
        "fig7/projector-prevents-collapse",
        "SimCLR's representation has more collapsed singular values without a projector than with one.",
        FEWER,
        "Section 6.1, Figure 7b",
    ),
    positive(
        "fig9/directclr-prevents-collapse",
        "SimCLR's representation without a projector has more collapsed singular values than DirectCLR's.",
        FEWER,
        "Section 6.2, Figure 9",
    ),
    positive(
        "fig9/linear-projector-prevents-collapse",
        "SimCLR's representation has more collapsed singular values with no projector than a linear one.",
        FEWER,
        "Section 6.2, Figure 9",
    ),
    positive(
        "fig10/rest-learns",
        "A linear probe on the part of DirectCLR's representation that its loss does not see beats the same "
        "probe before training.",
        DIFFERENCE,
        "Section 6.2, Figure 10",
    ),
    positive(
        "fig10/through-residual",
        "That part's probe loses accuracy when the last block has no identity shortcut.",
        DIFFERENCE,
        "Section 6.2, Figure 10",
    ),
    accuracy(
        "table1/simclr-nonlinear",
        "SimCLR with a 2-layer nonlinear projector reaches 66.5 %.",
        66.5,
        "Table 1",
    ),
    accuracy(
        "table1/simclr-linear", "SimCLR with a 1-layer linear projector reaches 61.1 %.", 61.1, "Table 1"
    ),
    accuracy("table1/simclr-none", "SimCLR without a projector reaches 51.5 %.", 51.5, "Table 1"),
    accuracy("table1/directclr", "DirectCLR reaches 62.7 % without a projector.", 62.7, "Table 1"),
    positive(
        "table1/directclr-above-linear",
        "DirectCLR is above SimCLR with a trainable linear projector.",
        DIFFERENCE,
        "Abstract, Sections 1, 6.2 and 7, Table 1",
    ),
    positive(
        "table1/nonlinear-above-directclr",
        "SimCLR with a 2-layer nonlinear projector is above DirectCLR.",
        DIFFERENCE,
        "Table 1",
    ),
    positive(
        "table1/linear-above-none",
        "SimCLR with a linear projector is above SimCLR without one.",
        DIFFERENCE,
        "Section 6.1, Table 1",
    ),
    accuracy(
        "sec63/fixed-low-rank",
        "SimCLR with a fixed low-rank projector reaches 62.3 %.",
        62.3,
        "Section 6.3, fixed low-rank projector",
    ),
    accuracy(
        "sec63/trainable-diagonal",
        "SimCLR with a trainable diagonal projector reaches 60.2 %.",
        60.2,
        "Section 6.3, trainable diagonal projector",
    ),
    accuracy(
        "sec63/probe-on-subvector",
        "A linear probe on DirectCLR's sub-vector alone reaches 47.9 %.",
        47.9,
        "Section 6.3, linear probe on subvector",
    ),
    positive(
        "sec63/linear-above-diagonal",
        "SimCLR with a trainable linear projector is above SimCLR with a trainable diagonal one.",
        DIFFERENCE,
        "Section 6.3, trainable diagonal projector",
    ),
    positive(
        "sec63/all-above-subvector",
        "A linear probe on all of DirectCLR's representation is above one on the sub-vector.",
        DIFFERENCE,
        "Section 6.3, linear probe on subvector",
    ),
]
