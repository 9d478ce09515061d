"""The two other sides of a site's plan: the platform as it was read, and the lock with what syncd did last.

Values are compared in the API's own terms, ids and all; what is yet to be created is an `IdOf`.
Source: docs/decisions/0005-sites-have-a-lock-file.md.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from syncd.model.ref import ROOT, Kind, Ref

By = Literal["created", "adopted"]


@dataclass(frozen=True)
class IdOf:
    """Stands in a value for the id of something that has none before its own step has run, such as `section:home`."""

    ref: Ref


def find_refs(value: Any) -> Iterator[Ref]:
    """Yield the refs that stand for ids in a JSON value, each as often as it is there."""
    if isinstance(value, IdOf):
        yield value.ref
    elif isinstance(value, dict):
        for member in value.values():
            if not isinstance(member, str):  # nearly every value
                yield from find_refs(member)
    elif isinstance(value, list | tuple):
        for member in value:
            yield from find_refs(member)


def replace_refs(value: Any, find_value: Callable[[Ref], Any]) -> Any:
    """Return a JSON value with each ref that stands for an id replaced by what `find_value` returns."""
    if isinstance(value, IdOf):
        return find_value(value.ref)
    if isinstance(value, dict):
        members = value.items()
        return {name: one if isinstance(one, str) else replace_refs(one, find_value) for name, one in members}
    return [replace_refs(member, find_value) for member in value] if isinstance(value, list | tuple) else value


@dataclass(frozen=True)
class ExistingItem:
    """One item on the platform.

    Shapes of `fields`, values in the API's terms (None where the API has nothing):
    group: title, icon · section: title, path, icon, description, condition, default ·
    variant: space (an id), path, condition, hidden, default · redirect: source, destination.
    `parent` is the id of the group or section that it stands in, or ROOT.
    """

    kind: Kind
    id: str
    fields: Mapping[str, Any]
    parent: str = ROOT


@dataclass(frozen=True)
class Capabilities:
    """What the server can do beyond the document, as far as the reader found out, or was told."""

    sort: bool = False
    reparent: bool = False
    kinds: frozenset[str] = frozenset({"site-section"})
    """Kinds of redirect destinations that it takes."""


@dataclass(frozen=True)
class LiveSite:
    """A site as the platform shows it; only what the file or the lock speaks of was read.

    Shape: `items` by id; `orders` has the ids of the children in their order, by the parent's id (ROOT is the site's
    root, of which the document does not give how groups and sections interleave: then groups come as they are listed,
    behind the sections); `site` has the file's words title, visibility, basename, proxy, adaptive_content and
    agents_context; `schema` is the visitors' JSON Schema or None; `customization` is the raw JSON of the site's
    settings; `overrides` is the raw JSON of the settings that the visitors of a site-space see, by its id; `pages` has
    page ids by path, by space; `page_ids` has the ids of all pages, by space; `spaces` has the ids that were asked for:
    whether each can be seen, and, when not, why; `hosts` are the addresses (host, base path) under which visitors read
    the site.
    """

    site: Mapping[str, Any] = field(default_factory=dict)
    items: Mapping[str, ExistingItem] = field(default_factory=dict)
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    schema: Mapping[str, Any] | None = None
    customization: Mapping[str, Any] = field(default_factory=dict)
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    pages: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    page_ids: Mapping[str, frozenset[str]] = field(default_factory=dict)
    spaces: Mapping[str, str] = field(default_factory=dict)
    """"" where a space can be used, else why not, in a few words."""
    hosts: tuple[tuple[str, str], ...] = ()
    published: bool = True
    """Whether anybody can read the site; True where the platform does not say."""
    frozen: frozenset[str] = frozenset()
    """Features of the site, by their ids, that its plan on the platform does not let anybody change."""
    abilities: Capabilities = Capabilities()

    def of(self, *kinds: Kind) -> tuple[ExistingItem, ...]:
        """Return the items of some kinds, in the platform's order."""
        if kinds not in self._of:
            self._of[kinds] = tuple(item for item in self.items.values() if item.kind in kinds)
        return self._of[kinds]

    @cached_property
    def _of(self) -> dict[tuple[Kind, ...], tuple[ExistingItem, ...]]:
        return {}


@dataclass(frozen=True)
class LockEntry:
    """What the lock knows of one item: its id, how it came to be syncd's, and the values that were last put there.

    Shape: `applied` has the fields of `ExistingItem`, or, for the site, visitors, customization and overrides, of
    `Item`, in the API's terms.
    """

    id: str
    by: By
    applied: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class InFlightRequest:
    """A request that was about to be sent about an item with this id ("" when it was to be made); JSON in and out."""

    call: str
    id: str = ""
    body: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SiteLock:
    """What syncd owns on a site. An empty lock is safe: everything is adopted, nothing is deleted.

    Shape: `in_flight` has, by ref, requests that may or may not have arrived; no lock file has them, only the store.
    """

    site: str
    lineage: str = ""
    serial: int = 0
    items: Mapping[Ref, LockEntry] = field(default_factory=dict)
    in_flight: Mapping[Ref, InFlightRequest] = field(default_factory=dict)
