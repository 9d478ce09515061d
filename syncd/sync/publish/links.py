"""Where the references of a page lead: pages, files of its space, reusable content, specifications."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from syncd.errors import FileInvalid, PathRefused
from syncd.layout.evaluation import Variables
from syncd.layout.markdown.addresses import resolve_address
from syncd.layout.page import specifications
from syncd.layout.page.frontmatter import read_metadata, split_frontmatter
from syncd.layout.page.links import follow_moves
from syncd.layout.richtext.reading import to_document
from syncd.layout.site.addresses.follow import follow_address
from syncd.layout.tree.paths import is_markdown
from syncd.sync.publish.content import SiteContent, SpacePages
from syncd.sync.publish.frames import find_spot_address
from syncd.web.blocks import Target

INCLUDE_BYTES_MAX = 1 << 20


@dataclass(frozen=True)
class PageLinks:
    """The references of one page: the site, the name of the page's space, and the page's file in it.

    Shape: `relate` returns an address of the site as the page has it.
    """

    site: SiteContent
    name: str
    path: str
    relate: Callable[[str], str] = str

    @property
    def space(self) -> SpacePages:
        """The space of the page."""
        return self.site.spaces[self.name]

    def resolve(self, ref: Mapping[str, Any]) -> Target | None:
        """Return what a reference leads to; one that leads nowhere has no address."""
        address = ref.get("url") if ref.get("kind") == "url" else None
        return self._resolve_address(address) if isinstance(address, str) else Target("")

    def _resolve_address(self, address: str) -> Target | None:
        if (there := self._resolve_in_space(address)) is not None:
            return there
        found = resolve_address(address, at=self.path, root=self.space.draft.settings.add_root(""))
        if found is None:
            # Below the site itself, elsewhere, or an anchor of this page.
            return Target(address) if not address.startswith(("\\", "..")) else Target("")
        path, suffix = found
        file = self.space.find_file(path)
        if file is None:
            fate = follow_address(self.site.site, address) if address.startswith("/") else None
            to = find_spot_address(self.site, fate.spot) if fate is not None else ""
            return Target(self.relate(to) + suffix) if to else Target("")
        if file in self.space.paths:
            return self._describe_page(self.name, file, suffix)
        if is_markdown(file):
            return Target("", title=file)  # it is there, but nothing lists it
        size, (width, height) = self.space.files.items[file].size, self.site.find_image_size(self.name, file)
        address = self.relate(self.site.make_file_address(self.name, file))
        return Target(address, file.rpartition("/")[2], size=size, width=width, height=height)

    def is_withheld(self, address: str) -> bool:
        """Return whether an address leads to a page of the site that is not for everybody."""
        if (there := self.site.find_app_target(address)) is not None:
            return not there[1]
        found = resolve_address(address, at=self.path, root=self.space.draft.settings.add_root(""))
        return found is not None and self.space.is_withheld(found[0])

    def _resolve_in_space(self, address: str) -> Target | None:
        """A page of any space of the site that the platform's address of it leads to; None for any other address.

        Shape: its path is that of its slugs, or that of its file. One that is not there is left to the platform.
        """
        there = self.site.find_app_target(address)
        if there is None:
            return None
        return self._describe_page(*there) if there[1] else Target("")

    def read_reusable(self, ref: Mapping[str, Any]) -> Sequence[dict[str, Any]] | None:
        """Return the nodes of reusable content, its links as seen from the page; None when it is not there, or too
        large.
        """
        path, data = self._read_target(ref, INCLUDE_BYTES_MAX)
        if data is None:
            return None
        text = follow_moves(split_frontmatter(data.decode(errors="replace"))[1], {}, at=path, to=self.path)
        return list(to_document(text).nodes)

    def read_specification(self, ref: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return an OpenAPI description of the space, YAML or JSON; None when there is none that can be read."""
        _, data = self._read_target(ref, specifications.BYTES_MAX)
        if data is None:
            return None
        with suppress(FileInvalid):
            return specifications.load_specification(data.decode(errors="replace"), at=str(ref.get("url")))
        return None

    def _read_target(self, ref: Mapping[str, Any], most: int) -> tuple[str, bytes | None]:
        """The path that a reference names, and what is in that file; None when it cannot be read, or is too large."""
        address = ref.get("url")
        found = resolve_address(address, at=self.path, root="") if isinstance(address, str) else None
        path = found[0] if found is not None else ""
        item = self.space.files.items.get(path)
        if item is not None and item.size <= most:
            with suppress(OSError, PathRefused):
                return path, item.read()
        return path, None

    def _describe_page(self, name: str, file: str, suffix: str) -> Target:
        entry = self.site.find_entry(name, file)
        title = entry.title if entry is not None else self.site.spaces[name].titles.get(file, "")
        return Target(self.relate(self.site.find_page_address(name, file)) + suffix, title)


def read_variables(space: SpacePages, text: str, *, at: str, claims: Mapping[str, Any] | None) -> Variables:
    """Return the variables that a page with this text reads: its space's, its own, and the claims of its reader."""
    own = read_page_metadata(text, at=at).get("variables") or {}
    return Variables({"space": space.draft.variables, "page": own}, claims)


def read_page_metadata(text: str, *, at: str) -> Mapping[str, Any]:
    """Return what the frontmatter of a page says, {} where it cannot be read: the check tells what is wrong."""
    return _read_head(split_frontmatter(text)[0], at)


@lru_cache(maxsize=16)
def _read_head(head: str, at: str) -> Mapping[str, Any]:
    # What is made of one page asks for it several times.
    with suppress(FileInvalid):
        return read_metadata(head, at=at)
    return {}
