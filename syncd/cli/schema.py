"""`schema`: the JSON Schema of a file that people write, so that their editor completes and checks it."""

import ast
import inspect
import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import typer

from syncd.config import shapes as config
from syncd.layout.lint.near import Near, meant
from syncd.layout.site.write.schema import DRAFT, redirect_schema, site_schema

_HERE, _THERE = "#/$defs/", "#/definitions/"
_NOTHING = {"type": "null"}


def schema_text(name: str) -> str:
    """Given which file, `site`, `redirects` or `config`, return the text of its JSON Schema."""
    return json.dumps(_SCHEMAS[name](), ensure_ascii=False, indent=2) + "\n"


def print_schema(name: str) -> None:
    """Given which file, `site`, `redirects` or `config`, print its schema. Raises: BadParameter for any other."""
    if name not in _SCHEMAS:
        hint = meant(Near(_SCHEMAS).to(name)) or f"there are {', '.join(_SCHEMAS)}"
        raise typer.BadParameter(f"there is no schema of {name[:80]}; {hint}")
    print(schema_text(name), end="")


def config_schema() -> dict[str, Any]:
    """Given nothing, return the JSON Schema, draft-07, of the configuration.

    Shape: it checks keys and types; what several keys say together is checked when syncd reads the file.
    """
    found = config.Config.model_json_schema()
    shapes = {"Config": found, **found.pop("$defs")}
    for name, fields in _abouts().items():
        if name in shapes:
            shapes[name]["description"] = shapes[name]["description"].partition(";")[0].rstrip(".") + "."
        for key, about in fields.items():
            shapes[name]["properties"][key]["description"] = about
    shapes["Config"]["required"].remove("platform")  # SYNCD_URL, or the operator's own file, may name it
    shapes["PlatformConfig"].pop("required")
    made = {name: _in_toml(shape) for name, shape in shapes.items()}
    top = {"$schema": DRAFT, "title": "Configuration of syncd", **made.pop("Config")}
    return {**top, "definitions": made}


def _abouts() -> dict[str, dict[str, str]]:
    """What the configuration's code says of each key, by model; pydantic would read it at every start."""
    models = [node for node in ast.parse(inspect.getsource(config)).body if isinstance(node, ast.ClassDef)]
    found: dict[str, dict[str, str]] = {model.name: {} for model in models}
    for model in models:
        for key, about in pairwise(model.body):
            if isinstance(key, ast.AnnAssign) and isinstance(about, ast.Expr) and isinstance(key.target, ast.Name):
                found[model.name][key.target.id] = inspect.cleandoc(ast.literal_eval(about.value))
    return found


def _in_toml(value: Any) -> Any:
    """A schema as pydantic makes it, in draft-07, and without the null that TOML does not have."""
    if isinstance(value, list):
        return [_in_toml(one) for one in value]
    if not isinstance(value, Mapping):
        return value.replace(_HERE, _THERE) if isinstance(value, str) else value
    found = {key: _in_toml(one) for key, one in value.items() if not _is_noise(key, one)}
    if _NOTHING in (choices := found.get("anyOf", ())):
        found.pop("anyOf")
        found |= next(one for one in choices if one != _NOTHING)
    if "$ref" in found and len(found) > 1:  # beside a $ref, draft-07 reads nothing
        found["allOf"] = [{"$ref": found.pop("$ref")}]
    return found


def _is_noise(key: str, value: Any) -> bool:
    return (key == "title" and isinstance(value, str)) or key == "format" or (key == "default" and value is None)


_SCHEMAS = {"site": site_schema, "redirects": redirect_schema, "config": config_schema}
