"""Every block in Chromium: read in light and dark, on a phone, without script, under a strict policy, and hostile."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Dialog, Page, Route

import syncd
from syncd.layout.page.frontmatter import split_after_title
from syncd.layout.richtext.reading import to_document
from syncd.web.blocks import BlockContext, render_document
from tests.browser.conftest import OpenPage
from tests.web.blocks.openapi.test_openapi_render import SPECIFICATION
from tests.web.blocks.test_hostile import ADDRESSES, HTML, link_everywhere

pytestmark = pytest.mark.browser

EVERY_BLOCK = (Path(__file__).parents[1] / "web" / "blocks" / "every_block.md").read_text(encoding="utf-8")
STATIC = Path(syncd.__file__).parent / "web" / "static"
STYLES = "".join((STATIC / name).read_text(encoding="utf-8") for name in ("blocks.css", "more_blocks.css"))
POLICY = "default-src 'none'; style-src 'self'; img-src 'self'"
HOST = "http://docs.test"
SHELL = "html{color-scheme:light dark}body{margin:0 auto;max-width:46rem;padding:0 1rem;font-family:sans-serif}"
DARK = "@media (prefers-color-scheme:dark){body{background:#15181d}}"


def show(page: Page, body: str, policy: str = POLICY) -> None:
    """Show blocks on a page of a host that answers from here."""

    def answer(route: Route) -> None:
        path = route.request.url.removeprefix(HOST)
        if path == "/":
            head = '<meta charset="utf-8"><title>Blocks</title><link rel="stylesheet" href="/blocks.css">'
            text = (
                f'<!doctype html><html lang="en"><head>{head}</head><body><main class="blocks"><h1>T</h1>{body}</main>'
            )
            route.fulfill(
                body=text, content_type="text/html", headers={"Content-Security-Policy": policy} if policy else {}
            )
        elif path == "/blocks.css":
            route.fulfill(body=SHELL + DARK + STYLES, content_type="text/css")
        else:
            route.fulfill(status=404)

    page.route("**", answer)
    page.goto(f"{HOST}/")


def render_every_block() -> str:
    """The HTML of a page with every block."""
    document = to_document(split_after_title(EVERY_BLOCK)[1])
    return str(render_document(document, BlockContext(read_specification=lambda ref: SPECIFICATION)).html)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 1440), ("light", 360), ("dark", 360)])
def test_axe_finds_nothing_serious_and_every_block_fits(
    open_page: OpenPage, list_violations: Callable[[Page], list[str]], scheme: str, width: int
) -> None:
    page = open_page(width=width, scheme=scheme)
    show(page, render_every_block())
    assert list_violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_no_line_ends_between_the_hyphens_of_an_option_and_its_name(open_page: OpenPage) -> None:
    page = open_page(width=360)
    lines = "\n\n".join(f"{'x' * letters} `syncd --no-flag -n`" for letters in range(1, 40))
    show(page, str(render_document(to_document(lines), BlockContext()).html))
    ends = page.evaluate("""() => [...document.querySelectorAll("code")].flatMap((code) => {
        const found = [], range = document.createRange();
        const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
        let before = null;
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            for (let at = 0; at < node.length; at++) {
                range.setStart(node, at);
                range.setEnd(node, at + 1);
                const { top } = range.getBoundingClientRect();
                if (before && top > before.top) found.push(before.sign);
                before = { top, sign: node.data[at] };
            }
        }
        return found;
    })""")
    assert set(ends) == {" "}


def test_tabs_change_by_keyboard_without_script(open_page: OpenPage) -> None:
    page = open_page(has_script=False)
    show(page, render_every_block())
    first, second = page.locator(".b-tab-body").nth(0), page.locator(".b-tab-body").nth(1)
    assert (first.is_visible(), second.is_visible()) == (True, False)
    page.locator(".b-tab-choice").first.focus()
    page.keyboard.press("ArrowRight")
    assert (first.is_visible(), second.is_visible()) == (False, True)


def test_arrows_point_where_the_text_goes_on(open_page: OpenPage) -> None:
    page = open_page()
    show(page, render_every_block())
    arrows = page.locator(".b-card-link, .b-link-page .b-link-sign")
    assert arrows.count() >= 2
    for site, text, turned in (
        ("rtl", "ltr", False),
        ("ltr", "rtl", True),
        ("rtl", "rtl", True),
        ("ltr", "ltr", False),
    ):
        page.evaluate(
            "([a, b]) => { document.documentElement.dir = a; document.querySelector('main').dir = b }", [site, text]
        )
        shapes = arrows.evaluate_all("all => all.map(one => getComputedStyle(one).transform)")
        assert {shape != "none" for shape in shapes} == {turned}


def test_blocks_in_a_row_that_can_be_unfolded_share_a_border(open_page: OpenPage) -> None:
    page = open_page()
    text = "<details>\n\n<summary>T</summary>\n\nWords\n\n</details>\n\n"
    show(page, str(render_document(to_document(text * 3), BlockContext()).html))
    boxes = [box for one in page.locator(".b-expandable").all() if (box := one.bounding_box())]
    assert len(boxes) == 3
    ends = [box["y"] + box["height"] for box in boxes[:2]]
    assert [box["y"] + 1 for box in boxes[1:]] == pytest.approx(ends)
    corners = page.locator(".b-expandable").nth(1).evaluate("one => getComputedStyle(one).borderRadius")
    assert corners == "0px"


def test_figures_of_a_writers_html_are_as_wide_as_the_text(open_page: OpenPage) -> None:
    text = "Words.\n\n<figure><figcaption>A</figcaption></figure>\n\n"
    text += '<div align="left"><figure><figcaption>B</figcaption></figure></div>'
    page = open_page()
    show(page, str(render_document(to_document(text), BlockContext()).html))
    found = page.evaluate(
        """() => [...document.querySelectorAll("p, figure")].map(one =>
            [one.getBoundingClientRect().x, one.getBoundingClientRect().width, getComputedStyle(one).textAlign])"""
    )
    assert len({(x, width) for x, width, _ in found}) == 1
    assert [align.removeprefix("-webkit-") for _, _, align in found] == ["start", "center", "left"]


def test_a_wide_table_of_a_writers_html_is_scrolled_in_its_box(open_page: OpenPage) -> None:
    row = "".join(f"<td>{'x' * 40}{number}</td>" for number in range(5))
    page = open_page(width=360)
    show(page, str(render_document(to_document(f"<table><tr>{row}</tr></table>"), BlockContext()).html))
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('.b-table').scrollLeft > 0")


def test_cells_on_a_phone_are_not_narrow_and_keep_their_words(open_page: OpenPage) -> None:
    words = "some words that are as many as a cell of a table has where it explains what the others are"
    row = f"| `{'a_name' * 8}` | {'x' * 40} | {words} | {words} |"
    page = open_page(width=360)
    show(page, str(render_document(to_document(f"| A | B | C | D |\n|---|---|---|---|\n{row}\n"), BlockContext()).html))
    cells = page.evaluate("[...document.querySelectorAll('td')].map(one => [one.clientWidth, one.scrollWidth])")
    assert [width >= 150 and inner <= width for width, inner in cells] == [True] * 4


def test_paper_shows_what_is_folded_and_long_lines(open_page: OpenPage) -> None:
    text = f"<details>\n<summary>More</summary>\n\nFolded words.\n\n</details>\n\n```\n{'x' * 500}\n```\n"
    page = open_page(width=700)
    show(page, str(render_document(to_document(text), BlockContext()).html))
    assert not page.get_by_text("Folded words.").is_visible()
    page.emulate_media(media="print")
    assert page.get_by_text("Folded words.").is_visible()
    assert page.evaluate("(pre => pre.scrollWidth <= pre.clientWidth)(document.querySelector('pre'))")


def test_nothing_of_a_hostile_document_runs_without_a_policy(open_page: OpenPage) -> None:
    page = open_page()
    seen: list[str] = []

    def note_dialog(dialog: Dialog) -> None:
        seen.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", note_dialog)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    nodes = [{"object": "block", "type": "html", "data": {"html": html}} for html in HTML]
    nodes += [node for address in ADDRESSES for node in link_everywhere(address)]
    document = to_document("").model_copy(update={"nodes": tuple(nodes)})
    show(page, render_document(document, BlockContext()).html, policy="")
    for link in page.locator("a[href]").element_handles():
        assert link.evaluate("one => ['http:', 'https:', 'mailto:', 'tel:'].includes(one.protocol)")
    assert seen == []
    assert not [url for url in asked if "evil" in url]
