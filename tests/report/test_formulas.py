"""Formulas as MathML: what browsers are given, and what is refused."""

from xml.etree import ElementTree

import pytest

from reprise.engine import registry
from reprise.errors import RepriseError
from reprise.report.formulas import mathml

PREFIX = "{http://www.w3.org/1998/Math/MathML}"
FORMULAS = {
    f"{erratum.id}, {form}": formula
    for paper in registry.papers().values()
    for erratum in paper.errata
    for form, formula in (("printed", erratum.printed_formula), ("corrected", erratum.corrected_formula))
    if formula
}


def text_of(made):
    return "".join(ElementTree.fromstring(made).itertext())


def test_a_formula_keeps_its_structure():
    root = ElementTree.fromstring(mathml(r"\frac{a}{b} = \lambda_1^2"))
    assert root.tag == f"{PREFIX}math"
    fraction, power = root.find(f".//{PREFIX}mfrac"), root.find(f".//{PREFIX}msubsup")
    assert ["".join(part.itertext()) for part in fraction] == ["a", "b"]
    assert ["".join(part.itertext()) for part in power] == ["λ", "1", "2"]


@pytest.mark.parametrize("name", FORMULAS)
def test_every_formula_of_the_errata_can_be_set(name):
    made = mathml(FORMULAS[name])
    assert "merror" not in made
    assert "\\" not in made
    for parts in ("{}", "[]", "()"):  # braces group, the others are shown, each with its partner
        shown = text_of(made) if parts != "{}" else FORMULAS[name]
        assert shown.count(parts[0]) == shown.count(parts[1]), parts


@pytest.mark.parametrize(
    ("latex", "reason"),
    [
        (r"\unheardof{x}", r"unknown command \\unheardof"),
        (r"\frac{a", "a part of <mfrac> is missing"),
        ("x_", "MissingSuperScriptOrSubscriptError"),
        (r"\left(a", "ExtraLeftOrMissingRightError"),
        ("", "NoAvailableTokensError"),
    ],
)
def test_what_cannot_be_set_is_refused_in_one_line(latex, reason):
    with pytest.raises(RepriseError, match=f"LaTeX that cannot be set: .*{reason}") as raised:
        mathml(latex)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("formula", ["k'", "x_i'", r"\sigma_{k'}^2"])
def test_a_prime_is_no_small_superscript(formula):
    root = ElementTree.fromstring(mathml(formula))
    (prime,) = [element for element in root.iter() if element.text == "′"]
    assert prime.tag == f"{PREFIX}mo"
    assert prime not in [part for each in root.iter(f"{PREFIX}msup") for part in each]
    assert prime not in [part for each in root.iter(f"{PREFIX}msubsup") for part in each]
