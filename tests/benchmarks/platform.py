"""What the embedded platform costs with 100,000 pages in 100 spaces, against a bare FastAPI route that does as little.

The bare route answers, from SQLite, the very bodies that the platform answered. The platform does more for each: it
checks the token, the role and the parameters. A small platform beside the large one shows what grows with the content.
"""

import json
import random
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from syncd.platform.app import create_app
from syncd.platform.services.directory.read import import_directory
from syncd.platform.storage import jobs
from syncd.platform.storage.storage import Storage
from tests.benchmarks.bare import Bare
from tests.benchmarks.load import Served, load, request, server, wait_until_idle
from tests.benchmarks.measure import Line, cost_of
from tests.benchmarks.pages import write_pages
from tests.benchmarks.stage import Stage
from tests.due_jobs import run_due_jobs

SPACES = 100
CONNECTIONS = 8
READS, WHOLES, SEARCHES, COMMON_SEARCHES, LISTS, MERGES = 4_000, 40, 400, 100, 400, 60
COLD_READS = 1_000
READ_AIM, COLD_AIM, FLAT_AIM = 1.5, 2.0, 1.3
DOCUMENTS, DOCUMENT_MS_AIM, SEARCH_MS_AIM, DESCRIPTION_MS_AIM = 400, 1.5, 10, 20
WORDS = ("interdata", "outline", "preform", "underport", "upkey overline")


@dataclass(frozen=True)
class Loaded:
    """A served platform with content; `pages` has the ids of the documents of each space, the largest space first."""

    url: str
    pid: int
    token: str
    organization: str
    pages: dict[str, list[str]]

    @property
    def large(self) -> str:
        """The largest space."""
        return next(iter(self.pages))

    def hammer(self, paths: Sequence[str], *, connections: int = CONNECTIONS, warm: int = 50) -> Served:
        """Given paths, read each, and return what it took; the first `warm` of them were read once before."""
        requests = [request(self.url, "GET", f"/v1{path}", token=self.token) for path in paths]
        return load(self.url, self.pid, requests, connections=connections, warm=warm)

    def reads(self, count: int) -> list[str]:
        """Return the addresses of so many pages, drawn from all spaces."""
        chance = random.Random(7)
        spaces = list(self.pages)
        drawn = [chance.choice(spaces) for _ in range(count)]
        return [f"/spaces/{space}/content/page/{chance.choice(self.pages[space])}?format=markdown" for space in drawn]

    def distinct_reads(self) -> list[str]:
        """Return the addresses of up to a thousand pages, each once, from all spaces."""
        each = max(COLD_READS // len(self.pages), 1)
        drawn = [(space, page) for space, pages in self.pages.items() for page in pages[:: max(len(pages) // each, 1)]]
        return [f"/spaces/{space}/content/page/{page}?format=markdown" for space, page in drawn[:COLD_READS]]


def measure(stage: Stage) -> Iterator[Line]:
    """Given a stage, measure and return the lines."""
    few, many, total = stage.fresh("few"), stage.fresh("many"), stage.pages * 10
    fill(few, stage.fresh("pages"), spaces=1, pages=max(total // 100, 10))
    index(few)
    cost = cost_of(lambda: fill(many, stage.fresh("pages"), spaces=SPACES, pages=total))
    yield Line("platform load", total / cost.wall, "pages/s", facts=f"{total} pages, {SPACES} spaces: {cost}")
    cost = cost_of(lambda: index(many))
    yield Line("platform index", total / cost.wall, "pages/s", facts=f"for search: {cost}")
    with serving(few, stage) as small, serving(many, stage) as large:
        yield from _against_bare(large, stage)
        yield from _flat(small, large)
        paths = large.distinct_reads()
        base = _bare_cold(large, paths, stage)
    with serving(many, stage) as large:
        # A new server has read none of these pages, and reads each of them once.
        cold = large.hammer(paths, connections=1, warm=0)
        facts = f"{cold}; bare route {base}, which reads each page from its database too"
        yield Line("platform page, cold CPU", cold.cpu_us / base.cpu_us, aim=COLD_AIM, facts=facts)
        yield from _documents(large)
    with serving(many, stage) as large:
        yield _description(large)
        yield _merges(large)
    yield _search(stage)


def fill(data: Path, source: Path, *, spaces: int, pages: int) -> None:
    """Given a new data directory, import so many pages: a tenth into the first of several spaces, the rest evenly."""
    with Storage(data) as storage:
        storage.bootstrap()
        share = pages // 10 if spaces > 1 else pages
        for number in range(spaces):
            count = share if number == 0 else max((pages - share) // (spaces - 1), 1)
            here = write_pages(source / str(number), count, first=number * pages)
            import_directory(storage, here, title=f"Space {number}")


def index(data: Path) -> None:
    """Given a data directory, do the work that imports leave to a server, so that it is not done while we measure."""
    with Storage(data) as storage:
        app = create_app(storage)
        run_due_jobs(jobs.JobContext(storage, app.state.settings), app.state.handlers)


@contextmanager
def serving(data: Path, stage: Stage) -> Iterator[Loaded]:
    """Given a data directory, serve it in a process of its own and return what is there."""
    words = ("-m", "syncd", "platform", "serve", "--port", "0", "--data", str(data))
    with server(*words, cwd=stage.root) as (url, pid):
        wait_until_idle(pid)
        token = (data / "token").read_text(encoding="ascii").strip()
        with Bare(url, token) as bare:
            organization = bare.send("GET", "/orgs")["items"][0]["id"]
            spaces = [space["id"] for space in bare.send("GET", f"/orgs/{organization}/spaces?limit=1000")["items"]]
            pages = {space: [page["id"] for page in bare.documents(space)] for space in spaces}
        largest_first = dict(sorted(pages.items(), key=lambda item: -len(item[1])))
        yield Loaded(url, pid, token, organization, largest_first)


def _against_bare(large: Loaded, stage: Stage) -> Iterator[Line]:
    whole = [f"/spaces/{large.large}/content"]
    polls = [f"/spaces/{space}" for space in large.pages]
    # One connection: the cost of a request, not of a crowd.
    for name, paths, connections, aim in (
        ("platform page, warm", large.reads(READS), 1, READ_AIM),
        ("platform space, warm", polls * (READS // len(polls)), 1, READ_AIM),
        ("platform content", whole * WHOLES, 1, None),
    ):
        with _bare(large, paths, stage) as (url, pid, requests):
            base = [load(url, pid, requests, connections=connections) for _ in range(2)]
            ours = [large.hammer(paths, connections=connections) for _ in range(2)]
            crowds = load(url, pid, requests, connections=CONNECTIONS), large.hammer(paths)
        best, bare = min(ours, key=lambda one: one.cpu_us), min(base, key=lambda one: one.cpu_us)
        facts = f"{best}; bare route {bare}; {CONNECTIONS} connections: {crowds[1]}; bare {crowds[0]}"
        yield Line(f"{name} CPU", best.cpu_us / bare.cpu_us, aim=aim, facts=facts)


@contextmanager
def _bare(large: Loaded, paths: Sequence[str], stage: Stage) -> Iterator[tuple[str, int, list[bytes]]]:
    """Given paths of the platform, serve what it answers to them by the bare route."""
    database = stage.fresh("bodies.db")
    with sqlite3.connect(database) as connection, Bare(large.url, large.token) as bare:
        connection.execute("CREATE TABLE bodies (id TEXT PRIMARY KEY, body BLOB)")
        for number, path in enumerate(dict.fromkeys(paths)):
            body = json.dumps(bare.send("GET", path), ensure_ascii=False, separators=(",", ":")).encode()
            connection.execute("INSERT INTO bodies VALUES (?, ?)", (str(number), body))
    places = {path: number for number, path in enumerate(dict.fromkeys(paths))}
    with server("-m", "tests.benchmarks.bare_route", str(database), cwd=stage.root) as (url, pid):
        yield url, pid, [request(url, "GET", f"/bodies/{places[path]}") for path in paths]


def _bare_cold(large: Loaded, paths: Sequence[str], stage: Stage) -> Served:
    with _bare(large, paths, stage) as (url, pid, requests):
        return load(url, pid, requests, connections=1, warm=0)


def _flat(small: Loaded, large: Loaded) -> Iterator[Line]:
    def rare(here: Loaded) -> list[str]:
        return [f"/orgs/{here.organization}/search?query=r{at % 1000:07}" for at in range(SEARCHES)]

    def common(here: Loaded) -> list[str]:
        words = (WORDS[at % len(WORDS)].replace(" ", "+") for at in range(SEARCHES // 10))
        return [f"/spaces/{list(here.pages)[-1]}/search?query={word}" for word in words]

    def lists(here: Loaded) -> list[str]:
        return [f"/orgs/{here.organization}/spaces?limit=1"] * LISTS

    for name, paths in (
        ("page read", lambda here: here.reads(READS)),
        ("search everywhere", rare),
        ("search of a space", common),
        ("listing", lists),
    ):
        few, many = small.hammer(paths(small), connections=1), large.hammer(paths(large), connections=1)
        facts = f"{many}; with a hundredth of the pages {few}"
        yield Line(f"flat {name}", many.cpu_us / few.cpu_us, aim=FLAT_AIM, facts=facts)
    yield _search_common_word(large, aim=None)


def _search(stage: Stage) -> Line:
    """What the search of a platform takes whose only space is the large one."""
    data = stage.fresh("searched")
    fill(data, stage.fresh("pages"), spaces=1, pages=stage.pages)
    index(data)
    with serving(data, stage) as here:
        return _search_common_word(here, aim=SEARCH_MS_AIM)


def _search_common_word(here: Loaded, *, aim: float | None) -> Line:
    count = sum(map(len, here.pages.values()))
    served = here.hammer([f"/orgs/{here.organization}/search?query={WORDS[0]}"] * COMMON_SEARCHES, connections=1)
    line = f"search in {count} pages, common word CPU"
    return Line(line, served.cpu_us / 1000, "ms", aim=aim, facts=f"{served}; it is in most pages")


def _documents(large: Loaded) -> Iterator[Line]:
    """Pages as documents, each read once, by a server that has just answered them as Markdown."""
    paths = [path.replace("=markdown", "=document") for path in large.distinct_reads()[:DOCUMENTS]]
    cold = large.hammer(paths, connections=1, warm=0)
    yield Line("platform document CPU", cold.cpu_us / 1000, "ms", aim=DOCUMENT_MS_AIM, facts=str(cold))


def _description(large: Loaded) -> Line:
    """What the first reader of `openapi.json` waits for."""
    first = load(large.url, large.pid, [request(large.url, "GET", "/openapi.json")], connections=1, warm=0)
    return Line(
        "platform description", first.p99_ms, "ms", aim=DESCRIPTION_MS_AIM, facts=f"of openapi.json, first {first}"
    )


def _merges(large: Loaded) -> Line:
    """Prepare change requests of a page each in the largest space, merge them in turn, and say what a merge took."""
    space, requests = large.large, []
    with Bare(large.url, large.token) as bare:
        for number in range(MERGES):
            page = large.pages[space][number * 7 % len(large.pages[space])]
            made = bare.send("POST", f"/spaces/{space}/change-requests", {"subject": f"Change {number}"})
            text = {"markdown": f"# Changed\n\nNumber {number}.\n"}
            change = {"operation": "update_page", "page": page, "document": text}
            bare.send("POST", f"/spaces/{space}/change-requests/{made['id']}/content", {"changes": [change]})
            path = f"/v1/spaces/{space}/change-requests/{made['id']}/merge"
            requests.append(request(large.url, "POST", path, token=large.token))
    served = load(large.url, large.pid, requests, connections=1, warm=0)
    return Line("platform merge", 1000 / served.per_second, "ms", facts=f"{served}; {len(large.pages[space])} pages")
