"""What stands before the title of a page: an emoji, or an icon."""

from contextlib import suppress

from syncd.errors import FileInvalid
from syncd.layout.page.frontmatter import read_heading, read_metadata, split_emoji, split_frontmatter


def read_signs(text: str, title: str, *, at: str) -> tuple[str, str]:
    """Return the emoji and the icon of a page with a title, "" for none.

    Shape: the emoji is what its heading has before that title.
    """
    emoji, plain = split_emoji(read_heading(text) or "")
    head, icon = split_frontmatter(text)[0], ""
    if "icon" in head:
        with suppress(FileInvalid):
            icon = str(read_metadata(head, at=at).get("icon") or "")
    return emoji if plain == title else "", icon
