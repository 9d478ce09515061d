"""The lock file, `site.lock.json`: what syncd owns on a site, one item a line, so that Git merges it cleanly.

It holds ids and declared values, never a token or a share link's key.
Source: syncd/manual/reference/site-file.md, "The lock file".
"""

import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from syncd.errors import LockUnusable
from syncd.model.redirect import SOURCE_MAX
from syncd.model.ref import Ref
from syncd.plan.site.live_state import LockEntry, SiteLock

NAME = "site.lock.json"
VERSION = 1
LOCK_MAX = 64 * 1024 * 1024
"""Characters of a lock file: some hundred thousand redirects."""
_TEXT_MAX = 1024
_REF_MAX = 4 * SOURCE_MAX
"""Characters of a ref: folding a source's case makes it up to three times as long."""
_DEPTH_MAX = 32
_MARKER = re.compile(r"^(<{7}|={7}|>{7})", re.MULTILINE)
_LINEAGE = re.compile(r"[0-9a-f]{0,64}")
_SAFE = "restore it from Git, or delete it: then everything is adopted anew, and nothing is deleted"


def find_lock_path(file: str) -> str:
    """Return the path of a site file's lock, which lies beside it."""
    return f"{file.rpartition('/')[0]}/{NAME}".lstrip("/")


def render_lock(lock: SiteLock) -> str:
    """Return the text of a lock file: always the same text for the same lock."""
    head = {"version": VERSION, "site": lock.site, "lineage": lock.lineage, "serial": lock.serial}
    start = json.dumps(head, ensure_ascii=False)[:-1]
    lines = [f"  {json.dumps(ref, ensure_ascii=False)}: {_render_entry(lock.items[ref])}" for ref in sorted(lock.items)]
    return (
        f'{start}, "items": {{{"".join(f"{chr(10)}{line}," for line in lines)[:-1]}}}}}\n'
        if lines
        else (f'{start}, "items": {{}}}}\n')
    )


def parse_lock(text: str, *, at: str) -> SiteLock:
    """Return the lock in the text of a lock file; `at` is the file's name.

    Raises: LockUnusable for anything that syncd did not write: what it owns must never be guessed.
    """
    if len(text) > LOCK_MAX:
        _refuse(at, f"is longer than {LOCK_MAX} characters")
    if marker := _MARKER.search(text):
        line = text.count("\n", 0, marker.start()) + 1
        _refuse(
            at,
            "has the marks of a merge that was not finished",
            line=line,
            hint="take either side of it: what that does not know is adopted anew",
        )
    document = _require_object(at, "the file", _parse_json(text, at))
    version = document.get("version")
    if isinstance(version, int) and version > VERSION:
        _refuse(at, f"has version {version}, and this syncd knows {VERSION}", hint="use a newer syncd")
    if type(version) is not int or version != VERSION:
        _refuse(at, f"has no version {VERSION}")
    lineage = _require_text(at, "lineage", document.get("lineage", ""))
    if not _LINEAGE.fullmatch(lineage):
        _refuse(at, "lineage is not what syncd writes")
    items = _require_object(at, "items", document.get("items", {}))
    return SiteLock(
        site=_require_text(at, "site", document.get("site")),
        lineage=lineage,
        serial=_require_serial(at, document.get("serial", 0)),
        items={ref: _parse_entry(at, ref, value) for text, value in items.items() if (ref := _parse_ref(at, text))},
    )


def _render_entry(entry: LockEntry) -> str:
    value = {"id": entry.id, "by": entry.by, "applied": {name: entry.applied[name] for name in sorted(entry.applied)}}
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _parse_ref(at: str, text: str) -> Ref:
    try:
        ref = Ref.parse(text)
    except ValueError:
        ref = None
    if ref is None or len(ref) > _REF_MAX:
        _refuse(at, f"{text[:80]!r} is not the name of an item")
    return ref


def _parse_entry(at: str, ref: Ref, value: Any) -> LockEntry:
    entry = _require_object(at, ref, value)
    by = entry.get("by")
    if by not in ("created", "adopted"):
        _refuse(at, f"{ref}: by is neither created nor adopted")
    applied = _require_object(at, f"{ref}: applied", entry.get("applied", {}))
    if _is_nested_deeper(applied, _DEPTH_MAX):
        _refuse(at, f"{ref}: applied nests too deep")
    return LockEntry(_require_text(at, f"{ref}: id", entry.get("id")), by, applied)


def _parse_json(text: str, at: str) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"{twice[:80]!r} is there twice")
        return found

    def no_constant(name: str) -> NoReturn:
        raise ValueError(f"{name} is not JSON")

    try:
        return json.loads(text, object_pairs_hook=once, parse_constant=no_constant)
    except json.JSONDecodeError as problem:
        _refuse(at, f"is not JSON: {problem.msg}", line=problem.lineno, column=problem.colno)
    except (ValueError, RecursionError) as problem:
        _refuse(at, f"is not a lock: {'it nests too deep' if isinstance(problem, RecursionError) else problem}")


def _require_object(at: str, name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        _refuse(at, f"{name} is not an object")
    return value


def _require_text(at: str, name: str, value: Any) -> str:
    if not isinstance(value, str) or len(value) > _TEXT_MAX or not value.isprintable():
        _refuse(at, f"{name} is not a short text")
    return value


def _require_serial(at: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**53:
        _refuse(at, "serial is not a number that counts")
    return value


def _is_nested_deeper(value: Any, most: int) -> bool:
    left = [(value, 0)]
    while left:
        one, depth = left.pop()
        members = one.values() if isinstance(one, Mapping) else one if isinstance(one, list) else ()
        if members and depth >= most:
            return True
        left += [(member, depth + 1) for member in members]
    return False


def _refuse(at: str, what: str, *, line: int = 1, column: int = 1, hint: str = _SAFE) -> NoReturn:
    raise LockUnusable(what, path=at, line=line, column=column, hint=hint)
