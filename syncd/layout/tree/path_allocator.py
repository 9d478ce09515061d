"""Give every page, file and reusable content of a revision one safe path below the root, and the same one each time."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from posixpath import splitext
from typing import NamedTuple

from syncd.errors import PathRefused
from syncd.layout.tree.draft import ASSETS, INCLUDES
from syncd.layout.tree.paths import GITBOOK, collision_key, is_markdown, safe_path, safe_segment, slugify, tag

DERIVED_CHARACTERS = 512
"""A path that we choose stays well below what any system can check out."""
MARKED_BYTES = 160
"""A longer name leaves no room for an id."""
EXTENSION_CHARACTERS = 12
"""What follows the last dot of a name is no extension when it is longer."""

_NUMBERS = re.compile(r"(?: \([0-9]{1,9}\))++(?=(?:\.[^./]{1,12})?$)")
_HOMES = {"page": "", "file": ASSETS, "include": INCLUDES}


@dataclass(frozen=True)
class Known:
    """The base: path of a page or file, the platform-side form it was derived from, and its blob in Git, as last seen.

    Shape: outside of `Settler` the path is below the space's directory, inside below its root.
    """

    path: str
    form: str
    oid: str = ""


class Wish(NamedTuple):
    """What the platform asks for: `path` below the root, `given` when it names the path itself (`git.path`).

    Shape: `form` is the platform's own spelling of that path; `oid` the blob of a file, where the platform names it.
    """

    id: str
    kind: str
    form: str
    path: str
    given: bool
    oid: str = ""


def unnumbered(path: str) -> str:
    """Given the path or name of a file, return it without the ` (1)` that tell files of one name apart."""
    return _NUMBERS.sub("", path)


class Settler:
    """Gives out paths, each only once on any disk: by collision key, and never a file where a folder must be."""

    def __init__(self, wishes: list[Wish], known: Mapping[str, Known], reserved: Iterable[str]) -> None:
        self.wishes, self.known = wishes, known
        self.paths: dict[str, str] = {}
        self.mapped: list[tuple[str, str, str]] = []
        self.taken: set[str] = set()
        self.folders: set[str] = set()
        self.numbers: dict[str, int] = {}
        for path in reserved:
            self.claim(path)

    def settle(self) -> "Settler":
        """Return this with a path for each wish: the one that it had, the one that it names, or another."""
        rest = []
        for wish in self.wishes:
            base = self.known.get(wish.id)
            if base is None or not _is_same(base, wish) or wish.id in self.paths or not self.claim(base.path):
                rest.append(wish)
            else:
                self.paths[wish.id] = base.path
        self.inherit([wish for wish in rest if wish.oid and wish.id not in self.known])
        for given in (True, False):
            for wish in rest:
                if wish.given is given and wish.id not in self.paths and _is_fit(wish) and self.claim(wish.path):
                    self.paths[wish.id] = wish.path
        for wish in rest:
            if wish.id not in self.paths:
                self.paths[wish.id] = self.other(wish)
                self.mapped.append((wish.id, wish.form, self.paths[wish.id]))
        return self

    def inherit(self, uploads: list[Wish]) -> None:
        """Let a file that was uploaded anew take the path of the same bytes that went under the same name."""
        if not uploads:
            return
        present = {wish.id for wish in self.wishes}
        left: dict[tuple[str, str], list[str]] = defaultdict(list)
        for id, base in self.known.items():
            if base.oid and id not in present:
                left[unnumbered(base.form), base.oid].append(base.path)
        for wish in uploads:
            paths = left.get((unnumbered(wish.form), wish.oid))
            if paths and self.claim(paths[-1]):
                self.paths[wish.id] = paths.pop()

    def claim(self, path: str) -> bool:
        """Given a path, take it with the folders above it, and return whether it could be had."""
        key = collision_key(path)
        above = None if key in self.taken or key in self.folders else self.missing_folders(key)
        if above is None:
            return False
        self.taken.add(key)
        self.folders.update(above)
        return True

    def missing_folders(self, key: str) -> list[str] | None:
        """The folders above a key that do not exist yet; None when a file stands where one must be."""
        above: list[str] = []
        cut = key.rfind("/")
        while cut > 0 and (folder := key[:cut]) not in self.folders:
            if folder in self.taken:
                return None
            above.append(folder)
            cut = folder.rfind("/")
        return above

    def other(self, wish: Wish) -> str:
        """A path for a wish that cannot be had: cleaned, then told apart by the id, or by a number as assets are."""
        clean = wish.path
        if len(clean) > DERIVED_CHARACTERS or not _is_fit(wish):
            clean = _clean(wish)
        if self.missing_folders(collision_key(clean)) is None:
            clean = self.beside(wish, clean)
        if clean != wish.path and self.claim(clean):
            return clean
        folder, stem, extension = _parts(unnumbered(clean) if wish.kind == "file" else clean)
        if wish.kind == "file":
            lead, tail = f"{folder}{stem} (", f"){extension}"
        else:
            lead, tail = f"{folder}{stem}-{tag(wish.id)}", extension
            if self.claim(lead + tail):
                return lead + tail
            lead += "-"
        while True:
            self.numbers[lead] = number = self.numbers.get(lead, 0) + 1
            if self.claim(path := f"{lead}{number}{tail}"):
                return path

    def beside(self, wish: Wish, path: str) -> str:
        """Another folder for a path whose own is a file, the same for every page in it."""
        folder, _, name = path.rpartition("/")
        if wish.kind != "page":
            return _clean(wish)
        path = f"{slugify(folder)}-{_digest(folder)}/{name}"
        return name if self.missing_folders(collision_key(path)) is None else path


def _is_same(base: Known, wish: Wish) -> bool:
    """Whether the platform still asks for what it asked for; a file's number may change, and says nothing."""
    if base.form == wish.form:
        return True
    return wish.kind == "file" and unnumbered(base.form) == unnumbered(wish.form)


def _is_fit(wish: Wish) -> bool:
    """Whether a form can be the path: safe, of the right kind, and in a folder where its kind may live."""
    form, home = wish.path, _HOMES[wish.kind]
    if form.startswith(f"{GITBOOK}/") and not (home and form.startswith(home)):
        return False
    if wish.kind != "file" and not is_markdown(form):
        return False
    if not wish.given and len(form) > DERIVED_CHARACTERS:
        return False
    try:
        return bool(safe_path(form))
    except PathRefused:
        return False


def _clean(wish: Wish) -> str:
    """The nearest safe path: pages keep their folders, files and includes go to the folder of their kind."""
    if wish.kind == "page" and len(wish.path) > DERIVED_CHARACTERS:
        return f"{tag(wish.id)}.md"
    segments = [segment for segment in wish.path.split("/") if segment not in ("", ".", "..")]
    *folders, name = segments or [""]
    if wish.kind == "file":
        return ASSETS + safe_segment(name, fallback=wish.id)
    name = safe_segment(name if is_markdown(name) else f"{name}.md", fallback=wish.id)
    name = name if is_markdown(name) else f"{name}.md"
    if wish.kind == "include":
        return INCLUDES + name
    # A folder has no id, and its name must come out the same for every page in it.
    return "/".join([*(safe_segment(folder, fallback=_digest(folder)) for folder in folders), name])


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _parts(path: str) -> tuple[str, str, str]:
    """Where a mark goes: before the extension, or behind the folder that a README stands for; long names are cut."""
    if path.endswith("/README.md"):
        path, extension = path.removesuffix("/README.md"), "/README.md"
    else:
        path, extension = splitext(path)
        if len(extension) > EXTENSION_CHARACTERS:
            path, extension = path + extension, ""
    folder, slash, stem = path.rpartition("/")
    return folder + slash, stem if len(stem.encode()) <= MARKED_BYTES else slugify(stem), extension
