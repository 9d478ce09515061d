"""What syncd owns on a site, decided by hand: take something that is there for one's own, or let it go; lock only."""

from difflib import get_close_matches
from typing import get_args

from syncd.errors import ConfigInvalid
from syncd.layout.site.declared import Kind, SiteFile
from syncd.plan.site.facts import Entry
from syncd.sync.reconcile.live import read_live
from syncd.sync.reconcile.lock import Keeping
from syncd.sync.reconcile.wish import LockPlace
from syncd.sync.workspace import Workspace

OWNABLE: tuple[Kind, ...] = ("group", "section", "variant", "redirect")
"""Kinds of things that have an id of their own."""


def adopt(workspace: Workspace, file: SiteFile, ref: str, id: str, place: LockPlace = "repo") -> str:
    """Given a ref that the site file declares and the id of something on the site, make that the thing that is meant.

    Shape: returns why the lock could not be committed yet, or "". The next plan says what it still has to change.
    Raises: ConfigInvalid when either does not exist, or when either belongs to something else; PlatformError.
    """
    item = file.items.get(ref)
    if item is None or item.kind not in OWNABLE:
        raise _unknown(ref, [one.ref for one in file.of(*OWNABLE)], f"{file.path} declares no {ref}")
    keeping = Keeping(workspace, file, place)
    known = keeping.load()
    live = read_live(workspace, file, known)
    thing = live.things.get(id)
    if thing is None:
        raise ConfigInvalid(
            f"site {file.site} has nothing with the id {id}", hint="syncd site plan -v lists what it has"
        )
    if thing.kind != item.kind:
        raise ConfigInvalid(f"{id} is a {thing.kind}, and {ref} is a {item.kind}")
    taken = next((other for other, entry in known.items.items() if entry.id == id and _of(other) == item.kind), ref)
    if taken != ref:
        raise ConfigInvalid(f"{id} is {taken} already", hint=f"let it go first: syncd site forget {taken}")
    former = known.items.get(ref)
    if former is not None and former.id == id:
        return ""
    if former is not None and former.id in live.things:
        raise ConfigInvalid(f"{ref} is {former.id} already", hint=f"let it go first: syncd site forget {ref}")
    keeping.save({ref: Entry(id, "adopted")})
    return keeping.finish()


def forget(workspace: Workspace, file: SiteFile, ref: str, place: LockPlace = "repo") -> str:
    """Given a ref in the lock, let the thing go: it stays on the site, and no run deletes it unasked.

    Shape: returns why the lock could not be committed yet, or "". A thing that the file still declares is taken again
    by the next run, when it can be told by its path. Raises: ConfigInvalid when the lock does not have it.
    """
    keeping = Keeping(workspace, file, place)
    known = keeping.load()
    if ref not in known.items:
        raise _unknown(ref, list(known.items), f"the lock of site {file.site} has no {ref}")
    keeping.save({ref: None})
    return keeping.finish()


def _of(ref: str) -> str:
    return ref.partition(":")[0]


def _unknown(ref: str, known: list[str], what: str) -> ConfigInvalid:
    if ":" not in ref:
        hint = f"write KIND:KEY, such as {known[0] if known else 'section:home'}"
    elif _of(ref) not in get_args(Kind):
        hint = f"kinds are {', '.join(OWNABLE)}"
    else:
        near = get_close_matches(ref, known[:10_000], n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else ""
    return ConfigInvalid(what, hint=hint)
