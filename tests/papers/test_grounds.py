"""Statements that go beyond a paper's sentence are ours: they accuse nobody, and say why they are no claim of
the paper's."""

import pytest

from reprise.engine import registry

BEYOND = (
    "jing2022/fig6b/relu-fewer",
    "jing2022/sec4/both-views-k4",
    "ren2023/fig2/contrastive-above-linear-map",
    "ren2023/fig2/noncontrastive-condition-above-start-signals",
    "tian2023/fig12/diverse",
    "tian2023/thm3/covered-runs-converge",
)


@pytest.mark.parametrize("id", BEYOND)
def test_what_goes_beyond_a_papers_sentence_is_ours_with_the_reason(id):
    claim, _ = registry.paper(id.partition("/")[0]).claims[id]
    assert claim.form == "ours"
    assert claim.reading.startswith("ours: ")


@pytest.mark.parametrize(
    "id",
    [
        "esser2024/prop1-convergence/printed",  # the paper says "at convergence"
        "esser2024/remark2-cosine/printed",  # its argument is of the simplified loss
        "jing2022/sec1/stronger-than-data",  # k = .9 is below the paper's threshold
        "skean2024/appE1-argmin/printed",  # its embeddings are free
        "tian2023/lemma7/printed",  # Appendix B.4 assumes a positive definite A
    ],
)
def test_what_a_paper_does_not_say_is_not_judged(id):
    paper = registry.paper(id.partition("/")[0])
    assert id not in paper.claims
    assert id not in {erratum.shown_by for erratum in paper.errata}
