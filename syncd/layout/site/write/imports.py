"""Redirects and structure of other tools' files, in a site file's words; what cannot be taken is told by its line.

Files: `.gitbook.yaml` of a space, `docs.yaml` of a site, `_redirects`, CSV, YAML, and `docs.json` or `mint.json`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from posixpath import basename
from typing import Any
from urllib.parse import quote, unquote

from syncd.errors import FileInvalid
from syncd.layout.site.read.declared import Place
from syncd.layout.site.read.redirect_files import (  # fmt: skip
    PERMANENT,
    Resolve,
    find_file_kind,
    find_notes,
    parse_destination,
    read_redirect_file,
)
from syncd.layout.site.write.imports_structure import StructureImport
from syncd.layout.yaml.compose import compose_tree
from syncd.layout.yaml.nodes import Node, Tree
from syncd.model.redirect import SOURCE_MAX, SOURCE_PATTERN, make_source_key

BYTES_MAX = 16 << 20
DEPTH_MAX = 64
_SOURCE = re.compile(SOURCE_PATTERN)
_TOKEN = re.compile(r"\S+")
_PAGE_FILE = re.compile(r"(?:(?:^|/)(?:README|index))?\.mdx?$", re.IGNORECASE)
_PAIR = re.compile(r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|.)", re.DOTALL)


@dataclass(frozen=True)
class Remark:
    """Something in a file that was not taken, or only in part, and why."""

    place: Place
    what: str


@dataclass(frozen=True)
class ImportedFile:
    """Parts of a site file's document, and what of the file is not in them."""

    document: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True)
class ImportContext:
    """What the file does not say: the variant that a space is, and its path on the site; spaces; and where paths lead.

    Shape: `spaces` has ids of spaces by the directory or key that a file calls them by; `resolve` turns a path on the
    site into a destination; `pages` has the address in the variant of each page by the page's file, None where nobody
    knows the files: then a file's name stands for the address.
    """

    variant: str = ""
    below: str = ""
    spaces: Mapping[str, str] = field(default_factory=dict)
    resolve: Resolve = lambda path: None
    pages: Mapping[str, str] | None = None


def import_file(text: str, *, path: str, around: ImportContext | None = None) -> ImportedFile:
    """Return what a site file can take from a file of another tool; the kind of file is known by its name.

    Raises: FileInvalid when the file cannot be read, or is of no known kind.
    """
    name, around = basename(path).lower(), around or ImportContext()
    if name in ("docs.yaml", "docs.yml", "gitbook-docs.yaml"):
        found = StructureImport(compose_tree(text, at=path), path, around.spaces)
        return ImportedFile(found.read_document(), tuple(Remark(*remark) for remark in found.remarks))
    importer = _RedirectImport(path, around)
    if name in (".gitbook.yaml", ".gitbook.yml"):
        entries = importer.read_space_settings(text)
    elif name.endswith(".json"):
        entries = importer.read_json(text)
    elif find_file_kind(path) == "_redirects":
        entries = importer.read_netlify_file(text)
    elif find_file_kind(path):
        entries = importer.read_redirect_file(text)
    else:
        known = ".gitbook.yaml, docs.yaml, docs.json, _redirects, .csv and .yaml"
        raise FileInvalid("is of no kind that can be imported", path=path, hint=f"syncd reads {known}")
    redirects = list(entries)
    return ImportedFile({"redirects": redirects} if redirects else {}, tuple(importer.remarks))


class _RedirectImport:
    """Reads redirects of one file; `remarks` grows with what is not taken."""

    def __init__(self, path: str, around: ImportContext) -> None:
        self.path, self.around = path, around
        self.remarks: list[Remark] = []
        self.seen: set[str] = set()
        self.tree = Tree("", None)

    def read_redirect_file(self, text: str) -> Iterator[dict[str, Any]]:
        """Yield the redirects of a file that a site file could name as it is."""
        items, findings = read_redirect_file(text, path=self.path, resolve=self.around.resolve)
        for one in findings:
            self.remarks.append(Remark(Place(one.path, one.line, one.column), one.message))
        for item in items:
            if "to" in item.fields:
                yield from self.convert_redirect(item.place, item.fields["source"], item.fields["to"], item.note)

    def read_netlify_file(self, text: str) -> Iterator[dict[str, Any]]:
        """Yield those of `_redirects`: source, query, target, status and conditions; comments are notes."""
        notes = find_notes(text)
        for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
            tokens = _TOKEN.findall(re.sub(r"(?:^|\s)#.*", "", line))
            if not tokens:
                continue
            place = Place(self.path, number, 1 + len(line) - len(line.lstrip()), len(tokens[0]))
            at = next((at for at, token in enumerate(tokens[1:], start=1) if _is_target(token)), 0)
            rest = tokens[at + 1 :]
            status = rest[0].rstrip("!") if rest and rest[0].rstrip("!").isdigit() else ""
            if not at:
                self.add_remark(place, "this line has no target")
            elif at > 1:
                self.add_remark(place, f"{tokens[0]} depends on the query, which the API does not look at")
            elif len(rest) > bool(status):
                self.add_remark(place, f"{tokens[0]} depends on who asks: {' '.join(rest[bool(status) :])}")
            elif status and status not in PERMANENT:
                self.add_remark(place, f"{tokens[0]} answers {status}, and the API only sends visitors on")
            else:
                if rest and rest[0].endswith("!"):
                    why = "was forced over a page; here a page at that address comes first"
                    self.add_remark(place, f"{tokens[0]} {why}")
                yield from self.convert_pair(place, tokens[0], tokens[1], notes.get(number, ""))

    def read_space_settings(self, text: str) -> Iterator[dict[str, Any]]:
        """Yield those of `.gitbook.yaml`: old paths in a space, each with the file of a page."""
        if not self.around.variant:
            hint = "name the variant of the site that shows this space, with --variant KEY"
            raise FileInvalid("has redirects within a space, and the space is not known", path=self.path, hint=hint)
        settings = self.read_mapping(text)
        root = _read_text(settings.get("root")).removeprefix("./").strip("/")
        for source, node in self.read_mapping(text, "redirects").items():
            place = self.locate_node(node)
            old = "/".join(part for part in (self.around.below.strip("/"), source.strip("/")) if part)
            if not isinstance(node.value, str):
                self.add_remark(place, f"{source} leads to nothing")
            elif node.value.startswith(("https://", "http://")):
                yield from self.convert_redirect(place, f"/{old}", {"url": node.value})
            else:
                page = self.find_page(node.value.split("#")[0].removeprefix("./").strip("/"), root)
                if page is None:
                    self.add_remark(place, f"{source} leads to {node.value}, which is the file of no page")
                    continue
                here = self.around.variant
                to = {"page": page, "in": here} if page else {"variant": here}
                if "#" in node.value:
                    self.add_remark(place, f"{source} leads to a heading, and redirects lead to whole pages")
                yield from self.convert_redirect(place, f"/{old}", to)

    def find_page(self, file: str, root: str) -> str | None:
        """Return the address in the variant of the page of a file, named from the settings' root; None for no page."""
        if self.around.pages is None:
            return _PAGE_FILE.sub("", file)
        return next((self.around.pages[path] for path in (f"{root}/{file}", file) if path in self.around.pages), None)

    def read_json(self, text: str) -> Iterator[dict[str, Any]]:
        """Yield those of `docs.json`: `redirects`, a list of source and destination."""
        for node in self.list_entries(self.read_mapping(_PAIR.sub(_join_surrogates, text)).get("redirects")):
            entry = node.value if isinstance(node.value, dict) else {}
            source, target = (_read_text(entry.get(name)) for name in ("source", "destination"))
            if not source or not target:
                self.add_remark(self.locate_node(node), "this redirect has no source or no destination")
                continue
            if (permanent := entry.get("permanent")) is not None and permanent.value is False:
                self.add_remark(self.locate_node(node), f"{source} is temporary, which the API cannot say; it is taken")
            yield from self.convert_pair(self.locate_node(node), source, target)

    def convert_pair(self, place: Place, source: str, target: str, note: str = "") -> Iterator[dict[str, Any]]:
        """Yield the redirect from a source to a target that is an address or a path on the site."""
        if "*" in source or re.search(r"/:[A-Za-z]", source):
            self.add_remark(place, f"{source} stands for many addresses, and the API takes them one by one")
        elif "://" in source:
            self.add_remark(place, f"{source} is an address of another host")
        elif re.search(r"/:[A-Za-z]|\*", target.partition("?")[0]):
            self.add_remark(place, f"{target} has a part that the source fills in")
        elif (to := self.parse_target(target)) is None:
            self.add_remark(place, f"{target} is nothing that is known of this site")
        else:
            yield from self.convert_redirect(place, source, to, note)

    def parse_target(self, text: str) -> Mapping[str, Any] | None:
        if text.startswith("/") and not text.startswith("//"):
            return self.around.resolve(text)
        return parse_destination(text)

    def convert_redirect(
        self, place: Place, source: str, to: Mapping[str, Any], note: str = ""
    ) -> Iterator[dict[str, Any]]:
        """Yield a redirect as a site file has it, if its source is one that the API takes."""
        path, marked, _ = source.partition("?") if "?" in source else source.partition("#")
        path = quote(unquote(path.rstrip("/")), safe="/-._~")
        if not path.startswith("/"):
            path = f"/{path}"
        if marked:
            self.add_remark(place, f"{source} has a query or an anchor, which the API does not look at")
        elif len(path) > SOURCE_MAX or not _SOURCE.fullmatch(path):
            self.add_remark(place, f"{source} is no path that the API takes")
        elif (key := make_source_key(path)) in self.seen:
            self.add_remark(place, f"{source} is redirected further up, which counts")
        else:
            self.seen.add(key)
            yield {"from": path, "to": dict(to), **({"note": note} if note else {})}

    def read_mapping(self, text: str, key: str = "") -> Mapping[str, Node]:
        """Return the nodes of a file's mapping, or of the one under a key; {} when there is nothing."""
        self.tree = compose_tree(text, at=self.path, bytes_max=BYTES_MAX, depth_max=DEPTH_MAX, repeats=True)
        nodes = self.tree.root.value if self.tree.root else None
        if not isinstance(nodes, dict):
            if nodes is None:
                return {}
            raise FileInvalid("is not a mapping", path=self.path)
        if not key:
            return nodes
        inner = nodes[key].value if key in nodes else None
        return inner if isinstance(inner, dict) else {}

    def list_entries(self, node: Node | None) -> list[Node]:
        return node.value if node is not None and isinstance(node.value, list) else []

    def locate_node(self, node: Node) -> Place:
        return Place(self.path, *self.tree.locate(node.key.start if node.key else node.start))

    def add_remark(self, place: Place, what: str) -> None:
        self.remarks.append(Remark(place, what))


def _is_target(token: str) -> bool:
    return token.startswith(("/", "http://", "https://")) or parse_destination(token) is not None


def _read_text(node: Node | None) -> str:
    return node.value if node is not None and isinstance(node.value, str) else ""


def _join_surrogates(found: re.Match[str]) -> str:
    """The two halves that JSON writes a character beyond the first 65,536 in, as YAML has it."""
    if found[1] is None:
        return found[0]
    return f"\\U{0x10000 + ((int(found[1], 16) - 0xD800) << 10) + int(found[2], 16) - 0xDC00:08X}"
