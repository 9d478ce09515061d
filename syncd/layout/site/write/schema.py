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


def site_schema() -> Schema:
    """Given nothing, return the JSON Schema, draft-07, of a site file.

    Shape: it checks every key and type that the reader checks; rules about what several parts say together are syncd's.
    """
    found = _object(
        TOP,
        site=_object(SITE, required=("org", "id")),
        policy=_policy(),
        spaces=_named({"type": "string", "minLength": 1, "description": "The id of a space."}, names=_KEY),
        settings=_object(SETTINGS),
        visitors=_object(VISITORS, claims=_ref("claims"), unsigned=_ref("claims")),
        structure=_object(STRUCTURE, items=_list("section", "group", "variant")),
        redirects=_list("redirect"),
        redirect_files={**_list(), "items": {"type": "string"}, "maxItems": REDIRECT_FILES_MAX, "uniqueItems": True},
        absent=_object(ABSENT, redirects=_texts(single=False)),
        customization=_customization(),
        required=("version", "site"),
    )
    found["properties"]["version"] = {"const": VERSION, "description": TOP["version"].about}
    title = {"title": "Site file of syncd", "description": "What a docs site should be. Absent is left alone."}
    return {"$schema": DRAFT, **title, **found, "definitions": _definitions()}


def redirect_schema() -> Schema:
    """Given nothing, return the JSON Schema of a redirect file in YAML."""
    return {"$schema": DRAFT, **_list("redirect"), "definitions": _definitions()}


def _definitions() -> Schema:
    destinations = [{"required": [kind]} for kind in ("section", "variant", "url", "raw")]
    to = _object(TO, raw={"type": "object", "description": TO["raw"].about})
    link = {**to, "oneOf": [*destinations, {"required": ["page", "in"]}]}
    return {
        "variant": _object(VARIANT, required=("variant", "space"), variant=_pattern("variant")),
        "section": _object(SECTION, required=("section",), section=_pattern("section"), variants=_list("variant")),
        "group": _object(GROUP, required=("group",), group=_pattern("group"), items=_list("section", "group")),
        "redirect": _object(REDIRECT, required=("from", "to"), to=_ref("link")),
        "link": link,
        "claims": _named({"type": ["object", "null"], "description": "The JSON Schema of a claim; null removes it."}),
        **_shapes(SiteCustomizationWrite, "site"),
        **_shapes(SiteSpaceCustomizationOverride, "override"),
    }


def _policy() -> Schema:
    limits = {area: _object(LIMIT) for area in LIMITS}
    return _object(
        POLICY, on_drift=_object(ON_DRIFT), prune=_object(PRUNE), limits=_object(LIMITS, required=(), **limits)
    )


def _customization() -> Schema:
    override = {"oneOf": [{"const": RESET, "description": "Takes all overrides away."}, _ref("override")]}
    return _object(CUSTOMIZATION, site=_ref("site"), overrides=_named(override))


def _object(keys: Keys, *, required: tuple[str, ...] = (), **special: Schema) -> Schema:
    properties = {}
    for name, key in keys.items():
        properties[name] = _described(special[name], key) if name in special else _simple(key)
    found: Schema = {"type": "object", "additionalProperties": False, "properties": properties}
    return {**found, "required": list(required)} if required else found


def _described(schema: Schema, key: Key) -> Schema:
    # Beside a $ref, draft-07 reads nothing.
    return {"allOf": [schema], "description": key.about} if "$ref" in schema else {**schema, "description": key.about}


def _simple(key: Key) -> Schema:
    if key.holds == "texts":
        return {**_texts(), "description": key.about}
    kind = _TYPES[key.holds]
    found: Schema = {"description": key.about, "type": [kind, "null"] if key.nullable else kind}
    if key.choices:
        found["enum"] = list(key.choices)
    names = ("minLength", "maxLength") if key.holds == "text" else ("minimum", "maximum")
    return found | {name: bound for name, bound in zip(names, (key.least, key.most), strict=True) if bound is not None}


def _pattern(name: str) -> Schema:
    return {"type": "string", "pattern": _KEY, "description": f"The key of this {name}."}


def _texts(*, single: bool = True) -> Schema:
    several = {"type": "array", "items": {"type": "string"}}
    return {"oneOf": [{"type": "string"}, several]} if single else several


def _list(*names: str) -> Schema:
    if not names:
        return {"type": "array"}
    entries = [_ref(name) for name in names]
    return {"type": "array", "items": entries[0] if len(entries) == 1 else {"oneOf": entries}}


def _named(value: Schema, *, names: str = "") -> Schema:
    found: Schema = {"type": "object", "additionalProperties": value}
    return {**found, "propertyNames": {"pattern": names}} if names else found


def _ref(name: str) -> Schema:
    return {"$ref": f"#/definitions/{name}"}


def _shapes(model: type[BaseModel], prefix: str) -> Schema:
    """The shapes of a model, by names of their own; every member can be left out, and null where it can be unset."""
    whole = model.model_json_schema(by_alias=True)
    found = {prefix: _shape(whole, prefix, prefix)}
    models = whole.pop("$defs")
    models.pop("ContentRefWrite", None)
    named = {_find_shape_name(model_name): shape for model_name, shape in models.items()}
    for name, shape in sorted(named.items()):
        found[f"{prefix}.{name}"] = _shape(shape, prefix, name)
    if prefix == "site":
        for member in ("backgroundColor", "linkColor"):
            found["site.Header"]["properties"].pop(member, None)
    found[prefix]["properties"].pop("updatedAt", None)
    return found


def _find_shape_name(model_name: str) -> str:
    """The name of a shape in the schema, which people's editors have: it stays when a model is called otherwise."""
    return model_name.removesuffix("Write")


def _shape(shape: Mapping[str, Any], prefix: str, name: str) -> Schema:
    required = set(shape.get("required", ()))
    properties = {}
    for member, schema in shape.get("properties", {}).items():
        value = _value(schema, prefix)
        properties[member] = value if member in required else {"anyOf": [value, {"type": "null"}]}
    kept = required if name in _COMPLETE else required & {"title", "platform", "handle"} if name in _TITLED else set()
    found = {"type": "object", "additionalProperties": False, "properties": properties}
    found |= {"description": shape["description"].partition("\n")[0]} if "description" in shape else {}
    return {**found, "required": sorted(kept)} if kept else found


def _value(schema: Any, prefix: str) -> Any:
    """A schema of a value with references to where the shapes are now."""
    if isinstance(schema, list):
        return [_value(one, prefix) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    if "$ref" in schema:
        model_name = schema["$ref"].rpartition("/")[2]
        return _ref("link" if model_name == "ContentRefWrite" else f"{prefix}.{_find_shape_name(model_name)}")
    return {key: _value(one, prefix) for key, one in schema.items() if key not in ("default", "title")}
