"""The platform's pages in Chromium: a whole review, by keyboard, without script, in light and dark, wide and small."""

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from syncd.platform.app_pages.sessions import make_link
from syncd.platform.server import BackgroundServer
from syncd.platform.storage.storage import Storage
from tests.browser.conftest import OpenPage
from tests.storages import new_storage

pytestmark = pytest.mark.browser

TEXT = "# Guide\n\nHello world, how are you?\n\n* one\n* two\n\n```sh\nls\n```\n\nThis goes away.\n"
NEW = TEXT.replace("Hello world", "Hello big world").replace("* two", "* two\n* three").replace("This goes away", "New")
ARABIC = "# عربي\n\nمرحبا بالعالم\n"


class Review:
    """A platform with an open change request of its owner."""

    def __init__(self, storage: Storage, url: str) -> None:
        self.storage, self.url = storage, url
        headers = {"Authorization": f"Bearer {storage.token_file.read_text().strip()}"}
        self.http = httpx.Client(base_url=f"{url}/v1", headers=headers, trust_env=False, timeout=60)
        organization = self.call("GET", "/orgs")["items"][0]["id"]
        self.space = self.call("POST", f"/orgs/{organization}/spaces", {"title": "Guides", "empty": True})["id"]
        named = ("Guide", TEXT), ("عربي", ARABIC)
        pages = [{"operation": "insert_page", "title": name, "document": {"markdown": text}} for name, text in named]
        first = self.propose("First", pages)
        self.call("POST", f"/spaces/{self.space}/change-requests/{first['id']}/merge")
        page = self.call("GET", f"/spaces/{self.space}/content/pages")["pages"][0]["id"]
        edit = {"operation": "update_page", "page": page, "document": {"markdown": NEW}}
        self.request = self.propose("Better words", [edit])
        self.address = self.read()["urls"]["app"]

    def call(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.http.request(method, path, json=body)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    def propose(self, subject: str, changes: list[dict[str, Any]]) -> dict[str, Any]:
        made: dict[str, Any] = self.call("POST", f"/spaces/{self.space}/change-requests", {"subject": subject})
        at = f"/spaces/{self.space}/change-requests/{made['id']}"
        self.call("POST", f"{at}/content?compat=false", {"changes": changes})
        self.call("PATCH", at, {"status": "open"})
        return made

    def read(self) -> dict[str, Any]:
        return dict(self.call("GET", f"/spaces/{self.space}/change-requests/{self.request['id']}"))

    def sign_in(self, page: Page) -> None:
        secret, _ = make_link(self.storage, None)
        page.goto(f"{self.url}/app/sign-in?link={secret}")
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(re.compile(r"/app/o/"))

    def list_addresses(self) -> list[str]:
        space = self.address.partition("/~/")[0]
        revision = self.call("GET", f"/spaces/{self.space}")["revision"]
        parts = ["", "/~/files", "/~/revisions", f"/~/revisions/{revision}", "/~/changes", "/no"]
        views = [f"{self.address}/diff?view={view}" for view in ("changes", "sides", "before", "after", "source")]
        return [self.url + "/app", *(space + part for part in parts), self.address, *views]


@pytest.fixture
def review(tmp_path: Path) -> Iterator[Review]:
    with new_storage(tmp_path / "platform") as storage:
        storage.bootstrap()
        with BackgroundServer(storage, works=False) as url:
            one = Review(storage, url)
            with closing(one.http):
                yield one


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 1440), ("light", 360), ("dark", 360)])
def test_axe_finds_nothing_serious_and_everything_fits(
    review: Review, open_page: OpenPage, list_violations: Callable[[Page], list[str]], scheme: str, width: int
) -> None:
    page = open_page(width=width, scheme=scheme)
    review.sign_in(page)
    for address in review.list_addresses():
        page.goto(address)
        assert list_violations(page) == [], address
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address


@pytest.mark.parametrize("has_script", [True, False])
def test_from_a_comment_on_a_block_to_the_merge(review: Review, open_page: OpenPage, has_script: bool) -> None:
    page = open_page(has_script=has_script)
    review.sign_in(page)
    page.goto(review.address)
    page.get_by_role("link", name=re.compile("^Changes")).click()
    expect(page.locator("ins").first).to_have_text(" big")
    note = page.locator(".notes").first
    note.get_by_text("Comment", exact=True).first.click()
    note.get_by_label("Comment on the block above").fill("Is it **big**?")
    note.get_by_role("button", name="Comment").click()
    thread = page.get_by_role("article", name=re.compile("^Comment by"))
    expect(thread).to_contain_text("Is it big?")
    thread.get_by_text("Reply", exact=True).first.click()
    thread.get_by_role("textbox").fill("Yes.")
    thread.get_by_role("button", name="Reply").click()
    expect(page.get_by_role("article", name=re.compile("^Comment by"))).to_contain_text("Yes.")
    page.get_by_role("button", name="Resolve").click()
    expect(page.get_by_text(re.compile("resolved by"))).to_be_visible()
    page.get_by_label("What you say").fill("Well done.")
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("You approved it.")).to_be_visible()
    page.get_by_role("button", name="Merge into the space").click()
    expect(page.get_by_text("It is merged into the space.")).to_be_visible()
    assert review.read()["status"] == "merged"


def test_a_comment_is_offered_at_the_block_that_one_points_at(review: Review, open_page: OpenPage) -> None:
    page = open_page()
    review.sign_in(page)
    page.goto(f"{review.address}/diff?view=changes")
    offer = page.locator(".notes .add > summary").first
    expect(offer).to_have_css("opacity", "0")
    offer.hover()
    expect(offer).to_have_css("opacity", "1")
    page.mouse.move(0, 0)
    expect(offer).to_have_css("opacity", "0")
    page.locator(".views a").last.focus()
    while not offer.evaluate("one => one === document.activeElement"):
        page.keyboard.press("Tab")
    expect(offer).to_have_css("opacity", "1")


def test_what_waits_for_a_review_comes_before_the_list_of_spaces(review: Review, open_page: OpenPage) -> None:
    page = open_page()
    review.sign_in(page)
    expect(page.get_by_role("heading", level=2).first).to_have_text("Open change requests")


def test_keys_go_from_change_to_change(review: Review, open_page: OpenPage) -> None:
    page = open_page()
    review.sign_in(page)
    page.goto(f"{review.address}/diff")
    page.keyboard.press("j")
    expect(page.locator(".is-here")).to_contain_text("Hello")
    page.keyboard.press("j")
    expect(page.locator(".is-here")).to_contain_text("three")
    page.keyboard.press("k")
    expect(page.locator(".is-here")).to_contain_text("Hello")
    assert page.evaluate("document.activeElement.id") == "_change-1"


@pytest.mark.parametrize(("view", "scheme"), [("changes", "light"), ("changes", "dark"), ("sides", "light")])
def test_a_line_that_changed_in_long_code_is_marked_and_gone_to(
    review: Review, open_page: OpenPage, list_violations: Callable[[Page], list[str]], view: str, scheme: str
) -> None:
    lines = [f'text_{number} = "a text"  # {number}, of {"many" * 20}' for number in range(120)]
    page_of_code = {"operation": "insert_page", "title": "Code", "document": {"markdown": write_code(lines)}}
    first = review.propose("Add code", [page_of_code])
    review.call("POST", f"/spaces/{review.space}/change-requests/{first['id']}/merge")
    pages = review.call("GET", f"/spaces/{review.space}/content/pages")["pages"]
    lines[20] = "def new(): # in its place"
    edit = {"operation": "update_page", "page": pages[-1]["id"], "document": {"markdown": write_code(lines)}}
    made = review.propose("Edit code", [edit])
    page = open_page(scheme=scheme)
    review.sign_in(page)
    page.goto(f"{review.address.rpartition('/')[0]}/{made['number']}/diff?view={view}")
    assert list_violations(page) == []
    page.keyboard.press("j")
    expect(page.locator("del")).to_be_in_viewport()
    expect(page.locator("ins")).to_be_in_viewport()
    expect(page.locator("ins")).to_have_text("def new(): # in its place")
    assert page.evaluate("document.querySelector('pre').scrollLeft") == 0


def write_code(lines: list[str]) -> str:
    return "\n".join(['{% code lineNumbers="true" %}', "```python", *lines, "```", "{% endcode %}"])


def test_text_from_right_to_left_stands_so(review: Review, open_page: OpenPage) -> None:
    page = open_page()
    review.sign_in(page)
    page.goto(review.address.partition("/~/")[0])
    page.get_by_role("link", name="عربي").click()
    words = page.get_by_text("مرحبا بالعالم")
    assert words.evaluate("each => getComputedStyle(each).direction") == "rtl"


def test_a_page_says_that_the_change_request_has_changed(review: Review, open_page: OpenPage) -> None:
    page = open_page()
    page.clock.install()
    review.sign_in(page)
    page.goto(review.address)
    review.call(
        "POST", f"/spaces/{review.space}/change-requests/{review.request['id']}/comments", {"body": {"markdown": "New"}}
    )
    page.clock.run_for(16_000)
    expect(page.get_by_role("status").get_by_role("link", name="Load it again")).to_be_visible()
