"""What is decided about a site's groups, sections and variants, before any request is drafted."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from syncd.layout.site.read.declared import Item
from syncd.model.ref import ROOT, Kind, Ref
from syncd.plan.site.differ import Diff
from syncd.plan.site.format import quote_ref
from syncd.plan.site.lines import describe_obstacle
from syncd.plan.site.sides import Sides
from syncd.plan.site.steps import Line, OptionalDeletion, RemoteDeletion

PARTS: tuple[Kind, ...] = ("group", "section", "variant")
"""What a site's structure is made of, each kind before what stands in it."""


@dataclass(frozen=True)
class RemoteDeletions:
    """What somebody deleted on the platform: whether the file changed it since, by ref, and what stays away."""

    lost: Mapping[Ref, RemoteDeletion] = field(default_factory=dict)
    left: frozenset[Ref] = frozenset()

    def classify(self, ref: Ref) -> OptionalDeletion:
        """Return whether an item was deleted on the platform, and whether the file changed it since, which is a
        conflict.
        """
        return self.lost.get(ref, "")


@dataclass(frozen=True)
class Structure:
    """The decisions about a site's structure.

    Shape: `desired` has the declared fields in the API's terms, by ref; `diffs` by ref, of what is there; `new` is
    what is going to be made, each item behind what it stands in; `lines` say what cannot be done.
    """

    desired: Mapping[Ref, Mapping[str, Any]]
    diffs: Mapping[Ref, Diff]
    new: Mapping[Ref, Item]
    remote: RemoteDeletions
    lines: tuple[Line, ...] = ()

    @cached_property
    def first_variants(self) -> Mapping[Ref, Ref]:
        """The variant that each new section is made with, by the section's ref: the default, else the first."""
        first: dict[Ref, Item] = {}
        for item in self.new.values():
            known = first.get(item.parent)
            is_better = known is None or (bool(item.fields.get("default")) and not known.fields.get("default"))
            if item.kind == "variant" and item.parent in self.new and is_better:
                first[item.parent] = item
        return {section: item.ref for section, item in first.items()}

    def is_present(self, sides: Sides, ref: Ref) -> bool:
        """Return whether a ref is on the platform, or will be once this plan has created it."""
        return is_present(sides, self.new, ref)


def is_present(sides: Sides, new: Container[Ref], ref: Ref) -> bool:
    """Return whether a ref is on the platform, or is one of the `new` ones."""
    return ref in sides.matches.found or ref in new


def is_becoming_default(structure: Structure, item: Item) -> bool:
    """Return whether this plan makes a declared section or variant the default among its siblings."""
    diff = structure.diffs.get(item.ref)
    is_changing = item.ref in structure.new or (diff is not None and "default" in diff.act)
    return bool(item.fields.get("default")) and is_changing


def find_condition(sides: Sides, item: Item) -> str:
    """Return the condition that keeps a variant or section from the public: its own, else its section's."""
    section = sides.desired.items.get(item.parent) if item.kind == "variant" else None
    own = item.fields.get("condition")
    return str(own or (section.fields.get("condition") if section is not None else "") or "")


def is_opened_remotely(sides: Sides, diffs: Mapping[Ref, Diff], item: Item) -> bool:
    """Return whether a variant or section that the file gates is open on the platform and stays so.

    That is so while somebody's edit there, which is only reported, has removed its condition.
    """
    refs = [item.ref, *([item.parent] if item.kind == "variant" and item.parent != ROOT else [])]
    gated = [ref for ref in refs if (one := sides.desired.items.get(ref)) is not None and one.fields.get("condition")]
    return bool(gated) and not any(_is_closed(sides, diffs, ref) for ref in gated)


def _is_closed(sides: Sides, diffs: Mapping[Ref, Diff], ref: Ref) -> bool:
    existing, diff = sides.matches.found.get(ref), diffs.get(ref)
    return existing is None or bool(existing.fields.get("condition")) or (diff is not None and "condition" in diff.act)


def block_field(sides: Sides, structure: Structure, name: str, notes: Mapping[Ref, tuple[str, str]]) -> Structure:
    """Return the structure without writing a field to some items; `notes` says why by ref.

    Shape: a note is why, and what a person can do; each becomes a line. Without notes, the same value.
    """
    diffs, lines = dict(structure.diffs), list(structure.lines)
    for ref, (note, manual) in notes.items():
        found, gone = diffs[ref].act.get(name), structure.remote.classify(ref)
        lines.append(describe_obstacle(sides, ref, note, manual=manual, name=name, found=found, gone=gone))
        diffs[ref] = diffs[ref].without(name)
    return replace(structure, diffs=diffs, lines=tuple(lines)) if notes else structure


def leave_out(sides: Sides, structure: Structure, notes: Mapping[Ref, str]) -> Structure:
    """Return the structure without creating some items and all that was to be created in them; `notes` says why by ref.

    Shape: each becomes a line. Without notes, the same value.
    """
    new, lines = dict(structure.new), list(structure.lines)
    waiting = list(notes.items())[::-1]
    while waiting:
        ref, note = waiting.pop()
        if new.pop(ref, None) is not None:
            lines.append(describe_obstacle(sides, ref, note, gone=structure.remote.classify(ref)))
            waiting += [(item.ref, f"{quote_ref(ref)} is blocked") for item in sides.children.get(ref, ())]
    return replace(structure, new=new, lines=tuple(lines)) if notes else structure
