"""Carry out one step of a site's plan: one request, repeated only where that cannot do it twice."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, assert_never

from pydantic import ValidationError

from syncd.errors import AnswerLost, NotThePlatform, PlatformError, RateLimited, Rejected, Unreachable
from syncd.layout.site.read.customization import overlay_leaves
from syncd.layout.site.read.visitors import merge_schema
from syncd.model.adaptive import SiteAdaptiveSchemaWrite
from syncd.model.base import Declared
from syncd.model.customization import SiteCustomizationSettings
from syncd.model.customization_override import SiteSpaceCustomizationOverride
from syncd.model.redirect import SiteRedirectUpdate, SiteRedirectWrite, make_source_key
from syncd.model.ref import ROOT, Ref
from syncd.model.site import (
    SectionMove,
    SiteSectionCreate,
    SiteSectionGroupCreate,
    SiteSectionGroupUpdate,
    SiteSectionUpdate,
    SiteSpaceCreate,
    SiteSpaceMove,
    SiteSpaceUpdate,
    SiteUpdate,
    StructureSort,
)
from syncd.plan.site.call import Call
from syncd.plan.site.live_state import ExistingItem, replace_refs
from syncd.plan.site.steps import Step
from syncd.sync.site.read.parts import ReadStructure, SiteReader

TRIES = 3
"""How often a write is sent whose answer is lost each time."""
_TYPES = {"group": "site-section-group", "section": "site-section", "variant": "site-space"}

Body = TypeVar("Body", bound=Declared)
Answer = TypeVar("Answer")


@dataclass
class IdTable:
    """The ids of items by ref, as they come into being, and every id that was ever seen, with its kind."""

    by_ref: dict[Ref, str]
    kinds: dict[str, str]
    born: Mapping[Ref, Ref] = field(default_factory=dict)
    """By the ref of a section that is to be made, the ref of the variant that comes with it."""

    def resolve(self, value: Any) -> Any:
        """Return a value in which refs may stand for ids as JSON, with the ids."""
        return replace_refs(value, self.by_ref.__getitem__)

    def add(self, ref: Ref, id: str) -> None:
        """Remember the id of an item that exists now."""
        self.by_ref[ref] = id
        self.kinds[id] = ref.kind


@dataclass(frozen=True)
class Likeness:
    """What makes something that is there the same as what was just made, although both are new.

    Shape: `spaces` are those that what stands in it may show; `moves` says that it need not stand in the same place.
    """

    like: Callable[[ExistingItem], bool]
    spaces: frozenset[str] | None = None
    moves: bool = False

    def takes(self, own: ExistingItem, other: ExistingItem, there: ReadStructure) -> bool:
        """Return whether another item is the same as the one that was just made; `there` is where both are."""
        inner = {there.items[id].fields.get("space") for id in there.orders.get(other.id, ())}
        in_place = self.moves or own.parent == other.parent
        return in_place and self.like(other) and (self.spaces is None or inner <= self.spaces)


@dataclass(frozen=True)
class KeptItem:
    """The id of what stays of two that are the same, and the ids of what stands in it."""

    id: str
    inner: tuple[str, ...] = ()


@dataclass(frozen=True)
class CallSender:
    """Carries out the steps of one site's plan.

    Shape: `sorts` as `Abilities.sort`; `spaces` are, by the ref of a section or variant, those that it may show while
    it is made.
    """

    reader: SiteReader
    ids: IdTable
    sorts: bool
    spaces: Mapping[Ref, frozenset[str]] = field(default_factory=dict)

    def carry_out(self, step: Step) -> None:
        """Send the request of a step; the id of what it creates is in `ids` then.

        Raises: PlatformError, Stopped; Rejected also for a body that the API does not take.
        """
        id = "" if step.call.is_create else self.ids.resolve(step.id)
        try:
            self._send(step, id, self.ids.resolve(step.body))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise Rejected(f"{step.call} {step.ref}: {place}: {first['msg']}") from None

    def _send(self, step: Step, id: str, body: Mapping[str, Any]) -> None:
        match step.call:
            case Call.SITE_UPDATE:
                self._update_site(body)
            case Call.SCHEMA_PUT:
                self._put_schema(body)
            case Call.CUSTOMIZATION_PUT:
                self._put_customization(body)
            case Call.OVERRIDE_PATCH:
                self._patch_override(id, body)
            case Call.OVERRIDE_DELETE:
                self.reader.client.customization.delete_override(*self._at, id)
            case Call.GROUP_CREATE:
                self._create_group(step, body)
            case Call.GROUP_UPDATE:
                self._update_group(id, body)
            case Call.GROUP_DELETE:
                self.reader.client.section_groups.delete(*self._at, id)
            case Call.GROUP_ADD:
                self._add_to_group(id, body)
            case Call.SECTION_CREATE:
                self._create_section(step, body)
            case Call.SECTION_UPDATE:
                self._update_section(id, body)
            case Call.SECTION_DELETE:
                self.reader.client.sections.delete(*self._at, id)
            case Call.SECTION_MOVE:
                self._move_section(id, body)
            case Call.VARIANT_CREATE:
                self._create_variant(step, body)
            case Call.VARIANT_UPDATE:
                self._update_variant(id, body)
            case Call.VARIANT_DELETE:
                self.reader.client.site_spaces.delete(*self._at, id)
            case Call.VARIANT_MOVE:
                self._move_variant(id, body)
            case Call.STRUCTURE_SORT:
                self._sort_structure(id, body)
            case Call.REDIRECT_CREATE:
                self._create_redirect(step, body)
            case Call.REDIRECT_UPDATE:
                self._update_redirect(id, body)
            case Call.REDIRECT_DELETE:
                self.reader.client.redirects.delete(*self._at, id)
            case Call.ADOPT | Call.FORGET:
                pass  # these change only the lock
            case _:
                assert_never(step.call)

    @property
    def _at(self) -> tuple[str, str]:
        return self.reader.organization, self.reader.site

    def _update_site(self, body: Mapping[str, Any]) -> None:
        change = SiteUpdate.model_validate(body)
        _send_repeatedly(lambda: self.reader.client.sites.update(*self._at, change))

    def _put_schema(self, body: Mapping[str, Any]) -> None:
        before = self.reader.schema()
        after = merge_schema(before, body)
        if after != before:
            self.reader.client.sites.update_adaptive_schema(*self._at, SiteAdaptiveSchemaWrite(json_schema=after))

    def _put_customization(self, body: Mapping[str, Any]) -> None:
        before = self.reader.customization()
        after = overlay_leaves(before, body)
        if after != before:
            settings = SiteCustomizationSettings.model_validate(after)
            self.reader.client.customization.update(*self._at, settings)

    def _patch_override(self, id: str, body: Mapping[str, Any]) -> None:
        change = SiteSpaceCustomizationOverride.model_validate(body)
        _send_repeatedly(lambda: self.reader.client.customization.override(*self._at, id, change))

    def _create_group(self, step: Step, body: Mapping[str, Any]) -> None:
        new = SiteSectionGroupCreate.model_validate(body)

        def find_new(there: ReadStructure) -> Iterator[str]:
            for one in self._list_new_items(there, "group", body.get("parent") or ROOT):
                if one.fields["title"] == body["title"]:
                    yield one.id

        made = self._create_once(lambda: self.reader.client.section_groups.create(*self._at, new).id, find_new)
        alike = Likeness(lambda one: one.fields["title"] == body["title"])
        self.ids.add(step.ref, self._delete_younger_twin(made, alike, self.reader.client.section_groups.delete).id)

    def _update_group(self, id: str, body: Mapping[str, Any]) -> None:
        change = SiteSectionGroupUpdate.model_validate(body)
        _send_repeatedly(lambda: self.reader.client.section_groups.update(*self._at, id, change))

    def _add_to_group(self, id: str, body: Mapping[str, Any]) -> None:
        _send_repeatedly(lambda: self.reader.client.section_groups.add_section(*self._at, id, body["section"]))

    def _create_section(self, step: Step, body: Mapping[str, Any]) -> None:
        new = SiteSectionCreate.model_validate(body)

        def find_new(there: ReadStructure) -> Iterator[tuple[str, tuple[str, ...]]]:
            for one in self._list_new_items(there, "section", body.get("siteSectionGroupId") or ROOT):
                inner = [there.items[child] for child in there.orders.get(one.id, ())]
                alike = body.get("title") in (None, one.fields["title"])
                if alike and [child.fields["space"] for child in inner] == [body["spaceId"]]:
                    yield one.id, (inner[0].id,)

        def post() -> tuple[str, tuple[str, ...]]:
            section = self.reader.client.sections.create(*self._at, new)
            return section.id, tuple(one.id for one in section.site_spaces)

        made, variants = self._create_once(post, find_new)
        alike = Likeness(
            lambda one: body.get("title") in (None, one.fields["title"]),
            self._list_shown_spaces(step, body),
            moves=True,
        )
        kept = self._delete_younger_twin(made, alike, self.reader.client.sections.delete)
        self.ids.add(step.ref, kept.id)
        inner = (variants if kept.id == made else ()) or kept.inner
        if step.ref in self.ids.born and inner:
            self.ids.add(self.ids.born[step.ref], inner[0])

    def _update_section(self, id: str, body: Mapping[str, Any]) -> None:
        change = SiteSectionUpdate.model_validate(body)
        _send_repeatedly(lambda: self.reader.client.sections.update(*self._at, id, change))

    def _create_variant(self, step: Step, body: Mapping[str, Any]) -> None:
        new = SiteSpaceCreate.model_validate(body)

        def find_new(there: ReadStructure) -> Iterator[str]:
            for one in self._list_new_items(there, "variant", body.get("sectionId") or ROOT):
                if one.fields["space"] == body["spaceId"]:
                    yield one.id

        made = self._create_once(lambda: self.reader.client.site_spaces.create(*self._at, new).id, find_new)
        alike = Likeness(lambda one: one.fields["space"] in self._list_shown_spaces(step, body))
        self.ids.add(step.ref, self._delete_younger_twin(made, alike, self.reader.client.site_spaces.delete).id)

    def _update_variant(self, id: str, body: Mapping[str, Any]) -> None:
        change = SiteSpaceUpdate.model_validate(body)
        _send_repeatedly(lambda: self.reader.client.site_spaces.update(*self._at, id, change))

    def _move_section(self, id: str, body: Mapping[str, Any]) -> None:
        position = {side: {"type": "site-section", "siteSection": anchor} for side, anchor in body.items()}
        move = SectionMove.model_validate({"position": position})
        self._move_once(lambda: self.reader.client.sections.move(*self._at, id, move), id, body)

    def _move_variant(self, id: str, body: Mapping[str, Any]) -> None:
        position = {side: {"type": "site-space", "siteSpace": anchor} for side, anchor in body.items()}
        move = SiteSpaceMove.model_validate({"position": position})
        self._move_once(lambda: self.reader.client.site_spaces.move(*self._at, id, move), id, body)

    def _sort_structure(self, id: str, body: Mapping[str, Any]) -> None:
        position = {side: self._place(anchor) for side, anchor in body.items()}
        sort = StructureSort.model_validate({"item": self._place(id), "position": position})
        self._move_once(lambda: self.reader.client.sites.sort_structure(*self._at, sort), id, body)

    def _create_redirect(self, step: Step, body: Mapping[str, Any]) -> None:
        new = SiteRedirectWrite.model_validate(body)

        def post() -> str:
            return self.reader.client.redirects.create(*self._at, new).id

        try:
            made = post()
        except (AnswerLost, Rejected) as error:
            key = make_source_key(new.source)
            there = self.reader.redirects().values()
            found = [one for one in there if make_source_key(one.fields["source"]) == key]
            if isinstance(error, Rejected) and not any(one.fields["destination"] == new.destination for one in found):
                raise
            made = found[0].id if found else post()
        self.ids.add(step.ref, made)

    def _update_redirect(self, id: str, body: Mapping[str, Any]) -> None:
        change = SiteRedirectUpdate.model_validate(body)
        _send_repeatedly(lambda: self.reader.client.redirects.update(*self._at, id, change))

    def _list_new_items(self, there: ReadStructure, kind: str, parent: str) -> Iterator[ExistingItem]:
        """What nobody had seen before this run, of a kind, in one place."""
        for one in there.items.values():
            if self._is_new(one, there) and one.kind == kind and one.parent == parent:
                yield one

    def _is_new(self, one: ExistingItem, there: ReadStructure) -> bool:
        """Whether somebody made something in this run; a section that holds what was there is the platform's work."""
        inner = there.orders.get(one.id, ()) if one.kind == "section" else ()
        return self.ids.kinds.keys().isdisjoint((one.id, *inner))

    def _list_shown_spaces(self, step: Step, body: Mapping[str, Any]) -> frozenset[str]:
        return self.spaces.get(step.ref, frozenset()) | {body["spaceId"]}

    def _delete_younger_twin(self, made: str, alike: Likeness, delete: Callable[[str, str, str], object]) -> KeptItem:
        """Return what was just made, or what another clone made of the same file at the same time.

        Each clone deletes only what it made itself, and only when it is the younger of the two, so that neither deletes
        the other's: the younger is the one behind in its place, and what has been moved from there is older in any
        case.
        """
        there = self.reader.structure(sorts=self.sorts)
        own = there.items.get(made)
        if own is None:
            return KeptItem(made)
        beside = there.orders[own.parent]
        for one in there.items.values():
            is_new = one.id != made and one.kind == own.kind and self._is_new(one, there)
            if not is_new or not alike.takes(own, one, there):
                continue
            if one.parent != own.parent or beside.index(one.id) < beside.index(made):
                delete(*self._at, made)
                return KeptItem(one.id, tuple(there.orders.get(one.id, ())))
        return KeptItem(made, tuple(there.orders.get(made, ())))

    def _create_once(self, post: Callable[[], Answer], found: Callable[[ReadStructure], Iterator[Answer]]) -> Answer:
        """Create a thing once: when an answer is lost, look for what is new, and ask again only when nothing is.

        Raises: AnswerLost when that stays unclear.
        """
        for left in reversed(range(TRIES)):
            try:
                return post()
            except AnswerLost:
                new = list(found(self.reader.structure(sorts=self.sorts)))
                if len(new) == 1:
                    return new[0]
                if new or not left:
                    raise
        raise AssertionError("unreachable")

    def _move_once(self, post: Callable[[], object], id: str, body: Mapping[str, Any]) -> None:
        """Move something; a refusal counts for nothing when it stands where it shall."""
        for left in reversed(range(TRIES)):
            try:
                post()
                return
            except (AnswerLost, Rejected) as error:
                if self._is_in_place(id, body):
                    return
                if isinstance(error, Rejected) or not left:
                    raise

    def _is_in_place(self, id: str, body: Mapping[str, Any]) -> bool:
        there = self.reader.structure(sorts=self.sorts)
        if id not in there.items:
            return False
        kind, parent = there.items[id].kind, there.items[id].parent
        beside = [one for one in there.orders[parent] if self.sorts or there.items[one].kind == kind]
        at = beside.index(id)
        sides = {"before": beside[at + 1 : at + 2], "after": beside[max(at - 1, 0) : at]}
        return all(sides[side] == [anchor] for side, anchor in body.items())

    def _place(self, id: str) -> Mapping[str, str]:
        return {"type": _TYPES[self.ids.kinds[id]], "id": id}


def is_fatal(error: PlatformError) -> bool:
    """Return whether nothing else would get through to the platform after an error either."""
    return isinstance(error, Unreachable | NotThePlatform | RateLimited) or error.status == 401


def _send_repeatedly(call: Callable[[], object]) -> None:
    """Do what can be done twice; when an answer is lost, do it again."""
    for left in reversed(range(TRIES)):
        try:
            call()
            return
        except AnswerLost:
            if not left:
                raise
