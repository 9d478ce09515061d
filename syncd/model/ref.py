"""The names of the items of a site: of which kind each is, and which of them."""

from collections.abc import Mapping
from typing import Literal, Self, cast

Kind = Literal["site", "visitors", "group", "section", "variant", "redirect", "customization", "override"]
Area = Literal["settings", "visitors", "structure", "redirects", "customization"]

AREA: Mapping[Kind, Area] = {
    "site": "settings",
    "visitors": "visitors",
    "group": "structure",
    "section": "structure",
    "variant": "structure",
    "redirect": "redirects",
    "customization": "customization",
    "override": "customization",
}
AREAS: tuple[Area, ...] = ("settings", "visitors", "structure", "redirects", "customization")


class Ref(str):
    """The name of an item among all items of its site, such as `section:home`.

    It is its own text wherever people or files see it, so that lock files, reports and sorting need no conversion.
    `Ref(text)` believes its text, as of a ref that was written down before; `parse` does not.
    """

    __slots__ = ()

    @classmethod
    def of(cls, kind: Kind, key: str = "") -> Self:
        """Return the name of a kind and a key, or of the platform's id for what no file declares."""
        return cls(f"{kind}:{key}")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the name that a text in a file is. Raises: ValueError when it is none."""
        kind, colon, _ = text.partition(":")
        if not colon or kind not in AREA:
            raise ValueError(f"{text!r} names no item of a site")
        return cls(text)

    @property
    def kind(self) -> Kind:
        """What kind of item it is."""
        return cast(Kind, self.partition(":")[0])

    @property
    def key(self) -> str:
        """Which item of its kind; "" where a site has but one."""
        return self.partition(":")[2]

    @property
    def label(self) -> str:
        """Its text as a message names it: `section:home`, but `site` where a site has but one."""
        return str(self) if self.key else self.kind

    @property
    def words(self) -> str:
        """What it is called within a sentence, such as `section home`."""
        return self.replace(":", " ", 1)

    @property
    def area(self) -> Area:
        """The area of the site that the item belongs to."""
        return AREA[self.kind]


ROOT = Ref("")
"""What stands in for the parent of items at a site's root."""
SITE, VISITORS, CUSTOMIZATION = Ref.of("site"), Ref.of("visitors"), Ref.of("customization")
"""What a site has but one of."""
