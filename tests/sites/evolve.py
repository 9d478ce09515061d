"""Sites as a platform shows them, put into the embedded one: a real one where it is at hand, and one like it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from syncd.model.customization_write import SiteCustomizationWrite
from syncd.platform.revisions.outline import Draft
from syncd.platform.revisions.tree import PAGES, Node
from syncd.platform.schema import site_tables
from syncd.platform.schema.publish import adaptive_schemas, customizations
from syncd.platform.spaces.spaces import insert_space
from syncd.platform.storage.storage import Storage
from syncd.platform.storage.times import format_time

ROOT = Path(__file__).parents[2]
REAL = ROOT.parent / "shared" / "corpora" / "evolve-site"
LANGUAGES = ("en", "fr", "de", "es", "zh")
PAGES_OF_EACH = ("getting-started/quickstart", "changelog", "intro")

_ENUM = "Which %s the visitor says to have."
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "partner": {"type": "boolean", "description": "Signed in as a partner."},
        "unsigned": {
            "type": "object",
            "properties": {
                "persona": {
                    "type": "string",
                    "description": _ENUM % "role",
                    "enum": ["prospect", "new", "existing", "partner"],
                },
                "plan": {
                    "type": "string",
                    "description": _ENUM % "plan",
                    "enum": ["starter", "growth", "enterprise"],
                },
                "beta": {"type": "boolean", "description": "Asked for what is not done yet."},
            },
            "additionalProperties": False,
        },
    },
    "additionalProperties": False,
}
"""Of the real site, only the conditions that read claims are known: this is the least schema that has all of these."""


@dataclass(frozen=True)
class Shown:
    """A site as the platform's own answers show it: its structure, its settings, and its visitors' schema."""

    title: str
    structure: Mapping[str, Any]
    customization: Mapping[str, Any]
    schema: Mapping[str, Any] = field(default_factory=lambda: SCHEMA)


def evolve() -> Shown:
    """Return the real site where it is at hand, else one of its shape."""
    if not REAL.exists():
        return alike()
    structure, settings = (
        json.loads((REAL / f"{name}.json").read_text(encoding="utf-8")) for name in ("structure", "customization")
    )
    return Shown("Evolve", structure, settings)


def alike() -> Shown:
    """Return a made-up site of the real one's shape: two groups, ten sections and sixty site-spaces."""
    root: list[dict[str, Any]] = [_section("Home", "house", paths=("docs", *LANGUAGES[1:]), default=True)]
    root.append(_group("Products", "angles-up", [_section(one, "cube") for one in ("Pay", "Verify", "Join")]))
    versions = [f"v{number}{suffix}" for number in (3, 2, 1) for suffix in ("", "-fr", "-de", "-es", "-zh")]
    root.append(_section("Developers", "code", paths=tuple(versions), chosen="v2"))
    root.append(_group("Guides", "compass", [_section(one, "book") for one in ("Tutorials", "Help", "Tools")]))
    root += [_section("Changelog", "clock"), _section("Partners", "handshake-angle")]
    persona = "visitor.claims.unsigned.persona"
    sign = {"style": "button-secondary", "links": [], "to": {"kind": "url", "url": "https://acme.example/sign"}}
    settings = {
        "title": "Acme Platform",
        "styling": {
            "theme": "clean",
            **{f"{name}Color": {"light": "#534AB7", "dark": "#B2A5FF"} for name in
               ("primary", "info", "success", "warning", "danger")},
            "corners": "circular", "depth": "flat", "links": "default", "font": "Inter",
            "monospaceFont": "IBMPlexMono", "icons": "duotone", "background": "plain", "search": "prominent",
            "sidebar": {"background": "filled", "list": "default"},
        },
        "favicon": {"emoji": "1f3e0"},
        "header": {"preset": "default", "links": [
            {"title": "View as", "style": "link", "to": None, "localizedTitle": {}, "links": [
                {"title": one, "localizedTitle": {}, "to": {"kind": "url", "url": f"https://acme.example/?as={one}"}}
                for one in ("prospect", "partner")]},
            {"title": "Sign in", **sign, "condition": f'{persona} !== "partner"', "localizedTitle": {}},
            {"title": "Sign out", **sign, "condition": f'{persona} === "partner"', "localizedTitle": {"de": "Ab"}},
        ]},
        "footer": {"groups": [{"title": "Products", "localizedTitle": {"de": "Produkte"}, "links": [
            {"title": "Pay", "to": {"kind": "space", "space": "space-pay-en"}, "localizedTitle": {"fr": "Payer"}}]}],
            "copyright": "© Acme"},
        "themes": {"default": "system", "toggeable": True},
        **{name: {"enabled": True} for name in ("pdf", "feedback", "advancedCustomization", "pagination", "trademark")},
        "ai": {"mode": "assistant", "suggestions": []},
        "git": {"showEditLink": False},
        "pageActions": {"externalAI": True, "markdown": True, "mcp": True},
        "externalLinks": {"target": "self"},
        "privacyPolicy": {"url": "https://acme.example/privacy"},
        "socialPreview": {},
        "socialAccounts": [{"platform": "github", "handle": "acme", "display": {"footer": True, "header": False}}],
        "insights": {"trackingCookie": True},
    }  # fmt: skip
    return Shown("Acme", {"type": "sections", "structure": root}, settings)


def _group(title: str, icon: str, children: list[dict[str, Any]]) -> dict[str, Any]:
    return {"object": "site-section-group", "id": f"group-{title}", "title": title, "icon": icon, "children": children}


def _section(
    title: str, icon: str, *, paths: tuple[str, ...] = LANGUAGES, default: bool = False, chosen: str = ""
) -> dict[str, Any]:
    key = title.lower()
    spaces = [
        {
            "object": "site-space",
            "id": f"site-space-{key}-{path}",
            "path": path,
            "default": path == (chosen or paths[0]),
            "space": {"id": f"space-{key}-{path}", "title": f"{title} ({path})", "language": path[-2:]},
            "title": path.upper(),
            "hidden": False,
        }
        for path in paths
    ]
    return {
        "object": "site-section", "id": f"section-{key}", "title": title, "icon": icon, "path": key,
        "default": default, "siteSpaces": spaces, "description": f"All about {key}",
    }  # fmt: skip


def put_site(storage: Storage, organization: str, shown: Shown) -> str:
    """Given answers of a platform about a site, put the site into a storage and return its id.

    Ids of groups, sections and site-spaces stay as they are; spaces get new ones, as their content is not among the
    answers, with a few pages each.
    """
    with storage.write() as connection:
        planter = _Planter(storage, connection, organization, shown)
        planter.site()
        for position, part in enumerate(shown.structure["structure"]):
            planter.part(part, None, position)
        planter.settings()
    return planter.id


class _Planter:
    """Writes one site's rows."""

    def __init__(self, storage: Storage, connection: Any, organization: str, shown: Shown) -> None:
        self.storage, self.connection, self.organization, self.shown = storage, connection, organization, shown
        self.id = storage.new_id()
        self.now = format_time(storage.now())
        self.spaces: dict[str, str] = {}

    def site(self) -> None:
        sections = {part["id"]: part for part in _sections(self.shown.structure["structure"])}
        row = {
            "id": self.id, "organization": self.organization, "type": "basic", "title": self.shown.title,
            "basename": self.id.lower(), "visibility": "public", "published": True, "adaptive_content": True,
            "agents_context": "included", "created_at": self.now,
            "default_section": next((id for id, part in sections.items() if part["default"]), None),
        }  # fmt: skip
        self.connection.execute(site_tables.sites.insert().values(row))

    def part(self, part: Mapping[str, Any], group: str | None, position: int) -> None:
        row = {
            "id": part["id"],
            "site": self.id,
            "position": position,
            "title": part["title"],
            "icon": part.get("icon"),
        }
        if part["object"] == "site-section-group":
            self.connection.execute(site_tables.section_groups.insert().values(**row, parent=group))
            for place, child in enumerate(part["children"]):
                self.part(child, part["id"], place)
            return
        chosen = next(variant["id"] for variant in part["siteSpaces"] if variant["default"])
        members = {name: part.get(name) for name in ("path", "description", "condition")}
        row |= {**members, "section_group": group, "default_site_space": chosen}
        self.connection.execute(site_tables.sections.insert().values(row))
        self.connection.execute(
            site_tables.site_spaces.insert(),
            [self._variant(part["id"], place, variant) for place, variant in enumerate(part["siteSpaces"])],
        )

    def _variant(self, section: str, position: int, variant: Mapping[str, Any]) -> dict[str, Any]:
        space = variant["space"]
        self.spaces[space["id"]] = made = put_space(
            self.storage, self.connection, self.organization, space["title"], language=space.get("language")
        )
        return {
            "id": variant["id"], "site": self.id, "section": section, "space": made, "position": position,
            "path": variant["path"], "condition": variant.get("condition"), "hidden": variant["hidden"],
            "title": variant["title"],
        }  # fmt: skip

    def settings(self) -> None:
        """Keep the settings, in which links lead to spaces, as somebody would have written them."""
        text = json.dumps(self.shown.customization)
        for old, new in self.spaces.items():
            text = text.replace(f'"{old}"', f'"{new}"')
        settings = SiteCustomizationWrite.model_validate_json(text).wire()
        row = {"site": self.id, "settings": settings, "updated_at": self.now}
        self.connection.execute(customizations.insert().values(row))
        row = {"site": self.id, "json_schema": dict(self.shown.schema), "updated_at": self.now}
        self.connection.execute(adaptive_schemas.insert().values(row))


def put_space(storage: Storage, connection: Any, organization: str, title: str, *, language: str | None = None) -> str:
    """Given a title, put a space with a few pages into a storage and return its id."""
    draft = Draft()
    oid = storage.blobs.put(b"# Page\n")
    fields = {"createdAt": format_time(storage.now())}
    draft.insert(Node(storage.new_id(), "document", title, "", fields, oid, "README.md"), PAGES)
    for path in PAGES_OF_EACH:
        *above, slug = path.split("/")
        parent = PAGES
        for name in above:
            node = Node(storage.new_id(), "document", name.title(), name, fields, oid, f"{name}/README.md")
            draft.insert(node, parent)
            parent = node.id
        draft.insert(Node(storage.new_id(), "document", slug.title(), slug, fields, oid, f"{path}.md"), parent)
    made, _ = insert_space(
        storage, connection, draft, organization=organization, by=None, title=title[:50], language=language
    )
    return made


def _sections(parts: list[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for part in parts:
        if part["object"] == "site-section-group":
            yield from _sections(part["children"])
        else:
            yield part
