"""Imports from Git repositories and exports to them: real Git over real HTTP, both ways, and every way to fail."""

import socket
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from time import monotonic
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from syncd.cli.platform.git_host import RepositoryHost
from syncd.errors import Unreachable
from syncd.platform.app import create_app
from syncd.platform.schema.jobs import jobs
from syncd.platform.server import BackgroundServer
from syncd.platform.services.git import transfer
from syncd.platform.settings import GitBounds, GitEndpoint, PlatformSettings
from syncd.platform.storage.jobs import JobContext, run_due_job
from syncd.platform.storage.storage import Storage
from tests.checkouts import plant
from tests.growing import TIMES, assert_linear
from tests.serving_git import TOKEN, GitServer, serve_git
from tests.storages import new_storage

SUMMARY = "# Table of contents\n\n* [Home](README.md)\n* [Setup](setup.md)\n"
FILES = {"README.md": "# Home\n\nWelcome.\n", "setup.md": "# Setup\n\nInstall it.\n", "SUMMARY.md": SUMMARY}
MAIN = "refs/heads/main"


def git(directory: Path, *words: str) -> str:
    settings = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main")
    return subprocess.run(
        ["git", *settings, *words], cwd=directory, check=True, capture_output=True, text=True
    ).stdout.strip()


@dataclass
class Desk:
    """A platform, a Git server, and a clone of the repository there."""

    storage: Storage
    settings: PlatformSettings
    host: GitServer
    clone: Path
    http: httpx.Client
    space: str = ""
    handlers: dict[str, Any] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"{self.host.url}/docs.git"

    @property
    def secret_url(self) -> str:
        return self.url.replace("http://", f"http://x-access-token:{TOKEN}@")

    def commit(self, files: Mapping[str, str], message: str = "Write", *, branch: str = "main") -> str:
        """Push a commit with these files more, and return its id."""
        for path, text in files.items():
            target = self.clone / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        git(self.clone, "add", "--all")
        git(self.clone, "commit", "--quiet", "--message", message)
        git(self.clone, "push", "--quiet", "origin", f"HEAD:refs/heads/{branch}")
        return git(self.clone, "rev-parse", "HEAD")

    def ask(self, verb: str = "import", **body: Any) -> httpx.Response:
        """Ask for an import or export."""
        said = {"url": self.secret_url, "ref": MAIN, **({"commitMessage": "Out"} if verb == "export" else {}), **body}
        return self.http.post(f"/v1/spaces/{self.space}/git/{verb}", json=said)

    def work(self) -> None:
        """Do what waits."""
        while run_due_job(JobContext(self.storage, self.settings), self.handlers):
            pass

    def transfer(self, verb: str = "import", **body: Any) -> dict[str, Any]:
        """Ask for an import or export, do it, and return the operation."""
        answer = self.ask(verb, **body)
        assert (answer.status_code, answer.text) == (204, "")
        self.work()
        return self.operation()

    def operation(self) -> dict[str, Any]:
        return dict(self.get("git/info")["operation"])

    def get(self, path: str) -> dict[str, Any]:
        answer = self.http.get(f"/v1/spaces/{self.space}/{path}" if path else f"/v1/spaces/{self.space}")
        assert answer.is_success, answer.text
        return dict(answer.json())

    def texts(self, revision: str = "") -> dict[str, str]:
        """The text of each page of a revision, main content without one."""
        lead = f"revisions/{revision}" if revision else "content"
        pages = {page["id"]: page["title"] for page in self.get(lead)["pages"]}
        return {title: self.get(f"{lead}/page/{id}?format=markdown")["markdown"] for id, title in pages.items()}

    def edit(self, title: str, text: str) -> str:
        """Let an editor write a page by a merged change request; return main content's revision."""
        request = self.http.post(f"/v1/spaces/{self.space}/change-requests", json={"subject": "Web"}).json()["id"]
        page = next(page["id"] for page in self.get("content")["pages"] if page["title"] == title)
        change = {"operation": "update_page", "page": page, "document": {"markdown": text}}
        path = f"/v1/spaces/{self.space}/change-requests/{request}"
        assert self.http.post(f"{path}/content", json={"changes": [change]}).is_success
        assert self.http.post(f"{path}/merge").is_success
        return str(self.get("")["revision"])


@pytest.fixture
def make_desk(tmp_path: Path) -> Iterator[Callable[..., Desk]]:
    """Makes a desk; the platform may reach this machine unless it is said otherwise."""
    closing: list[Callable[[], object]] = []
    (tmp_path / "served").mkdir()
    git(tmp_path, "init", "--quiet", "--bare", "served/docs.git")
    git(tmp_path / "served" / "docs.git", "config", "http.receivepack", "true")
    git(tmp_path, "clone", "--quiet", "served/docs.git", "clone")
    serving = serve_git(tmp_path / "served")
    host = serving.__enter__()
    closing.append(lambda: serving.__exit__(None, None, None))

    def make(*, private: bool = True, host_of_git: Any = None) -> Desk:
        settings = PlatformSettings(private_addresses=private, git_host=host_of_git or RepositoryHost())
        storage = new_storage(tmp_path / "platform")
        storage.bootstrap()
        server = BackgroundServer(storage, settings, works=False)
        http = httpx.Client(base_url=server.start(), trust_env=False, timeout=30)
        http.headers["Authorization"] = f"Bearer {storage.token_file.read_text().strip()}"
        closing.extend([storage.close, server.stop, http.close])
        handlers = dict(create_app(storage, settings).state.handlers)
        desk = Desk(storage, settings, host, tmp_path / "clone", http, handlers=handlers)
        organization = http.get("/v1/orgs").json()["items"][0]["id"]
        desk.space = http.post(f"/v1/orgs/{organization}/spaces", json={"title": "Guides"}).json()["id"]
        return desk

    yield make
    for close in reversed(closing):
        close()


@pytest.fixture
def desk(make_desk: Callable[..., Desk]) -> Desk:
    return make_desk()


def test_a_commit_becomes_main_content_with_its_id(desk: Desk) -> None:
    oid = desk.commit(FILES, "Begin\n\nAll of it.")
    assert desk.http.get(f"/v1/spaces/{desk.space}/git/info").status_code == 404
    assert desk.ask(repoCommitURL="https://example.com/docs/commit").status_code == 204
    running = desk.operation()
    assert (running["state"], running["direction"], "endedAt" in running) == ("running", "import", False)
    before = desk.get("")["revision"]
    desk.work()
    done = desk.operation()
    assert (done["state"], done["direction"], "error" in done) == ("success", "import", False)
    assert desk.texts() == {"Home": FILES["README.md"], "Setup": FILES["setup.md"]}
    revision = desk.get("content")
    assert revision["parents"] == [before]
    assert revision["git"] == {
        "oid": oid,
        "message": "Begin\n\nAll of it.",
        "createdByService": False,
        "ref": MAIN,
        "url": f"https://example.com/docs/commit/{oid}",
    }
    info = desk.get("git/info")
    assert (info["url"], info["repoName"], info["operationTimeout"]) == (desk.url, "docs", 240_000)


def test_the_same_content_makes_no_revision_and_known_pages_keep_their_ids(desk: Desk) -> None:
    desk.commit(FILES)
    assert desk.transfer()["state"] == "success"
    first = desk.get("content")
    second = desk.commit({"notes.txt": "Nobody reads this."})
    assert desk.transfer()["state"] == "success"
    again = desk.get("content")
    assert (again["id"], again["git"]["oid"]) == (first["id"], second)
    desk.commit({"setup.md": "# Setup\n\nInstall it twice.\n"})
    assert desk.transfer()["state"] == "success"
    assert [page["id"] for page in desk.get("content")["pages"]] == [page["id"] for page in first["pages"]]
    assert desk.texts()["Setup"] == "# Setup\n\nInstall it twice.\n"


def test_an_import_overwrites_what_an_editor_wrote_and_the_history_still_has_it(desk: Desk) -> None:
    desk.commit(FILES)
    desk.transfer()
    theirs = desk.edit("Setup", "# Setup\n\nAn editor was here.\n")
    desk.commit({"README.md": "# Home\n\nHello.\n"})
    assert desk.transfer()["state"] == "success"
    assert desk.texts() == {"Home": "# Home\n\nHello.\n", "Setup": FILES["setup.md"]}
    assert desk.get("content")["parents"] == [theirs]
    assert "An editor was here." in desk.texts(theirs)["Setup"]


def test_a_standalone_import_is_a_revision_of_its_own(desk: Desk) -> None:
    desk.commit(FILES)
    desk.transfer()
    main = desk.get("")["revision"]
    oid = desk.commit({"setup.md": "# Setup\n\nA preview.\n"}, branch="topic")
    git(desk.clone, "push", "--quiet", "origin", "HEAD:refs/pull/7/head")
    assert desk.transfer(ref="refs/pull/7/head", standalone=True)["state"] == "success"
    assert desk.get("")["revision"] == main
    assert oid not in str(desk.get("content"))


def test_a_directory_of_a_repository_is_a_space(desk: Desk) -> None:
    desk.commit({f"docs/{path}": text for path, text in FILES.items()} | {"README.md": "# Code\n"})
    assert desk.transfer(repoProjectDirectory="docs")["state"] == "success"
    assert set(desk.texts()) == {"Home", "Setup"}
    absent = desk.transfer(repoProjectDirectory="absent")
    assert (absent["state"], absent["error"]) == ("failure", "The commit has no directory absent.")


def test_links_and_submodules_of_a_commit_are_no_files(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("# Secret\n")
    (desk.clone / "stolen.md").symlink_to(tmp_path / "secret.md")
    desk.commit({**FILES, "SUMMARY.md": SUMMARY + "* [Stolen](stolen.md)\n"})
    assert desk.transfer()["state"] == "success"
    assert set(desk.texts()) == {"Home", "Setup"}


def test_an_older_event_does_not_follow_a_newer_one_unless_it_is_forced(desk: Desk) -> None:
    desk.commit(FILES)
    assert desk.transfer(timestamp="2026-01-02T00:00:00Z")["state"] == "success"
    desk.commit({"README.md": "# Home\n\nLater.\n"})
    older = desk.transfer(timestamp="2026-01-01T00:00:00Z")
    assert older["state"] == "failure"
    assert "force" in older["error"]
    assert desk.texts()["Home"] == FILES["README.md"]
    assert desk.transfer(timestamp="2026-01-01T00:00:00Z", force=True)["state"] == "success"
    assert desk.texts()["Home"] == "# Home\n\nLater.\n"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"ref": "refs/heads/absent"}, "The repository has no refs/heads/absent."),
        ({"ref": "refs/heads/a..b"}, "is no name for a ref"),
        ({"url": "{host}/nothing.git"}, "not found"),
        ({"url": "{plain}"}, "could not read Username"),
    ],
)
def test_an_import_that_fails_says_why_and_changes_nothing(desk: Desk, body: dict[str, str], words: str) -> None:
    desk.commit(FILES)
    desk.transfer()
    before = desk.get("")["revision"]
    secret_host = desk.secret_url.removesuffix("/docs.git")
    said = {name: value.format(host=secret_host, plain=desk.url) for name, value in body.items()}
    failed = desk.transfer(**said)
    assert failed["state"] == "failure"
    assert words.casefold() in failed["error"].casefold()
    assert desk.get("")["revision"] == before


def test_a_table_of_contents_that_cannot_be_read_fails_with_its_place(desk: Desk) -> None:
    desk.commit({**FILES, ".gitbook.yaml": "structure: [\n"})
    failed = desk.transfer()
    assert failed["state"] == "failure"
    assert ".gitbook.yaml" in failed["error"]


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc",
        "/etc",
        "ssh://git@example.com/docs.git",
        "ext::sh -c touch%20/x",
        "http://example.com/docs.git",
        "https://169.254.169.254/docs.git",
        "https://[fe80::1]/docs.git",
        "https://0x7f.1/docs.git",
        "https://example.com/docs.git?token=7",
        "https://a%0ab:secret-9@example.com/docs.git",
    ],
)
def test_an_address_that_must_not_be_reached_is_refused_at_once(desk: Desk, url: str) -> None:
    answer = desk.ask(url=url)
    assert answer.status_code == 400
    assert "secret-9" not in answer.text
    assert desk.http.get(f"/v1/spaces/{desk.space}/git/info").status_code == 404


def test_this_machine_is_reached_only_where_the_operator_allows_it(make_desk: Callable[..., Desk]) -> None:
    desk = make_desk(private=False)
    desk.commit(FILES)
    assert desk.ask().status_code == 400
    named = desk.transfer(url=desk.secret_url.replace("127.0.0.1", "localhost"))
    assert (named["state"], named["error"]) == ("failure", "The address is not a public one.")
    assert desk.host.seen == []


def test_a_redirect_is_not_followed(desk: Desk) -> None:
    desk.commit(FILES)
    desk.host.moved["moved"] = desk.host.url
    failed = desk.transfer(url=desk.secret_url.replace("/docs.git", "/moved/docs.git"))
    assert failed["state"] == "failure"
    assert {path.split("/")[1] for path, _ in desk.host.seen} == {"moved"}


def test_only_the_address_that_was_checked_is_connected_to(desk: Desk) -> None:
    oid = desk.commit(FILES)
    bounds = GitBounds(monotonic() + 60, 1_000_000)
    for address, found in (("127.0.0.1", oid), ("127.0.0.2", "")):
        url = desk.url.replace("127.0.0.1", "localhost")
        endpoint = GitEndpoint(url, MAIN, (address,), "x-access-token", TOKEN)
        assert TOKEN not in repr(endpoint)
        with ExitStack() as stack:
            if not found:
                stack.enter_context(pytest.raises(Unreachable))
            assert stack.enter_context(RepositoryHost().open(endpoint, bounds)).commit == found


def test_all_files_of_a_commit_are_read_at_a_cost_by_their_number(tmp_path: Path) -> None:
    size = 250
    for count in (size, size * TIMES):
        files = {f"{number % 40}/{number}.md": f"# {number}\n" for number in range(count)}
        top = plant(tmp_path / str(count), files)
        for words in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "--message", "Write")):
            git(top, *words)

    def read_all(count: int) -> None:
        endpoint = GitEndpoint((tmp_path / str(count)).as_uri(), MAIN, ())
        with RepositoryHost().open(endpoint, GitBounds(monotonic() + 60, 1 << 30)) as checkout:
            listed = checkout.list_files("")
            assert len({checkout.read_file("", path) for path in listed}) == count

    assert_linear(read_all, size)


def test_a_fetch_that_takes_too_long_is_ended(desk: Desk) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/docs.git"
        endpoint = GitEndpoint(url, MAIN, ("127.0.0.1",))
        with pytest.raises(TimeoutError), RepositoryHost().open(endpoint, GitBounds(monotonic(), 1_000_000)):
            pass


def test_credentials_are_kept_nowhere(desk: Desk, tmp_path: Path) -> None:
    desk.commit(FILES)
    assert desk.ask().status_code == 204
    data = [path for path in (tmp_path / "platform").rglob("*") if path.is_file()]
    assert data
    assert not [path for path in data if TOKEN.encode() in path.read_bytes()]
    desk.work()
    assert desk.operation()["state"] == "success"
    assert TOKEN not in str(desk.get("git/info")) + str(desk.get("content"))
    assert any(TOKEN not in authorization and authorization for _, authorization in desk.host.seen)


def test_a_platform_that_was_started_again_says_that_it_has_no_credentials(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.commit(FILES)
    assert desk.ask().status_code == 204
    monkeypatch.setattr(transfer, "_credentials", {})
    assert transfer.run_transfer(JobContext(desk.storage, desk.settings), _payload(desk)) is not None
    monkeypatch.setattr(transfer, "FIND_S", 0.0)
    assert transfer.run_transfer(JobContext(desk.storage, desk.settings), _payload(desk)) is None
    assert "keeps no credentials" in desk.operation()["error"]


def _payload(desk: Desk) -> dict[str, Any]:
    with desk.storage.read() as connection:
        found = connection.scalars(sa.select(jobs.c.payload).where(jobs.c.kind == "git.transfer")).one()
    return dict(found)


def test_an_operation_that_nobody_ends_is_a_timeout(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.commit(FILES)
    before = desk.get("")["revision"]
    assert desk.ask().status_code == 204
    now = desk.storage.now
    monkeypatch.setattr(desk.storage, "now", lambda: now() + timedelta(seconds=241))
    assert desk.operation()["state"] == "timeout"
    desk.work()
    assert (desk.operation()["state"], desk.get("")["revision"]) == ("timeout", before)


@pytest.mark.long
def test_operations_of_a_space_are_done_in_their_order_and_only_so_many_wait(desk: Desk) -> None:
    desk.commit(FILES)
    desk.commit({"README.md": "# Home\n\nOn a branch.\n"}, branch="other")
    for number in range(10):
        assert desk.ask(ref="refs/heads/other" if number == 9 else MAIN).status_code == 204
    assert desk.ask().status_code == 409
    desk.work()
    assert desk.texts()["Home"] == "# Home\n\nOn a branch.\n"
    assert desk.ask().status_code == 204


def test_a_commit_beyond_the_bounds_is_refused(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.commit(FILES)
    monkeypatch.setattr(transfer, "FILES_MAX", 2)
    assert "more than 2 files" in desk.transfer()["error"]
    monkeypatch.setattr(transfer, "FILES_MAX", 20)
    monkeypatch.setattr(transfer, "FILE_BYTES_MAX", 30)
    assert "file of more than 30 bytes" in desk.transfer()["error"]
    monkeypatch.setattr(transfer, "BYTES_MAX", 50)
    assert "sends more than 50 bytes" in desk.transfer()["error"]


def test_an_export_is_a_commit_and_comes_back_as_nothing(desk: Desk) -> None:
    desk.commit({**FILES, "LICENSE": "Free.", "code/main.c": "int main;"})
    desk.transfer()
    edited = desk.edit("Setup", "# Setup\n\nAn editor was here.\n")
    assert "git" not in desk.get("content")
    done = desk.transfer("export", commitMessage="GITBOOK-1: Web")
    assert (done["state"], done["direction"]) == ("success", "export")
    git(desk.clone, "pull", "--quiet", "--ff-only", "origin", "main")
    oid = git(desk.clone, "rev-parse", "HEAD")
    assert (desk.clone / "setup.md").read_text() == "# Setup\n\nAn editor was here.\n"
    assert (desk.clone / "code" / "main.c").exists()
    assert git(desk.clone, "show", "--name-only", "--format=%s", "HEAD").split() == ["GITBOOK-1:", "Web", "setup.md"]
    commit = desk.get("content")["git"]
    assert (commit["oid"], commit["createdByService"]) == (oid, True)
    assert desk.transfer()["state"] == "success"
    assert (desk.get("content")["id"], desk.get("content")["git"]) == (edited, commit)
    assert desk.transfer("export")["state"] == "success"
    git(desk.clone, "fetch", "--quiet")
    assert git(desk.clone, "rev-parse", "origin/main") == oid


def test_an_export_begins_a_branch_and_a_standalone_one_joins_nothing(desk: Desk) -> None:
    desk.commit(FILES)
    desk.transfer()
    desk.edit("Setup", "# Setup\n\nNew.\n")
    assert desk.transfer("export", ref="refs/heads/copy", standalone=True)["state"] == "success"
    git(desk.clone, "fetch", "--quiet")
    assert git(desk.clone, "show", "origin/copy:setup.md") == "# Setup\n\nNew."
    assert "git" not in desk.get("content")
    assert desk.ask("export", ref="refs/tags/one").status_code == 400


def test_an_export_that_a_branch_does_not_take_fails(desk: Desk, tmp_path: Path) -> None:
    desk.commit(FILES)
    desk.transfer()
    desk.edit("Setup", "# Setup\n\nNew.\n")
    hook = tmp_path / "served" / "docs.git" / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    failed = desk.transfer("export")
    assert failed["state"] == "failure"
    assert "takes no push" in failed["error"]
    assert "git" not in desk.get("content")
