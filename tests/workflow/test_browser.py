"""The report of a whole smoke run in a real browser: Debian's chromium, driven by Playwright."""

import csv
import re
from itertools import pairwise
from urllib.parse import unquote

import pytest

pytestmark = pytest.mark.slow

PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 900}
MOST_PAGES = 15
MOST_PIXELS = 4500
"""Largest height of the first page at desktop width, in pixels."""
MOST_BYTES = 4e6
AXE = {"resultTypes": ["violations"]}
BUTTON = "#menu"

RESOLVE = """async ids => {
  const hidden = [], bottom = document.querySelector(".top").getBoundingClientRect().bottom;
  for (const id of ids) {
    location.hash = "#" + id;
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    const target = document.getElementById(id), box = target.getBoundingClientRect();
    const atEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
    const isSeen = box.height > 0 && box.bottom > bottom && box.top < innerHeight;
    if (!isSeen || (box.top < bottom - 1 && !atEnd && target.className !== "view")) hidden.push(id);
  }
  return hidden;
}"""

FEW = """() => {
  for (const view of document.querySelectorAll(".view[hidden]")) view.remove();
  const claims = [...document.querySelectorAll(".claim")];
  for (const claim of claims.slice(10)) claim.remove();
  for (const box of document.querySelectorAll("main details")) box.open = true;
}"""
"""Leaves what is shown, and ten claims, unfolded: the rules are slow, and other claims are alike."""


@pytest.fixture(scope="module")
def report(smoke_run):
    return smoke_run.root / "results" / "smoke" / "report.html"


class Visit:
    """A tab in which the report is open, with all that it says and asks for."""

    def __init__(self, browser, report, **options):
        self.tab = browser.new_context(**{"viewport": DESKTOP, **options}).new_page()
        self.said, self.asked = [], []
        self.tab.on("console", lambda message: self.said.append(message.text))
        self.tab.on("pageerror", lambda error: self.said.append(str(error)))
        self.tab.on("request", lambda request: self.asked.append(request.url))
        self.report = report
        self.go()

    def go(self, address=""):
        self.tab.goto(f"{self.report.as_uri()}#{address}")
        self.tab.wait_for_function("!document.querySelector('form').hidden")

    def ids(self, selector):
        return self.tab.eval_on_selector_all(selector, "found => found.map(each => each.id)")

    @property
    def views(self):
        return self.ids(".view")

    @property
    def papers(self):
        return [view for view in self.views if re.fullmatch(r"[a-z]+\d{4}", view)]

    def shown_claims(self):
        return self.ids("#results > .claim")


@pytest.fixture
def visit(browser, report):
    visits = []

    def open_report(**options):
        visits.append(Visit(browser, report, **options))
        return visits[-1]

    yield open_report
    for each in visits:
        each.tab.context.close()


def test_it_is_small_and_its_first_page_short(report, visit):
    assert report.stat().st_size < MOST_BYTES
    assert visit().tab.evaluate("document.documentElement.scrollHeight") < MOST_PIXELS


def test_every_figure_is_visible(visit):
    page = visit()
    pictures = 0
    for view in page.views:
        page.go(view)
        sizes = page.tab.evaluate(
            """async view => Promise.all([...document.getElementById(view).querySelectorAll("img")].map(
                async image => { await image.decode(); const box = image.getBoundingClientRect();
                                 return [image.naturalWidth, box.width, box.height]; }))""",
            view,
        )
        page.tab.wait_for_function("!document.querySelector('.view:not([hidden]) [data-content]')")
        sizes += page.tab.evaluate(
            """view => [...document.getElementById(view).querySelectorAll(".plate svg")].map(figure => {
                const box = figure.getBoundingClientRect();
                return [10 * figure.querySelectorAll("path").length, box.width, box.height]; })""",
            view,
        )
        assert [size for size in sizes if size[0] < 100 or size[1] < 50 or size[2] < 20] == []
        pictures += len(sizes)
    assert pictures > 60  # figures, and their thumbnails


def test_a_figure_is_enlarged_and_put_back(visit):
    page = visit()
    page.go(page.papers[0])
    picture = page.tab.locator(f"#{page.papers[0]} .plate svg").first
    page.tab.locator(f"#{page.papers[0]} .zoom").first.click()
    large = page.tab.locator("#zoom svg")
    assert large.is_visible()
    assert large.bounding_box()["width"] > picture.bounding_box()["width"]
    page.tab.keyboard.press("Escape")
    assert not large.is_visible()


def alone(rows):
    """A row of a figure's data whose point has no other mark near, in the figure's middle."""
    places = [(float(row["left"]), float(row["top"])) for row in rows if row["left"]]
    shown = [row for row in rows if row["left"]]

    def distance(index):
        x, y = places[index]
        return min(abs(x - a) + abs(y - b) for other, (a, b) in enumerate(places) if other != index)

    return shown[max(range(len(shown)), key=distance)]


def short(text):
    """A number with four digits, as it is said."""
    return f"{float(text):.4g}"


@pytest.fixture
def plotted(visit, report):
    """A page, a figure in it that has lines and points alone, and a row of its data."""
    page = visit(has_touch=True)
    for view in page.papers:
        page.go(view)
        page.tab.wait_for_function("!document.querySelector('.view:not([hidden]) [data-content]')")
        for figure in page.tab.locator(f"#{view} figure").filter(has=page.tab.locator(".plate svg")).all():
            data = figure.locator("figcaption a[href$='.csv']").get_attribute("href")
            with (report.parent / unquote(data)).open(encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            if "width" not in rows[0] and 20 < len(rows) < 500:
                return page, figure, alone(rows)
    pytest.fail("no figure of points alone")


def pixels(figure, row):
    """Position of a row's point in the window, in pixels."""
    svg = figure.locator(".plate svg")
    svg.scroll_into_view_if_needed()
    box, (_, _, width, _) = svg.bounding_box(), map(float, svg.get_attribute("viewBox").split())
    scale = box["width"] / width
    return box["x"] + float(row["left"]) * scale, box["y"] + float(row["top"]) * scale


def test_the_pointer_reads_a_points_value_and_escape_hides_it(plotted):
    page, figure, row = plotted
    x, y = pixels(figure, row)
    value = page.tab.locator("#value")
    page.tab.mouse.move(x + 3, y + 3)
    assert value.is_visible()
    said = value.text_content()
    assert short(row["x"]) in said
    assert short(row["y"]) in said
    assert row["series"] in said
    box = value.bounding_box()
    for step in range(1, 11):  # over to the words, which stay
        page.tab.mouse.move(x, y + (box["y"] + box["height"] / 2 - y) * step / 10)
        assert value.text_content() == said
        assert value.is_visible()
    page.tab.mouse.move(x, y)
    page.tab.keyboard.press("Escape")
    page.tab.mouse.move(x + 1, y)
    assert not value.is_visible()
    page.tab.mouse.move(2, 2)
    page.tab.mouse.move(x, y)
    assert value.is_visible()
    page.tab.mouse.move(2, 2)
    assert not value.is_visible()
    page.tab.touchscreen.tap(x, y)
    assert value.text_content() == said
    assert page.said == []


def test_arrow_keys_read_values_here_and_enlarged(plotted):
    page, figure, _ = plotted
    value = page.tab.locator("#value")
    figure.locator(".zoom").focus()
    for enlarged in (False, True):
        said = []
        for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "ArrowDown"):
            page.tab.keyboard.press(key)
            assert value.is_visible()
            said.append(value.text_content())
        assert said[2] == said[0]
        assert all(one != other for one, other in pairwise(said))
        page.tab.keyboard.press("Escape")
        assert not value.is_visible()
        assert page.tab.locator("#zoom").is_visible() == enlarged
        if not enlarged:
            page.tab.keyboard.press("Enter")


def test_in_the_dark_a_heat_map_keeps_its_colours_and_other_figures_turn(visit):
    page = visit(color_scheme="dark")
    turned = set()
    for view in page.papers:
        page.go(view)
        page.tab.wait_for_function("!document.querySelector('.view:not([hidden]) [data-content]')")
        for holds, is_lit, filters, white in page.tab.evaluate(
            """view => [...document.getElementById(view).querySelectorAll(".plate svg")].map(figure => [
                !!figure.querySelector("image"), figure.matches(".lit"),
                [...figure.children].filter(each => getComputedStyle(each).filter !== "none").length,
                getComputedStyle(figure).backgroundColor])""",
            view,
        ):
            assert is_lit or not holds
            assert (filters == 0, white == "rgb(255, 255, 255)") == (is_lit, is_lit)
            turned.add(is_lit)
    assert turned == {False, True}
    page.go("home")
    thumbnails = page.tab.eval_on_selector_all(
        ".thumbnails img", "found => found.map(each => [each.className, getComputedStyle(each).filter])"
    )
    assert {(name == "lit", filter == "none") for name, filter in thumbnails} == {
        (True, True),
        (False, False),
    }


def test_search_filter_and_sort_change_what_is_shown_and_are_in_the_address(visit):
    page = visit()
    everything = len(page.ids(".claim"))
    page.tab.fill("input[type=search]", "ReLU collapse")
    found = page.shown_claims()
    assert 0 < len(found) < everything
    for claim in found:
        assert "relu" in page.tab.locator(f"[id='{claim}']").text_content().lower()
    assert page.tab.locator("output").text_content() == f"{len(found)} of {everything} claims"
    page.tab.fill("input[type=search]", "Figure 6a")
    assert page.tab.locator("#pictures a").first.is_visible()
    page.tab.fill("input[type=search]", "")
    page.tab.click(".filters summary")
    page.tab.select_option("select[name=verdict]", "contradicted")
    contradicted = page.shown_claims()
    verdicts = page.tab.eval_on_selector_all("#results > .claim", "found => found.map(c => c.dataset.v)")
    assert set(verdicts) == {"contradicted"}
    page.tab.select_option("select[name=sort]", "statement")
    by_statement = page.shown_claims()
    assert by_statement != contradicted
    assert sorted(by_statement) == sorted(contradicted)
    statements = page.tab.eval_on_selector_all("#results .s", "found => found.map(each => each.textContent)")
    assert statements == sorted(statements, key=lambda text: text.encode("utf-16-be"))
    address = page.tab.url
    other = visit()
    other.tab.goto(address)
    other.tab.reload()
    assert other.shown_claims() == by_statement
    assert other.tab.input_value("select[name=verdict]") == "contradicted"
    other.go("home")
    assert other.shown_claims() == []
    assert len(other.ids(".view .rows > .claim")) == everything


def test_what_is_found_stands_under_its_paper_and_figure(visit):
    page = visit()
    page.go("find?q=the")
    headings = page.tab.eval_on_selector_all("#results > h3", "found => found.map(each => each.textContent)")
    assert len(set(headings)) > len(page.papers)
    assert all(one != other for one, other in pairwise(headings))  # a group has one
    papers = [heading.split(" · ")[0] for heading in headings]
    assert papers == sorted(papers, key=page.views.index)
    link = page.tab.locator("#results > h3 a").nth(3)
    target = link.get_attribute("href")
    link.click()
    page.tab.wait_for_function("!document.querySelector('#results > *')")
    assert page.tab.locator(f"[id='{target[1:]}']").is_visible()


def test_a_theorem_unfolds_and_a_link_to_its_claim_unfolds_both(visit):
    page = visit()
    claim = page.ids(".fold .claim")[0]
    page.go(claim.split("/")[0])
    shown = page.tab.locator(f"[id='{claim}'] > summary")
    assert not shown.is_visible()
    page.go(claim)
    assert shown.is_visible()
    assert page.tab.evaluate("id => document.getElementById(id).open", claim)


def test_no_statement_is_cut(visit):
    page = visit()
    for viewport in (DESKTOP, PHONE):
        page.tab.set_viewport_size(viewport)
        page.go("find?q=")
        cut = page.tab.eval_on_selector_all(
            "#results .claim summary span",
            "found => found.filter(each => each.scrollWidth > each.clientWidth + 1).length",
        )
        assert cut == 0


def test_a_search_leaves_every_claim_in_its_place(visit):
    page = visit()
    before = page.ids(".claim")
    page.go("find?q=the&sort=far")
    page.go("home")
    assert page.ids(".claim") == before


def test_every_link_leads_somewhere(report, visit):
    page = visit()
    links = set(
        page.tab.eval_on_selector_all("a[href]", "found => found.map(each => each.getAttribute('href'))")
    )
    ids = set(page.ids("[id]"))
    assert {link for link in links if link[0] == "#" and unquote(link[1:]).split("?")[0] not in ids} == set()
    outside = {link for link in links if link.startswith("https://")}
    assert all(re.fullmatch(r"https://arxiv\.org/abs/[\d.]+(v\d+)?", link) for link in outside)
    files = [link for link in links if link[0] != "#" and link not in outside]
    assert files
    missing = [link for link in files if not (report.parent / unquote(link)).exists()]
    assert missing == []


def test_permalinks_show_their_target_below_the_bar(visit):
    page = visit()
    unlinked = page.tab.eval_on_selector_all(
        "h2, h3", "found => found.filter(each => !(each.id || each.closest('section[id]').id)).length"
    )
    assert unlinked == 0
    targets = [*page.ids("h2[id], h3[id]"), *page.ids("figure[id]"), *page.ids(".claim")[::25]]
    assert page.tab.evaluate(RESOLVE, targets) == []


def test_on_a_phone_nothing_scrolls_sideways_and_the_drawer_opens(visit):
    page = visit(viewport=PHONE, has_touch=True)
    for view in page.views:
        page.go(view)
        page.tab.evaluate(
            "for (const each of document.querySelectorAll('.view:not([hidden]) details')) each.open = true"
        )
        assert page.tab.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], view
    page.go("home")
    contents = page.tab.locator("#contents")
    assert not contents.is_visible()
    page.tab.click(BUTTON)
    assert contents.is_visible()
    page.tab.click("#contents a[href='#method']")
    contents.wait_for(state="hidden")  # with the address, an event later
    assert page.tab.locator("#method").is_visible()


def test_the_keyboard_reaches_everything(visit):
    page = visit()
    focused = "document.activeElement.{}"
    page.tab.keyboard.press("Tab")
    assert page.tab.evaluate(focused.format("className")) == "skip"
    assert page.tab.locator(".skip").bounding_box()["x"] >= 0
    page.tab.keyboard.press("Enter")
    page.tab.wait_for_function("document.activeElement.id === 'main'")
    page.go(page.papers[2])
    page.tab.evaluate("document.getElementById('main').focus({preventScroll: true})")
    for _ in range(60):
        page.tab.keyboard.press("Tab")
        if page.tab.evaluate(focused.format("matches('.claim > summary')")):
            break
    opened = "document.activeElement.parentElement.open"
    assert page.tab.evaluate(opened) is False
    page.tab.keyboard.press("Enter")
    assert page.tab.evaluate(opened) is True
    outline = page.tab.evaluate("getComputedStyle(document.activeElement).outlineWidth")
    assert float(outline.removesuffix("px")) >= 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(visit, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = visit(color_scheme=scheme)
    found = set()
    for view in ("home", "printed", page.papers[1], "find?verdict=contradicted"):
        page.go(view)
        page.tab.reload()
        page.tab.evaluate(FEW)
        for violation in axe.run(page.tab, options=AXE).response["violations"]:
            if violation["impact"] in ("serious", "critical"):
                found.update((violation["id"], node["html"][:120]) for node in violation["nodes"][:3])
    assert found == set()


def test_it_says_nothing_and_asks_for_nothing(report, visit):
    page = visit()
    for view in (*page.views, "find?q=a", "nowhere"):
        page.go(view)
    assert page.said == []
    assert {url.split("#")[0] for url in page.asked if not url.startswith("data:")} == {report.as_uri()}


def test_each_part_prints_on_few_pages(visit):
    page = visit()
    for view in ("home", "printed", *page.papers, "method", "provenance"):
        page.go(view)
        page.tab.wait_for_function("!document.querySelector('.view:not([hidden]) [data-content]')")
        pages = len(re.findall(rb"/Type\s*/Page\b", page.tab.pdf()))
        assert 1 <= pages <= MOST_PAGES, view
