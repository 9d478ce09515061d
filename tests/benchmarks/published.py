"""A page of a published site as `syncd platform serve` answers it, beside a Starlette route with the same bytes."""

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import sqlalchemy as sa

from syncd.platform.app import create_app
from syncd.platform.schema.site_tables import sites
from syncd.platform.storage.storage import Storage
from syncd.platform.visitors.visits import SiteVisit
from tests.benchmarks.bare import Bare
from tests.benchmarks.load import Served, load, request, server
from tests.benchmarks.measure import Line
from tests.benchmarks.platform import Loaded, fill, index, serving
from tests.benchmarks.stage import Stage

PAGES_MAX = 1_000
READS = 10_000
FIRST_READS = 100
WARM_AIM, COLD_AIM = 1.5, 3.0


def measure(stage: Stage) -> Iterator[Line]:
    """Given a stage, measure and return the lines."""
    data = stage.fresh("published")
    fill(data, stage.fresh("pages"), spaces=1, pages=min(stage.pages, PAGES_MAX))
    index(data)
    with serving(data, stage) as loaded:
        paths = _publish(loaded)
    with serving(data, stage) as loaded:
        # Nobody has read the site yet: each page is rendered once, and beside that the others ahead.
        first = _load_pages(loaded, paths[:FIRST_READS], warm=0)
    _render_ahead(data)
    with serving(data, stage) as loaded:
        # A new server, which finds the pages that were rendered before it began.
        cold = _load_pages(loaded, paths, warm=0)
        few = paths[: max(len(paths) // 10, 1)]
        warm = _load_pages(loaded, (few * READS)[:READS], warm=len(few))
        bodies = {path: httpx.get(loaded.url + path).content for path in paths}
    with _bare(bodies, stage) as (url, pid):
        base_cold = load(url, pid, [request(url, "GET", path) for path in paths], connections=1, warm=0)
        base_warm = load(url, pid, [request(url, "GET", path) for path in (few * READS)[:READS]], connections=1)
    for name, ours, base, aim in (("warm", warm, base_warm, WARM_AIM), ("cold", cold, base_cold, COLD_AIM)):
        facts = f"{ours}; bare Starlette {base}; {len(paths)} pages"
        yield Line(f"published page, {name} CPU", ours.cpu_us / base.cpu_us, aim=aim, facts=facts)
    yield Line("published page, never rendered CPU", first.cpu_us / 1000, "ms", facts=str(first))


def _publish(loaded: Loaded) -> list[str]:
    """Publish the space as a site, and return the paths of its pages."""
    with Bare(loaded.url, loaded.token) as bare:
        sites = f"/orgs/{loaded.organization}/sites"
        site = f"{sites}/{bare.send('POST', sites, {'title': 'Docs', 'visibility': 'public'})['id']}"
        bare.send("POST", f"{site}/site-spaces", {"spaceId": loaded.large})
        published = bare.send("POST", f"{site}/publish")["urls"]["published"]
    top = loaded.url + urlsplit(published).path.rstrip("/")
    found = re.findall(r"<loc>([^<]+)</loc>", httpx.get(f"{top}/sitemap.xml").raise_for_status().text)
    return [urlsplit(address).path for address in found]


def _render_ahead(data: Path) -> None:
    """Render all pages, as a server does by itself while nobody measures it."""
    with Storage(data) as storage:
        app = create_app(storage)
        with storage.read() as connection:
            [name] = connection.scalars(sa.select(sites.c.id))
        site = app.state.published_sites.find_site(name)
        app.state.site_renderer.request(SiteVisit(site, f"/sites/{site.row.basename}", {}))
        app.state.site_renderer.render_waiting()


def _load_pages(loaded: Loaded, paths: Sequence[str], *, warm: int) -> Served:
    """Read pages one after the other; the first `warm` of them are read once before the clock runs."""
    requests = [request(loaded.url, "GET", path) for path in paths]
    return load(loaded.url, loaded.pid, requests, connections=1, warm=warm)


@contextmanager
def _bare(bodies: dict[str, bytes], stage: Stage) -> Iterator[tuple[str, int]]:
    """Serve pages by their path from SQLite."""
    database = stage.fresh("pages.db")
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE bodies (id TEXT PRIMARY KEY, body BLOB)")
        connection.executemany("INSERT INTO bodies VALUES (?, ?)", bodies.items())
    with server("-m", "tests.benchmarks.bare_route", str(database), "html", cwd=stage.root) as found:
        yield found
