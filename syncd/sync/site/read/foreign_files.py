"""Files of other tools beside a site: what of them belongs in its file, and where the paths in them lead."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from posixpath import basename, dirname
from typing import Any

from syncd.errors import ConfigInvalid
from syncd.layout.site.addresses.addresses import SiteMap, fold_address
from syncd.layout.site.read.declared import Item
from syncd.layout.site.write.imports import ImportContext, ImportedFile, import_file
from syncd.sync.binding import Binding
from syncd.sync.site.read.parts import SiteReader


@dataclass(frozen=True)
class ForeignFile:
    """A file of another tool, by its path from the repository's root, and the spaces that the repository mirrors.

    Shape: `variant` is the key of the variant that a space's file is about; "" for that of the directory it lies in.
    """

    path: str
    text: str
    bindings: tuple[Binding, ...] = ()
    variant: str = ""

    @property
    def is_structure(self) -> bool:
        """Whether it is a site's structure, and not redirects."""
        return basename(self.path).lower().endswith(("docs.yaml", "docs.yml"))

    def keys(self) -> Mapping[tuple[str, ...], str]:
        """Return the keys that a structure gives: of groups by their title, of sections and variants by their path."""
        imported = import_file(self.text, path=self.path, around=ImportContext(spaces=self._spaces()))
        structure: Mapping[str, Any] = imported.document.get("structure") or {}
        return dict(_list_keys(structure.get("items") or ()))

    def import_for(
        self, site: SiteMap, files: Callable[[str], Mapping[str, str] | None] = lambda space: None
    ) -> ImportedFile:
        """Return what of this file belongs in a site's file, and what cannot be imported.

        Shape: `files` returns, for a space, the addresses of its pages by their files; None where they are not known.
        Raises: FileInvalid; ConfigInvalid when the site has no such variant.
        """
        variant = self._find_variant(site)
        around = ImportContext(
            variant=variant.key if variant is not None else "",
            below=site.address(variant.ref) if variant is not None else "",
            spaces=self._spaces(),
            resolve=lambda path: find_destination(site, path),
            pages=files(str(variant.fields.get("space") or "")) if variant is not None else None,
        )
        return import_file(self.text, path=self.path, around=around)

    def _find_variant(self, site: SiteMap) -> Item | None:
        variants = site.file.of("variant")
        if not self.variant:
            space = next((one.space for one in self.bindings if one.directory == dirname(self.path)), "")
            return next((item for item in variants if space and item.fields.get("space") == space), None)
        found = next((item for item in variants if item.key == self.variant), None)
        if found is None:
            hint = f"the site has {', '.join(item.key for item in variants) or 'none'}"
            raise ConfigInvalid(f"there is no variant {self.variant}", hint=hint)
        return found

    def _spaces(self) -> dict[str, str]:
        return {name: one.space for one in self.bindings for name in (one.name, one.directory) if name}


class LivePages(Mapping[str, Mapping[str, str]]):
    """The pages of spaces as the platform has them, each space read when it is first asked for."""

    def __init__(self, reader: SiteReader) -> None:
        """Read pages with a site's reader, each space once. Raises, when asked: PlatformError."""
        self._pages = cache(reader.pages)

    def __getitem__(self, space: str) -> Mapping[str, str]:
        pages = self._pages(space) if space else None
        if pages is None:
            raise KeyError(space)
        return {fold_address(path): path or " " for path in pages}

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def find_destination(site: SiteMap, path: str) -> Mapping[str, Any] | None:
    """Return what is at a path of a site as a redirect's destination; without content, the path's address.

    Shape: a page that cannot be looked up here is taken to exist; the plan finds out.
    """
    inner = site.inner(path)
    spot = site.at(inner) if inner is not None else None
    if spot is not None:
        item = site.file.items[spot.variant]
        if spot.path:
            return {"page": spot.path, "in": item.key}
        first = site.first_of(item.parent)
        return {"section": item.parent.key} if first == spot else {"variant": item.key}
    hosts = site.hosts or site.file.hosts
    return {"url": f"https://{'/'.join(part.strip('/') for part in hosts[0] if part)}{path}"} if hosts else None


def _list_keys(items: Any, section: str = "") -> Iterator[tuple[tuple[str, ...], str]]:
    for item in items:
        if "group" in item:
            yield ("group", str(item.get("title", ""))), item["group"]
            yield from _list_keys(item.get("items") or ())
        elif "section" in item:
            yield ("section", str(item.get("path", ""))), item["section"]
            yield from _list_keys(item.get("variants") or (), str(item.get("path", "")))
        else:
            yield ("variant", section, str(item.get("path", ""))), item["variant"]
