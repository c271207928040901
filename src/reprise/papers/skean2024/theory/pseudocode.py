"""Appendix A: lines of the pseudocode, against what they are said to calculate."""

import numpy as np

from reprise.evidence.claim import Quotation
from reprise.evidence.errata import Misprint, Text
from reprise.evidence.formula import Errors, Formula, formula
from reprise.papers.skean2024.theory.norms import off_by
from reprise.papers.skean2024.theory.points import Embeddings, Views, energy, two_views


def centred(z: Embeddings) -> Embeddings:
    return z - z.mean(0)


def by_dimension(z: Embeddings) -> Embeddings:
    """`D**0.5 * (Z / Z.norm(dim=0))` for centred embeddings; D, undefined in the pseudocode, is read as d."""
    z = centred(z)
    return z.shape[1] ** 0.5 * z / np.linalg.norm(z, axis=0)


@formula(
    "appA-norm",
    "The pseudocode's `{}` gives all dimensions the same variance.",
    at="Appendix A",
    quotes=Quotation("normalize dimensions to sqrt(D) std", at="Appendix A"),
    word="normalize dimensions",
    wrong=Misprint(
        "typo",
        printed=Text("Z / Z.norm()", r"Z/\Vert Z\Vert_F"),
        corrected=Text("Z / Z.norm(dim=0)", r"Z_{:,d}/\Vert Z_{:,d}\Vert_2\quad\text{for each dimension }d"),
        note="as printed one factor scales the whole matrix, whose variances stay unequal, and the loss all "
        "but ignores invariance: its gradient is at most 1.5 % of the variance's at the paper's N and d",
        changes_result=True,
    ),
    tried_at=two_views,
)
def one_norm(point: Views) -> Errors:
    z = centred(point.z1)

    def spread(normalised: Embeddings) -> float:
        variances = normalised.var(0)
        return float(variances.std() / variances.mean())

    return Errors(printed=spread(z / np.linalg.norm(z)), corrected=spread(z / np.linalg.norm(z, axis=0)))


@formula(
    "appA-log",
    "The pseudocode's `{}` is one view's variance term of Eq. 4.",
    at="Appendix A",
    quotes=Quotation("calculate variance (Frobenius norm) term", at="Appendix A"),
    word="calculate variance",
    wrong=Misprint(
        "typo",
        printed=Text("log(norm(Z.T @ Z))", r"\log\Vert Z^{\top}Z\Vert_F"),
        corrected=Text("log(norm(Z.T @ Z)**2)", r"\log\Vert Z^{\top}Z\Vert_F^2"),
        note="as printed it is half of the term, so that invariance weighs twice as much",
        changes_result=True,
    ),
    tried_at=two_views,
)
def half_of_the_logarithm(point: Views) -> Errors:
    z = by_dimension(point.z1)
    norm, expected = np.linalg.norm(z.T @ z), np.log(energy(z))
    return Errors(printed=off_by(np.log(norm), expected), corrected=off_by(np.log(norm**2), expected))


FORMULAS: tuple[Formula, ...] = (one_norm, half_of_the_logarithm)
