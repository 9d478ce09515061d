"""The status page: who may look, what each address answers, and what is counted; without a server."""

import pytest

from syncd.daemon.health import RepositoryHealth, ServiceHealth
from syncd.daemon.page.listener import OFF, PageListener
from syncd.daemon.page.reader import CachedValue, StatusVersions
from syncd.daemon.page.request_log import MINUTES_MAX, RequestLog
from syncd.daemon.page.routes import COOKIE, StatusPage
from syncd.daemon.page.sessions import LINK_SECONDS, LINKS_MAX, SESSION_SECONDS, Sessions
from syncd.errors import ConfigInvalid
from syncd.net.page_values import EventStream, PageRequest, PageResponse
from tests.web.status.samples import CONFLICT_PAGE, DIGEST, NOW, SampleReader

FORM = "application/x-www-form-urlencoded"


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


class Browser:
    """Asks a status page as a browser does, with its cookie."""

    def __init__(self) -> None:
        self.clock, self.reader = Clock(), SampleReader()
        self.sessions = Sessions(self.clock)
        self.health = ServiceHealth(True, ())
        versions = StatusVersions(lambda: self.health, self.reader.list_files, sleep=lambda seconds: None)
        self.page = StatusPage(self.sessions, self.reader, versions, self.clock)
        self.cookie = ""

    def ask(self, path: str, method: str = "GET", **form: str) -> PageResponse:
        answer = self.ask_any(path, method, **form)
        assert isinstance(answer, PageResponse)
        return answer

    def ask_any(self, path: str, method: str = "GET", **form: str) -> PageResponse | EventStream:
        path, _, query = path.partition("?")
        words = dict(pair.split("=", 1) for pair in query.replace("%2F", "/").split("&") if pair)
        body = "&".join(f"{name}={value}" for name, value in form.items()).encode()
        headers = {"cookie": self.cookie, "content-type": FORM}
        return self.page.answer(PageRequest(method, path, words, headers, body))

    def sign_in(self) -> str:
        """Sign in, and return the token of the forms."""
        answer = self.ask(f"/sign-in?link={self.sessions.make_link_secret()}")
        assert (answer.status, dict(answer.headers)["Location"]) == (303, "/")
        cookie, _, attributes = dict(answer.headers)["Set-Cookie"].partition("; ")
        assert attributes == "Path=/; HttpOnly; SameSite=Strict"
        self.cookie = cookie
        return self.sessions.find_form_token(cookie.removeprefix(f"{COOKIE}="))


@pytest.fixture
def browser() -> Browser:
    return Browser()


@pytest.mark.parametrize(
    "path", ["/", "/operations", f"/plan/{DIGEST}", CONFLICT_PAGE, "/events", "/space/docs/api-01"]
)
def test_without_a_session_there_is_only_how_to_get_one(browser: Browser, path: str) -> None:
    browser.cookie = f"{COOKIE}=guessed"
    answer = browser.ask(path)
    assert answer.status == 401
    assert b"syncd web" in answer.body
    assert b"docs" not in answer.body
    assert not browser.reader.reads
    assert browser.ask(f"/plan/{DIGEST}/approve", "POST", digest=DIGEST, token="x").status == 401


def test_a_link_works_once_and_for_a_minute(browser: Browser) -> None:
    link = f"/sign-in?link={browser.sessions.make_link_secret()}"
    assert browser.ask(link, "HEAD").status == 401  # a program that looks at links does not use it up
    assert browser.ask(link).status == 303
    assert browser.ask(link).status == 401
    late = browser.sessions.make_link_secret()
    browser.clock.now += LINK_SECONDS
    assert browser.ask(f"/sign-in?link={late}").status == 401
    assert browser.ask("/sign-in").status == 401


def test_links_and_sessions_are_bounded_and_end(browser: Browser) -> None:
    first = browser.sessions.make_link_secret()
    for _ in range(LINKS_MAX):
        browser.sessions.make_link_secret()
    assert browser.ask(f"/sign-in?link={first}").status == 401
    token = browser.sign_in()
    browser.clock.now += SESSION_SECONDS - 1
    assert browser.ask("/").status == 200
    browser.clock.now += SESSION_SECONDS - 1  # who looks stays
    assert browser.ask("/").status == 200
    assert browser.ask("/sign-out", "POST", token=token).status == 303
    assert browser.ask("/").status == 401
    browser.sign_in()
    browser.clock.now += SESSION_SECONDS
    assert browser.ask("/").status == 401


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/", b"1 error, 2 to decide"),
        ("/operations", b"The last 100"),
        ("/repository/docs", b"/srv/docs"),
        ("/space/docs/release-notes-03", b"the platform answered 403"),
        (CONFLICT_PAGE, b"Open port 8443 first."),
        (f"/plan/{DIGEST}", b"12 redirects would be deleted"),
    ],
)
def test_each_address_shows_its_page(browser: Browser, path: str, words: bytes) -> None:
    browser.sign_in()
    answer = browser.ask(path)
    assert answer.status == 200
    assert words in answer.body


@pytest.mark.parametrize(
    "path", ["/no", "/repository/no", "/space/docs/no", "/space/no/no", "/plan/no", "/conflict", "/plan"]
)
def test_what_is_not_there_is_said_to_be_gone(browser: Browser, path: str) -> None:
    browser.sign_in()
    assert browser.ask(path).status == 404


def test_a_plan_is_approved_with_the_token_and_by_its_own_digest(browser: Browser) -> None:
    token = browser.sign_in()
    path = f"/plan/{DIGEST}/approve"
    assert browser.ask(path, "POST", digest=DIGEST).status == 403
    assert browser.ask(path, "POST", digest=DIGEST, token="x").status == 403
    assert browser.ask(path, "POST", digest="other", token=token).status == 404
    assert browser.reader.approved == []
    assert browser.ask(path, "POST", digest=DIGEST, token=token, comment="fine").status == 303
    assert browser.reader.approved == [(DIGEST, "fine")]
    browser.reader.waits = False
    stale = browser.ask(path, "POST", digest=DIGEST, token=token)
    assert stale.status == 409
    assert b"read the plan that waits now" in stale.body


def test_what_was_read_is_remembered_for_a_second() -> None:
    clock = Clock()
    reads = iter("abc")
    remembered = CachedValue(lambda: next(reads), clock)
    assert (remembered.read(), remembered.read()) == ("a", "a")
    clock.now += 1.1
    assert remembered.read() == "b"
    remembered.discard()
    assert remembered.read() == "c"


def test_another_state_of_the_service_is_another_version() -> None:
    health = ServiceHealth(True, (RepositoryHealth("docs", 60),))
    slept: list[float] = []
    versions = StatusVersions(lambda: health, lambda: (), sleep=slept.append)
    first = versions.find_version()
    assert versions.wait_for_change("", 5) == first
    assert slept == []
    assert versions.wait_for_change(first, 5) == first
    assert slept == [5]
    health = ServiceHealth(True, (RepositoryHealth("docs", 60, is_running=True),))
    assert StatusVersions(lambda: health, lambda: ()).find_version() != first


def test_events_begin_at_the_version_that_the_page_shows(browser: Browser) -> None:
    browser.sign_in()
    stream = browser.ask_any("/events?seen=v7")
    assert isinstance(stream, EventStream)
    assert stream.seen == "v7"


def test_requests_are_counted_by_the_minute() -> None:
    clock = Clock()
    log = RequestLog(clock)
    log.add(0.5, 200, {"X-RateLimit-Remaining": "30", "X-RateLimit-Limit": "40"})
    log.add(1.5, 0, {})
    log.add(0.1, 429, {"X-RateLimit-Remaining": "nan", "X-RateLimit-Limit": "0"})
    (minute,) = log.list_minutes()
    assert (minute.count, minute.failures, minute.longest) == (3, 2, 1.5)
    assert (minute.remaining, minute.limit) == (30, 40)
    for _ in range(MINUTES_MAX + 5):
        clock.now += 60
        log.add(0.1, 200, {})
    assert len(log.list_minutes()) == MINUTES_MAX


@pytest.mark.parametrize("address", ["0.0.0.0:9471", "docs.example.org:9471", "[::]:9471", "10.0.0.1:9471"])
def test_the_page_is_for_this_machine_only(address: str) -> None:
    with pytest.raises(ConfigInvalid, match="this machine only"):
        PageListener(address, lambda sessions: lambda request: PageResponse(), print)


def test_it_may_be_off() -> None:
    with PageListener(OFF, lambda sessions: lambda request: PageResponse(), print) as listener:
        answer = listener.make_link()
    assert (answer.exit_code, answer.link) == (78, "")
    assert "--web" in answer.hint
