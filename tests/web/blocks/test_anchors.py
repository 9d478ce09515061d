"""Whoever checks links knows the anchors that a page has, whatever stands in it, and no others."""

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from syncd.layout.lint.anchors import AnchorReader
from syncd.layout.lint.check import check_space
from syncd.layout.lint.space import Space, SpaceFile
from syncd.layout.page.frontmatter import split_frontmatter
from syncd.layout.page.specifications import load_specification
from syncd.layout.richtext.reading import to_document
from syncd.web.blocks import BlockContext, render_document
from tests.web.blocks.documents import Node

API = """openapi: 3.1.0
paths:
  /pets:
    get:
      summary: List the pets
      description: |
        ## Errors

        Words[^1] and <a id="named"></a>.

        [^1]: A footnote of the description, <a id="in-note"></a>.
      parameters:
        - { name: q, in: query, description: "# Errors\\n\\nWords[^1].\\n\\n[^1]: <b id='x'>no</b> anchor" }
      responses:
        "200": { description: Good, content: { text/plain: { schema: { description: "# Errors\\n\\nx" } } } }
    delete: { description: One line., responses: {} }
webhooks:
  petAdded: { post: { description: "### Retries\\n\\nOften.", responses: {} } }
"""
INCLUDES = {
    ".gitbook/includes/note.md": (
        "---\ntitle: Note\n---\n\n## Install\n\nSee[^1], [^b].\n\n"
        '[^1]: Its own <a id="own"></a>.\n[^b]: More[^1].\n\n{% include "inner.md" %}\n'
    ),
    ".gitbook/includes/inner.md": "## Inner\n\nWords[^1].\n",
}
BLOCKS = (
    Path(__file__).with_name("every_block.md").read_text(),
    "## Install",
    '## Install <a href="#own" id="own"></a>',
    "# 1. Straße & 日本語",
    "### Words[^1] and `[^1]`",
    "Words[^1], [^b], again[^1], none[^c], `[^b]` and **[^1]**.",
    "[^1]: First <a id='in-note'></a>[^b].\n[^b]: Second[^1].",
    "[^1]: Twice.",
    "[^lost]: Of which nothing speaks[^b]. <i id='lost'></i>",
    "Words <a name=\"named\"></a> and <span id='own'>x</span>, <iframe id='dropped'></iframe>, `<a id='code'></a>`.",
    '<h2 id="html">HTML</h2>',
    '<div id="around">\n\n## Install\n\n</div>',
    '<!-- <a id="comment"></a> -->',
    "```html\n<a id='block'></a>[^1]\n```",
    "- one[^1]\n- two\n\n  ## Install\n",
    "> ## Install\n>\n> Words[^b].",
    "| A[^1] | B |\n| --- | --- |\n| <a id='cell'></a>x | [^b] |",
    '<table><thead><tr><th>A</th><th data-hidden>B</th></tr></thead><tbody><tr><td><a id="cell"></a>x[^1]</td>'
    '<td><a id="hidden"></a>y[^b]</td></tr></tbody></table>',
    '<table data-view="cards"><thead><tr><th></th><th data-hidden data-card-target data-type="content-ref"></th></tr>'
    '</thead><tbody><tr><td><strong id="card">x</strong></td><td><a href="README.md">README.md</a></td></tr></tbody>'
    "</table>",
    '{% tabs %}\n{% tab title="Install" %}\n## Install\n{% endtab %}\n{% tab %}\nx[^1]\n{% endtab %}\n{% endtabs %}',
    "<details>\n<summary>Install <strong>it</strong></summary>\n\n## Install\n\n</details>",
    '{% hint style="info" %}\n## Install\n{% endhint %}',
    "{% stepper %}\n{% step %}\n## Install\n{% endstep %}\n{% endstepper %}",
    "{% columns %}\n{% column %}\n## Install\n{% endcolumn %}\n{% endcolumns %}",
    '{% updates format="full" %}\n{% update date="2024-01-01" %}\n## Install\n{% endupdate %}\n{% endupdates %}',
    "{% if visitor.claims.x %}\n## Install\n{% endif %}",
    '{% prompt description="x" %}\n## Install\n{% endprompt %}',
    '{% content-ref url="README.md" %}\n[Words[^1]](README.md)\n{% endcontent-ref %}',
    '{% embed url="https://x.example" %}\nA caption[^1]\n{% endembed %}',
    '<figure><img src="x.png" alt="x"><figcaption><p>Caption[^1]</p></figcaption></figure>',
    '{% include ".gitbook/includes/note.md" %}',
    '{% include ".gitbook/includes/gone.md" %}',
    '{% openapi src="api.yaml" path="/pets" method="get" %}\n[api.yaml](api.yaml)\n{% endopenapi %}',
    '{% openapi src="api.yaml" path="/pets" method="delete" %}\n[api.yaml](api.yaml)\n{% endopenapi %}',
    '{% openapi src="api.yaml" path="/gone" method="get" %}\n[api.yaml](api.yaml)\n{% endopenapi %}',
    "{% unknown %}\n## Install\n{% endunknown %}",
)


def make_space(text: str) -> Mapping[str, SpaceFile]:
    """The files of a space whose page `page.md` has a text."""
    files = {"README.md": "# Home\n", "page.md": f"# Page\n\n{text}\n", "api.yaml": API, **INCLUDES}
    return {path: SpaceFile(len(one.encode()), partial(bytes, one.encode())) for path, one in files.items()}


def find_ids(text: str) -> set[str]:
    """The ids of a rendered text to which links may lead."""

    def read_reusable(ref: Any) -> list[Node] | None:
        found = INCLUDES.get(f".gitbook/includes/{str(ref.get('url', '')).rpartition('/')[2]}")
        return None if found is None else list(to_document(split_frontmatter(found)[1]).nodes)

    context = BlockContext(
        read_reusable=read_reusable,
        read_specification=lambda ref: load_specification(API, at="api.yaml") if "url" in ref else None,
    )
    html = str(render_document(to_document(text), context).html)
    found = re.findall(r'<[a-z0-9]+ [^<>]*?\bid="([^"]+)"', html) + re.findall(r'<a [^>]*\bname="([^"]+)"', html)
    assert len({*found}) == len(found)
    return {one for one in found if not one.startswith("_")}


@given(st.lists(st.sampled_from(BLOCKS), max_size=6))
@settings(max_examples=60, deadline=None)
@example(list(BLOCKS))
def test_check_knows_the_anchors_that_a_page_has_and_no_others(blocks: list[str]) -> None:
    text = "\n\n".join(blocks)
    space = Space(make_space(text))
    assert AnchorReader(space).find_anchors(space.read_page("page.md")) == find_ids(text)


def test_links_to_footnotes_and_to_headings_of_operations_are_no_findings() -> None:
    known = ["user-content-fn-1", "user-content-fnref-1", "list-the-pets", "errors", "named", "post-petadded"]
    text = "Words[^1].\n\n" + " ".join(f"[x](#{anchor})" for anchor in (*known, "no")) + "\n\n[^1]: A note.\n\n"
    block = '{%% openapi src="api.yaml" path="/pets" method="get" %%}\n{%% endopenapi %%}\n'
    found = [one.message for one in check_space(make_space(text + block % ())) if one.code == "link-anchor"]
    assert found == ["this page has no heading #post-petadded", "this page has no heading #no"]


def test_a_page_with_an_operation_that_nobody_reads_here_may_have_any_anchor() -> None:
    block = '{% openapi-operation spec="pets" path="/pets" method="get" %}\n{% endopenapi-operation %}\n'
    assert not [one for one in check_space(make_space(f"[x](#list-the-pets)\n\n{block}")) if one.code == "link-anchor"]
