"""The world of a schedule: a platform with one or two spaces and clones of them, copied from a template in no time."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from posixpath import join

from tests.faults.twoway.hosting import Hosting, import_space
from tests.faults.twoway.pages import NOTE, new_text
from tests.faults.twoway.program import Ran, prepare, run_here
from tests.faults.twoway.schedule import Shape

LETTERS = "abcdefghijklmnop"
PAGES = 4
"""Pages of a space beside its home page; half as many where there are two spaces."""
SPOTTED = "This line is wrapped\nand names *one* <person> with ~ signs.\n\n- first\n- second\n\n| a | b |\n|---|---|\n"
"""What a server rewrites that keeps pages in a form of its own; a page ends with it there."""
ENVIRON = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_EDITOR": "true",
    "EDITOR": f"{sys.executable} -I -S {Path(__file__).with_name('keep_both.py')}",
    "PYDANTIC_DISABLE_PLUGINS": "__all__",
    **{f"GIT_{role}_{part}": f"writer@{part}" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")},
}


@dataclass(frozen=True)
class Space:
    """A space, and its directory in the clones ("" for the root)."""

    id: str
    directory: str

    def find_folder(self, settings: str) -> str:
        """Given the text of `.gitbook.yaml`, return where the pages lie: in the directory, or in the root below it."""
        root = read_root(settings)
        return join(self.directory, root) if root else self.directory


@dataclass
class World:
    """Where everything is. Shape: `clones` are names of directories below `root`."""

    root: Path
    hosting: Hosting
    shape: Shape
    spaces: tuple[Space, ...]
    clones: tuple[str, ...]

    @property
    def token(self) -> str:
        """What everybody on the platform signs in with."""
        return (self.root / "platform" / "token").read_text().strip()


@dataclass
class Workshop:
    """Makes worlds: each in the same directory, as a copy of the template of its shape."""

    hosting: Hosting
    root: Path
    _templates: dict[Shape, tuple[Space, ...]] = field(default_factory=dict)

    @contextmanager
    def world(self, shape: Shape) -> Iterator[World]:
        """Given a shape, serve a fresh world of it."""
        if shape not in self._templates:
            self._templates[shape] = self._make(shape)
        here = self.root / "world"
        shutil.rmtree(here, ignore_errors=True)
        shutil.copytree(self._template(shape), here, symlinks=True)
        with self.hosting.serve(here / "platform", shape.server):
            os.environ["SYNCD_TOKEN"] = (here / "platform" / "token").read_text().strip()
            yield World(here, self.hosting, shape, self._templates[shape], tuple(LETTERS[: shape.clones]))

    def _template(self, shape: Shape) -> Path:
        return self.root / f"template-{list(self._templates).index(shape)}"

    def _make(self, shape: Shape) -> tuple[Space, ...]:
        here = self.root / "world"
        shutil.rmtree(here, ignore_errors=True)
        (here / "home").mkdir(parents=True)  # what a person has trusted is kept there, and belongs to the world
        with self.hosting.platform(here / "platform", shape.server) as storage:
            folders = [""] if shape.spaces == 1 else [f"s{number}" for number in range(1, shape.spaces + 1)]
            spaces = []
            for number, folder in enumerate(folders):
                pages = PAGES // shape.spaces
                plant_space(here / "source", LETTERS[number], pages, shape.server, has_groups=shape.groups)
                if shape.notes:
                    file = here / "source" / NOTE
                    file.parent.mkdir(parents=True)
                    file.write_text("---\ntitle: note\n---\n\nDraft d0.\n")
                id = import_space(storage, here / "source", folder or "docs")
                spaces.append(Space(id, folder))
            for name in LETTERS[: shape.clones]:
                if shape.upstream == "one" and name != LETTERS[0]:
                    git(here, "clone", "--quiet", "origin.git", name)
                else:
                    self._clone(here, name, spaces, shape)
        here.rename(self.root / f"template-{len(self._templates)}")
        return tuple(spaces)

    def _clone(self, here: Path, name: str, spaces: list[Space], shape: Shape) -> None:
        targets = [f"{space.id}={space.directory}" if space.directory else space.id for space in spaces]
        token = str(here / "platform" / "token")
        if (here / "origin.git").exists():
            git(here, "clone", "--quiet", "origin.git", name)
            _fine(run_here(["init", self.hosting.url, *targets, "--token-file", token], here / name))
        else:
            _fine(run_here(["clone", self.hosting.url, *targets, str(here / name), "--token-file", token], here))
        file = here / name / ".git" / "syncd.toml"
        text = re.sub(r'instance = "\w+"', f'instance = "{LETTERS.index(name) + 1:06x}"', file.read_text())
        if shape.topics:
            text = text.replace('branches = ["main"]', 'branches = ["main", "t*"]')
        policies = {"status": shape.status, "update": shape.update, "merge": shape.merge}
        lines = [f'{key} = "{value}"' for key, value in policies.items()]
        file.write_text("\n".join([text.rstrip("\n"), "", "[repository.change_requests]", *lines, ""]))
        _fine(run_here(["trust", "--yes"], here / name))
        _fine(run_here(["sync"], here / name))
        if shape.root and not (here / name / spaces[0].directory / shape.root).exists():
            for space in spaces:
                move_below_root(here / name / space.directory, "", shape.root)
            git(here / name, "add", "--all")
            git(here / name, "commit", "--quiet", "--message", "Move the pages below a root")
            _fine(run_here(["sync"], here / name))
        if shape.upstream:
            _share(here, name, file)


def move_below_root(top: Path, former: str, root: str) -> None:
    """Move the pages of a space into a directory below its own that `.gitbook.yaml` names as the root, "" for none; the
    platform knows of no root."""
    there = [path for path in (top / former).iterdir() if path.name not in (".git", ".gitbook.yaml", root or former)]
    (top / root).mkdir(exist_ok=True)
    for path in there:
        path.rename(top / root / path.name)
    (top / ".gitbook.yaml").write_text(f"root: ./{root}\n")
    if former:
        (top / former).rmdir()


def read_root(settings: str) -> str:
    """Given the text of `.gitbook.yaml`, return the root that it names, or ""."""
    found = re.search(r"^root: \./(\S*)$", settings, re.MULTILINE)
    return found[1] if found else ""


def _share(here: Path, name: str, file: Path) -> None:
    """Let a clone exchange its branch with the Git remote of the world, which the first clone makes."""
    remote = here / "origin.git"
    if not remote.exists():
        git(here, "clone", "--quiet", "--bare", name, str(remote))
        git(here / name, "remote", "add", "origin", str(remote))
    mirror = "" if name == LETTERS[0] else 'mirror = ""\n'  # one clone alone pushes what the platform has
    file.write_text(f'{file.read_text()}\n[repository.upstream]\nremote = "origin"\n{mirror}')
    _fine(run_here(["trust", "--yes"], here / name))
    _fine(run_here(["sync"], here / name))


def _fine(ran: Ran) -> None:
    if ran.code:
        raise AssertionError(f"{ran.words} ended with {ran.code}: {ran.text}")


def plant_space(directory: Path, letter: str, pages: int, server: str, *, has_groups: bool = False) -> None:
    """Write the pages of a new space: a home page, and some below each other; with `has_groups`, the last two each in
    a group."""
    spotted = server in ("formatted", "lossy")
    directory.mkdir()
    lines = ["# Table of contents", "", f"* [Home t0{letter}](README.md)"]
    for at in range(pages + 1):
        mark = f"0{letter}{LETTERS[at - 1] if at else ''}"
        words = [f"w0{letter}{chr(97 + 3 * at + index)}" for index in range(3)]
        text = new_text(f"Home t{mark}" if not at else f"Title t{mark}", f"m{mark}", words)
        path = f"p{at}.md" if at else "README.md"
        if at == 2:
            path = "p1/p2.md"
        (directory / path).parent.mkdir(exist_ok=True)
        (directory / path).write_text(text + ("\n" + SPOTTED if spotted else ""))
        if has_groups and at > pages - 2:
            group = f"0{letter}{'xy'[pages - at]}"
            lines += ["", f"## Group m{group} t{group}", ""]
        if at:
            lines.append(f"{'  ' if at == 2 else ''}* [Title t{mark}]({path})")
    (directory / "SUMMARY.md").write_text("\n".join(lines) + "\n")


def git(cwd: Path, *words: str, check: bool = True, stdin: str | None = None) -> "subprocess.CompletedProcess[str]":
    """Run Git as a person does. Raises: AssertionError when it fails and `check` is set."""
    done = subprocess.run(
        ["git", *words], cwd=cwd, capture_output=True, text=True, check=False, input=stdin, errors="replace"
    )
    if check and done.returncode:
        raise AssertionError(f"git {' '.join(words)} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done


@contextmanager
def workshop(*, apart: bool = False) -> Iterator[Workshop]:
    """Give a place where worlds are made, in memory where there is some, with a person's environment.

    Shape: with `apart`, each platform is a process of its own.
    """
    memory = Path("/dev/shm")
    former, cwd = dict(os.environ), os.getcwd()
    root = Path(tempfile.mkdtemp(prefix="syncd-oracle-", dir=memory if memory.is_dir() else None))
    hosting = Hosting(apart=apart)
    os.environ.clear()
    os.environ.update(ENVIRON, HOME=str(root / "world" / "home"))
    prepare()
    try:
        yield Workshop(hosting, root)
    finally:
        hosting.close()
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(former)
        shutil.rmtree(root, ignore_errors=True)
