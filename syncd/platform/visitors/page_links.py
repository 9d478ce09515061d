"""Where the references of a page lead for one visitor: to pages and files of the site that the visitor may read."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa

from syncd.errors import FileInvalid
from syncd.layout.page.frontmatter import split_frontmatter
from syncd.layout.richtext.reading import to_document
from syncd.layout.richtext.references import find_references
from syncd.layout.site.addresses.app_addresses import read_app_address
from syncd.layout.tree.placement import APP
from syncd.layout.yaml import yaml
from syncd.platform.revisions.other_spaces import OtherSpaces
from syncd.platform.revisions.outline import Outline, TreeEntry
from syncd.platform.revisions.targets import TargetResolver
from syncd.platform.revisions.tree import FILES, INCLUDES
from syncd.platform.schema.specs import specs, versions
from syncd.platform.storage.storage import Storage
from syncd.platform.visitors.destinations import find_first_page, open_space_outline
from syncd.platform.visitors.visits import SiteVisit
from syncd.web.blocks.context import Target

OWN_FILES = "~syncd"
"""The segment behind which a site has what is no page: its style sheets, its script, its files."""
INCLUDE_BYTES_MAX = 1 << 20
SPECIFICATION_BYTES_MAX = 4 << 20
_DEPTH_MAX = 64
_NOWHERE = Target("")


def build_file_path(visit: SiteVisit, site_space: sa.Row[Any], entry: TreeEntry) -> str:
    """Return the path at which a file of a site-space is read; another content has another path."""
    name, body = quote(entry.node.title, safe=""), entry.node.body or ""
    return f"{visit.base}/{OWN_FILES}/files/{site_space.id}/{entry.node.id}/{body[:12]}/{name}"


@dataclass
class VisitorLinks:
    """The references of one page, or of what it includes; `was_shared` says that something beside the site was read.

    Shape: `has_left_space` says that another space of the site was asked for, so that its content counts.
    """

    storage: Storage
    visit: SiteVisit
    site_space: sa.Row[Any]
    outline: Outline
    entry: TreeEntry
    was_shared: bool = False
    has_left_space: bool = False
    _targets: TargetResolver = field(init=False)
    _others: OtherSpaces = field(init=False)

    def __post_init__(self) -> None:
        self._targets = TargetResolver(self.outline)
        app = f"/app/o/{self.visit.site.row.organization}/s/{self.site_space.space}"
        self._others = OtherSpaces(app, self._open_other)

    def resolve(self, ref: Mapping[str, Any]) -> Target | None:
        """Return what a reference leads to; one that leads nowhere for this visitor has no address."""
        return self._describe_target(self._complete_reference(ref, self.entry))

    def rewrite_address(self, address: str) -> str | None:
        """Return an address of a text as the visitor reads it; None for one that stays as it is written."""
        ref = self._complete_reference({"kind": "url", "url": address}, self.entry)
        if ref["kind"] in ("missing", "reusable-content"):
            return None
        target = self._describe_target(ref)
        return None if target is None else target.address or "#"

    def read_reusable(self, ref: Mapping[str, Any]) -> Sequence[dict[str, Any]] | None:
        """Return the nodes of reusable content, with the references of its own place; None when there is none."""
        found = self._complete_reference(ref, self.entry)
        entry = self.outline.entries.get(str(found.get("reusableContent")))
        if "space" in found or entry is None or entry.parent != INCLUDES or entry.node.body is None:
            return None
        data = self._read_blob(entry.node.body, INCLUDE_BYTES_MAX)
        if data is None:
            return None
        nodes = list(to_document(split_frontmatter(data.decode(errors="replace"))[1]).nodes)
        for one in find_references(nodes):
            complete = self._complete_reference(one, entry)
            one.clear()
            one.update(complete)
        return nodes

    def read_specification(self, ref: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return a parsed OpenAPI description: a file of the space, or one that the organization keeps by its name."""
        found = self._complete_reference(ref, self.entry)
        entry = self.outline.entries.get(str(found.get("file")))
        if entry is not None and entry.parent == FILES and entry.node.body is not None:
            data = self._read_blob(entry.node.body, SPECIFICATION_BYTES_MAX)
        else:
            data = self._read_kept_specification(str(found.get("spec") or ""))
        with suppress(FileInvalid):
            text = "" if data is None else data.decode(errors="replace")
            parsed = yaml.load(text, at="specification", bytes_max=SPECIFICATION_BYTES_MAX, depth_max=_DEPTH_MAX)
            return parsed if isinstance(parsed, dict) else None
        return None

    def _complete_reference(self, ref: Mapping[str, Any], entry: TreeEntry) -> dict[str, Any]:
        """The reference by id of an address in a text; any other stays as it is."""
        address = ref.get("url")
        if ref.get("kind") != "url" or not isinstance(address, str):
            return dict(ref)
        if (named := read_app_address(address)) is not None and named.space in self.visit.site.spaces:
            found_there = self._others.find_content_ref(f"{APP}{named.space}/{quote(named.path)}{named.anchor}")
            return found_there or {"kind": "nothing"}
        found = self._targets.resolve(address, entry)
        match found.kind:
            case "page" | "anchor":
                anchor = {"anchor": found.anchor} if found.anchor else {}
                return {"kind": found.kind, "page": found.id} | anchor
            case "file":
                return {"kind": "file", "file": found.id}
            case "reusable-content":
                return {"kind": "reusable-content", "reusableContent": found.id}
        if found.found:
            return {"kind": "url", "url": address}
        # What begins with "/" may name by its id what the visitor may not see.
        return {"kind": "nothing" if address.startswith("/") else "missing"}

    def _describe_target(self, ref: Mapping[str, Any]) -> Target | None:
        if ref.get("kind") == "url":
            return None  # the address stays as it is written
        if ref.get("kind") == "anchor" and ref.get("page") in (None, self.entry.node.id) and "space" not in ref:
            return Target(f"#{ref.get('anchor')}")
        site_space, outline = self.site_space, self.outline
        if "space" in ref and ref["space"] != site_space.space:
            near = self.visit.find_site_space_of(str(ref["space"]), site_space)
            if near is None or (found := self._open_other(near.space)) is None:
                return _NOWHERE
            site_space, outline = near, found
        if ref.get("kind") == "space":
            return Target(self.visit.build_path(site_space), self.visit.require_space(site_space).title)
        entry = outline.entries.get(str(ref.get("page") or ref.get("file") or ""))
        if entry is not None and entry.parent == FILES:
            return self._describe_file(site_space, entry)
        return self._describe_page(site_space, outline, entry, str(ref.get("anchor") or ""))

    def _describe_page(self, site_space: sa.Row[Any], outline: Outline, entry: TreeEntry | None, anchor: str) -> Target:
        if (
            entry is None
            or not self.visit.may_read_page(outline, entry)
            or entry.node.type not in ("document", "group")
        ):
            return _NOWHERE
        first = find_first_page(self.visit, outline)
        path = "" if first is not None and first.node.id == entry.node.id else quote(entry.path)
        fields = entry.node.fields
        return Target(
            self.visit.build_path(site_space, path) + (f"#{anchor}" if anchor else ""),
            entry.node.title,
            str(fields.get("description") or ""),
            str(fields.get("emoji") or ""),
        )

    def _describe_file(self, site_space: sa.Row[Any], entry: TreeEntry) -> Target:
        fields = entry.node.fields
        size = fields.get("dimensions") or {}
        return Target(
            build_file_path(self.visit, site_space, entry),
            entry.node.title,
            size=fields.get("size"),
            width=size.get("width"),
            height=size.get("height"),
        )

    def _open_other(self, space: str) -> Outline | None:
        self.has_left_space = True
        shown = self.visit.find_site_space_of(space, self.site_space)
        if shown is None:
            return None
        with self.storage.read() as connection:
            return open_space_outline(connection, self.visit, shown)

    def _read_blob(self, oid: str, most: int) -> bytes | None:
        return self.storage.blobs.get(oid) if self.storage.blobs.size(oid) <= most else None

    def _read_kept_specification(self, slug: str) -> bytes | None:
        if not slug:
            return None
        self.was_shared = True
        latest = sa.select(versions.c.content).join(specs, specs.c.last_version == versions.c.id)
        mine = (specs.c.organization == self.visit.site.row.organization, specs.c.slug == slug)
        with self.storage.read() as connection:
            content = connection.scalar(latest.where(*mine))
        return None if content is None else self._read_blob(content, SPECIFICATION_BYTES_MAX)
