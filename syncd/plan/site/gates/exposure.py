"""Who can read which space of a site: before a plan, and after each of its steps.

One way to read a space is a variant that shows it, for the audience of the site, as far as the conditions of the
variant and of its section let it through. A space is exposed when somebody gets a way to it that no way from before
covers. Conditions are not understood, only compared: another condition lets other people through.
Whether conditions hold while a site has adaptive content switched off, the API document does not say: so both is taken
into account.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from syncd.model.ref import ROOT, Ref
from syncd.model.text import show_unprintable
from syncd.model.wording import format_first
from syncd.plan.site.call import Call
from syncd.plan.site.format import shorten
from syncd.plan.site.live_state import IdOf
from syncd.plan.site.part import Draft
from syncd.plan.site.sides import Sides
from syncd.plan.site.steps import Gate

_AUDIENCES = {
    "public": "anyone",
    "unlisted": "anyone who has the address",
    "share-link": "anyone who has a share link",
    "visitor-auth": "anyone who signs in",
}
_KINDS = ("site", "section", "variant")
"""What decides who can read what."""
_SHOWN = 5
"""Names, and ways, that are told each."""


@dataclass(frozen=True)
class Access:
    """Who can read a space through one variant: this audience of the site, where all of these conditions hold."""

    audience: str
    conditions: frozenset[str] = frozenset()

    def is_within(self, other: "Access") -> bool:
        """Return whether everybody who can read by this access can read by the other one."""
        wide = other.audience == "public" or (other.audience == "unlisted" and self.audience != "public")
        return (wide or self.audience == other.audience) and other.conditions <= self.conditions

    def __str__(self) -> str:
        who = _AUDIENCES.get(self.audience, f"the audience {show_unprintable(self.audience)}")
        each = " and ".join(shorten(one) for one in sorted(self.conditions))
        return f"{who} if {each}" if each else who


@dataclass(frozen=True)
class Exposure:
    """A space that somebody can read who could not; `ref` is what lets them, `before` who could read it so far.

    Shape: `is_passing` says that the plan takes it back, `is_unsure` that conditions may still keep somebody out.
    """

    ref: Ref
    space: str
    way: Access
    before: tuple[Access, ...]
    is_passing: bool = False
    is_unsure: bool = False


@dataclass(frozen=True)
class _ReadableVariant:
    """What decides who can read a space through a site-space."""

    ref: Ref
    space: str
    section: str
    condition: str = ""


_TwoReadings = tuple[Mapping[str, list[Access]], Mapping[str, list[Access]]]
"""The ways to each space, by its id: where conditions need adaptive content, and where they always hold."""


@dataclass
class _ReadableSite:
    """A site as far as it decides who can read what; what is made has its ref in the place of its id."""

    audience: str
    is_adaptive: bool
    sections: dict[str, str] = field(default_factory=dict)
    variants: dict[str, _ReadableVariant] = field(default_factory=dict)

    def ways(self, variant: _ReadableVariant) -> tuple[Access, Access]:
        """Return the way through a variant where conditions need adaptive content, and where they always hold."""
        conditions = frozenset(filter(None, (self.sections.get(variant.section), variant.condition)))
        return Access(self.audience, conditions if self.is_adaptive else frozenset()), Access(self.audience, conditions)

    def all_ways(self) -> _TwoReadings:
        """Return every way to every space."""
        found = defaultdict[str, list[Access]](list), defaultdict[str, list[Access]](list)
        for variant in self.variants.values():
            for ways, way in zip(found, self.ways(variant), strict=True):
                ways[variant.space].append(way)
        return found

    def run(self, draft: Draft, first: Mapping[Ref, Ref]) -> Iterable[_ReadableVariant]:
        """Do what a step does; return the variants through which other people can read now.

        Shape: `first` has, by the ref of a section that is made, the variant that it is made with.
        """
        match draft.call:
            case Call.SITE_UPDATE:
                return self._update_site(draft)
            case Call.SECTION_CREATE:
                return self._add_variant(first.get(draft.ref, draft.ref), draft, draft.ref)
            case Call.VARIANT_CREATE:
                return self._add_variant(draft.ref, draft, _find_key(draft.body.get("sectionId", ROOT)))
            case Call.SECTION_UPDATE:
                return self._update_section(_find_key(draft.id), draft)
            case Call.VARIANT_UPDATE:
                return self._update_variant(_find_key(draft.id), draft)
            case Call.SECTION_DELETE | Call.VARIANT_DELETE:
                gone = _find_key(draft.id)
                self.variants = {id: one for id, one in self.variants.items() if gone not in (id, one.section)}
                return ()
            case Call.ADOPT | Call.FORGET | Call.SCHEMA_PUT | Call.CUSTOMIZATION_PUT:
                return ()
            case Call.GROUP_CREATE | Call.GROUP_UPDATE | Call.GROUP_DELETE | Call.GROUP_ADD:
                return ()
            case Call.SECTION_MOVE | Call.VARIANT_MOVE | Call.STRUCTURE_SORT:
                return ()
            case Call.REDIRECT_CREATE | Call.REDIRECT_UPDATE | Call.REDIRECT_DELETE:
                return ()
            case Call.OVERRIDE_PATCH | Call.OVERRIDE_DELETE:
                return ()
            case _:
                assert_never(draft.call)

    def _add_variant(self, ref: Ref, draft: Draft, section: str) -> Iterable[_ReadableVariant]:
        self.variants[ref] = _ReadableVariant(ref, str(draft.body["spaceId"]), section)
        return (self.variants[ref],)

    def _update_site(self, draft: Draft) -> Iterable[_ReadableVariant]:
        self.audience = str(draft.body.get("visibility", self.audience))
        adaptive = draft.body.get("adaptiveContent")
        if isinstance(adaptive, Mapping):
            self.is_adaptive = bool(adaptive.get("enabled"))
        return tuple(self.variants.values()) if {"visibility", "adaptiveContent"} & draft.body.keys() else ()

    def _update_section(self, key: str, draft: Draft) -> Iterable[_ReadableVariant]:
        if "condition" not in draft.body:
            return ()
        self.sections[key] = str(draft.body["condition"] or "")
        return [one for one in self.variants.values() if one.section == key]

    def _update_variant(self, key: str, draft: Draft) -> Iterable[_ReadableVariant]:
        variant = self.variants.get(key)
        if variant is None or not {"condition", "spaceId"} & draft.body.keys():
            return ()
        condition = draft.body.get("condition", variant.condition)
        space = str(draft.body.get("spaceId", variant.space))
        self.variants[key] = replace(variant, space=space, condition=str(condition or ""))
        return (self.variants[key],)


def gate_exposures(sides: Sides, drafts: Sequence[Draft], first_variants: Mapping[Ref, Ref]) -> tuple[Gate, ...]:
    """Return the gate that holds steps which let somebody read what they could not, or ().

    Shape: `drafts` are in the order in which they run; `first_variants` has the variant that each new section is
    created with, by the section's ref.
    """
    found = list(find_exposures(sides, drafts, first_variants))
    refs = tuple(dict.fromkeys(one.ref for one in found))
    return (Gate("exposure", refs, "; ".join(_describe_exposures(sides, found)), approval=True),) if found else ()


def find_exposures(sides: Sides, drafts: Sequence[Draft], first_variants: Mapping[Ref, Ref]) -> Iterator[Exposure]:
    """Yield what any step lets somebody read who could not before the plan; `drafts` are in the order in which they
    run.

    Shape: an exposure that an earlier one covers is left out. The holding space is empty, so nobody reads anything
    there. On a site that is not published, spaces that no part of it shows are left to whoever publishes it; on others,
    the policy may allow them to be read as the file says.
    """
    drafts = [draft for draft in drafts if draft.ref.kind in _KINDS]
    site, end = _build_site(sides), _build_site(sides)
    before = site.all_ways()
    for draft in drafts:
        end.run(draft, first_variants)
    after = end.all_ways()
    allowed = _find_allowed_accesses(sides, before, after)
    for draft in drafts:
        for variant in site.run(draft, first_variants):
            if variant.space == sides.desired.holding or (
                not sides.existing.published and variant.space not in before[0]
            ):
                continue
            ref = draft.ref if draft.call in (Call.SITE_UPDATE, Call.SECTION_UPDATE) else variant.ref
            ways = site.ways(variant)
            for at, way in enumerate(ways):
                if not _is_covered(way, allowed[at][variant.space]):
                    for each, one in zip(allowed, ways, strict=True):
                        each[variant.space].append(one)
                    is_passing = not _is_covered(way, after[at].get(variant.space, ()))
                    so_far = tuple(dict.fromkeys(before[at].get(variant.space, ())))
                    yield Exposure(ref, variant.space, way, so_far, is_passing, is_unsure=way != ways[1])


def _find_allowed_accesses(sides: Sides, before: _TwoReadings, after: _TwoReadings) -> _TwoReadings:
    """The ways that need nobody's word: those from before, and those to new spaces that the policy lets be read."""
    former = sides.options.previous
    may_show = sides.desired.policy.allow_new_spaces and (former is None or former.policy.allow_new_spaces)
    allowed = tuple(defaultdict(list, {space: list(ways) for space, ways in each.items()}) for each in before)
    for at in range(2) if may_show else ():
        for space in after[at].keys() - before[at].keys():
            allowed[at][space] += after[at][space]
    return allowed[0], allowed[1]


def _is_covered(way: Access, ways: Iterable[Access]) -> bool:
    return any(way.is_within(one) for one in ways)


def _build_site(sides: Sides) -> _ReadableSite:
    live = sides.existing
    site = _ReadableSite(str(live.site.get("visibility")), bool(live.site.get("adaptive_content")))
    for item in live.of("section", "variant"):
        condition = str(item.fields.get("condition") or "")
        if item.kind == "section":
            site.sections[item.id] = condition
        else:
            space = str(item.fields.get("space") or "")
            site.variants[item.id] = _ReadableVariant(sides.find_ref(item.id), space, item.parent, condition)
    return site


def _find_key(id: object) -> str:
    return id.ref if isinstance(id, IdOf) else str(id)


def _describe_exposures(sides: Sides, found: Iterable[Exposure]) -> Iterator[str]:
    """Which spaces become readable for whom, those that have that in common in one sentence."""
    alike = defaultdict[Exposure, list[str]](list)
    for one in found:
        alike[replace(one, ref=ROOT, space="")].append(str(sides.describe_value("space", one.space)))
    for one, names in alike.items():
        spaces = [show_unprintable(name) for name in dict.fromkeys(names)]
        what = f"space{'s' if len(spaces) > 1 else ''} {format_first(spaces, _SHOWN)}"
        readable = f"{what} become{'' if len(spaces) > 1 else 's'} readable for {one.way}"
        readable += ", as conditions may not hold while adaptive content is off" if one.is_unsure else ""
        readable += ", while the plan runs" if one.is_passing else ""
        yield f"{readable}; {_describe_before(one.before)}"


def _describe_before(before: Sequence[Access]) -> str:
    if not before:
        return "so far on no part of the site"
    more = f" and {len(before) - _SHOWN} others" if len(before) > _SHOWN else ""
    return f"so far for {', or '.join(map(str, before[:_SHOWN]))}{more}"
