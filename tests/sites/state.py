"""What a site file says held against what a server answers, by means that share nothing with syncd's own planning."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from syncd.api.client import Client
from syncd.errors import NotFound


@dataclass
class Server:
    """Everything that a server answers about a site."""

    site: dict[str, Any]
    structure: list[dict[str, Any]]
    redirects: dict[str, Any]
    schema: dict[str, Any]
    settings: dict[str, Any]
    effective: dict[str, dict[str, Any]] = field(default_factory=dict)
    pages: dict[str, dict[str, str]] = field(default_factory=dict)


def asked(client: Client, organization: str, site: str, document: Mapping[str, Any]) -> Server:
    """Given a site and the document that is to be held against it, ask the server for all that this needs."""
    structure = _structure(client, organization, site)
    try:
        schema = client.sites.get_adaptive_schema(organization, site).json_schema
    except NotFound:
        schema = {}
    redirects = {one.source: one.wire()["destination"] for one in client.redirects.list(organization, site)}
    server = Server(
        client.sites.get(organization, site).wire(), structure, redirects, schema,
        client.customization.get(organization, site).wire(),
    )  # fmt: skip
    variants = variants_of(server.structure, document)
    for key in document.get("customization", {}).get("overrides", {}):
        if key in variants:
            id = variants[key]["id"]
            server.effective[key] = client.customization.get_site_space(organization, site, id).wire()
    for key, variant in variants.items():
        if f"'in': '{key}'" in str(document):
            space = variant["space"]["id"]
            server.pages[key] = {page.path: page.id for page in _pages(client.content.list_pages(space))}
    return server


def _structure(client: Client, organization: str, site: str) -> list[dict[str, Any]]:
    """The parts at the root; a server that does not say how groups and sections interleave has groups at the end."""
    try:
        whole: list[dict[str, Any]] = client.sites.get_structure(organization, site).wire()["structure"]
        return whole
    except NotFound:
        sections = [one.wire() for one in client.sections.list(organization, site)]
        groups = [one.wire() for one in client.section_groups.list(organization, site)]
        return [one for one in (*sections, *groups) if not one.get("sectionGroup")]


def _pages(pages: Any) -> Iterator[Any]:
    for page in pages:
        yield page
        yield from _pages(page.pages or ())


def variants_of(structure: list[dict[str, Any]], document: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Given a structure of the server and a document, return the variants there by the keys of the document."""
    sections = {section["path"]: section for section in _sections(structure)}
    found = {}
    for section in _declared_sections(document["structure"]["items"]):
        shown = {one["path"]: one for one in sections.get(section["path"], {}).get("siteSpaces", ())}
        for variant in section["variants"]:
            if variant["path"] in shown:
                found[f"{section['section']}/{variant['variant']}"] = shown[variant["path"]]
    return found


def _sections(items: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for item in items:
        yield from _sections(item["children"]) if item["object"] == "site-section-group" else (item,)


def _declared_sections(items: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for item in items:
        yield from _declared_sections(item["items"]) if "group" in item else (item,)


def differences(document: Mapping[str, Any], server: Server) -> list[str]:
    """Given a document of which everything is managed, return where the server says something else."""
    return [
        *_of_settings(document.get("settings", {}), server.site),
        *_of_items(document["structure"]["items"], server.structure, document, "site"),
        *_of_redirects(document, server),
        *_of_claims(document["visitors"], server.schema),
        *_of_leaves(document["customization"]["site"], server.settings, document, server, "customization"),
        *_of_overrides(document, server),
    ]


def _of_settings(settings: Mapping[str, Any], site: Mapping[str, Any]) -> Iterator[str]:
    names = {"agents_context": "agentsContext", "adaptive_content": "adaptiveContent"}
    for name, value in settings.items():
        found = site.get(names.get(name, name))
        found = found["enabled"] if name == "adaptive_content" and found else found
        if found != value:
            yield f"settings.{name}: {value!r} declared, {found!r} there"


def _of_items(
    items: list[dict[str, Any]], shown: list[dict[str, Any]], document: Mapping[str, Any], where: str
) -> Iterator[str]:
    if len(items) != len(shown):
        yield f"{where}: {len(items)} declared, {[one['title'] for one in shown]} there"
        return
    for item, one in zip(items, shown, strict=True):
        if ("group" in item) != (one["object"] == "site-section-group"):
            yield f"{where}: {item} declared where {one['title']} is"
        elif "group" in item:
            yield from _of_fields(item, one, ("title", "icon"), f"group {item['group']}")
            yield from _of_items(item["items"], one["children"], document, f"group {item['group']}")
        else:
            yield from _of_section(item, one, document)


def _of_section(section: Mapping[str, Any], shown: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[str]:
    where = f"section {section['section']}"
    yield from _of_fields(section, shown, ("title", "path", "icon", "description", "condition", "default"), where)
    variants, there = section["variants"], shown["siteSpaces"]
    if len(variants) != len(there):
        yield f"{where}: {[one['variant'] for one in variants]} declared, {[one['path'] for one in there]} there"
        return
    for variant, one in zip(variants, there, strict=True):
        here = f"{where}/{variant['variant']}"
        yield from _of_fields(variant, one, ("path", "condition", "hidden", "default"), here)
        space = document["spaces"][variant["space"]]
        if one["space"]["id"] != space:
            yield f"{here}.space: {space} declared, {one['space']['id']} there"


def _of_fields(item: Mapping[str, Any], shown: Mapping[str, Any], names: tuple[str, ...], where: str) -> Iterator[str]:
    for name in names:
        if name in item and (item[name] or None) != (shown.get(name) or None):
            yield f"{where}.{name}: {item[name]!r} declared, {shown.get(name)!r} there"


def _of_redirects(document: Mapping[str, Any], server: Server) -> Iterator[str]:
    sources = ((one, [one["from"]] if isinstance(one["from"], str) else one["from"]) for one in document["redirects"])
    wanted = {source: _led(one["to"], document, server) for one, every in sources for source in every}
    for source in wanted.keys() | server.redirects.keys():
        if wanted.get(source) != server.redirects.get(source):
            yield f"redirect {source}: {wanted.get(source)} declared, {server.redirects.get(source)} there"


def _led(to: Mapping[str, Any], document: Mapping[str, Any], server: Server) -> dict[str, Any]:
    sections = {one["path"]: one["id"] for one in _sections(server.structure)}
    variants = variants_of(server.structure, document)
    if "section" in to:
        paths = {one["section"]: one["path"] for one in _declared_sections(document["structure"]["items"])}
        return {"kind": "site-section", "siteSectionId": sections.get(paths[to["section"]])}
    if "variant" in to:
        return {"kind": "site-space", "siteSpaceId": variants[to["variant"]]["id"]}
    if "page" in to:
        page = server.pages[to["in"]].get(to["page"])
        return {"kind": "site-page", "siteSpaceId": variants[to["in"]]["id"], "pageId": page}
    return {"kind": "external", "url": to["url"]} if "url" in to else dict(to["raw"])


def _of_claims(visitors: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    properties = dict(schema.get("properties", {}))
    unsigned = properties.pop("unsigned", {}).get("properties", {})
    for group, there in (("claims", properties), ("unsigned", unsigned)):
        declared = visitors.get(group, {})
        if declared != there:
            yield f"visitors.{group}: {declared} declared, {there} there"


def _of_overrides(document: Mapping[str, Any], server: Server) -> Iterator[str]:
    for key, own in document["customization"].get("overrides", {}).items():
        shown = server.effective.get(key)
        inherited = {name: value for name, value in server.settings.items() if name != "title"}
        if shown is None:
            yield f"override {key}: no such variant"
        elif own == "reset":
            if {name: value for name, value in shown.items() if name != "title"} != inherited:
                yield f"override {key}: reset declared, and it has settings of its own"
        else:
            unset = {name: _at(inherited, name) for name, value in _flat(own) if value is None and name != "title"}
            for name, value in unset.items():
                if _at(shown, name) != value:
                    yield f"override {key}.{name}: unset declared, {_at(shown, name)!r} there"
            rest = {name: value for name, value in _flat(own) if value is not None}
            for name, value in rest.items():
                if not _same(value, _at(shown, name), document, server):
                    yield f"override {key}.{name}: {value!r} declared, {_at(shown, name)!r} there"


def _of_leaves(
    settings: Mapping[str, Any], shown: Mapping[str, Any], document: Mapping[str, Any], server: Server, where: str
) -> Iterator[str]:
    for name, value in _flat(settings):
        if not _same(value, _at(shown, name), document, server):
            yield f"{where}.{name}: {value!r} declared, {_at(shown, name)!r} there"


def _flat(settings: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        if isinstance(value, Mapping) and value and name not in ("to", "primaryLink", "localizedTitle", "favicon"):
            yield from _flat(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value


def _at(settings: Any, name: str) -> Any:
    for part in name.split("."):
        settings = settings.get(part) if isinstance(settings, Mapping) else None
    return settings


def _same(value: Any, shown: Any, document: Mapping[str, Any], server: Server) -> bool:
    """Members of lists may be more there: languages that nobody wrote, and the style that a link has by itself."""
    if isinstance(value, Mapping) and isinstance(shown, Mapping):
        keys = value.keys() | shown.keys()
        return all(
            _target(value, shown, document, server) if key == "to" and value.get(key) is not None
            else _same(value.get(key), shown.get(key), document, server)
            for key in keys
            if key in value or shown[key] not in ({}, [], "link", None)
        )  # fmt: skip
    if isinstance(value, list) and isinstance(shown, list):
        return len(value) == len(shown) and all(
            _same(one, other, document, server) for one, other in zip(value, shown, strict=True)
        )
    return value == shown or (not value and value is not False and not shown and shown is not False)


def _target(link: Mapping[str, Any], shown: Mapping[str, Any], document: Mapping[str, Any], server: Server) -> bool:
    to, there = link["to"], shown["to"]
    if "page" in to and "in" in to:
        space = variants_of(server.structure, document)[to["in"]]["space"]["id"]
        return bool(there == {"kind": "page", "page": server.pages[to["in"]][to["page"]], "space": space})
    if "variant" in to or "section" in to:
        shown_there = variants_of(server.structure, document)
        keys = [key for key in shown_there if key.partition("/")[0] == to.get("section")]
        key = to.get("variant") or next(key for key in keys if shown_there[key]["default"])
        return bool(there == {"kind": "space", "space": shown_there[key]["space"]["id"]})
    if "url" in to and "kind" not in to:
        return bool(there == {"kind": "url", "url": to["url"]})
    return bool(there == to.get("raw", to))
