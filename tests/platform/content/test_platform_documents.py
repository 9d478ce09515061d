"""Documents as the product has them: no title among their nodes, references by id, and back to the bytes that were."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import httpx
import pytest

from syncd.layout.richtext.references import find_references
from syncd.platform.services.directory.read import import_directory
from syncd.platform.storage.storage import Storage

Node = dict[str, Any]

REFERRING = """---
icon: star
vars:
  name: a*b
---

# Referring

[page](other.md) [folder](guide/) [without ending](guide/deep) [anchor](guide/deep.md#part) [here](#below)
[home](../README.md) [root](../) [file](<../.gitbook/assets/a b.pdf>) [url](https://example.org/a?b=c#d)
[mail](mailto:a@b.c) [without scheme](//example.org/x) [gone](gone.md#x) [out](../../../x.md) [odd](?q)
[gone page](/broken/pages/p1) [gone anchor](/broken/pages/p1#a)
[elsewhere](/broken/spaces/s1/pages/p1) [gone file](/broken/files/f1)
[mention](other.md "mention") <a href="other.md" class="button primary">Go</a> ![image](../.gitbook/assets/logo.png)

{% content-ref url="other.md" %}
[other.md](other.md)
{% endcontent-ref %}

{% file src="../.gitbook/assets/a b.pdf" %}

{% include "../.gitbook/includes/note.md" %}

{% openapi-operation spec="pets" path="/x" method="get" %}

<figure><img src="../.gitbook/assets/logo.png" alt=""><figcaption></figcaption></figure>

## Below
"""
FILES = {
    "SUMMARY.md": (
        "# Table of contents\n\n* [Home](README.md)\n* [Part](part/README.md)\n  * [Referring](part/referring.md)\n"
        "  * [Other](part/other.md)\n  * [Guide](part/guide/README.md)\n    * [Deep](part/guide/deep.md)\n"
    ),
    "README.md": "# Home\n",
    "part/README.md": "# Part\n",
    "part/referring.md": REFERRING,
    "part/other.md": "# Another heading\n\nWrapped\nwords.\n",
    "part/guide/README.md": "# Guide\n",
    "part/guide/deep.md": "# Deep\n\n## Part\n",
    ".gitbook/assets/logo.png": "png",
    ".gitbook/assets/a b.pdf": "pdf",
    ".gitbook/includes/note.md": (
        "---\ntitle: Note\n---\n\n# Of the note\n\n[other](../../part/other.md) [own](#of-the-note)\n"
    ),
    ".gitbook/vars.yaml": "version: '1.0'\nbeta: true\ncount: 3\n",
}


class Docs:
    """A space that was imported, and a change request of it."""

    def __init__(self, http: httpx.Client, space: str) -> None:
        self.http, self.space = http, space
        request = http.post(f"/v1/spaces/{space}/change-requests", json={}).json()
        self.request = f"/v1/spaces/{space}/change-requests/{request['id']}"
        revision = self.get(f"/v1/spaces/{space}/content")
        self.files = {file["name"]: file["id"] for file in revision["files"]}
        self.note = revision["reusableContents"][0]["id"] if revision["reusableContents"] else ""
        self.pages: dict[str, str] = {}
        self._note(revision["pages"])

    def _note(self, pages: list[Node]) -> None:
        for page in pages:
            self.pages[page.get("path", "")] = page["id"]
            self._note(page["pages"])

    def get(self, path: str, **query: Any) -> Node:
        answer = self.http.get(path, params=query)
        assert answer.status_code == 200, answer.text
        found: Node = answer.json()
        return found

    def page(self, path: str, at: str = "", **query: Any) -> Node:
        return self.get(f"{at or f'/v1/spaces/{self.space}'}/content/page/{self.pages[path]}", **query)

    def nodes(self, path: str, at: str = "", **query: Any) -> list[Node]:
        nodes: list[Node] = self.page(path, at, format="document", **query)["document"]["nodes"]
        return nodes

    def broken(self, path: str) -> set[str]:
        """The addresses of a page that the links of the page tell to be broken."""
        links = f"/v1/spaces/{self.space}/content/page/{self.pages[path]}/links"
        items = self.get(links, status="broken", limit=1000)["items"]
        return {item["targetReference"]["url"] for item in items}

    def markdown(self, path: str) -> str:
        return str(self.page(path, self.request, format="markdown")["markdown"])

    def write(self, **change: Any) -> Node:
        change.setdefault("operation", "update_page")
        answer = self.http.post(f"{self.request}/content", json={"changes": [change]}, params={"compat": False})
        assert answer.status_code == 200, answer.text
        found: Node = answer.json()["changes"][0]
        return found

    def update(self, path: str, nodes: list[Node], **members: Any) -> None:
        document = {"object": "document", "data": {}, "nodes": nodes}
        self.write(page=self.pages[path], document={"document": document}, **members)


@pytest.fixture
def planted(http: httpx.Client, storage: Storage, tmp_path: Path) -> Callable[[dict[str, str]], Docs]:
    """Imports files as a space."""

    def plant(files: dict[str, str]) -> Docs:
        directory = tmp_path / f"docs-{len(list(tmp_path.iterdir()))}"
        for name, text in files.items():
            file = directory / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())
        return Docs(http, import_directory(storage, directory).space)

    return plant


@pytest.fixture
def docs(planted: Callable[[dict[str, str]], Docs]) -> Docs:
    return planted(FILES)


def words_of(nodes: list[Node]) -> list[str]:
    return [leaf["text"] for node in nodes for text in node.get("nodes", ()) for leaf in text.get("leaves", ())]


def links_of(nodes: list[Node]) -> dict[str, Node]:
    """The references of links by their words."""
    inlines = [inline for node in nodes for inline in node.get("nodes", ()) if inline.get("type") == "link"]
    return {inline["nodes"][0]["leaves"][0]["text"]: inline["data"]["ref"] for inline in inlines}


TITLES = {
    "a title": ("# T\n\nText.\n", ["paragraph"]),
    "another title than the page's": ("# Not the page's\n\nText.\n", ["paragraph"]),
    "underlined": ("T\n=\n\nText.\n", ["paragraph"]),
    "over two lines": ("One\ntwo\n===\nText.\n", ["paragraph"]),
    "behind frontmatter and a comment": ("---\nicon: x\n---\n\n<!-- a\n\nb -->\n# T\n\nText.\n", ["paragraph"]),
    "behind a mark of the byte order": ("\ufeff# T\r\n\r\nText.\r\n", ["paragraph"]),
    "two of level 1": ("# T\n\n# U\n\nText.\n", ["heading-1", "paragraph"]),
    "the same twice": ("# T\n\n# T\n", ["heading-1"]),
    "none": ("Text.\n", ["paragraph"]),
    "of level 2": ("## T\n\nText.\n", ["heading-2", "paragraph"]),
    "not at the beginning": ("Text.\n\n# T\n", ["paragraph", "heading-1"]),
    "in a list": ("* # T\n", ["list-unordered"]),
    "no heading": ("1. a\n===\n", ["list-ordered"]),
    "nothing else": ("# T", []),
    "nothing": ("", []),
}


@pytest.mark.parametrize(("text", "types"), TITLES.values(), ids=TITLES)
def test_the_heading_that_begins_a_page_is_no_node(
    planted: Callable[[dict[str, str]], Docs], text: str, types: list[str]
) -> None:
    docs = planted({"SUMMARY.md": "* [Home](README.md)\n* [The title](t.md)\n", "README.md": "# Home\n", "t.md": text})
    nodes = docs.nodes("t")
    assert [node["type"] for node in nodes] == types
    assert docs.page("t")["title"] == "The title"
    assert docs.page("t", format="markdown")["markdown"] == text
    # What is read and written back is what was there, byte for byte.
    docs.update("t", nodes)
    assert docs.markdown("t") == text


def test_a_title_stands_above_what_a_document_says(docs: Docs) -> None:
    docs.update("part/other", [block("paragraph", "New.")])
    assert docs.markdown("part/other") == "# Another heading\n\nNew.\n"
    docs.update("part/other", [block("heading-1", "Another heading"), block("paragraph", "Twice.")])
    assert docs.markdown("part/other") == "# Another heading\n\nTwice.\n"
    docs.update("part/other", [block("heading-1", "Other"), block("heading-1", "More")])
    assert docs.markdown("part/other") == "# Another heading\n\n# More\n"
    docs.update("part/other", [], title="Renamed")
    assert docs.markdown("part/other") == "# Another heading\n\n"
    docs.update("", [block("paragraph", "New.")], title="Start")
    assert docs.markdown("") == "# Start\n\nNew.\n"


def test_a_page_without_a_heading_gets_one_only_where_it_would_lose_one(docs: Docs) -> None:
    docs.write(page=docs.pages["part/other"], document={"markdown": "Text.\n"})
    docs.update("part/other", [block("paragraph", "New.")])
    assert docs.markdown("part/other") == "New.\n"
    docs.update("part/other", [block("heading-1", "A part"), block("paragraph", "New.")])
    assert docs.markdown("part/other") == "# Other\n\n# A part\n\nNew.\n"


def test_a_new_page_takes_its_title_from_the_operation_or_its_first_heading(docs: Docs) -> None:
    document = {
        "document": {"object": "document", "data": {}, "nodes": [block("heading-1", "A"), block("heading-1", "B")]}
    }
    for members, title, text, types in (
        ({"title": "T"}, "T", "# T\n\n# A\n\n# B\n", ["heading-1", "heading-1"]),
        ({}, "A", "# A\n\n# B\n", ["heading-1"]),
    ):
        made = docs.write(operation="insert_page", document=document, **members)["page"]["id"]
        page = docs.get(f"{docs.request}/content/page/{made}", format="markdown")
        assert (page["title"], page["markdown"]) == (title, text)
        shown = docs.get(f"{docs.request}/content/page/{made}", format="document")["document"]
        assert [node["type"] for node in shown["nodes"]] == types


def test_what_a_document_leaves_alone_keeps_the_form_that_its_writer_gave_it(docs: Docs) -> None:
    text = "# T\n\nA wrapped\nline of *words*.\n\n- one\n- two [x](guide/)\n\n[r]: guide/deep.md\n\nSee [r].\n\nLast.\n"
    docs.write(page=docs.pages["part/other"], document={"markdown": text})
    nodes = docs.nodes("part/other", docs.request)
    assert words_of(nodes[:1]) == ["A wrapped line of ", "words", "."]
    docs.update("part/other", [*nodes[:-1], block("paragraph", "Changed.")])
    assert docs.markdown("part/other") == text.replace("Last.", "Changed.")
    docs.update("part/other", [*nodes, block("paragraph", "More.")])
    assert docs.markdown("part/other") == text + "\nMore.\n"


def test_a_page_that_is_too_large_for_nodes_comes_back_below_its_title(docs: Docs) -> None:
    text = f"# T\n\n{'| a ' * 300}|\n{'| - ' * 300}|\n"
    docs.write(page=docs.pages["part/other"], document={"markdown": text})
    (node,) = docs.nodes("part/other", docs.request)
    assert node["data"]["syntax"] == "markdown"
    docs.update("part/other", [node])
    assert docs.markdown("part/other") == text


def test_references_name_what_they_lead_to(docs: Docs) -> None:
    nodes = docs.nodes("part/referring")
    page, file = docs.pages, docs.files
    app = docs.get(f"/v1/spaces/{docs.space}")["urls"]["app"]
    other, logo = {"kind": "page", "page": page["part/other"]}, {"kind": "file", "file": file["logo.png"]}

    def lost(address: str) -> Node:
        return {"kind": "url", "url": f"{app}/~/broken?address={quote(address, safe='')}"}

    assert links_of(nodes) == {
        "page": other,
        "folder": {"kind": "page", "page": page["part/guide"]},
        "without ending": {"kind": "page", "page": page["part/guide/deep"]},
        "anchor": {"kind": "anchor", "anchor": "part", "page": page["part/guide/deep"]},
        "here": {"kind": "anchor", "anchor": "below", "page": page["part/referring"]},
        "home": {"kind": "page", "page": page[""]},
        "root": {"kind": "page", "page": page[""]},
        "file": {"kind": "file", "file": file["a b.pdf"]},
        "url": {"kind": "url", "url": "https://example.org/a?b=c#d"},
        "mail": {"kind": "url", "url": "mailto:a@b.c"},
        "without scheme": {"kind": "url", "url": "https://example.org/x"},
        "gone": lost("gone.md#x"),
        "out": lost("../../../x.md"),
        "odd": lost("?q"),
        "gone page": {"kind": "page", "page": "p1"},
        "gone anchor": {"kind": "anchor", "anchor": "a", "page": "p1"},
        "elsewhere": {"kind": "page", "page": "p1", "space": "s1"},
        "gone file": {"kind": "file", "file": "f1"},
    }
    void = {node["type"]: node["data"]["ref"] for node in (*nodes[0]["nodes"], *nodes) if "ref" in node.get("data", {})}
    assert void["mention"] == void["button"] == void["content-ref"] == other
    assert void["inline-image"] == nodes[-2]["nodes"][0]["data"]["ref"] == logo
    assert void["file"] == {"kind": "file", "file": file["a b.pdf"]}
    assert void["reusable-content"] == {"kind": "reusable-content", "reusableContent": docs.note}
    assert void["openapi-operation"] == {"kind": "openapi", "spec": "pets"}


CARDS = (
    '<table data-view="cards"><thead><tr><th></th><th data-hidden data-card-target data-type="content-ref"></th>'
    '<th data-hidden data-card-cover data-type="image"></th><th data-type="files"></th></tr></thead><tbody>'
    '<tr><td><a href="guide/deep.md">Deep</a></td><td><a href="guide/deep.md#part">#part</a></td>'
    '<td data-object-fit="contain"><a href="../.gitbook/assets/logo.png">logo.png</a></td>'
    '<td><a href="../.gitbook/assets/a b.pdf">a b.pdf</a><a href="https://example.org/c.pdf">C</a></td></tr>'
    '<tr><td>x</td><td><a href="gone.md">gone.md</a></td><td></td><td><a href="gone.pdf">gone.pdf</a></td></tr>'
    "</tbody></table>"
)
FIGURE = (
    '<div data-with-frame="true"><figure><a href="other.md"><picture>'
    '<source srcset="../.gitbook/assets/logo.png" media="(prefers-color-scheme: dark)">'
    '<img src="../.gitbook/assets/logo.png" alt=""></picture></a>'
    '<figcaption><p>See <a href="#part">here</a></p></figcaption></figure></div>'
)


def test_cards_and_figures_refer_to_pages_and_files(docs: Docs) -> None:
    text = f"# Another heading\n\n{CARDS}\n\n{FIGURE}\n\nLast.\n"
    docs.write(page=docs.pages["part/other"], document={"markdown": text})
    table, images, _ = nodes = docs.nodes("part/other", docs.request)
    deep, logo, book = docs.pages["part/guide/deep"], docs.files["logo.png"], docs.files["a b.pdf"]
    first, second = (record["values"] for record in table["data"]["records"].values())
    assert first["c1"] == {"kind": "anchor", "page": deep, "anchor": "part"}
    assert first["c2"] == {"ref": {"kind": "file", "file": logo}, "objectFit": "contain"}
    assert first["c3"] == [book, "https://example.org/c.pdf"]
    assert lost_in([second["c1"]["url"], *second["c3"]]) == {"gone.md", "gone.pdf"}
    assert links_of(table["fragments"][0]["nodes"]) == {"Deep": {"kind": "page", "page": deep}}
    (image,) = images["nodes"]
    assert image["data"]["ref"] == image["data"]["refDark"] == {"kind": "file", "file": logo}
    assert image["data"]["link"] == {"kind": "page", "page": docs.pages["part/other"]}
    docs.update("part/other", [*nodes[:-1], block("paragraph", "Changed.")])
    assert docs.markdown("part/other") == text.replace("Last.", "Changed.")
    first["c1"], first["c3"] = {"kind": "page", "page": docs.pages["part/referring"]}, [logo]
    docs.update("part/other", nodes)
    changed = CARDS.replace('"guide/deep.md#part">#part', '"referring.md">referring.md')
    start, end = changed.index('<a href="../.gitbook/assets/a b.pdf">'), changed.index("</td></tr><tr>")
    changed = f'{changed[:start]}<a href="../.gitbook/assets/logo.png">logo.png</a>{changed[end:]}'
    assert docs.markdown("part/other") == text.replace(CARDS, changed)


def test_references_are_those_of_the_revision_that_is_read(docs: Docs) -> None:
    revision = docs.get(f"/v1/spaces/{docs.space}")["revision"]
    docs.write(operation="delete_page", page=docs.pages["part/other"])
    docs.update("part/guide/deep", [])
    main, changed = (links_of(docs.nodes("part/referring", at))["page"]["kind"] for at in ("", docs.request))
    assert (main, changed) == ("page", "url")
    docs.http.post(f"{docs.request}/merge").raise_for_status()
    assert links_of(docs.nodes("part/referring"))["page"]["kind"] == "url"
    past = docs.get(
        f"/v1/spaces/{docs.space}/revisions/{revision}/page/{docs.pages['part/referring']}", format="document"
    )
    assert links_of(past["document"]["nodes"])["page"] == {"kind": "page", "page": docs.pages["part/other"]}


def test_references_become_addresses_again(docs: Docs) -> None:
    nodes = docs.nodes("part/referring")
    docs.update("part/guide/deep", nodes)
    text = docs.markdown("part/guide/deep")
    for said in (
        *("[page](../other.md)", "[folder](README.md)", "[anchor](deep.md#part)", "[here](../referring.md#below)"),
        *("[home](../../README.md)", "[file](<../../.gitbook/assets/a b.pdf>)", "[mail](mailto:a@b.c)"),
        *("[gone](gone.md#x)", "[out](../../../x.md)", "[odd](?q)", "[gone page](/broken/pages/p1)"),
        *("[gone file](/broken/files/f1)", '[mention](../other.md "mention")', '<a href="../other.md" class="button'),
        *("![image](../../.gitbook/assets/logo.png)", '{% include "../../.gitbook/includes/note.md" %}'),
        *('{% openapi-operation spec="pets"', '<img src="../../.gitbook/assets/logo.png" alt="">'),
    ):
        assert said in text
    assert "syncd" not in text
    gone = {"kind": "page", "page": "p1", "space": "s1"}
    address = {"kind": "url", "url": "https://app.gitbook.com/s/s1/p1"}
    again = list(find_references(docs.nodes("part/guide/deep", docs.request)))
    assert again == [address if ref == gone else ref for ref in find_references(nodes)]
    # Written where it was read, all of it keeps the bytes that it had.
    docs.update("part/referring", nodes)
    assert docs.markdown("part/referring") == REFERRING


def test_addresses_of_other_spaces_are_references_for_those_who_may_read_them(
    docs: Docs, planted: Callable[[dict[str, str]], Docs], http: httpx.Client
) -> None:
    other = planted({"SUMMARY.md": "* [Home](README.md)\n* [A page](a.md)\n", "README.md": "# Home\n", "a.md": "# A\n"})
    app = other.get(f"/v1/spaces/{other.space}")["urls"]["app"]
    product, page = f"https://app.gitbook.com/s/{other.space}", other.pages["a"]
    own = docs.get(f"/v1/spaces/{docs.space}")["urls"]["app"]
    addresses = {
        app: {"kind": "space", "space": other.space},
        f"{product}/": {"kind": "space", "space": other.space},
        f"{app}/a": {"kind": "page", "page": page, "space": other.space},
        f"{product}/{page}": {"kind": "page", "page": page, "space": other.space},
        f"{product}/A#b": {"kind": "anchor", "anchor": "b", "page": page, "space": other.space},
        f"{product}/gone": {"kind": "url", "url": f"{product}/gone"},
        "https://app.gitbook.com/s/elsewhere/a": {"kind": "url", "url": "https://app.gitbook.com/s/elsewhere/a"},
        f"{own}/part/other": {"kind": "page", "page": docs.pages["part/other"]},
    }
    text = "".join(f"[{number}]({address})\n" for number, address in enumerate(addresses))
    docs.write(page=docs.pages[""], document={"markdown": text})
    nodes = docs.nodes("", docs.request)
    assert list(links_of(nodes).values()) == list(addresses.values())
    docs.update("part/other", nodes)
    assert list(links_of(docs.nodes("part/other", docs.request)).values()) == list(addresses.values())
    http.delete(f"/v1/spaces/{other.space}").raise_for_status()
    assert {ref["kind"] for ref in links_of(docs.nodes("", docs.request)).values()} == {"url", "page"}


def test_what_is_included_can_be_put_in(docs: Docs) -> None:
    plain, expanded = docs.nodes("part/referring"), docs.nodes("part/referring", dereferenced="reusable-contents")
    types = [node["type"] for node in plain]
    at = types.index("reusable-content")
    assert [node["type"] for node in expanded] == [*types[:at], "heading-1", "paragraph", *types[at + 1 :]]
    assert links_of(expanded[at : at + 2]) == {
        "other": {"kind": "page", "page": docs.pages["part/other"]},
        "own": {"kind": "anchor", "anchor": "of-the-note"},
    }
    assert len({node["key"] for node in expanded}) == len(expanded)
    reusable = f"/v1/spaces/{docs.space}/content/reusable-contents/{docs.note}"
    assert [node["type"] for node in docs.get(reusable, format="document")["document"]["nodes"]] == types_of_note


types_of_note = ["heading-1", "paragraph"]


def test_targets_come_along_when_all_is_dereferenced(docs: Docs) -> None:
    document = docs.page("part/referring", format="document", dereferenced="true")["document"]
    assert [node["type"] for node in document["nodes"]] == [
        node["type"] for node in docs.nodes("part/referring", dereferenced="reusable-contents")
    ]
    targets = {str(target["ref"]): target for target in document["meta"]["targets"]}
    other = targets[str({"kind": "page", "page": docs.pages["part/other"]})]["page"]
    assert (other["title"], other["path"], "pages" in other) == ("Other", "part/other", False)
    file = targets[str({"kind": "file", "file": docs.files["a b.pdf"]})]["file"]
    assert httpx.get(file["downloadURL"], trust_env=False, timeout=30).content == b"pdf"
    assert "meta" not in docs.page("part/referring", format="document")["document"]


EVALUATED = """---
vars:
  name: a*b
---

# E

**v<code class="expression">space.vars.version</code>** {{ page.vars.name }} `{{ page.vars.name }}` {{ page.vars.none }}
<code class="expression">space.vars.count</code> <code class="expression">space.vars.beta && page.vars.name</code>
<code class="expression">visitor.claims.x</code> <code class="expression">space.vars.none</code>

{% if space.vars.version == "1.0" %}
Shown.

{% if !space.vars.beta %}
Not at all.
{% endif %}
{% endif %}

{% if page.vars.name === "c" || false && visitor.claims.x %}
Hidden.
{% endif %}

{% if visitor.claims.x %}
Perhaps.
{% endif %}

```
{% if space.vars.beta %}
{{ page.vars.name }}
{% endif %}
```
"""


@pytest.mark.parametrize("evaluated", ["true", "deterministic-only"])
def test_what_does_not_depend_on_a_visitor_is_evaluated(docs: Docs, evaluated: str) -> None:
    docs.write(page=docs.pages["part/other"], document={"markdown": EVALUATED})
    first, shown, perhaps, code = docs.nodes("part/other", docs.request, evaluated=evaluated)
    assert words_of([first]) == [
        *("v", "1.0", " a*b ", "{{ page.vars.name }}", " {{ page.vars.none }} ", "3", " ", "a*b", " ", " ")
    ]
    assert first["nodes"][1]["leaves"][0]["marks"] == [{"object": "mark", "type": "bold"}]
    kept = [node["data"]["expression"] for node in first["nodes"] if node.get("type") == "expression"]
    assert kept == ["visitor.claims.x", "space.vars.none"]
    assert words_of([shown]) == ["Shown."]
    assert (perhaps["type"], perhaps["data"]) == ("if", {"expression": "visitor.claims.x"})
    assert words_of(code["nodes"]) == ["{% if space.vars.beta %}", "{{ page.vars.name }}", "{% endif %}"]
    text = docs.page("part/other", docs.request, format="markdown", evaluated=evaluated)["markdown"]
    assert "**v1.0** a\\*b `a\\*b` {{ page.vars.none }}\n3 a\\*b\n<code" in text
    assert "Shown.\n\n\n\n{% if visitor.claims.x %}\nPerhaps.\n{% endif %}\n" in text
    assert not {"Hidden.", "Not at all."} & set(text.split("\n"))
    assert "```\n{% if space.vars.beta %}\n{{ page.vars.name }}\n{% endif %}\n```\n" in text


HOLES = """# Holes

{% hint style="info" %}
{% endhint %}

* a
*

{% prompt description="Ask" %}
Read [this](other.md).

```python
print(1)
```
{% endprompt %}

{% prompt description="None" %}
{% endprompt %}

{% prompt description="Code" %}
```python
print(1)
```
{% endprompt %}
"""


def test_blocks_have_the_nodes_that_the_api_requires(docs: Docs) -> None:
    docs.write(page=docs.pages["part/other"], document={"markdown": HOLES})
    hint, items, ask, empty, code = docs.nodes("part/other", docs.request)
    for holder in (hint, items["nodes"][1]):
        (paragraph,) = holder["nodes"]
        assert (paragraph["type"], paragraph["nodes"][0]["leaves"][0]["text"]) == ("paragraph", "")
    said = [[line["nodes"][0]["leaves"][0]["text"] for line in one["nodes"][0]["nodes"]] for one in (ask, empty, code)]
    assert said == [["Read [this](other.md).", "", "```python", "print(1)", "```"], [""], ["print(1)"]]
    assert [one["nodes"][0]["data"] for one in (ask, code)] == [{"blocks": True}, {"syntax": "python"}]
    document = docs.page("part/other", docs.request, format="document")["document"]
    docs.write(page=docs.pages["part/other"], document={"document": document})
    assert docs.markdown("part/other") == HOLES
    ask = document["nodes"][2]
    ask["nodes"][0]["nodes"][0]["nodes"][0]["leaves"][0]["text"] = "Read [that](other.md)."
    docs.write(page=docs.pages["part/other"], document={"document": document})
    assert docs.markdown("part/other") == HOLES.replace("[this]", "[that]")


def test_a_document_can_be_read_by_its_id_as_its_page_shows_it(docs: Docs) -> None:
    page = docs.page("part/referring", format="document")
    assert docs.get(f"/v1/spaces/{docs.space}/documents/{page['documentId']}") == page["document"]
    docs.write(page=docs.pages["part/referring"], document={"markdown": "# New\n\n[here](other.md)\n"})
    changed = docs.page("part/referring", docs.request, format="document")
    assert docs.get(f"/v1/spaces/{docs.space}/documents/{changed['documentId']}") == changed["document"]


def test_a_comment_is_about_a_node_of_the_document(docs: Docs) -> None:
    page = docs.pages["part/referring"]
    key = docs.nodes("part/referring", docs.request)[0]["key"]
    body = {"page": page, "node": key, "body": {"markdown": "Hm."}}
    assert docs.http.post(f"{docs.request}/comments", json=body).status_code == 200


@pytest.mark.long
@pytest.mark.parametrize("part", range(12))
def test_real_pages_have_no_title_and_no_relative_address(
    http: httpx.Client, storage: Storage, corpora: Path | None, part: int
) -> None:
    for summary in sorted(corpora.rglob("SUMMARY.md") if corpora else ())[part::12]:
        docs = Docs(http, import_directory(storage, summary.parent).space)
        pages = {path: docs.page(path, format="markdown") for path in docs.pages}
        texts = {path: page["markdown"] for path, page in pages.items() if page["type"] == "document"}
        shown: dict[str, list[Node]] = {}
        for path, text in texts.items():
            nodes = shown[path] = docs.nodes(path)
            assert not nodes or nodes[0]["type"] != "heading-1" or "\n# " in text.lstrip("# ")
            urls = [ref["url"] for ref in find_references(nodes) if ref["kind"] == "url"]
            assert all(urlsplit(url).scheme for url in urls), path
            assert lost_in(urls) <= docs.broken(path), path
        update_all(docs, shown)
        assert {path: docs.markdown(path) for path in texts} == texts
        texts = {path: text for path, text in texts.items() if "\n<" in text}
        update_all(docs, {path: [*shown[path], block("paragraph", "More.")] for path in texts})
        more = {path: docs.markdown(path).rstrip("\n") for path in texts}
        assert more == {path: "\n\n".join([text.rstrip("\n"), "More."]) for path, text in texts.items()}


def update_all(docs: Docs, pages: dict[str, list[Node]]) -> None:
    documents = {path: {"object": "document", "data": {}, "nodes": nodes} for path, nodes in pages.items()}
    changes = [
        {"operation": "update_page", "page": docs.pages[path], "document": {"document": document}}
        for path, document in documents.items()
    ]
    for at in range(0, len(changes), 10):
        docs.http.post(f"{docs.request}/content", json={"changes": changes[at : at + 10]}).raise_for_status()


def lost_in(urls: list[str]) -> set[str]:
    """The addresses as written, of references that lead nowhere."""
    return {unquote(url.partition("/~/broken?address=")[2]) for url in urls if "/~/broken?" in url}


def block(type: str, text: str) -> Node:
    words = {"object": "text", "leaves": [{"object": "leaf", "text": text, "marks": []}]}
    return {"object": "block", "type": type, "isVoid": False, "data": {}, "nodes": [words]}
