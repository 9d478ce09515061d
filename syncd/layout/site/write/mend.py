"""Mend what a rule found, where the rule knows how: a patch at its place; all else stays as it was written."""

from collections.abc import Iterable, Iterator, Sequence

from syncd.layout.lint.finding import Finding
from syncd.layout.site.read.redirect_files import find_file_kind
from syncd.layout.site.write.exports import format_destination
from syncd.layout.site.write.patch import Patch, Path, apply_patches
from syncd.layout.yaml.compose import compose_tree
from syncd.layout.yaml.nodes import Node


def mend_text(text: str, path: str, findings: Iterable[Finding]) -> tuple[str, tuple[Finding, ...]]:
    """Return a site file or redirect file with findings fixed, and the findings that are fixed by it.

    Shape: a finding without a fix, and one whose place has changed, stays. Raises: FileInvalid, as `apply_patches`.
    """
    each = (one for found in findings for one in found.list_all())
    wanted = [one for one in each if one.path == path and one.fix is not None]
    if not wanted:
        return text, ()
    return (
        _mend_lines(text, path, wanted)
        if find_file_kind(path) in ("csv", "_redirects")
        else _mend_yaml(text, path, wanted)
    )


def _mend_yaml(text: str, path: str, wanted: Sequence[Finding]) -> tuple[str, tuple[Finding, ...]]:
    tree = compose_tree(text, at=path)
    paths = {tree.locate(_find_start(node)): way for node, way in _walk_paths(tree.root)}
    edits: dict[Path, Patch] = {}
    done = []
    for one in wanted:
        way = paths.get((one.line, one.column), ())
        if one.fix is not None and one.fix.field in way:
            until = len(way) - way[::-1].index(one.fix.field)
            edits[way[:until]] = Patch("remove" if one.fix.value is None else "set", way[:until], one.fix.value)
            done.append(one)
    return apply_patches(text, path, edits.values()), tuple(done)


def _walk_paths(root: Node | None) -> Iterator[tuple[Node, Path]]:
    """Every node with its path, outer ones first, so that the innermost of those at one place counts."""
    waiting: list[tuple[Node, Path]] = [(root, ())] if root is not None else []
    while waiting:
        node, way = waiting.pop()
        yield node, way
        if isinstance(node.value, dict | list):
            pairs = node.value.items() if isinstance(node.value, dict) else enumerate(node.value)
            waiting += [(child, (*way, key)) for key, child in pairs]


def _find_start(node: Node) -> int:
    """Where the reader says that a node stands: at its key, where the value is in block style."""
    return node.key.start if node.key is not None and node.style == "-" else node.start


def _mend_lines(text: str, path: str, wanted: Sequence[Finding]) -> tuple[str, tuple[Finding, ...]]:
    """One redirect a line: the destination is one word, and stays one."""
    lines = text.split("\n")
    forbidden = ',"' if find_file_kind(path) == "csv" else " \t#"
    done = []
    for one in wanted:
        line, at = lines[one.line - 1], one.column - 1
        word = format_destination(one.fix.value) if one.fix is not None else ""
        if word and not any(sign in word or sign in line[at : at + one.width] for sign in forbidden):
            lines[one.line - 1] = f"{line[:at]}{word}{line[at + one.width :]}"
            done.append(one)
    return "\n".join(lines), tuple(done)
