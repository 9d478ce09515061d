"""`site adopt` and `site forget`: one entry of a site's lock, by hand; nothing on the site changes."""

import sys
from pathlib import Path

from syncd.cli.sites.session import one_site, source_of
from syncd.cli.terminal.output import emit
from syncd.cli.terminal.progress import progress
from syncd.cli.terminal.text import paint, safe
from syncd.model.ref import Ref
from syncd.sync.site.adopt import adopt, forget
from syncd.sync.site.read.site_file import read_source


def run_adopt(config_file: Path | None, file: Path | None, ref: str, id: str, *, as_json: bool) -> int:
    """Make the thing with an id the one that a ref of the site file means."""
    each = one_site(config_file, file, "adopt")
    with progress() as tell, each.open(tell) as workspace:
        declared, _ = read_source(source_of(workspace, each.wish)[0])
        waits = adopt(workspace, declared, ref, id, each.wish.lock)
    if as_json:
        emit({"ref": ref, "id": id, "waits": waits or None, "exit_code": 0})
        return 0
    print(f"{safe(ref)} is {safe(id)} from now on.")
    _tell(waits)
    print(f"Next: syncd site plan --target {safe(ref)}")
    return 0


def run_forget(config_file: Path | None, file: Path | None, ref: str, *, as_json: bool) -> int:
    """Let go of what a ref of the lock means."""
    each = one_site(config_file, file, "forget")
    with progress() as tell, each.open(tell) as workspace:
        declared, _ = read_source(source_of(workspace, each.wish)[0])
        waits = forget(workspace, declared, ref, each.wish.lock)
    item = declared.items.get(Ref(ref))
    if as_json:
        emit({"ref": ref, "declared": item is not None, "waits": waits or None, "exit_code": 0})
        return 0
    print(f"{safe(ref)} is not syncd's any more; on the site it stays as it is.")
    if item is not None:
        print(f"  {safe(str(item.where()))} still declares it: the next apply takes it over again.")
    _tell(waits)
    return 0


def _tell(waits: str) -> None:
    if waits:
        print(f"  {paint('note:', 33, sys.stdout)} {safe(waits)}; it is kept in the state of this machine until then")
