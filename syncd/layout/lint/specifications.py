"""Rules about OpenAPI blocks: specifications that cannot be read, and operations that these do not have."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from syncd.errors import FileInvalid, FileUnsupported
from syncd.layout.lint.finding import Finding, make_finding
from syncd.layout.lint.space import Page, Space
from syncd.layout.lint.suggestions import NearMisses, format_suggestion
from syncd.layout.markdown.addresses import resolve_address
from syncd.layout.page.specifications import BYTES_MAX, METHODS, find_operation, follow_reference, read_part
from syncd.model.text import quote_name

_BLOCK = re.compile(r"""\{%[ \t]*+(?:openapi|swagger)(?=[ \t])(?:[^%"\n{]|\{(?!%)|"[^"\n]*+"|%(?!\}))*+%\}""")
_ATTRIBUTE = re.compile(r'(?<=[ \t])(src|path|method)="([^"\n]*+)"')


def check_specifications(space: Space) -> Iterator[Finding]:
    """Yield the findings about OpenAPI blocks; a specification is told once in each page that shows it."""
    near: dict[str, NearMisses] = {}
    for page in space.read_published_pages():
        if "{%" not in page.text:
            continue
        told: set[str] = set()
        for block in _BLOCK.finditer(page.blanked_text):
            found = {part[1]: (part[2], part.start(2)) for part in _ATTRIBUTE.finditer(page.text, *block.span())}
            address, start = found.get("src", ("", 0))
            target = resolve_address(address, at=page.path)
            if target is None or target[0] not in space.files:
                continue
            path = target[0]
            specification = read_specification(space, path)
            if not isinstance(specification, FileInvalid):
                yield from _check_operation(page, path, specification, found, near)
            elif path not in told:
                told.add(path)
                yield _report_unreadable(page.path, page.locate(start), specification)


def read_specification(space: Space, path: str) -> Mapping[str, Any] | FileInvalid:
    """Return the specification in a file, or why it is none; a file that is too large is not read."""
    if space.files[path].size > BYTES_MAX:
        return FileUnsupported(f"is larger than {BYTES_MAX} bytes", path=path, line=0)
    return space.read_page(path).specification


def _report_unreadable(path: str, place: tuple[int, int], error: FileInvalid) -> Finding:
    code = "openapi-unread" if isinstance(error, FileUnsupported) else "openapi-invalid"
    return make_finding(code, path, place, str(error), error.hint)


def _check_operation(
    page: Page,
    path: str,
    specification: Mapping[str, Any],
    found: Mapping[str, tuple[str, int]],
    near: dict[str, NearMisses],
) -> Iterator[Finding]:
    """Yield the finding about an operation that the specification does not have; `near` has those of specifications."""
    if "path" not in found or "method" not in found:
        return
    (at, start), (method, _) = found["path"], found["method"]
    operation, item = find_operation(specification, at, method)
    if operation or "$ref" in item:  # a path may stand in another file, which nothing here reads
        return
    message = f"{quote_name(path)} has no operation {method.upper()[:20]} {quote_name(at)}"
    if others := [one.upper() for one in item if one in METHODS]:
        hint = f"it has {', '.join(others)} there"
    else:
        if path not in near:
            near[path] = NearMisses(_list_operations(specification))
        hint = format_suggestion(near[path].find(f"{method.lower()} {at}"))
    yield make_finding("openapi-operation", page.path, page.locate(start), message, hint)


def _list_operations(specification: Mapping[str, Any]) -> Iterator[str]:
    for name, part in read_part(specification, "paths").items():
        item = follow_reference(specification, part) if isinstance(part, Mapping) else {}
        yield from (f"{one} {name}" for one in item if one in METHODS)
