"""Drift that a team accepts: what somebody changed on the platform becomes text in the site file."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from syncd.errors import FileInvalid
from syncd.layout.site.read.declared import Item, Place, SiteFile
from syncd.layout.site.write.patch import Patch, Path, apply_patches
from syncd.model.ref import Area, Ref
from syncd.plan.site.drift.removal import Removal, find_values, format_item
from syncd.plan.site.live_state import IdOf, LiveSite
from syncd.plan.site.steps import SitePlan, to_json

_MEMBER = {"destination": "to"}
"""Names of fields in the API's terms that a site file has another word for."""


@dataclass(frozen=True)
class AcceptedDrift:
    """Files with the values of the platform written in.

    Shape: `texts` has only what changes, by path; `fields` are the refs with the field that were written, such as
    `section:home.title`, and the refs of what was taken out, `words` the same for people; `left` are sentences about
    those that a person has to write.
    """

    texts: Mapping[str, str]
    fields: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def accept_drift(
    file: SiteFile, texts: Mapping[str, str], live: LiveSite, plan: SitePlan, *, areas: Set[Area]
) -> AcceptedDrift:
    """Return the texts of a site file with drift on the platform written into them.

    Shape: only drift in these areas, and no conflict; what was deleted is removed, with what is declared for it alone;
    comments and everything else stay as they are.
    """
    drifted = [
        (line, file.items[line.ref]) for line in plan.list_drift() if line.ref.area in areas and line.ref in file.items
    ]
    writer = _DriftWriter(file, texts, live)
    for line, item in drifted:
        for one in line.fields:
            if one.cause == "drift":
                writer.accept(item, one.name, one.before)
    gone = [item for line, item in drifted if line.gone == "drift"]
    written = writer.write()
    return _take_out_deleted(file, {**texts, **written.texts}, gone, written) if gone else written


def _take_out_deleted(
    file: SiteFile, texts: Mapping[str, str], gone: Sequence[Item], written: AcceptedDrift
) -> AcceptedDrift:
    """Take out what was deleted; parts that something else still counts on stay, all of them, for a person."""
    redirects = [item for item in gone if item.kind == "redirect"]
    parts = [item for item in gone if item.kind != "redirect"]
    for items in filter(None, (redirects, parts)):
        removal = Removal(file, texts, items)
        after, why = removal.apply()
        if why:
            names = ", ".join(format_item(item) for item in items)
            written = replace(written, left=(*written.left, f"{names}: cannot be taken out yet: {why}"))
            continue
        texts = {**texts, **after}
        fields, words = zip(*((item.ref, f"{format_item(item)} (deleted)") for item in items), strict=True)
        merged = {**written.texts, **after}
        written = replace(written, texts=merged, fields=(*written.fields, *fields), words=(*written.words, *words))
    return written


class _DriftWriter:
    """Collects the patches of each file."""

    def __init__(self, file: SiteFile, texts: Mapping[str, str], live: LiveSite) -> None:
        self.file, self.texts, self.live = file, texts, live
        self.edits: defaultdict[str, list[Patch]] = defaultdict(list)
        self.names: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        self.left: list[str] = []
        self._paths: dict[str, Mapping[tuple[int, int], list[Path]]] = {}
        self._sharing = Counter(item.where("to") for item in file.of("redirect"))

    def accept(self, item: Item, name: str, value: Any) -> None:
        member = _MEMBER.get(name, name)
        place = item.places.get(member)
        path = self._path(place, member.rpartition(".")[2]) if place is not None else None
        if place is None or path is None:
            self.left.append(f"{item.ref}: {member} cannot be written where it stands ({place or item.place})")
        elif member == "to" and self._sharing[place] > 1:
            self.left.append(f"{item.ref}: several sources share what stands at {place}; give it an entry of its own")
        elif (value := self._word_value(item, member, value)) is not None or member != "space":
            self.edits[place.file].append(Patch("set", path, value))
            self.names[place.file].append((f"{item.ref}.{member}", f"{format_item(item)} {member}"))

    def write(self) -> AcceptedDrift:
        texts: dict[str, str] = {}
        for path, edits in self.edits.items():
            try:
                text = apply_patches(self.texts[path], path, edits)
            except FileInvalid as error:
                self.left.append(error.what)
            else:
                texts |= {path: text} if text != self.texts[path] else {}
        names = [name for path in texts for name in self.names[path]]
        return AcceptedDrift(
            texts, tuple(ref for ref, _ in names), tuple(words for _, words in names), tuple(self.left)
        )

    def _word_value(self, item: Item, member: str, value: Any) -> Any:
        """A value as people are shown it, in the words of the site file."""
        if member == "space" and value not in self.file.spaces:
            self.left.append(f"{item.ref}: space {value} has no name under spaces: yet")
            return None
        return self._to(value) if member == "to" and isinstance(value, Mapping) else to_json(value)

    def _to(self, destination: Mapping[str, Any]) -> dict[str, Any]:
        match dict(destination):
            case {"kind": "external", "url": str(url)}:
                return {"url": url}
            case {"kind": "site-section", "siteSectionId": IdOf(ref=ref)}:
                return {"section": ref.key}
            case {"kind": "site-space", "siteSpaceId": IdOf(ref=ref)}:
                return {"variant": ref.key}
            case {"kind": "site-page", "siteSpaceId": IdOf(ref=ref), "pageId": page} if path := self._page(ref, page):
                return {"page": path, "in": ref.key}
            case other:
                return {"raw": to_json(other)}

    def _page(self, ref: Ref, page: str) -> str:
        item = self.file.items.get(ref)
        pages = self.live.pages.get(str(item.fields.get("space")), {}) if item is not None else {}
        return next((path for path, id in pages.items() if id == page), "")

    def _path(self, place: Place, member: str) -> Path | None:
        """The way through the YAML to the value that stands at a place under this name."""
        if place.file not in self._paths:
            self._paths[place.file] = find_values(place.file, self.texts.get(place.file, ""))
        found = self._paths[place.file].get((place.line, place.column), [])
        return next((path for path in reversed(found) if path[-1] == member), None)
