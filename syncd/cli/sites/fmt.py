"""`site fmt` and `site migrate`: format a site file, and convert it to the current version of the format."""

import difflib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from syncd.cli.sites.offline import SiteFileLocation, locate_site_file
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.rewrite_file import rewrite_file
from syncd.cli.terminal.text import escape, name_config, print_text, style_text
from syncd.layout.site.read.redirect_files import find_file_kind
from syncd.layout.site.write.fmt import format_site_file
from syncd.layout.site.write.migrate import migrate_site_file
from syncd.model.wording import format_count

_COLOURS = {"+": 32, "-": 31, "@": 36}


def run_fmt(config_file: Path | None, file: Path | None, *, check: bool, as_json: bool) -> int:
    """Format the site file, and the redirect files in YAML that it names.

    Shape: with `check` nothing is written; a diff is printed, and 1 is returned when there is any.
    """
    location = locate_site_file(config_file, file)
    source = location.read_texts()
    texts = {source.path: source.text}
    texts |= {path: text for path, text in source.others.items() if find_file_kind(path) == "yaml"}
    changed = {path: new for path, text in texts.items() if (new := format_site_file(text, path=path)) != text}
    code = 1 if check and changed else 0
    for path, new in changed.items() if not check else ():
        rewrite_file(location.top, path, new)
    if as_json:
        print_document(
            {"files": list(texts), "changed": list(changed), "written": bool(changed) and not check, "exit_code": code}
        )
    else:
        print_text("\n".join(_format_result(texts, changed, check=check)))
    return code


def run_migrate(config_file: Path | None, file: Path | None, *, as_json: bool) -> int:
    """Convert a site file of an earlier version of syncd to the current format."""
    location: SiteFileLocation = locate_site_file(config_file, file)
    source = location.read_texts()
    new, notes = migrate_site_file(source.text, path=source.path)
    if notes:
        rewrite_file(location.top, source.path, new)
    if as_json:
        print_document({"file": source.path, "changes": list(notes), "exit_code": 0})
    elif notes:
        print_text(
            "\n".join(
                [
                    *(f"{escape(source.path)}: {escape(one)}" for one in notes),
                    f"Next: {escape(name_config('syncd site validate', config_file))}",
                ]
            )
        )
    else:
        print(f"{escape(source.path)} is in the form of today already")
    return 0


def _format_result(texts: Mapping[str, str], changed: Mapping[str, str], *, check: bool) -> Iterator[str]:
    """Lines about the files that were formatted, or with `check` would be."""
    if not changed:
        first = next(iter(texts))
        yield f"{f'{escape(first)} is' if len(texts) == 1 else f'{len(texts)} files are'} in one spelling already"
    elif not check:
        yield from (f"formatted {escape(path)}" for path in changed)
    else:
        for path, new in changed.items():
            yield from _format_diff(path, texts[path], new)
        yield f"{format_count(len(changed), 'file')} to format: syncd site fmt"


def _format_diff(path: str, old: str, new: str) -> Iterator[str]:
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), path, f"{path} (formatted)", lineterm="")
    for line in lines:
        colour = _COLOURS.get(line[:1])
        yield style_text(escape(line), colour, sys.stdout) if colour else escape(line)
