"""`redirects add` and `redirects rm`: add or remove one redirect in the files of the work tree."""

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

from syncd.cli.check.findings import build_warning_documents, print_warnings
from syncd.cli.sites.offline import SiteFileLocation, locate_site_file
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.rewrite_file import rewrite_file
from syncd.cli.terminal.text import escape, name_config, style_text
from syncd.errors import FileInvalid
from syncd.layout.lint.finding import Finding
from syncd.layout.lint.suggestions import NearMisses
from syncd.layout.site.addresses.follow import format_target
from syncd.layout.site.read.declared import Item, SiteFile
from syncd.layout.site.read.redirect_files import parse_destination
from syncd.layout.site.write.edits import delete_redirect, insert_redirect
from syncd.model.redirect import make_source_key
from syncd.model.ref import Ref
from syncd.sync.site.read.site_file import SiteFileTexts, read_source

_LOCATION = re.compile(r"^[^\s:]+:\d+:\d+: ")
DESTINATION_FORMS = (
    "section:KEY, variant:SECTION/VARIANT, page:PATH@SECTION/VARIANT, https://…, or /path with site.hosts"
)


@dataclass(frozen=True)
class EditResult:
    """A site file after an edit, and the warnings about it that are new."""

    file: SiteFile
    warnings: Sequence[Finding]


def add_redirect(
    config_file: Path | None, file: Path | None, pair: tuple[str, str], note: str, *, as_json: bool
) -> int:
    """Add a redirect to the site file; nothing is written when the result is not valid.

    Raises: BadParameter; FileInvalid.
    """
    location = locate_site_file(config_file, file)
    source = location.read_texts()
    before, old_findings = read_source(source)
    target = parse_destination(pair[1], home="/".join(part for part in before.hosts[0] if part) if before.hosts else "")
    if target is None:
        raise typer.BadParameter(f"{pair[1]} is no destination; write {DESTINATION_FORMS}")
    if not note.isprintable():
        raise typer.BadParameter("--note is one line of text")
    result = _write_changes(
        location, (source, old_findings), insert_redirect(before, _list_texts(source), pair[0], target, note)
    )
    added = result.file.items[Ref.of("redirect", make_source_key(pair[0]))]
    _print_result("add", added, result.warnings, config_file, as_json=as_json)
    return 0


def remove_redirect(config_file: Path | None, file: Path | None, word: str, *, as_json: bool) -> int:
    """Remove a redirect from the file that has it; nothing is written when the result is not valid.

    Raises: BadParameter; FileInvalid.
    """
    location = locate_site_file(config_file, file)
    source = location.read_texts()
    before, old_findings = read_source(source)
    item = before.items.get(Ref.of("redirect", make_source_key(word)))
    if item is None:
        near = NearMisses(str(one.fields.get("source")) for one in before.of("redirect")).find(word)
        hint = f"did you mean {near}?" if near else "syncd redirects export lists all"
        raise typer.BadParameter(f"{location.path} declares no redirect from {word}; {hint}")
    result = _write_changes(location, (source, old_findings), delete_redirect(before, _list_texts(source), item))
    _print_result("remove", item, result.warnings, config_file, as_json=as_json)
    return 0


def _print_result(
    action: str, item: Item, warnings: Sequence[Finding], config_file: Path | None, *, as_json: bool
) -> None:
    place, target = item.where("source"), item.fields.get("to")
    source = str(item.fields["source"])
    if as_json:
        where = {"file": place.file, "line": place.line, "column": place.column}
        document: dict[str, Any] = {
            "action": action,
            "from": source,
            "to": target,
            "note": item.note or None,
            "source": where,
        }
        print_document({**document, "warnings": build_warning_documents(warnings), "exit_code": 0})
        return
    print_warnings(warnings)
    sign = style_text("+", 32, sys.stdout) if action == "add" else style_text("-", 31, sys.stdout)
    print(f"{sign} {escape(source)} -> {escape(format_target(target))}   {escape(str(place))}")
    print(f"Next: {escape(name_config('syncd site plan', config_file))}")


def _list_texts(source: SiteFileTexts) -> dict[str, str]:
    return {**source.others, source.path: source.text}


def _write_changes(
    location: SiteFileLocation, before: tuple[SiteFileTexts, Sequence[Finding]], changed: Mapping[str, str]
) -> EditResult:
    """Write the changed files. Raises: FileInvalid when the site file would not be valid; then nothing is written."""
    source, old_findings = before
    texts = {**_list_texts(source), **changed}
    others = {path: text for path, text in texts.items() if path != source.path}
    try:
        file, findings = read_source(replace(source, text=texts[source.path], others=others))
    except FileInvalid as error:
        # The places of the error are in a text that is not on disk, so they are left out.
        lines = (
            _LOCATION.sub("", line) for line in error.hint.splitlines() if not line.endswith("syncd site validate")
        )
        hint = "\n".join([*lines, f"what a code means: syncd explain {error.reason.partition(' ')[0]}"])
        raise FileInvalid(f"{error.reason} (nothing was written)", path=error.path, line=0, hint=hint) from error
    for path, text in changed.items():
        rewrite_file(location.top, path, text)
    old_messages = {one.message for one in old_findings}
    return EditResult(file, [one for one in findings if one.message not in old_messages])
