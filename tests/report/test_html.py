"""The report is one offline file, shows every claim once, adds no grounds, changes only with the results."""

import base64
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from reprise.errors import RepriseError
from reprise.evidence import errata
from reprise.evidence.claims import (
    both_forms,
    count,
    for_all,
    identity,
    ordering,
    printed,
    restated,
    value,
)
from reprise.evidence.judgement import VERDICTS
from reprise.evidence.verdicts import judge_all, summary
from reprise.execute import registry
from reprise.execute.registry import Experiment, Paper
from reprise.execute.tiers import Tier
from reprise.report import html, views
from reprise.storage import store
from reprise.study.experiment import BASE, Artifact, Resources
from reprise.study.settings import Settings, ours, stated, unstated

NASTY = "norms <script>alert('x')</script> & \"quotes\" | pipes stay text"


class Params(Settings):
    width: int = stated(16, "Section 5")
    rate: float = unstated(0.1, "a usual rate")
    seeds: int = ours(5, "enough for an interval")


def _measure(column: str):
    return lambda tables: tables["numbers"].set_index("seed")[column]


CLAIMS = (
    value("new2030/fig6a/slope", "The slope is one", source="Figure 6(a)", quantity="slope",
          measure=_measure("one"), published=1.0, std=0.1, n=5, unit=""),
    value("new2030/text/two", "It is two, they say", source="Section 5.1", quantity="score",
          measure=_measure("one"), published=2.0, unit="share"),
    ordering("new2030/fig7/above", NASTY, source="Figure 7", measure=_measure("noisy"), unit="%", above=0.0),
    count("new2030/table1/many", "There are many", source="Table 1", measure=_measure("three"), unit="values",
          at_least=3),
    restated(
        identity("new2030/theorem1/holds", "The theorem holds", source="Theorem 1", measure=_measure("tiny"))
    ),
    *both_forms(
        "substantive",
        identity("new2030/eq3/printed", "a < b", source="Equation 3", measure=_measure("one")),
        identity("new2030/eq3/corrected", "a > b", source="Equation 3", measure=_measure("tiny")),
    ),
)  # fmt: skip
PENDING = (
    value("new2030/table2/imagenet", "It reaches 62.7 %", source="Table 2", quantity="accuracy", measure=None,
          published=62.7, unit="%", needs="ImageNet and a GPU"),
)  # fmt: skip

PRINTED = (
    printed("new2030/table1/best", "The last is the best", source="Table 1", unit="%", above=0.0,
            measure=lambda tables: tables["published"]["lead"]),
)  # fmt: skip

OLD = (
    value("old1999/table1/old", "It was better", source="Table 1", quantity="score", measure=None,
          published=1.0, unit="", needs="an experiment"),
)  # fmt: skip


def _artifact(name: str, number: str, kind: str, caption: str = "What it shows.") -> Artifact:
    return Artifact(f"new2030/{name}", number, kind, caption, "new2030/toy", "new2030.toy.figures", name)


def _paper(
    key: str, experiments: dict[str, Experiment], pending: tuple, errata: tuple = (), coverage: tuple = ()
) -> Paper:
    return Paper(
        key=key, title=f"On <{key}>", bibtex=f"@article{{{key}}}", experiments=experiments, pending=pending,
        printed=PRINTED if experiments else (), errata=errata, coverage=coverage,
    )  # fmt: skip


def _item(name: str, covered_by: str) -> dict[str, str]:
    return {"item": name, "section": "5", "covered_by": covered_by, "note": ""}


@pytest.fixture
def tier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tier:
    """A tier in which one paper has run, bar its Figure 7 and Table 2, and another has nothing."""
    toy = Experiment(
        id="new2030/toy", module="toy", params=Params, inputs=None, resources=Resources(), alternatives=None,
        excused={},
        tables=("numbers",), claims=CLAIMS,
        artifacts=(
            _artifact("fig06a", "Figure 6a", "figure", NASTY),
            _artifact("fig07", "Figure 7", "figure"),
            _artifact("table1", "Table 1", "table"),
        ),
    )  # fmt: skip
    found = (
        errata.shown("new2030", "eq3", "substantive", "Eq. 3", "a < b", "b is less, a > b"),
        errata.read("new2030", "typo", "typo", "Section 2", "teh", "the"),
    )
    coverage = (
        _item("Figure 6a", "new2030/fig06a; new2030/fig6a/slope"),
        _item("Figure 7", "new2030/fig07"),
        _item("Theorem 1", "new2030/theorem1/holds"),
        _item("Figure 1", "illustration"),
    )
    papers = {
        "new2030": _paper("new2030", {toy.id: toy}, PENDING, found, coverage),
        "old1999": _paper("old1999", {}, OLD),
    }
    monkeypatch.setattr(registry, "papers", lambda: papers)
    monkeypatch.setattr(Experiment, "code", lambda experiment, params: "abc")
    made = Tier("mini", tmp_path, {}, (), {}, {toy.id: Params(width=8)}, "0123456789ab")
    _write_run(made)
    _write_figures(made)
    return made


def _write_run(tier: Tier, **changes: object) -> Path:
    record = {
        "command": "reprise run new2030/toy --tier mini", "commit": "c0ffee", "python": "3.12.0",
        "versions": {"torch": "2.11"}, "experiment": "new2030/toy",
        "hardware": {"processor": "a CPU", "cores": 2, "memory_gib": 8.0, "system": "Linux"},
        "params": tier.params["new2030/toy"].model_dump(mode="json"), "code": "abc", "duration_seconds": 83.2,
        "key": registry.experiment("new2030/toy").key(tier.params["new2030/toy"]), "sha256": {}, **changes,
    }  # fmt: skip
    file = tier.results / "new2030" / "toy" / "run.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(store.seal(record))
    return file


ARITHMETIC = {
    "libraries": [
        {"name": "libgomp", "version": None, "kernel": None, "threads": 1},
        {"name": "libopenblas", "version": "0.3.30", "kernel": "Haswell", "threads": 1},
        {"name": "libopenblas", "version": "0.3.28", "kernel": "Haswell", "threads": 1},
        {"name": "torch", "version": "2.11", "kernel": "AVX2", "threads": 2},
    ],
    "variables": {"OMP_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "Haswell"},
}


def _write_figures(tier: Tier) -> None:
    folder = tier.figures / "new2030"
    folder.mkdir(parents=True)
    figure, axes = plt.subplots(figsize=(3, 2))
    axes.plot([1, 2, 3])
    figure.savefig(folder / "fig06a.png")
    plt.close(figure)
    table = pd.DataFrame({"loss": ["a<b", "InfoNCE"], "accuracy": [66.512345, np.nan]})
    table.to_csv(folder / "table1.csv", index=False)


@pytest.fixture
def claims() -> pd.DataFrame:
    """Verdicts of every sort: reproduced, contradicted, inconclusive, not run."""
    seeds = np.arange(20)
    numbers = pd.DataFrame(
        {
            "seed": seeds, "setting": BASE, "one": 1 + 0.01 * np.cos(seeds), "noisy": np.cos(seeds),
            "three": 3, "tiny": 1e-9 * (1 + seeds),
        }
    )  # fmt: skip
    judged = judge_all(CLAIMS, {"numbers": numbers}, Params(width=8))
    published = {"published": pd.DataFrame({"lead": [1.5, 0.5], "setting": BASE})}
    others = judge_all(PRINTED, published, None), judge_all((*PENDING, *OLD), None, None)
    return pd.concat([judged, *others]).sort_values("claim", ignore_index=True)


class Page(HTMLParser):
    """What a page holds: its ids, links, resources, elements, words, and its tables as rows of cells."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: Counter[str] = Counter()
        self.links: list[str] = []
        self.resources: list[str] = []
        self.elements: Counter[str] = Counter()
        self.headers: list[dict] = []
        self.images: list[dict] = []
        self.tables: list[list[list[str]]] = []
        self.words = ""
        self.cell: list[str] | None = None
        self.feed(text)

    @property
    def rows(self) -> list[list[str]]:
        return [row for table in self.tables for row in table]

    def handle_starttag(self, tag: str, attrs: list) -> None:
        given = dict(attrs)
        self.elements[tag] += 1
        self.ids.update([given["id"]] if "id" in given else [])
        self.resources += [given[key] for key in ("src", "srcset", "data", "poster") if key in given]
        self.resources += [given["href"]] if tag == "link" else []
        if tag == "a":
            self.links.append(given["href"])
        elif tag == "img":
            self.images.append(given)
        elif tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.cell = []
            self.headers += [given] if tag == "th" else []

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th") and self.cell is not None:
            self.tables[-1][-1].append(" ".join(" ".join(self.cell).split()))
            self.cell = None

    def handle_data(self, data: str) -> None:
        self.words += data
        if self.cell is not None:
            self.cell.append(data)


@pytest.fixture
def page(tier: Tier, claims: pd.DataFrame) -> Page:
    return Page(html.write(tier, claims).read_text(encoding="utf-8"))


def test_it_needs_nothing_outside_itself(tier: Tier, claims: pd.DataFrame, page: Page) -> None:
    text = (tier.results / "report.html").read_text(encoding="utf-8")
    assert page.resources
    assert all(resource.startswith("data:") for resource in page.resources)
    assert all(link.startswith("#") for link in page.links)
    assert "@import" not in text
    assert "url(" not in text


def test_claims_are_anchored_once_and_links_lead_somewhere(claims: pd.DataFrame, page: Page) -> None:
    assert {id: page.ids[id] for id in claims["claim"]} == dict.fromkeys(claims["claim"], 1)
    assert set(page.ids.values()) == {1}
    assert {link[1:] for link in page.links} <= set(page.ids)


def test_grounds_are_counted_apart(claims: pd.DataFrame, page: Page) -> None:
    counts = summary(claims)
    ledger = {row[0]: row[1:] for row in page.tables[0][1:]}
    assert ledger == {
        f"{ground.capitalize()} {html.GROUNDS[ground]}": [str(n) for n in rows[list(VERDICTS)].sum()]
        for ground, rows in counts.groupby("ground")
    }
    assert not any(row[0].lower() in ("total", "sum", "all") for row in page.rows)


def test_a_contradicted_claim_comes_first_with_its_evidence(page: Page) -> None:
    finding = page.words[page.words.index("Findings: what did not hold") : page.words.index("Other claims")]
    assert "It is two, they say" in finding
    assert "near 2 ± 0.1" in finding
    assert "width: 8 (paper: 16)" in finding
    assert "rate=0.1" in finding


def test_text_stays_text(tier: Tier, page: Page) -> None:
    assert page.elements["script"] == 1
    assert NASTY in page.words
    assert any(NASTY in image["alt"] for image in page.images)
    assert "a<b" in page.words
    assert "<script" not in (tier.results / "summary.md").read_text(encoding="utf-8")


def test_figures_and_tables_are_embedded(tier: Tier, page: Page) -> None:
    (image,) = page.images
    drawn = (tier.figures / "new2030" / "fig06a.png").read_bytes()
    assert base64.b64decode(image["src"].split(",")[1]) == drawn
    assert int(image["width"]) > int(image["height"]) > 0
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


def test_what_differs_between_runs_is_no_common_fact() -> None:
    runs = [
        views.RunView(str(i), "", "", facts)
        for i, facts in enumerate([{"a": "1", "b": "1", "c": "1"}, {"a": "1", "b": "2"}])
    ]
    assert views.common(runs) == {"a": "1", "c": "1"}
    assert views.common([]) == {}


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


def test_claims_are_found_by_id_source_and_coverage(page: Page) -> None:
    claims = [row[0] for row in page.rows if "shown in" in row[0]]
    assert sorted(" ".join(text.split("shown in ")[1].split()[:2]) for text in claims) == [
        "Figure 6a", "Figure 7", "Table 1", "Table 1",
    ]  # fmt: skip


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
    assert views._mentions(text) == named


def test_errata_link_to_what_showed_them(page: Page) -> None:
    assert "#new2030/eq3/printed" in page.links
    assert "#erratum:new2030/eq3" in page.links
    rows = {row[0]: row[1:] for row in page.rows}
    assert rows["Eq. 3 new2030/eq3"][:3] == ["substantive", "a < b", "b is less, a > b"]
    for shown in ("new2030/eq3/printed ✗ contradicted", "new2030/eq3/corrected ✓ reproduced"):
        assert shown in rows["Eq. 3 new2030/eq3"][3]
    assert rows["Section 2 new2030/typo"] == ["typo", "teh", "the", "reading"]


def test_a_false_statement_is_a_finding_with_our_correction_beside_it(page: Page) -> None:
    finding = page.words[page.words.index("Findings: what did not hold") : page.words.index("Other claims")]
    assert "a < b ✗ contradicted reduced" in finding
    assert "Our correction: b is less, a > b" in finding
    assert finding.count("Our correction:") == 1


def test_what_is_not_the_papers_own_wording_has_its_grounds(page: Page) -> None:
    ledger = {row[0].split(" ✓")[0]: row[1:] for row in page.tables[0][1:]}
    for name in ("restated by us", "our own"):
        assert ledger[f"{name.capitalize()} {html.GROUNDS[name]}"] == ["1", "0", "0", "0", "0"]


def test_settings_and_cells_are_drawn_and_listed(tier: Tier) -> None:
    numbers = pd.concat(
        pd.DataFrame({"seed": range(6), "setting": name, "one": mean + 0.01 * np.arange(6)})
        for name, mean in {BASE: 1.0, "rate halved": 1.2, "rate doubled": -1.0}.items()
    )
    above = ordering("new2030/fig7/a", "", source="", measure=_measure("one"), unit="", above=0.0)
    below = ordering("new2030/fig7/b", "", source="", measure=_measure("one"), unit="", below=5.0)
    cells = for_all("new2030/fig7/both", "It is both", {"above 0": above, "below 5": below})
    judged = judge_all([cells], {"numbers": numbers}, Params(width=8), looked="the rate")
    text = html.write(tier, judged).read_text(encoding="utf-8")
    page = Page(text)
    assert text.count("<svg") == 2
    assert "holds in 2 of 2 cells" in page.words
    assert "2 other settings: 1 holds, 1 fails, 0 undecided" in page.words
    assert "set after a look at results: the rate" in page.words
    rows = {row[0]: row[1:] for row in page.rows}
    assert rows["rate doubled"][0] == "✗ contradicted"
    assert rows["below 5"][0] == "✓ reproduced"
    assert "± depends" in page.words


def test_error_rates_are_those_of_the_claims(claims: pd.DataFrame, page: Page) -> None:
    rows = {row[0]: row[1:] for row in page.rows}
    rate = f"{100 * claims.set_index('claim').loc['new2030/fig7/above'].false_reproduced:.1f} %"
    assert rows["ordering"][:2] == ["1", f"{rate} ({rate})"]


def test_false_discoveries_are_counted_by_paper(claims: pd.DataFrame, page: Page) -> None:
    (table,) = [table for table in page.tables if table and table[0][-1:] == ["False discovery rate"]]
    tests = claims[claims["kind"].isin(["value", "ordering", "count"]) & claims["p_value"].notna()]
    assert table[1][:3] == ["new2030", str(len(tests)), "3"]


def test_coverage_is_counted(page: Page) -> None:
    for text in ("1 drawn again", "1 not run yet", "1 checked by claims", "1 illustration"):
        assert text in page.words


@pytest.mark.parametrize("damage", ["{", "[]", '{"sha256": {}}'])
def test_a_damaged_record_is_named(tier: Tier, claims: pd.DataFrame, damage: str) -> None:
    file = tier.results / "new2030" / "toy" / "run.json"
    file.write_text(damage)
    with pytest.raises(RepriseError, match=r"run\.json: damaged.*reprise run new2030/toy --tier mini"):
        html.write(tier, claims)
    assert not (tier.results / "report.html").exists()


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
    picture = "data:image/png;base64"
    assert picture in fresh
    assert picture not in stale
    assert "reprise run new2030/toy --tier mini\nreprise draw new2030/fig06a --tier mini" in Page(stale).words


def test_a_truncated_figure_is_named(tier: Tier, claims: pd.DataFrame) -> None:
    file = tier.figures / "new2030" / "fig06a.png"
    file.write_bytes(file.read_bytes()[:200])
    with pytest.raises(RepriseError, match=r"fig06a\.png: damaged.*reprise draw new2030/fig06a --tier mini"):
        html.write(tier, claims)


def test_same_results_same_bytes_whatever_the_run_took(tier: Tier, claims: pd.DataFrame) -> None:
    names = ("summary.md", "claims.csv", "claims.parquet")
    html.write(tier, claims)
    first = [(tier.results / name).read_bytes() for name in names]
    _write_run(tier, duration_seconds=99999.0, commit="decade")
    html.write(tier, claims)
    assert [(tier.results / name).read_bytes() for name in names] == first
    pd.testing.assert_frame_equal(pd.read_parquet(tier.results / "claims.parquet"), claims)


def test_the_summary_lists_what_a_ci_run_must_look_at(tier: Tier, claims: pd.DataFrame) -> None:
    html.write(tier, claims)
    text = (tier.results / "summary.md").read_text(encoding="utf-8")
    contradicted, inconclusive = text.split("## Contradicted")[1].split("## Inconclusive")
    assert "new2030/text/two" in contradicted
    assert "near 2 ± 0.1" in contradicted
    assert "new2030/fig7/above" in inconclusive
    assert "\\|" in inconclusive
    assert "| new2030 | reduced | 2 | 2 | 0 | 1 | 0 |" in text


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
    assert views.number(given) == shown


@pytest.mark.parametrize(("seconds", "shown"), [(83.2, "1 min 23 s"), (59.96, "60.0 s"), (7260, "2 h 1 min")])
def test_durations_are_in_words(tier: Tier, claims: pd.DataFrame, seconds: float, shown: str) -> None:
    _write_run(tier, duration_seconds=seconds)
    assert shown in Page(html.write(tier, claims).read_text(encoding="utf-8")).words
