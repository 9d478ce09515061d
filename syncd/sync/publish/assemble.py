"""Put a site together: the spaces of a tree, arranged as a site file says, or in the order of their directories."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from syncd.errors import ConfigInvalid, FileInvalid
from syncd.layout.lint.space import Space
from syncd.layout.site.addresses.addresses import SiteMap, fold_address, list_page_paths
from syncd.layout.site.read.declared import Item, Place, SiteFile
from syncd.layout.tree.paths import slugify
from syncd.model.ref import ROOT, Ref
from syncd.sync.publish.content import SiteContent, SpacePages
from syncd.sync.site.read.site_file import SiteFileTexts, read_source

if TYPE_CHECKING:
    from syncd.sync.publish.source import SpaceFiles


@dataclass(frozen=True)
class DeclaredSite:
    """A site file as far as it could be read, what is wrong with it, and its path; a site needs none."""

    file: SiteFile | None = None
    problem: FileInvalid | None = None
    path: str = ""


def read_declared(read: Callable[[], SiteFileTexts], path: str) -> DeclaredSite:
    """Return the site file at a path as far as it can be read; `read` raises ConfigInvalid where there is none."""
    try:
        return DeclaredSite(read_source(read())[0], None, path)
    except ConfigInvalid:
        return DeclaredSite(path=path)
    except FileInvalid as error:
        return DeclaredSite(None, error, path)


def read_space(files: "SpaceFiles") -> SpacePages:
    """Return a space with its table of contents and the addresses of its pages."""
    draft = Space(files.items).draft
    spelled = list_page_paths(draft)
    return SpacePages(files, draft, {fold_address(path): file for file, path in spelled.items()}, spelled=spelled)


def assemble_site(
    top: Path, spaces: Sequence[SpacePages], declared: DeclaredSite, bound: Mapping[str, str], commit: str
) -> SiteContent:
    """Return the site that a file declares for these spaces; what it does not arrange gets a section for each space.

    Shape: `bound` has the id of each space that is configured, by its directory.
    """
    file = declared.file
    names = _name_spaces(spaces, file, bound)
    by_name = dict(zip(names, spaces, strict=True))
    file = file if file is not None and file.of("variant") else _declare_structure(by_name, file)
    # Lists and the search have the spaces in the order in which readers see them.
    order = dict.fromkeys([*(str(item.fields.get("space")) for item in file.of("variant")), *by_name])
    by_name = {name: by_name[name] for name in order if name in by_name}
    site = SiteMap(file, {name: space.addresses for name, space in by_name.items()})
    title = next((str(one.fields["title"]) for one in file.of("site") if one.fields.get("title")), "")
    if not title and len(spaces) == 1:
        first = spaces[0].draft.entries[:1]
        title = first[0].title if first else ""
    return SiteContent(top, site, by_name, title or top.name, declared.problem, declared.path, commit)


def _name_spaces(spaces: Sequence[SpacePages], declared: SiteFile | None, bound: Mapping[str, str]) -> list[str]:
    """The id of each space in the site file: as it is configured, else by the name of its directory."""
    aliases = dict(declared.spaces) if declared is not None else {}
    variants = {item.key: str(item.fields.get("space")) for item in declared.of("variant")} if declared else {}
    names: list[str] = []
    for space in spaces:
        directory = space.files.directory
        candidates = (directory, slugify(directory), directory.rpartition("/")[2])
        found = bound.get(directory) or next((aliases[one] for one in candidates if one in aliases), "")
        found = found or variants.get(directory, "") or (next(iter(aliases.values()), "") if len(spaces) == 1 else "")
        names.append(found if found and found not in names else f"directory {directory}")
    return names


def _declare_structure(spaces: Mapping[str, SpacePages], declared: SiteFile | None) -> SiteFile:
    """A site file for spaces that none arranges: a section for each, in the order of their directories."""
    items: dict[Ref, Item] = dict(declared.items) if declared is not None else {}
    for name, space in spaces.items():
        slug, place = slugify(space.files.directory), Place(space.files.directory or ".")
        parent = ROOT
        if len(spaces) > 1:
            title = space.draft.entries[0].title if space.draft.entries else ""
            words = space.files.directory.replace("/", " / ") or title
            section = Item("section", slug, {"title": words, "path": slug}, place)
            items[section.ref] = section
            parent = section.ref
        key = f"{slug}/docs" if len(spaces) > 1 else "docs"
        variant = Item("variant", key, {"space": name, "path": "docs", "default": True}, place, parent=parent)
        items[variant.ref] = variant
    base = declared if declared is not None else SiteFile("", "", "")
    return replace(base, items=items)
