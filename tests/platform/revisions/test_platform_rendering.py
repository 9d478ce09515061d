"""Content as JSON: what former versions kept in their own form is shown in that of the API."""

import json

from syncd.platform.http.downloads import DownloadSigner
from syncd.platform.revisions.outline import Draft, build_outline
from syncd.platform.revisions.rendering import RenderContext, render_revision
from syncd.platform.revisions.tree import PAGES, ROOT, Node, decode_node


def test_tags_that_a_former_version_kept_are_shown_as_the_api_has_them() -> None:
    draft = Draft()
    fields = {"tags": ["a", {"tag": "b", "primary": True}, {"tag": {"kind": "tag", "tag": "c"}}, {}]}
    draft.insert(Node("p", "document", "P", "p", fields, "0" * 40, "p.md"), PAGES)
    draft.replace_node(Node(ROOT, "", fields={"tags": [{"tag": "a", "label": "A", "icon": "bolt"}, {"label": "?"}]}))
    root, rows = draft.hash_tree()
    outline = build_outline(root, {row.hash: decode_node(row) for row in rows})
    shown = json.loads(render_revision(outline, {}, RenderContext("https://a", DownloadSigner("https://a", b"k", 1))))
    assert shown["tags"] == [{"slug": "a", "label": "A", "icon": "bolt", "color": "default"}]
    assert shown["pages"][0]["tags"] == [
        {"tag": {"kind": "tag", "tag": "a"}},
        {"tag": {"kind": "tag", "tag": "b"}, "primary": True},
        {"tag": {"kind": "tag", "tag": "c"}},
    ]
