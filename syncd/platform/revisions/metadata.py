"""Page metadata in frontmatter, which is authoritative: the page's members in the API are derived from it."""

from collections.abc import Callable, Mapping
from typing import Any

from syncd.errors import FileInvalid
from syncd.layout.page import frontmatter
from syncd.layout.page.unread_frontmatter import find_unread, is_deciding

KEYS: Mapping[str, str] = {
    "description": "description",
    "icon": "icon",
    "hidden": "hidden",
    "noIndex": "noIndex",
    "noRobotsIndex": "noRobotsIndex",
    "condition": "if",
}
"""Members of a page that an operation may set, and their keys in frontmatter.

Source: syncd/manual/reference/layout.md, "Frontmatter".
"""

NOBODY = "false"
"""The condition of a page that is for nobody."""

BuildReference = Callable[[str], dict[str, Any]]

_FROM_TEXT = frozenset((*KEYS, "cover", "layout", "variables", "metaLinks", "tags"))


def apply_frontmatter(
    fields: Mapping[str, Any], text: str, *, refer: BuildReference = frontmatter.make_url_reference
) -> dict[str, Any]:
    """Return a page's members, with all that frontmatter can hold read from the page's text.

    Shape: `refer` makes a ContentRef of an address in frontmatter. Frontmatter that is no YAML, is not closed or does
    not begin the file describes nothing; where it speaks of who may read the page, the page is for nobody.
    """
    kept = {name: value for name, value in fields.items() if name not in _FROM_TEXT}
    for_nobody = {"condition": NOBODY} if is_deciding(text) else {}
    try:
        said = frontmatter.read_metadata(text, at="document", make_reference=refer)
    except FileInvalid:
        return kept | for_nobody
    return kept | (for_nobody if find_unread(text) else said)


def resolve_references(fields: Mapping[str, Any], refer: BuildReference) -> dict[str, Any]:
    """Return members with each reference by URL in their cover and links replaced by the one that `refer` makes of
    it.
    """

    def point(value: Any) -> Any:
        if isinstance(value, list):
            return [point(item) for item in value]
        return refer(value["url"]) if isinstance(value, Mapping) and value.get("kind") == "url" else value

    pointing = {name: fields[name] for name in ("cover", "metaLinks") if name in fields}
    return {**fields, **{name: {key: point(item) for key, item in held.items()} for name, held in pointing.items()}}


def write_members(text: str, members: Mapping[str, Any]) -> str:
    """Return a page's text with the frontmatter that says what `members` do.

    Shape: "", False and None remove a key; a member that the text has already leaves it byte for byte.
    Raises: FileInvalid when the text's frontmatter is no YAML.
    """
    said = frontmatter.read_metadata(text, at="document")
    changes = {KEYS[name]: value or None for name, value in members.items() if (value or None) != said.get(name)}
    return frontmatter.patch_frontmatter(text, changes) if changes else text


def replace_title(text: str, *, former: str, title: str) -> str:
    """Return a page's text with its new title in each place, heading or frontmatter, that had the former one."""
    if frontmatter.read_heading(text) == former:
        text = frontmatter.set_heading(text, title)
    return text if find_frontmatter_title(text) is None else frontmatter.patch_frontmatter(text, {"title": title})


def find_title(text: str) -> str | None:
    """Return the title that a page's text gives itself: in frontmatter, else as its leading heading; None without
    either.
    """
    return find_frontmatter_title(text) or frontmatter.read_heading(text)


def find_frontmatter_title(text: str) -> str | None:
    """Return the title in the frontmatter of a page's text, or None."""
    try:
        title = frontmatter.read_fields(text, at="document").get("title")
    except FileInvalid:
        return None
    return title if isinstance(title, str) and title else None
