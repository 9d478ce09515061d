"""Plan a mirror commit: which bodies to fetch, which files move and which go, for one revision of one space."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from syncd.layout.tree.placement import Placement
from syncd.model.anchor import Anchor, Kind
from syncd.model.file import File
from syncd.model.page import Page, walk_pages
from syncd.model.revision import ReusableContent, Revision
from syncd.plan.change import Change, Plan

_BODILESS = {"pages", "urls", "markdown", "git", "created_at", "path", "slug"}


class RevisionBody(NamedTuple):
    """One body that the mirror commit needs: `blob` is its Git blob id where the platform names it."""

    id: str
    kind: Kind
    path: str
    form: str
    fingerprint: str
    blob: str | None = None


@dataclass(frozen=True)
class MirrorPlan:
    """What a mirror commit does to a space's directory.

    Shape: `fetch` bodies that differ from the base; `keep` anchors whose body stands, at their new path; `gone` paths
    that the base owned and the revision does not; `removed` ids that are no more.
    """

    plan: Plan
    fetch: tuple[RevisionBody, ...]
    keep: tuple[Anchor, ...]
    moved: tuple[Anchor, ...]
    gone: tuple[str, ...]
    removed: tuple[str, ...]


def compute_fingerprint(item: Page | File | ReusableContent) -> str:
    """Return a key that changes when the body of a page, file or reusable content does; "" when nothing can tell.

    Source: API document, Page and File; `git.oid` is a blob id, else the document id or the time of the last edit.
    """
    if item.git is not None:
        return f"git:{item.git.oid}"
    if isinstance(item, File):
        return f"file:{item.id}:{item.size}"
    if isinstance(item, ReusableContent) or not (item.document_id or item.updated_at):
        return ""
    facts = item.model_dump(mode="json", exclude=_BODILESS, exclude_none=True)
    return "page:" + hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:20]


def list_bodies(revision: Revision, placement: Placement) -> Iterator[RevisionBody]:
    """Yield every body of a revision that its mirror holds."""
    groups: tuple[tuple[Kind, Iterator[Page | File | ReusableContent], Mapping[str, str]], ...] = (
        ("page", (page for page, _ in walk_pages(revision.pages)), placement.pages),
        ("file", iter(revision.files), placement.files),
        ("include", iter(revision.reusable_contents), placement.includes),
    )
    for kind, items, paths in groups:
        for item in items:
            if (path := paths.get(item.id)) is not None:
                blob = item.git.oid if item.git else None
                yield RevisionBody(
                    item.id, kind, path, placement.platform_paths[item.id], compute_fingerprint(item), blob
                )


def plan_mirror(revision: Revision, placement: Placement, base: Mapping[str, Anchor]) -> MirrorPlan:
    """Return what the commit that mirrors a revision must fetch, move and remove; `base` are the anchors of the last
    one.

    Shape: cost is linear in the revision with a small constant; a body is fetched only when its fingerprint changed.
    """
    fetch: list[RevisionBody] = []
    keep: list[Anchor] = []
    moved: list[Anchor] = []
    changes: list[Change] = []
    present: set[str] = set()
    for item in list_bodies(revision, placement):
        present.add(item.id)
        known = base.get(item.id)
        if known is None or not item.fingerprint or known.fingerprint != item.fingerprint:
            fetch.append(item)
            changes.append(Change("update" if known else "create", item.kind, item.path))
        elif known.path == item.path and known.form == item.form:
            keep.append(known)
        else:
            anchor = Anchor(item.id, item.kind, item.path, item.form, item.fingerprint, known.oid)
            moved.append(anchor)
            if known.path != item.path:
                changes.append(Change("move", item.kind, item.path, before=known.path, after=item.path))
    removed = tuple(sorted(base.keys() - present))
    taken = {item.path for item in fetch} | {a.path for a in keep} | {a.path for a in moved}
    for anchor in (base[id] for id in removed):
        note = f"another {anchor.kind} has its path now" if anchor.path in taken else ""
        changes.append(Change("delete", anchor.kind, anchor.path, note))
    gone = tuple(sorted({anchor.path for anchor in base.values()} - taken))
    changes += [
        Change("report", "name", used, f"the platform asks for {asked!r}", before=asked, after=used)
        for _, asked, used in placement.replaced_paths
    ]
    return MirrorPlan(Plan.of(changes), tuple(fetch), tuple(keep), tuple(moved), gone, removed)
