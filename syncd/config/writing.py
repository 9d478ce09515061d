"""Write tables as TOML, which `reading` parses to the same tables."""

import json
from collections.abc import Mapping
from typing import Any


def render_toml(tables: Mapping[str, Any]) -> str:
    """Return tables as the text of a TOML file; all keys are bare ones, and no value is None or a time."""
    return "\n".join(_list_lines(tables, "")).strip() + "\n"


def _list_lines(table: Mapping[str, Any], above: str) -> list[str]:
    """The lines of a table: plain keys first, then tables in it, then lists of tables."""
    lines = [f"{key} = {_render_value(value)}" for key, value in table.items() if not _is_table(value)]
    for key, value in table.items():
        name = f"{above}{key}"
        if isinstance(value, Mapping):
            lines += ["", f"[{name}]", *_list_lines(value, f"{name}.")]
        elif _is_table(value):
            for one in value:
                lines += ["", f"[[{name}]]", *_list_lines(one, f"{name}.")]
    return lines


def _is_table(value: object) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list) and bool(value) and isinstance(value[0], Mapping))


def _render_value(value: object) -> str:
    """A value of TOML, which is one of JSON but for DEL in a string."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
