"""Give every page, file and reusable content of a revision one safe path below the root, the same one on each run."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from posixpath import splitext
from typing import NamedTuple

from syncd.errors import PathRefused
from syncd.layout.tree.paths import (
    ASSETS,
    GITBOOK,
    INCLUDES,
    check_safe_path,
    is_markdown,
    make_collision_key,
    make_id_tag,
    make_safe_segment,
    slugify,
)

DERIVED_CHARACTERS = 512
"""A path that we choose stays well below what any system can check out."""
MARKED_BYTES = 160
"""A longer name leaves no room for an id."""
EXTENSION_CHARACTERS = 12
"""What follows the last dot of a name is no extension when it is longer."""

_NUMBERS = re.compile(r"(?: \([0-9]{1,9}\))++(?=(?:\.[^./]{1,12})?$)")
_HOMES = {"page": "", "file": ASSETS, "include": INCLUDES}


@dataclass(frozen=True)
class BasePath:
    """The path of a page or file as last recorded: `platform_path` is what the platform asked for, `oid` its blob in
    Git.

    Shape: inside of `PathAllocator` the path is below the space's root, everywhere else below the space's directory.
    """

    path: str
    platform_path: str
    oid: str = ""


class PathRequest(NamedTuple):
    """The path that the platform asks for, for one page, file or reusable content (`kind`).

    Shape: `platform_path` is the platform's own spelling, `path` the same below the root; `is_given` says that the
    platform names the path itself (`git.path`); `oid` is the blob of a file, where the platform names it.
    """

    id: str
    kind: str
    platform_path: str
    path: str
    is_given: bool
    oid: str = ""


def strip_number(path: str) -> str:
    """Return the path or name of a file without the ` (1)` that tells files of one name apart."""
    return _NUMBERS.sub("", path)


def find_collisions(paths: Iterable[str], reserved: Iterable[str] = ()) -> dict[str, str]:
    """Return each path that cannot live on every disk beside those before it, with the one that is in its way.

    Shape: `reserved` come before all others. Of two paths, the keys are the same, or one is a folder of the other.
    """
    first = list(reserved)
    allocator, claimed, found = PathAllocator([], {}, first), {make_collision_key(path): path for path in first}, {}
    for path in paths:
        key = make_collision_key(path)
        if allocator.claim(path):
            claimed[key] = path
        else:
            near = (one for at, one in claimed.items() if f"{at}/".startswith(f"{key}/") or key.startswith(f"{at}/"))
            found[path] = next(near)
    return found


class PathAllocator:
    """Allocates paths that can live together on any disk: no two with one collision key, no file where a folder must
    be."""

    def __init__(self, requests: list[PathRequest], base: Mapping[str, BasePath], reserved: Iterable[str]) -> None:
        self.requests, self.base = requests, base
        self.paths: dict[str, str] = {}
        self.replaced_paths: list[tuple[str, str, str]] = []
        self.used_keys: set[str] = set()
        self.folder_keys: set[str] = set()
        self.numbers: dict[str, int] = {}
        for path in reserved:
            self.claim(path)

    def allocate(self) -> "PathAllocator":
        """Give each request a path: the one that it had, else the one that it asks for, else another; return this."""
        rest = []
        for request in self.requests:
            base = self.base.get(request.id)
            if (
                base is None
                or not _is_same_request(base, request)
                or request.id in self.paths
                or not self.claim(base.path)
            ):
                rest.append(request)
            else:
                self.paths[request.id] = base.path
        self.inherit_paths([request for request in rest if request.oid and request.id not in self.base])
        # What the platform names itself goes first: a derived path can give way to it, not the other way round.
        for given in (True, False):
            for request in rest:
                if (
                    request.is_given is given
                    and request.id not in self.paths
                    and _is_usable(request)
                    and self.claim(request.path)
                ):
                    self.paths[request.id] = request.path
        for request in rest:
            if request.id not in self.paths:
                self.paths[request.id] = self.find_free_path(request)
                self.replaced_paths.append((request.id, request.platform_path, self.paths[request.id]))
        return self

    def inherit_paths(self, uploads: list[PathRequest]) -> None:
        """Give a file that was uploaded again the path of the deleted file with the same bytes and name."""
        if not uploads:
            return
        present = {request.id for request in self.requests}
        left: dict[tuple[str, str], list[str]] = defaultdict(list)
        for id, base in self.base.items():
            if base.oid and id not in present:
                left[strip_number(base.platform_path), base.oid].append(base.path)
        for request in uploads:
            paths = left.get((strip_number(request.platform_path), request.oid))
            if paths and self.claim(paths[-1]):
                self.paths[request.id] = paths.pop()

    def claim(self, path: str) -> bool:
        """Take a path and the folders above it, and return whether they were free."""
        key = make_collision_key(path)
        above = None if key in self.used_keys or key in self.folder_keys else self.missing_folders(key)
        if above is None:
            return False
        self.used_keys.add(key)
        self.folder_keys.update(above)
        return True

    def missing_folders(self, key: str) -> list[str] | None:
        """Return the folders above a key that do not exist yet; None when a file stands where one must be."""
        above: list[str] = []
        cut = key.rfind("/")
        while cut > 0 and (folder := key[:cut]) not in self.folder_keys:
            if folder in self.used_keys:
                return None
            above.append(folder)
            cut = folder.rfind("/")
        return above

    def find_free_path(self, request: PathRequest) -> str:
        """Return a free path for a request: cleaned, then marked with the id, or with a number as assets are."""
        clean = request.path
        if len(clean) > DERIVED_CHARACTERS or not _is_usable(request):
            clean = _clean_path(request)
        if self.missing_folders(make_collision_key(clean)) is None:
            clean = self.find_free_folder(request, clean)
        if clean != request.path and self.claim(clean):
            return clean
        folder, stem, extension = _split_around_mark(strip_number(clean) if request.kind == "file" else clean)
        if request.kind == "file":
            lead, tail = f"{folder}{stem} (", f"){extension}"
        else:
            lead, tail = f"{folder}{stem}-{make_id_tag(request.id)}", extension
            if self.claim(lead + tail):
                return lead + tail
            lead += "-"
        # Counted on from the last of the same name: from 1 each time, many files of one name would cost their square.
        while True:
            self.numbers[lead] = number = self.numbers.get(lead, 0) + 1
            if self.claim(path := f"{lead}{number}{tail}"):
                return path

    def find_free_folder(self, request: PathRequest, path: str) -> str:
        """Return the path in another folder when its own folder is a file; the same folder for every page in it."""
        folder, _, name = path.rpartition("/")
        if request.kind != "page":
            return _clean_path(request)
        path = f"{slugify(folder)}-{_hash_name(folder)}/{name}"
        return name if self.missing_folders(make_collision_key(path)) is None else path


def _is_same_request(base: BasePath, request: PathRequest) -> bool:
    """Return whether the platform still asks for the same path; the number of a file may change."""
    if base.platform_path == request.platform_path:
        return True
    return request.kind == "file" and strip_number(base.platform_path) == strip_number(request.platform_path)


def _is_usable(request: PathRequest) -> bool:
    """Return whether the path can be used: safe, of the right kind, and in a folder where its kind may live."""
    path, home = request.path, _HOMES[request.kind]
    if path.startswith(f"{GITBOOK}/") and not (home and path.startswith(home)):
        return False
    if request.kind != "file" and not is_markdown(path):
        return False
    if not request.is_given and len(path) > DERIVED_CHARACTERS:
        return False
    try:
        return bool(check_safe_path(path))
    except PathRefused:
        return False


def _clean_path(request: PathRequest) -> str:
    """Return the nearest safe path: pages keep their folders, files and includes go to the folder of their kind."""
    if request.kind == "page" and len(request.path) > DERIVED_CHARACTERS:
        return f"{make_id_tag(request.id)}.md"
    segments = [segment for segment in request.path.split("/") if segment not in ("", ".", "..")]
    *folders, name = segments or [""]
    if request.kind == "file":
        return ASSETS + make_safe_segment(name, fallback=request.id)
    name = make_safe_segment(name if is_markdown(name) else f"{name}.md", fallback=request.id)
    name = name if is_markdown(name) else f"{name}.md"
    if request.kind == "include":
        return INCLUDES + name
    # A folder has no id, and its name must come out the same for every page in it.
    return "/".join([*(make_safe_segment(folder, fallback=_hash_name(folder)) for folder in folders), name])


def _hash_name(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _split_around_mark(path: str) -> tuple[str, str, str]:
    """Return the parts before and after a mark: it goes before the extension, or behind the folder of a README; long
    names are cut."""
    if path.endswith("/README.md"):
        path, extension = path.removesuffix("/README.md"), "/README.md"
    else:
        path, extension = splitext(path)
        if len(extension) > EXTENSION_CHARACTERS:
            path, extension = path + extension, ""
    folder, slash, stem = path.rpartition("/")
    return folder + slash, stem if len(stem.encode()) <= MARKED_BYTES else slugify(stem), extension
