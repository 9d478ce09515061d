"""A site file, with the redirect files that it names, becomes what it declares; every mistake gets its place."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from syncd.errors import FileInvalid
from syncd.layout.lint.finding import Finding
from syncd.layout.site.read.customization import list_leaves
from syncd.layout.site.read.declared import USUAL_LIMITS, Item, Limits, Place, SiteFile, SitePolicy
from syncd.layout.site.read.reader import Reader, shorten_text
from syncd.layout.site.read.redirect_files import find_file_kind, find_file_path, read_redirect_file
from syncd.layout.site.read.redirects import read_redirects
from syncd.layout.site.read.rules import report_finding
from syncd.layout.site.read.shape import (  # fmt: skip
    ABSENT,
    CUSTOMIZATION,
    LIMIT,
    LIMITS,
    ON_DRIFT,
    POLICY,
    PRUNE,
    PRUNES,
    REDIRECT_FILES_MAX,
    RESET,
    SETTINGS,
    SITE,
    STRUCTURE,
    TOP,
    VERSION,
    VISITORS,
)
from syncd.layout.site.read.structure import CollectedItems, StructureReader
from syncd.layout.yaml.compose import compose_tree
from syncd.layout.yaml.nodes import Node
from syncd.model.ref import AREAS, Area

Value = TypeVar("Value")

_SILENCE = re.compile(r"(?:^|\s)#\s*syncd:\s*ignore\s+([A-Za-z0-9-]+(?:[\s,]+SY[0-9]+)*)")
_AREAS: Mapping[str, Area] = {
    "settings": "settings",
    "visitors": "visitors",
    "structure": "structure",
    "redirects": "redirects",
    "redirect_files": "redirects",
    "customization": "customization",
}
_KEY_MAX = 100
_SINGLE = ("site", "policy", "settings", "visitors", "absent")


def read_site_file(text: str, *, path: str, others: Mapping[str, str]) -> tuple[SiteFile | None, tuple[Finding, ...]]:
    """Return what a site file and its redirect files declare, and what is wrong in them.

    Shape: `others` has the redirect files by path. What is wrong is left out of what is returned; None when nothing
    could be read. Findings have the codes SY001 to SY005, SY303 and SY501, and are sorted by place.
    Source: syncd/manual/reference/site-file.md.
    """
    reader = Reader(text, path)
    root = reader.parse_document()
    nodes = _read_document(reader, root)
    file = None if nodes is None else _SiteFileReader(reader, nodes, others).read_file()
    return file, tuple(sorted(reader.findings))


def list_named_files(text: str, *, path: str) -> tuple[str, ...]:
    """Return the redirect files that a site file names, from the repository's root; () when it cannot be read."""
    if "redirect_files" not in text:  # most name none, and need not be parsed twice
        return ()
    reader = Reader(text, path)
    root = reader.parse_document()
    nodes = root.value if root is not None and isinstance(root.value, dict) else {}
    return tuple(name for name, _ in _list_files(reader, nodes.get("redirect_files")))


def _read_document(reader: Reader, root: Node | None) -> Mapping[str, Node] | None:
    """The document's nodes; None when there is nothing to read, or it is for another syncd."""
    if root is None or not isinstance(root.value, dict):
        if not reader.findings:
            place = Place(reader.path)
            hint = "start it with version: 1 and site: { org: ORGANIZATION, id: SITE }"
            reader.findings.append(report_finding("SY005", place, "this is no site file: it is not a mapping", hint))
        return None
    version = root.value.get("version")
    if version is None:
        message = "version is missing"
        reader.findings.append(
            report_finding("SY005", Place(reader.path), message, f"start the file with version: {VERSION}")
        )
    elif type(version.value) is not int or version.value != VERSION:
        newer = isinstance(version.value, int) and version.value > VERSION
        message = (
            f"version {shorten_text(version.value)} needs a newer syncd" if newer else f"version has to be {VERSION}"
        )
        reader.add_finding("SY005", version, message, f"this syncd reads version {VERSION}")
        return None if newer else reader.read_mapping(root, "the site file", TOP)
    return reader.read_mapping(root, "the site file", TOP)


def _list_files(reader: Reader, node: Node | None) -> Iterator[tuple[str, Node]]:
    """The redirect files that a site file names, each once; what is no such file is noted."""
    seen: set[str] = set()
    for name, at in reader.read_texts(node, "redirect_files"):
        try:
            path = find_file_path(name, beside=reader.path)
        except ValueError as wrong:
            reader.add_finding("SY004", at, f'"{name}" {wrong}')
            continue
        if path in seen:
            reader.add_finding("SY002", at, f'"{name}" is listed twice', "keep one of them")
        elif len(seen) == REDIRECT_FILES_MAX:
            reader.add_finding(
                "SY004", at, f"there are more than {REDIRECT_FILES_MAX} redirect files", "join some of them"
            )
            return
        else:
            seen.add(path)
            yield path, at


class _SiteFileReader:
    """Reads one document; whatever is in the file ends up in an item, or in `places`."""

    def __init__(self, reader: Reader, nodes: Mapping[str, Node], others: Mapping[str, str]) -> None:
        self.reader, self.nodes, self.others = reader, nodes, others
        self.into = CollectedItems()
        self.places: dict[str, Place] = {}
        self.silenced: dict[tuple[str, int], frozenset[str]] = {}

    def read_file(self) -> SiteFile:
        reader, nodes = self.reader, self.nodes
        self.collect_silenced(reader.text, reader.path, reader.tree.root)
        for name, node in nodes.items():
            self.places[name] = reader.locate_node(node)
            if name in _SINGLE:
                self.places |= reader.locate_members(node, name)
        site, hosts = self.read_head()
        spaces, space_places = self.read_spaces()
        self.read_settings()
        self.read_visitors()
        holding = self.read_structure(spaces)
        files = self.read_redirects(hosts)
        self.read_customization()
        return SiteFile(
            reader.path,
            str(site.get("org", "")),
            str(site.get("id", "")),
            items=self.into.items,
            repeated=tuple(self.into.repeated),
            orders=self.into.orders,
            managed=frozenset(_AREAS[name] for name in nodes if name in _AREAS),
            policy=self.read_policy(),
            spaces=spaces,
            space_places=space_places,
            holding=holding,
            hosts=hosts,
            absent=self.read_absent(),
            redirect_files=files,
            places=self.places,
            silenced=self.silenced,
        )

    def read_head(self) -> tuple[dict[str, Any], tuple[tuple[str, str], ...]]:
        reader, node = self.reader, self.nodes.get("site")
        nodes = reader.read_mapping(node, "site", SITE)
        values, _ = reader.read_fields(nodes, SITE, "org", "id")
        for name in ("org", "id"):
            if values.get(name) == "" or (name not in nodes and (node is None or isinstance(node.value, dict))):
                place = Place(reader.path) if node is None else reader.locate_node(node)
                hint = "write site: { org: ORGANIZATION, id: SITE }"
                reader.findings.append(report_finding("SY005", place, f"site.{name} is missing", hint))
        hosts = [
            text.partition("://")[2] or text for text, _ in reader.read_texts(nodes.get("hosts"), "hosts", single=True)
        ]
        parts = [host.strip("/").partition("/") for host in hosts]
        return values, tuple((host.lower(), base) for host, _, base in parts if host)

    def read_spaces(self) -> tuple[dict[str, str], dict[str, Place]]:
        spaces, places = {}, {}
        for alias, node in self.reader.read_mapping(self.nodes.get("spaces"), "spaces").items():
            if node.value == "":
                self.reader.add_finding(
                    "SY004", node, f"space {alias} has no id", "the id of a space is in its address"
                )
            elif name := self.reader.read_text(node, f"space {alias}"):
                spaces[alias], places[alias] = name, self.reader.locate_node(node)
        return spaces, places

    def read_settings(self) -> None:
        if (node := self.nodes.get("settings")) is not None:
            nodes = self.reader.read_mapping(node, "settings", SETTINGS, of="settings")
            values, places = self.reader.read_fields(nodes, SETTINGS, *SETTINGS)
            self.into.add(Item("site", "", values, self.places["settings"], places))

    def read_visitors(self) -> None:
        if (node := self.nodes.get("visitors")) is None:
            return
        nodes = self.reader.read_mapping(node, "visitors", VISITORS)
        fields: dict[str, Any] = {}
        places: dict[str, Place] = {}
        for group in ("claims", "unsigned"):
            for name, claim in self.reader.read_mapping(nodes.get(group), group).items():
                if claim.value is None or isinstance(claim.value, dict):
                    fields[f"{group}.{name}"] = claim.plain_value
                    places[f"{group}.{name}"] = self.reader.locate_node(claim)
                    places |= self.reader.locate_members(claim, f"{group}.{name}")
                else:
                    self.reader.report_type(claim, f"claim {name}", "a mapping such as { type: boolean }")
        self.into.add(Item("visitors", "", fields, self.places["visitors"], places))

    def read_structure(self, spaces: Mapping[str, str]) -> str:
        if (node := self.nodes.get("structure")) is None:
            return ""
        nodes = self.reader.read_mapping(node, "structure", STRUCTURE)
        self.places |= {f"structure.{name}": self.reader.locate_node(child) for name, child in nodes.items()}
        return StructureReader(self.reader, spaces, self.into).read_structure(nodes)

    def read_redirects(self, hosts: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
        reader = self.reader
        for item in read_redirects(reader, reader.read_sequence(self.nodes.get("redirects"), "redirects")):
            self.into.add(item)
        names = []
        home = "/".join(filter(None, hosts[0])) if hosts else ""
        for name, node in _list_files(reader, self.nodes.get("redirect_files")):
            names.append(name)
            if name not in self.others:
                reader.add_finding(
                    "SY001", node, f"{name} is named here and is not there", "add the file, or correct its name"
                )
                continue
            self.collect_silenced(self.others[name], name, _parse_tree(self.others[name], name))
            items, findings = read_redirect_file(self.others[name], path=name, home=home)
            reader.findings += findings
            for item in items:
                self.into.add(item)
        return tuple(names)

    def read_absent(self) -> dict[str, Place]:
        nodes = self.reader.read_mapping(self.nodes.get("absent"), "absent", ABSENT)
        sources = self.reader.read_texts(nodes.get("redirects"), "absent.redirects")
        return {source: self.reader.locate_node(node) for source, node in sources}

    def read_customization(self) -> None:
        nodes = self.reader.read_mapping(self.nodes.get("customization"), "customization", CUSTOMIZATION)
        if (node := nodes.get("site")) is not None:
            self.add_customization(Item("customization", "", {}, self.reader.locate_node(node)), node)
        for variant, node in self.reader.read_mapping(nodes.get("overrides"), "overrides").items():
            assert node.key is not None
            place = self.reader.locate_text(node.key)
            if node.value == RESET:
                self.into.add(Item("override", variant, {RESET: True}, place, {RESET: self.reader.locate_node(node)}))
            else:
                self.add_customization(
                    Item("override", variant, {}, place), node, f', or "{RESET}" to take all of it away'
                )

    def add_customization(self, item: Item, node: Node, otherwise: str = "") -> None:
        if not isinstance(node.value, dict):
            name = f"the override of {item.key}" if item.key else "customization.site"
            self.reader.report_type(node, name, f"a mapping of settings{otherwise}")
            return
        for inner in node.walk():
            key = inner.key.value if inner.key is not None and inner is not node else ""
            if "." in key or len(key) > _KEY_MAX:
                hint = "write members below each other, not joined by dots" if "." in key else ""
                self.reader.add_finding("SY003", inner, f'unknown key "{shorten_text(key)}"', hint)
                return
        fields, places = list_leaves(node.plain_value), self.reader.locate_members(node, "")
        self.into.add(Item(item.kind, item.key, fields, item.place, places))

    def read_policy(self) -> SitePolicy:
        reader = self.reader
        nodes = reader.read_mapping(self.nodes.get("policy"), "policy", POLICY)
        flags = ("allow_empty", "allow_new_spaces", "require_bridge", "allow_unshown_types")
        values, _ = reader.read_fields(nodes, POLICY, *flags)
        drift = reader.read_mapping(nodes.get("on_drift"), "on_drift", ON_DRIFT)
        prune = nodes.get("prune")
        if prune is not None and prune.value in PRUNES:
            message = f"prune: {prune.value} is the older form, for redirects only"
            reader.add_finding("SY004", prune, message, "run syncd site migrate, which rewrites the file")
            prune = None
        limits = {}
        for area, node in _key_by_area(reader.read_mapping(nodes.get("limits"), "limits", LIMITS)).items():
            given = reader.read_mapping(node, f"limits.{area}", LIMIT)
            usual = USUAL_LIMITS.get(area, Limits())
            limits[area] = replace(usual, **reader.read_fields(given, LIMIT, *LIMIT, of=f"limits.{area}")[0])
        return SitePolicy(
            _key_by_area(reader.read_fields(drift, ON_DRIFT, *ON_DRIFT, of="on_drift")[0]),
            _key_by_area(reader.read_fields(reader.read_mapping(prune, "prune", PRUNE), PRUNE, *PRUNE, of="prune")[0]),
            limits,
            ignore=frozenset(text for text, _ in reader.read_texts(nodes.get("ignore"), "ignore")),
            **values,
        )

    def collect_silenced(self, text: str, path: str, root: Node | None) -> None:
        """Note the comments that silence warnings; one that has a line for itself is about the next line.

        Shape: `root` is the text as YAML, where it is: what stands in its texts is no comment.
        """
        if "syncd:" not in text:
            return
        texts = [(one.start, one.end) for one in _find_quoted(root)]
        offset = 0
        for number, line in enumerate(text.split("\n"), start=1):
            for found in _SILENCE.finditer(line):
                sign = offset + line.index("#", found.start())
                if any(start <= sign < end for start, end in texts):
                    continue
                at = number + (not line[: found.start()].strip())
                self.silenced[path, at] = frozenset(re.split(r"[\s,]+", found[1]))
            offset += len(line) + 1


def _parse_tree(text: str, path: str) -> Node | None:
    """A redirect file as YAML, where it is, and where anybody needs to know."""
    if "syncd:" not in text or find_file_kind(path) in ("csv", "_redirects"):
        return None
    try:
        return compose_tree(text, at=path, repeats=True).root
    except FileInvalid:
        return None  # whoever reads its redirects says so


def _find_quoted(root: Node | None) -> Iterator[Node]:
    """The texts in quotes, and those that begin on the line after their key."""
    for node in root.walk() if root is not None else ():
        for one in (node, node.key):
            if one is not None and one.style not in ("", "-", "{"):
                yield one


def _key_by_area(values: Mapping[str, Value]) -> dict[Area, Value]:
    """Values by the names of areas, in the order of the file, without any other name."""
    named: Mapping[str, Area] = {area: area for area in AREAS}
    return {named[name]: value for name, value in values.items() if name in named}
