"""The status page of a fleet: what it shows of all hosts, who may look, and what it approves."""

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import httpx

from syncd.cli.fleet.page import FleetPage, make_versions
from syncd.cli.fleet.page_values import ROWS_MAX, build_overview
from syncd.daemon.page.routes import COOKIE
from syncd.daemon.page.sessions import Sessions
from syncd.fleet.database import FleetDatabase
from syncd.fleet.people.plans import list_plans
from syncd.fleet.people.reports import ReportedSpace, RepositoryReport
from syncd.fleet.repositories import RepositoryState
from syncd.fleet.workers import WorkerCounts, WorkerState, note_worker, register_worker
from syncd.net.page_values import PageRequest, PageResponse
from syncd.store.runs import RunRecord
from syncd.store.status import StoreSummary
from tests.fleet.conftest import PATIENT, Fleet
from tests.fleet.fleet_site import PRUNED, FleetSite

NOW = 1_777_629_600.0


class Browser:
    """Asks the page of a fleet as a browser does that has signed in."""

    def __init__(self, database: FleetDatabase) -> None:
        self.sessions = Sessions(lambda: 0.0)
        versions = make_versions(database, lambda seconds: None)
        self.page = FleetPage(self.sessions, database, versions)
        secret = self.sessions.begin_session(self.sessions.make_link_secret())
        self.cookie, self.token = f"{COOKIE}={secret}", self.sessions.find_form_token(secret)

    def ask(self, path: str, *, cookie: str | None = None, **form: str) -> PageResponse:
        headers = {"cookie": self.cookie if cookie is None else cookie}
        headers["content-type"] = "application/x-www-form-urlencoded"
        path, _, query = path.partition("?")
        words = dict(pair.split("=", 1) for pair in query.split("&") if pair)
        body = "&".join(f"{name}={value}" for name, value in form.items()).encode()
        answer = self.page.answer(PageRequest("POST" if form else "GET", path, words, headers, body))
        assert isinstance(answer, PageResponse)
        return answer

    def read_page(self, path: str) -> str:
        answer = self.ask(path)
        assert answer.status == 200
        return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.body.decode()))


@contextmanager
def open_page(fleet: Fleet) -> Iterator[Browser]:
    with FleetDatabase(fleet.url) as database:
        yield Browser(database)


def test_it_shows_of_every_host_what_waits_for_a_person_without_any_worker(fleet: Fleet) -> None:
    site = FleetSite(fleet)
    fleet.commit("Site", {"site.yaml": site.render("guides", "api", "more")})
    fleet.make(extra="[repository.site]\n")
    fleet.run_here("a")
    fleet.world.edit_on_platform({"options.md": "# Options\n\n* theirs\n* second\n"})
    fleet.commit("Edit", {"options.md": "# Options\n\n* ours\n* second\n", "README.md": "# Docs\n\nEdited in Git.\n"})
    site.commit("guides", policy=PRUNED)
    fleet.run_here("b")
    fleet.run_here("b")  # what a change request is like is read by the run after the one that opened it
    shutil.rmtree(fleet.root / "cache-a")
    shutil.rmtree(fleet.root / "cache-b")
    with FleetDatabase(fleet.url) as database:
        started_at = register_worker(database, "a", host="one", version="1.0", jobs=4)
        note_worker(database, "a", started_at, WorkerCounts(1, 10, 2, 1, 3, 1 << 30))
        started_at = register_worker(database, "b", host="two", version="1.0", jobs=2)
        note_worker(database, "b", started_at, WorkerCounts(0, 5, 0, 0, 1, 1 << 29))
        fleet.run_sql("UPDATE syncd_fleet_workers SET seen_at = now() - interval '5 min' WHERE name = 'b'")
    (digest,) = site.pending()
    with open_page(fleet) as browser:
        text = browser.read_page("/")
        assert "2 to decide" in text
        assert "waits for approval" not in text, "a plan is told once"
        assert f"syncd fleet approve {digest}" in text
        assert "syncd resolve options.md" in text
        assert "worker b" in text
        assert "gone 0 of 2 5 0 0 1 0.5 GiB" in text
        assert "all 1 of 6 15 2 1 4 1.5 GiB" in text
        repository = browser.read_page("/repository/docs")
        assert "options.md" in repository
        assert "#1" in repository
        assert "last at b" in repository
        space = browser.read_page("/space/docs/docs")
        assert "options.md" in space
        assert "none yet" not in space, "its revision is known"
        assert "docs conflict" in space
        assert "section more" in browser.read_page(f"/plan/{digest}")
        assert browser.ask("/operations").status == 404
        refused = browser.ask(f"/plan/{digest}/approve", token="guessed", digest=digest)
        assert refused.status == 403
        done = browser.ask(f"/plan/{digest}/approve", token=browser.token, digest=digest, comment="read")
        assert done.status == 303
        assert "approved" in browser.read_page(f"/plan/{digest}")
        assert browser.ask("/plan/ffffffffffff/approve", token=browser.token, digest="ffffffffffff").status == 409
        assert browser.ask("/", cookie="").status == 401
        assert b"syncd fleet web" in browser.ask("/", cookie="").body
        before = make_versions(browser.page._database).find_version()
        fleet.run_here("c")
        assert make_versions(browser.page._database).find_version() != before
    assert site.sections() == {"guides"}
    with FleetDatabase(fleet.url) as database:
        assert list_plans(database) == []


def test_of_very_many_repositories_it_shows_problems_first_and_pages_of_the_others() -> None:
    ok = RunRecord("repository", "", "ok", at="2026-05-01T10:00:00+00:00")
    failed = replace(ok, state="failed", exit_code=77, why="the token was refused", hint="name another", failures=3)
    states, reports = [], []
    for number in range(250):
        name = f"r{number:03}"
        records = (failed,) if number == 200 else (ok,)
        due_in = -300.0 if number == 201 else 30.0
        states.append(RepositoryState(name, due_in, 0, "", "a", 9.0, records))
        reports.append(RepositoryReport(name, 60, (ReportedSpace("s", "docs", "."),), StoreSummary()))
    worker = WorkerState("a", "one", "1.0", 4, False, 1.0, WorkerCounts())
    first = build_overview(states, reports, (), [worker], now=NOW, version="v")
    assert [row.name for row in first.rows[:3]] == ["r200", "r201", "r000"]
    assert (len(first.rows), first.count) == (ROWS_MAX, 250)
    assert {problem.repository for problem in first.problems} == {"r200", "r201"}
    assert any("name another" in problem.hint for problem in first.problems)
    assert "due for 300 s, and no worker takes it" in [problem.what for problem in first.problems]
    assert "syncd fleet wake r200" in [problem.command for problem in first.problems]
    assert "250 repositories: 0 running, 1 due, longest for 300 s; 1 worker" in first.headline
    last = build_overview(states, reports, (), [worker], now=NOW, version="v", first=200)
    assert len(last.rows) == 50
    sought = build_overview(states, reports, (), [], now=NOW, version="v", first=7000, sought="R24")
    assert (sought.count, sought.rows[-1].name) == (10, "r249")
    assert sought.problems[0].what == "No worker runs."


def test_the_command_serves_it_to_this_machine_alone(fleet: Fleet) -> None:
    fleet.make()
    refused = fleet.syncd("fleet", "web", "--listen", "0.0.0.0:0")
    assert (refused.returncode, "this machine only" in refused.stderr) == (78, True)
    command = [sys.executable, "-m", "syncd", "fleet", "web", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(
        command, cwd=fleet.root, env=fleet.environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        link = process.stdout.readline().strip()
        process.stdout.readline()
        with httpx.Client(timeout=PATIENT) as client:
            assert client.get(link.partition("/sign-in")[0]).status_code == 401
            assert client.get(link, follow_redirects=True).status_code == 200
            assert httpx.get(link).status_code == 401, "it works once"
            base = link.partition("/sign-in")[0]
            page = client.get(base)
            assert "docs" in page.text
            assert "script-src 'self'" in page.headers["Content-Security-Policy"]
            assert client.get(base, headers={"Host": "attacker.example"}).status_code >= 400
            token = re.search(r'name="token" value="([^"]+)"', page.text)
            assert token is not None
            elsewhere = {"Origin": "http://attacker.example"}
            assert client.post(f"{base}/sign-out", data={"token": token[1]}, headers=elsewhere).status_code == 403
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline().strip().startswith(base)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENT) == 0
