"""`resolve`: the pages that wait for a person, and what the person decides: one side, or a text of their own."""

import hashlib
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from syncd.cli.context import configuration
from syncd.cli.output import change_lines, emit, result_document
from syncd.cli.terminal import paint, print_text, safe
from syncd.config import Config, RepositoryConfig
from syncd.daemon.workplace import Circumstances, reading, workplace
from syncd.errors import Conflict, StalePlan
from syncd.plan.meeting import Side
from syncd.repo import Repository
from syncd.sync.flows import Result
from syncd.sync.merge.result import Choice
from syncd.sync.outcome import Applied
from syncd.sync.resolve import OpenPage, conflict_text, has_markers, open_pages, resolve

NOTHING = "No page is in conflict."
EDITS = Path("syncd") / "resolve"
"""Below a repository's git directory: texts that a person has begun to edit; one that is refused stays here."""


CONTEXT = 2
"""Lines that are shown around a conflict."""
_MARKERS = (
    ("<<<<<<< ", "", "ours"),
    ("||||||| ", "ours", "base"),
    ("=======", "base", "theirs"),
    ("=======", "ours", "theirs"),
    (">>>>>>> ", "theirs", "end"),
)
"""How a line begins that leads from one side to the next: its beginning, the side before and the side after."""
_COLOURS = {"ours": 32, "base": 90, "theirs": 36, "end": 36}


@dataclass(frozen=True)
class Asked:
    """What a person typed: which pages of which branch, and how to settle them ("" shows them)."""

    paths: tuple[str, ...]
    branch: str
    way: str


def run_resolve(config_file: Path | None, asked: Asked, *, as_json: bool) -> int:
    """Show the pages in conflict of every configured repository, or settle some, and return the exit code."""
    config = configuration(config_file)
    if asked.way and not asked.paths:
        raise typer.BadParameter("name the pages to settle, or . for all of them")
    found = [(where, branch, _open(config, where, branch)) for where, branch in _places(config, asked.branch)]
    known = {path for repository, _, pages in found for page in pages for path in _names(repository, page)}
    for path in asked.paths:
        if not any(_is_meant(name, path) for name in known):
            raise typer.BadParameter(f"{path} is not in conflict; syncd resolve shows what is")
    if not asked.way:
        return _show(config, found, asked.paths, as_json=as_json)
    documents = []
    for repository, branch, pages in found:
        meant = [page for page in pages if any(_is_meant(n, p) for n in _names(repository, page) for p in asked.paths)]
        if meant:
            documents.append(_settle(config, repository, branch, meant, asked.way, as_json=as_json))
    if as_json:
        emit({"command": "resolve", "repositories": documents})
    return 0


def _settle(
    config: Config, repository: RepositoryConfig, branch: str, pages: Sequence[OpenPage], way: str, *, as_json: bool
) -> dict[str, Any]:
    texts: dict[str, Path] = {}
    choices: dict[str, Choice] = {}
    for page in pages:
        if way == "edit":
            texts.setdefault(page.path, _edited(config, repository, branch, page))
            choices[page.path] = texts[page.path].read_bytes()
        else:
            side: Side = "theirs" if way == "theirs" else "ours"
            choices[page.path] = side
    with workplace(config, repository, Circumstances(os.environ)) as workspace:
        now = {(page.lane, page.held) for page in open_pages(workspace, branch)}
        moved = [page.path for page in pages if (page.lane, page.held) not in now]
        if moved:
            raise StalePlan(f"{', '.join(moved)} changed while you decided; nothing was recorded", hint="run it again")
        done, still = resolve(workspace, branch, choices)
    for text in texts.values():
        text.unlink(missing_ok=True)
    if not as_json:
        print_text("\n".join(_told(branch, list(choices), done, still)))
    document = result_document(Result("resolve", branch, done))
    return {"path": str(repository.path), **document, "settled": list(choices), "held": _documents(still)}


def _told(branch: str, paths: Sequence[str], done: Applied, still: Sequence[OpenPage]) -> list[str]:
    lines = [f"{safe(path)} is settled in {safe(branch)}" for path in paths]
    lines += change_lines(done.changes)
    lines += [f"  note: {safe(note)}" for note in done.notes]
    lines += [f"{len(still)} more in conflict: syncd resolve"] if still else ["Next: syncd push"]
    return lines


def _show(
    config: Config,
    found: Sequence[tuple[RepositoryConfig, str, list[OpenPage]]],
    paths: Sequence[str],
    *,
    as_json: bool,
) -> int:
    """List what waits, or, for pages that are named, print both texts as one."""
    count = sum(len(pages) for _, _, pages in found)
    if as_json:
        documents = [
            {"path": str(repository.path), "branch": branch, "held": _documents(pages)}
            for repository, branch, pages in found
        ]
        emit({"command": "resolve", "repositories": documents})
    elif paths:
        for repository, branch, pages in found:
            meant = [page for page in pages if any(_is_meant(n, p) for n in _names(repository, page) for p in paths)]
            with reading(config, repository, Circumstances(os.environ)) as workspace:
                for page in meant:
                    text = conflict_text(workspace, branch, page).decode("utf-8", "replace") if page.has_lines else ""
                    print_text("\n".join([*_lines(branch, page), *_hunk_lines(text)]))
    else:
        lines = [line for _, branch, pages in found for page in pages for line in _lines(branch, page)]
        print_text(
            "\n".join([*lines, "Next: syncd resolve PATH, with --ours, --theirs or --edit"] if lines else [NOTHING])
        )
    return Conflict.exit_code if count else 0


def _lines(branch: str, page: OpenPage) -> Iterator[str]:
    yield f"! {safe(page.path)}: {safe(page.held.why)}"
    sides: tuple[tuple[Side, str], ...] = (("ours", branch), ("theirs", page.lane.name))
    for side, name in sides:
        where = ", ".join(map(safe, page.held.on(side))) or "not there"
        yield f"    --{side:<6} {safe(name)}: {where}"


def _hunk_lines(text: str) -> Iterator[str]:
    """Given a text with markers, return the parts in conflict with their line numbers, and what stands around them."""
    lines = text.splitlines()
    sides = list(_sides_of(lines))
    shown = {near for at, side in enumerate(sides) if side for near in range(at - CONTEXT, at + CONTEXT + 1)}
    last = -1
    for at in sorted(shown & set(range(len(lines)))):
        if at > last + 1:
            yield "  ..."
        last = at
        colour = _COLOURS.get(sides[at], 0)
        words = f"{at + 1:>5}  {safe(lines[at])}"
        yield paint(words, colour, sys.stdout) if colour else words
    if last + 1 < len(lines):
        yield "  ..."


def _sides_of(lines: Sequence[str]) -> Iterator[str]:
    """For each line of a text with markers, the side that it belongs to, or "" outside of a conflict."""
    side = ""
    for line in lines:
        after = "" if side == "end" else side
        marker = next((one for one in _MARKERS if line.startswith(one[0]) and one[1] == after), None)
        side = marker[2] if marker is not None else after
        yield side


def _documents(pages: Sequence[OpenPage]) -> list[dict[str, Any]]:
    return [
        {
            "path": page.path,
            "why": page.held.why,
            "with": page.lane.name,
            "ours": list(page.held.on("ours")),
            "theirs": list(page.held.on("theirs")),
        }
        for page in pages
    ]


def _edited(config: Config, repository: RepositoryConfig, branch: str, page: OpenPage) -> Path:
    """Let the person edit a page with markers, and return the file. Raises: Conflict when markers remain."""
    if not page.has_lines:
        raise typer.BadParameter(f"{page.path} has no lines to choose from: --ours or --theirs")
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise typer.BadParameter("--edit opens $VISUAL or $EDITOR, and neither is set")
    with reading(config, repository, Circumstances(os.environ)) as workspace:
        text = conflict_text(workspace, branch, page)
        folder = workspace.repository.git_dir / EDITS / hashlib.sha256(text).hexdigest()[:12]
    file = folder / page.path.rpartition("/")[2]
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text)
    try:
        code = subprocess.run([*shlex.split(editor), str(file)], check=False).returncode
    except (OSError, ValueError) as error:
        raise typer.BadParameter(f"{editor} cannot be started: {error}") from error
    if code:
        raise Conflict(f"the editor ended with {code}; nothing was recorded", hint=f"your text is in {file}")
    if has_markers(file.read_bytes(), branch, page.lane.name):
        raise Conflict(
            f"{page.path} still has markers; nothing was recorded",
            hint=f"your text is in {file}; syncd resolve {shlex.quote(page.path)} --edit opens it again",
        )
    return file


def _open(config: Config, repository: RepositoryConfig, branch: str) -> list[OpenPage]:
    with reading(config, repository, Circumstances(os.environ)) as workspace:
        return open_pages(workspace, branch)


def _places(config: Config, asked: str) -> list[tuple[RepositoryConfig, str]]:
    """The repositories that are meant, each with the branch: the one that is asked for, else the one checked out."""
    found = []
    for repository in config.repository:
        with Repository.open(repository.path) as git:
            branch = asked or git.head().branch or next(iter(repository.named), "")
            if git.resolve(f"refs/heads/{branch}") is not None:
                found.append((repository, branch))
    if asked and not found:
        raise typer.BadParameter(f"there is no branch {asked}")
    return found


def _names(repository: RepositoryConfig, page: OpenPage) -> set[str]:
    """What a person may call a page: its path from the root of the repository, or from where they are."""
    names = set(page.held.paths)
    top, here = repository.path.resolve(), Path.cwd().resolve()
    return names | {os.path.relpath(top / path, here) for path in names if here.is_relative_to(top)}


def _is_meant(name: str, asked: str) -> bool:
    asked = os.path.normpath(asked)
    return asked in (".", name) or name.startswith(f"{asked}/")
