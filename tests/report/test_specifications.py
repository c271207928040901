"""The drawing of specification curves: its panels, and the choices below each."""

import io

from PIL import Image

from reprise.report import specifications
from reprise.report.drawings import OURS, Span
from reprise.report.schema import Claim, Headline, Paper, Reading


def spans(*names):
    return [Span(name, "reproduced", "", 1.0, 0.5, 1.5) for name in names]


def test_each_choice_has_the_settings_that_make_it():
    curve = spans("d = 2, rate = 1", OURS, "d = 2, rate = 3", "batch halved, for as long")
    assert specifications._choices(curve) == {
        OURS: {1}, "batch halved, for as long": {3}, "d = 2": {0, 2}, "rate = 1": {0}, "rate = 3": {2},
    }  # fmt: skip


def test_headlines_with_several_settings_are_drawn():
    reading = Reading(name="d = 2", verdict="contradicted", observed=-1.0, low=-2.0, high=0.0, reference=0.0,
                      seeds=5, p_reproduced=1.0, p_contradicted=0.01, p_tied=1.0)  # fmt: skip
    common = {
        "kind": "ordering", "relation": "above", "here": "reproduced", "observed": 1.0, "reference": 0.0,
        "own_low": 0.5, "own_high": 1.5, "margin": 0.0, "values": [], "cells": [], "unit": "score",
        "is_one_scale": True,
    }  # fmt: skip
    claims = [
        Claim.model_construct(id="k/f/open", settings=[reading], **common),
        Claim.model_construct(id="k/f/closed", settings=[], **common),
    ]
    paper = Paper.model_construct(
        claims=claims, headlines=[Headline(quotation="q", claim=claim.id, caveats=[]) for claim in claims]
    )
    assert list(specifications.curves(paper)) == ["k/f/open"]
    with Image.open(io.BytesIO(specifications.drawn(paper))) as image:
        assert image.width > 900
