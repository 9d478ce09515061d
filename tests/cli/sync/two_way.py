"""Who takes part in a story of two-way sync: writers with clones, and people in a browser, on one platform.

A story is told by what people do, and asserts what they meet: exit codes, words that stand, messages that name pages.
Each page has a short text of paragraphs, so that a story can say which one somebody changes.
"""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from syncd.api.client import Client
from syncd.model.change_request import ChangeRequest, ChangeRequestCreate, ChangeRequestUpdate
from syncd.model.content_write import ContentWrite, DeletePage, InsertPage, Markdown, Operation, UpdatePage
from syncd.model.page import Page, walk_pages
from syncd.platform.server import BackgroundServer
from syncd.platform.services.directory.read import import_directory
from syncd.platform.storage.storage import Storage
from tests.cli.sync.interposer import Interposer as Interposer
from tests.forked import run_forked

if TYPE_CHECKING:
    from subprocess import CompletedProcess

MAIN = 0
"""Stands for main content where a change request's number is asked for."""
HOME = ""
"""The slug of the first page."""
AHEAD, BEHIND = "2040-01-01T00:00:00Z", "2020-01-01T00:00:00Z"
"""Clocks of writers that are wrong: the order of commits is their parents', never their dates'."""
PATIENT_S = 60
THEIRS = "Theirs"
"""Subject of what people in a browser propose and merge themselves."""


def text_of(title: str) -> str:
    """Return a page of three paragraphs that begin with its title's words."""
    return f"# {title}\n\n{title} one.\n\n{title} two.\n\n{title} three.\n"


def pages_of(*titles: str) -> dict[str, str]:
    """Return the files of a space: a home page, and one page for each title, at the title in lower case."""
    paths = {title: f"{title.lower().replace(' ', '-')}.md" for title in titles}
    listed = "".join(f"* [{title}]({path})\n" for title, path in paths.items())
    return {
        "README.md": text_of("Home"),
        "SUMMARY.md": f"# Table of contents\n\n* [Home](README.md)\n{listed}",
        **{path: text_of(title) for title, path in paths.items()},
    }


FOUR = pages_of("P1", "P2", "P3", "P4")


def distinct_pages_of(name: str) -> dict[str, str]:
    """Given the name of a space, return pages of which none is like one of another space."""
    more = "".join(f"\nOnly in {name} {{path}}, {line}.\n" for line in "abcd")
    return {path: text + ("" if path == "SUMMARY.md" else more.format(path=path)) for path, text in FOUR.items()}


class Web:
    """People who work on one space in a browser; what they do to main content they propose and merge at once."""

    def __init__(self, client: Client, space: str) -> None:
        self.client, self.space = client, space

    def edit(self, slug: str, old: str, new: str, *, request: int = MAIN) -> None:
        """Replace words of a page."""
        text = self.text(slug, request=request)
        assert old in text, (old, text)
        page = self._page(slug, request)
        self._write(request, UpdatePage(page=page.id, document=Markdown(markdown=text.replace(old, new))))

    def retitle(self, slug: str, title: str, *, request: int = MAIN) -> None:
        """Give a page another title; its slug stays."""
        self._write(request, UpdatePage(page=self._page(slug, request).id, title=title, slug=slug))

    def rename(self, slug: str, to: str, *, request: int = MAIN) -> None:
        """Give a page another slug."""
        self._write(request, UpdatePage(page=self._page(slug, request).id, slug=to))

    def move(self, slug: str, *, below: str, to: str, request: int = MAIN) -> None:
        """Put a page below another one, under another slug."""
        page, into = (self._page(each, request).id for each in (slug, below))
        self._write(request, UpdatePage(page=page, into=into, slug=to))

    def exchange(self, slug: str, other: str, *, request: int = MAIN) -> None:
        """Let two pages exchange their slugs."""
        one, two = (self._page(each, request).id for each in (slug, other))
        slugs = ((one, "between"), (two, slug), (one, other))
        self._write(request, *(UpdatePage(page=page, slug=new) for page, new in slugs))

    def replace_page(self, slug: str, text: str, *, away: str) -> None:
        """Give a page another slug, and add a new one in its place, at once."""
        move = UpdatePage(page=self._page(slug, MAIN).id, slug=away)
        self._write(MAIN, move, InsertPage(document=Markdown(markdown=text), slug=slug))

    def add(self, slug: str, text: str, *, below: str = "", request: int = MAIN) -> None:
        """Add a page, at the end or below another one."""
        into = self._page(below, request).id if below else ""
        self._write(request, InsertPage(document=Markdown(markdown=text), slug=slug, into=into))

    def delete(self, slug: str, *, request: int = MAIN) -> None:
        """Delete a page."""
        self._write(request, DeletePage(page=self._page(slug, request).id))

    def text(self, slug: str, *, request: int = MAIN) -> str:
        """Return what a page says."""
        id = self._page(slug, request).id
        if request == MAIN:
            return self.client.content.get_page(self.space, id).markdown or ""
        return self.client.change_request_content.get_page(self.space, str(request), id).markdown or ""

    def texts(self, *, request: int = MAIN) -> dict[str, str]:
        """Return what each page says, by its title."""
        return {page.title: self.text(page.slug or "", request=request) for page in self.pages(request=request)}

    def everything(self, *, request: int = MAIN) -> str:
        """Return what all pages say, one after the other."""
        return "\n".join(self.text(slug, request=request) for slug in self.slugs(request=request))

    def titles(self, *, request: int = MAIN) -> dict[str, str]:
        """Return the title of each page, by its slug."""
        return {page.slug or "": page.title for page in self.pages(request=request)}

    def slugs(self, *, request: int = MAIN) -> list[str]:
        """Return the slugs of all pages, in their order."""
        return [page.slug or "" for page in self.pages(request=request)]

    def requests(self, *statuses: str) -> list[ChangeRequest]:
        """Return the change requests that came from Git, of some statuses, or of all that are open; oldest first."""
        listed = [
            each for one in statuses or ("open", "draft") for each in self.client.change_requests.list(self.space, one)
        ]
        return sorted((each for each in listed if each.subject != THEIRS), key=lambda each: each.number)

    def proposed(self) -> int:
        """Return the number of the newest open change request that came from Git."""
        return self.requests()[-1].number

    def merge(self, request: int | None = None) -> int:
        """Merge a change request, by default the newest that came from Git, and return its number."""
        number = request or self.proposed()
        result = self.client.change_requests.merge(self.space, str(number)).result
        assert result == "merge", f"merging #{number} came to {result}"
        return number

    def archive(self, request: int) -> None:
        self.client.change_requests.update(self.space, str(request), ChangeRequestUpdate(status="archived"))

    def update(self, request: int, *, expected: str = "update") -> None:
        """Pull main content into a change request; what comes of it has to be as expected."""
        result = self.client.change_requests.refresh(self.space, str(request)).result
        assert result == expected, f"updating #{request} came to {result}"

    def pages(self, *, request: int = MAIN) -> list[Page]:
        """Return all pages, in their order."""
        if request == MAIN:
            tree = self.client.content.list_pages(self.space)
        else:
            tree = self.client.change_request_content.list_pages(self.space, str(request))
        return [page for page, _ in walk_pages(tree) if page.type == "document"]

    def _page(self, slug: str, request: int) -> Page:
        found = [page for page in self.pages(request=request) if page.slug == slug]
        assert len(found) == 1, f"{slug} is there {len(found)} times: {self.slugs(request=request)}"
        return found[0]

    def _write(self, request: int, *operations: Operation) -> None:
        requests = self.client.change_requests
        number = str(request or requests.create(self.space, ChangeRequestCreate(subject=THEIRS)).number)
        requests.write_content(self.space, number, ContentWrite(changes=operations))
        if request == MAIN:
            self.merge(int(number))


class Writer:
    """Somebody who writes in a clone, with Git and syncd."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.clock = ""
        """The date of what Git commits here; "" is the right one."""
        self._pid = Future[int]()

    def syncd(self, *words: object, **environ: str) -> "CompletedProcess[str]":
        self._pid = Future[int]()
        given = {**os.environ, **environ}
        return run_forked([*map(str, words)], cwd=self.path, environ=given, started=self._pid.set_result)

    def run(self, *words: object, code: int = 0) -> str:
        """Run syncd, which has to end with the code, and return what it says."""
        done = self.syncd(*words)
        assert done.returncode == code, f"syncd {' '.join(map(str, words))} ended with {done.returncode}:\n" + (
            done.stdout + done.stderr
        )
        return done.stdout + done.stderr

    def settle(self) -> None:
        """Run sync until it has nothing more to do, which takes three runs at most."""
        for _ in range(4):
            results = json.loads(self.run("sync", "--json"))["results"]
            if all(result["state"] == "unchanged" for result in results):
                return
        raise AssertionError(f"a fourth sync still has something to do: {results}")

    def kill(self) -> None:
        """End the syncd that runs, as `kill -9` does."""
        os.kill(self._pid.result(PATIENT_S), signal.SIGKILL)

    def killed(self, interposer: Interposer, *words: object, at: str, later: int = 0) -> None:
        """Run a syncd that is killed when its first POST to a path is answered, or so many requests later.

        Where it makes fewer requests, it comes to its end.
        """

        def wait() -> None:
            interposer.at("", "", self.kill, nth=later, when="after", breaks=True)

        if later:
            interposer.at("POST", at, wait, when="after")
        else:
            interposer.at("POST", at, self.kill, when="after", breaks=True)
        done = self.syncd(*words)
        if done.returncode != -signal.SIGKILL:
            assert done.returncode == 0, done.stdout + done.stderr
            interposer.withdraw()

    def git(self, *words: str, code: int = 0) -> str:
        dates = {f"GIT_{role}_DATE": self.clock for role in ("AUTHOR", "COMMITTER") if self.clock}
        given = {**os.environ, **dates}
        done = subprocess.run(["git", *words], cwd=self.path, env=given, capture_output=True, text=True, check=False)
        assert done.returncode == code, f"git {' '.join(words)} ended with {done.returncode}:\n" + (
            done.stdout + done.stderr
        )
        return done.stdout

    def read(self, name: str) -> str:
        return (self.path / name).read_text()

    def has(self, name: str) -> bool:
        return (self.path / name).exists()

    def write(self, name: str, text: str | bytes) -> None:
        """Write a file, and commit nothing."""
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())

    def replace(self, name: str, old: str, new: str) -> None:
        """Replace words of a file, and commit nothing."""
        text = self.read(name)
        assert old in text, (old, text)
        self.write(name, text.replace(old, new))

    def commit(self, message: str = "Mine") -> str:
        """Commit everything and return the commit."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)
        return self.tip()

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace words of a file and commit that."""
        self.replace(name, old, new)
        self.commit()

    def add(self, name: str, title: str) -> None:
        """Commit a new page, at the end of the table of contents."""
        self.write(name, text_of(title))
        self.write("SUMMARY.md", self.read("SUMMARY.md").rstrip("\n") + f"\n* [{title}]({name})\n")
        self.commit()

    def rename(self, name: str, to: str, *, within: str = ".") -> None:
        """Commit a page of a space's directory under another name, with its entry in the table of contents."""
        (self.path / within / to).parent.mkdir(parents=True, exist_ok=True)
        self.git("mv", f"{within}/{name}", f"{within}/{to}")
        self.edit(f"{within}/SUMMARY.md", f"({name})", f"({to})")

    def retitle(self, old: str, new: str) -> None:
        """Commit another title of a page, in the table of contents."""
        self.edit("SUMMARY.md", f"[{old}]", f"[{new}]")

    def delete(self, name: str) -> None:
        """Commit that a page is gone, with its entry."""
        self.git("rm", "--quiet", name)
        listed = [line for line in self.read("SUMMARY.md").splitlines() if f"({name})" not in line]
        self.write("SUMMARY.md", "\n".join(listed) + "\n")
        self.commit()

    def configure_like(self, other: "Writer") -> None:
        """Take the configuration of another clone, and trust it."""
        (self.path / ".git" / "syncd.toml").write_bytes((other.path / ".git" / "syncd.toml").read_bytes())
        self.run("trust", "--yes")

    def forget(self) -> None:
        """Delete what Git has of change requests, and what syncd remembers."""
        records = ("refs/syncd", "refs/remotes/platform/changes")
        for ref in self.git("for-each-ref", "--format=%(refname)", *records).split():
            self.git("update-ref", "-d", ref)
        (self.path / ".git" / "syncd" / "state.db").unlink()

    def tip(self, ref: str = "HEAD") -> str:
        return self.git("rev-parse", ref).strip()

    def everything(self) -> str:
        """Return what all pages in the work tree say, one after the other."""
        return "\n".join(self.read(name) for name in self.files())

    def files(self) -> list[str]:
        """Return the files of the checked-out commit."""
        return self.git("ls-files").splitlines()


class Team:
    """A platform, the people in front of it, and the writers."""

    def __init__(self, root: Path) -> None:
        self.root, self.token = root, root / "platform" / "token"
        self.servers = ExitStack()
        self.url = self._serve(root / "platform")

    def _serve(self, data: Path) -> str:
        self._storage = self.servers.enter_context(Storage(data))
        self._storage.bootstrap()
        url = self.servers.enter_context(BackgroundServer(self._storage))
        self.client = self.servers.enter_context(Client(url, (data / "token").read_text().strip()))
        return url

    def back_up(self) -> Path:
        """Return a copy of all that the platform has."""
        data, backup = self.root / "platform", self.root / "backup"
        shutil.copytree(data, backup, ignore=shutil.ignore_patterns("platform.db*"))
        with (
            closing(sqlite3.connect(data / "platform.db")) as old,
            closing(sqlite3.connect(backup / "platform.db")) as new,
        ):
            old.backup(new)
        return backup

    def restore(self, backup: Path, web: Web, interposer: Interposer) -> Web:
        """Put a backup in the place of the platform, and return the people in front of a space as it was then."""
        interposer.upstream = self._serve(backup)
        return Web(self.client, web.space)

    def space(self, name: str = "docs", files: Mapping[str, str | bytes] = FOUR) -> Web:
        """Return the people in front of a new space that has these files."""
        source = self.root / f"source-{name}"
        Writer(source).path.mkdir()
        for path, text in files.items():
            Writer(source).write(path, text)
        return Web(self.client, import_directory(self._storage, source, title=name).space)

    def replace_content(self, web: Web, files: Mapping[str, str | bytes]) -> None:
        """Make these files the next revision of a space, as an import does: what is not among them is gone."""
        source = Path(tempfile.mkdtemp(dir=self.root))
        for path, text in files.items():
            Writer(source).write(path, text)
        import_directory(self._storage, source, space=web.space)

    def repository(self, name: str) -> Writer:
        """Return a writer with a new repository of Git alone."""
        writer = Writer(self.root / name)
        writer.path.mkdir()
        writer.git("init", "--quiet", "--initial-branch=main")
        return writer

    def clone(self, *spaces: str, name: str = "docs") -> Writer:
        """Return a writer with a new clone of spaces, each an id or ID=DIRECTORY."""
        words = ("clone", self.url, *spaces, str(self.root / name), "--token-file", str(self.token))
        Writer(self.root).run(*words)
        return Writer(self.root / name)


@contextmanager
def serve_team(root: Path) -> Iterator[Team]:
    """Given a directory, serve a platform from it."""
    team = Team(root)
    with team.servers:
        yield team


@contextmanager
def interpose(team: Team) -> Iterator[Interposer]:
    """Put an interposer between the platform and the clones that are made from now on."""
    interposer = Interposer(team.url)
    team.url = interposer.url
    try:
        yield interposer
    finally:
        interposer.close()


def merge_all(docs: Writer, *webs: Web) -> None:
    """Given a clone and the people in front of its spaces, sync and merge until nothing is open."""
    docs.settle()
    for _ in range(4):
        for web in webs:
            for request in web.requests():
                web.merge(request.number)
        docs.settle()
    assert docs.git("diff", "HEAD", "platform/main") == ""


def conflicts(said: str) -> list[str]:
    """Return the pages that a message calls in conflict, in the order of their names."""
    return sorted(set(re.findall(r"^! conflict (\S+)", said, re.MULTILINE)))
