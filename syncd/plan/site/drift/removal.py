"""Things that are taken out of the text of a site file, with what is declared for them alone and nothing else."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from syncd.errors import FileInvalid
from syncd.layout.site.check.file import check_site
from syncd.layout.site.read.declared import Item, Place, SiteFile
from syncd.layout.site.read.file import read_site_file
from syncd.layout.site.read.reader import Reader
from syncd.layout.site.write.patch import Patch, Path, apply_patches
from syncd.layout.yaml.nodes import Node
from syncd.model.ref import Ref

_YAML = (".yaml", ".yml")


def format_item(item: Item) -> str:
    """Return the name of an item as people read it: `section home`, `redirect /A`, `site`."""
    return f"{item.kind} {item.fields.get('source', item.key)}".rstrip()


@dataclass(frozen=True)
class Removal:
    """Takes items of one site file out of its texts, all or none."""

    file: SiteFile
    texts: Mapping[str, str]
    items: Sequence[Item]

    def apply(self) -> tuple[dict[str, str], str]:
        """Return the texts that change, by path, or why they cannot: then none does.

        Shape: what was right before is right afterwards.
        """
        if why := self._find_obstacle():
            return {}, why
        try:
            after = self._cut()
        except FileInvalid as error:
            return {}, error.what
        before, now = (set(self._errors(texts)) for texts in (self.texts, {**self.texts, **after}))
        return ({}, min(now - before)) if now - before else (after, "")

    def _find_obstacle(self) -> str:
        """What counts on something that is to go: redirects to it, and what a group would take with it."""
        gone = {item.ref for item in self.items}
        for item in self.file.of("redirect"):
            to = item.fields.get("to")
            if item.ref not in gone and isinstance(to, Mapping) and self._targets(to) & gone:
                return f"{format_item(item)} leads to it ({item.where('to')})"
        for item in self.file.of("group", "section"):
            if item.parent in gone and item.ref not in gone:
                return f"{format_item(item)} stands in {item.parent.words}"
        return ""

    @staticmethod
    def _targets(to: Mapping[str, Any]) -> set[Ref]:
        """The refs that a destination needs: a section, or a variant and the section that it is in."""
        variant = to.get("variant", to.get("in"))
        found = {Ref.of("section", to["section"])} if "section" in to else set()
        if variant:
            found |= {Ref.of("variant", variant), Ref.of("section", str(variant).rpartition("/")[0])}
        return found

    def _cut(self) -> dict[str, str]:
        edits: defaultdict[str, list[Patch]] = defaultdict(list)
        lines: defaultdict[str, set[int]] = defaultdict(set)
        sources: defaultdict[tuple[str, Path], set[int | str]] = defaultdict(set)
        places = {path: find_values(path, text) for path, text in self.texts.items()}
        for item in self.items:
            path = item.place.file
            if not path.endswith(_YAML):
                lines[path].add(item.place.line)
            elif item.kind == "redirect":
                way = _find_path(places[path], item.where("source"), "from")
                sources[path, way[: way.index("from") + 1]].add(way[-1])
            else:
                edits[path].append(Patch("remove", _find_path(places[path], item.place, item.kind)[:-1]))
        sizes = {path: Counter(way[:-1] for ways in places[path].values() for way in ways) for path, _ in sources}
        for (path, way), steps in sources.items():
            edits[path] += _remove_sources(way, steps, sizes[path][way])
        for key in self._own_settings():
            edits[self.file.path].append(Patch("remove", ("customization", "overrides", key)))
        after = {path: apply_patches(self.texts[path], path, changes) for path, changes in edits.items()}
        return after | {path: _remove_lines(self.texts[path], numbers) for path, numbers in lines.items()}

    def _own_settings(self) -> Iterator[str]:
        """The keys of overrides of variants that go, or go with their sections."""
        gone = {item.ref for item in self.items}
        for item in self.file.of("override"):
            variant = Ref.of("variant", item.key)
            if variant in gone or Ref.of("section", item.key.rpartition("/")[0]) in gone:
                yield item.key

    def _errors(self, texts: Mapping[str, str]) -> Iterator[str]:
        others = {path: text for path, text in texts.items() if path != self.file.path}
        file, findings = read_site_file(texts[self.file.path], path=self.file.path, others=others)
        for one in (*findings, *(check_site(file) if file is not None else ())):
            if one.severity == "error":
                yield one.message


def find_values(path: str, text: str) -> Mapping[tuple[int, int], list[Path]]:
    """Return the paths of the values in a YAML text by their places; none for another text, such as CSV."""
    found: defaultdict[tuple[int, int], list[Path]] = defaultdict(list)
    if not path.endswith(_YAML):
        return found
    reader = Reader(text, path)
    root = reader.parse_document()
    for way, node in _walk_values(root) if root is not None else ():
        place = reader.locate_node(node)
        found[place.line, place.column].append(way)
    return found


def _walk_values(root: Node) -> Iterator[tuple[Path, Node]]:
    waiting: list[tuple[Path, Node]] = [((), root)]
    while waiting:
        way, node = waiting.pop()
        if way:
            yield way, node
        if isinstance(node.value, dict):
            waiting += [((*way, step), child) for step, child in node.value.items()]
        elif isinstance(node.value, list):
            waiting += [((*way, step), child) for step, child in enumerate(node.value)]


def _find_path(places: Mapping[tuple[int, int], list[Path]], place: Place, name: str) -> Path:
    """The way to what stands at a place under this name, or in a list of this name."""
    for way in places.get((place.line, place.column), ()):
        if name in way[-2:]:
            return way
    raise FileInvalid(f"{place} is written in a way that cannot be changed by a program", path=place.file)


def _remove_sources(way: Path, steps: set[int | str], count: int) -> Iterator[Patch]:
    """Take some of its sources out of a redirect, or all of it when none is left."""
    if len(steps) >= count:
        yield Patch("remove", way[:-1])
    else:
        yield from (Patch("remove", (*way, step)) for step in sorted(steps, key=str))


def _remove_lines(text: str, numbers: set[int]) -> str:
    lines = text.split("\n")
    return "\n".join(line for number, line in enumerate(lines, 1) if number not in numbers)
