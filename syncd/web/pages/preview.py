"""What a preview adds to a page: a strip with what is known of it, and findings at the blocks that they are about."""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from syncd.layout.lint.finding import Finding
from syncd.layout.richtext.nodes import Node, make_paragraph, make_text
from syncd.model.document import Document
from syncd.web.rendering import render_template


@dataclass(frozen=True)
class PreviewStrip:
    """What a preview says above each page.

    Shape: `label` is what is shown; `counts` the findings of all pages by severity, None while they are looked for.
    `platform` is the ref of main content, "" where there is none; `changed` counts the files that differ from it, and
    `state` says it of this page: "new", "changed", "same", or "" for what is no page. `problem` is what makes the
    preview differ from what the files say.
    """

    label: str
    counts: Mapping[str, int] | None = None
    platform: str = ""
    changed: int = 0
    state: str = ""
    problem: str = ""
    problems_address: str = ""
    changes_address: str = ""


def render_strip(strip: PreviewStrip) -> Markup:
    """Return the strip as HTML, problems first."""
    return render_template("pages/strip.html", strip=strip)


def render_findings(findings: Sequence[Finding]) -> Markup:
    """Return findings as a box of HTML; nothing when there are none."""
    return render_template("pages/findings.html", findings=findings) if findings else Markup()


def mark_findings(
    document: Document, lines: Sequence[int], findings: Sequence[Finding], mark: str
) -> tuple[Document, dict[int, list[Finding]]]:
    """Return the document with a mark behind each block that has findings, and the findings of each mark.

    Shape: `lines` says at which line each block begins; `mark` is a text that no page can have. What is found above the
    first block has the number -1 and no mark.
    """
    places: dict[int, list[Finding]] = {}
    for finding in findings:
        places.setdefault(bisect_right(lines, finding.line) - 1, []).append(finding)
    nodes: list[Node] = []
    for number, node in enumerate(document.nodes):
        nodes.append(node)
        if number in places:
            nodes.append(make_paragraph([make_text(f"{mark}{number}")]))
    return document.model_copy(update={"nodes": tuple(nodes)}), places


def place_findings(html: Markup, places: Mapping[int, Sequence[Finding]], mark: str) -> Markup:
    """Return the HTML of a marked document with the findings in place of their marks."""
    pattern = re.compile(rf"<p[^<>]*>{re.escape(mark)}(\d+)</p>")
    return Markup(pattern.sub(lambda found: render_findings(places[int(found[1])]), html))  # noqa: S704
