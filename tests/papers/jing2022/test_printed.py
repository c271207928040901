"""What the paper says of its own numbers; and the image claims, which are about them too."""

import pytest

from reprise.engine import registry
from reprise.engine.check import Verdicts
from reprise.engine.tiers import load_tier
from reprise.evidence.judgement import judge
from reprise.papers.jing2022.printed import CLAIMS
from reprise.papers.jing2022.projector_spectra.claims import CLAIMS as IMAGES


@pytest.fixture
def published():
    return registry.paper("jing2022").printed_numbers()


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_the_paper_says_of_its_numbers_what_they_say(published, claim):
    assert judge(claim, {"published": published}).verdict == "reproduced"


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_counter_case(published, claim):
    """Upside down and far apart, the numbers contradict every one of the sentences."""
    upside_down = published.assign(value=-10 * published["value"])
    assert judge(claim, {"published": upside_down}).verdict == "contradicted"


@pytest.mark.parametrize("claim", [*CLAIMS, *IMAGES], ids=lambda claim: claim.id)
def test_the_published_versions_rows_are_in_no_claim(published, claim):
    ours = published[~published["artifact"].str.contains("published version")]
    assert len(ours) == len(published) - 2
    if claim in IMAGES:
        outside = set(published["value"]) - set(ours["value"])
        assert claim.published not in outside
    else:
        assert judge(claim, {"published": ours}) == judge(claim, {"published": published})


@pytest.mark.parametrize("claim", [claim for claim in IMAGES if claim.published], ids=lambda claim: claim.id)
def test_values_to_reach_are_the_printed_ones(published, claim):
    assert claim.published in set(published["value"])


def test_check_judges_printed_claims_without_any_run(checkout):
    found = Verdicts(registry.paper("jing2022"), load_tier("default", checkout)).judged().set_index("claim")
    assert set(found.loc[[claim.id for claim in CLAIMS], "verdict"]) == {"reproduced"}
    assert set(found.loc[[claim.id for claim in CLAIMS], "scale"]) == {""}
    assert set(found.loc[[claim.id for claim in IMAGES], "verdict"]) == {"not run"}
