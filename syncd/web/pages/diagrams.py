"""Diagrams of Mermaid: which files draw them, and what these may do.

Mermaid is an npm package that writes styles into what it draws. So that no page needs a weaker policy for it, a frame
of the site's own draws, and the page shows the result as a picture. Only a page that has a diagram loads any of this.
"""

from syncd.web.rendering import Html

DIAGRAM_FRAME = "diagrams.html"
DIAGRAM_SCRIPTS = ("mermaid.min.js", "diagram_frame.js")
"""What the frame loads."""
DIAGRAM_FILES = ("diagrams.js", DIAGRAM_FRAME, *DIAGRAM_SCRIPTS)
"""All that a page with diagrams loads beside what every page does."""
FRAME_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'"
)
"""The Content-Security-Policy of the frame: it loads nothing but its scripts, and no text in it runs."""
_MARK = '<pre class="mermaid"'


def has_diagrams(body: str | Html) -> bool:
    """Return whether HTML has the source of a diagram."""
    return _MARK in body
