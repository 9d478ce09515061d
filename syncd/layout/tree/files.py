"""A whole revision as files."""

from collections.abc import Callable, Iterator

from syncd.layout.tree.placement import Placement, build_entries
from syncd.layout.tree.summary import render_summary
from syncd.layout.tree.variables import render_tags, render_variables
from syncd.model.revision import Revision


def render_files(
    revision: Revision, bodies: Callable[[str], bytes], placement: Placement
) -> Iterator[tuple[str, bytes]]:
    """Yield every file of a revision as its path below the space's directory and its bytes.

    `bodies` returns the bytes of a page, file or reusable content by id. Shape: SUMMARY.md, pages, files, reusable
    contents, variables, tags.
    """
    yield placement.summary, render_summary(build_entries(revision.pages, placement)).encode()
    for paths in (placement.pages, placement.files, placement.includes):
        for identity, path in paths.items():
            yield path, bodies(identity)
    if placement.variables:
        yield placement.variables, render_variables(revision.variables).encode()
    if placement.tags:
        yield placement.tags, render_tags(revision.tags).encode()
