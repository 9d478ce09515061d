"""What may reach a git command line or a tree: object ids, refs and paths, each checked by an allow-list of its own."""

import re
from functools import lru_cache

from syncd.errors import GitFailed, PathRefused
from syncd.model.text import CONTROLS, HALVES, LINE_SEPARATORS, TURNING, has_half_character

_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF_REFUSED = re.compile(rf"[{CONTROLS}{HALVES} ~^:?*\[\\]|\.\.|@\{{|//|/\.|\.lock(?:/|$)|[/.]$")
_CONTROL = re.compile(f"[{CONTROLS}{LINE_SEPARATORS}{TURNING}{HALVES}]")
# What HFS+ passes over in a name, as git lists it: no class of text, and not to be widened.
_UNSEEN_BY_HFS = re.compile(r"[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
_GIT_SHORT_NAME = re.compile(r"git(?:att|ign|mod)?~\d+")
_ESCAPED = re.compile(rb'["\\\x00-\x1f\x7f]')
_STEERING = {".gitattributes", ".gitmodules", ".gitignore", ".mailmap", ".lfsconfig", ".envrc", ".github"}
_LONGEST_SEGMENT, _LONGEST_PATH = 255, 4000


def is_oid(text: str) -> bool:
    """Return whether a text is a full object id."""
    return _OID.fullmatch(text) is not None


def check_oid(text: str) -> str:
    """Return a full object id as it is. Raises: GitFailed for any other text."""
    if not is_oid(text):
        raise GitFailed(f"{text[:80]!r} is no object id")
    return text


def check_ref(text: str) -> str:
    """Return a full ref name, or HEAD, as it is. Raises: PathRefused for a name that git would not take.

    Source: git-check-ref-format(1), and no C1 controls, nor bytes that are not UTF-8.
    """
    if text != "HEAD" and (not text.startswith("refs/") or text == "refs/" or _REF_REFUSED.search(text)):
        hint = "" if text.isprintable() else "To give a branch another name: git branch -m OLD NEW"
        raise PathRefused(f"{text[:80]!r} is no name for a ref", hint=hint)
    return text


def check_branch(text: str) -> str:
    """Return the full ref of a branch. Raises: PathRefused for a name that git would not take."""
    if text.startswith("-"):
        raise PathRefused(f"{text[:80]!r} is no name for a branch")
    return check_ref(f"refs/heads/{text}")


def is_plain(path: str) -> bool:
    """Return whether git can be asked for a path inside a tree: relative, no dot segments, no control characters."""
    return not _CONTROL.search(path) and all(part not in ("", ".", "..") for part in path.split("/"))


def check_path(path: str) -> str:
    """Return a path from a repository's root that may be written, as it is. Raises: PathRefused with the reason.

    This is the second check, behind the layout's, and trusts nothing that the first one let through.
    Source: git, read-cache.c, verify_path() with protectHFS and protectNTFS.
    """
    if reason := _find_reason(path):
        raise PathRefused(f"path {path[:200]!r} {reason}")
    return path


def _find_reason(path: str) -> str:
    """Why a path may not be written, or ""."""
    if has_half_character(path):
        return "is not UTF-8"
    if _CONTROL.search(path):
        return "holds a control character"
    if "\\" in path:
        return "holds a backslash"
    if len(path.encode()) > _LONGEST_PATH:
        return "is too long"
    return next((reason for part in path.split("/") if (reason := _find_part_reason(part))), "")


@lru_cache(maxsize=4096)
def _find_part_reason(part: str) -> str:
    """Directories repeat, so what was found of a name is kept."""
    if part in ("", ".", ".."):
        return "is absolute or has an empty or dot segment"
    if len(part.encode()) > _LONGEST_SEGMENT:
        return "has a segment that is too long"
    # What a file system may take for the same name: HFS+ ignores some characters, NTFS what trails.
    seen = _UNSEEN_BY_HFS.sub("", part).casefold().split(":")[0].rstrip(". ")
    if seen == ".git" or _GIT_SHORT_NAME.fullmatch(seen):
        return "reaches into .git"
    if seen in _STEERING:
        return "would steer tools, not hold content"
    if len(part) > 1 and part[1] == ":" and part[0].isascii() and part[0].isalpha():
        return "names a drive"
    return ""


def quote_path(path: str) -> bytes:
    """Return a path in the C-style quotes that fast-import and --stdin-paths read."""
    return b'"%b"' % _ESCAPED.sub(lambda found: b"\\%03o" % found[0][0], path.encode("utf-8", "surrogateescape"))
