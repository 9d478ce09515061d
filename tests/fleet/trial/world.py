"""What a trial is played on: a platform with many spaces, and a bare Git repository for a few of them each."""

import os
import re
import subprocess
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from syncd.platform.people.tokens import TokenHolder, issue_token
from syncd.platform.services.directory.read import import_directory
from syncd.platform.storage.storage import Storage

WORD = re.compile(r"kx\d{6}[gw]")
"""A word that somebody wrote once: `g` in Git, `w` on the platform."""
PAGE = "notes.md"
_GIT_LIST = "## From Git\n\n* begin\n"
TEXT = (
    f"# Notes\n\n{_GIT_LIST}\nBetween the lists stand lines that nobody touches.\n\nThey keep changes apart.\n\n"
    "## From the platform\n\n* begin\n"
)
_PERSON = {
    **{f"GIT_{who}_NAME": "Ada" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "ada@example.com" for who in ("AUTHOR", "COMMITTER")},
}


def run_git(path: Path, *words: str, stdin: str | None = None, environ: Mapping[str, str] | None = None) -> str:
    """Run Git as a person does, and return what it printed. Raises: AssertionError when it fails."""
    own = {**os.environ, **_PERSON, **(environ or {})}
    done = subprocess.run(["git", *words], cwd=path, capture_output=True, text=True, check=False, env=own, input=stdin)
    assert done.returncode == 0, f"git {words}: {done.stderr}"
    return done.stdout.strip("\n")


@dataclass(frozen=True)
class TrialSpace:
    """A space, and its directory in the repository."""

    id: str
    directory: str


@dataclass(frozen=True)
class TrialRepository:
    """A repository of the fleet; `lock` keeps the people who push to it apart."""

    name: str
    remote: Path
    spaces: tuple[TrialSpace, ...]
    lock: threading.Lock = field(default_factory=threading.Lock)

    def push_word(self, space: TrialSpace, word: str) -> None:
        """Let a person add a line to the page of a space, and push that. Raises: AssertionError."""
        self.push_text(space, lambda text: text.replace(_GIT_LIST, f"{_GIT_LIST}* {word}\n", 1), f"Add {word}")

    def push_text(self, space: TrialSpace, edit: Callable[[str], str], message: str) -> None:
        """Let a person change the page of a space, and push that. Raises: AssertionError when nothing would change."""
        path = f"{space.directory}/{PAGE}"
        index = {"GIT_INDEX_FILE": str(self.remote / "index-of-a-person")}
        with self.lock:
            for _ in range(20):
                tip = run_git(self.remote, "rev-parse", "refs/heads/main")
                text = run_git(self.remote, "cat-file", "blob", f"{tip}:{path}") + "\n"
                edited = edit(text)
                assert edited != text, text
                blob = run_git(self.remote, "hash-object", "-w", "--stdin", stdin=edited)
                run_git(self.remote, "read-tree", tip, environ=index)
                run_git(self.remote, "update-index", "--cacheinfo", f"100644,{blob},{path}", environ=index)
                tree = run_git(self.remote, "write-tree", environ=index)
                commit = run_git(self.remote, "commit-tree", tree, "-p", tip, "-m", message)
                try:
                    run_git(self.remote, "update-ref", "refs/heads/main", commit, tip)
                except AssertionError:
                    continue  # a worker pushed meanwhile
                return
        raise AssertionError(f"{self.name}: no push in 20 tries")

    def has_page(self, space: TrialSpace) -> bool:
        """Whether the first run has brought the page of a space."""
        done = subprocess.run(
            ["git", "cat-file", "-e", f"refs/heads/main:{space.directory}/{PAGE}"],
            cwd=self.remote,
            capture_output=True,
            check=False,
        )
        return done.returncode == 0


@dataclass(frozen=True)
class TrialWorld:
    """Everything that a trial begins with; `tokens` has one for each worker, by its name, `owner` is that of people."""

    root: Path
    owner: str
    tokens: Mapping[str, str]
    repositories: tuple[TrialRepository, ...]

    @property
    def hosted(self) -> Path:
        """The directory of the bare repositories, which is moved away while the remote cannot be reached."""
        return self.root / "hosted"

    @property
    def platform(self) -> Path:
        """The directory of the platform."""
        return self.root / "platform"

    def write_config(self, url: str, *, interval: float) -> Path:
        """Write the configuration of the fleet and return its file."""
        lines = [f'[platform]\nurl = "{url}"']
        for number, one in enumerate(self.repositories):
            lines.append(f'[[repository]]\nname = "{one.name}"\ninstance = "{number:06x}"\ninterval = {interval}')
            lines.append(f'[repository.upstream]\nurl = "{one.remote}"')
            lines += [
                f'[[repository.space]]\nid = "{space.id}"\nname = "{space.directory}"\ndirectory = "{space.directory}"'
                for space in one.spaces
            ]
        file = self.root / "fleet.toml"
        file.write_text("\n\n".join(lines) + "\n")
        return file


def make_world(root: Path, *, repositories: int, spaces: int, workers: list[str], pages: int = 3) -> TrialWorld:
    """Make a platform with so many spaces for each of so many repositories, in a new directory."""
    source = root / "source"
    source.mkdir(parents=True)
    names = [f"page-{number}.md" for number in range(1, pages)]
    titles = "".join(f"* [Page {name[5:-3]}]({name})\n" for name in names)
    (source / "README.md").write_text("# Home\n\nWelcome.\n")
    (source / PAGE).write_text(TEXT)
    (source / "SUMMARY.md").write_text(f"# Table of contents\n\n* [Home](README.md)\n* [Notes]({PAGE})\n{titles}")
    for name in names:
        (source / name).write_text(f"# Page {name[5:-3]}\n\n" + "Some words of a page.\n\n" * 20)
    found = []
    (root / "hosted").mkdir()
    with Storage(root / "platform") as storage:
        storage.bootstrap()
        tokens = {name: issue_token(storage, TokenHolder(), label=name).secret for name in workers}
        for number in range(repositories):
            name = f"r{number:04}"
            own = [
                TrialSpace(import_directory(storage, source, title=f"{name} s{at}", space=None).space, f"s{at}")
                for at in range(spaces)
            ]
            found.append(TrialRepository(name, _make_remote(root / "hosted" / f"{name}.git"), tuple(own)))
        owner = storage.token_file.read_text().strip()
    return TrialWorld(root, owner, tokens, tuple(found))


def _make_remote(path: Path) -> Path:
    """A bare repository with one commit, which logs every move of every ref."""
    run_git(path.parent, "init", "--quiet", "--bare", "--initial-branch=main", path.name)
    run_git(path, "config", "core.logAllRefUpdates", "always")
    blob = run_git(path, "hash-object", "-w", "--stdin", stdin="# A repository\n")
    tree = run_git(path, "mktree", stdin=f"100644 blob {blob}\tabout.md\n")
    run_git(path, "update-ref", "refs/heads/main", run_git(path, "commit-tree", tree, "-m", "Begin"))
    return path
