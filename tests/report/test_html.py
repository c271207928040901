"""The report is one offline file, shows every claim once, adds no grounds, changes only with the results."""

import base64
import io
import json
import re
import zlib
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from PIL import Image
from scipy import stats
from stating import stated as claimed

from reprise.contract import experiment as contract
from reprise.contract.experiment import BASE, Artifact, Tables
from reprise.contract.settings import Settings, ours, stated, unstated
from reprise.engine import registry
from reprise.engine.configured import ConfiguredExperiment, Tier
from reprise.engine.draw import Drawing
from reprise.engine.registry import Experiment, Paper
from reprise.errors import RepriseError
from reprise.evidence import errata
from reprise.evidence.claim import CORRECTED, Claim
from reprise.evidence.comparison import above, at_least, below, identity, near
from reprise.evidence.errata import Misprint, Text
from reprise.evidence.formula import AS_PRINTED
from reprise.evidence.judgement import VERDICTS
from reprise.evidence.verdicts import GROUNDS, STANDINGS, judge_all, standing, summary
from reprise.papers import ORDER
from reprise.report import (
    build,
    contents,
    drawings,
    findings,
    html,
    listing,
    numbers,
    published,
    results,
    runs,
    schema,
    sealed,
    wording,
)
from reprise.storage import disk, records, store

ROOT = Path(__file__).parents[2]
NASTY = "norms <script>alert('x')</script> & \"quotes\" | pipes stay text"


class Params(Settings):
    width: int = stated(16, "Section 5")
    rate: float = unstated(0.1, "a usual rate")
    seeds: int = ours(5, "enough for an interval")


def _measure(column: str):
    return lambda tables: tables["numbers"].set_index("seed")[column]


def _points(tables):
    return pd.Series(np.tile(tables["numbers"]["tiny"], 10))


CLAIMS = (
    claimed(near(_measure("one"), 1.0, quantity="slope", unit="", std=0.1, n=5),
            "new2030/fig6a/slope", "The slope is one", at="Figure 6(a)"),
    claimed(near(_measure("one"), 2.0, quantity="score", unit="share"),
            "new2030/text/two", "It is two, they say", at="Section 5.1"),
    claimed(above(_measure("noisy"), 0.0, unit=""), "new2030/fig7/above", NASTY, at="Figure 7"),
    claimed(at_least(_measure("three"), 3, unit="values"),
            "new2030/table1/many", "There are many", at="Table 1"),
    claimed(identity(_points), "new2030/theorem1/holds", "The theorem holds", at="Theorem 1, Section 5",
            form="restated"),
    claimed(identity(_points), "new2030/theorem1/more", "More holds", at="Theorem 1", form="ours"),
    claimed({AS_PRINTED: identity(_measure("one")), CORRECTED: identity(_points)},
            "new2030/eq3/less", "a < b", at="Equation 3", erratum="substantive",
            misprint=Misprint("substantive", Text("a < b"), Text("b is less, a > b"))),
)  # fmt: skip
PENDING = (
    claimed(near(None, 62.7, quantity="accuracy", unit="%"),
            "new2030/table2/imagenet", "It reaches 62.7 %", at="Table 2", needs="ImageNet and a GPU"),
)  # fmt: skip

PRINTED = (
    claimed(replace(above(lambda tables: tables["published"].get("lead", pd.Series([3.0])), 0.0, unit="%"),
                    kind="printed"),
            "new2030/table1/best", "The last is the best", at="Table 1"),
)  # fmt: skip

PUBLISHED = b"""\
artifact,value,std,key
Table 2,62.7,,table2/imagenet
Figure 6(a),1.0,0.1,fig6a/slope
Table 9,2.0,,
"""

OLD = (
    claimed(near(None, 1.0, quantity="score", unit=""),
            "old1999/table1/old", "It was better", at="Table 1", needs="an experiment"),
)  # fmt: skip


def _artifact(name: str, number: str, kind: str, caption: str = "What it shows.") -> Artifact:
    place = contract.CodePlace(__file__, 1, name)
    return Artifact(f"new2030/{name}", number, kind, caption, (), "new2030/toy", "new2030.toy.figures", place)


def _paper(
    key: str, experiments: dict[str, Experiment], pending: tuple, errata: tuple = (), coverage: tuple = ()
) -> Paper:
    return Paper(
        package="reprise.papers.new2030",
        key=key, title=f"On <{key}>", bibtex=f"@article{{{key}}}", experiments=experiments, pending=pending,
        printed=PRINTED if experiments else (), by_reading=errata, items=coverage,
    )  # fmt: skip


def _item(name: str, covered_by: str) -> dict[str, str]:
    return {"item": name, "section": "5", "covered_by": covered_by, "note": ""}


@pytest.fixture
def tier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tier:
    """A tier in which one paper has run, bar its Figure 7 and Table 2, and another has nothing."""
    toy = Experiment(
        id="new2030/toy", module="toy", declaration=contract.Experiment(params=Params, tables=("numbers",)),
        claims=CLAIMS,
        artifacts=(
            _artifact("fig06a", "Figure 6a", "figure", NASTY),
            _artifact("fig07", "Figure 7", "figure"),
            _artifact("table1", "Table 1", "table"),
        ),
    )  # fmt: skip
    found = (errata.read("new2030", "typo", "typo", "Section 2", "teh", "the"),)
    coverage = (
        _item("Figure 6a", "new2030/fig06a new2030/fig6a/slope"),
        _item("Figure 7", "new2030/fig07"),
        _item("Theorem 1", "new2030/theorem1/holds"),
        _item("Figure 1", "illustration"),
    )
    papers = {
        "new2030": _paper("new2030", {toy.id: toy}, PENDING, found, coverage),
        "old1999": _paper("old1999", {}, OLD),
    }
    monkeypatch.setattr(registry, "papers", lambda: papers)
    monkeypatch.setattr(registry, "_published", lambda key: PUBLISHED if key == "new2030" else b"")
    monkeypatch.setattr(Experiment, "code", lambda experiment, params: "abc")
    monkeypatch.setattr(Experiment, "versions", lambda experiment, params: {})
    monkeypatch.setattr(registry, "artifact_code", lambda id: "abc")
    monkeypatch.setattr(Artifact, "draw", property(lambda artifact: DRAWN[artifact.name]))
    made = Tier("mini", tmp_path, {}, (), {}, {toy.id: Params(width=8)}, "0123456789ab")
    _write_run(made)
    for name in DRAWN:
        Drawing(registry.artifact(f"new2030/{name}"), made).draw()
    return made


def _write_run(tier: Tier, **changes: object) -> Path:
    record = {
        "command": "reprise run new2030/toy --tier mini", "commit": "c0ffee", "python": "3.12.0",
        "versions": {"torch": "2.11"}, "experiment": "new2030/toy",
        "hardware": {"processor": "a CPU", "cores": 2, "memory_gib": 8.0, "system": "Linux"},
        "params": tier.params["new2030/toy"].model_dump(mode="json"), "code": "abc", "duration_seconds": 83.2,
        **changes,
    }  # fmt: skip
    key = tier.experiment("new2030/toy").key()
    folder = tier.results / "new2030" / "toy"
    store.save_tables(folder, {"numbers": numbers_table()}, record.pop("key", key), record)
    return folder / "run.json"


def numbers_table() -> pd.DataFrame:
    seeds = np.arange(20)
    return pd.DataFrame(
        {
            "seed": seeds, "setting": BASE, "one": 1 + 0.01 * np.cos(seeds), "noisy": np.cos(seeds),
            "three": 3, "tiny": 1e-9 * (1 + seeds),
        }
    )  # fmt: skip


ARITHMETIC = {
    "libraries": [
        {"name": "libgomp", "version": None, "kernel": None, "threads": 1},
        {"name": "libopenblas", "version": "0.3.30", "kernel": "Haswell", "threads": 1},
        {"name": "libopenblas", "version": "0.3.28", "kernel": "Haswell", "threads": 1},
        {"name": "torch", "version": "2.11", "kernel": "AVX2", "threads": 2},
    ],
    "variables": {"OMP_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "Haswell"},
}


def _figure(tables: Tables, params: Params) -> Figure:
    figure, axes = plt.subplots(figsize=(3, 2))
    axes.plot([1, 2, 3])
    return figure


def _table(tables: Tables, params: Params) -> pd.DataFrame:
    return pd.DataFrame({"loss": ["a<b", "InfoNCE"], "accuracy": [66.512345, np.nan]})


DRAWN = {"fig06a": _figure, "table1": _table}


@pytest.fixture
def claims() -> pd.DataFrame:
    """Verdicts of every sort: reproduced, contradicted, inconclusive, not run."""
    judged = judge_all(CLAIMS, [{"numbers": numbers_table()}], Params(width=8))
    published = {"published": pd.DataFrame({"lead": [1.5, 0.5], "setting": BASE})}
    others = judge_all(PRINTED, [published], None), judge_all((*PENDING, *OLD), None, None)
    return pd.concat([judged, *others]).sort_values("claim", ignore_index=True)


class Page(HTMLParser):
    """Contents of a page: its ids, links, resources, elements, words, and its tables as rows of cells."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: Counter[str] = Counter()
        self.links: list[str] = []
        self.resources: list[str] = []
        self.elements: Counter[str] = Counter()
        self.headers: list[dict] = []
        self.images: list[dict] = []
        self.pictures: list[dict] = []
        self.tables: list[list[list[str]]] = []
        self.words = ""
        self.cards: dict[str, list[str]] = {}
        self.tables_of: dict[str, list[list[list[str]]]] = {}
        self.claim = ""
        self.cell: list[str] | None = None
        self.feed(text)

    @property
    def rows(self) -> list[list[str]]:
        return [row for table in self.tables for row in table]

    @property
    def ledger(self) -> dict[str, list[str]]:
        """The counts by ground."""
        (table,) = [table for table in self.tables if table and table[0][:2] == ["Basis", "✓ reproduced"]]
        return {row[0]: row[1:] for row in table[1:]}

    def card(self, claim: str) -> str:
        """The words of a claim's line and card."""
        return " ".join("".join(self.cards[claim]).split())

    def rows_of(self, claim: str) -> list[list[str]]:
        """The rows of a claim's own table."""
        return [row for table in self.tables_of.get(claim, []) for row in table]

    def handle_starttag(self, tag: str, attrs: list) -> None:
        given = dict(attrs)
        self.elements[tag] += 1
        self.ids.update([given["id"]] if "id" in given else [])
        self.resources += [given[key] for key in ("src", "srcset", "data", "poster") if key in given]
        self.resources += [given["href"]] if tag == "link" else []
        if tag in ("td", "th", "tr", "caption", "details"):
            self._end_cell()
        if tag == "a":
            self.links.append(given["href"])
        elif tag == "img":
            self.images.append(given)
        elif tag == "svg" and given.get("role") == "img":
            self.pictures.append(given)
        elif tag == "details" and given.get("class") == "claim":
            self.claim = given["id"]
        elif tag == "table":
            self.tables.append([])
            self.tables_of.setdefault(self.claim, []).append(self.tables[-1])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.cell = []
            self.headers += [given] if tag == "th" else []

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "tr", "table"):
            self._end_cell()
        if tag == "details":
            self.claim = ""

    def _end_cell(self) -> None:
        if self.cell is not None:
            self.tables[-1][-1].append(" ".join(" ".join(self.cell).split()))
            self.cell = None

    def handle_data(self, data: str) -> None:
        self.words += data
        self.cards.setdefault(self.claim, []).append(data)
        if self.cell is not None:
            self.cell.append(data)


@pytest.fixture
def page(tier: Tier, claims: pd.DataFrame) -> Page:
    return Page(html.write(tier, claims).read_text(encoding="utf-8"))


def test_it_needs_nothing_outside_itself(tier: Tier, claims: pd.DataFrame, page: Page) -> None:
    text = (tier.results / "report.html").read_text(encoding="utf-8")
    assert page.resources
    assert all(resource.startswith("data:") for resource in page.resources)
    files = [link for link in page.links if not link.startswith("#")]
    assert files
    assert [link for link in files if not (tier.results / link).exists()] == []
    assert "@import" not in text
    assert "url(" not in text
    assert "://" not in text.replace("xmlns", "")


def test_claims_are_anchored_once_and_links_lead_somewhere(claims: pd.DataFrame, page: Page) -> None:
    assert {id: page.ids[id] for id in claims["claim"]} == dict.fromkeys(claims["claim"], 1)
    assert set(page.ids.values()) == {1}
    named = {link[1:].split("?")[0] for link in page.links if link.startswith("#")}
    assert named <= set(page.ids)


def test_grounds_are_counted_apart(claims: pd.DataFrame, page: Page) -> None:
    counts = summary(claims)
    assert page.ledger == {
        f"{ground.capitalize()} {GROUNDS[ground]}": [str(n) for n in rows[list(VERDICTS)].sum()]
        for ground, rows in counts.groupby("ground")
    }
    assert not any(row[0].lower() in ("total", "sum", "all") for row in page.rows if row)


def test_a_claims_card_holds_its_evidence(page: Page) -> None:
    card = page.card("new2030/text/two")
    assert "∅ not seen here" in card
    assert "It is two, they say" in card
    assert "near 2 ± 0.1" in card
    assert "1 difference from the paper, 1 assumption" in card
    assert "20 seeds" in card
    assert "reprise run new2030/toy --tier mini && reprise check new2030 --tier mini" in card
    assert "1 min 23 s" in card
    assert "width: 8 (paper: 16)" in page.words
    assert "rate=0.1" in page.words
    assert "a usual rate" in page.words


def test_only_what_the_paper_prints_is_called_published(page: Page) -> None:
    """Figure 6 prints the 1 ± 0.1; no figure or section of the other claim prints its 2."""
    assert "published 1.0 ± 0.1 (n = 5)" in page.card("new2030/fig6a/slope")
    assert "target implied 2" in page.card("new2030/text/two")
    assert "published" not in page.card("new2030/text/two").replace("published settings", "")


def test_printed_numbers_are_counted_once(page: Page) -> None:
    assert "1 of 3 printed numbers compared." in page.words
    assert "1 more need a run as published: GPUs: make reproduce TIER=paper" in page.words


def test_each_printed_number_has_a_row_beside_ours(tier: Tier, page: Page) -> None:
    """One number was measured in narrower networks, one waits for a run as published, one is in no claim."""
    shown = {each["artifact"]: each for each in load(tier)["papers"][0]["numbers"]}
    assert {artifact: each["setting"] for artifact, each in shown.items()} == {
        "Table 2": "not run", "Figure 6(a)": "reduced", "Table 9": "not judged",
    }  # fmt: skip
    assert all(each["difference"] is None and each["inside"] is None for each in shown.values())
    assert shown["Figure 6(a)"]["observed"] == pytest.approx(numbers_table()["one"].mean())
    (row,) = [row for row in page.rows if row and row[0] == "Figure 6(a)" and "1.0 ± 0.1" in row]
    assert "—" in row
    assert "reduced what differs" in row
    (row,) = [row for row in page.rows if row and row[0].startswith("Table 2 ") and "62.7" in row]
    assert "not run" in row
    assert "number:new2030/table2/imagenet" in page.ids


def test_what_was_measured_as_published_is_compared_with_print(tier: Tier) -> None:
    """A mean of five runs would lie in the prediction interval of our 20, which a difference of .1 leaves."""
    values = numbers_table()["one"]
    half = stats.t.ppf(0.975, 19) * values.std() * np.sqrt(1 / 20 + 1 / 5)
    slope = CLAIMS[0]
    for printed, inside in ((1.0, True), (1.1, False)):
        moved = near(_measure("one"), printed, quantity="slope", unit="", std=0.1, n=5)
        _declare(claimed(moved, slope.id, slope.statement, at=slope.source))
        judged = judge_all(
            registry.papers()["new2030"].experiments["new2030/toy"].claims,
            [{"numbers": numbers_table()}], Params(),
        )  # fmt: skip
        content = PUBLISHED.replace(b"6(a),1.0", b"6(a),%.1f" % printed)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(registry, "_published", lambda key, content=content: content)
            papers = build.build(tier, judged, []).papers
        (number,) = [each for each in papers[0].numbers if each.claim == slope.id]
        assert number.setting == "the same, with assumptions"
        assert number.difference == pytest.approx(values.mean() - printed)
        assert number.difference_low < number.difference < number.difference_high
        ends = (number.predicted_low, number.predicted_high)
        assert ends == pytest.approx((values.mean() - half, values.mean() + half))
        assert number.inside is inside
        assert number.gpu_hours is None


def test_what_only_a_run_as_published_decides_is_read_off_the_run_that_there_is(
    tier: Tier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The needs of a published run stand beside it; a claim that the run has nothing of has no number of
    ours."""
    whole = {"a": contract.Resources(minutes=90, gpus=4), "b": contract.Resources(minutes=600)}
    monkeypatch.setattr(ConfiguredExperiment, "needs", lambda experiment: whole)
    monkeypatch.setattr(published, "load_tier", lambda name, root: tier)
    wide, slope = near(_measure("one"), 1.0, quantity="accuracy", unit="%"), CLAIMS[0].id
    nothing = near(lambda tables: pd.Series(dtype=float), 62.7, quantity="accuracy", unit="%")
    _declare(
        claimed(wide, slope, "It is one", at="Figure 6", needs="a whole run"),
        claimed(nothing, "new2030/table2/imagenet", "It is high", at="Table 2", needs="a whole run"),
    )
    toy = registry.papers()["new2030"].experiments["new2030/toy"]
    judged = judge_all(toy.claims, [{"numbers": numbers_table()}], Params(width=8))
    assert set(judged["verdict"]) == {"not run"}
    papers = build.build(tier, judged, []).papers
    shown = {each.claim: each for each in papers[0].numbers if each.claim}
    assert {id: (each.setting, each.gpu_hours, each.together) for id, each in shown.items()} == {
        slope: ("reduced", 6.0, 2), "new2030/table2/imagenet": ("not run", 6.0, 2),
    }  # fmt: skip
    assert shown[slope].observed == pytest.approx(numbers_table()["one"].mean())
    assert shown[slope].low < shown[slope].observed < shown[slope].high
    assert {each.difference for each in shown.values()} == {None}
    assert drawings.comparisons(papers) == []


@pytest.mark.parametrize(
    ("version", "url"),
    [
        ("arXiv:2110.09348v1, October 2021 (its", "https://arxiv.org/abs/2110.09348v1"),
        ("arXiv:2206.01342 as revised", "https://arxiv.org/abs/2206.01342"),
        ("the proceedings", ""), ("", ""),
    ],
)  # fmt: skip
def test_a_version_on_arxiv_has_an_address(version: str, url: str) -> None:
    assert build.address(version) == url


def test_a_claims_line_shows_our_interval_and_the_papers(tier: Tier, page: Page) -> None:
    """Ours without the paper's spread, the paper's from its spread, and the difference with both."""
    values = numbers_table()["one"]
    half = stats.t.ppf(0.981, 19) * values.std() / np.sqrt(20)
    theirs = stats.t.ppf(0.981, 4) * 0.1 / np.sqrt(5)
    claim = find(tier, "new2030/fig6a/slope")
    assert (claim["own_low"], claim["own_high"]) == pytest.approx(
        (values.mean() - half, values.mean() + half)
    )
    published = claim["published"]
    assert (published["low"], published["high"]) == pytest.approx((1 - theirs, 1 + theirs))
    assert claim["low"] < claim["own_low"]
    assert claim["values"] == pytest.approx(list(values))
    lines = [row[0] for row in page.rows_of("new2030/fig6a/slope")]
    assert lines == ["Setting or cell", "ours", "published", "difference, both spreads"]


def test_text_stays_text(tier: Tier, page: Page) -> None:
    assert page.elements["script"] == 1
    assert NASTY in page.words
    assert any(NASTY in picture["aria-label"] for picture in page.pictures)
    assert "a<b" in page.words
    assert "<script" not in (tier.results / "summary.md").read_text(encoding="utf-8")


def test_figures_and_tables_are_embedded(tier: Tier, page: Page) -> None:
    (thumbnail,) = [image for image in page.images if image.get("src")]
    drawn = Image.open(tier.figures / "new2030" / "fig06a.png").convert("RGB")
    kind, content = thumbnail["src"].split(",")
    assert kind == "data:image/avif;base64"
    picture = Image.open(io.BytesIO(base64.b64decode(content))).convert("RGB")
    assert picture.width == 200
    assert np.abs(np.asarray(picture.resize(drawn.size)).mean() - np.asarray(drawn).mean()) < 3
    text = (tier.results / "report.html").read_text(encoding="utf-8")
    (element,) = re.findall(r"<svg[^>]*data-content[^>]*>", text)
    assert 'style="--points:216"' in element  # 3 inches, so that it is scaled as wider figures are
    inner = zlib.decompress(base64.b64decode(element.split('data-content="')[1].split('"')[0])).decode()
    assert "<path" in ElementTree.tostring(ElementTree.fromstring(f"<svg>{inner}</svg>"), encoding="unicode")
    assert ["InfoNCE", "—"] in page.rows
    assert ["a<b", "66.51"] in page.rows


def test_what_last_bits_hang_on_is_a_row_each(tier: Tier, claims: pd.DataFrame) -> None:
    _write_run(tier, arithmetic=ARITHMETIC)
    rows = Page(html.write(tier, claims).read_text(encoding="utf-8")).rows
    shown = {row[0]: row[1] for row in rows if row[0] in ("Threads", "Variables") or "ernels" in row[0]}
    assert shown == {
        "Kernels of libopenblas": "0.3.28 Haswell, 0.3.30 Haswell",
        "Kernels of torch": "2.11 AVX2",
        "Threads": "1, 2",
        "Variables": "OMP_NUM_THREADS=1 OPENBLAS_CORETYPE=Haswell",
    }


def test_what_differs_between_runs_is_no_shared_fact() -> None:
    made = [
        schema.Provenance(experiment=str(i), command="", minutes=1.0, facts=facts)
        for i, facts in enumerate([{"a": "1", "b": "1", "c": "1"}, {"a": "1", "b": "2"}])
    ]
    assert runs.shared(made) == {"a": "1", "c": "1"}
    assert runs.shared([]) == {}


def test_tables_have_scoped_headers(page: Page) -> None:
    assert page.headers
    assert all(header.get("scope") in ("col", "row") for header in page.headers)


def test_what_is_missing_says_what_makes_it(page: Page) -> None:
    assert "Figure 7 has not been made in tier mini" in page.words
    assert "reprise draw new2030/fig07 --tier mini" in page.words
    assert "ImageNet and a GPU" in page.words
    assert "None of this paper's claims has a verdict in tier mini" in page.words


def test_without_a_run_the_commands_run_it_first(tier: Tier, claims: pd.DataFrame) -> None:
    (tier.results / "new2030" / "toy" / "run.json").unlink()
    words = Page(html.write(tier, claims).read_text(encoding="utf-8")).words
    assert "reprise run new2030/toy --tier mini\nreprise draw new2030/fig07 --tier mini" in words
    assert "No experiment has run in this tier" in words


def test_claims_are_found_by_id_source_and_coverage(tier: Tier, page: Page) -> None:
    about = {figure["id"]: figure["claims"] for figure in load(tier)["papers"][0]["figures"]}
    assert about == {
        "new2030/fig06a": ["new2030/fig6a/slope"],
        "new2030/fig07": ["new2030/fig7/above"],
        "new2030/table1": ["new2030/table1/best", "new2030/table1/many"],
    }


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Section 6.1, Figure 4(a)", {("sec", "6.1", ""), ("fig", "4", "a")}),
        ("jing2022/fig06a", {("fig", "6", "a")}),
        ("Figure 10 and Theorem 3", {("fig", "10", "")}),
        ("Table 1.", {("tab", "1", "")}),
    ],
)
def test_mentions_of_figures_are_read(text: str, named: set) -> None:
    assert contents.mentions(text) == named


def test_errata_link_to_what_showed_them(tier: Tier, page: Page) -> None:
    assert "#new2030/eq3/less" in page.links
    assert "#erratum:new2030/eq3/less" in page.links
    rows = {row[0]: row[1:] for row in page.rows if row}
    shown = rows["Equation 3 false as printed · new2030/eq3/less"]
    assert shown[:2] == ["a < b", "b is less, a > b"]
    assert "new2030/eq3/less ✗ a counterexample" in shown[2]
    assert rows["Section 2 misprint · new2030/typo"] == ["teh", "the", "reading"]
    found = load(tier)["papers"][0]["errata"]
    assert [(each["id"], each["changes_result"]) for each in found] == [
        ("new2030/eq3/less", True),
        ("new2030/typo", False),
    ]


def test_an_erratums_formulas_are_shown_where_there_are_any(tier: Tier, claims: pd.DataFrame) -> None:
    report = build.build(tier, claims, [])
    paper = report.papers[0]
    erratum = paper.errata[0].model_copy(
        update={"printed_mathml": "<math><mi>p</mi></math>", "corrected_mathml": "<math><mi>q</mi></math>"}
    )
    errata = [erratum, *paper.errata[1:]]
    changed = report.model_copy(update={"papers": [paper.model_copy(update={"errata": errata})]})
    assert "<math>" not in html.page(report, tier.results, tier.root)
    assert html.page(changed, tier.results, tier.root).count("<math><mi>") == 2


def test_a_false_statement_is_a_finding_with_our_correction_beside_it(tier: Tier, page: Page) -> None:
    card = page.card("new2030/eq3/less")
    assert "a < b" in card
    assert "Our correction: b is less, a > b" in card
    assert page.words.count("Our correction:") == 1
    assert "as printed it fails" in card
    assert "on the same numbers the corrected form holds" in card
    assert load(tier)["findings"]["robust"] == ["new2030/eq3/less"], "the other is not seen here"


def test_what_is_not_the_papers_own_wording_has_its_grounds(page: Page) -> None:
    for name in ("restated by us", "our own"):
        assert page.ledger[f"{name.capitalize()} {GROUNDS[name]}"] == ["1", "0", "0", "0", "0", "0"]


def test_settings_and_cells_are_drawn_and_listed(tier: Tier) -> None:
    numbers = pd.concat(
        pd.DataFrame({"seed": range(6), "setting": name, "one": mean + 0.01 * np.arange(6)})
        for name, mean in {BASE: 1.0, "rate halved": 1.2, "rate doubled": -1.0}.items()
    )
    one = _measure("one")
    low, high, most = above(one, 0.0, unit=""), above(one, 0.5, unit=""), below(one, 5.0, unit="")
    alike = claimed({"above 0": low, "above .5": high}, "new2030/fig7/alike", "It is high", at="Figure 7")
    mixed = claimed({"above 0": low, "below 5": most}, "new2030/fig8/mixed", "It is between", at="Figure 8")
    _declare(alike, mixed)
    judged = judge_all([alike, mixed], [{"numbers": numbers}], Params(width=8), looked="the rate")
    page = Page(html.write(tier, judged).read_text(encoding="utf-8"))
    rows = {row[0]: row[1:] for row in page.rows_of("new2030/fig7/alike")}
    assert rows["rate doubled"][0] == "✗ contradicted"
    assert rows["above .5"][0] == "✓ reproduced"
    assert "holds in 2 of 2 cells" not in page.card("new2030/fig7/alike")
    assert "± depends" in page.card("new2030/fig7/alike")
    assert "2 other settings: holds in 1, fails in 1, 0 undecided" in page.card("new2030/fig7/alike")
    assert "changed after seeing results: the rate" in page.words
    assert page.rows_of("new2030/fig8/mixed") == []
    assert "below 5: ✓ reproduced" in page.card("new2030/fig8/mixed")
    assert load(tier)["findings"]["depends"] == ["new2030/fig7/alike", "new2030/fig8/mixed"]
    published = results.pages(build.build(tier, judged, []), tier.root)["new2030.md"].decode()
    section = published.partition("<code>new2030/fig7/alike</code>, setting by setting")[2]
    shown = {line.split(" | ")[0]: line.rsplit(" | ", 1)[-1] for line in section.splitlines()[4:7]}
    assert shown == {
        "| main setting": "✓ reproduced |", "| rate doubled": "✗ contradicted |",
        "| rate halved": "✓ reproduced |",
    }  # fmt: skip


def _declare(*claims: Claim) -> None:
    """Makes these claims the only ones of the experiment that has run."""
    papers = registry.papers()
    toy = replace(papers["new2030"].experiments["new2030/toy"], claims=claims)
    papers["new2030"] = replace(
        papers["new2030"], experiments={toy.id: toy}, pending=(), printed=(), by_reading=(), items=()
    )


def test_false_discoveries_are_counted_by_paper(claims: pd.DataFrame, page: Page) -> None:
    (table,) = [table for table in page.tables if table and table[0][-1:] == ["False discovery rate"]]
    tests = claims[claims["kind"].isin(["value", "ordering", "count"]) & claims["p_reproduced"].notna()]
    assert table[1][:3] == ["new2030", str(len(tests)), "3"]


def test_coverage_is_counted(tier: Tier, page: Page) -> None:
    """Items of artifacts.csv and places that claims name count alike."""
    counts = {"drawn again": 1, "checked by claims": 7, "not run yet": 2, "illustration": 1}
    assert load(tier)["papers"][0]["coverage"] == counts
    assert all(f"{number} {how}" in page.words for how, number in counts.items())


def test_sections_are_in_the_papers_order(tier: Tier, page: Page) -> None:
    assert [
        contents.section_of(text)
        for text in (
            "Abstract, 1",
            "1, 3",
            "3, Figure 1",
            "3.2 and E.1",
            "5.3, B.5",
            "none",
            "B.5, C",
            "Theorem 2, Appendix",
        )
    ] == ["Abstract", "3", "3", "3.2", "5.3", contents.ELSEWHERE, "B.5", "Appendix"]
    shuffled = ["B.10", contents.ELSEWHERE, "2", "10", "Appendix", "Abstract", "B.2"]
    assert sorted(shuffled, key=contents.order_of) == [
        "Abstract", "2", "10", "Appendix", "B.2", "B.10", contents.ELSEWHERE,
    ]  # fmt: skip
    (section,) = load(tier)["papers"][0]["sections"][:1]
    assert section["title"] == "Section 5"
    assert section["figures"] == ["new2030/fig06a", "new2030/fig07"]


def test_each_claim_is_in_one_group_and_algebra_is_grouped_by_theorem(tier: Tier, page: Page) -> None:
    report = schema.Report.model_validate(load(tier))
    paper = report.papers[0]
    found = [(section.id, each) for section in paper.sections for each in contents.groups(paper, section)]
    for section in paper.sections:
        own = [claim.id for id, each in found if id == section.id for claim in each.claims + each.numbers]
        assert sorted(own) == sorted(section.claims)
    every = paper.sections[0].model_copy(
        update={"figures": ["new2030/fig06a", "new2030/fig07"], "claims": [each.id for each in paper.claims]}
    )
    by_title = {each.title: each for each in contents.groups(paper, every)}
    assert [claim.id for claim in by_title["Theorem 1"].claims] == [
        "new2030/theorem1/holds",
        "new2030/theorem1/more",
    ]
    assert by_title["Theorem 1"].is_algebra
    assert [claim.id for claim in by_title["Figure 6a"].numbers] == ["new2030/fig6a/slope"]
    assert [claim.id for claim in by_title["Figure 7"].claims] == ["new2030/fig7/above"]


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("Lemma 3, Eqs. 8 to 10, Section 5.2", "Lemma 3"),
        ("Theorem 3, first case, Section 5.1", "Theorem 3"),
        ("Corollary A.4, Appendix A.1", "Corollary A.4"), ("Eqs. 5 and 6, Section 4.2", "Eqs. 5 and 6"),
        ("Section 4.1, after Eq. 2", "Eq. 2"), ("Section 3", "Section 3"),
        ("Remark after Theorem 6, Appendix C.3", "Theorem 6"),
    ],
)  # fmt: skip
def test_a_source_names_a_theorem(source: str, title: str) -> None:
    assert contents.theorem_of(source) == title


@pytest.mark.parametrize(
    ("caption", "first"),
    [
        ("One sentence.", "One sentence."), ("Two. Sentences.", "Two."),
        ("By Eq. Of norms. More", "By Eq. Of norms."), ("At 3.5 W. The first", "At 3.5 W. The first"),
        ("Scores in % (e.g. Top-1). Others.", "Scores in % (e.g. Top-1)."),
    ],
)  # fmt: skip
def test_a_captions_first_sentence_is_found(caption: str, first: str) -> None:
    seen, more = contents.lead(caption)
    assert seen == first
    assert " ".join(filter(None, (seen, more))) == caption


def test_claims_answer_what_a_reader_asks(tier: Tier, claims: pd.DataFrame) -> None:
    papers = registry.papers()
    headline = (("there are two, they write", "new2030/text/two"),)
    papers["new2030"] = replace(papers["new2030"], headlines=headline)
    report = build.build(tier, claims, [])
    found = findings.asked(report.papers)
    stated = {claim.id: claim for paper in report.papers for claim in paper.claims}
    assert found.keys() == stated.keys()
    assert [id for id, names in found.items() if "headlines" in names] == ["new2030/text/two"]
    assert {id for id, names in found.items() if "fails" in names} == {
        id for id, claim in stated.items() if claim.robust
    }
    assert "undecided" in found["new2030/fig7/above"]


def test_a_headline_is_a_quotation_with_one_verdict_on_its_ground(tier: Tier, claims: pd.DataFrame) -> None:
    papers = registry.papers()
    headlines = {
        "it slopes": "new2030/fig6a/slope",
        "there are two": "new2030/text/two",
        "on ImageNet": "new2030/table2/imagenet",
    }
    papers["new2030"] = replace(papers["new2030"], headlines=tuple(headlines.items()))
    page = Page(html.write(tier, claims).read_text(encoding="utf-8"))
    for text in (
        "“it slopes”: ✓ reproduced, single numbers.",
        "“there are two”: ∅ not seen here, reduced.",
        "“on ImageNet”: · not run.",
    ):
        assert text in page.words


@pytest.mark.parametrize(
    ("decided_by", "name"),
    [
        ([("reproduced", "paper scale"), ("reproduced", "restated by us")], "holds"),
        ([("reproduced", "paper scale"), ("depends", "paper scale")], "does not, or only partly"),
        ([("not run", "not run"), ("tied", "paper scale")], "does not, or only partly"),
        ([("reproduced", "paper scale"), ("inconclusive", "paper scale")], "neither"),
        ([("reproduced", "reduced")], "neither"),
        ([("contradicted", "reduced"), ("reproduced", "paper scale")], "neither"),
        ([("not run", "not run")], "neither"),
    ],
)
def test_a_sentence_holds_if_all_that_decides_it_does_at_the_papers_scale(
    decided_by: list, name: str
) -> None:
    """A smaller run speaks neither for a sentence nor against it."""
    names = list(STANDINGS)
    assert standing(decided_by) == (names[-1] if name == "neither" else name)


@pytest.fixture
def told(tier: Tier) -> schema.Report:
    """A paper run as published, with five headlines, of which two say the same."""
    papers, many, two = registry.papers(), "new2030/table1/many", "new2030/text/two"
    papers["new2030"] = replace(
        papers["new2030"],
        version="arXiv:2110.09348v1, of 2021",
        headlines=(
            ("there are | many", many), ("two and many", many), ("two and many", two),
            ("on ImageNet", "new2030/table2/imagenet"), ("there are a lot", many),
        ),
    )  # fmt: skip
    others = judge_all(PRINTED, [{"published": pd.DataFrame({"lead": [1.5], "setting": BASE})}], None)
    judged = judge_all(CLAIMS, [{"numbers": numbers_table()}], Params())
    table = pd.concat([judged, others, judge_all((*PENDING, *OLD), None, None)])
    return build.build(tier, table.sort_values("claim", ignore_index=True), [])


def test_headlines_are_sorted_by_what_became_of_them_in_the_papers_order(told: schema.Report) -> None:
    paper = told.papers[0]
    found = findings.by_standing(paper)
    assert list(found) == list(STANDINGS)
    assert [[(each.quotation, each.claim.id) for each in each] for each in found.values()] == [
        [("there are | many", "new2030/table1/many")],
        [("two and many", "new2030/text/two")],
        [("on ImageNet", "new2030/table2/imagenet")],
    ]
    assert [claim.id for claim in findings.beyond_headlines(paper)] == ["new2030/eq3/less"]


def test_beside_a_headline_stands_what_fails_or_depends_at_the_same_place(told: schema.Report) -> None:
    (two,) = [claim for claim in told.papers[0].claims if claim.id == "new2030/text/two"]

    def other(id: str, **fields: object) -> schema.Claim:
        plain = {"ground": "paper scale", "label": "contradicted", "verdict": "contradicted", "erratum": ""}
        return two.model_copy(update={"id": f"new2030/{id}", **plain, **fields})

    claims = [
        two, other("text/fails"), other("text/open", verdict="depends", label="depends"), other("alone"),
        other("text/ours", form="ours", ground="our own"), other("text/headline"), other("texts/elsewhere"),
        other("text/holds", verdict="reproduced"), other("text/number", ground="single numbers"),
        other("text/small", label=wording.NOT_SEEN), other("text/misprint", erratum="typo"),
    ]  # fmt: skip
    beside = findings.caveats(two.id, claims, {two.id, "new2030/text/headline"})
    assert beside == ["new2030/text/fails", "new2030/text/open", "new2030/text/ours"]
    assert findings.caveats("new2030/alone", claims, set()) == []


def test_the_readme_and_the_pages_show_a_caveat_once_beside_its_headline(
    told: schema.Report, tier: Tier
) -> None:
    paper = told.papers[0]
    made = [each.model_copy(update={"caveats": ["new2030/eq3/less"]}) for each in paper.headlines]
    report = told.model_copy(update={"papers": [paper.model_copy(update={"headlines": made})]})
    caveat = "[a &lt; b](docs/results/new2030.md#new2030/eq3/less)"
    (row,) = [line for line in results.findings(report, Path("docs/results")).splitlines() if caveat in line]
    assert row.count(f"; but {caveat}: a counterexample") == 3  # a column each
    written = results.pages(report, tier.root)
    shown = written["new2030.md"].decode().count("; but [a < b](#new2030/eq3/less): **✗ a counterexample**")
    listed = "<br>but [a &lt; b](new2030.md#new2030/eq3/less): a counterexample"
    assert (shown, written["README.md"].decode().count(listed)) == (1, 1)
    assert (
        Page(html.page(report, tier.results, tier.root)).words.count("; but a < b: ✗ a counterexample") == 2
    )


def test_the_readmes_table_names_each_headline_with_its_number_and_a_link(told: schema.Report) -> None:
    section = results.findings(told, Path("docs/results"))
    (row,) = [line for line in section.splitlines() if line.startswith("| [`new2030`]")]
    _, name, holds, fails, neither, end = re.split(r"(?<!\\)\|", row)
    assert name.strip() == "[`new2030`](docs/results/new2030.md)"
    link = "docs/results/new2030.md#new2030"
    assert holds.strip() == f"[“there are \\| many”]({link}/table1/many): 3 values, reproduced"
    assert f"[“two and many”]({link}/text/two): 1.0" in fails
    assert "beside the headlines: [a &lt; b]" in fails
    assert neither.strip() == "[“on ImageNet”](docs/results/new2030.md): not run"
    assert end == ""
    assert "](docs/results/published.png)" in section


def test_from_a_claim_one_click_leads_to_its_words_code_and_command(told: schema.Report, tier: Tier) -> None:
    page = results.pages(told, tier.root)["new2030.md"].decode()
    address = "https://arxiv.org/abs/2110.09348v1"
    assert f"[arXiv:2110.09348v1, of 2021]({address})" in page
    assert f"Draws again Figure 6a (Section 5) of [2110.09348v1]({address})." in page
    (row,) = [line for line in page.splitlines() if '<a id="new2030/table1/many"></a>' in line]
    assert "[command](#new2030/toy)" in row
    (made,) = [line for line in page.splitlines() if '<a id="new2030/toy"></a>' in line]
    assert "`reprise run new2030/toy --tier mini && reprise check new2030 --tier mini`" in made
    assert "| InfoNCE | — |" in page
    text = html.page(told, tier.results, tier.root)
    assert f'of <a href="{address}">' in text
    assert f'<cite><a href="{address}">' in text


def test_a_figure_that_is_not_in_the_paper_is_about_what_it_does_not_draw_again(
    told: schema.Report, tier: Tier
) -> None:
    papers = [
        paper.model_copy(
            update={
                "figures": [
                    figure.model_copy(update={"number": f"{figure.number}, ours"}) for figure in paper.figures
                ]
            }
        )
        for paper in told.papers
    ]
    other = told.model_copy(update={"papers": papers})
    page = results.pages(other, tier.root)["new2030.md"].decode()
    assert "About Figure 6a (Section 5) of " in page
    assert "Draws again" not in page


def test_a_papers_headlines_are_decided_by_its_own_claims() -> None:
    """No extension of ours decides a headline, nor does a sentence about printed numbers, which nothing was
    run for."""
    for paper in registry.in_order():
        for _, id in paper.headlines:
            claim, experiment = paper.claims[id]
            assert claim.form != "ours", id
            assert experiment is not None, id


def test_what_an_abstract_rests_on_comes_before_what_fails_more_robustly(tier: Tier) -> None:
    claims = judge_all(CLAIMS, [{"numbers": numbers_table()}], Params())
    papers = registry.papers()
    papers["new2030"] = replace(papers["new2030"], headlines=(("there are two", "new2030/text/two"),))
    html.write(tier, claims)
    assert load(tier)["findings"]["robust"] == ["new2030/text/two", "new2030/eq3/less"]


@pytest.mark.parametrize("bibtex", ["@article{new2030}", ""])
def test_only_a_papers_experiments_depart_from_published_settings(
    tier: Tier, claims: pd.DataFrame, bibtex: str
) -> None:
    papers = registry.papers()
    papers["new2030"] = replace(papers["new2030"], bibtex=bibtex)
    report = build.build(tier, claims, [])
    for experiment in (each for paper in report.papers for each in paper.experiments):
        experiment.departures.clear()
    text = html.page(report, tier.results, tier.root)
    _, _, part = text.partition('<section class="view" id="new2030">')
    part, _, _ = part.partition('<section class="view"')
    assert 'id="new2030/fig06a"' in part
    assert ("Nothing differs from the published settings" in part) == bool(bibtex)


def test_experiments_of_our_own_are_not_shown_as_a_papers(tier: Tier, claims: pd.DataFrame) -> None:
    papers = registry.papers()
    papers["old1999"] = replace(papers["old1999"], bibtex="")
    text = html.write(tier, claims).read_text(encoding="utf-8")
    page = Page(text)
    assert "Beside the papers, of our own: On <old1999>" in page.words
    assert "card:new2030" in page.ids
    assert "card:old1999" not in page.ids
    assert "coverage:new2030" in page.ids
    assert "coverage:old1999" not in page.ids
    assert text.count("<pre>@article") == 1
    titles = {
        paper["key"]: {section["title"] for section in paper["sections"]} for paper in load(tier)["papers"]
    }
    assert titles["old1999"] == {contents.OWN}
    assert contents.OWN not in titles["new2030"]


def test_papers_come_in_the_order_that_is_written_down() -> None:
    assert [paper.key for paper in registry.in_order()][: len(ORDER)] == list(ORDER)


def test_minutes_are_those_of_the_jobs(tier: Tier, claims: pd.DataFrame) -> None:
    folder = tier.results / "benchmarks" / "new2030"
    folder.mkdir(parents=True)
    for name, seconds in {"toy": 30, "toy.1-of-2": 60, "toy.2-of-2": 90, "fig06a": 12}.items():
        (folder / f"{name}.tsv").write_text(f"s\tcpu_time\n{seconds}.00\t1.00\n")
    html.write(tier, claims)
    paper = load(tier)["papers"][0]
    assert paper["minutes"] == pytest.approx(192 / 60)
    assert paper["experiments"][0]["minutes"] == pytest.approx(3.0)
    (folder / "toy.tsv").write_text("s\n")
    with pytest.raises(RepriseError, match=r"toy\.tsv: not a benchmark, .*remove it"):
        html.write(tier, claims)


@pytest.mark.parametrize("ground", ["paper scale", "reduced"])
def test_a_letter_says_what_is_contradicted_and_asks_what_was_assumed(
    tier: Tier, claims: pd.DataFrame, ground: str
) -> None:
    report = build.build(tier, claims, [])
    assert results.letters(report) == {}, "neither paper says of which version its text is"
    judged = [claim.model_copy(update={"ground": ground}) for claim in report.papers[0].claims]
    paper = report.papers[0].model_copy(update={"version": "arXiv:2030.1v1", "claims": judged})
    (letter,) = results.letters(report.model_copy(update={"papers": [paper]})).values()
    text = letter.decode()
    (against,) = [each for each in judged if each.verdict == "contradicted" and not each.erratum]
    assert (f"- {against.source}: {against.statement}" in text) == (ground == "paper scale")
    assert ("we contradict nothing at the paper's own scale" in text) == (ground == "reduced")
    assert "- `rate=0.1` (new2030/toy): a usual rate" in text
    assert "Equation 3: printed: a < b; ours:" in text
    assert "`python docs/counterexamples.py new2030/eq3/less`" in text
    assert "What depends on a choice" not in text


def test_a_letter_names_what_each_open_verdict_depends_on(tier: Tier, claims: pd.DataFrame) -> None:
    paper = build.build(tier, claims, []).papers[0]
    claim = paper.claims[0].model_copy(
        update={"verdict": "depends", "label": "depends", "erratum": "", "reason": "fails with a rate of 1"}
    )
    paper = paper.model_copy(update={"version": "arXiv:2030.1v1", "claims": [claim], "headlines": []})
    report = build.build(tier, claims, []).model_copy(update={"papers": [paper]})
    text = results.letters(report)["new2030.md"].decode()
    section = text.partition("## What depends on a choice, or is too small to name")[2]
    assert f"- {claim.source}: {claim.statement} **depends**, reduced: fails with a rate of 1." in section


@pytest.mark.parametrize("damage", ["{", "[]", '{"sha256": {}}'])
def test_a_damaged_record_is_named(tier: Tier, claims: pd.DataFrame, damage: str) -> None:
    file = tier.results / "new2030" / "toy" / "run.json"
    file.write_text(damage)
    with pytest.raises(RepriseError, match=r"run\.json: damaged.*reprise run new2030/toy --tier mini"):
        html.write(tier, claims)
    assert not (tier.results / "report.html").exists()


def test_an_unknown_commit_is_shown_with_its_reason(tier: Tier, claims: pd.DataFrame) -> None:
    _write_run(tier, commit="unknown", commit_problem="git cannot be run; install it")
    (run,) = runs.runs(tier).values()
    assert run.facts["commit"] == "unknown (git cannot be run; install it)"
    assert run.facts["commit"] in html.write(tier, claims).read_text(encoding="utf-8")
    facts = results._facts(schema.Report.model_construct(runs=[run]), tier.root)
    assert facts["commit"] == run.facts["commit"]


def test_a_record_without_a_duration_is_named(tier: Tier, claims: pd.DataFrame) -> None:
    _write_run(tier, duration_seconds="x")
    with pytest.raises(RepriseError, match=r"run\.json: damaged.*reprise run new2030/toy --tier mini"):
        html.write(tier, claims)


@pytest.mark.parametrize("change", [{"params": Params().model_dump(mode="json")}, {"key": "f" * 16}])
def test_what_other_parameters_or_other_code_made_is_not_shown(
    tier: Tier, claims: pd.DataFrame, change: dict
):
    fresh = html.write(tier, claims).read_text(encoding="utf-8")
    _write_run(tier, **change)
    stale = html.write(tier, claims).read_text(encoding="utf-8")
    picture = "data:image/avif;base64"
    assert picture in fresh
    assert picture not in stale
    assert "reprise run new2030/toy --tier mini\nreprise draw new2030/fig06a --tier mini" in Page(stale).words


@pytest.mark.parametrize(
    "name", ["fig06a.svg", "fig06a.csv", "fig06a.png", "fig06a.pdf", "table1.csv", "table1.md"]
)
def test_a_damaged_drawing_is_drawn_again(
    tier: Tier, claims: pd.DataFrame, name: str, capsys: pytest.CaptureFixture
) -> None:
    page = html.write(tier, claims).read_bytes()
    assert not capsys.readouterr().err
    file = tier.figures / "new2030" / name
    good = file.read_bytes()
    file.write_bytes(good[:20] + b"1" + good[20:])
    assert html.write(tier, claims).read_bytes() == page
    assert file.read_bytes() == good
    assert re.search(rf"{name}: truncated or altered .*; drawn again\n$", capsys.readouterr().err)


def _seal_again(tier: Tier, id: str) -> None:
    """Makes an artifact's record that of its files, as somebody with our code could."""
    record = records.unseal(Drawing(registry.artifact(id), tier).record.read_text(encoding="utf-8"))
    folder = (tier.figures / id).parent
    record["sha256"] = {name: disk.sha256((folder / name).read_bytes()) for name in record["sha256"]}
    Drawing(registry.artifact(id), tier).record.write_text(records.seal(record), encoding="utf-8")


@pytest.mark.parametrize(
    ("ending", "content", "problem"),
    [
        ("svg", b"<svg", "damaged, not a whole SVG"),
        ("svg", b'<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>', "holds <script>"),
        ("png", b"GIF89a", "damaged, not a whole PNG"),
        ("csv", b"panel,left\nA,here\n", "damaged, not a figure's data"),
    ],
)
def test_a_picture_that_no_drawing_makes_is_refused_even_with_a_record_of_its_own(
    tier: Tier, claims: pd.DataFrame, ending: str, content: bytes, problem: str
) -> None:
    (tier.figures / "new2030" / f"fig06a.{ending}").write_bytes(content)
    _seal_again(tier, "new2030/fig06a")
    readme = tier.root / "README.md"
    readme.write_text("\n".join(results.MARKS), encoding="utf-8")
    expected = rf"fig06a\.{ending}: {problem}.*reprise draw new2030/fig06a --tier mini"
    with pytest.raises(RepriseError, match=expected):
        html.write(tier, claims)
    with pytest.raises(RepriseError, match=expected):
        results.publish(tier, claims, tier.root / "docs", readme)
    assert not (tier.results / "report.html").exists()
    assert not (tier.root / "docs").exists()


@pytest.mark.parametrize("name", sealed.REPORT)
def test_a_report_is_of_what_is_here_until_one_of_its_files_is_changed(
    tier: Tier, claims: pd.DataFrame, name: str
) -> None:
    assert not sealed.is_reported(tier)
    html.write(tier, claims)
    assert sealed.is_reported(tier)
    with (tier.results / name).open("ab") as file:
        file.write(b" ")
    assert not sealed.is_reported(tier)


def test_a_report_is_of_what_is_here_until_other_tables_come(tier: Tier, claims: pd.DataFrame) -> None:
    html.write(tier, claims)
    _write_run(tier, duration_seconds=1.0)
    assert sealed.is_reported(tier)  # the same tables, from another run
    folder = tier.results / "new2030" / "toy"
    record = store.load_record(folder, "")
    store.save_tables(folder, {"numbers": numbers_table().iloc[:-1]}, record.pop("key"), record)
    assert not sealed.is_reported(tier)


def test_where_one_page_would_be_too_large_each_paper_has_its_own(
    tier: Tier, claims: pd.DataFrame, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Links lead to the page that holds the whole claim, figure or paper; a search finds all claims."""
    size = (tier.results / sealed.PAGE).stat().st_size
    monkeypatch.setattr(html, "MOST_BYTES", size - 1)
    html.write(tier, claims)
    names = [sealed.PAGE, "report-new2030.html", "report-old1999.html", "report-printed.html"]
    assert sorted(file.name for file in tier.results.glob("*.html")) == sorted(names)
    assert sealed.is_reported(tier)
    made = {name: Page((tier.results / name).read_text(encoding="utf-8")) for name in names}
    ids, whole = set(claims["claim"]), {id for name in names[1:] for id in made[name].ids}
    for name, each in made.items():
        links = [link.partition("#") for link in each.links if "#" in link and "://" not in link]
        assert {mark for _, mark, _ in links} == {"#"}
        for place, _, id in links:
            id = id.partition("?")[0]
            assert id in made[place or name].ids, f"{name}: {place}#{id}"
            if id in ids | {"new2030", "new2030/fig06a"}:  # not to what report.html lists
                assert (place or name) != sealed.PAGE
        assert set(each.ids.values()) == {1}
    assert ids <= set(made[sealed.PAGE].ids)
    assert ids <= whole
    for id in ids:
        assert made[f"report-{id.split('/')[0]}.html"].card(id) == page.card(id)
        assert made[sealed.PAGE].card(id) != page.card(id)
    (tier.results / names[1]).write_text("another")
    assert not sealed.is_reported(tier)
    monkeypatch.setattr(html, "MOST_BYTES", size)
    html.write(tier, claims)
    assert [file.name for file in tier.results.glob("*.html")] == [sealed.PAGE]
    assert sealed.is_reported(tier)


def test_a_report_during_which_results_change_is_not_written(
    tier: Tier, claims: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process finishes the experiment once the page is made."""

    def made(*arguments: object) -> str:
        text = page(*arguments)
        _write_run(tier, key="f" * 16)
        return text

    page = html.page
    monkeypatch.setattr(html, "page", made)
    with pytest.raises(RepriseError, match="changed while the report was made; write it again with: reprise"):
        html.write(tier, claims)
    assert not [name for name in sealed.REPORT if (tier.results / name).exists()]


def test_same_results_same_bytes_whatever_the_run_took(tier: Tier, claims: pd.DataFrame) -> None:
    names = ("summary.md", "claims.csv", "claims.parquet")
    html.write(tier, claims)
    first = [(tier.results / name).read_bytes() for name in names]
    _write_run(tier, duration_seconds=99999.0, commit="decade")
    html.write(tier, claims)
    assert [(tier.results / name).read_bytes() for name in names] == first
    pd.testing.assert_frame_equal(pd.read_parquet(tier.results / "claims.parquet"), claims.assign(mark=""))


def test_the_summary_lists_what_a_ci_run_must_look_at(tier: Tier, claims: pd.DataFrame) -> None:
    html.write(tier, claims)
    text = (tier.results / "summary.md").read_text(encoding="utf-8")
    contradicted, inconclusive = text.split("## Contradicted")[1].split("## Inconclusive")
    assert "new2030/text/two" in contradicted
    assert "near 2 ± 0.1" in contradicted
    assert "new2030/fig7/above" in inconclusive
    assert "\\|" in inconclusive
    assert "| new2030 | reduced | 1 | 2 | 0 | 0 | 1 | 0 |" in text


def test_a_test_of_the_program_has_a_banner_and_neither_headlines_nor_colours(
    tier: Tier, claims: pd.DataFrame
) -> None:
    papers = registry.papers()
    headline = (("there are two, they write", "new2030/text/two"),)
    papers["new2030"] = replace(papers["new2030"], headlines=headline)
    shown = html.write(tier, claims).read_text(encoding="utf-8")
    assert "there are two, they write" in shown
    assert wording.TEST not in shown
    assert '<body class="test">' not in shown
    tested = replace(tier, is_test=True)
    page = html.write(tested, claims).read_text(encoding="utf-8")
    assert page.count(wording.TEST) == 1
    assert "there are two, they write" not in page.partition('id="find"')[0]
    assert 'id="sceptic"' not in page
    assert '<body class="test">' in page
    colours = re.search(r"^\.test \{(.*)\}$", page, re.MULTILINE)[1]
    marks, texts = (re.findall(rf"--{kind}\d: ([^;]+);", colours) for kind in "mt")
    assert (len(marks), len(set(marks))) == (len(VERDICTS), 1)
    assert (len(texts), set(texts)) == (len(VERDICTS), {"currentColor"})
    summary = (tier.results / "summary.md").read_text(encoding="utf-8")
    assert wording.TEST in summary
    assert "new2030/text/two" not in summary


def test_a_run_ends_with_five_lines(tier: Tier, claims: pd.DataFrame) -> None:
    papers = registry.papers()
    headlines = (("they are two", "new2030/text/two"), ("many", "new2030/table1/many"))
    papers["new2030"] = replace(papers["new2030"], headlines=headlines)
    file = html.write(tier, claims)
    made, abstracts, robust, report, more = listing.ending(tier, claims, file)
    assert made == "tier mini: 1 of 1 experiments have run, 2 of 3 figures and tables are drawn"
    assert abstracts == "what the abstracts claim: 1 reproduced, 1 not seen here"  # `text/two` is reduced
    assert robust.startswith("contradicted whatever the paper leaves open: ")
    assert str(file) in report
    assert "reprise show" in more
    tested = listing.ending(replace(tier, is_test=True), claims, file)
    assert len(tested) == 5
    assert wording.TEST in tested
    assert not [line for line in tested if re.search("reproduced|contradicted", line)]


def test_no_claims_at_all_is_a_report_too(tier: Tier, claims: pd.DataFrame) -> None:
    assert "No claims yet" in html.write(tier, claims.iloc[:0]).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (0.0, "0"), (3.0, "3"), (-0.31, "−0.31"), (66.512345, "66.51"), (0.0001236, "0.0001236"),
        (123456.7, "123457"), (3.2e-16, "3.2e−16"), (1e-6, "1e−6"), (2.5e9, "2.5e9"), (float("nan"), "—"),
        (float("-inf"), "−∞"), (9.99996, "10"), (100.0, "100"),
    ],
)  # fmt: skip
def test_numbers_are_read_at_a_glance(given: float, shown: str) -> None:
    assert numbers.number(given) == shown


@pytest.mark.parametrize(("seconds", "shown"), [(83.2, "1 min 23 s"), (59.96, "60.0 s"), (7260, "2 h 1 min")])
def test_durations_are_in_words(tier: Tier, claims: pd.DataFrame, seconds: float, shown: str) -> None:
    _write_run(tier, duration_seconds=seconds)
    assert shown in Page(html.write(tier, claims).read_text(encoding="utf-8")).words


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ((0.3123, 0.2875, 0.3371), "0.312 [0.287, 0.337]"), ((83.21, 56.0, 100.0), "83 [56, 100]"),
        ((1.0, 1.0, 1.0), "1"), ((2.0, None, None), "2"), ((-0.004, -0.1, 0.1), "0.00 [−0.10, 0.10]"),
        ((1234.5, 1134.5, 1334.5), "1230 [1130, 1330]"),
    ],
)  # fmt: skip
def test_numbers_have_two_digits_of_their_uncertainty(given: tuple, shown: str) -> None:
    assert numbers.interval(*given) == shown


def test_the_structure_is_what_its_schema_says(tier: Tier, page: Page) -> None:
    content = load(tier)
    validator = jsonschema.Draft202012Validator(schema.Report.model_json_schema())
    validator.validate(content)
    content["papers"][0]["claims"][0]["verdict"] = "certain"
    del content["papers"][1]["title"]
    assert len(list(validator.iter_errors(content))) == 2


def test_the_document_names_fields_that_there_are() -> None:
    text = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    parts = {
        "the report": schema.Report,
        "a paper": schema.Paper,
        "a claim": schema.Claim,
        "a cell or setting": schema.Reading,
        "a figure": schema.Figure,
    }
    table = text.partition("| in | fields to start from |\n|---|---|\n")[2].partition("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()]
    assert [name for name, _ in rows] == list(parts)
    for name, fields in rows:
        assert set(re.findall(r"`(\w+)`", fields)) <= parts[name].model_fields.keys(), name


def test_the_document_says_what_every_column_of_the_table_of_claims_is(tier: Tier, page: Page) -> None:
    """Each column is a field of a claim, or a row of the document."""
    columns = set(pd.read_csv(tier.results / "claims.csv", nrows=0))
    text = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    table = text.partition("| column | meaning |\n|---|---|\n")[2].partition("\n\n")[0]
    named = {name for line in table.splitlines() for name in re.findall(r"`(\w+)`", line.split(" | ")[0])}
    assert named <= columns
    assert columns <= named | schema.Claim.model_fields.keys()


def test_every_verdict_is_in_the_structure(tier: Tier, claims: pd.DataFrame, page: Page) -> None:
    content = load(tier)
    shown = {claim["id"]: claim for paper in content["papers"] for claim in paper["claims"]}
    assert {id: claim["verdict"] for id, claim in shown.items()} == dict(
        zip(claims["claim"], claims["verdict"], strict=True)
    )
    for row in claims.itertuples():
        for name in ("observed", "low", "high", "reference", "margin"):
            number = getattr(row, name)
            assert shown[row.claim][name] == (pytest.approx(number) if np.isfinite(number) else None)
    listed = [id for paper in content["papers"] for section in paper["sections"] for id in section["claims"]]
    assert sorted(listed) == sorted(shown)


def test_the_structure_holds_no_place_holder(tier: Tier, page: Page) -> None:
    text = (tier.results / "report.json").read_text(encoding="utf-8")
    for word in ("TODO", "NaN", "Infinity", "lorem", "{{", "undefined"):
        assert word not in text
    assert re.search(r"\b20\d\d-\d\d-\d\d\b", text) is None


def load(tier: Tier) -> dict:
    return json.loads((tier.results / "report.json").read_text(encoding="utf-8"))


def find(tier: Tier, id: str) -> dict:
    return next(c for paper in load(tier)["papers"] for c in paper["claims"] if c["id"] == id)
