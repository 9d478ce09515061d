"""What a person does whom comments of syncd tell what to do, where the platform's API writes no content."""

import re
from collections.abc import Iterator, Mapping, Sequence
from posixpath import basename, dirname
from typing import Any

Pages = Sequence[tuple[dict[str, Any], str]]
"""The pages of a change request in order, each with the id of the page above it."""

_TEXT = re.compile(r"(?:Proposed text of|Text of the new page) `([^`]+)`:\n\n(`{3,})markdown\n(.*?)\n?\2\n", re.DOTALL)
_ADD = re.compile(r"Add the page `([^`]*)` (.*); its text is in the comment about `([^`]+)`\.")
_DELETE = re.compile(r"Delete the page `([^`]*)`")
_CHANGE = re.compile(r"Page `([^`]*)`: (.*)\.")
_TITLE, _SLUG = re.compile(r"call it `([^`]*)`"), re.compile(r"give it the slug `([^`]*)`")
_MOVE = re.compile(r"move it (.*)")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)")
_NOT_IN_SLUGS = re.compile("[#%]+")
_BACKTICK = "\ue000"
"""Stands for a backtick within code, where an order is read."""
_BELOW, _NUMBER = re.compile(r"below `([^`]*)`"), re.compile(r", as number (\d+)")


def read_orders(
    comments: Sequence[tuple[str, str]], pages: Pages, met: dict[str, Mapping[str, str]]
) -> list[dict[str, Any]]:
    """Given comments, each with its page, and the pages that there are, return the writes that are left to do.

    `met` holds which page each path meant when a comment was read first, and is filled: whoever let two pages exchange
    their slugs does not take one for the other when they read the comment again.
    """
    known = dict(_index_paths(pages))
    texts = [(page, found) for page, text in comments for found in _TEXT.finditer(text)]
    orders = [
        (_simplify_code(line), met.setdefault(text, known))
        for _, text in comments
        if not _TEXT.search(text)
        for line in text.splitlines()
    ]
    writes: list[dict[str, Any]] = [
        {"operation": "update_page", "page": page, "document": {"markdown": f"{found[3]}\n"}}
        for page, found in texts
        if page in known.values()
    ]
    here = {page["id"] for page, _ in pages}
    changes = [
        (meant[change[1]], change[2])
        for line, meant in orders
        if (change := _CHANGE.search(line)) and meant.get(change[1]) in here
    ]
    slugs = {id: slug[1] for id, order in changes if (slug := _SLUG.search(order))}
    gone = [
        meant[found[1]] for line, meant in orders if (found := _DELETE.search(line)) and meant.get(found[1]) in here
    ]
    # Pages may exchange their slugs, or take that of a page which goes.
    moving = dict.fromkeys([*slugs, *gone])
    writes += [{"operation": "update_page", "page": id, "slug": f"for-now-{at}"} for at, id in enumerate(moving)]
    new = {found[1]: found[3] for page, found in texts if not page}
    # What was added before has its title, or that of its text's heading, at its address.
    taken = {
        page.get(key) for page, _ in pages for key in ("title", "path") if key == "title" or page["id"] not in moving
    }
    for added, meant in ((found, meant) for line, meant in orders if (found := _ADD.search(line))):
        title, place, address = _read_code(added[1]), _read_place(added[2], known), _find_slug(added[3])
        if place is None:
            continue
        path = _join_path(pages, place, address)
        writes += _correct_title(pages, path, title, meant)
        if added[3] in new and not {title, path} & taken:
            made = {"operation": "insert_page", "title": title, "slug": address}
            given = {name: value for name, value in place.items() if value is not None}
            writes.append(made | given | {"document": {"markdown": f"{new[added[3]]}\n"}})
    writes += [write for id, order in changes for write in _read_change(id, order, known)]
    writes += [{"operation": "delete_page", "page": id} for id in gone]
    rest = [(id, slug) for id, slug in slugs.items() if id not in gone]
    return writes + [{"operation": "update_page", "page": id, "slug": slug} for id, slug in rest]


def _simplify_code(line: str) -> str:
    """An order with one backtick around each code, and none within."""

    def simplify(code: re.Match[str]) -> str:
        text = code[2]
        text = text[1:-1] if "`" in text and text[:1] == text[-1:] == " " else text
        return f"`{text.replace('`', _BACKTICK)}`"

    return _CODE.sub(simplify, line)


def _read_code(text: str) -> str:
    return text.replace(_BACKTICK, "`")


def _correct_title(pages: Pages, path: str, title: str, meant: Mapping[str, str]) -> list[dict[str, Any]]:
    """The write that gives a page its title that was added before, under the heading of its text."""
    added = [page for page, _ in pages if page.get("path") == path and page["id"] not in meant.values()]
    return [
        {"operation": "update_page", "page": page["id"], "title": title} for page in added if page["title"] != title
    ]


def _read_change(page: str, order: str, known: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    fields: dict[str, Any] = {}
    if found := _TITLE.search(order):
        fields["title"] = _read_code(found[1])
    if found := _MOVE.search(order):
        fields |= _read_place(found[1], known) or {}
    if fields:
        yield {"operation": "update_page", "page": page, **fields}


def _read_place(order: str, known: Mapping[str, str]) -> dict[str, Any] | None:
    """Where a page is to lie; None where the page above it is not there yet."""
    place: dict[str, Any] = {}
    if below := _BELOW.search(order):
        if below[1] not in known:
            return None
        place["into"] = known[below[1]]
    elif "top level" in order:
        place["into"] = None
    if number := _NUMBER.search(order):
        place["at"] = int(number[1]) - 1
    return place


def _join_path(pages: Pages, place: Mapping[str, Any], slug: str) -> str:
    """The address that a page gets at a place."""
    above = {page["id"]: page.get("path") or "" for page, _ in pages}.get(place.get("into"), "")
    return f"{above}/{slug}".lstrip("/")


def _find_slug(path: str) -> str:
    """The slug that a person gives a page whose file has a path: some signs can be in none."""
    name = basename(dirname(path)) if path.endswith("/README.md") else basename(path).removesuffix(".md")
    return _NOT_IN_SLUGS.sub("-", name)


def _index_paths(pages: Pages) -> Iterator[tuple[str, str]]:
    """The id of each page, by its path on the platform, and by both that its file may have in Git: `README.md` is the
    home page's, also where another page has that word as its slug."""
    for page, _ in sorted(pages, key=lambda item: not item[0].get("path")):
        path = page.get("path") or ""
        yield path, page["id"]
        yield f"{path}.md", page["id"]
        yield f"{path}/README.md".lstrip("/"), page["id"]
