"""Paths and names from outside: which are safe in a repository, and what replaces the others."""

import hashlib
import re
import unicodedata
from collections.abc import Container
from functools import lru_cache
from itertools import count

from syncd.errors import PathRefused
from syncd.model.text import CONTROLS, HALVES, REPLACEMENT, quote_name

SEGMENT_BYTES = 255
PATH_BYTES = 4096
SLUG_CHARACTERS = 100
GITBOOK = ".gitbook"
"""The only hidden folder that content may use."""
ASSETS, INCLUDES = f"{GITBOOK}/assets/", f"{GITBOOK}/includes/"
"""Where the platform keeps files, and content that pages share."""

_ORDINARY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|clock\$|(?:com|lpt)[0-9¹²³]) *(?:\.|$)", re.IGNORECASE)
_EXTENSION = re.compile(r"[A-Za-z0-9]{1,10}")
_TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_NOT_ALPHANUMERIC = re.compile(r"[^a-z0-9]+")
_LETTERS = str.maketrans({"æ": "ae", "ø": "o", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})
_SPACES = "\u00a0\u2000-\u200a\u202f\u3000"
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})

# In the order in which the reasons are told. NTFS knows `.git` also as `git~1`, `.gitmodules` as `gi7eba~1`.
_FLAWS = tuple(
    (re.compile(pattern, re.IGNORECASE), reason)
    for pattern, reason in (
        (r"^\.{0,2}$", "a segment is empty, `.` or `..`"),
        (f"[{HALVES}{REPLACEMENT}]", "is not valid Unicode"),
        (f"[{CONTROLS}]", "holds a control character"),
        (r'[<>:"|?*\\/]', "holds a character that some file system or tool reads as syntax"),
        (r"%(?:00|2e|2f|5c|c0|c1)", "holds an encoded separator"),
        (rf"^[ {_SPACES}]|[ .{_SPACES}]$", "starts with a space or ends with a space or dot"),
        (r"^[-~$]|^@$", "starts like an option or an expansion"),
        (r"^\.", "is a hidden name, which configures tools"),
        (r"^(?:gi[a-z0-9]{0,4}|ma[a-z0-9]{0,4})~[0-9]", "is the short name of a Git file"),
    )
)
_DISGUISE = re.compile(r"^\.|[\\/]|^git~[0-9]", re.IGNORECASE)


def check_safe_path(raw: str) -> str:
    """Return a path from outside (`git.path`) unchanged when it is safe below a space's root.

    Raises: PathRefused with the reason. It never repairs: what to write instead is the caller's decision.
    Source: syncd/manual/reference/layout.md, "Names that must be mapped".
    """
    *folders, name = raw.split("/")
    for folder in folders:
        if folder != GITBOOK and (reason := _find_flaw(folder)):
            raise PathRefused(f"{quote_name(raw)}: {reason}")
    if reason := _find_flaw(name):
        raise PathRefused(f"{quote_name(raw)}: {reason}")
    if len(raw) * 4 > PATH_BYTES and len(raw.encode()) > PATH_BYTES:
        raise PathRefused(f"{quote_name(raw)}: is longer than {PATH_BYTES} bytes")
    return raw


def make_safe_segment(raw: str, *, fallback: str) -> str:
    """Return one safe path segment for a slug or file name: unchanged when it is safe, else cleaned, with the fallback
    added.

    Shape: `clock (1).svg` stays; `..` becomes `<fallback>`; `con.md` becomes `con-<fallback>.md`.
    """
    if _find_flaw(raw) is None:
        return raw
    stem, _, extension = raw.rpartition(".")
    if not stem or not _EXTENSION.fullmatch(extension):
        stem, extension = raw, ""
    name = "-".join(part for part in (fold_to_ascii(stem), make_id_tag(fallback)) if part)
    return f"{name}.{extension}" if extension else name


def is_markdown(path: str) -> bool:
    """Return whether a path is one of a Markdown file."""
    return path.lower().endswith((".md", ".markdown"))


def list_forms(path: str) -> tuple[str, str]:
    """Return the paths that a page has without pages below it and with some: `x.md` and `x/README.md`."""
    stem = path.removesuffix(".md").removesuffix("/README")
    return f"{stem}.md", f"{stem}/README.md"


def is_same_page(path: str, other: str) -> bool:
    """Return whether two paths are those of one page with pages below it and without."""
    return {path, other} == set(list_forms(path))


def make_collision_key(path: str) -> str:
    """Return a path in NFC and case-folded.

    Two paths with one key cannot live on one case-insensitive disk.
    """
    if path.isascii():
        return path.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def number_slug(slug: str, taken: Container[str]) -> str:
    """Return a slug, numbered when it is one of those that are taken; `taken` is case-folded."""
    stem = slug[: SLUG_CHARACTERS - 6]  # room for a hyphen and a number
    names = (slug if at == 0 else f"{stem}-{at}" for at in count())
    return next(name for name in names if name.casefold() not in taken)


def slugify(title: str) -> str:
    """Return the slug of a title: lower-case ASCII letters and digits joined by `-`, at most 100; `page` when none
    is left."""
    return fold_to_ascii(title) or "page"


def fold_to_ascii(text: str) -> str:
    """Return the slug of any text, or "" when it has no letter or digit that ASCII can spell."""
    if not text.isascii():
        plain = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS))
        # A mark belongs to its letter and must not split the word; every other foreign sign may.
        text = "".join(sign for sign in plain if not unicodedata.combining(sign))
    return _NOT_ALPHANUMERIC.sub("-", text.lower()).strip("-")[:SLUG_CHARACTERS].rstrip("-")


def make_id_tag(identity: str) -> str:
    """Return an id when it can stand in a file name, else a short digest of it."""
    if _TAG.fullmatch(identity) and not _DEVICE.match(identity):
        return identity
    return hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def is_decodable(path: str) -> bool:
    """Return whether a path from Git, where names are bytes, is text."""
    return path.isascii() or replace_undecodable(path) == path


def replace_undecodable(path: str) -> str:
    """Return a path from Git as text, with U+FFFD in place of bytes that are not UTF-8."""
    return path.encode(errors="surrogateescape").decode(errors="replace")


@lru_cache(maxsize=16384)
def _find_flaw(segment: str) -> str | None:
    if not _ORDINARY.fullmatch(segment) and (reason := _find_character_flaw(segment)):
        return reason
    if _DEVICE.match(segment):
        return "is a device name on Windows"
    if len(segment) * 4 > SEGMENT_BYTES and len(segment.encode()) > SEGMENT_BYTES:
        return f"a segment is longer than {SEGMENT_BYTES} bytes"
    return None


def _find_character_flaw(segment: str) -> str | None:
    for pattern, reason in _FLAWS:
        if pattern.search(segment):
            return reason
    if segment.isascii():
        return None
    if any(unicodedata.category(sign) in _UNSEEN for sign in segment):
        return "holds an invisible or direction-changing character"
    if _DISGUISE.search(unicodedata.normalize("NFKC", segment)):
        return "looks like a dot, a slash or `.git` to a tool that normalises"
    return None
