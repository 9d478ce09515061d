"""What syncd owns on a site, decided by hand: take something that is there for one's own, or let it go; lock only."""

from difflib import get_close_matches

from syncd.errors import ConfigInvalid
from syncd.layout.lint.suggestions import SIMILARITY_MIN
from syncd.layout.site.read.declared import SiteFile
from syncd.model.ref import Kind, Ref
from syncd.model.wording import format_first
from syncd.plan.site.live_state import LockEntry
from syncd.sync.site.lock import LockWriter
from syncd.sync.site.options import LockPlace
from syncd.sync.site.read.site import read_live
from syncd.sync.workspace import Workspace

OWNABLE: tuple[Kind, ...] = ("group", "section", "variant", "redirect")
"""Kinds of items that have an id of their own."""
_LISTS = {"group": "section-groups", "section": "sections", "variant": "site-spaces", "redirect": "redirects"}
"""What the API calls the list of each kind."""


_SHOWN = 5


def adopt(workspace: Workspace, file: SiteFile, name: str, id: str, place: LockPlace = "repo") -> str:
    """Record that a ref which the site file declares is the item with an id on the site.

    Shape: returns why the lock could not be committed yet, or "". The next plan says what it still has to change.
    Raises: ConfigInvalid when either does not exist, or when either belongs to something else; PlatformError.
    """
    ref = Ref(name)
    item = file.items.get(ref)
    if item is None or item.kind not in OWNABLE:
        raise _describe_unknown(ref, [one.ref for one in file.of(*OWNABLE)], f"{file.path} declares no {ref}")
    lock_writer = LockWriter(workspace, file, place)
    known = lock_writer.load()
    live = read_live(workspace, file, known)
    existing = live.items.get(id)
    if existing is None:
        there = f"syncd api GET /orgs/{file.organization}/sites/{file.site}/{_LISTS[item.kind]} --paginate"
        raise ConfigInvalid(f"the site of {file.path} has nothing with the id {id}", hint=f"what it has: {there}")
    if existing.kind != item.kind:
        raise ConfigInvalid(f"{id} is a {existing.kind}, and {ref} is a {item.kind}")
    taken = next((other for other, entry in known.items.items() if entry.id == id and other.kind == item.kind), ref)
    if taken != ref:
        raise ConfigInvalid(f"{id} is {taken} already", hint=f"let it go first: syncd site forget {taken}")
    former = known.items.get(ref)
    if former is not None and former.id == id:
        return ""
    if former is not None and former.id in live.items:
        raise ConfigInvalid(f"{ref} is {former.id} already", hint=f"let it go first: syncd site forget {ref}")
    lock_writer.save({ref: LockEntry(id, "adopted")})
    return lock_writer.finish()


def forget(workspace: Workspace, file: SiteFile, name: str, place: LockPlace = "repo") -> str:
    """Remove a ref from the lock: its item stays on the site, and no run deletes it unasked.

    Shape: returns why the lock could not be committed yet, or "". An item that the file still declares is adopted again
    by the next run, when its path tells which it is. Raises: ConfigInvalid when the lock does not have it.
    """
    lock_writer = LockWriter(workspace, file, place)
    known, ref = lock_writer.load(), Ref(name)
    if ref not in known.items:
        raise _describe_unknown(ref, list(known.items), f"the lock of {file.path} has no {ref}")
    lock_writer.save({ref: None})
    return lock_writer.finish()


def _describe_unknown(ref: Ref, known: list[Ref], what: str) -> ConfigInvalid:
    """What to say to a person who wrote what may be no ref at all."""
    if ":" not in ref:
        hint = f"write KIND:KEY, such as {next((one for one in known if one.kind in OWNABLE), 'section:home')}"
    elif near := get_close_matches(ref, known[:10_000], n=1, cutoff=SIMILARITY_MIN):
        hint = f"did you mean {near[0]}?"
    else:
        some = [one for one in known if one.kind == ref.kind]
        hint = f"there are {format_first(some, _SHOWN)}" if some else f"kinds are {', '.join(OWNABLE)}"
    return ConfigInvalid(what, hint=hint)
