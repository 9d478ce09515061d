"""Digests by which a change request's description names paths, and its line with those of files with manual steps.

The line is for machines: whoever merges the change request from the description alone has to know what of the commit
only a person can bring to the platform.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence

from syncd.layout.richtext.nodes import Node, add_keys, collect_text, make_mark, make_paragraph, make_text
from syncd.model.document import Document
from syncd.plan.change import Change

PATHS_MAX = 100
"""Files with manual steps that are named; of more, none is."""
_LINE = re.compile(r"Syncd-By-Hand: ([0-9a-f]+(?:,[0-9a-f]+)*)")
_PLACE = re.compile(r":\d+$")


def compute_path_digest(path: str) -> str:
    """Return the digest by which a description names a path."""
    return hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def list_manual_paths(steps: Iterable[Change]) -> set[str]:
    """Return the paths of the files that manual steps are about."""
    return {_PLACE.sub("", step.where) for step in steps if step.where}


def render_manual_paths(steps: Iterable[Change]) -> list[Node]:
    """Return the block that names the files of manual steps; none where there is no file, or too many."""
    digests = sorted(map(compute_path_digest, list_manual_paths(steps)))
    if not digests or len(digests) > PATHS_MAX:
        return []
    return [make_paragraph([make_text(f"Syncd-By-Hand: {','.join(digests)}", [make_mark("code")])])]


def read_manual_paths(description: Document | None) -> frozenset[str]:
    """Return the digests of the files with manual steps that a description names."""
    found = [_LINE.fullmatch(collect_text(node)) for node in (description.nodes if description is not None else ())]
    last = next((match for match in reversed(found) if match is not None), None)
    return frozenset(last[1].split(",")) if last is not None else frozenset()


def replace_manual_paths(nodes: Sequence[Node], steps: Iterable[Change], *, before: int) -> list[Node]:
    """Return the blocks of a description with the present line of manual steps in front of the block with a number."""
    parts = (
        [node for node in part if not _LINE.fullmatch(collect_text(node))] for part in (nodes[:before], nodes[before:])
    )
    first, rest = parts
    return [*first, *add_keys(render_manual_paths(steps)), *rest]
