"""A fresh site file, as a person would write it."""

from collections.abc import Mapping
from typing import Any

from syncd.layout.site.write.render import render_block

SCHEMA = ".syncd/schema/site-v1.json"
"""Where editors look for the schema, from the site file; `syncd schema site` writes it."""
MODELINE = f"# yaml-language-server: $schema={SCHEMA}\n# $schema: {SCHEMA}\n"
_HEAD = ("version", "site")
_NOTES = {
    "spaces": "Short names of spaces; everything below uses these.",
    "settings": "What is left out of this file is left alone; null takes a value away.",
    "redirects": "Old addresses and where they lead.",
}


def emit_site_file(document: Mapping[str, Any]) -> str:
    """Return the text of a site file that has the content of a document.

    Shape: keys in the order of the document; reading the text gives the same document.
    """
    parts = [MODELINE]
    for name, value in document.items():
        if name not in _HEAD:
            parts.append(f"\n# {_NOTES[name]}\n" if name in _NOTES else "\n")
        parts.append(render_block({name: value}, 0, spread=name not in _HEAD) + "\n")
    return "".join(parts)
