"""Chromium of the system, driven by Playwright, with axe-core to look at what it shows.

`-m browser` asks for these tests: then a machine without Chromium, or without `SYNCD_TEST_AXE`, is an error.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
SERIOUS = {"serious", "critical"}

ABORTED = "net::ERR_ABORTED"

OpenPage = Callable[..., Page]
Visit = Callable[..., Page]


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files as `python -m http.server` does, and says nothing."""

    def log_message(self, format: str, *args: object) -> None: ...


def is_foreign(address: str) -> bool:
    """Return whether an address is on another machine, which no test asks for anything."""
    return address.startswith("http") and urlsplit(address).hostname not in ("127.0.0.1", "localhost")


@contextmanager
def serve_files(directory: Path) -> Iterator[str]:
    """Given a directory, serve it as a plain file server does, at the address that comes."""
    handler = partial(QuietHandler, directory=str(directory))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium as Debian installs it."""
    assert Path(CHROMIUM).exists(), "apt-get install chromium"
    # A busy machine scrolls smoothly in its own time.
    expect.set_options(timeout=30_000)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Open a page of its own: `open_page(width=360, scheme="dark", has_script=False)`.

    What the page's policy or its script complains about fails the test at its end.
    """
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def open_one(*, width: int = 1440, height: int = 900, scheme: Any = "light", has_script: bool = True) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, java_script_enabled=has_script
        )
        contexts.append(context)
        context.route(is_foreign, lambda route: route.abort())
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if "Policy" in message.text else None)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert not complaints


@pytest.fixture
def visit(open_page: OpenPage) -> Iterator[Visit]:
    """Open a page in which each message of the console, and each answer that is no success, fails the test."""
    complaints: list[str] = []

    def complain(address: str, words: str) -> None:
        # A browser asks the server's root for an icon where a page that redirects names none: that is not the site's.
        if not (address.endswith("/favicon.ico") or is_foreign(address)):
            complaints.append(words)

    def open_one(**options: object) -> Page:
        page = open_page(**options)
        page.on("console", lambda message: complain(message.location["url"], f"{message.type}: {message.text}"))
        page.on(
            "response",
            lambda answer: complain(answer.url, f"{answer.status} {answer.url}") if answer.status >= 400 else None,
        )
        page.on(
            "requestfailed",  # what a page still loads that is left for another one is not missing
            lambda request: None if request.failure == ABORTED else complain(request.url, f"failed: {request.url}"),
        )
        return page

    yield open_one
    assert not complaints


@pytest.fixture(scope="session")
def axe_source() -> str:
    """The script of axe-core."""
    directory = os.environ.get("SYNCD_TEST_AXE")
    assert directory, "npm install --prefix DIR axe-core, and SYNCD_TEST_AXE=DIR/node_modules/axe-core"
    return (Path(directory) / "axe.min.js").read_text()


@pytest.fixture
def list_violations(axe_source: str) -> Callable[[Page], list[str]]:
    """Return what axe finds serious on a page: the rule, how serious, and the first element."""

    def find(page: Page) -> list[str]:
        page.evaluate(axe_source)
        found = page.evaluate("async () => (await axe.run()).violations")
        return [
            f"{one['id']} ({one['impact']}): {one['nodes'][0]['html']}" for one in found if one["impact"] in SERIOUS
        ]

    return find
