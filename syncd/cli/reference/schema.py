"""`schema`: the JSON Schema of a file that people write, so that their editor completes and checks it."""

import ast
import inspect
import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import typer

from syncd.config import Config, repository, shapes
from syncd.layout.lint.suggestions import NearMisses, format_suggestion
from syncd.layout.site.write.schema import DRAFT, build_redirect_schema, build_site_schema

_HERE, _THERE = "#/$defs/", "#/definitions/"
_NOTHING = {"type": "null"}


def render_schema(name: str) -> str:
    """Return the text of the JSON Schema of a file: `site`, `redirects` or `config`."""
    return json.dumps(_SCHEMAS[name](), ensure_ascii=False, indent=2) + "\n"


def print_schema(name: str) -> None:
    """Print the JSON Schema of a file: `site`, `redirects` or `config`. Raises: BadParameter for any other name."""
    if name not in _SCHEMAS:
        hint = format_suggestion(NearMisses(_SCHEMAS).find(name)) or f"there are {', '.join(_SCHEMAS)}"
        raise typer.BadParameter(f"there is no schema of {name[:80]}; {hint}")
    print(render_schema(name), end="")


def build_config_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft-07) of the configuration.

    Shape: it checks keys and types; rules about several keys are checked when syncd reads the file.
    """
    schema = Config.model_json_schema()
    schemas = {"Config": schema, **schema.pop("$defs")}
    for name, fields in _read_descriptions().items():
        if name in schemas:
            schemas[name]["description"] = schemas[name]["description"].partition(";")[0].rstrip(".") + "."
        for key, description in fields.items():
            schemas[name]["properties"][key]["description"] = description
    schemas["Config"]["required"].remove("platform")  # SYNCD_URL, or the operator's own file, may name it
    schemas["PlatformConfig"].pop("required")
    definitions = {name: _adapt_to_toml(one) for name, one in schemas.items()}
    top = {"$schema": DRAFT, "title": "Configuration of syncd", **definitions.pop("Config")}
    return {**top, "definitions": definitions}


def _read_descriptions() -> dict[str, dict[str, str]]:
    """The docstring of each key of the configuration, by model and key.

    They are read from the source: with `use_attribute_docstrings` pydantic would read them at every start.
    """
    statements = [node for module in (repository, shapes) for node in ast.parse(inspect.getsource(module)).body]
    models = [node for node in statements if isinstance(node, ast.ClassDef)]
    found: dict[str, dict[str, str]] = {model.name: {} for model in models}
    for model in models:
        for key, description in pairwise(model.body):
            if (
                isinstance(key, ast.AnnAssign)
                and isinstance(description, ast.Expr)
                and isinstance(key.target, ast.Name)
            ):
                found[model.name][key.target.id] = inspect.cleandoc(ast.literal_eval(description.value))
    return found


def _adapt_to_toml(value: Any) -> Any:
    """A schema of pydantic, changed to draft-07, and without null, which TOML does not have."""
    if isinstance(value, list):
        return [_adapt_to_toml(one) for one in value]
    if not isinstance(value, Mapping):
        return value.replace(_HERE, _THERE) if isinstance(value, str) else value
    schema = {key: _adapt_to_toml(one) for key, one in value.items() if not _is_left_out(key, one)}
    if _NOTHING in (choices := schema.get("anyOf", ())):
        schema.pop("anyOf")
        schema |= next(one for one in choices if one != _NOTHING)
    if "$ref" in schema and len(schema) > 1:  # beside a $ref, draft-07 reads nothing
        schema["allOf"] = [{"$ref": schema.pop("$ref")}]
    return schema


def _is_left_out(key: str, value: Any) -> bool:
    return (key == "title" and isinstance(value, str)) or key == "format" or (key == "default" and value is None)


_SCHEMAS = {"site": build_site_schema, "redirects": build_redirect_schema, "config": build_config_schema}
