"""The paper's sentences about its own numbers; and the image claims, which are about them too."""

import pytest

from reprise.engine import registry
from reprise.engine.check import Verdicts
from reprise.engine.tiers import load_tier
from reprise.evidence.judgement import check_refuted, check_reproduced, judge

PRINTED = registry.paper("jing2022").printed
IMAGES = registry.experiment("jing2022/projector_spectra").claims


@pytest.fixture
def published():
    return registry.paper("jing2022").printed_numbers()


@pytest.mark.parametrize("claim", PRINTED, ids=lambda claim: claim.id)
def test_the_numbers_say_what_the_paper_says_of_them_and_would_not_if_others_were_printed(published, claim):
    check_reproduced(claim, {"published": published})
    check_refuted(claim, {"published": published})


def test_the_published_versions_rows_are_in_no_claim(published):
    ours = published[~published["artifact"].str.contains("published version")]
    assert len(ours) == len(published) - 2
    for claim in PRINTED:
        assert judge(claim, {"published": ours}) == judge(claim, {"published": published})


def test_a_number_is_the_one_that_its_claim_is_to_reach(published):
    """Each number of our text of the paper has such a claim."""
    ours = published[~published["artifact"].str.contains("published version")]
    reached = {claim.id.removeprefix("jing2022/"): claim.published for claim in IMAGES if claim.published}
    assert reached == dict(zip(ours["key"], ours["value"], strict=True))


def test_check_judges_printed_claims_without_any_run(checkout):
    found = Verdicts(registry.paper("jing2022"), load_tier("default", checkout)).judged().set_index("claim")
    assert set(found.loc[[claim.id for claim in PRINTED], "verdict"]) == {"reproduced"}
    assert set(found.loc[[claim.id for claim in PRINTED], "scale"]) == {""}
    assert set(found.loc[[claim.id for claim in IMAGES], "verdict"]) == {"not run"}
