"""`redirects add` and `redirects rm`: one redirect more or less, in the text of the work tree's files."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import typer

from syncd.cli.rewriting import rewrite
from syncd.cli.sites.offline import Place, place_of
from syncd.cli.terminal import paint, safe
from syncd.errors import ConfigInvalid, FileInvalid
from syncd.layout.lint.finding import Finding
from syncd.layout.lint.near import Near
from syncd.layout.site.declared import SiteFile
from syncd.layout.site.edits import with_redirect, without_redirect
from syncd.layout.site.follow import words
from syncd.layout.site.keys import source_key
from syncd.layout.site.redirect_files import destination
from syncd.sync.reconcile.source import Source, read_source

FORMS = "section:KEY, variant:SECTION/VARIANT, page:PATH@SECTION/VARIANT, https://…, or /path with site.hosts"


def add(config_file: Path | None, file: Path | None, pair: tuple[str, str], note: str) -> int:
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
    item = after.items[f"redirect:{source_key(pair[0])}"]
    print(f"{paint('+', 32, sys.stdout)} {safe(pair[0])} -> {safe(words(to))}   {safe(str(item.where('source')))}")
    print("Next: syncd site plan")
    return 0


def remove(config_file: Path | None, file: Path | None, word: str) -> int:
    """Take a redirect out of the file that has it; nothing is written when the result is not valid."""
    place = place_of(config_file, file)
    source = place.source()
    before, warned = read_source(source)
    item = before.items.get(f"redirect:{source_key(word)}")
    if item is None:
        near = Near(str(one.fields.get("source")) for one in before.of("redirect")).to(word)
        hint = f"did you mean {near}?" if near else "syncd redirects export lists all"
        raise ConfigInvalid(f"{place.path} declares no redirect from {word}", hint=hint)
    _written(place, (source, warned), without_redirect(before, _texts(source), item))
    to = safe(words(item.fields.get("to")))
    print(f"{paint('-', 31, sys.stdout)} {safe(word)} -> {to}   {safe(str(item.where('source')))}")
    print("Next: syncd site plan")
    return 0


def _texts(source: Source) -> dict[str, str]:
    return {**source.others, source.path: source.text}


def _written(place: Place, before: tuple[Source, Sequence[Finding]], changed: Mapping[str, str]) -> SiteFile:
    """The site file with what has changed, written. Raises: FileInvalid when it would not be valid."""
    source, warned = before
    texts = {**_texts(source), **changed}
    others = {path: text for path, text in texts.items() if path != source.path}
    try:
        file, findings = read_source(replace(source, text=texts[source.path], others=others))
    except FileInvalid as error:
        hint = "\n".join(part for part in ("nothing was written", error.hint) if part)
        raise FileInvalid(error.reason, path=error.path, line=error.line, column=error.column, hint=hint) from error
    for path, text in changed.items():
        rewrite(place.top / path, text)
    known = {one.message for one in warned}
    for one in findings:
        if one.message not in known:
            where, word = f"{one.path}:{one.line}:{one.column}", paint(one.severity, 33, sys.stderr)
            print(f"{safe(where)}: {word} {one.code}: {safe(one.message)}", file=sys.stderr)
    return file
