"""The page of a fleet in Chromium: what waits for a person, in light and dark, wide and small, and to an approval."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from syncd.cli.fleet.page import FleetPage, make_versions
from syncd.daemon.page.sessions import Sessions
from syncd.fleet.database import FleetDatabase
from syncd.fleet.workers import WorkerCounts, note_worker, register_worker
from syncd.net.page_server import serve_pages
from tests.browser.conftest import OpenPage
from tests.fleet.conftest import Fleet
from tests.fleet.fleet_site import PRUNED, FleetSite
from tests.postgres import Server
from tests.sync.conftest import new_world

pytestmark = pytest.mark.browser

VIEWS = [("light", 1440), ("dark", 1440), ("light", 360), ("dark", 360)]


@dataclass(frozen=True)
class Served:
    """The page of a fleet with a conflict, a plan that waits for its approval, and a worker that is gone."""

    url: str
    sessions: Sessions
    digest: str

    def sign_in(self, page: Page) -> None:
        page.goto(f"{self.url}/sign-in?link={self.sessions.make_link_secret()}")

    def list_addresses(self) -> list[str]:
        return [
            self.url + path for path in ("/", "/repository/docs", "/space/docs/docs", f"/plan/{self.digest}", "/no")
        ]


@pytest.fixture
def served(tmp_path: Path, postgres_server: Server) -> Iterator[Served]:
    with new_world(tmp_path) as world:
        fleet = Fleet(world, postgres_server.empty())
        site = FleetSite(fleet)
        fleet.commit("Site", {"site.yaml": site.render("guides", "api", "more")})
        fleet.make(extra="[repository.site]\n")
        fleet.run_here("a")
        fleet.world.edit_on_platform({"options.md": "# Options\n\n* theirs\n* second\n"})
        fleet.commit("Edit", {"options.md": "# Options\n\n* ours\n* second\n"})
        site.commit("guides", policy=PRUNED)
        fleet.run_here("a")
        with FleetDatabase(fleet.url) as database:
            for name in ("a", "b"):
                started_at = register_worker(database, name, host=f"host-of-{name}", version="1.0", jobs=4)
                note_worker(database, name, started_at, WorkerCounts(1, 10, 2, 1, 3, 1 << 30))
            fleet.run_sql("UPDATE syncd_fleet_workers SET seen_at = now() - interval '5 min' WHERE name = 'b'")
            (digest,) = site.pending()
            sessions = Sessions(lambda: 0.0)
            page = FleetPage(sessions, database, make_versions(database, threading.Event().wait))
            with serve_pages("127.0.0.1:0", page.answer, print, name="test") as server:
                yield Served(server.url, sessions, digest)
        fleet.end()


def test_axe_finds_nothing_serious_and_everything_fits(
    served: Served, open_page: OpenPage, list_violations: Callable[[Page], list[str]]
) -> None:
    for scheme, width in VIEWS:
        page = open_page(width=width, scheme=scheme)
        served.sign_in(page)
        for address in served.list_addresses():
            page.goto(address)
            assert list_violations(page) == [], address
            assert page.evaluate("document.documentElement.scrollWidth") <= width, address


@pytest.mark.parametrize("has_script", [True, False])
def test_a_plan_is_read_and_approved(served: Served, open_page: OpenPage, has_script: bool) -> None:
    page = open_page(has_script=has_script)
    served.sign_in(page)
    expect(page.get_by_text("2 to decide")).to_be_visible()
    page.locator(f"a[href='/plan/{served.digest}']").first.click()
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("approved").first).to_be_visible()
