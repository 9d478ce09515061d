"""A whole revision as files."""

from collections.abc import Callable, Iterator

from syncd.layout.tree.placement import Placement, entries_of
from syncd.layout.tree.summary import render
from syncd.layout.tree.variables import render_tags, render_variables
from syncd.model.revision import Revision


def render_files(
    revision: Revision, bodies: Callable[[str], bytes], placement: Placement
) -> Iterator[tuple[str, bytes]]:
    """Given a revision, the bytes of a page, file or reusable content by id, and a placement, return every file.

    Shapes: SUMMARY.md, pages, files, reusable contents, variables, tags; paths below the space's directory, one by one.
    """
    yield placement.summary, render(entries_of(revision.pages, placement)).encode()
    for paths in (placement.pages, placement.files, placement.includes):
        for identity, path in paths.items():
            yield path, bodies(identity)
    if placement.variables:
        yield placement.variables, render_variables(revision.variables).encode()
    if placement.tags:
        yield placement.tags, render_tags(revision.tags).encode()
