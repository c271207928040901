"""Formulas beside the functions that try them, on one of which both forms are known: (a + b)² and its wrong
expansion a² + b²."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from reprise.contract.experiment import Context
from reprise.errors import RepriseError
from reprise.evidence.comparison import IDENTITY_TOLERANCE
from reprise.evidence.errata import Misprint, Text
from reprise.evidence.formula import Errors, checks, claims, formula, without_errors
from reprise.evidence.identities import Checked, tried
from reprise.evidence.judgement import check_refuted, check_reproduced, judge


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


MISPRINT = Misprint(
    "typo",
    printed=Text("a² + b²", "a^2+b^2"),
    corrected=Text("a² + 2ab + b²", "a^2+2ab+b^2"),
    note="its proof inherits it",
)


@formula("binomial", "The square of a sum is {}.", at="Eq. 1, Section 2", wrong=MISPRINT, tried_at=pair)
def square_of_a_sum(at):
    square, parts = (at.a + at.b) ** 2, at.a**2 + at.b**2
    return Errors(abs(parts / square - 1), abs((parts + 2 * at.a * at.b) / square - 1))


@formula("lemma1/one", "The square of one term is its square.", at="Lemma 1", tried_at=single)
def square_of_one(at):
    return Errors(abs((at.a + at.b) ** 2 / at.a**2 - 1), decoy=abs((at.a + at.b) / at.a**2 - 1))


@formula("lemma2/mean", "2ab is at most a² + b².", at="Lemma 2", tried_at=pair, is_bound=True)
def inequality_of_means(at):
    return max(0.0, 2 * at.a * at.b - at.a**2 - at.b**2)


FORMULAS = (square_of_a_sum, square_of_one, inequality_of_means)


def table(points):
    return {"identities": tried(checks(FORMULAS), range(points), 9, ("terms",), Context())}


def test_an_unknown_kind_of_erratum_names_the_nearest():
    wrong = replace(MISPRINT, kind="typos")
    with pytest.raises(RepriseError, match="binomial: unknown kind of erratum 'typos'; did you mean 'typo'"):
        formula("binomial", "It is {}.", at="Eq. 1", wrong=wrong, tried_at=pair)


def test_claims_follow_from_formulas_and_are_judged_by_their_errors():
    stated = claims("k", *FORMULAS)
    assert [(claim.id, claim.kind, claim.form, claim.erratum, claim.source) for claim in stated] == [
        ("k/binomial", "identity", "printed", "typo", "Eq. 1, Section 2"),
        ("k/lemma1/one", "identity", "printed", "", "Lemma 1"),
        ("k/lemma2/mean", "inequality", "printed", "", "Lemma 2"),
    ]
    assert stated[0].statement == "The square of a sum is a² + b²."
    verdicts = [judge(claim, table(200)).verdict for claim in stated]
    assert verdicts == ["contradicted", "reproduced", "reproduced"]
    assert Path(stated[0].code.file).name == "test_formula.py"


def test_a_misprint_is_contradicted_only_where_its_correction_holds():
    (claim, *_) = claims("k", *FORMULAS)
    found = table(200)
    judged = judge(claim, found)
    assert judged.reason == "as printed it fails in 200 of 200 points; as corrected it holds"
    errors = found["identities"]
    neither = {"identities": errors.assign(relative_error=1.0)}
    assert judge(claim, neither).verdict == "inconclusive"
    assert judge(claim, neither).reason == "the corrected form does not hold"
    assert judge(claim, {"identities": errors.assign(relative_error=0.0)}).verdict == "reproduced"


def test_in_an_ideal_world_formulas_hold_and_each_is_refuted_by_an_error():
    stated = claims("k", *FORMULAS)
    ideal = {"identities": without_errors(stated, range(200))}
    for claim in stated:
        check_reproduced(claim, ideal)
        check_refuted(claim, ideal)


def test_an_erratum_follows_from_a_misprint_and_names_the_claim_that_shows_it():
    misprinted, right, _ = claims("k", *FORMULAS)
    erratum = misprinted.own_erratum
    assert (erratum.id, erratum.kind, erratum.where) == ("k/binomial", "typo", "Eq. 1, Section 2")
    assert (erratum.printed, erratum.corrected) == ("a² + b²", "a² + 2ab + b²; its proof inherits it")
    assert (erratum.printed_formula, erratum.corrected_formula) == ("a^2+b^2", "a^2+2ab+b^2")
    assert erratum.shown_by == "k/binomial"
    assert not erratum.changes_result
    assert right.own_erratum is None


def test_decoys_are_in_no_table():
    point = pair(np.random.default_rng(0), 9)
    assert square_of_one.errors(point).keys() == {"printed"}
    assert square_of_a_sum.errors(point).keys() == {"printed", "corrected"}
    assert square_of_one.all_errors(point).decoy > 0


def test_formulas_of_one_point_share_its_random_numbers_which_hang_on_its_name_alone():
    """The rows are those of checks written out by hand."""

    def by_hand(rng, largest):
        at = pair(rng, largest)
        forms = square_of_a_sum.errors(at)
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
