"""Chromium of the system, driven by Playwright, with axe-core to look at what it shows.

`-m browser` asks for these tests: then a machine without Chromium, or without `SYNCD_TEST_AXE`, is an error.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
SERIOUS = {"serious", "critical"}

OpenPage = Callable[..., Page]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium as Debian installs it."""
    assert Path(CHROMIUM).exists(), "apt-get install chromium"
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
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if "Policy" in message.text else None)
        return page

    yield open_one
    for context in contexts:
        context.close()
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
