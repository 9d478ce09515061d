"""`site fmt` and `site migrate`: a site file in one spelling, and in the form of today."""

import difflib
import sys
from collections.abc import Iterator
from pathlib import Path

from syncd.cli.rewriting import rewrite
from syncd.cli.sites.offline import Place, place_of
from syncd.cli.terminal import paint, safe
from syncd.layout.site.fmt import formatted
from syncd.layout.site.migrate import migrated
from syncd.layout.site.redirect_files import kind_of

_COLOURS = {"+": 32, "-": 31, "@": 36}


def run_fmt(config_file: Path | None, file: Path | None, *, check: bool) -> int:
    """Put the site file and the redirect files in YAML that it names into one spelling.

    Shape: with `check` nothing is written; a diff is printed, and 1 returned when there is any.
    """
    place = place_of(config_file, file)
    source = place.source()
    texts = {source.path: source.text}
    texts |= {path: text for path, text in source.others.items() if kind_of(path) == "yaml"}
    changed = {path: new for path, text in texts.items() if (new := formatted(text, path=path)) != text}
    if check:
        for path, new in changed.items():
            print("\n".join(_diff(path, texts[path], new)))
        return 1 if changed else 0
    for path, new in changed.items():
        rewrite(place.top / path, new)
        print(f"formatted {safe(path)}")
    if not changed:
        print(f"{_names(list(texts))} in one spelling already")
    return 0


def run_migrate(config_file: Path | None, file: Path | None) -> int:
    """Bring a site file that was written for an earlier syncd into the form of today."""
    place: Place = place_of(config_file, file)
    source = place.source()
    new, said = migrated(source.text, path=source.path)
    if not said:
        print(f"{safe(source.path)} is in the form of today already")
        return 0
    rewrite(place.top / source.path, new)
    for sentence in said:
        print(f"{safe(source.path)}: {safe(sentence)}")
    print("Next: syncd site validate")
    return 0


def _names(paths: list[str]) -> str:
    return f"{safe(paths[0])} is" if len(paths) == 1 else f"{len(paths)} files are"


def _diff(path: str, old: str, new: str) -> Iterator[str]:
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), path, f"{path} (formatted)", lineterm="")
    for line in lines:
        colour = _COLOURS.get(line[:1])
        yield paint(safe(line), colour, sys.stdout) if colour else safe(line)
