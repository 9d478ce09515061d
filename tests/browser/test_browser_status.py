"""The status page in Chromium: with a hundred spaces, by keyboard, without script, and while the service changes."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Page, expect

from syncd.daemon.health import RepositoryHealth, ServiceHealth
from syncd.daemon.page.reader import StatusVersions
from syncd.daemon.page.routes import StatusPage
from syncd.daemon.page.sessions import Sessions
from syncd.net.page_server import PageServer, serve_pages
from tests.browser.conftest import OpenPage
from tests.web.status.samples import CONFLICT_PAGE, DIGEST, NOW, SampleReader

pytestmark = pytest.mark.browser

ADDRESSES = (
    "/",
    "/operations",
    "/repository/docs",
    "/space/docs/release-notes-03",
    CONFLICT_PAGE,
    f"/plan/{DIGEST}",
    "/no",
)


class Served:
    """A status page of the samples, with a clock and a health that a test moves, and which may be started again."""

    def __init__(self) -> None:
        self.reader, self.health = SampleReader(), ServiceHealth(True, ())
        self.clock = NOW
        self.stack = ExitStack()
        self.sessions, self.server = self.start("127.0.0.1:0")

    def start(self, address: str) -> tuple[Sessions, PageServer]:
        sessions = Sessions(lambda: self.clock)
        versions = StatusVersions(lambda: self.health, self.reader.list_files, sleep=threading.Event().wait)
        page = StatusPage(sessions, self.reader, versions, lambda: self.reader.now)
        self.stack = ExitStack()
        return sessions, self.stack.enter_context(serve_pages(address, page.answer, print, name="test"))

    def restart(self) -> None:
        self.stack.close()
        self.sessions, self.server = self.start(self.server.address)

    def sign_in(self, page: Page) -> None:
        page.goto(f"{self.server.url}/sign-in?link={self.sessions.make_link_secret()}")


@pytest.fixture
def served() -> Iterator[Served]:
    one = Served()
    yield one
    one.stack.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 1440), ("light", 360), ("dark", 360)])
def test_axe_finds_nothing_serious_and_everything_fits(
    served: Served, open_page: OpenPage, list_violations: Callable[[Page], list[str]], scheme: str, width: int
) -> None:
    page = open_page(width=width, scheme=scheme)
    served.sign_in(page)
    for address in ADDRESSES:
        page.goto(served.server.url + address)
        assert list_violations(page) == [], address
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address


def test_a_stranger_sees_how_to_get_a_link(
    served: Served, open_page: OpenPage, list_violations: Callable[[Page], list[str]]
) -> None:
    page = open_page()
    page.goto(served.server.url)
    expect(page.get_by_role("heading", name="Signed out")).to_be_visible()
    expect(page.get_by_text("syncd web", exact=True)).to_be_visible()
    assert list_violations(page) == []


def test_a_change_is_shown_and_focus_and_scrolling_stay(served: Served, open_page: OpenPage) -> None:
    page = open_page()
    served.sign_in(page)
    page.locator("#numbers-latency summary").click()
    page.get_by_role("link", name="sdk-go-97").focus()
    page.evaluate("scrollTo(0, 1200)")
    top = page.evaluate("scrollY")
    served.reader.now += 60
    served.health = ServiceHealth(True, (RepositoryHealth("docs", 60, is_running=True),))
    expect(page.get_by_text("as of 2026-05-01 10:01:00 UTC")).to_be_attached()
    expect(page.get_by_role("link", name="sdk-go-97")).to_be_focused()
    expect(page.locator("#numbers-latency")).to_have_attribute("open", "")
    assert page.evaluate("scrollY") == top
    expect(page.get_by_role("status").first).to_contain_text("Updated at")


def test_after_a_restart_the_page_says_what_to_do_and_goes_on_with_a_new_link(
    served: Served, open_page: OpenPage
) -> None:
    page = open_page()
    served.sign_in(page)
    served.restart()
    expect(page.locator("#live")).to_contain_text("syncd web", timeout=20_000)
    served.reader.now += 60
    other = page.context.new_page()
    served.sign_in(other)
    expect(page.get_by_text("as of 2026-05-01 10:01:00 UTC")).to_be_attached(timeout=30_000)


def test_a_page_that_nobody_sees_asks_for_nothing(served: Served, open_page: OpenPage) -> None:
    page = open_page()
    served.sign_in(page)
    page.wait_for_function("() => performance.getEntriesByType('resource').length >= 2")
    with page.expect_event("close"):
        page.close()
    while served.server.count_streams():
        threading.Event().wait(0.01)


def test_a_plan_is_approved_by_keyboard(served: Served, open_page: OpenPage) -> None:
    page = open_page()
    served.sign_in(page)
    page.goto(f"{served.server.url}/plan/{DIGEST}")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.get_by_label("Comment").focus()
    page.keyboard.type("read it")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name=f"Approve plan {DIGEST}")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("The next run applies it")).to_be_visible()
    assert served.reader.approved == [(DIGEST, "read it")]


def test_it_works_without_script(served: Served, open_page: OpenPage) -> None:
    page = open_page(has_script=False)
    served.sign_in(page)
    page.get_by_role("link", name="guide/install.md").first.click()
    expect(page.get_by_text("Open port 8443 first.")).to_be_visible()
    page.goto(f"{served.server.url}/plan/{DIGEST}")
    page.get_by_role("button", name=f"Approve plan {DIGEST}").click()
    assert served.reader.approved == [(DIGEST, "")]
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Signed out")).to_be_visible()


def test_a_page_of_another_site_can_do_nothing(served: Served, open_page: OpenPage) -> None:
    page = open_page()
    served.sign_in(page)
    form = f'<form method="post" action="{served.server.url}/plan/{DIGEST}/approve"><button>go</button></form>'
    page.route("http://evil.example/*", lambda route: route.fulfill(body=form, content_type="text/html"))
    page.goto("http://evil.example/")
    with page.expect_response(lambda answer: answer.request.method == "POST") as answered:
        page.get_by_role("button").click()
    assert answered.value.status == 403
    assert served.reader.approved == []
