"""A page's document as accessible HTML: `render_document(document, context)`, pure, for any document whatsoever.

Shape: the caller parses Markdown by `to_document` (or takes `format=document` of the platform), leaves the title out,
and gives a `BlockContext`: `resolve(ref)` returns the `Target` of any reference (`{kind: page|file|anchor|url|…}`;
relative addresses arrive as `{kind: url}`), `read_reusable(ref)` the nodes of reusable content, and
`read_specification(ref)` a parsed OpenAPI description. One `CodeMemory` for all pages remembers coloured code.

What comes back is a `RenderedDocument`: `html` for the body below the `h1` that the page itself writes, `outline` with
`anchor`, `title` and `level` (2 to 6) of each heading, `assets` that the page may load ("mermaid", "embeds";
every block reads without them), and plain facts for reports. The page puts the HTML into an element with the class
`blocks` and links `static/blocks.css`, and `static/more_blocks.css` where rarer blocks may stand; classes of blocks
begin with `b-`, those of code with `k-`; ids are those of headings as the platform makes them, and none begins with an
underline, so that the page's own ids can.
"""

from syncd.web.blocks.code import CodeMemory
from syncd.web.blocks.context import BlockContext, OutlineEntry, RenderedDocument, Target
from syncd.web.blocks.labels import BlockLabels
from syncd.web.blocks.render import render_document

__all__ = [
    "BlockContext",
    "BlockLabels",
    "CodeMemory",
    "OutlineEntry",
    "RenderedDocument",
    "Target",
    "render_document",
]
