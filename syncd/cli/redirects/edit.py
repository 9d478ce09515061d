"""`redirects add` and `redirects rm`: one redirect more or less, in the text of the work tree's files."""

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

from syncd.cli.check.findings import tell_warnings, warning_documents
from syncd.cli.sites.offline import Place, place_of
from syncd.cli.terminal.output import emit
from syncd.cli.terminal.rewrite_file import rewrite
from syncd.cli.terminal.text import paint, safe
from syncd.errors import FileInvalid
from syncd.layout.lint.finding import Finding
from syncd.layout.lint.near import Near
from syncd.layout.site.addresses.follow import words
from syncd.layout.site.read.declared import Item, SiteFile
from syncd.layout.site.read.redirect_files import destination
from syncd.layout.site.write.edits import with_redirect, without_redirect
from syncd.model.redirect import source_key
from syncd.model.ref import Ref
from syncd.sync.site.read.site_file import Source, read_source

_PLACE = re.compile(r"^[^\s:]+:\d+:\d+: ")
FORMS = "section:KEY, variant:SECTION/VARIANT, page:PATH@SECTION/VARIANT, https://…, or /path with site.hosts"


@dataclass(frozen=True)
class Written:
    """What became of a site file: as it is now, and the warnings about it that are new."""

    file: SiteFile
    warnings: Sequence[Finding]


def add(config_file: Path | None, file: Path | None, pair: tuple[str, str], note: str, *, as_json: bool) -> int:
    """Write a redirect into the site file; nothing is written when the result is not valid."""
    place = place_of(config_file, file)
    source = place.source()
    before, warned = read_source(source)
    to = destination(pair[1], home="/".join(part for part in before.hosts[0] if part) if before.hosts else "")
    if to is None:
        raise typer.BadParameter(f"{pair[1]} is no destination; write {FORMS}")
    if not note.isprintable():
        raise typer.BadParameter("--note is one line of text")
    after = _written(place, (source, warned), with_redirect(before, _texts(source), pair[0], to, note))
    _tell("add", after.file.items[Ref.of("redirect", source_key(pair[0]))], after.warnings, as_json=as_json)
    return 0


def remove(config_file: Path | None, file: Path | None, word: str, *, as_json: bool) -> int:
    """Take a redirect out of the file that has it; nothing is written when the result is not valid."""
    place = place_of(config_file, file)
    source = place.source()
    before, warned = read_source(source)
    item = before.items.get(Ref.of("redirect", source_key(word)))
    if item is None:
        near = Near(str(one.fields.get("source")) for one in before.of("redirect")).to(word)
        hint = f"did you mean {near}?" if near else "syncd redirects export lists all"
        raise typer.BadParameter(f"{place.path} declares no redirect from {word}; {hint}")
    after = _written(place, (source, warned), without_redirect(before, _texts(source), item))
    _tell("remove", item, after.warnings, as_json=as_json)
    return 0


def _tell(action: str, item: Item, warnings: Sequence[Finding], *, as_json: bool) -> None:
    spot, to = item.where("source"), item.fields.get("to")
    source = str(item.fields["source"])
    if as_json:
        where = {"file": spot.file, "line": spot.line, "column": spot.column}
        said: dict[str, Any] = {"action": action, "from": source, "to": to, "note": item.note or None, "source": where}
        emit({**said, "warnings": warning_documents(warnings), "exit_code": 0})
        return
    tell_warnings(warnings)
    sign = paint("+", 32, sys.stdout) if action == "add" else paint("-", 31, sys.stdout)
    print(f"{sign} {safe(source)} -> {safe(words(to))}   {safe(str(spot))}")
    print("Next: syncd site plan")


def _texts(source: Source) -> dict[str, str]:
    return {**source.others, source.path: source.text}


def _written(place: Place, before: tuple[Source, Sequence[Finding]], changed: Mapping[str, str]) -> Written:
    """What has changed, written. Raises: FileInvalid when the site file would not be valid; then nothing is."""
    source, warned = before
    texts = {**_texts(source), **changed}
    others = {path: text for path, text in texts.items() if path != source.path}
    try:
        file, findings = read_source(replace(source, text=texts[source.path], others=others))
    except FileInvalid as error:
        # Places are those of a text that nobody will see, and the file on disk has no mistake that could be shown.
        told = (_PLACE.sub("", line) for line in error.hint.splitlines() if not line.endswith("syncd site validate"))
        hint = "\n".join([*told, f"what a code means: syncd explain {error.reason.partition(' ')[0]}"])
        raise FileInvalid(f"{error.reason} (nothing was written)", path=error.path, line=0, hint=hint) from error
    for path, text in changed.items():
        rewrite(place.top, path, text)
    known = {one.message for one in warned}
    return Written(file, [one for one in findings if one.message not in known])
