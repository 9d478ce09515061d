"""Changes of a YAML file as patches of its text: comments, indentation and line ends stay as people wrote them."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from syncd.errors import FileInvalid
from syncd.layout.site.read.redirect_files import YAML_BYTES_MAX
from syncd.layout.site.write.render import render_below, render_block, render_entry
from syncd.layout.yaml.compose import compose_tree
from syncd.layout.yaml.nodes import Node, Tree
from syncd.layout.yaml.yaml import dump_line

Path = tuple[str | int, ...]
Splice = tuple[int, int, str]


@dataclass(frozen=True)
class Patch:
    """One change: set what stands at a path, add to the end of the list at a path, or remove what stands at a path.

    Paths are those of the text before all changes. Setting a key that is not there adds it, with what it stands in.
    What is set or removed takes later changes of it, and of what is in it, with it.
    """

    do: Literal["set", "add", "remove"]
    path: Path
    value: Any = None


@dataclass
class _Change:
    """What becomes of a node and of what is in it."""

    below: dict[str | int, "_Change"] = field(default_factory=dict)
    added: list[Any] = field(default_factory=list)
    value: Any = None
    do: Literal["keep", "set", "remove"] = "keep"


def apply_patches(text: str, path: str, edits: Iterable[Patch]) -> str:
    """Return the text of a YAML file with patches applied and all else as it is; it is read again to make sure.

    Raises: FileInvalid when the file cannot be read, when there is nothing at a path, and when it is written in a way
    that a patch cannot follow.
    """
    tree = compose_tree(text, at=path, bytes_max=YAML_BYTES_MAX)
    changes = _gather_changes(edits)
    value = _apply_change(tree.root.plain_value if tree.root else None, changes, path)
    writer = _PatchWriter(tree)
    writer.change_node(tree.root, changes)
    result = writer.apply_splices()
    again = compose_tree(result, at=path, bytes_max=2 * YAML_BYTES_MAX).root
    if _add_types(again.plain_value if again else None) != _add_types(value):
        raise FileInvalid("is written in a way that cannot be changed by a program", path=path, hint="edit it by hand")
    return result


def _gather_changes(edits: Iterable[Patch]) -> _Change:
    root = _Change()
    for edit in edits:
        at = root
        for step in edit.path:
            if at.do != "keep":
                break
            at = at.below.setdefault(step, _Change())
        if at.do != "keep":
            continue
        if edit.do == "add":
            at.added.append(edit.value)
        else:
            at.do, at.value, at.below, at.added = edit.do, edit.value, {}, []
    return root


def _apply_change(value: Any, change: _Change, at: str, path: Path = ()) -> Any:
    """The value that the file shall have; also turns the changes into such as the text can follow."""
    if change.do == "set":
        result = change.value
        _narrow(value, change)
        for step, inner in change.below.items():
            if inner.do == "set" and (isinstance(step, int) or step in value):
                _apply_change(value[step], inner, at)
        return result
    if change.added and value is None and not change.below:
        change.do, change.value = "set", change.added
        change.added = []
        return change.value
    if not change.below and not change.added:
        return value
    if isinstance(value, list):
        return _apply_to_list(value, change, at, path)
    if change.added or any(isinstance(step, int) for step in change.below):
        raise _describe_missing(at, path)
    if value is not None and not isinstance(value, dict):
        raise _describe_missing(at, path)
    result = dict(value or {})
    for step, inner in change.below.items():
        if inner.do == "remove":
            if step not in result:
                raise _describe_missing(at, (*path, step))
            del result[step]
        else:
            result[step] = _apply_change(result.get(step), inner, at, (*path, step))
    if value is None:
        change.do, change.value = "set", result
    return result


def _narrow(value: Any, change: _Change) -> None:
    """Where a value takes the place of another of its kind, change only what differs: the rest keeps its comments."""
    wanted = change.value
    if _add_types(value) == _add_types(wanted):
        change.do = "keep"
    elif isinstance(value, dict) and isinstance(wanted, dict) and value and wanted:
        change.do = "keep"
        change.below = {key: _Change(do="remove") for key in value if key not in wanted}
        change.below |= {key: _Change(do="set", value=item) for key, item in wanted.items()}
    elif isinstance(value, list) and isinstance(wanted, list) and value and wanted:
        start = next((at for at, pair in enumerate(zip(value, wanted, strict=False)) if not _is_same(*pair)), None)
        start = min(len(value), len(wanted)) if start is None else start
        tail = 0
        while tail < min(len(value), len(wanted)) - start and _is_same(value[-1 - tail], wanted[-1 - tail]):
            tail += 1
        if len(wanted) > len(value):
            tail = 0  # a patch adds at the end of a list only
        change.do = "keep"
        spare = range(start, len(value) - tail)
        given = wanted[start : len(wanted) - tail]
        change.below = {at: _Change(do="set", value=item) for at, item in zip(spare, given, strict=False)}
        change.below |= {at: _Change(do="remove") for at in spare[len(given) :]}
        change.added = given[len(spare) :]


def _is_same(one: Any, other: Any) -> bool:
    return bool(_add_types(one) == _add_types(other))


def _apply_to_list(value: list[Any], change: _Change, at: str, path: Path) -> list[Any]:
    for step in change.below:
        if not isinstance(step, int) or not 0 <= step < len(value):
            raise _describe_missing(at, (*path, step))
    kept = []
    for index, item in enumerate(value):
        inner = change.below.get(index)
        if inner is None or inner.do != "remove":
            kept.append(item if inner is None else _apply_change(item, inner, at, (*path, index)))
    return kept + change.added


def _describe_missing(at: str, path: Path) -> FileInvalid:
    return FileInvalid(f"has nothing that can be changed at {'.'.join(map(str, path)) or 'its top'}", path=at)


def _add_types(value: Any) -> Any:
    """A value in which 1, 1.0 and true differ."""
    if isinstance(value, Mapping):
        return {key: _add_types(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_add_types(item) for item in value]
    return (type(value).__name__, value)


class _PatchWriter:
    """Turns changes of nodes into replacements of spans of the text."""

    def __init__(self, tree: Tree) -> None:
        self.tree, self.text = tree, tree.text
        self.newline = "\r\n" if "\r\n" in tree.text else "\n"
        self.splices: list[Splice] = []

    def apply_splices(self) -> str:
        """Return the text with every splice in it; where two reach over the same span, the earlier one has it."""
        parts, at = [], 0
        for start, end, new in sorted(self.splices, key=lambda splice: splice[:2]):
            parts += [self.text[at : max(at, start)], new.replace("\n", self.newline)]
            at = max(at, end)
        return "".join([*parts, self.text[at:]])

    def change_node(self, node: Node | None, change: _Change) -> None:
        if node is None:
            if change.do == "set":
                self.append_document(change.value)
        elif change.do == "set":
            self.replace_node(node, change.value)
        elif change.below or change.added:
            children = self.list_children(node)
            gone = [index for index, (step, _) in enumerate(children) if self.is_removed(change, step)]
            for step, child in children:
                inner = change.below.get(step)
                if inner is not None and inner.do != "remove":
                    self.change_node(child, inner)
            self.change_members(node, children, gone, list(self.list_new(node, change)))

    @staticmethod
    def is_removed(change: _Change, step: str | int) -> bool:
        inner = change.below.get(step)
        return inner is not None and inner.do == "remove"

    @staticmethod
    def list_children(node: Node) -> list[tuple[str | int, Node]]:
        return list(node.value.items() if isinstance(node.value, dict) else enumerate(node.value))

    @staticmethod
    def list_new(node: Node, change: _Change) -> Iterator[tuple[str, Any]]:
        """What the node gets that it does not have, with the key."""
        if isinstance(node.value, dict):
            for step, inner in change.below.items():
                if step not in node.value:
                    yield str(step), inner.value
        else:
            yield from (("", value) for value in change.added)

    def change_members(
        self, node: Node, children: list[tuple[str | int, Node]], gone: list[int], new: list[Any]
    ) -> None:
        """Take children out of a node and put new ones in."""
        if not gone and not new:
            return
        if len(gone) == len(children):
            self.replace_node(node, dict(new) if isinstance(node.value, dict) else [value for _, value in new])
        elif node.style == "{":
            self.change_flow([child for _, child in children], gone, new, listed=isinstance(node.value, list))
        else:
            self.change_block(node, [child for _, child in children], gone, new)

    def change_flow(self, children: list[Node], gone: list[int], new: list[Any], *, listed: bool) -> None:
        removed = set(gone)
        tail = next(child for index, child in reversed([*enumerate(children)]) if index not in removed)
        for first, last in _find_runs(gone):
            if last + 1 < len(children):
                self.splices.append((_find_begin(children[first]), _find_begin(children[last + 1]), ""))
            else:
                self.splices.append((self.find_end(children[first - 1]), self.find_end(children[last]), ""))
        start = self.text.rfind("\n", 0, _find_begin(tail)) + 1
        lead = self.text[start : _find_begin(tail)]
        between = f",\n{lead}" if start and not lead.strip() else ", "
        texts = [dump_line(value) if listed else f"{dump_line(key)}: {dump_line(value)}" for key, value in new]
        if texts:
            self.splices.append((self.find_end(tail), self.find_end(tail), "".join(between + text for text in texts)))

    def change_block(self, node: Node, children: list[Node], gone: list[int], new: list[Any]) -> None:
        begins = [self.find_child_start(node, child) for child in children]
        for first, last in _find_runs(gone):
            # The first key of an entry may stand behind its dash, which the next key then needs.
            inline = self.text[self.find_line_start(begins[first]) : begins[first]].strip()
            if inline and last + 1 < len(children):
                self.splices.append((begins[first], begins[last + 1], ""))
            else:
                after = self.find_next_line(self.find_end(children[last]))
                self.splices.append((self.find_line_start(begins[first]), after, ""))
        if not new:
            return
        column = self.measure_indent(node)
        at = self.find_next_line(self.find_end(children[-1]))
        if isinstance(node.value, dict):
            text = "\n".join(
                " " * column + f"{dump_line(key)}:{render_below(value, column, len(key) + 1)}" for key, value in new
            )
        else:
            text = "\n".join(" " * column + f"-{render_entry(value, column)}" for _, value in new)
        ended = at == 0 or self.text[at - 1] == "\n"
        self.splices.append((at, at, f"{text}\n" if ended else f"\n{text}"))
        tail = self.find_last(children[-1])
        kept = gone[-1:] != [len(children) - 1] and all(start != tail.start for start, _, _ in self.splices)
        if not ended and tail.style in ("|", ">") and kept:
            # Text that ends with the file has no line end of its own, and now would get one.
            self.splices.append((tail.start, tail.end, dump_line(tail.value)))

    def replace_node(self, node: Node, value: Any) -> None:
        """Put another value in the place of a node."""
        start, end = node.start, self.find_end(node)
        if node.key is None and start == end:
            # An entry of a list that says nothing: the dash is all there is.
            start = end = self.text.rfind("-", 0, start) + 1
        behind = self.find_colon_end(node)
        if node.style == "-" and node.key is not None:
            self.splices.append((behind, end, render_below(value, self.measure_indent(node.key))))
        elif start == end:
            self.splices.append((behind if node.key else start, end, f" {dump_line(value)}"))
        elif node.style == "-":
            self.splices.append((start, end, dump_line(value)))
        else:
            # A text that a person has quoted stays quoted.
            keep = node.style == '"' and isinstance(value, str) and not dump_line(value).startswith('"')
            self.splices.append((start, end, f'"{dump_line(value)}"' if keep else dump_line(value)))

    def append_document(self, value: Any) -> None:
        gap = "" if not self.text or self.text.endswith("\n") else "\n"
        text = render_block(value, 0) if isinstance(value, dict | list) and value else dump_line(value)
        self.splices.append((len(self.text), len(self.text), f"{gap}{text}\n"))

    def find_colon_end(self, node: Node) -> int:
        """Where the colon of a node's key ends."""
        if node.key is None:
            return node.start
        colon = self.text.find(":", node.key.end)
        return colon + 1 if 0 <= colon < max(node.start, node.key.end + 1) else node.start

    def measure_indent(self, node: Node) -> int:
        return node.start - self.find_line_start(node.start)

    def find_child_start(self, holder: Node, node: Node) -> int:
        """Where a child in block style begins: its key, or its dash."""
        if node.key is not None:
            return node.key.start
        column, at = self.measure_indent(holder), self.find_line_start(node.start)
        first = self.find_line_start(holder.start)
        while at > first and not (self.text[at + column] == "-" and not self.text[at : at + column].strip()):
            at = self.find_line_start(at - 1)
        return at + column

    def find_end(self, node: Node) -> int:
        """Where a node ends, without what follows it."""
        node = self.find_last(node)
        if node.style in ("|", ">"):
            return node.end - (self.text[node.end - 1 : node.end] == "\n")
        return max(node.end, self.find_colon_end(node)) if node.start == node.end else node.end

    @staticmethod
    def find_last(node: Node) -> Node:
        """What stands last in a node that is in block style."""
        while node.style == "-":
            node = next(reversed(node.value.values() if isinstance(node.value, dict) else node.value))
        return node

    def find_line_start(self, offset: int) -> int:
        return self.tree.line_starts[bisect_right(self.tree.line_starts, offset) - 1]

    def find_next_line(self, offset: int) -> int:
        """Where the line after an offset starts."""
        end = self.text.find("\n", offset)
        return len(self.text) if end < 0 else end + 1


def _find_begin(node: Node) -> int:
    return node.start if node.key is None else node.key.start


def _find_runs(indices: list[int]) -> Iterator[tuple[int, int]]:
    """Neighbours among rising numbers, each run by its first and last."""
    first = last = -1
    for index in indices:
        if first >= 0 and index != last + 1:
            yield first, last
            first = index
        first, last = (index if first < 0 else first), index
    if first >= 0:
        yield first, last
