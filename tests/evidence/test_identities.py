"""Formulas at random points: one row a form, random numbers of a check's own, claims that read them."""

import numpy as np
import pytest
from stating import stated

from reprise.contract.experiment import Context
from reprise.evidence.comparison import identity
from reprise.evidence.identities import (
    Checked,
    as_printed,
    below_zero,
    error_of,
    relative_error,
    size,
    tried,
)
from reprise.evidence.judgement import judge


def square(rng, largest):
    """(a + b)² with and without its mixed term."""
    a, b = rng.uniform(1, 2, 2)
    errors = {
        "printed": relative_error(a**2 + b**2, (a + b) ** 2),
        "corrected": relative_error(a**2 + 2 * a * b + b**2, (a + b) ** 2),
    }
    return Checked({"inputs": size(rng, 1, largest)}, {"square": errors})


def sine(rng, largest):
    x = rng.normal()
    return Checked({}, {"sine": as_printed(relative_error(np.sin(-x), -np.sin(x)))})


def table(*checks, points=range(20)):
    return tried(checks, points, 4, ("inputs", "outputs"), Context())


def test_a_row_an_identity_form_and_point():
    found = table(square, sine)
    assert len(found) == 20 * 3
    assert (found["outputs"] == 0).all()
    assert set(found.loc[found["identity"] == "square", "inputs"]) == {1, 2, 3, 4}
    assert (found.loc[found["identity"] == "sine", "inputs"] == 0).all()


def test_claims_read_their_own_form():
    tables = {"identities": table(square, sine, points=range(200))}

    def verdict(name, form="printed"):
        claim = stated(identity(error_of(name, form)))
        return judge(claim, tables).verdict

    assert (verdict("square"), verdict("square", "corrected")) == ("contradicted", "reproduced")
    assert verdict("sine") == "reproduced"
    assert list(error_of("square", "corrected")(tables).index) == list(range(200))


def test_a_checks_numbers_do_not_depend_on_company_or_order():
    alone = table(square, points=[7])
    among = table(sine, square).query("identity == 'square' and seed == 7")
    assert alone.to_dict("list") == among.to_dict("list")


def test_below_zero():
    assert below_zero(np.array([0.0, 2.0])) == 0
    assert below_zero(np.array([-1.0, 2.0])) == pytest.approx(0.5)
