"""`schema`: the JSON Schema of a file that people write, so that their editor completes and checks it."""

import json

import typer

from syncd.layout.site.schema import redirect_schema, site_schema

_SCHEMAS = {"site": site_schema, "redirects": redirect_schema}


def schema_text(name: str) -> str:
    """Given which file, `site` or `redirects`, return the text of its JSON Schema."""
    return json.dumps(_SCHEMAS[name](), ensure_ascii=False, indent=2) + "\n"


def print_schema(name: str) -> None:
    """Given which file, `site` or `redirects`, print its JSON Schema. Raises: BadParameter for any other."""
    if name not in _SCHEMAS:
        raise typer.BadParameter(f"there is no schema of {name}; there are {' and '.join(_SCHEMAS)}")
    print(schema_text(name), end="")
