"""`site adopt` and `site forget`: edit one entry of a site's lock; nothing on the site changes."""

import sys
from pathlib import Path

from syncd.cli.sites.session import find_one_site, find_source
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.progress import show_progress
from syncd.cli.terminal.text import escape, name_config, style_text
from syncd.model.ref import Ref
from syncd.sync.site.adopt import adopt, forget
from syncd.sync.site.read.site_file import read_source


def run_adopt(config_file: Path | None, file: Path | None, ref: str, id: str, *, as_json: bool) -> int:
    """Bind a ref of the site file to an existing resource of the site, by its id."""
    session = find_one_site(config_file, file, "adopt")
    with show_progress() as on_progress, session.open(on_progress) as workspace:
        declared, _ = read_source(find_source(workspace, session)[0])
        note = adopt(workspace, declared, ref, id, session.site_options.lock)
    if as_json:
        print_document({"ref": ref, "id": id, "waits": note or None, "exit_code": 0})
        return 0
    print(f"{escape(ref)} is {escape(id)} from now on.")
    _print_lock_note(note)
    print(f"Next: {escape(name_config(f'syncd site plan --target {ref}', config_file))}")
    return 0


def run_forget(config_file: Path | None, file: Path | None, ref: str, *, as_json: bool) -> int:
    """Remove a ref from the lock; its resource stays on the site."""
    session = find_one_site(config_file, file, "forget")
    with show_progress() as on_progress, session.open(on_progress) as workspace:
        declared, _ = read_source(find_source(workspace, session)[0])
        note = forget(workspace, declared, ref, session.site_options.lock)
    item = declared.items.get(Ref(ref))
    if as_json:
        print_document({"ref": ref, "declared": item is not None, "waits": note or None, "exit_code": 0})
        return 0
    print(f"{escape(ref)} is not syncd's any more; on the site it stays as it is.")
    if item is not None:
        print(f"  {escape(str(item.where()))} still declares it: the next apply takes it over again.")
    _print_lock_note(note)
    return 0


def _print_lock_note(note: str) -> None:
    if note:
        print(f"  {style_text('note:', 33, sys.stdout)} {escape(note)}; until then it is kept in this machine's state")
