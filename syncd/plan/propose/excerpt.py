"""Plan a proposal from an excerpt of two tables of contents: the parts that both have alike lack what is below them.

So the cost of a new or renamed page is that of the part it is in, and neither side's page tree has to be read.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from posixpath import dirname

from syncd.layout.tree.draft import Draft
from syncd.layout.tree.settings import Settings, derive_page_slug
from syncd.layout.tree.summary import Entry, walk_entries
from syncd.model.anchor import Anchor
from syncd.model.page import Page
from syncd.model.revision import Revision
from syncd.plan.change import Plan
from syncd.plan.propose.alignment import DesiredSide, ExistingSide
from syncd.plan.propose.proposal import ContentPlan, plan_proposal
from syncd.plan.propose.steps import ROOT, InsertStep, Step, UpdateStep, build_change

_LINE = re.compile(r"(?:(?:#|\*\*\*)[^\n]*|(?:  )*\* [^\n]*)?\n")
"""A line of a table in canonical form: only there two spaces say that an entry is below another."""
_INNER = "  "
_PATH = re.compile(r"\]\(([^()\n]*?)(?: \"[^\n]*)?\)$", re.MULTILINE)
_UNKNOWN = "unknown:"
"""Starts the id of what has none that is known, such as a group."""


def abridge_tables(before: str, after: str) -> tuple[str, str]:
    """Return two tables of contents without what is below their first and last top entries, as far as these are alike.

    Shape: tables that are not in canonical form, or that list a page twice, are returned as they are.
    """
    tables = tuple(map(_split_parts, (before, after)))
    if not all(tables):
        return before, after
    one, other = tables
    shortest = min(len(one), len(other))
    first = next((at for at in range(shortest) if one[at] != other[at]), shortest)
    left = shortest - first
    last = next((at for at in range(left) if one[-1 - at] != other[-1 - at]), left)
    return _join_parts(one, first, last), _join_parts(other, first, last)


def _split_parts(table: str) -> list[str]:
    """The top entries with all that is below each, and the lines between them; none for an unusual table."""
    lines = table.splitlines(keepends=True)
    paths = _PATH.findall(table)
    if not all(map(_LINE.fullmatch, lines)) or len(set(paths)) < len(paths):
        return []
    parts: list[list[str]] = []
    for line in lines:
        if line.startswith(_INNER) and parts:
            parts[-1].append(line)
        else:
            parts.append([line])
    return ["".join(part) for part in parts]


def _join_parts(parts: Sequence[str], first: int, last: int) -> str:
    end = len(parts) - last
    shown = (part if first <= at < end else part.partition("\n")[0] + "\n" for at, part in enumerate(parts))
    return "".join(shown)


def plan_excerpt(
    entries: tuple[Sequence[Entry], Sequence[Entry]],
    anchors: Mapping[str, Anchor],
    blobs: Mapping[str, str | None],
    settings: Settings,
    *,
    renames: Mapping[str, str],
    read: Callable[[str], bytes],
) -> ContentPlan | None:
    """Return the steps that insert pages, give pages another name, or edit their text; None where anything else is to
    be done, or where the excerpt does not tell exactly what the whole tables would.

    Shape: `entries` are those of the existing and of the desired table; `anchors` are the existing pages by path;
    `blobs` are the files that differ by path, None for one that is gone. A page that differs and that the excerpt lacks
    is edited: who it is and where, both tables say alike.
    """
    former, wanted = entries
    listed, documents = map(_index_pages, entries)
    if listed is None or documents is None:
        return None
    outside = {
        path: oid
        for path, oid in blobs.items()
        if path in anchors and oid and path not in listed.keys() | documents.keys()
    }
    found = {**{path: anchors[path].oid for path in listed if path in anchors}, **blobs}
    present = {path: oid for path, oid in found.items() if oid is not None}
    if not (listed.keys() <= anchors.keys() and present.keys() >= documents.keys()):
        return None
    existing = ExistingSide(
        Revision(id=_UNKNOWN, pages=_build_pages(former, anchors, settings)),
        {anchors[path].id: anchors[path] for path in listed},
        {path: entry.link_title or "" for path, entry in listed.items()},
    )
    draft = Draft(tuple(wanted), tuple(documents), settings=settings)
    plan = plan_proposal(DesiredSide(draft, present, renames, read=read), existing)
    if not _is_exact(plan, listed, existing, blobs.keys() - outside.keys(), settings):
        return None
    steps = (*plan.steps, *(UpdateStep(anchors[path].id, path, oid=oid) for path, oid in outside.items()))
    return ContentPlan(steps, Plan.of(map(build_change, steps)), plan.placed)


def _index_pages(entries: Sequence[Entry]) -> dict[str, Entry] | None:
    """The entries of pages by path; None where one is listed twice, since the second entry only leads to the page."""
    pages = [(entry.path, entry) for entry, _ in walk_entries(entries) if entry.path is not None]
    found = dict(pages)
    return found if len(found) == len(pages) else None


def _build_pages(entries: Sequence[Entry], anchors: Mapping[str, Anchor], settings: Settings) -> tuple[Page, ...]:
    """The pages that a table of contents lists; children first, so that any depth is possible."""
    below: dict[int, list[Page]] = defaultdict(list)
    each = list(walk_entries(entries))
    for number, (entry, parent) in reversed(list(enumerate(each))):
        children = tuple(reversed(below.pop(id(entry), ())))
        page = Page(id=f"{_UNKNOWN}{number}", type=entry.kind, title=entry.title, pages=children)
        if entry.path is not None:
            page = page.model_copy(
                update={"id": anchors[entry.path].id, "slug": derive_page_slug(entry.path, settings=settings)}
            )
        else:
            target = {"kind": "url", "url": entry.target} if entry.target else None
            page = page.model_copy(update={"slug": entry.slug, "target": target})
        below[id(parent)].append(page)
    return tuple(reversed(below.pop(id(None), ())))


def _is_exact(
    plan: ContentPlan,
    listed: Mapping[str, Entry],
    existing: ExistingSide,
    changed: Set[str],
    settings: Settings,
) -> bool:
    """Whether a plan does what an excerpt can tell about, and all that is to be done.

    No page may get its first child, be the first of the space, or move to another folder or to where another page is:
    then other pages are concerned, too.
    """
    if len(plan.report.changes) != len(plan.steps):
        return False  # something is left to a person
    if not all(_is_plain_step(step, listed, existing, settings) for step in plan.steps):
        return False
    done = {path for step in plan.steps for path in _list_paths(step, existing)}
    return done == changed and plan.placed.keys() <= {step.id for step in plan.steps if isinstance(step, UpdateStep)}


def _is_plain_step(step: Step, listed: Mapping[str, Entry], existing: ExistingSide, settings: Settings) -> bool:
    match step:
        case InsertStep():
            parent = existing.anchors.get(step.into)
            below = listed[parent.path].children if parent is not None else ()
            has_place = step.at != 0 if step.into == ROOT else any(child.kind == "document" for child in below)
            return has_place and step.slug == derive_page_slug(step.path, settings=settings)
        case UpdateStep():
            former = existing.anchors[step.id].path
            others = (step.title, step.into, step.at, step.unchanged, step.later)
            if others != (None, None, None, None, False) or (step.slug is None) != (step.path == former):
                return False
            is_alone = not listed[former].children and step.path not in listed
            is_near = dirname(step.path) == dirname(former) and step.slug == derive_page_slug(
                step.path, settings=settings
            )
            return step.slug is None or (is_alone and is_near)
    return False


def _list_paths(step: Step, existing: ExistingSide) -> Iterator[str]:
    """The paths that a step is about: the one of the page now, and the one before."""
    assert isinstance(step, InsertStep | UpdateStep)
    yield step.path
    if isinstance(step, UpdateStep):
        yield existing.anchors[step.id].path
