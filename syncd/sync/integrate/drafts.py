"""Drafts: pages of which some hunks are settled and others wait, below the git directory until the last one is.

A draft is the page's text with markers around what is left, behind a line with its title where both sides gave it
another one. Its name is a digest of both sides and of what they are called, so that it is never taken for an answer to
another question than it was; nothing is committed from it before no marker is left in it.
"""

import hashlib
import shlex
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from syncd.errors import Conflict
from syncd.files import create_file, read_file, replace_file
from syncd.plan.merge.hunks import TextPiece, cut_title, join_hunks, list_hunks, number_hunks, split_hunks
from syncd.plan.merge.pages import SIDES
from syncd.sync.integrate.resolve import PageConflict
from syncd.sync.merge.result import OwnText
from syncd.sync.workspace import Workspace

FOLDER = Path("syncd") / "resolve"
"""Where drafts are, below the git directory: `<branch>/<digest>/<path of the page>`."""
FORMER = "former"
"""In the place of the digest: the last one of a page that a side has changed since."""


def draft_file(workspace: Workspace, conflict: PageConflict) -> Path:
    """Return where the draft of a page in conflict is, if there is one."""
    return _branch_folder(workspace, conflict.branch) / _digest(conflict) / conflict.path


def read_draft(workspace: Workspace, conflict: PageConflict) -> tuple[TextPiece, ...]:
    """Return the text of a page in conflict as far as it is settled; hunks keep their numbers."""
    file, labels = draft_file(workspace, conflict), conflict.labels
    try:
        text = read_file(workspace.repository.git_dir, str(file.relative_to(workspace.repository.git_dir)))
    except FileNotFoundError:
        return conflict.parts
    return number_hunks(split_hunks(text, labels, conflict.texts), list_hunks(conflict.parts))


def write_draft(workspace: Workspace, conflict: PageConflict, parts: Sequence[TextPiece]) -> Path:
    """Save the text of a page in conflict as far as it is settled, and return the file."""
    file, top = draft_file(workspace, conflict), workspace.repository.git_dir
    text, path = join_hunks(parts, conflict.labels), str(file.relative_to(top))
    try:
        create_file(top, path, text)
    except FileExistsError:
        replace_file(top, path, text)
    return file


def read_choice(conflict: PageConflict, parts: Sequence[TextPiece]) -> OwnText:
    """Return what a person chose for a page of which no hunk is open.

    Raises: Conflict when it does not begin with one side's title, where both gave the page another one.
    """
    text = join_hunks(parts, conflict.labels)
    if not conflict.entry.titles:
        return OwnText(text)
    title, body = cut_title(text)
    for side in SIDES:
        if title == conflict.entry.find_title(side):
            return OwnText(body, side)
    ours, theirs = (conflict.entry.find_title(side) for side in SIDES)
    raise Conflict(
        f"{conflict.path} has to begin with its title, “title: {ours}” or “title: {theirs}”, and an empty line; "
        "nothing was recorded",
        hint=f"syncd resolve {shlex.quote(conflict.path)} --edit opens it again; give it a third title afterwards",
    )


def delete_draft(workspace: Workspace, conflict: PageConflict) -> None:
    """Delete the draft of a page that is settled."""
    shutil.rmtree(_branch_folder(workspace, conflict.branch) / _digest(conflict), ignore_errors=True)


def drop_outdated_drafts(workspace: Workspace, branch: str, conflicts: Sequence[PageConflict]) -> dict[str, Path]:
    """Put drafts aside whose conflict is not the present one, and return where, by page, for pages still in conflict.

    A side has changed such a page since, so the draft answers another question; its text is kept, and not used any
    more.
    """
    folder = _branch_folder(workspace, branch)
    current = {_digest(conflict) for conflict in conflicts} | {FORMER}
    dropped: dict[str, Path] = {}
    for old in sorted(folder.iterdir()) if folder.is_dir() else []:
        if old.name in current:
            continue
        for path in {conflict.path for conflict in conflicts if (old / conflict.path).is_file()}:
            kept = folder / FORMER / path
            kept.parent.mkdir(parents=True, exist_ok=True)
            dropped[path] = (old / path).replace(kept)
        shutil.rmtree(old, ignore_errors=True)
    for leftover in (folder, folder.parent):
        with suppress(OSError):
            leftover.rmdir()  # only when nothing is in it
    return dropped


def _branch_folder(workspace: Workspace, branch: str) -> Path:
    return workspace.repository.git_dir / FOLDER / quote(branch, safe="")


def _digest(conflict: PageConflict) -> str:
    text = join_hunks(conflict.parts, conflict.labels)
    sides = "\0".join([conflict.lane, *conflict.texts.keys(), ""]).encode()
    digest = hashlib.sha256(b"\0".join([sides, *conflict.texts.values(), text]))
    return digest.hexdigest()[:16]
