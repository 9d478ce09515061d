"""The JSON Schema of a site file, made from the tables that the reader checks by, for editors and other programs."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from syncd.layout.site.read.shape import (  # fmt: skip
    ABSENT,
    CUSTOMIZATION,
    GROUP,
    KEY_PATTERN,
    LIMIT,
    LIMITS,
    ON_DRIFT,
    POLICY,
    PRUNE,
    REDIRECT,
    REDIRECT_FILES_MAX,
    RESET,
    SECTION,
    SETTINGS,
    SITE,
    STRUCTURE,
    TO,
    TOP,
    VARIANT,
    VERSION,
    VISITORS,
    Key,
    Keys,
)
from syncd.model.customization_override import SiteSpaceCustomizationOverride
from syncd.model.customization_write import SiteCustomizationWrite

Schema = dict[str, Any]

DRAFT = "http://json-schema.org/draft-07/schema#"
_TYPES = {"text": "string", "flag": "boolean", "count": "integer", "mapping": "object", "list": "array"}
_KEY = f"^{KEY_PATTERN}$"
_COMPLETE = {"ThemedColor", "ThemedAddress", "ThemedCodeTheme", "ContentLink", "Font", "FontFace", "FontSource"}
"""Shapes of which no part makes sense without the rest."""
_TITLED = {"HeaderLink", "FooterGroup", "SocialAccount"}
"""Shapes in lists, of which what is left out has a usual value."""


def build_site_schema() -> Schema:
    """Return the JSON Schema, draft-07, of a site file.

    Shape: it checks every key and type that the reader checks; rules about what several parts say together are syncd's.
    """
    found = _build_object(
        TOP,
        site=_build_object(SITE, required=("org", "id")),
        policy=_build_policy(),
        spaces=_build_mapping({"type": "string", "minLength": 1, "description": "The id of a space."}, names=_KEY),
        settings=_build_object(SETTINGS),
        visitors=_build_object(VISITORS, claims=_build_ref("claims"), unsigned=_build_ref("claims")),
        structure=_build_object(STRUCTURE, items=_build_list("section", "group", "variant")),
        redirects=_build_list("redirect"),
        redirect_files={
            **_build_list(),
            "items": {"type": "string"},
            "maxItems": REDIRECT_FILES_MAX,
            "uniqueItems": True,
        },
        absent=_build_object(ABSENT, redirects=_build_texts(single=False)),
        customization=_build_customization(),
        required=("version", "site"),
    )
    found["properties"]["version"] = {"const": VERSION, "description": TOP["version"].about}
    title = {"title": "Site file of syncd", "description": "What a docs site should be. Absent is left alone."}
    return {"$schema": DRAFT, **title, **found, "definitions": _build_definitions()}


def build_redirect_schema() -> Schema:
    """Return the JSON Schema of a redirect file in YAML."""
    return {"$schema": DRAFT, **_build_list("redirect"), "definitions": _build_definitions()}


def _build_definitions() -> Schema:
    destinations = [{"required": [kind]} for kind in ("section", "variant", "url", "raw")]
    to = _build_object(TO, raw={"type": "object", "description": TO["raw"].about})
    link = {**to, "oneOf": [*destinations, {"required": ["page", "in"]}]}
    return {
        "variant": _build_object(VARIANT, required=("variant", "space"), variant=_build_pattern("variant")),
        "section": _build_object(
            SECTION, required=("section",), section=_build_pattern("section"), variants=_build_list("variant")
        ),
        "group": _build_object(
            GROUP, required=("group",), group=_build_pattern("group"), items=_build_list("section", "group")
        ),
        "redirect": _build_object(REDIRECT, required=("from", "to"), to=_build_ref("link")),
        "link": link,
        "claims": _build_mapping(
            {"type": ["object", "null"], "description": "The JSON Schema of a claim; null removes it."}
        ),
        **_build_shapes(SiteCustomizationWrite, "site"),
        **_build_shapes(SiteSpaceCustomizationOverride, "override"),
    }


def _build_policy() -> Schema:
    limits = {area: _build_object(LIMIT) for area in LIMITS}
    return _build_object(
        POLICY,
        on_drift=_build_object(ON_DRIFT),
        prune=_build_object(PRUNE),
        limits=_build_object(LIMITS, required=(), **limits),
    )


def _build_customization() -> Schema:
    override = {"oneOf": [{"const": RESET, "description": "Takes all overrides away."}, _build_ref("override")]}
    return _build_object(CUSTOMIZATION, site=_build_ref("site"), overrides=_build_mapping(override))


def _build_object(keys: Keys, *, required: tuple[str, ...] = (), **special: Schema) -> Schema:
    properties = {}
    for name, key in keys.items():
        properties[name] = _add_description(special[name], key) if name in special else _build_simple(key)
    found: Schema = {"type": "object", "additionalProperties": False, "properties": properties}
    return {**found, "required": list(required)} if required else found


def _add_description(schema: Schema, key: Key) -> Schema:
    # Beside a $ref, draft-07 reads nothing.
    return {"allOf": [schema], "description": key.about} if "$ref" in schema else {**schema, "description": key.about}


def _build_simple(key: Key) -> Schema:
    if key.holds == "texts":
        return {**_build_texts(), "description": key.about}
    kind = _TYPES[key.holds]
    found: Schema = {"description": key.about, "type": [kind, "null"] if key.nullable else kind}
    if key.choices:
        found["enum"] = list(key.choices)
    names = ("minLength", "maxLength") if key.holds == "text" else ("minimum", "maximum")
    return found | {name: bound for name, bound in zip(names, (key.least, key.most), strict=True) if bound is not None}


def _build_pattern(name: str) -> Schema:
    return {"type": "string", "pattern": _KEY, "description": f"The key of this {name}."}


def _build_texts(*, single: bool = True) -> Schema:
    several = {"type": "array", "items": {"type": "string"}}
    return {"oneOf": [{"type": "string"}, several]} if single else several


def _build_list(*names: str) -> Schema:
    if not names:
        return {"type": "array"}
    entries = [_build_ref(name) for name in names]
    return {"type": "array", "items": entries[0] if len(entries) == 1 else {"oneOf": entries}}


def _build_mapping(value: Schema, *, names: str = "") -> Schema:
    found: Schema = {"type": "object", "additionalProperties": value}
    return {**found, "propertyNames": {"pattern": names}} if names else found


def _build_ref(name: str) -> Schema:
    return {"$ref": f"#/definitions/{name}"}


def _build_shapes(model: type[BaseModel], prefix: str) -> Schema:
    """The shapes of a model, by names of their own; every member can be left out, and null where it can be unset."""
    whole = model.model_json_schema(by_alias=True)
    found = {prefix: _build_shape(whole, prefix, prefix)}
    models = whole.pop("$defs")
    models.pop("ContentRefWrite", None)
    named = {_find_shape_name(model_name): shape for model_name, shape in models.items()}
    for name, shape in sorted(named.items()):
        found[f"{prefix}.{name}"] = _build_shape(shape, prefix, name)
    if prefix == "site":
        for member in ("backgroundColor", "linkColor"):
            found["site.Header"]["properties"].pop(member, None)
    found[prefix]["properties"].pop("updatedAt", None)
    return found


def _find_shape_name(model_name: str) -> str:
    """The name of a shape in the schema, which people's editors have: it stays when a model is called otherwise."""
    return model_name.removesuffix("Write")


def _build_shape(shape: Mapping[str, Any], prefix: str, name: str) -> Schema:
    required = set(shape.get("required", ()))
    properties = {}
    for member, schema in shape.get("properties", {}).items():
        value = _convert_value(schema, prefix)
        properties[member] = value if member in required else {"anyOf": [value, {"type": "null"}]}
    kept = required if name in _COMPLETE else required & {"title", "platform", "handle"} if name in _TITLED else set()
    found = {"type": "object", "additionalProperties": False, "properties": properties}
    found |= {"description": shape["description"].partition("\n")[0]} if "description" in shape else {}
    return {**found, "required": sorted(kept)} if kept else found


def _convert_value(schema: Any, prefix: str) -> Any:
    """A schema of a value with references to where the shapes are now."""
    if isinstance(schema, list):
        return [_convert_value(one, prefix) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    if "$ref" in schema:
        model_name = schema["$ref"].rpartition("/")[2]
        return _build_ref("link" if model_name == "ContentRefWrite" else f"{prefix}.{_find_shape_name(model_name)}")
    return {key: _convert_value(one, prefix) for key, one in schema.items() if key not in ("default", "title")}
