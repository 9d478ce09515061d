"""What a site shows at one time: spaces, their tables of contents, and the addresses of their pages."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from syncd.errors import FileInvalid, PathRefused
from syncd.layout.lint.space import SpaceFile
from syncd.layout.page.image_size import read_image_size
from syncd.layout.page.signs import read_signs
from syncd.layout.site.addresses.addresses import SiteMap, fold_address
from syncd.layout.site.addresses.app_addresses import read_app_address
from syncd.layout.site.read.declared import Item
from syncd.layout.tree.draft import Draft
from syncd.layout.tree.summary import Entry, select_entries, walk_entries
from syncd.web.pages.contents import Contents, ContentsEntry, build_contents
from syncd.web.pages.customization import is_safe_address

if TYPE_CHECKING:
    from syncd.sync.publish.source import SpaceFiles

FILES = "/~syncd"
"""The address below which everything is that is no page; no page can have it."""
READ_ERRORS = (OSError, PathRefused, KeyError)
"""What reading a file may raise that was there a moment ago."""
_IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".bmp", ".svg")
_HIDDEN = ("hidden",)


@dataclass(frozen=True)
class SpacePages:
    """A space with its files; `addresses` has the file of each page, by its path in one spelling.

    Shape: `spelled` has the path of each page as the platform spells it, by its file; `closed` has the members, such as
    `noIndex`, by which pages and those below them are kept out of something. `withheld` are files of pages that are
    not for everybody, and in none of the others. `signs` has the emoji and the icon of pages that were read already.
    """

    files: "SpaceFiles"
    draft: Draft
    addresses: Mapping[str, str]
    closed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    spelled: Mapping[str, str] = field(default_factory=dict)
    withheld: frozenset[str] = frozenset()
    signs: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @cached_property
    def paths(self) -> Mapping[str, str]:
        """The path of each page within the space, by its file."""
        return {file: self.spelled.get(file, path) for path, file in reversed(list(self.addresses.items()))}

    @cached_property
    def first_file(self) -> str:
        """The file of the page that visitors see first; "" for a space without pages."""
        return self.addresses.get("") or next(iter(self.draft.documents), "")

    def find_file(self, path: str) -> str | None:
        """Return the file at a path of the space, with or without its extension, or the page of a folder."""
        return next((name for name in self._list_names(path) if name in self.files.items), None)

    def find_page(self, path: str) -> str | None:
        """Return the file of the page at a path of slugs, or of its file; "" is the page that visitors see first."""
        file = (self.addresses.get(fold_address(path)) or self.find_file(path)) if path else self.first_file
        return file if file in self.paths else None

    def is_withheld(self, path: str) -> bool:
        """Return whether a path leads to nothing but a page that is not for everybody."""
        if self.find_file(path) is not None or self.find_page(path) is not None:
            return False
        slugs = (fold_address(self.spelled.get(file, "")) for file in self.withheld)
        return not self.withheld.isdisjoint(self._list_names(path)) or fold_address(path) in slugs

    def _list_names(self, path: str) -> tuple[str, str, str]:
        stem = path.rstrip("/")
        return path, f"{stem}.md", f"{stem}/README.md" if stem else self.first_file

    @cached_property
    def titles(self) -> Mapping[str | None, str]:
        """The title of each page by its file, also of one that is hidden from the table of contents."""
        return {one.path: one.title for one, _ in walk_entries(self.draft.entries) if one.anchor is None}

    def is_closed(self, file: str, members: Collection[str]) -> bool:
        """Return whether a page, or one above it, has one of these members."""
        return not self.closed.get(file, frozenset()).isdisjoint(members)

    def locate(self, path: str) -> str:
        """Return a path of the space as one from the top of its tree."""
        return f"{self.files.directory}/{path}" if self.files.directory else path


@dataclass(frozen=True)
class SiteContent:
    """All that a site shows; `problem` is what is wrong with the site file, if anything.

    Shape: `spaces` by the space that a variant of the site names; `commit` is "" for the work tree. With `has_hidden`,
    as for a writer, navigation has what is hidden from it. `withheld` are spaces that are not for everybody, and in
    none of the others.
    """

    top: Path
    site: SiteMap
    spaces: Mapping[str, SpacePages]
    title: str
    problem: FileInvalid | None = None
    site_path: str = ""
    commit: str = ""
    has_hidden: bool = True
    withheld: frozenset[str] = frozenset()
    _contents: dict[str, Contents] = field(default_factory=dict)
    _signs: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    _image_sizes: dict[tuple[str, str], tuple[int, int] | None] = field(default_factory=dict)

    @cached_property
    def variants(self) -> Mapping[str, Item]:
        """The first variant that shows each space."""
        found: dict[str, Item] = {}
        for item in self.site.file.of("variant"):
            found.setdefault(str(item.fields.get("space")), item)
        return found

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The number by which addresses name each space."""
        return {name: number for number, name in enumerate(self.spaces)}

    @cached_property
    def _prefixes(self) -> Mapping[str, str]:
        return {name: self.site.address(item.ref).rstrip("/") for name, item in self.variants.items()}

    def find_signs(self, name: str, file: str) -> tuple[str, str]:
        """Return the emoji and the icon of a page, read once; "" and "" for one that cannot be read."""
        space, place = self.spaces[name], (name, file)
        if place not in self._signs:
            self._signs[place] = space.signs.get(file, ("", ""))
            with suppress(*READ_ERRORS):
                if file not in space.signs:
                    text = space.files.items[file].read().decode(errors="replace")
                    self._signs[place] = read_signs(text, space.titles.get(file, ""), at=file)
        return self._signs[place]

    def renew_files(self, files: Mapping[str, Mapping[str, SpaceFile]]) -> "SiteContent":
        """Return the site with other states of some of its files, by space and path, and nothing remembered of them."""
        spaces = dict(self.spaces)
        for name, items in files.items():
            space = spaces[name]
            spaces[name] = replace(space, files=replace(space.files, items={**space.files.items, **items}))
        return replace(
            self,
            spaces=spaces,
            _contents={},
            _signs={place: found for place, found in self._signs.items() if place[1] not in files.get(place[0], ())},
            _image_sizes={},
        )

    def find_image_size(self, name: str, path: str) -> tuple[int | None, int | None]:
        """Return the width and height of a file of a space, read once; None and None for what is no image."""
        if not path.lower().endswith(_IMAGES):
            return None, None
        place = (name, path)
        if place not in self._image_sizes:
            self._image_sizes[place] = None
            with suppress(*READ_ERRORS):
                self._image_sizes[place] = read_image_size(self.spaces[name].files.items[path].read())
        return self._image_sizes[place] or (None, None)

    def find_page_address(self, name: str, file: str) -> str:
        """Return the address of a page, the one that it has below the site; "" without one."""
        space, prefix = self.spaces[name], self._prefixes.get(name)
        path = "" if file == space.first_file else space.paths.get(file)
        if prefix is None or path is None:
            return ""
        # Paths are kept encoded where they need it, as a redirect's source is.
        return quote(f"{prefix}/{path}" if path else prefix or "/", safe="/%~")

    def find_app_target(self, address: str) -> tuple[str, str, str] | None:
        """Return the space, the file and the anchor of the page that an address opens in the platform's app.

        Shape: the file is "" for a page that is not for everybody. None for any other address, and for a page that is
        not there: that one is left to the platform.
        """
        named = read_app_address(address)
        if named is None:
            return None
        space = self.spaces.get(named.space)
        if space is None:
            return (named.space, "", "") if named.space in self.withheld else None
        file = space.find_page(named.path)
        if file is None:
            return (named.space, "", "") if space.is_withheld(named.path) else None
        return named.space, file, named.anchor

    def make_file_address(self, name: str, path: str) -> str:
        """Return the address of a file of a space."""
        return f"{FILES}/files/{self.numbers[name]}/{quote(path)}"

    def find_scope(self, name: str) -> str:
        """Return the address of the files that belong to the table of contents of a space."""
        return f"{FILES}/spaces/{self.numbers[name]}"

    def read_contents(self, name: str) -> Contents:
        """Return the table of contents of a space, made once."""
        if name not in self._contents:
            space = self.spaces[name]
            entries = select_entries(
                space.draft.entries, lambda one: one.anchor is not None or not space.is_closed(one.path or "", _HIDDEN)
            )
            self._contents[name] = build_contents(
                entries, partial(self._find_entry_address, name), partial(self.find_signs, name)
            )
        return self._contents[name]

    def find_entry(self, name: str, file: str) -> ContentsEntry | None:
        """Return the entry of a page in its table of contents; None for a file that nothing lists."""
        contents = self.read_contents(name)
        number = contents.numbers_by_path.get(file)
        return None if number is None else contents.entries[number]

    def _find_entry_address(self, name: str, entry: Entry) -> str | None:
        """Where an entry leads; None for one that nobody can follow."""
        space = self.spaces[name]
        if entry.path is not None:
            anchor = f"#{entry.anchor}" if entry.anchor else ""
            return self.find_page_address(name, entry.path) + anchor if entry.path in space.paths else None
        target = entry.target or ""
        if (there := self.find_app_target(target)) is not None:
            return self.find_page_address(*there[:2]) + there[2] if there[1] else None
        if is_safe_address(target):
            return target
        found = space.find_file(target)
        return self.make_file_address(name, found) if found is not None else None
