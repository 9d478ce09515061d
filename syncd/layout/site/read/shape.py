"""The shape of a site file: which keys may stand where, what each holds and what it means.

The reader checks by these tables and the JSON Schema is made from them, so that an editor says what syncd says.
Source: syncd/manual/reference/site-file.md; API document, Site, SiteSection, SiteSpace and SiteRedirect.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from syncd.model.redirect import SOURCE_MAX
from syncd.model.ref import AREAS

Holds = Literal["text", "texts", "flag", "count", "mapping", "list"]


@dataclass(frozen=True)
class Key:
    """What may stand under a key; `least` and `most` are the lengths of a text, or the bounds of a count."""

    about: str
    holds: Holds = "text"
    choices: tuple[str, ...] = ()
    nullable: bool = False
    least: int | None = None
    most: int | None = None


Keys = Mapping[str, Key]

VERSION = 1
KEY_PATTERN = "[a-z0-9][a-z0-9-]{0,62}"
"""Of keys of groups, sections and variants, and of aliases of spaces."""
REDIRECT_FILES_MAX = 10
PRUNES = ("never", "owned", "all")
RESET = "reset"
UNMANAGED = "unmanaged"

TOP: Keys = {
    "version": Key("The version of this format.", "count", least=VERSION, most=VERSION),
    "site": Key("Which site this is.", "mapping"),
    "policy": Key("Who wins, what may be deleted, and what needs a person.", "mapping"),
    "spaces": Key("Short names of spaces, each with the space's id; used wherever a space is named.", "mapping"),
    "settings": Key("The site's own settings. What is left out is left alone.", "mapping"),
    "visitors": Key("What is known of visitors, so that conditions can be written.", "mapping"),
    "structure": Key("Sections, groups and variants, in their order.", "mapping"),
    "redirects": Key("Old addresses and where they lead.", "list"),
    "redirect_files": Key(
        f"Up to {REDIRECT_FILES_MAX} files with more redirects, beside this file: a list in YAML, CSV with "
        "source,destination[,note], or _redirects.",
        "list",
    ),
    "absent": Key("What shall not be there, whoever made it.", "mapping"),
    "customization": Key("How the site looks, by the API's own names.", "mapping"),
}

SITE: Keys = {
    "org": Key("The id of the organization."),
    "id": Key("The id of the site."),
    "hosts": Key("Addresses under which visitors read the site, such as example.com/docs.", "texts"),
}

POLICY: Keys = {
    "on_drift": Key("By area, what becomes of an edit that was made on the platform.", "mapping"),
    "prune": Key("By area, whose undeclared items are deleted.", "mapping"),
    "limits": Key("By area, how much a plan may take away unasked.", "mapping"),
    "allow_empty": Key("Whether a list may become empty although syncd owns items of that kind.", "flag"),
    "allow_new_spaces": Key("Whether a published site may show spaces that are new on it.", "flag"),
    "require_bridge": Key("Whether a changed path without a redirect from the old one is an error.", "flag"),
    "allow_unshown_types": Key("Whether claims may be of other types than boolean.", "flag"),
    "ignore": Key("Fields that are left alone although they are declared, such as section:home.icon.", "texts"),
}
ON_DRIFT: Keys = {
    area: Key("report it, revert it, or accept it into this file on a branch.", choices=("report", "revert", "accept"))
    for area in AREAS
}
PRUNE: Keys = {
    area: Key("never delete, delete what syncd owns, or delete all that is not declared.", choices=PRUNES)
    for area in AREAS
}
LIMITS: Keys = {area: Key("How much a plan may take away unasked.", "mapping") for area in AREAS}
_SHARE = "in per cent of those owned; counts from ten on, null is no limit."
LIMIT: Keys = {
    "max_delete": Key("The most items to delete; null is no limit.", "count", nullable=True, least=0),
    "max_delete_pct": Key(f"The most items to delete, {_SHARE}", "count", nullable=True, least=0, most=100),
    "max_update_pct": Key(f"The most items to change, {_SHARE}", "count", nullable=True, least=0, most=100),
}

SETTINGS: Keys = {
    "title": Key("The site's title.", least=2, most=128),
    "visibility": Key("Who can read the site.", choices=("public", "unlisted", "share-link", "visitor-auth")),
    "basename": Key("The name of the site in its address.", least=1, most=100),
    "proxy": Key(
        "Someone else's address below which the site is read, such as example.com/docs.", nullable=True, most=512
    ),
    "adaptive_content": Key("Whether pages may differ by visitor.", "flag"),
    "agents_context": Key("Whether the site is in the agents' context.", choices=("excluded", "included")),
}

VISITORS: Keys = {
    "claims": Key("Claims that a visitor's signed token makes, each with its JSON Schema.", "mapping"),
    "unsigned": Key("Claims that visitors can set themselves, each with its JSON Schema.", "mapping"),
}

STRUCTURE: Keys = {
    "holding_space": Key("An empty space that stands in while a part with a condition is being made."),
    "order": Key("unmanaged: the order of the items is left alone.", choices=(UNMANAGED,)),
    "items": Key("Sections and groups in their order, or the variants of a site without sections.", "list"),
}
_IDENTITY: Keys = {
    "id": Key("The id of the item on the platform, where nothing else tells which one is meant."),
    "was": Key("Former keys or paths, so that a rename keeps the item.", "texts"),
    "protect": Key("Never deleted by syncd, whatever the policy says.", "flag"),
}
_CONDITION = Key("Who sees it: an expression such as visitor.claims.partner == true.", nullable=True, most=1024)
_PATH = Key("Its part of the address.", least=1, most=100)
SECTION: Keys = {
    "section": Key("The key of this section, unique among sections and groups."),
    "title": Key("The section's title.", least=2, most=128),
    "path": _PATH,
    "icon": Key("The name of an icon.", nullable=True, most=50),
    "description": Key("A sentence about the section.", nullable=True, most=256),
    "condition": _CONDITION,
    "default": Key("Whether visitors of the site see this section first.", "flag"),
    "order": Key("unmanaged: the order of the variants is left alone.", choices=(UNMANAGED,)),
    "variants": Key("The variants of this section, in their order.", "list"),
    **_IDENTITY,
}
GROUP: Keys = {
    "group": Key("The key of this group, unique among sections and groups."),
    "title": Key("The group's title.", least=1, most=100),
    "icon": Key("The name of an icon.", nullable=True, most=50),
    "order": Key("unmanaged: the order of the items is left alone.", choices=(UNMANAGED,)),
    "items": Key("The sections and groups in this group, in their order.", "list"),
    **_IDENTITY,
}
VARIANT: Keys = {
    "variant": Key("The key of this variant, unique in its section."),
    "space": Key("The space that it shows, by its name under spaces."),
    "path": _PATH,
    "condition": _CONDITION,
    "hidden": Key("Whether it is left out of navigation; it can still be reached.", "flag"),
    "default": Key("Whether visitors of the section see this variant first.", "flag"),
    **_IDENTITY,
}

REDIRECT: Keys = {
    "from": Key("The old address, or a list of them: paths such as /old/page.", "texts", most=SOURCE_MAX),
    "to": Key("Where it leads: exactly one of section, variant, page (with in), url and raw.", "mapping"),
    "note": Key("For people; it is not sent."),
    **_IDENTITY,
}
TO: Keys = {
    "section": Key("The key of a section."),
    "variant": Key("SECTION/VARIANT, or VARIANT on a site without sections."),
    "page": Key("The path of a page in the variant that in names."),
    "in": Key("SECTION/VARIANT, or VARIANT on a site without sections."),
    "url": Key("An address, most often elsewhere."),
    "raw": Key("A reference or destination as the API has it; passed on untouched.", "mapping"),
}
ABSENT: Keys = {"redirects": Key("Sources of redirects that are deleted even if they were made by hand.", "texts")}
CUSTOMIZATION: Keys = {
    "site": Key("Settings of the whole site.", "mapping"),
    "overrides": Key(f'By variant, settings of its own; "{RESET}" takes all of them away.', "mapping"),
}

UNWRITABLE: Mapping[str, Mapping[str, str]] = {
    "variant": {
        "title": "variant titles cannot be set through the API",
        "icon": "variants have no icon in the API",
        "description": "variants have no description in the API; sections have",
    },
    "section": {
        "space": "a section has no space of its own; its variants have",
        "hidden": "sections cannot be hidden through the API; hide its variants",
    },
    "group": {
        "path": "groups are in no address, so they have no path",
        "condition": "groups have no condition; set it on the sections in it",
        "default": "only sections and variants can be what visitors see first",
        "variants": "a group holds sections and groups; variants stand in a section",
    },
    "settings": {
        "hostname": "the host name cannot be set through the API",
        "published": "publishing cannot be set through the API",
        "icon": "a site's icon is customization.site.favicon",
        "ads": "ads are not a matter of the site file",
        "type": "the type of a site cannot be changed",
        "urls": "addresses are the platform's; set basename or proxy",
        "default_section": "write default: true on that section",
        "default_variant": "write default: true on that variant",
    },
    "redirect": dict.fromkeys(("status", "code", "type", "permanent", "force"), "redirects have no status in the API"),
}
"""What people look for at a place and the API does not take there, with what to know about it."""
SYNONYMS: Mapping[str, str] = {
    "visible": "hidden",
    "name": "title",
    "label": "title",
    "slug": "path",
    "source": "from",
    "destination": "to",
    "target": "to",
    "comment": "note",
    "if": "condition",
    "organization": "org",
    "children": "items",
    "sections": "items",
}
