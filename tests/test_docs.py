"""Pages for people: their links lead somewhere, and the index names every page."""

import re
from pathlib import Path

import pytest
import worlds
import yaml

from reprise.evidence.effects import SMALLEST

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\((?!https?://|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def anchors(page):
    """The anchors that GitHub gives to a page's headings, and those that the page sets itself."""
    text = FENCE.sub("", page.read_text())
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    given = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return given | set(re.findall(r'<a id="([^"]+)">', text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file_and_a_heading(page):
    for name, anchor in LINK.findall(FENCE.sub("", page.read_text())):
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{page.name} links to {name}, which does not exist"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{page.name} links to #{anchor}, which {target.name} lacks"


def test_the_index_names_every_page():
    named = {name for name, _ in LINK.findall((ROOT / "docs" / "README.md").read_text())}
    assert {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"} <= named


@pytest.mark.parametrize("file", ["dispute", "bug", "paper"])
def test_a_template_asks_for_something(file):
    form = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / f"{file}.yml").read_text())
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert {"name", "description"} < form.keys()
    assert all({"id", "attributes"} <= field.keys() and field["attributes"]["label"] for field in fields)
    assert any(field.get("validations", {}).get("required") for field in fields)


def cells(name):
    """The rows of one of the tables in docs/evidence.md that tests/worlds.py writes, without its head."""
    text = (ROOT / "docs" / "evidence.md").read_text(encoding="utf-8")
    table = text.partition(f"<!-- {name} -->")[2].partition(f"<!-- end of {name} -->")[0].strip()
    first, _, *rows = table.splitlines()
    assert first == worlds.line(worlds.TABLES[name][0])
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def rates():
    """The error rates: the numbers in % by shape and number of seeds."""
    found = {}
    for name, *columns in cells("rates"):
        by_error = [map(float, column.split(", ")) for column in columns]
        found |= {(name, seeds): numbers for seeds, *numbers in zip(worlds.TRIED, *by_error, strict=True)}
    return found


def test_the_table_of_error_rates_has_each_shape_and_number_of_seeds():
    assert list(rates()) == [(name, seeds) for name in worlds.SHAPES for seeds in worlds.TRIED]


def test_a_small_simulation_agrees_with_the_table_of_error_rates():
    runs = 400
    again = worlds.of_shape(worlds.SHAPES["normal"], 5, runs)
    for printed, rate, drawn in zip(
        rates()["normal", 5], vars(again).values(), (runs, runs, runs // 4), strict=True
    ):
        share = printed / 100
        assert abs(rate - share) <= 3 * (share * (1 - share) / drawn) ** 0.5


def test_the_table_of_smallest_effects_is_that_of_the_code():
    text = (ROOT / "docs" / "evidence.md").read_text()
    table = text.partition("| unit | smallest effect |\n|---|---|\n")[2].partition("\n\n")[0]
    written = {row.split("|")[1].strip(): row.split("|")[2].split()[0] for row in table.splitlines()}
    for each in SMALLEST:
        (number,) = {
            number for units, number in written.items() if set(words(units)) & set(words(each.scale))
        }
        in_logs = "logarithm" in each.scale  # 5 % of the number itself
        assert float(number) == pytest.approx(5.0 if each.relative or in_logs else each.effect), each.scale
    assert len(set(written.values())) == 4


def words(text):
    kinds = "accuracy|score|share|entropy|eigenvalue|condition number|saturation|rank|slope|count"
    return re.findall(kinds, text)


def test_the_table_of_rounds_is_that_which_worlds_writes():
    """One row is made anew; there is one for each sentence."""
    rows = cells("rounds")
    assert len(rows) == len(worlds.IN_ROUNDS)
    made = worlds.row_in_rounds(worlds.Effects("universal", "2", (2.0,)))
    assert list(map(str, made)) in rows


def test_the_table_of_chances_is_that_which_worlds_writes():
    """The chances of three seeds are made anew in one world; there is a row for each world."""
    rows = {name: columns for name, *columns in cells("chance")}
    assert list(rows) == list(worlds.WORLDS | worlds.SMALL)
    assert [column.split(", ")[0] for column in rows["normal"]] == worlds.chances("normal", 3)
    assert {len(column.split(", ")) for columns in rows.values() for column in columns} == {3}
