"""The lemmas, propositions, theorems and formulas of the paper that can be tried at random points."""

from reprise.evidence.claim import Cells, Quotation, claim
from reprise.evidence.comparison import IDENTITY_TOLERANCE, identity
from reprise.evidence.edits import put
from reprise.evidence.formula import claims
from reprise.evidence.identities import error_of
from reprise.papers.esser2024.theory.formulas import FORMULAS

THEORY = claims("esser2024", *FORMULAS)


@claim(
    "esser2024/thm3/converges",
    """For one output the ODE (10) converges: to 0 if all eigenvalues of C are positive, and to an eigenvector
    of the smallest eigenvalue if that is negative.""",
    at="Theorem 3, Section 5.1",
    quotes=Quotation(
        "We further show the convergence of the learning dynamics for the one dimensional embeddings",
        at="Section 1",
    ),
    word="the convergence of",
    reading="Theorem 3, from |q_0| < 1 (`thm3-positive`)",
    looked="the claim, whose numbers the corrected forms of Theorem 3 had shown",
    broken_by=put(
        "identities", "relative_error", 1e3 * IDENTITY_TOLERANCE, identity=["thm3-positive", "thm3/limit"]
    ),
)
def converges() -> Cells:
    yield "positive eigenvalues", identity(error_of("thm3-positive", "corrected"))
    yield "a negative eigenvalue", identity(error_of("thm3/limit", "printed"))
