"""What content write cannot express, as one sentence each that a person can carry out on the platform."""

from collections.abc import Iterator, Mapping
from typing import Any

from syncd.errors import FileInvalid
from syncd.layout.tree.paths import slugify
from syncd.layout.tree.summary import Entry
from syncd.layout.yaml import yaml
from syncd.model.page import Page
from syncd.model.revision import Scalar
from syncd.model.text import clean_title, one_line
from syncd.plan.change import Change
from syncd.plan.toc_match import TOP, Identity, Outline, Spot

SHOWN = 80
"""Characters of a title or address that a sentence repeats."""
_COMPUTED = "computed pages"


class ByHand:
    """Speaks of the entries of one table of contents, which is the file at `summary`."""

    def __init__(self, wanted: Outline, summary: str) -> None:
        self.wanted, self.summary = wanted, summary
        self.beside: dict[Identity, tuple[Identity | None, Identity | None]] = {}
        for siblings in wanted.order.values():
            around = [None, *siblings, None]
            self.beside |= {identity: (around[at], around[at + 2]) for at, identity in enumerate(siblings)}

    def create(self, spot: Spot) -> Change:
        """Given an entry that the platform does not have, say what to create where."""
        entry, place = spot.entry, self._place(spot)
        if entry.kind == "group":
            pages = sum(child.is_page for child in spot.children)
            moved = "" if not pages else f"; the next push moves {'a page' if pages == 1 else f'{pages} pages'} into it"
            slug = f" with the slug {_quoted(entry.slug)}" if entry.slug else ""
            return self._say(spot, f"Create the group {_quoted(entry.title)}{slug}{place}{moved}.")
        if entry.kind == "computed":
            return self._say(spot, f"Add the {_COMPUTED} that this entry describes{place}.")
        return self._say(spot, f"Add the link {_quoted(entry.title)} to {_quoted(_address(entry))}{place}.")

    def move(self, spot: Spot) -> Change:
        """Given an entry that stands elsewhere on the platform, say where it belongs."""
        return self._say(spot, f"Move {_name(spot)}{self._place(spot) or ' to the top level'}.")

    def edit(self, spot: Spot, page: Page, former: Entry) -> Iterator[Change]:
        """Given an entry and the page of the platform that stands for it, say what else of it differs."""
        entry = spot.entry
        if entry.kind == "computed":
            if _yaml(entry.computed) != _yaml(former.computed):
                yield self._say(spot, f"Change the source of the {_COMPUTED} to what this entry describes.")
            return
        if clean_title(entry.title) != clean_title(page.title):
            yield self._say(spot, f"Rename the {_kind(entry)} {_quoted(page.title)} to {_quoted(entry.title)}.")
        if entry.kind == "group":
            slug = page.slug or slugify(page.title)
            if entry.slug not in (None, slug):
                yield self._say(
                    spot, f"Give {_name(spot)} the slug {_quoted(entry.slug or '')} instead of {_quoted(slug)}."
                )
        elif _address(entry) != _address(former):
            yield self._say(spot, f"Let {_name(spot)} lead to {_quoted(_address(entry))}.")

    def link_title(self, spot: Spot, former: str | None) -> Iterator[Change]:
        """Given an entry and the link title that is known of it, say what it shall be."""
        wanted = spot.entry.link_title
        if (wanted or None) != (former or None):
            what = f"Set the link title of {_name(spot)} to {_quoted(wanted)}" if wanted else ""
            yield self._say(spot, f"{what or f'Remove the link title of {_name(spot)}'}.")

    def hang(self, spot: Spot, link: Spot) -> Change:
        """Given a page and what it is listed below, though only a person can put it there, say so."""
        return self._say(spot, f"Move {_name(spot)} below {_name(link)}.")

    def title(self, spot: Spot, stated: str) -> Change:
        """Given a page whose frontmatter gives it another title than the table of contents, say that it wins."""
        what = (
            f"Write the same title into {self.summary} as into the frontmatter of the page, {_quoted(stated)}, or take"
        )
        return self._say(spot, f"{what} that one out: the platform shows it, and not {_quoted(spot.entry.title)}.")

    def delete(self, page: Page) -> Change:
        """Given a page of the platform that no entry stands for, say that it has to go."""
        name = _COMPUTED if page.type == "computed" else f"{page.type} {_quoted(page.title)}"
        return Change("report", page.type, page.title, f"Delete the {name}.", where=self.summary)

    def _say(self, spot: Spot, sentence: str) -> Change:
        kind = "page" if spot.is_page else "link" if spot.entry.kind == "document" else spot.entry.kind
        key = spot.entry.path if spot.is_page and spot.entry.path else spot.entry.title
        where = f"{self.summary}:{spot.entry.line}" if spot.entry.line else self.summary
        return Change("report", kind, key, sentence, where=where)

    def _place(self, spot: Spot) -> str:
        """Where an entry stands, in words: after what, or before what, and in what."""
        before, behind = self.beside[spot.identity]
        if before is not None:
            return f" after {_name(self.wanted.spots[before])}"
        if behind is not None:
            return f" before {_name(self.wanted.spots[behind])}"
        if spot.above == TOP or spot.parent is None:
            return ""
        return f" {'in' if spot.parent.entry.kind == 'group' else 'below'} {_name(spot.parent)}"


def files(path: str, *, what: str) -> Change:
    """Given a file and what is to be done with it, return the report."""
    return Change("report", "file", path, what, where=path)


def includes(existing: Mapping[str, str], desired: Mapping[str, str]) -> Iterator[Change]:
    """Given the blobs of reusable contents on both sides by path, say what to edit, create and delete."""
    for path in sorted(existing.keys() | desired.keys()):
        if existing.get(path) == desired.get(path):
            continue
        name = _quoted(path.rsplit("/", 1)[-1].removesuffix(".md"))
        if path not in existing:
            what = f"Create the reusable content {name} with the text of this file."
        elif path in desired:
            what = f"Edit the reusable content {name} so that it says what this file says."
        else:
            what = f"Delete the reusable content {name}."
        yield Change("report", "include", path, what, where=path)


def variables(existing: Mapping[str, Scalar], desired: Mapping[str, Scalar], *, path: str) -> Iterator[Change]:
    """Given the variables of both sides, say what to set and what to delete."""
    for name in sorted(existing.keys() | desired.keys()):
        if name in desired and (existing.get(name), type(existing.get(name))) != (desired[name], type(desired[name])):
            what = f"Set the variable {_quoted(name)} to {_quoted(str(desired[name]))}."
        elif name not in desired:
            what = f"Delete the variable {_quoted(name)}."
        else:
            continue
        yield Change("report", "variable", name, what, where=path)


def tags(existing: tuple[dict[str, Any], ...], desired: tuple[dict[str, Any], ...], *, path: str) -> Iterator[Change]:
    """Given the tags of both sides, say what to create, change and delete."""
    there, here = _by_slug(existing), _by_slug(desired)
    for name in sorted(there.keys() | here.keys()):
        if name not in there:
            what = f"Create the tag {_quoted(name)} as this file describes it."
        elif name not in here:
            what = f"Delete the tag {_quoted(name)}."
        elif any(there[name].get(member) != value for member, value in here[name].items()):
            what = f"Change the tag {_quoted(name)} to what this file says of it."
        else:
            continue
        yield Change("report", "tag", name, what, where=path)


def _by_slug(tags: tuple[dict[str, Any], ...]) -> dict[str, dict[str, Any]]:
    return {str(tag.get("slug") or tag.get("label") or tag.get("tag") or tag): tag for tag in tags}


def _kind(entry: Entry) -> str:
    return "link" if entry.kind == "document" else entry.kind


def _name(spot: Spot) -> str:
    entry = spot.entry
    if entry.kind == "computed":
        return f"the {_COMPUTED}"
    return f"the {'page' if spot.is_page else _kind(entry)} {_quoted(entry.title)}"


def _address(entry: Entry) -> str:
    anchor = f"#{entry.anchor}" if entry.anchor else ""
    return entry.target or f"{entry.path or ''}{anchor}"


def _quoted(text: str) -> str:
    plain = one_line(text)
    return repr(plain if len(plain) <= SHOWN else plain[: SHOWN - 1] + "…")


def _yaml(text: str | None) -> Any:
    try:
        return yaml.load(text or "", at="")
    except FileInvalid:
        return text
