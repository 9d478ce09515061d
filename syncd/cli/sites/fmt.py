"""`site fmt` and `site migrate`: a site file in one spelling, and in the form of today."""

import difflib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from syncd.cli.sites.offline import Place, place_of
from syncd.cli.terminal.output import emit
from syncd.cli.terminal.rewrite_file import rewrite
from syncd.cli.terminal.text import paint, print_text, safe
from syncd.layout.site.read.redirect_files import kind_of
from syncd.layout.site.write.fmt import formatted
from syncd.layout.site.write.migrate import migrated
from syncd.model.wording import format_count

_COLOURS = {"+": 32, "-": 31, "@": 36}


def run_fmt(config_file: Path | None, file: Path | None, *, check: bool, as_json: bool) -> int:
    """Put the site file and the redirect files in YAML that it names into one spelling.

    Shape: with `check` nothing is written; a diff is printed, and 1 returned when there is any.
    """
    place = place_of(config_file, file)
    source = place.source()
    texts = {source.path: source.text}
    texts |= {path: text for path, text in source.others.items() if kind_of(path) == "yaml"}
    changed = {path: new for path, text in texts.items() if (new := formatted(text, path=path)) != text}
    code = 1 if check and changed else 0
    for path, new in changed.items() if not check else ():
        rewrite(place.top, path, new)
    if as_json:
        emit(
            {"files": list(texts), "changed": list(changed), "written": bool(changed) and not check, "exit_code": code}
        )
    else:
        print_text("\n".join(_told(texts, changed, check=check)))
    return code


def run_migrate(config_file: Path | None, file: Path | None, *, as_json: bool) -> int:
    """Bring a site file that was written for an earlier syncd into the form of today."""
    place: Place = place_of(config_file, file)
    source = place.source()
    new, said = migrated(source.text, path=source.path)
    if said:
        rewrite(place.top, source.path, new)
    if as_json:
        emit({"file": source.path, "changes": list(said), "exit_code": 0})
    elif said:
        print_text("\n".join([*(f"{safe(source.path)}: {safe(one)}" for one in said), "Next: syncd site validate"]))
    else:
        print(f"{safe(source.path)} is in the form of today already")
    return 0


def _told(texts: Mapping[str, str], changed: Mapping[str, str], *, check: bool) -> Iterator[str]:
    """What was done, or would be."""
    if not changed:
        first = next(iter(texts))
        yield f"{f'{safe(first)} is' if len(texts) == 1 else f'{len(texts)} files are'} in one spelling already"
    elif not check:
        yield from (f"formatted {safe(path)}" for path in changed)
    else:
        for path, new in changed.items():
            yield from _diff(path, texts[path], new)
        yield f"{format_count(len(changed), 'file')} to format: syncd site fmt"


def _diff(path: str, old: str, new: str) -> Iterator[str]:
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), path, f"{path} (formatted)", lineterm="")
    for line in lines:
        colour = _COLOURS.get(line[:1])
        yield paint(safe(line), colour, sys.stdout) if colour else safe(line)
