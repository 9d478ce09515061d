"""What differs between two revisions: a summary with counts, and one page in the view that was asked for."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from syncd.model.changes import Change, Changes
from syncd.platform.app_pages.context import AppRequest
from syncd.platform.http.failures import Failure
from syncd.web.app.line_diff import compare_lines, count_changes
from syncd.web.app.values import VIEWS, ChangeSummary, PageChange
from syncd.web.blocks.inline.line import describe_ref

COUNTED_MAX = 40
"""Pages whose lines are counted; of more, only that they differ is said."""
COUNTED_CHARACTERS_MAX = 200_000
"""Characters of both sides of a page whose lines are counted."""
_NOT_FOUND = 404
_NAMED = {"slug": "address", "condition": "if", "variables": "vars"}
"""Members of a page that people know by another name: their keys in frontmatter."""


@dataclass(frozen=True)
class PageSides:
    """Where both sides of pages are read: two revisions of a space, and the change request that the later one is of.

    Shape: `before` is "" for nothing.
    """

    space: str
    before: str
    after: str

    async def read_page(self, at: AppRequest, page: str, **query: str) -> tuple[Any, Any]:
        """Return a page as the API shows it, on each side; None where it is not there. Raises: Failure."""
        found = []
        for revision in (self.before, self.after):
            path = {"space_id": self.space, "revision_id": revision, "page_id": page}
            try:
                found.append(await at.client.call("getPageInRevisionById", path, query=query) if revision else None)
            except Failure as failure:
                if failure.status != _NOT_FOUND:
                    raise
                found.append(None)
        return found[0], found[1]


async def read_summary(
    at: AppRequest, answer: Any, sides: PageSides, comments: dict[str, int] | None = None
) -> ChangeSummary:
    """Return a summary of an answer of `…/changes`, with lines counted for the first pages. Raises: Failure."""
    changes = Changes.model_validate(answer)
    by_page: dict[str, list[Change]] = {}
    for change in changes.changes:
        if change.page is not None:
            by_page.setdefault(change.page.id, []).append(change)
    pages = [_join_changes(each, (comments or {}).get(id, 0)) for id, each in by_page.items()]
    counted = [await _count_lines(at, sides, page) for page in pages[:COUNTED_MAX]]
    others = tuple(change for change in changes.changes if change.page is None)
    return ChangeSummary((*counted, *pages[COUNTED_MAX:]), others, changes.more)


def choose_page(at: AppRequest, summary: ChangeSummary) -> str:
    """Return the id of the page whose difference is shown: what was asked for, else the first; "" for none."""
    wanted = at.page.query.get("page", "")
    return wanted or (summary.pages[0].id if summary.pages else "")


def choose_view(at: AppRequest) -> str:
    """Return the view that was asked for, else the first."""
    wanted = at.page.query.get("view", "")
    return wanted if wanted in VIEWS else VIEWS[0]


async def read_sides(at: AppRequest, sides: PageSides, page: str, view: str) -> tuple[Any, Any]:
    """Return both sides of a page as a view needs them; None where it is not there. Raises: Failure 404."""
    if view == "source":
        before, after = await sides.read_page(at, page, format="markdown")
    else:
        before, after = await sides.read_page(at, page, format="document", dereferenced="true")
    if before is None and after is None:
        raise Failure(404, f"No page {page} on either side.")
    return before, after


def _read_markdown(page: Any) -> str:
    return str((page or {}).get("markdown") or "")


def _join_changes(changes: list[Change], comments: int) -> PageChange:
    kinds: list[str] = []
    details: list[str] = []
    first = changes[0].page
    assert first is not None
    for change in changes:
        if change.type in ("page_created", "page_deleted"):
            kinds.append("added" if change.type == "page_created" else "removed")
        if change.type == "page_moved":
            kinds.append("moved")
            sides = change.parent.before if change.parent else None, change.parent.after if change.parent else None
            details.append(" → ".join(side.title if side is not None else "top" for side in sides))
        for name, pair in (change.attributes or {}).items():
            kind = "renamed" if name in ("title", "slug") else "edited"
            kinds += [kind] if kind not in kinds else []
            if name != "document":
                details += _describe_values(_NAMED.get(name, name), pair.before, pair.after)
    return PageChange(first.id, first.title, first.path or "", tuple(kinds), tuple(details), comments=comments)


def _describe_values(name: str, before: Any, after: Any) -> Iterator[str]:
    """What differs in a value: of one with members, each member that does."""
    sides = [{} if value is None else value for value in (before, after)]
    if before != after and all(isinstance(side, dict) and "kind" not in side for side in sides):
        left, right = sides
        for key in {**left, **right}:
            yield from _describe_values(f"{name}.{key}", left.get(key), right.get(key))
    elif before != after:
        yield f"{name}: {_format_value(before)} → {_format_value(after)}"


def _format_value(value: Any) -> str:
    match value:
        case {"tag": {"tag": str(slug)}}:  # of a page
            value = f"{slug} (primary)" if value.get("primary") else slug
        case dict():
            value = describe_ref(value)
    if isinstance(value, list):
        value = ", ".join(map(_format_value, value))
    text = ("true" if value else "false") if isinstance(value, bool) else "" if value is None else str(value)
    return text[:100] or "nothing"


async def _count_lines(at: AppRequest, sides: PageSides, page: PageChange) -> PageChange:
    if not {"added", "removed", "edited", "renamed"} & set(page.kinds):
        return page
    before, after = await sides.read_page(at, page.id, format="markdown")
    texts = _read_markdown(before), _read_markdown(after)
    if sum(map(len, texts)) > COUNTED_CHARACTERS_MAX:
        return page
    added, removed = count_changes(compare_lines(*texts))
    return replace(page, added=added, removed=removed)
