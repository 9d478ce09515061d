"""Published sites in Chromium: what writers store runs nothing, and pages are read, searched and looked at."""

import base64
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Dialog, Page, expect

from syncd.platform.app_pages.sessions import make_link
from syncd.platform.server import BackgroundServer
from syncd.platform.storage.storage import Storage
from tests.browser.conftest import OpenPage
from tests.storages import new_storage
from tests.web.blocks.test_hostile import HTML

pytestmark = pytest.mark.browser

EVERY = (Path(__file__).parent.parent / "web/blocks/every_block.md").read_text(encoding="utf-8")
MARKDOWN = (
    *("[x](javascript:alert(1))", "[x](<java\tscript:alert(1)>)", "[x](data:text/html,<script>alert(1)</script>)"),
    *("![x](javascript:alert(1))", "<javascript:alert(1)>", '{% embed url="javascript:alert(1)" %}'),
    *("$$\\href{javascript:alert(1)}{x}$$", "```html\n<script>alert(1)</script>\n```"),
    '{% hint style="info\\" onmouseover=\\"alert(1)" %}\nx\n{% endhint %}',
)
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script>'
    '<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="javascript:alert(1)"/></foreignObject></svg>'
)
FILES = {
    "x.svg": ("image/svg+xml", SVG),
    "x.html": ("text/html", "<script>alert(1)</script>"),
    "x.xhtml": ("application/xhtml+xml", '<html xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></html>'),
    "x.js": ("text/javascript", "alert(1)"),
    "x.pdf": ("application/pdf", "%PDF-1.4 <script>alert(1)</script>"),
}


class ShownSite:
    """A published site of a platform, with pages of every block and of people who mean harm."""

    def __init__(self, storage: Storage, url: str) -> None:
        self.storage, self.url = storage, url
        headers = {"Authorization": f"Bearer {storage.token_file.read_text().strip()}"}
        self.http = httpx.Client(base_url=f"{url}/v1", headers=headers, trust_env=False, timeout=60)
        organization = self.call("GET", "/orgs")["items"][0]["id"]
        self.space = self.call("POST", f"/orgs/{organization}/spaces", {"title": "Guides", "empty": True})["id"]
        self.write([self.page("Start", "The harbour is behind the dune."), self.page("Every block", EVERY)])
        sites = f"/orgs/{organization}/sites"
        site = self.call("POST", sites, {"title": "Docs", "spaces": [self.space]})["id"]
        self.site = f"{sites}/{site}"
        self.call("POST", f"{self.site}/publish")
        self.address = self.call("GET", self.site)["urls"]["published"].rstrip("/")

    @staticmethod
    def page(title: str, text: str) -> dict[str, Any]:
        return {"operation": "insert_page", "title": title, "document": {"markdown": f"# {title}\n\n{text}\n"}}

    def call(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.http.request(method, path, json=body)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    def write(self, changes: list[dict[str, Any]]) -> None:
        made = self.call("POST", f"/spaces/{self.space}/change-requests", {"subject": "Write"})
        at = f"/spaces/{self.space}/change-requests/{made['id']}"
        self.call("POST", f"{at}/content?compat=false", {"changes": changes})
        self.call("POST", f"{at}/merge")

    def sign_in(self, page: Page) -> None:
        secret, _ = make_link(self.storage, None)
        page.goto(f"{self.url}/app/sign-in?link={secret}")
        page.get_by_role("button").first.click()


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShownSite]:
    with new_storage(tmp_path_factory.mktemp("sites")) as storage:
        storage.bootstrap()
        with BackgroundServer(storage, works=False) as url:
            made = ShownSite(storage, url)
            with closing(made.http):
                yield made


def note_dialogs(page: Page) -> list[str]:
    """Return the list of the addresses whose scripts have run: all that is stored calls `alert`."""
    ran: list[str] = []

    def note(dialog: Dialog) -> None:
        ran.append(page.url)
        dialog.dismiss()

    page.on("dialog", note)
    return ran


def test_nothing_that_is_stored_runs(shown: ShownSite, open_page: OpenPage) -> None:
    payloads = [*HTML, *MARKDOWN]
    assert len(payloads) >= 33
    shown.write([shown.page(f"Harm {number}", text) for number, text in enumerate(payloads)])
    page = open_page()
    ran = note_dialogs(page)
    for number, payload in enumerate(payloads):
        answer = page.goto(f"{shown.address}/harm-{number}")
        assert answer is not None, payload
        assert answer.status == 200, payload
        for place in page.locator("main a, main button, main summary, main input").all():
            if place.is_visible():
                place.hover(force=True, timeout=2000, no_wait_after=True)
    page.goto(f"{shown.address}/~syncd/search?q=%3Cimg%20src=x%20onerror=alert(1)%3E")
    assert ran == []


DIAGRAMS = (
    'flowchart LR\n  A["<img src=x onerror=alert(1)>"] --> B\n  click A "javascript:alert(1)"\n  click B alert',
    '%%{init: {"securityLevel": "loose", "htmlLabels": true}}%%\n'
    'flowchart LR\n  A["<script>alert(1)</script><iframe src=javascript:alert(1)>"] --> B',
    "sequenceDiagram\n  participant A as <svg onload=alert(1)>\n  A->>A: <b onclick=alert(1)>x</b>",
    "this is no diagram",
)


def test_diagrams_are_pictures_in_which_nothing_runs(shown: ShownSite, browser: Browser) -> None:
    text = "\n\n".join(f"```mermaid\n{source}\n```" for source in DIAGRAMS)
    shown.write([shown.page("Diagrams", text)])
    # A context of its own: newer browsers tell that the policy stops a handler while the library still cleans a label.
    context = browser.new_context()
    page = context.new_page()
    ran = note_dialogs(page)
    page.goto(f"{shown.address}/diagrams")
    expect(page.locator(".b-diagram > img")).to_have_count(2 * (len(DIAGRAMS) - 1))
    expect(page.locator("iframe")).to_have_count(0)
    expect(page.locator(".b-diagram > pre")).to_have_text("this is no diagram")
    page.wait_for_load_state("networkidle")
    context.close()
    assert not ran


def test_no_file_that_is_stored_runs(shown: ShownSite, browser: Browser) -> None:
    files = [
        {"name": name, "contentType": media, "base64": base64.b64encode(text.encode()).decode(), "ref": f"f{number}"}
        for number, (name, (media, text)) in enumerate(FILES.items())
    ]
    texts = "\n\n".join(f"[{name}](./f{number})" for number, name in enumerate(FILES))
    shown.write([{"operation": "insert_files", "files": files}, shown.page("Files", f"{texts}\n\n![x](./f0)")])
    # A context of its own: that a policy stops what is stored is what is looked for here.
    context = browser.new_context()
    page = context.new_page()
    ran = note_dialogs(page)
    page.goto(f"{shown.address}/files")
    links = page.evaluate("[...document.querySelectorAll('main a, main img')].map((one) => one.href || one.src)")
    found = sorted({link for link in links if "/~syncd/files/" in link})
    assert len(found) == len(FILES)
    for address in found:
        answer = httpx.get(address, trust_env=False)
        assert "javascript" not in answer.headers["content-type"]
        assert "sandbox" in answer.headers["content-security-policy"]
        if answer.headers["content-disposition"].startswith("inline"):
            page.goto(address)
    page.goto(f"{shown.address}/files")
    for address in found:
        page.evaluate(
            """(src) => new Promise((done) => {
              const script = Object.assign(document.createElement("script"), { src, onload: done, onerror: done });
              document.head.append(script);
            })""",
            address,
        )
    context.close()
    assert ran == []


def test_a_published_page_reads_no_session(shown: ShownSite, open_page: OpenPage) -> None:
    page = open_page()
    shown.sign_in(page)
    page.goto(f"{shown.url}/app")
    assert page.get_by_role("heading").first.inner_text()
    page.goto(f"{shown.address}/")
    assert page.evaluate("document.cookie") == ""
    for path in ("/app", f"/app/o/x/s/{shown.space}"):
        assert page.evaluate("(path) => fetch(path).then((answer) => answer.status)", path) == 403
        assert page.evaluate("(path) => fetch(path, { method: 'POST' }).then((answer) => answer.status)", path) == 403
    sent = page.evaluate("fetch('/v1/user').then((answer) => answer.status)")
    assert sent == 401


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
def test_pages_are_read_by_everybody(
    shown: ShownSite, open_page: OpenPage, list_violations: Callable[[Page], list[str]], scheme: str, width: int
) -> None:
    page = open_page(width=width, scheme=scheme)
    for path in ("/", "/every-block", "/~syncd/search?q=harbour", "/~syncd/search?q=zebra", "/nothing-here"):
        page.goto(shown.address + path)
        assert list_violations(page) == [], path
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


def test_a_result_is_told_apart_from_where_it_lies(shown: ShownSite, open_page: OpenPage) -> None:
    above = shown.call("GET", f"/spaces/{shown.space}/content")["pages"][1]["id"]
    shown.write([{**shown.page("Grassland", "Quaggas graze here."), "into": above}])
    page = open_page()
    page.goto(f"{shown.address}/every-block")
    page.keyboard.press("/")
    page.keyboard.type("quag")
    expect(page.locator(".results span")).to_have_text("Every block · Quaggas graze here.")


def test_only_an_answer_that_was_counted_is_thanked_for(shown: ShownSite, open_page: OpenPage) -> None:
    looks = f"{shown.site}/customization"
    shown.call("PUT", looks, shown.call("GET", looks) | {"feedback": {"enabled": True}})
    page = open_page()
    page.goto(f"{shown.address}/")
    form = page.locator(".feedback")
    page.route("**/feedback/**", lambda route: route.fulfill(status=503))
    form.get_by_role("button").first.click()
    expect(form.get_by_role("alert")).to_have_text("This did not work")
    page.unroute("**/feedback/**")
    form.get_by_role("button").first.click()
    expect(form.get_by_role("status")).to_have_text("Thank you for your answer.")
    (rated,) = (one for one in shown.call("GET", f"{shown.site}/insights/events")["items"] if one["detail"])
    assert rated["count"] == 1


def test_one_searches_as_one_types_and_without_script(shown: ShownSite, open_page: OpenPage) -> None:
    page = open_page()
    page.goto(f"{shown.address}/every-block")
    page.keyboard.press("/")
    page.keyboard.type("harb")
    expect(page.locator(".results mark")).to_have_text("harb")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Start")
    plain = open_page(has_script=False)
    plain.goto(f"{shown.address}/every-block")
    plain.locator("input[type=search]").fill("dune")
    plain.keyboard.press("Enter")
    expect(plain.locator(".found a")).to_have_text("Start")


def test_titles_in_any_direction_begin_at_the_same_side_of_the_contents(shown: ShownSite, open_page: OpenPage) -> None:
    shown.write([shown.page("مرحبا", "مرحبا بالعالم")])
    page = open_page()
    page.goto(f"{shown.address}/every-block")
    expect(page.locator(".contents a", has_text="مرحبا")).to_have_css("text-align", "left")
    page.locator(".contents a", has_text="مرحبا").click()
    expect(page.locator("article")).to_have_attribute("dir", "rtl")


def test_a_quote_and_a_number_stand_where_the_page_begins(shown: ShownSite, open_page: OpenPage) -> None:
    text = "> اقتباس\n\n* واحد\n\n  نص\n\n| عربي | قيمة |\n|---|---|\n| أ | 1 |"
    shown.write([shown.page("أرقام", text)])
    page = open_page(width=360)
    page.goto(f"{shown.address}/every-block")
    page.locator(".contents a", has_text="أرقام").evaluate("link => link.click()")
    quote = page.locator("article blockquote")
    expect(quote).to_have_css("border-right-width", "3px")
    expect(page.locator("article ul")).to_have_css("direction", "rtl")
    expect(page.locator("article td", has_text="1")).to_have_css("direction", "rtl")
