"""Reverting blocks of a page: some of its blocks as they were, all others, title and frontmatter as they are."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from syncd.layout.compare.reformat import preserve_formatting
from syncd.layout.page.frontmatter import split_after_title
from syncd.layout.richtext.reading import to_document
from syncd.layout.richtext.writing import to_markdown
from syncd.model.document import Document
from syncd.platform.change_requests.write import replace_body
from syncd.platform.http.failures import Failure
from syncd.platform.revisions.diff import pair_unique_items

Block = dict[str, Any]


def revert_blocks(now: str, then: str, wanted: Collection[str]) -> str:
    """Return a page's text `now` with the blocks that have the `wanted` keys as they were `then`.

    Shape: a block that was added is removed, one that was deleted comes back, one that was changed is reset. A key
    from before or after the change names the same block. What comes back is written in the form that its document gets;
    the blocks around it keep their bytes. Raises: Failure 400 for a key that no top-level block has, then or now.
    """
    former = split_after_title(then)[1]
    ours, theirs = to_document(split_after_title(now)[1]).nodes, to_document(former).nodes
    unknown = set(wanted) - {block["key"] for block in (*ours, *theirs)}
    if unknown:
        raise Failure(400, f"block: neither the page nor what it was is made of a block {min(unknown)}")
    result = tuple(_choose_blocks(ours, theirs, set(wanted)))
    if result == ours:
        return now
    if result == theirs:
        return replace_body(now, former.lstrip("\r\n"))
    new_text = replace_body(now, to_markdown(Document(object="document", data={}, nodes=result)))
    # Whatever is not reverted keeps the bytes that its writer gave it.
    return preserve_formatting(now.encode(), new_text.encode(), at="").decode()


def _choose_blocks(ours: Sequence[Block], theirs: Sequence[Block], wanted: set[str]) -> Iterator[Block]:
    mine = other = 0
    # No key occurs twice on a side.
    kept = pair_unique_items([block["key"] for block in ours], [block["key"] for block in theirs])
    for at, there in (*kept, (len(ours), len(theirs))):
        # Between blocks that both have, the first of one side took the place of the first of the other, and so on.
        for step in range(max(at - mine, there - other)):
            here = ours[mine + step : at][:1]
            was = theirs[other + step : there][:1]
            yield from was if wanted & {block["key"] for block in (*here, *was)} else here
        yield from ours[at : at + 1]
        mine, other = at + 1, there + 1
