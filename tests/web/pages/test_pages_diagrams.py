"""Diagrams: the file that draws them is the one that its note names, and only pages with a diagram load it."""

import re
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import syncd
from syncd.layout.richtext.reading import to_document
from syncd.web.blocks import BlockContext, render_document
from syncd.web.pages.diagrams import DIAGRAM_FILES, FRAME_POLICY
from tests.web.pages.test_pages_shell import make_page, make_view

STATIC = Path(syncd.__file__).parent / "web" / "static"


def test_mermaid_is_the_file_that_its_note_names() -> None:
    note = (STATIC / "mermaid.md").read_text(encoding="utf-8")
    data = (STATIC / "mermaid.min.js").read_bytes()
    assert f"sha256 {sha256(data).hexdigest()} " in note
    [version] = re.findall(r"\| version \| (\S+) \|", note)
    assert f'"{version}"'.encode() in data
    assert "MIT License" in (STATIC / "mermaid.LICENSE.txt").read_text(encoding="utf-8")


def test_only_a_page_with_a_diagram_loads_what_draws_it() -> None:
    drawn = render_document(to_document("```mermaid\nflowchart LR\n  A --> B\n```"), BlockContext()).html
    said = render_document(to_document('`<pre class="mermaid">` in words'), BlockContext()).html
    for body, has_script in ((drawn, True), (said, False)):
        page = make_page(replace(make_view(), body=body))
        assert ("diagrams.js" in page) is has_script
        assert "mermaid.min.js" not in page
    assert all((STATIC / file).is_file() for file in DIAGRAM_FILES)


def test_the_frame_has_the_policy_that_a_server_sends() -> None:
    [own] = re.findall(r'content="(default-src[^"]*)"', (STATIC / "diagrams.html").read_text(encoding="utf-8"))
    assert f"{own}; frame-ancestors 'self'" == FRAME_POLICY
    assert "unsafe-inline" not in own.replace("style-src 'unsafe-inline'", "")
