"""A built site in Chromium, from a plain file server: search, tabs, copying, theme, and all of it without a script."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit, serve_files
from tests.browser.crawl import visit_every_page
from tests.cli.preview.test_preview_story import preview
from tests.sync.publish.test_publish_build import FILES, build, make_png, write_source
from tests.web.blocks.openapi.test_openapi_render import SPECIFICATION

pytestmark = pytest.mark.browser

EVERY_BLOCK = (Path(__file__).parents[1] / "web" / "blocks" / "every_block.md").read_text(encoding="utf-8")
TABS = """# Install

{% tabs %}
{% tab title="pip" %}
```sh
pip install syncd
```
{% endtab %}
{% tab title="uv" %}
```sh
uv add syncd
```
{% endtab %}
{% endtabs %}
"""
SOURCE = {
    **FILES,
    "guides/install.md": TABS,
    "guides/upgrade.md": TABS.replace("# Install", "# Upgrade").replace("install syncd", "install --upgrade syncd"),
    "guides/blocks.md": EVERY_BLOCK,
    "guides/long.md": "# Long\n\n"
    + "Words.\n\n" * 5_000
    + "Straße, weit: Cherimoya. 新しい設計.\n\n```\nfeijoa()\n```\n",
    "guides/zebra.md": "# Zebra\n\nSeen from a harbour.\n",
    "guides/coast.md": "# Coast\n\n## Zebras of the harbour\n\nWords.\n\n## Gulls\n\nWords.\n",
    "guides/SUMMARY.md": (
        FILES["guides/SUMMARY.md"]
        + "* [Install](install.md)\n* [Upgrade](upgrade.md)\n* [Blocks](blocks.md)\n* [Long](long.md)\n"
        "* [Zebra](zebra.md)\n* [Coast](coast.md)\n"
    ),
    "guides/.gitbook/openapi/petstore.json": str(SPECIFICATION),
}
ADDRESSES = ("", "more/", "more/deep/", "install/", "upgrade/", "blocks/", "api/", "404.html")
VIEWS = [("light", 1440), ("dark", 1440), ("light", 360), ("dark", 360)]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a built site, below a path of a file server."""
    top = tmp_path_factory.mktemp("built")
    build(write_source(top / "source", SOURCE), top / "public/docs")
    with serve_files(top / "public") as address:
        yield f"{address}docs/"


@pytest.mark.parametrize(("scheme", "width"), VIEWS)
def test_axe_finds_nothing_serious_and_everything_fits(
    site: str, visit: Visit, list_violations: Callable[[Page], list[str]], scheme: str, width: int
) -> None:
    page = visit(width=width, scheme=scheme)
    for address in ADDRESSES[:-1]:
        page.goto(site + address)
        assert list_violations(page) == [], address
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
    page.goto(site)
    page.keyboard.press("/")
    page.keyboard.type("second")
    expect(page.locator(".results a").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    assert list_violations(page) == [], "with results of a search"


def test_a_row_of_many_sections_scrolls_by_itself(tmp_path: Path, visit: Visit) -> None:
    names = [f"section-{number}" for number in range(16)]
    row = "- { section: %s, title: The %s, path: %s, variants: [{ variant: en, space: %s }] }"
    rows = [row % (name, name, name, name) for name in names]
    rows[0] = rows[0].replace("title", "default: true, title", 1)
    structure = [*rows[:-2], "- group: last", "  title: The last", "  items:", *(f"    {one}" for one in rows[-2:])]
    spaces = ", ".join(f"{name}: {name}" for name in names)
    lines = ["version: 1", "site: { org: ORG, id: SITE }", f"spaces: {{ {spaces} }}", "structure:", "  items:"]
    files = {f"{name}/README.md": f"# {name}\n" for name in names}
    files |= {f"{name}/SUMMARY.md": f"# Table of contents\n\n* [{name}](README.md)\n" for name in names}
    files["site.yaml"] = "\n".join([*lines, *(f"    {one}" for one in structure)])
    build(write_source(tmp_path / "source", files), tmp_path / "public")
    page = visit(width=1280)
    with serve_files(tmp_path / "public") as address:
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") == 1280
        page.locator(".sections summary").click()
        page.locator(".sections .drop a").last.click(trial=True)
        menu, title = (page.locator(f".sections .drop>{name}").bounding_box() for name in ("ul", "summary"))
    assert menu is not None
    assert title is not None
    assert menu["x"] <= title["x"] <= menu["x"] + menu["width"]
    assert menu["y"] == title["y"] + title["height"]


@pytest.mark.parametrize("width", [360, 800])
def test_links_of_the_header_are_reached_where_they_have_no_room(
    tmp_path: Path, visit: Visit, list_violations: Callable[[Page], list[str]], width: int
) -> None:
    files = {
        "guides/README.md": "# Guides\n\nWords.\n",
        "site.yaml": """version: 1
site: { org: ORG, id: SITE }
spaces: { guides: SPACE }
structure:
  items:
    - { section: guides, title: Guides, path: guides, default: true, variants: [{ variant: en, space: guides }] }
customization:
  site:
    header:
      links:
        - { title: Sign in, style: button-primary, to: { url: "https://in.example" } }
        - { title: View as, links: [{ title: A partner, to: { url: "https://partner.example" } }] }
""",
    }
    build(write_source(tmp_path / "source", files), tmp_path / "public")
    page = visit(width=width)
    with serve_files(tmp_path / "public") as address:
        page.goto(address)
        page.locator(".all-links summary").click()
        for title in ("Sign in", "A partner"):
            link = page.locator(".all-links a", has_text=title)
            expect(link).to_be_visible()
            box = link.bounding_box()
            assert box is not None
            assert 0 <= box["x"] <= box["x"] + box["width"] <= width
        assert list_violations(page) == []
        page.set_viewport_size({"width": 1280, "height": 900})
        expect(page.locator(".all-links")).to_be_hidden()
        expect(page.locator(".links>a", has_text="Sign in")).to_be_visible()


@pytest.mark.parametrize("width", [360, 390, 800])
def test_the_search_has_room_beside_a_long_title(tmp_path: Path, visit: Visit, width: int) -> None:
    site = ANNOUNCED.replace("STYLE", "info").replace("customization:\n  site:\n", LONG)
    build(write_source(tmp_path / "source", {"guides/README.md": "# Guides\n", "site.yaml": site}), tmp_path / "public")
    page = visit(width=width)
    with serve_files(tmp_path / "public") as address:
        page.goto(address)
        box = page.locator(".search input").bounding_box()
        assert box is not None
        assert box["width"] >= 100
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        expect(page.locator(".all-links summary")).to_be_visible()


LONG = """settings: { title: A platform with a title that is long }
customization:
  site:
    header:
      links: [{ title: Sign in, to: { url: "https://in.example" } }]
"""
ANNOUNCED = """version: 1
site: { org: ORG, id: SITE }
spaces: { guides: SPACE }
structure:
  items: [{ variant: en, space: guides, path: en, default: true }]
customization:
  site:
    announcement:
      enabled: true
      style: STYLE
      message: MESSAGE
      link: { title: Read how, to: { url: "https://how.example" } }
"""


@pytest.mark.parametrize("style", ["info", "success", "warning", "danger"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_announcement_is_closed_until_it_says_something_else(
    tmp_path: Path, visit: Visit, list_violations: Callable[[Page], list[str]], style: str, scheme: str
) -> None:
    def publish(message: str) -> None:
        text = ANNOUNCED.replace("STYLE", style).replace("MESSAGE", message)
        build(
            write_source(tmp_path / "source", {"guides/README.md": "# Guides\n", "site.yaml": text}),
            tmp_path / "public",
        )

    publish("The first interface ends on 1 March, so move what you have built on it to the second.")
    page = visit(width=360, scheme=scheme)
    banner = page.locator(".announcement")
    with serve_files(tmp_path / "public") as address:
        page.goto(address)
        expect(banner.get_by_role("link", name="Read how")).to_be_visible()
        assert list_violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        banner.get_by_role("button", name="Close").click()
        expect(banner).to_be_hidden()
        page.reload()
        expect(banner).to_be_hidden()
        publish("It has ended.")
        page.reload()
        expect(banner).to_contain_text("It has ended.")


def test_a_preview_shows_an_announcement_as_it_is_saved(tmp_path: Path, visit: Visit) -> None:
    write_source(tmp_path, {"guides/README.md": "# Guides\n", "site.yaml": ANNOUNCED.replace("STYLE", "info")})
    page = visit()
    with preview(tmp_path) as shown:
        page.goto(f"http://{shown.host}/")
        expect(page.locator(".announcement-info")).to_contain_text("MESSAGE")
        (tmp_path / "site.yaml").write_text(ANNOUNCED.replace("STYLE", "danger"))
        expect(page.locator(".announcement-danger")).to_contain_text("MESSAGE")


def test_every_link_leads_somewhere(site: str, visit: Visit) -> None:
    seen = visit_every_page(visit(), site)
    assert {site + address for address in ADDRESSES[:-1]} <= seen


def test_the_search_finds_while_one_types_and_by_keyboard(site: str, visit: Visit) -> None:
    page = visit()
    page.goto(f"{site}more/deep/")
    page.keyboard.press("/")
    page.keyboard.type("upgr")
    expect(page.locator(".results a").first).to_contain_text("Upgrade")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{site}upgrade/")
    page.keyboard.press("/")
    page.keyboard.type("second")
    result = page.locator(".results a").first
    expect(result).to_contain_text("Deep")
    result.click()
    page.wait_for_url(f"{site}more/deep/#second")
    page.keyboard.press("/")
    page.keyboard.type("nothing has these words")
    expect(page.locator(".results p")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".results")).to_be_hidden()


@pytest.mark.parametrize("typed", ["straße-weit cherimoya", "STRASSE chérim", "設計", "feijoa"])
def test_the_search_finds_words_far_behind(site: str, visit: Visit, typed: str) -> None:
    page = visit()
    page.goto(f"{site}more/deep/")
    page.locator(".search input").fill(typed)
    expect(page.locator(".results a")).to_have_count(1)
    expect(page.locator(".results a")).to_contain_text("Long")
    page.locator(".search input").fill(f"{typed} upgrade")
    expect(page.locator(".results p")).to_be_visible()


def test_the_search_finds_pages_of_other_sections_after_those_of_this_one(site: str, visit: Visit) -> None:
    page, loaded = visit(), []
    page.goto(f"{site}api/")
    page.on("response", lambda answer: loaded.append(len(answer.body())))
    results = page.locator(".results a")
    page.locator(".search input").fill("cherimoya")
    expect(results).to_have_count(1)
    expect(results.locator("span")).to_contain_text("Guides · Words.")
    assert len(loaded) <= 8
    assert sum(loaded) <= 60_000
    page.locator(".search input").fill("words")
    expect(results.first).to_have_text("APIWords.")
    expect(results.nth(1)).to_contain_text("Guides · ")
    page.locator(".search input").fill("second deep")
    expect(results.locator("mark")).to_have_text("Second")
    results.click()
    page.wait_for_url(f"{site}more/deep/#second")


def test_a_preview_searches_other_sections(tmp_path: Path, visit: Visit) -> None:
    with preview(write_source(tmp_path, FILES)) as shown:
        page = visit()
        page.goto(f"http://{shown.host}/api")
        page.locator(".search input").fill("deep")
        expect(page.locator(".results a")).to_contain_text("Guides / More")
        page.locator(".results a").click()
        page.wait_for_url(f"http://{shown.host}/more/deep")


def test_a_page_with_all_words_in_headings_is_found_before_one_with_some_in_its_title(site: str, visit: Visit) -> None:
    page = visit()
    page.goto(f"{site}more/deep/")
    page.locator(".search input").fill("zebra harbour")
    expect(page.locator(".results a")).to_contain_text(["Coast", "Zebra"])


@pytest.fixture(scope="module")
def long_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a site with many pages, the last of which has many headings."""
    top = tmp_path_factory.mktemp("long")
    files = {f"page-{number:02}.md": f"# Page {number}\n\nWords.\n" for number in range(60)}
    files["page-59.md"] += "".join(f"\n## Part {number}\n\n" + "Words.\n\n" * 20 for number in range(60))
    build(write_source(top / "docs", {"README.md": "# Home\n", **files}), top / "public")
    with serve_files(top / "public") as address:
        yield address


def test_a_link_to_a_heading_puts_it_below_the_header_and_marks_it(long_site: str, visit: Visit) -> None:
    page = visit()
    page.goto(f"{long_site}page-59/#part-50")
    expect(page.locator(".outline [aria-current]")).to_have_text("Part 50")
    header, heading = (page.locator(one).bounding_box() for one in ("header.top", "#part-50"))
    assert header is not None
    assert heading is not None
    assert 0 < heading["y"] - header["height"] < 32


def test_long_lists_show_the_current_page_and_heading(long_site: str, visit: Visit) -> None:
    page = visit()
    page.goto(f"{long_site}page-59/")
    expect(page.locator("#_contents [aria-current]")).to_be_in_viewport(ratio=1)
    for part in (50, 2):
        page.goto(f"{long_site}page-59/#part-{part}")
        current = page.locator(".outline [aria-current]")
        expect(current).to_have_text(f"Part {part}")
        expect(current).to_be_in_viewport(ratio=1)
    page.evaluate("scrollTo(0, 0)")
    expect(page.locator(".outline a").first).to_be_in_viewport(ratio=1)


def test_no_heading_is_marked_at_the_top_of_a_page_that_fits(site: str, visit: Visit) -> None:
    page = visit()
    page.set_viewport_size({"width": 1440, "height": 1200})
    page.goto(f"{site}coast/")
    expect(page.locator(".outline a")).to_have_text(["Zebras of the harbour", "Gulls"])
    expect(page.locator(".outline [aria-current]")).to_have_count(0)


def test_a_page_does_not_jump_when_its_images_come(tmp_path: Path, visit: Visit) -> None:
    page = '# Home\n\n![One](one.png)\n\n<figure><img src="one.png" width="150"><figcaption></figcaption></figure>\n\n'
    page += '<div><img src="one.png" height="50"><img src="one.png" width="50%"></div>\n'
    source = write_source(tmp_path / "docs", {"README.md": page})
    (source / "one.png").write_bytes(make_png(300, 200))
    build(source, tmp_path / "out")
    shown = visit()
    shown.route("**/*.png", lambda route: None)
    with serve_files(tmp_path / "out") as address:
        shown.goto(address, wait_until="domcontentloaded")
        rooms = [image.bounding_box() for image in shown.locator("article img").all()]
    assert [(room["width"], room["height"]) for room in rooms[:3] if room] == [(300, 200), (150, 100), (75, 50)]


def test_titles_beside_icons_are_in_line(tmp_path: Path, visit: Visit) -> None:
    words = "Words that are so many that they take more than one line"
    files = {
        "README.md": "# Home\n",
        "SUMMARY.md": f"* [Home](README.md)\n* [One](one.md)\n* [{words}](two.md)\n",
        "one.md": "---\nicon: credit-card\n---\n\n# One\n",
        "two.md": f"# \u2705 {words}\n",
    }
    build(write_source(tmp_path / "docs", files), tmp_path / "out")
    page = visit()
    with serve_files(tmp_path / "out") as address:
        page.goto(address)
        lefts = page.locator(".contents a:has(:first-child)").evaluate_all(
            """links => links.flatMap(link => {
                const range = document.createRange();
                range.selectNodeContents(link.lastChild);
                return [...range.getClientRects()].map(one => Math.round(one.left));
            })"""
        )
    assert len(lefts) >= 3
    assert len({*lefts}) == 1


def test_results_of_a_search_cover_what_is_below_them(site: str, visit: Visit) -> None:
    page = visit(width=360)
    page.goto(site)
    page.locator(".search input").fill("deep")
    expect(page.locator(".results a").first).to_be_visible()
    covered = page.locator(".sections a:not([aria-current])").first.evaluate(
        """(link) => {
            const box = link.getBoundingClientRect()
            const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)
            return top.closest(".results") !== null
        }"""
    )
    assert covered


def test_a_link_that_asks_opens_the_search(site: str, visit: Visit) -> None:
    page = visit()
    page.goto(f"{site}?q=upgrade")
    expect(page.locator(".results a").first).to_contain_text("Upgrade")


def test_tabs_are_remembered_and_agree(site: str, visit: Visit) -> None:
    page = visit()
    page.goto(f"{site}install/")
    expect(page.get_by_text("pip install syncd")).to_be_visible()
    page.get_by_text("uv", exact=True).click()
    expect(page.get_by_text("uv add syncd")).to_be_visible()
    page.goto(f"{site}upgrade/")
    expect(page.get_by_text("uv add syncd")).to_be_visible()
    expect(page.get_by_text("pip install --upgrade syncd")).to_be_hidden()


def test_code_is_copied(site: str, visit: Visit) -> None:
    page = visit()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{site}install/")
    button = page.locator(".b-code .copy").first
    button.focus()
    page.keyboard.press("Enter")
    expect(button).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()").strip() == "pip install syncd"


def test_a_theme_is_chosen_and_kept(site: str, visit: Visit) -> None:
    page = visit(scheme="light")
    colour = "getComputedStyle(document.documentElement).backgroundColor"
    page.goto(site)
    light = page.evaluate(colour)
    page.locator(".switch").click()
    dark = page.evaluate(colour)
    assert dark != light
    page.goto(f"{site}more/")
    assert page.evaluate(colour) == dark
    page.locator(".switch").click()
    assert page.evaluate(colour) == light


@pytest.mark.parametrize("chosen", ["system", "switch"])
def test_a_dark_page_is_printed_light(site: str, visit: Visit, chosen: str) -> None:
    page = visit(scheme="light")
    page.goto(f"{site}blocks/")
    look = """() => ["html", "h2", "pre", "pre .k-word", ".b-hint", "a"].flatMap((one) => {
        const { color, backgroundColor } = getComputedStyle(document.querySelector(`article ${one}, ${one}`));
        return [color, backgroundColor];
    })"""
    light = page.evaluate(look)
    if chosen == "switch":
        page.locator(".switch").click()
    else:
        page.emulate_media(color_scheme="dark")
    assert page.evaluate(look) != light
    page.emulate_media(media="print", color_scheme="dark" if chosen == "system" else "light")
    assert page.evaluate(look) == light


@pytest.mark.parametrize("width", [1440, 360])
def test_a_site_is_read_without_script(site: str, visit: Visit, width: int) -> None:
    page = visit(has_script=False, width=width)
    page.goto(f"{site}install/")
    expect(page.get_by_text("pip install syncd")).to_be_visible()
    page.locator(".b-tab-choice").first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("uv add syncd")).to_be_visible()
    assert page.locator(".switch").is_hidden()
    assert page.locator(".copy").count() == 0
    if width < 1000:
        page.locator(".menu").click()
    else:
        page.locator(".search input").fill("deep")
        page.keyboard.press("Enter")
    page.wait_for_url("**/contents.html*")
    page.get_by_role("main").get_by_role("link", name="Deep", exact=True).click()
    page.wait_for_url(f"{site}more/deep/")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_diagram_is_drawn_and_its_source_stays(site: str, visit: Visit, scheme: str) -> None:
    page = visit(scheme=scheme)
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url))
    page.goto(f"{site}blocks/")
    figure = page.locator(".b-diagram").first
    shown = figure.locator(f"img.only-{scheme}")
    expect(shown).to_be_visible()
    assert shown.evaluate("(image) => image.decode().then(() => image.naturalWidth)") > 20
    expect(figure.locator("img")).to_have_count(2)
    expect(figure.locator("img:visible")).to_have_count(1)
    figure.locator("summary").click()
    expect(figure.locator("pre")).to_have_text("graph TD; A-->B")
    expect(page.locator("iframe")).to_have_count(0)
    assert [address for address in loaded if "/mermaid.min." in address]
    loaded.clear()
    page.goto(f"{site}more/")
    page.wait_for_load_state("networkidle")
    assert not [address for address in loaded if "mermaid" in address or "diagram" in address]


def test_a_redirect_sends_a_browser_on_from_a_file_server(site: str, visit: Visit) -> None:
    page = visit()
    page.goto(f"{site}old/")
    page.wait_for_url(f"{site}api/")


@pytest.mark.parametrize(("address", "requests", "size"), [("more/deep/", 7, 60_000), ("install/", 8, 72_000)])
def test_a_page_and_what_it_loads_are_light(site: str, visit: Visit, address: str, requests: int, size: int) -> None:
    page = visit()
    loaded: list[int] = []
    page.on("response", lambda answer: loaded.append(len(answer.body())))
    page.goto(site + address)
    page.wait_for_load_state("networkidle")
    assert len(loaded) <= requests
    assert sum(loaded) <= size, (sum(loaded), loaded)
