"""Describe changes that the API's content write cannot express: a sentence each for a person to carry out."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from syncd.errors import FileInvalid
from syncd.layout.page.tag_forms import list_space_tags
from syncd.layout.tree.paths import slugify
from syncd.layout.tree.summary import Entry
from syncd.layout.yaml import yaml
from syncd.model.page import Page, Scalar
from syncd.model.text import clean_title, join_lines
from syncd.model.wording import format_first
from syncd.plan.change import Change
from syncd.plan.toc_match import TOP, Identity, Outline, OutlineEntry

SHOWN = 80
"""Characters of a title or address that a sentence repeats."""
PAGES_SHOWN = 3
"""Up to so many pages are named in a sentence; of more, the rest is counted."""
_COMPUTED = "computed pages"


class ManualSteps:
    """Describes manual steps for the entries of one table of contents, which is the file at `summary`."""

    def __init__(self, wanted: Outline, summary: str) -> None:
        self.wanted, self.summary = wanted, summary
        self.beside: dict[Identity, tuple[Identity | None, Identity | None]] = {}
        for siblings in wanted.order.values():
            around = [None, *siblings, None]
            self.beside |= {identity: (around[at], around[at + 2]) for at, identity in enumerate(siblings)}

    def create(self, spot: OutlineEntry) -> Change:
        """Report what to create, and where, for an entry that the platform does not have."""
        entry, place = spot.entry, self._describe_place(spot)
        if entry.kind == "group":
            pages = sum(child.is_page for child in spot.children)
            moved = "" if not pages else f"; the next push moves {'a page' if pages == 1 else f'{pages} pages'} into it"
            slug = f" with the slug {_quote(entry.slug)}" if entry.slug else ""
            return self._report(spot, f"Create the group {_quote(entry.title)}{slug}{place}{moved}.")
        if entry.kind == "computed":
            return self._report(spot, f"Add the {_COMPUTED} that this entry describes{place}.")
        return self._report(spot, f"Add the link {_quote(entry.title)} to {_quote(_find_address(entry))}{place}.")

    def move(self, spot: OutlineEntry) -> Change:
        """Report where to move an entry that is elsewhere on the platform."""
        return self._report(spot, f"Move {_describe_entry(spot)}{self._describe_place(spot) or ' to the top level'}.")

    def edit(self, spot: OutlineEntry, page: Page, former: Entry) -> Iterator[Change]:
        """Report what else of an entry differs from the page of the platform that it was matched with."""
        entry = spot.entry
        if entry.kind == "computed":
            if _load_yaml(entry.computed) != _load_yaml(former.computed):
                yield self._report(spot, f"Change the source of the {_COMPUTED} to what this entry describes.")
            return
        if clean_title(entry.title) != clean_title(page.title):
            yield self._report(spot, f"Rename the {_find_kind(entry)} {_quote(page.title)} to {_quote(entry.title)}.")
        if entry.kind == "group":
            slug = page.slug or slugify(page.title)
            if entry.slug not in (None, slug):
                yield self._report(
                    spot, f"Give {_describe_entry(spot)} the slug {_quote(entry.slug or '')} instead of {_quote(slug)}."
                )
        elif _find_address(entry) != _find_address(former):
            yield self._report(spot, f"Let {_describe_entry(spot)} lead to {_quote(_find_address(entry))}.")

    def set_link_title(self, spot: OutlineEntry, former: str | None) -> Iterator[Change]:
        """Report what the link title of an entry has to be, when it differs from the present one."""
        wanted = spot.entry.link_title
        if (wanted or None) != (former or None):
            what = f"Set the link title of {_describe_entry(spot)} to {_quote(wanted)}" if wanted else ""
            yield self._report(spot, f"{what or f'Remove the link title of {_describe_entry(spot)}'}.")

    def nest(self, spot: OutlineEntry, link: OutlineEntry) -> Change:
        """Report that a page is listed below a link, where only a person can put it."""
        return self._report(spot, f"Move {_describe_entry(spot)} below {_describe_entry(link)}.")

    def warn_of_title(self, spot: OutlineEntry, stated: str) -> Change:
        """Report that the title in a page's frontmatter wins over the one in the table of contents."""
        what = (
            f"Write the same title into {self.summary} as into the frontmatter of the page, {_quote(stated)}, or take"
        )
        return self._report(spot, f"{what} that one out: the platform shows it, and not {_quote(spot.entry.title)}.")

    def delete(self, page: Page) -> Change:
        """Report that a page of the platform without an entry has to be deleted."""
        name = _COMPUTED if page.type == "computed" else f"{page.type} {_quote(page.title)}"
        return Change("report", page.type, page.title, f"Delete the {name}.", where=self.summary)

    def _report(self, spot: OutlineEntry, sentence: str) -> Change:
        kind = "page" if spot.is_page else "link" if spot.entry.kind == "document" else spot.entry.kind
        key = spot.entry.path if spot.is_page and spot.entry.path else spot.entry.title
        where = f"{self.summary}:{spot.entry.line}" if spot.entry.line else self.summary
        return Change("report", kind, key, sentence, where=where)

    def _describe_place(self, spot: OutlineEntry) -> str:
        """Where an entry stands, in words: after what, or before what, and in what."""
        before, behind = self.beside[spot.identity]
        if before is not None:
            return f" after {_describe_entry(self.wanted.spots[before])}"
        if behind is not None:
            return f" before {_describe_entry(self.wanted.spots[behind])}"
        if spot.parent_identity == TOP or spot.parent is None:
            return ""
        return f" {'in' if spot.parent.entry.kind == 'group' else 'below'} {_describe_entry(spot.parent)}"


def report_file(path: str, *, what: str) -> Change:
    """Return a report of what is to be done with a file."""
    return Change("report", "file", path, what, where=path)


def report_deleted_file(path: str, linking: Sequence[str]) -> Change:
    """Return a report of what is to be done with a file that Git has no more; `linking` are the pages that show it."""
    if not linking:
        return report_file(path, what="Delete this file, which the API cannot do.")
    pages, verb = format_first(linking, PAGES_SHOWN), "links" if len(linking) == 1 else "link"
    what = f"Leave this file on the platform: {pages} {verb} to it. In Git, bring it back or take the links out."
    return report_file(path, what=what)


def report_includes(existing: Mapping[str, str], desired: Mapping[str, str]) -> Iterator[Change]:
    """Report which reusable contents to edit, create and delete; both sides have blobs by path."""
    for path in sorted(existing.keys() | desired.keys()):
        if existing.get(path) == desired.get(path):
            continue
        name = _quote(path.rsplit("/", 1)[-1].removesuffix(".md"))
        if path not in existing:
            what = f"Create the reusable content {name} with the text of this file."
        elif path in desired:
            what = f"Edit the reusable content {name} so that it says what this file says."
        else:
            what = f"Delete the reusable content {name}."
        yield Change("report", "include", path, what, where=path)


def report_variables(existing: Mapping[str, Scalar], desired: Mapping[str, Scalar], *, path: str) -> Iterator[Change]:
    """Report which variables to set and which to delete."""
    for name in sorted(existing.keys() | desired.keys()):
        if name in desired and (existing.get(name), type(existing.get(name))) != (desired[name], type(desired[name])):
            what = f"Set the variable {_quote(name)} to {_quote(str(desired[name]))}."
        elif name not in desired:
            what = f"Delete the variable {_quote(name)}."
        else:
            continue
        yield Change("report", "variable", name, what, where=path)


def report_tags(
    existing: tuple[dict[str, Any], ...], desired: tuple[dict[str, Any], ...], *, path: str
) -> Iterator[Change]:
    """Report which tags to create, change and delete."""
    on_platform, in_git = _index_by_slug(existing), _index_by_slug(desired)
    for name in sorted(on_platform.keys() | in_git.keys()):
        if name not in on_platform:
            what = f"Create the tag {_quote(name)} as this file describes it."
        elif name not in in_git:
            what = f"Delete the tag {_quote(name)}."
        elif any(on_platform[name].get(member) != value for member, value in in_git[name].items()):
            what = f"Change the tag {_quote(name)} to what this file says of it."
        else:
            continue
        yield Change("report", "tag", name, what, where=path)


def _index_by_slug(tags: tuple[dict[str, Any], ...]) -> dict[str, dict[str, Any]]:
    return {tag["slug"]: tag for tag in list_space_tags(tags)}


def _find_kind(entry: Entry) -> str:
    return "link" if entry.kind == "document" else entry.kind


def _describe_entry(spot: OutlineEntry) -> str:
    entry = spot.entry
    if entry.kind == "computed":
        return f"the {_COMPUTED}"
    return f"the {'page' if spot.is_page else _find_kind(entry)} {_quote(entry.title)}"


def _find_address(entry: Entry) -> str:
    anchor = f"#{entry.anchor}" if entry.anchor else ""
    return entry.target or f"{entry.path or ''}{anchor}"


def _quote(text: str) -> str:
    plain = join_lines(text)
    return repr(plain if len(plain) <= SHOWN else plain[: SHOWN - 1] + "…")


def _load_yaml(text: str | None) -> Any:
    try:
        return yaml.load(text or "", at="")
    except FileInvalid:
        return text
