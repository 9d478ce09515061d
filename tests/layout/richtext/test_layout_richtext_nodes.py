"""Nodes: documents come back from Markdown as they went in, known nodes and unknown ones."""

import copy
import os
import random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from syncd.layout.richtext.expressible import format_html
from syncd.layout.richtext.nodes import collect_text
from syncd.layout.richtext.reading import to_document
from syncd.layout.richtext.references import find_references
from syncd.layout.richtext.writing import to_markdown
from syncd.model.document import Document
from tests.plain_documents import make_document

Node = dict[str, Any]

EXAMPLES = int(os.environ.get("SYNCD_TEST_EXAMPLES", "2000"))
"""Random documents of each long search."""

PLAIN = "ab1 .!?*_~`[]()<>&#-+=|\\:;$%{}\"'/\n\u00a0é日😀"
WORDS = [
    *PLAIN,
    "foo",
    "snake_case",
    "&amp;",
    "**",
    "- ",
    "1. ",
    "# ",
    "> ",
    "{% hint %}",
    ":smile:",
    "https://x.y/_z_",
    "[a]: b",
]
MARKS: list[Node] = [
    *(
        {"object": "mark", "type": type}
        for type in ("bold", "italic", "strikethrough", "keyboard", "superscript", "code")
    ),
    {"object": "mark", "type": "color", "data": {"text": "$primary", "background": "default"}},
    {"object": "mark", "type": "color", "data": {"text": "red", "background": "blue"}},
    {"object": "mark", "type": "tomorrow", "data": {"html": '<b> & `|` "q"'}},
    {"type": "bare"},
]
URLS = ["https://example.com/a?b=c&copy;d", "../x y.md#top", "a(b)c", "", "<x>", "#é", "mailto:a@b.c"]
UNKNOWN_INLINES: list[Node] = [
    {
        "object": "inline",
        "type": "annotation",
        "nodes": [{"leaves": [{"text": "no|te"}]}],
        "fragments": [{"nodes": []}],
    },
    {"object": "inline", "type": "mention", "isVoid": True, "data": {"ref": {"kind": "user", "user": "u"}}},
    {"object": "inline", "type": "link", "data": {"ref": {"kind": "page", "page": "p"}}, "nodes": []},
    {"object": "text", "leaves": [], "selections": [1]},
]
UNKNOWN_BLOCKS: list[Node] = [
    {"object": "block", "type": "tomorrow", "key": "k", "nodes": [{"object": "block", "data": {"x": "```\n~~~"}}]},
    {
        "object": "block",
        "type": "drawing",
        "isVoid": True,
        "data": {"ref": {"kind": "file", "file": "f"}, "n": 1.5, "z": None},
    },
    {"object": "block", "type": "paragraph", "nodes": [{"object": "block", "type": "paragraph", "nodes": []}]},
    {"object": "block", "type": "list-unordered", "data": {}, "nodes": []},
    {"object": "block", "type": "table", "isVoid": True, "data": {"view": {"type": "cards"}}, "fragments": []},
    {"object": "block", "type": "html", "isVoid": True, "data": {"html": "no HTML"}},
]


def without_keys(value: Any) -> Any:
    """The nodes without what follows from them; unknown blocks have to come back whole."""
    if isinstance(value, list | tuple):
        return [without_keys(one) for one in value]
    if not isinstance(value, dict) or value in UNKNOWN_BLOCKS or value in UNKNOWN_INLINES:
        return value
    return {name: without_keys(one) for name, one in value.items() if name not in ("key", "meta")}


def block(type: str, data: Node, nodes: list[Node] | None, **more: Any) -> Node:
    held = {} if nodes is None else {"nodes": nodes}
    return {"object": "block", "type": type, "isVoid": nodes is None, "data": data} | held | more


@st.composite
def texts(draw: st.DrawFn) -> Node:
    leaves: list[Node] = []
    for words, marks in draw(
        st.lists(st.tuples(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), marked), min_size=1, max_size=4)
    ):
        code = {"object": "mark", "type": "code"}
        marks = [mark for mark in marks if mark != code] + [code] * (code in marks)
        text = "".join(words).replace("\n", " ") if code in marks else "".join(words)
        if leaves and leaves[-1]["marks"] == marks:
            leaves[-1]["text"] += text
        else:
            leaves.append({"object": "leaf", "text": text, "marks": marks})
    return {"object": "text", "leaves": leaves}


marked = st.lists(st.sampled_from(MARKS), max_size=3, unique_by=repr)


def inline(type: str, data: Node, nodes: list[Node] | None = None) -> Node:
    return {"object": "inline", "type": type, "isVoid": nodes is None, "data": data} | (
        {"nodes": nodes} if nodes else {}
    )


def words_of(text: str) -> Node:
    return {"object": "text", "leaves": [{"object": "leaf", "text": text, "marks": []}]}


refs = st.sampled_from(URLS).map(lambda url: {"kind": "url", "url": url})
inlines = st.one_of(
    st.builds(lambda ref, text: inline("link", {"ref": ref}, [text]), refs, texts()),
    st.builds(lambda ref, text: inline("link", {"ref": ref, "title": 't "q" \\ &lt;'}, [text]), refs, texts()),
    st.builds(lambda ref: inline("inline-image", {"ref": ref, "alt": "[a] | *b*", "caption": "c"}), refs),
    st.builds(lambda ref: inline("button", {"label": "Go & <see>", "kind": "primary", "ref": ref}), refs),
    st.sampled_from(
        [
            *UNKNOWN_INLINES,
            inline("emoji", {"code": "1f44b"}),
            inline("emoji", {"code": "1f44b", "text": "👋"}),
            inline("icon", {"icon": "rocket", "color": "$primary"}),
            inline("expression", {"expression": "space.vars.a_b"}),
            inline("inline-math", {"formula": "a_b * c|d \\{"}),
            inline("html", {"html": '<u class="x">'}),
        ]
    ),
)
lines = st.builds(
    lambda first, rest: [first, *(one for pair in rest for one in pair)],
    texts(),
    st.lists(st.tuples(inlines, texts()), max_size=2),
)
paragraphs = lines.map(lambda nodes: block("paragraph", {}, nodes))


def words(text: str) -> Node:
    return {"object": "text", "leaves": [{"object": "leaf", "text": text, "marks": []}]}


def line(text: str) -> Node:
    return block("code-line", {}, [words(text)])


codes = st.lists(st.sampled_from(["", "a", "  b", "```", "~~~", "{% endcode %}", "\tx"]).map(line), max_size=4)
fences = st.sampled_from(
    [
        {},
        {"syntax": "js"},
        {"syntax": "js", "info": "js a=`b`"},
        {"syntax": "py", "title": 'a "b"', "lineNumbers": True},
    ]
)
leaf_blocks: st.SearchStrategy[Node] = st.one_of(
    paragraphs,
    st.builds(lambda nodes, level: block(f"heading-{level}", {}, nodes), lines, st.integers(1, 3)),
    st.builds(
        lambda nodes, level: block("heading-3", {"level": level, "id": "an-id"}, nodes), lines, st.integers(4, 6)
    ),
    st.builds(lambda nodes: block("paragraph", {"align": "center"}, nodes, soon={"x": ["-->"]}), lines),
    st.builds(lambda nodes, data: block("code", data, nodes), codes, fences),
    st.sampled_from(
        [
            *UNKNOWN_BLOCKS,
            block("divider", {}, None),
            block("math", {"formula": "a\n  b"}, None),
            block("html", {"html": "<!-- a\n\nb -->"}, None),
            block("html", {"html": '<table data-view="cards">\n<tr></tr></table>'}, None),
            block("definition", {"label": "a b", "url": "x y", "title": "t"}, None),
            block("tag", {"source": "{% unknown a %}\n\n* x\n{% endunknown %}"}, None),
            block("embed", {"url": "https://x.y"}, None),
            block("reusable-content", {"ref": {"kind": "url", "url": "../a.md"}}, None),
            block("swagger", {"ref": {"kind": "url", "url": "a.yaml"}, "path": "/x", "method": "get"}, None),
            block("integration", {"integration": "mermaid", "block": "diagram", "props": {"content": "a\nb"}}, None),
        ]
    ),
)


CODE = {"object": "mark", "type": "code"}
plain_marks = [mark for mark in MARKS if mark.get("type") not in ("tomorrow", None)]
cell_texts = st.builds(
    lambda text, marks: {"object": "text", "leaves": [{"object": "leaf", "text": text, "marks": marks}]},
    st.sampled_from(["a", "b & <c>", 'x "y"', "one two", " s ", "'`|"]),
    # Of several marks, code is the innermost.
    st.sampled_from([[], *([mark] for mark in plain_marks), [plain_marks[0], CODE], plain_marks[:2]]),
) | st.just({"object": "text", "leaves": [{"object": "leaf", "text": "one\ntwo", "marks": []}]})
cell_inlines = st.sampled_from(
    [
        inline("icon", {"icon": "rocket"}),
        inline("emoji", {"code": "1f44b", "text": "👋"}),
        inline("expression", {"expression": "space.vars.a_b"}),
        inline("button", {"label": "Ask", "kind": "primary", "action": {"action": "ask", "query": "it's?"}}),
        inline("button", {"label": "Go", "kind": "secondary", "ref": {"kind": "url", "url": "a?b&c"}, "icon": "x"}),
        inline("inline-image", {"ref": {"kind": "url", "url": "a b.png"}, "alt": "", "size": "line"}),
        inline("inline-image", {"ref": {"kind": "url", "url": "a.png"}, "alt": "A & B"}),
        inline("link", {"ref": {"kind": "url", "url": "a.md#b"}}, [words_of("link")]),
        inline("mention", {"ref": {"kind": "url", "url": "a.md"}, "text": "a"}),
    ]
)
cell_lines = st.builds(lambda text, one: [text, one], cell_texts, cell_inlines) | cell_texts.map(lambda text: [text])
cell_paragraphs = cell_lines.map(lambda nodes: block("paragraph", {}, nodes))
rich_cells = st.one_of(
    cell_paragraphs.map(lambda one: [one]),
    st.lists(cell_paragraphs, min_size=2, max_size=2),
    st.builds(lambda nodes: [block("heading-3", {"level": 4}, nodes)], cell_lines),
    st.builds(lambda one: [one, block("list-unordered", {}, [block("list-item", {}, [one])])], cell_paragraphs),
)
typed: dict[str, tuple[Node, list[Any]]] = {
    "number": ({}, [3, -1.5, None]),
    "checkbox": ({}, [True, False]),
    "rating": ({"max": 5}, [4, None]),
    "select": (
        {"multiple": True, "options": [{"value": v, "label": v.upper(), "color": "blue"} for v in "ab"]},
        [[], ["b"], ["b", "a"]],
    ),
    "content-ref": ({}, [{"kind": "url", "url": "x/y.md#z"}, {"kind": "url", "url": "https://x.y/?a&b"}]),
    "image": (
        {},
        [
            {"kind": "url", "url": "a b.png"},
            {"ref": {"kind": "url", "url": "a.png"}, "objectFit": "contain"},
        ],
    ),
    "files": ({}, [[], [{"kind": "url", "url": "a.pdf"}, {"kind": "url", "url": "b/c.pdf"}]]),
}


@st.composite
def rich_tables(draw: st.DrawFn) -> Node:
    """A table as HTML has it: cards or a grid, with columns of every type."""
    kinds = draw(st.lists(st.sampled_from(["text", *typed]), min_size=1, max_size=4))
    names = [f"c{number}" for number in range(len(kinds))]
    hidden = draw(st.sets(st.sampled_from(names)))
    definition = {name: column(name, kind, draw) for name, kind in zip(names, kinds, strict=True)}
    view: Node = draw(st.sampled_from([{"type": "grid", "hideHeader": True}, {"cardSize": "large", "type": "cards"}]))
    view = view | {"columns": [name for name in names if name not in hidden]}
    view |= {"columnWidths": {names[0]: draw(st.sampled_from([200, 33.5]))}} if draw(st.booleans()) else {}
    view |= {"targetDefinition": names[-1]} if draw(st.booleans()) else {}
    fragments: list[Node] = []
    records: Node = {}
    for row in range(draw(st.integers(0, 2))):
        values: Node = {}
        for name, kind in zip(names, kinds, strict=True):
            values[name] = f"r{row}{name}"
            if kind == "text":
                fragments.append({"object": "fragment", "fragment": values[name], "nodes": draw(rich_cells)})
            else:
                values[name] = draw(st.sampled_from(typed[kind][1]))
        records[f"r{row}"] = {"orderIndex": f"{row:06}", "values": values}
    data = {"view": view, "definition": definition, "records": records, "fullWidth": True}
    return block("table", data, None, fragments=fragments)


def column(name: str, kind: str, draw: st.DrawFn) -> Node:
    title = draw(st.sampled_from(["", "T & <u>"]))
    aligned = {"textAlignment": draw(st.sampled_from(["left", "right"]))} if kind == "text" else {}
    return {"id": name, "title": title} | aligned | {"type": kind} | (typed[kind][0] if kind in typed else {})


def image(data: Node, *captions: Node) -> Node:
    fragments = [{"object": "fragment", "fragment": "caption", "nodes": list(captions)}] if captions else []
    return block("image", data, None, fragments=fragments)


PICTURE: Node = {"ref": {"kind": "url", "url": "a b.png"}, "alt": 'an "image" & <more>'}
DARK: Node = {"refDark": {"kind": "url", "url": "dark.png"}, "width": 300}
html_blocks = st.one_of(
    rich_tables(),
    st.builds(lambda caption: block("images", {}, [image(PICTURE | DARK, caption)]), cell_paragraphs),
    st.builds(
        lambda caption: block("images", {"align": "left"}, [image(PICTURE), image(PICTURE, caption)]), cell_paragraphs
    ),
    st.builds(lambda nodes: block("paragraph", {"align": "center"}, nodes), cell_lines),
    st.builds(lambda nodes: block("heading-2", {"align": "right"}, nodes), cell_lines),
    st.builds(lambda nodes: block("paragraph", {"html": True}, nodes), cell_lines),
    st.sampled_from(
        [
            block("images", {"withFrame": True, "fullWidth": False}, [image(PICTURE | {"bare": True})]),
            block("images", {}, [image(PICTURE | {"bare": True})]),
            block("images", {}, [image(PICTURE | {"link": {"kind": "url", "url": "a.md?b&c"}})]),
            block("drawing", PICTURE, None),
        ]
    ),
)


def listed(type: str, items: list[list[Node]], start: int) -> Node:
    """A list in its normal form: tight where it can be, and `loose` only where a paragraph shows it."""
    held = [node for item in items for node in item]
    known = [node for node in held if node["type"] == "paragraph" and node not in UNKNOWN_BLOCKS]
    direct = any(format_html(node) is None for node in known)
    parted = len(held) > 1 and any(node["type"] != "paragraph" or len(item) > 1 for item in items for node in item)
    data: Node = {"start": start} if type == "list-ordered" and start != 1 else {}
    data |= {"loose": True} if direct and parted else {}
    given = {"checked": True} if type == "list-tasks" else {}
    return block(type, data, [block("list-item", dict(given), item) for item in items])


def containers(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    held = st.lists(inner, min_size=1, max_size=3)
    kinds = st.sampled_from(["list-unordered", "list-ordered", "list-tasks"])
    return st.one_of(
        held.map(lambda nodes: block("blockquote", {}, nodes)),
        held.map(lambda nodes: block("hint", {"style": "info", "icon": 'a"b'}, nodes)),
        held.map(lambda nodes: block("stepper", {}, [block("stepper-step", {}, nodes)])),
        held.map(lambda nodes: block("if", {"expression": 'a == "b"'}, nodes)),
        held.map(captioned),
        held.map(expandable),
        st.builds(listed, kinds, st.lists(held, min_size=1, max_size=3), st.sampled_from([1, 0, 7, 10])),
    )


def captioned(nodes: list[Node]) -> Node:
    ref, caption = {"kind": "url", "url": "./"}, {"object": "fragment", "fragment": "caption", "nodes": nodes}
    return block("content-ref", {"ref": ref}, None, fragments=[caption])


def expandable(nodes: list[Node]) -> Node:
    leaf = {"object": "leaf", "text": "a < b", "marks": [{"object": "mark", "type": "bold"}]}
    title = block("paragraph", {}, [{"object": "text", "leaves": [leaf]}])
    names = {"expandable-title": [title], "expandable-body": nodes}
    held = [{"object": "fragment", "fragment": name, "type": name, "nodes": nodes} for name, nodes in names.items()]
    return block("expandable", {"defaultExpanded": True}, None, fragments=held)


blocks = st.recursive(leaf_blocks | html_blocks, containers, max_leaves=6)


def assert_comes_back(nodes: list[Node]) -> None:
    markdown = to_markdown(Document(nodes=tuple(nodes)))
    assert without_keys(to_document(markdown).nodes) == without_keys(nodes), markdown


LOOSE = listed("list-unordered", [[block("divider", {}, None)], [block("paragraph", {}, [words("a")])]], 1)
LOOSE_TEXT, LOOSE_TITLE = block("paragraph", {}, [words("a")]), block("heading-1", {}, [words("a")])
MARKED: Node = {
    "object": "leaf",
    "text": "a",
    "marks": [{"object": "mark", "type": "tomorrow", "data": {"html": "<b>"}}],
}
CENTERED = block("paragraph", {"align": "center"}, [{"object": "text", "leaves": [MARKED]}])
"""The comment before it is a block that is freed once it is read."""
INTEGRATION = block("integration", {"integration": "a", "block": "b", "props": {"content": "a\nb"}}, None)


def spaced(*nodes: Node) -> list[Node]:
    """A paragraph whose first word is a space."""
    return [block("paragraph", {}, [words(" "), *nodes])]


@given(st.lists(blocks, max_size=4))
@example(spaced(inline("link", {"ref": {"kind": "url", "url": "a"}}, [words("a")])))
@example(spaced(inline("inline-image", {"ref": {"kind": "url", "url": "a"}})))
@example(spaced(UNKNOWN_INLINES[0], words("a")))
@example(spaced(inline("html", {"html": '<u class="x">'})))
@example(spaced(inline("html", {"html": '<u class="x">'}), words("\na")))
@example([block("heading-1", {}, [inline("html", {"html": "<div>"}), words("\na")])])
@example([listed("list-unordered", [[LOOSE, INTEGRATION]], 1)])
@example([listed("list-unordered", [[CENTERED]], 1), listed("list-unordered", [[LOOSE_TEXT, LOOSE_TITLE]], 1)])
@settings(max_examples=15, deadline=None)
def test_a_document_comes_back_from_markdown(nodes: list[Node]) -> None:
    assert_comes_back(nodes)


@pytest.mark.long
@pytest.mark.timeout(900)
@given(st.lists(blocks, max_size=4))
@settings(max_examples=EXAMPLES, deadline=None)
def test_many_documents_come_back_from_markdown(nodes: list[Node]) -> None:
    assert_comes_back(nodes)


JUNK: list[Any] = [
    None,
    0,
    1.5,
    True,
    "",
    "text",
    "block",
    [],
    {},
    [1],
    ["a"],
    [[]],
    {"a": 1},
    "\ud800",
    "\0",
    "a\nb",
    "-->",
]


def spoiled(nodes: Any, chance: random.Random) -> None:
    """Replace or remove one member, anywhere."""
    places: list[tuple[Any, Any]] = []
    pending = [nodes]
    while pending:
        here = pending.pop()
        keys = list(here) if isinstance(here, dict) else range(len(here))
        places += [(here, key) for key in keys]
        pending += [here[key] for key in keys if isinstance(here[key], dict | list)]
    place, key = chance.choice(places)
    if chance.random() < 0.25:
        del place[key]
    else:
        place[key] = copy.deepcopy(chance.choice(JUNK))


def assert_has_markdown(nodes: list[Node], chance: random.Random) -> None:
    nodes = copy.deepcopy(nodes)
    spoiled(nodes, chance)
    document = Document.model_construct(nodes=tuple(node for node in nodes if isinstance(node, dict)))
    known = to_document(to_markdown(document))
    assert to_document(to_markdown(known)) == known


@given(st.lists(blocks, min_size=1, max_size=2), st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None)
def test_documents_of_any_shape_have_markdown(nodes: list[Node], chance: random.Random) -> None:
    assert_has_markdown(nodes, chance)


@pytest.mark.long
@given(st.lists(blocks, min_size=1, max_size=2), st.randoms(use_true_random=False))
@settings(max_examples=EXAMPLES, deadline=None)
def test_many_documents_of_any_shape_have_markdown(nodes: list[Node], chance: random.Random) -> None:
    assert_has_markdown(nodes, chance)


EXACT = {
    "hint": ('{% hint style="info" icon="x" %}\na\n{% endhint %}', "hint", {"style": "info", "icon": "x"}),
    "tabs": (
        '{% tabs %}\n{% tab title="A" %}\na\n{% endtab %}\n\n{% tab title="B" %}\n* b\n{% endtab %}\n{% endtabs %}',
        "tabs",
        {},
    ),
    "columns": ('{% columns %}\n{% column width="50%" %}\na\n{% endcolumn %}\n{% endcolumns %}', "columns", {}),
    "code": (
        '{% code title="a.js" lineNumbers="true" %}\n```js\na\n\nb\n```\n{% endcode %}',
        "code",
        {"syntax": "js", "title": "a.js", "lineNumbers": True},
    ),
    "embed": ('{% embed url="https://x.y" %}', "embed", {"url": "https://x.y"}),
    "captioned embed": (
        '{% embed url="https://x.y" %}\nA _caption_\n{% endembed %}',
        "embed",
        {"url": "https://x.y"},
    ),
    "file": (
        '{% file src=".gitbook/assets/a.pdf" %}\nA\n{% endfile %}',
        "file",
        {"ref": {"kind": "url", "url": ".gitbook/assets/a.pdf"}},
    ),
    "content-ref": (
        '{% content-ref url="./" %}\n[.](./)\n{% endcontent-ref %}',
        "content-ref",
        {"ref": {"kind": "url", "url": "./"}},
    ),
    "include": (
        '{% include "../.gitbook/includes/a.md" %}',
        "reusable-content",
        {"ref": {"kind": "url", "url": "../.gitbook/includes/a.md"}},
    ),
    "openapi": (
        '{% openapi src="a.yaml" path="/x" method="get" %}\n[a](a.yaml)\n{% endopenapi %}',
        "swagger",
        {"ref": {"kind": "url", "url": "a.yaml"}, "path": "/x", "method": "get"},
    ),
    "operation": (
        '{% openapi-operation spec="s" path="/x" method="get" %}',
        "openapi-operation",
        {"ref": {"kind": "openapi", "spec": "s"}, "path": "/x", "method": "get"},
    ),
    "schemas": (
        '{% openapi-schemas spec="s" schemas="A,B" grouped="true" %}',
        "openapi-schemas",
        {"ref": {"kind": "openapi", "spec": "s"}, "schemas": ["A", "B"], "grouped": True},
    ),
    "integration": (
        '{% @mermaid/diagram content="a\n\n  b" fullWidth="false" %}',
        "integration",
        {"integration": "mermaid", "block": "diagram", "props": {"content": "a\n\n  b", "fullWidth": "false"}},
    ),
    "condition": ('{% if a === "b" %}\n# A\n{% endif %}', "if", {"expression": 'a === "b"'}),
    "updates": (
        '{% updates format="full" %}\n{% update date="2026-01-02" tags="a" %}\n## A\n{% endupdate %}\n{% endupdates %}',
        "updates",
        {"format": "full"},
    ),
    "prompt": (
        '{% prompt description="d" icon="i" %}\nDo it.\n{% endprompt %}',
        "prompt",
        {"description": "d", "icon": "i"},
    ),
    "arguments": ("{% hint whatever %}\na\n{% endhint %}", "hint", {"arguments": "whatever"}),
    "unknown": ("{% foo a=b %}\n   x\n\n\n# *y*\n{% foo %}\n{% endfoo %}\n{% endfoo %}", "tag", None),
    "unpaired": ("{% endhint %}", "tag", {"source": "{% endhint %}"}),
    "odd code": ("{% code %}\na\n{% endcode %}", "tag", {"tag": "{% code %}", "end": "{% endcode %}"}),
    "expandable": (
        "<details open>\n\n<summary>A &#x26; <strong>b</strong></summary>\n\nx\n\n* y\n\n</details>",
        "expandable",
        {"defaultExpanded": True},
    ),
    "figure": (
        '<figure><img src="a.png" alt="A" width="375"><figcaption><p>C <code>d</code></p></figcaption></figure>',
        "images",
        {},
    ),
    "html": ('<table data-view="cards"><thead></thead></table>', "html", None),
    "math": ("$$\na_b\n$$", "math", {"formula": "a_b"}),
    "heading": ('## T <a href="#my-id" id="my-id"></a>', "heading-2", {"id": "my-id"}),
    "deep heading": ("##### T", "heading-3", {"level": 5}),
    "ordered": ("7. a\n8. b", "list-ordered", {"start": 7}),
    "tasks": ("* [x] a\n* [ ] b", "list-tasks", {}),
    "definition": ('[a b]: https://x.y "t"', "definition", {"label": "a b", "url": "https://x.y", "title": "t"}),
    "table": ("| A   | B _c_ |\n| --- | ----: |\n| d   | `e`   |", "table", None),
}


@pytest.mark.parametrize(("markdown", "type", "data"), EXACT.values(), ids=EXACT)
def test_blocks_have_their_type_and_are_written_as_they_were(markdown: str, type: str, data: Node | None) -> None:
    (node,) = to_document(markdown).nodes
    assert node["type"] == type
    assert data is None or list(node["data"].items()) == list(data.items())
    assert to_markdown(Document(nodes=(node,))) == f"{markdown}\n"


INLINES = {
    "mention": ('[a.md](a.md "mention")', "mention", {"ref": {"kind": "url", "url": "a.md"}, "text": "a.md"}),
    "button": (
        '<a href="a.md" class="button primary" data-icon="i">Go</a>',
        "button",
        {"label": "Go", "kind": "primary", "ref": {"kind": "url", "url": "a.md"}, "icon": "i"},
    ),
    "icon": ('<i class="fa-x" style="color:$primary;">:x:</i>', "icon", {"icon": "x", "color": "$primary"}),
    "emoji": (":wave:", "emoji", {"code": "wave"}),
    "custom emoji": (
        '<span data-gb-custom-inline data-tag="emoji" data-code="1f44b">👋</span>',
        "emoji",
        {"code": "1f44b", "text": "👋"},
    ),
    "expression": ('<code class="expression">space.vars.x</code>', "expression", {"expression": "space.vars.x"}),
    "math": ("$$a_b$$", "inline-math", {"formula": "a_b"}),
    "image": ('![a](b.png "c")', "inline-image", {"ref": {"kind": "url", "url": "b.png"}, "alt": "a", "caption": "c"}),
    "html": ("<u>", "html", {"html": "<u>"}),
}


@pytest.mark.parametrize(("markdown", "type", "data"), INLINES.values(), ids=INLINES)
def test_inlines_have_their_type_and_are_written_as_they_were(markdown: str, type: str, data: Node) -> None:
    page = f"a **{markdown}** b\n"
    (node,) = to_document(page).nodes
    bold = {"object": "mark", "type": "bold"}
    assert node["nodes"][1] == {"object": "inline", "type": type, "isVoid": True, "data": data, "marks": [bold]}
    assert to_markdown(Document(nodes=(node,))) == page


@pytest.mark.parametrize(
    ("markdown", "written"),
    [
        ("__a__ *b*", "**a** _b_"),
        ("a*b*c **d**e", "a*b*c **d**e"),
        ("un*frigging*believable _a_\\_", "un*frigging*believable _a_\\_"),
        ("<kbd>Ctrl</kbd>+<sup>x</sup>", "<kbd>Ctrl</kbd>+<sup>x</sup>"),
        (
            '<mark style="color:red;background-color:blue;">a</mark>',
            '<mark style="color:red;background-color:blue;">a</mark>',
        ),
        ("snake_case 2 * 3 a < b [x] & ~5 $5", "snake_case 2 * 3 a < b \\[x] & ~5 $5"),
        ("1\\. a\n\\- b\n\\# c", "1\\. a - b # c"),
        ("[t][^1]\n\n[^1]: Note", "[t][^1]\n\n[^1]: Note"),
        ("<https://x.y/?a&b>", "[https://x.y/?a&b](https://x.y/?a&b)"),
        ("- a\n- b\n\n* c", "* a\n* b\n\n- c"),
        ("- ***\n- - a", "* ___\n* - a"),
        ("    code", "```\ncode\n```"),
        ("`` a`b `` `` ` ``", "``a`b`` `` ` ``"),
        ("a  \nb&nbsp;c", "a\\\nb&nbsp;c"),
        ("| a |\n|:-|\n| b\\|c | d |", "| a    |\n| :--- |\n| b\\|c |"),
        ("{% hint %} a {% endhint %}", "{% hint %} a {% endhint %}"),
        ("{%hint   style='x'%}\n\na\n\n{%endhint%}", '{% hint style="x" %}\na\n{% endhint %}'),
    ],
)
def test_text_is_escaped_only_where_it_must_be(markdown: str, written: str) -> None:
    assert to_markdown(to_document(markdown)) == f"{written}\n"


@pytest.mark.parametrize(
    ("markdown", "text", "written"),
    [
        ("a\nb", "a b", "a b"),
        ("a  \n  b", "a\nb", "a\\\nb"),
        ("a\\\nb", "a\nb", "a\\\nb"),
        ("a<br>b<br/>c<br />d", "a\nb\nc\nd", "a\\\nb\\\nc\\\nd"),
        ("a\\\n\\\n&#x20;&#x20;- b", "a\n\n  - b", "a\\\n\\\n&#x20;&#x20;- b"),
        ("a<br>", "a\n", "a<br>"),
        ("&#x20;<br>", "\n", "&#x20;<br>"),
        ("a&#10;b", "a b", "a b"),
        ("# a<br>b", "a\nb", "# a<br>b"),
        ("a\\\nb\n===", "a\nb", "# a<br>b"),
        ("| h |\n| - |\n| a<br>b |", "a\nb", "| h      |\n| ------ |\n| a<br>b |"),
    ],
)
def test_a_wrapped_line_is_a_space_and_a_hard_break_a_line_end(markdown: str, text: str, written: str) -> None:
    document = to_document(markdown)
    assert collect_text(document.nodes[0]) == text
    assert to_markdown(document) == f"{written}\n"


@pytest.mark.parametrize(
    "address", ["javascript:x", "JavaScript&#58;x", "<javascript&colon;x>", "&#106;avascript:x", "vbscript\\:x"]
)
def test_an_address_that_runs_something_is_no_link(address: str) -> None:
    read = to_document(f"[a]({address}) [b] [c](../page.md) [d](javascript%3Ax)\n\n[b]: {address}\n")
    assert [ref["url"] for ref in find_references(read.nodes)] == ["../page.md", "javascript%3Ax"]


def test_a_break_beside_the_signs_of_a_mark_stays_in_it() -> None:
    bold = [{"object": "mark", "type": "bold"}]
    parts: list[tuple[str, list[Node]]] = [("x", []), ("\na\n", bold), ("y", [])]
    leaves = [{"object": "leaf", "text": text, "marks": marks} for text, marks in parts]
    nodes = [block("paragraph", {}, [{"object": "text", "leaves": leaves}])]
    assert_comes_back(nodes)
    assert to_markdown(Document(nodes=tuple(nodes))) == "&#x78;**<br>a<br>**&#x79;\n"


def test_words_of_what_is_not_known_can_be_read() -> None:
    mark = {"object": "mark", "type": "tomorrow"}
    leaves = [{"object": "leaf", "text": "new", "marks": [mark]}, {"object": "leaf", "text": "er", "marks": [], "x": 1}]
    aligned = block("paragraph", {"align": "center"}, [{"object": "text", "leaves": leaves}, UNKNOWN_INLINES[0]])
    written = to_markdown(Document(nodes=(aligned,)))
    assert written.startswith('<!--syncd:data {"data":{"align":"center"}}-->\n<span data-syncd-mark=')
    assert ">new</span><span data-syncd-leaf=" in written
    assert ">er</span><span data-syncd=" in written
    assert written.endswith(">no|te</span>\n")


def test_an_empty_paragraph_says_nothing() -> None:
    assert to_markdown(Document(nodes=(block("paragraph", {}, []), *make_document("a").nodes))) == "a\n"
    assert to_markdown(Document()) == ""
    assert to_document(" \n\n").nodes == ()


def test_what_is_nested_without_end_is_written_all_the_same() -> None:
    node = make_document("deep").nodes[0]
    for _ in range(3000):
        node = block("blockquote", {}, [node])
    assert "deep" in to_markdown(Document.model_construct(nodes=(node,)))
