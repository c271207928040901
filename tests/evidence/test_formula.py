"""Formulas beside the functions that try them, on one of which both forms are known: (a + b)² and its wrong
expansion a² + b²."""

from dataclasses import dataclass

import numpy as np
import pytest

from reprise.contract.experiment import Context
from reprise.errors import RepriseError
from reprise.evidence.comparison import IDENTITY_TOLERANCE
from reprise.evidence.formula import Errors, Form, checks, claims, formula, misprinted
from reprise.evidence.identities import Checked, tried
from reprise.evidence.judgement import judge


@dataclass(frozen=True)
class Pair:
    a: float
    b: float

    @property
    def sizes(self):
        return {"terms": 2}


def pair(rng, largest):
    return Pair(*rng.uniform(1, largest, 2))


def single(rng, largest):
    return Pair(rng.uniform(1, largest), 0.0)


@misprinted(
    "binomial",
    kind="typo",
    at="Eq. 1",
    where="Eq. 1 and its proof",
    printed=Form("The square of a sum is a² + b².", "a² + b²", "a^2+b^2"),
    corrected=Form("The square of a sum is a² + 2ab + b².", "a² + 2ab + b²", "a^2+2ab+b^2"),
    tried_at=pair,
)
def square_of_a_sum(at):
    square, parts = (at.a + at.b) ** 2, at.a**2 + at.b**2
    return Errors(abs(parts / square - 1), abs((parts + 2 * at.a * at.b) / square - 1))


@formula("lemma1/one", "The square of one term is its square.", at="Lemma 1", tried_at=single)
def square_of_one(at):
    return abs((at.a + at.b) ** 2 / at.a**2 - 1)


@formula("lemma2/mean", "2ab is at most a² + b².", at="Lemma 2", tried_at=pair, is_bound=True)
def inequality_of_means(at):
    return max(0.0, 2 * at.a * at.b - at.a**2 - at.b**2)


FORMULAS = (square_of_a_sum, square_of_one, inequality_of_means)


def table(points):
    return {"identities": tried(checks(FORMULAS), range(points), 9, ("terms",), Context())}


def test_an_unknown_kind_of_erratum_names_the_nearest():
    form = Form("It is.", "0")
    with pytest.raises(RepriseError, match="binomial: unknown kind of erratum 'typos'; did you mean 'typo'"):
        misprinted("binomial", kind="typos", at="Eq. 1", printed=form, corrected=form, tried_at=pair)


def test_claims_follow_from_formulas_and_are_judged_by_their_errors():
    stated = claims("k", *FORMULAS)
    assert [(claim.id, claim.kind, claim.form, claim.erratum, claim.source) for claim in stated] == [
        ("k/binomial/printed", "identity", "printed", "typo", "Eq. 1"),
        ("k/binomial/corrected", "identity", "ours", "typo", "Eq. 1"),
        ("k/lemma1/one", "identity", "printed", "", "Lemma 1"),
        ("k/lemma2/mean", "inequality", "printed", "", "Lemma 2"),
    ]
    assert [claim.statement for claim in stated[:2]] == [
        "The square of a sum is a² + b².",
        "The square of a sum is a² + 2ab + b².",
    ]
    verdicts = [judge(claim, table(200)).verdict for claim in stated]
    assert verdicts == ["contradicted", "reproduced", "reproduced", "reproduced"]


def test_an_erratum_follows_from_a_misprint_and_names_the_claims_that_show_it():
    erratum = square_of_a_sum.erratum("k")
    assert (erratum.id, erratum.kind, erratum.where) == ("k/binomial", "typo", "Eq. 1 and its proof")
    assert (erratum.printed, erratum.corrected) == ("a² + b²", "a² + 2ab + b²")
    assert (erratum.printed_formula, erratum.corrected_formula) == ("a^2+b^2", "a^2+2ab+b^2")
    assert erratum.shown_by == tuple(claim.id for claim in square_of_a_sum.claims("k"))
    with pytest.raises(ValueError, match="k/lemma1/one: no misprint"):
        square_of_one.erratum("k")


def test_formulas_of_one_point_share_its_random_numbers_which_hang_on_its_name_alone():
    """The rows are those of checks written out by hand."""

    def by_hand(rng, largest):
        at = pair(rng, largest)
        forms = square_of_a_sum.error(at)._asdict()
        return Checked(
            at.sizes, {"binomial": forms, "lemma2/mean": {"printed": inequality_of_means.error(at)}}
        )

    by_hand.__name__ = "pair"
    both = tried([by_hand], range(5), 9, ("terms",), Context())
    rows = table(5)["identities"]
    assert rows[rows["identity"] != "lemma1/one"].reset_index(drop=True).equals(both)
    right = rows.query("form == 'corrected' or identity != 'binomial'")["relative_error"]
    assert (right < IDENTITY_TOLERANCE).all()
    ours = rows.query("identity == 'binomial' and form == 'printed'")["relative_error"]
    assert np.all(ours > IDENTITY_TOLERANCE)
