"""What of a site everybody may read: files ask nobody who they are, so what a condition hides is in none of them.

What a condition does not let through for a reader without claims is left out, and so is what cannot be decided.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from syncd.errors import ConfigInvalid, FileInvalid
from syncd.layout.evaluation import Variables, has_conditions
from syncd.layout.evaluation.visible import CLOSED_TO_ROBOTS, NOBODY, list_hidden_parts
from syncd.layout.page.frontmatter import split_after_title
from syncd.layout.page.signs import read_signs
from syncd.layout.page.unread_frontmatter import read_deciding
from syncd.layout.richtext.reading import to_document
from syncd.layout.site.check.conditions import list_conditions
from syncd.layout.site.read.declared import Item, SiteFile
from syncd.layout.tree.summary import Entry, select_entries, walk_entries
from syncd.model.ref import Ref
from syncd.sync.publish.content import READ_ERRORS, SiteContent, SpacePages
from syncd.sync.publish.links import read_variables

_CLOSED_SITES = {"visitor-auth": "visitors who sign in", "share-link": "those who have a link to it"}
_OPEN_SITES = ("", "public")
_GONE = "gone"
_BELOW = "it stands below a page that is left out"


@dataclass(frozen=True)
class VisibleSite:
    """What everybody may read of a site.

    Shape: `conditional` has what conditions leave out, and `left_out` pages of which nobody can tell, each by its place
    and with the reason.
    """

    site: SiteContent
    conditional: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)


def find_visibility(site: SiteContent) -> str:
    """Return who can read a site, as its file says it; "" where it says nothing."""
    return next((str(one.fields.get("visibility") or "") for one in site.site.file.of("site")), "")


def may_be_indexed(site: SiteContent) -> bool:
    """Return whether search engines may list a site that may be read by everybody."""
    return find_visibility(site) in _OPEN_SITES


def check_visibility(site: SiteContent) -> None:
    """Check that a site is for everybody. Raises: ConfigInvalid for one that is not."""
    visibility = find_visibility(site)
    if (readers := _CLOSED_SITES.get(visibility)) is not None:
        raise ConfigInvalid(
            f"the site is for {readers} (visibility: {visibility}), but everybody could read its files",
            hint="--public, or public = true in [repository.site.publish], builds it for everybody all the same",
        )


def select_visible(site: SiteContent) -> VisibleSite:
    """Return a site without all that a condition hides from a reader without claims.

    Raises: ConfigInvalid when nothing is left.
    """
    found = VisibleSite(site)
    file = replace(site.site.file, items=_select_items(site.site.file, found.conditional))
    shown = {str(item.fields.get("space")) for item in file.of("variant")}
    spaces = {name: _select_pages(space, found) for name, space in site.spaces.items() if name in shown}
    if not any(space.paths for space in spaces.values()):
        raise ConfigInvalid(f"nothing of {site.top} is for everybody", hint="each page, section or variant has an `if`")
    pages = {name: space.addresses for name, space in spaces.items()}
    seen = replace(site.site, file=file, pages=pages)
    withheld = frozenset(site.spaces.keys() - spaces)
    shown_site = replace(site, site=seen, spaces=spaces, has_hidden=False, withheld=withheld, _contents={})
    return replace(found, site=shown_site)


def _is_fulfilled(condition: object) -> bool:
    return condition is None or Variables({}, NOBODY).evaluate_condition(str(condition)) is True


def _select_items(file: SiteFile, conditional: dict[str, str]) -> Mapping[Ref, Item]:
    """The items of a site file without variants and links that are for others.

    Shape: a section stays, since the addresses of others depend on it; one without variants is nowhere shown.
    """
    for one in list_conditions(file):
        if not _is_fulfilled(one.text):
            what = f"the {one.item.kind} {one.item.key}" if one.content else "a link"
            conditional[str(one.place)] = f"{what} is {_describe(one.text)}"
    found = {}
    for ref, item in file.items.items():
        holder = file.items.get(item.parent) if item.kind == "variant" else None
        conditions = (one.fields.get("condition") for one in (item, holder) if one is not None)
        if item.kind == "variant" and not all(_is_fulfilled(condition) for condition in conditions):
            continue
        is_linking = item.kind in ("customization", "override")
        found[ref] = replace(item, fields=_select_links(item.fields)) if is_linking else item
    return found


def _select_links(value: Any) -> Any:
    """A value of a customization without links that are for others."""
    if isinstance(value, Mapping):
        return {name: _select_links(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [
            _select_links(one) for one in value if not isinstance(one, Mapping) or _is_fulfilled(one.get("condition"))
        ]
    return value


@dataclass(frozen=True)
class _PageHead:
    """What the head of a page says: the members that keep it out of something, and its emoji and its icon."""

    members: frozenset[str]
    signs: tuple[str, str] = ("", "")


def _select_pages(space: SpacePages, found: VisibleSite) -> SpacePages:
    """A space without the pages that are for others, and all below them."""
    heads = {file: _read_head(space, file, found) for file in space.draft.documents}
    closed = _find_closed(space, {file: head.members for file, head in heads.items()}, found)
    gone = {file for file, members in closed.items() if _GONE in members}
    draft = replace(
        space.draft,
        entries=select_entries(space.draft.entries, lambda one: one.anchor is not None or one.path not in gone),
        documents=tuple(file for file in space.draft.documents if file not in gone),
    )
    for file in (*draft.documents, *draft.includes):
        if conditions := dict.fromkeys(_list_hidden_parts(space, file)):
            found.conditional[space.locate(file)] = f"a part of it is {'; '.join(map(_describe, conditions))}"
    items = {path: item for path, item in space.files.items.items() if path not in gone}
    addresses = {path: file for path, file in space.addresses.items() if file not in gone}
    return replace(
        space,
        files=replace(space.files, items=items),
        draft=draft,
        addresses=addresses,
        closed={file: members for file, members in closed.items() if members and file not in gone},
        withheld=frozenset(gone),
        signs={file: head.signs for file, head in heads.items() if file not in gone},
    )


def _find_closed(
    space: SpacePages, own: Mapping[str, frozenset[str]], found: VisibleSite
) -> Mapping[str, frozenset[str]]:
    """The members by which each page, or one above it, is kept out of something; `_GONE` is that of one left out."""
    closed: dict[str, frozenset[str]] = {}
    inherited: dict[int, frozenset[str]] = {}
    for entry, parent in walk_entries(space.draft.entries):
        above = inherited[id(parent)] if parent is not None else frozenset()
        inherited[id(entry)] = above | _get_members(own, entry)
        file = entry.path or ""
        if entry.anchor is None and file in own and file not in closed:
            closed[file] = inherited[id(entry)]
            if _GONE in above and _GONE not in own[file]:
                found.conditional[space.locate(file)] = _BELOW
    return {**own, **closed}


def _get_members(own: Mapping[str, frozenset[str]], entry: Entry) -> frozenset[str]:
    return own.get(entry.path or "", frozenset()) if entry.anchor is None else frozenset()


def _read_head(space: SpacePages, file: str, found: VisibleSite) -> _PageHead:
    """The head of a page; one that cannot be read may be for others."""
    try:
        text = space.files.items[file].read().decode(errors="replace")
        metadata = read_deciding(text, at=file)
    except (*READ_ERRORS, FileInvalid) as error:
        found.left_out[space.locate(file)] = f"it cannot be read: {error}"
        return _PageHead(frozenset({_GONE}))
    members = {name for name in CLOSED_TO_ROBOTS if name in metadata and metadata[name] is not False}
    if not _is_fulfilled(metadata.get("condition")):
        found.conditional[space.locate(file)] = f"it is {_describe(metadata['condition'])}"
        members.add(_GONE)
    return _PageHead(frozenset(members), read_signs(text, space.titles.get(file, ""), at=file))


def _list_hidden_parts(space: SpacePages, file: str) -> Iterator[str]:
    try:
        text = space.files.items[file].read().decode(errors="replace")
    except READ_ERRORS:
        return
    if has_conditions(text):
        document = to_document(split_after_title(text)[1])
        yield from list_hidden_parts(list(document.nodes), read_variables(space, text, at=file, claims=NOBODY))


def _describe(condition: str) -> str:
    return f"for readers for whom `{condition}`"
