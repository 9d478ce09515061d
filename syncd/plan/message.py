"""Words that syncd writes into Git and onto the platform: commit messages, subjects, trailers."""

import hashlib
import json
import re
from collections.abc import Sequence

from syncd.model.text import join_lines

LAYOUT_VERSION = "1"
"""Version of the layout rules; a mirror made by older rules is made anew."""
SPACE, REVISION, CHANGE_REQUEST, LAYOUT = "Syncd-Space", "Syncd-Revision", "Syncd-Change-Request", "Syncd-Layout"
DIRECTORY, FORMER_DIRECTORY = "Syncd-Directory", "Syncd-Former-Directory"
"""Name the directory that a space is in, and the one that a commit moves it from, as JSON; "" is the root."""
TIP = "Syncd-Tip"
"""Names the commit of a person that one was made for."""
MOVED = "Syncd-Moved"
"""Names where a page that moved was and is, as JSON."""
RESOLVED = "Syncd-Resolved"
"""Says how a person settled pages in conflict in a merge: `ours`, `theirs` or `edited`, each once."""
PROPOSED = "Change request #"
"""How the subject of a commit begins that holds the content of a change request, and of no other mirror commit."""
MARKED = 32
"""Characters of a branch's name that its marker shows."""
_MARKER = re.compile(r"\s*\[(?P<branch>[^\[\]]{1,40})#(?P<instance>[0-9a-f]{6})\]$")


def render_mirror_message(
    subject: str,
    *,
    space: str,
    revision: str,
    change_requests: Sequence[int] = (),
    directory: str | None = None,
    former_directory: str | None = None,
) -> str:
    """Return the message of a mirror commit, with the trailers from which syncd knows later what was mirrored.

    Shape: a commit of main content names its `directory`, and one that moves a space the former one, too.
    Raises: ValueError when an id is not one line, which would be a trailer of its own.
    Source: syncd/manual/explanation/git.md, "A mirror commit".
    """
    trailers = [(SPACE, space), (REVISION, revision)]
    trailers += [(CHANGE_REQUEST, str(number)) for number in change_requests]
    trailers.append((LAYOUT, LAYOUT_VERSION))
    directories = ((DIRECTORY, directory), (FORMER_DIRECTORY, former_directory))
    trailers += [(key, json.dumps(value)) for key, value in directories if value is not None]
    for key, value in trailers:
        if not value or value != join_lines(value):
            raise ValueError(f"{value!r} cannot be a {key}")
    return f"{join_lines(subject)}\n\n" + "".join(f"{key}: {value}\n" for key, value in trailers)


def render_proposed_subject(number: int, subject: str) -> str:
    """Return the subject of a commit that holds the content of an open change request."""
    return f"{PROPOSED}{number}: {remove_marker(subject)}"


def render_merged_subject(subject: str) -> str:
    """Return the subject of the commit of a merged change request, never one of `render_proposed_subject`."""
    text = remove_marker(subject)
    return f"Merged: {text}" if text.startswith(PROPOSED) else text


def build_marker(branch: str, instance: str) -> str:
    """Return the marker that stands in the subject of a branch's change request, by which it is found again.

    Shape: a long name is told from others with the same end by a digest, behind a sign that no branch has in its name.
    `instance` is the repository's instance id.
    """
    if len(branch) <= MARKED and _clean_branch(branch) == branch:
        return build_former_marker(branch, instance)
    digest = hashlib.sha256(branch.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return f"[{_clean_branch(branch)[-(MARKED - 7) :]}~{digest}#{instance}]"


def build_former_marker(branch: str, instance: str) -> str:
    """Return the marker of version 0.1, which branches with the same end share."""
    return f"[{branch[-MARKED:]}#{instance}]"


def _clean_branch(branch: str) -> str:
    return join_lines(branch).translate({ord(sign): "_" for sign in "[]~"})


def add_marker(subject: str, mark: str) -> str:
    """Return a subject with a marker within the API's limit; the subject is cut, the marker never."""
    from syncd.model.change_request import SUBJECT_MAX  # here, since `status` takes other words from this module

    room = SUBJECT_MAX - len(mark) - 1
    text = join_lines(subject) or "Update content"
    return f"{text if len(text) <= room else text[: room - 1] + '…'} {mark}"


def remove_marker(subject: str) -> str:
    """Return the subject of a change request without syncd's marker."""
    return _MARKER.sub("", join_lines(subject))


def read_marked_branch(subject: str, instance: str) -> str:
    """Return the branch in the marker of a change request's subject, perhaps cut; "" without one of this instance."""
    found = _MARKER.search(join_lines(subject))
    return found["branch"] if found is not None and found["instance"] == instance else ""


def is_marked_elsewhere(subject: str, branch: str, instance: str) -> bool:
    """Return whether a change request's subject has the marker of another branch, or of another clone."""
    subject = join_lines(subject)
    own = build_marker(branch, instance), build_former_marker(branch, instance)
    return _MARKER.search(subject) is not None and not subject.endswith(own)


def choose_subject(subjects: Sequence[str]) -> str:
    """Return the subject of a change request for the commits of a branch; `subjects` has theirs, newest first."""
    if not subjects:
        return "Update content"
    return subjects[0] if len(subjects) == 1 else f"{subjects[0]} (and {len(subjects) - 1} more)"
