"""Edits of redirects as changes of text: one more, or one less, in whichever file has it; all else stays as it is."""

import csv
import io
from collections.abc import Mapping
from typing import Any

from syncd.errors import FileInvalid
from syncd.layout.site.read.declared import Item, SiteFile
from syncd.layout.site.read.redirect_files import BYTES_MAX, find_file_kind
from syncd.layout.site.write.exports import format_destination
from syncd.layout.site.write.patch import Patch, apply_patches
from syncd.layout.yaml import yaml
from syncd.model.redirect import make_source_key
from syncd.model.ref import Ref

_LIST = "redirects"


def insert_redirect(
    file: SiteFile, texts: Mapping[str, str], source: str, to: Mapping[str, Any], note: str = ""
) -> dict[str, str]:
    """Return the text of the file that takes a new redirect, by its path.

    Shape: it goes into the site file; where that has no redirects of its own, into the first redirect file in CSV.
    Raises: FileInvalid when the source is redirected already, or when the file cannot be changed by a program.
    """
    known = file.items.get(Ref.of("redirect", make_source_key(source)))
    if known is not None:
        place, said = known.where("source"), known.fields.get("source")
        what = f"{source} is redirected already" + (f", as {said}" if said != source else "")
        hint = f"syncd redirects rm {said}, or edit that line"
        raise FileInvalid(what, path=place.file, line=place.line, column=place.column, hint=hint)
    if (word := format_destination(to)) and (other := _find_csv(file)):
        return {other: _append_row(texts[other], [source, word, *([note] if note else [])])}
    entry = {"from": source, "to": dict(to), **({"note": note} if note else {})}
    return {file.path: apply_patches(texts[file.path], file.path, [Patch("add", (_LIST,), entry)])}


def delete_redirect(file: SiteFile, texts: Mapping[str, str], item: Item) -> dict[str, str]:
    """Return the text of the file without one of its redirects, by its path.

    Raises: FileInvalid when the file cannot be changed by a program.
    """
    path = item.place.file
    if path != file.path and find_file_kind(path) != "yaml":
        lines = texts[path].split("\n")
        del lines[item.place.line - 1]
        return {path: "\n".join(lines)}
    root = yaml.load(texts[path], at=path, bytes_max=BYTES_MAX)
    at = () if path != file.path else (_LIST,)
    for index, entry in enumerate(root[_LIST] if at else root):
        sources = entry["from"] if isinstance(entry["from"], list) else [entry["from"]]
        keys = [make_source_key(str(source)) for source in sources]
        if item.key in keys:
            place = (*at, index) if len(keys) == 1 else (*at, index, "from", keys.index(item.key))
            return {path: apply_patches(texts[path], path, [Patch("remove", place)])}
    raise FileInvalid(f"{item.fields.get('source')} is not where it was read", path=path, line=item.place.line)


def _find_csv(file: SiteFile) -> str:
    """The first redirect file in CSV of a site file that has no redirects itself, "" without one."""
    if _LIST in file.places:
        return ""
    return next((path for path in file.redirect_files if find_file_kind(path) == "csv"), "")


def _append_row(text: str, cells: list[str]) -> str:
    line = io.StringIO()
    end = "\r\n" if "\r\n" in text else "\n"
    csv.writer(line, lineterminator=end).writerow(cells)
    gap = "" if not text or text.endswith("\n") else end
    return f"{text}{gap}{line.getvalue()}"
