"""What a site file declares: items with the fields that somebody wrote down, and the place of each.

A field that is absent is unmanaged, one that is None is unset, any other is managed: so nothing here has a default.
Source: syncd/manual/reference/site-file.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from syncd.model.ref import ROOT, Area, Kind, Ref

Prune = Literal["never", "owned", "all"]
OnDrift = Literal["report", "revert", "accept"]


@dataclass(frozen=True, order=True)
class Place:
    """Where something stands: a file as it is named from the repository's root, line and column from 1."""

    file: str
    line: int = 1
    column: int = 1
    width: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.file else ""


NOWHERE = Place("")
"""Of what no file declares."""


@dataclass(frozen=True)
class Item:
    """One declared item.

    Shapes of `key`: a group's or section's key; `<section>/<variant>` for a variant of a section and `<variant>` on a
    site without sections; a redirect's source as `make_source_key` spells it; the variant's key for an override; ""
    for the other kinds.
    Shapes of `fields`, all in the file's own words:
    site: title, visibility, basename, proxy, adaptive_content, agents_context ·
    visitors: one field a claim, `claims.<name>` or `unsigned.<name>`, each the JSON Schema of that claim ·
    group: title, icon · section: title, path, icon, description, condition, default ·
    variant: space (the platform's id), path, condition, hidden, default · redirect: source, to ·
    customization and override: one field a leaf, named by its members joined by dots; a list is one leaf ·
    an override that is to be reset has the one field "reset".
    `parent` is the ref (`group:products`, `section:home` or ROOT) of what it stands in; `places` has a place for each
    field. `id` is a pin, `was` are former keys or paths, `protect` forbids every deletion. `note` has the words for
    people that stand beside a redirect; nothing is compared with them.
    """

    kind: Kind
    key: str
    fields: Mapping[str, Any]
    place: Place
    places: Mapping[str, Place] = field(default_factory=dict)
    parent: Ref = ROOT
    id: str = ""
    was: tuple[str, ...] = ()
    protect: bool = False
    note: str = ""

    @cached_property
    def ref(self) -> Ref:
        """The name of this item among all items of its site, such as `section:home`."""
        return Ref.of(self.kind, self.key)

    def where(self, name: str = "") -> Place:
        """Return the place of a field, or of the item itself where the field has none."""
        return self.places.get(name, self.place)


@dataclass(frozen=True)
class Limits:
    """How much a plan may take away unasked; None is no limit. Percentages count from ten items on."""

    max_delete: int | None = None
    max_delete_pct: int | None = None
    max_update_pct: int | None = None


USUAL_LIMITS: Mapping[Area, Limits] = {
    "redirects": Limits(max_delete=10, max_delete_pct=20, max_update_pct=30),
    "structure": Limits(max_delete=0),
}
"""How much goes unasked where a file says nothing, or nothing of that number."""


@dataclass(frozen=True)
class SitePolicy:
    """What a team decided about its site: who wins, what may go, and what needs a person."""

    on_drift: Mapping[Area, OnDrift] = field(default_factory=dict)
    prune: Mapping[Area, Prune] = field(default_factory=dict)
    limits: Mapping[Area, Limits] = field(default_factory=dict)
    allow_empty: bool = False
    allow_new_spaces: bool = False
    """Whether spaces that were on no part of a published site may be read as the file says, without a person's word."""
    require_bridge: bool = False
    allow_unshown_types: bool = False
    """Whether claims may have other types than the API document shows, which is boolean only."""
    ignore: frozenset[str] = frozenset()
    """Fields that are left alone although they are declared, such as `section:home.icon`."""

    def drift(self, area: Area) -> OnDrift:
        """Return what becomes of an edit that was made on the platform; by default it is reported."""
        return self.on_drift.get(area, "report")

    def find_prune(self, area: Area) -> Prune:
        """Return which undeclared items of an area are deleted; by default only redirects that syncd owns."""
        return self.prune.get(area, "owned" if area == "redirects" else "never")


@dataclass(frozen=True)
class SiteFile:
    """A site file, with the redirect files that it names, as it was read.

    Shape: `items` by ref, in the file's order; `orders` has the refs of the children, in the desired order, of every
    parent whose order is managed; `managed` are the areas that the file speaks of; `absent` are the sources of
    redirects that shall not be there, whoever made them; `spaces` are the aliases with the ids of spaces; `holding` is
    the id of the empty space that stands in while a gated part is being made. Where an alias is not declared, the alias
    itself stands in the place of the id. `hosts` are addresses (host, base path) under which visitors read the site.
    `repeated` are items whose ref an earlier one has; `places` has, by its dotted name such as
    `policy.limits.redirects.max_delete`, the place of each value that belongs to no item.
    """

    path: str
    organization: str
    site: str
    items: Mapping[Ref, Item] = field(default_factory=dict)
    orders: Mapping[Ref, tuple[Ref, ...]] = field(default_factory=dict)
    managed: frozenset[Area] = frozenset()
    policy: SitePolicy = field(default_factory=SitePolicy)
    spaces: Mapping[str, str] = field(default_factory=dict)
    space_places: Mapping[str, Place] = field(default_factory=dict)
    holding: str = ""
    absent: Mapping[str, Place] = field(default_factory=dict)
    redirect_files: tuple[str, ...] = ()
    hosts: tuple[tuple[str, str], ...] = ()
    repeated: tuple[Item, ...] = ()
    places: Mapping[str, Place] = field(default_factory=dict)
    silenced: Mapping[tuple[str, int], frozenset[str]] = field(default_factory=dict)
    """Codes of warnings that a comment on a line of a file silences."""

    def of(self, *kinds: Kind) -> tuple[Item, ...]:
        """Return the items of some kinds, in the file's order."""
        if kinds not in self._of:
            self._of[kinds] = tuple(item for item in self.items.values() if item.kind in kinds)
        return self._of[kinds]

    @cached_property
    def _of(self) -> dict[tuple[Kind, ...], tuple[Item, ...]]:
        return {}
