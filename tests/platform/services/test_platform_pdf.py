"""PDFs: real files, made of the platform's own content only, for whoever has the address, for a while."""

import json
import re
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fpdf import FPDF
from fpdf.fonts import TTFFont
from PIL import Image

from syncd.platform.services.directory.read import import_directory
from syncd.platform.services.pdf import fonts
from syncd.platform.services.pdf.fonts import BOX, Fonts
from syncd.platform.services.pdf.layout import PdfLayout
from syncd.platform.services.pdf.worker import JOB
from syncd.platform.storage.storage import Storage
from tests import without_priority

TABLE = (
    '<table><thead><tr><th data-type="checkbox">Ready</th><th>State<select><option value="o1" label="Finished" '
    'color="blue"></option></select></th><th data-type="content-ref">See</th><th data-type="files">Files</th></tr>'
    '</thead><tbody><tr><td>true</td><td><span data-option="o1">Finished</span></td><td><a href="next.md">next.md</a>'
    '</td><td><a href=".gitbook/assets/bad.png">bad.png</a></td></tr></tbody></table>\n'
)


@pytest.fixture
def space(storage: Storage, server: tuple[str, str], tmp_path: Path) -> str:
    docs = tmp_path / "docs"
    (docs / ".gitbook" / "assets").mkdir(parents=True)
    Image.new("RGB", (30, 20), (200, 30, 30)).save(docs / ".gitbook" / "assets" / "logo.png")
    (docs / ".gitbook" / "assets" / "bad.png").write_bytes(b"\x89PNG nothing of the kind")
    (docs / "README.md").write_text(
        "# Home\n\nHello **bold** [next](next.md) and [far](https://example.org/far).\n\n![Logo](.gitbook/assets/logo.png)\n\n"
        "![Bad picture](.gitbook/assets/bad.png)\n\n![Elsewhere](http://127.0.0.1:1/x.png)\n\n"
        "| A | B |\n| --- | --- |\n| celled | two |\n\n* one\n  * inner\n\n```py\nprint(1)\n```\n"
    )
    (docs / "next.md").write_text(f"# Next\n\nMore words.\n\n{TABLE}")
    return import_directory(storage, docs, title="Docs").space


def texts(data: bytes) -> str:
    """What a PDF with the built-in fonts writes, as far as that is plain."""
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", data, re.DOTALL)
    found = []
    for stream in streams:
        try:
            found.append(zlib.decompress(stream))
        except zlib.error:
            continue
    return b" ".join(re.findall(rb"\(((?:[^()\\]|\\.)*)\)", b"\n".join(found))).decode("latin-1")


def fetched(http: httpx.Client, path: str, **query: Any) -> bytes:
    answer = http.get(path, params=query)
    assert answer.status_code == 200, answer.text
    download = httpx.get(answer.json()["url"], trust_env=False, timeout=60)
    assert (download.status_code, download.headers["content-type"]) == (200, "application/pdf"), download.text
    return download.content


@pytest.mark.long
def test_a_space_becomes_a_document_that_can_be_read(http: httpx.Client, space: str) -> None:
    data = fetched(http, f"/v1/spaces/{space}/pdf")
    assert data.startswith(b"%PDF-")
    written = texts(data)
    for words in ("Home", "bold", "celled", "inner", "print(1)".replace("(", "\\(").replace(")", "\\)"), "Bad picture"):
        assert words in written, words
    assert b"https://example.org/far" in data
    assert b"/Subtype /Image" in data
    assert b"127.0.0.1" not in data
    next_page = http.get(f"/v1/spaces/{space}/content/path/next").json()["id"]
    only = texts(fetched(http, f"/v1/spaces/{space}/pdf", page=next_page, only=True))
    for words in ("More words", "[x]", "Finished", "bad.png"):
        assert words in only, words
    assert only.count("Next") == 2, "a title, and the name of what a cell refers to"
    assert "o1" not in only
    assert "Home" not in only


def test_captions_dates_diagrams_and_what_leads_nowhere_are_written(
    http: httpx.Client, storage: Storage, tmp_path: Path
) -> None:
    docs = tmp_path / "more"
    (docs / ".gitbook" / "assets").mkdir(parents=True)
    Image.new("RGB", (30, 20), (200, 30, 30)).save(docs / ".gitbook" / "assets" / "logo.png")
    (docs / "README.md").write_text(
        '# Home\n\n<figure><img src=".gitbook/assets/logo.png" alt="Alt"><figcaption><p>Captioned</p></figcaption>'
        '</figure>\n\n{% updates %}\n{% update date="2026-01-02" %}\nNews.\n{% endupdate %}\n{% endupdates %}\n\n'
        '{% @mermaid/diagram content="graph TD" %}\n\n{% file src="no.pdf" %}\n\n{% include "no.md" %}\n'
    )
    space = import_directory(storage, docs, title="Docs").space
    data = fetched(http, f"/v1/spaces/{space}/pdf")
    for words in ("Captioned", "2026-01-02", "graph TD", "no.pdf", "no.md"):
        assert words in texts(data), words
    assert "broken" not in texts(data)


def test_html_unknown_blocks_embeds_and_links_in_cells_are_written(
    http: httpx.Client, storage: Storage, tmp_path: Path
) -> None:
    docs = tmp_path / "rest"
    docs.mkdir()
    (docs / "README.md").write_text(
        "# Home\n\n<table><tr><td>plain</td><td rowspan=2>HTML</td></tr><tr><td>of &amp; writer</td></tr></table>\n\n"
        "<style>p { color: hidden }</style>\n\n{% unknown a=1 %}\nwords\n{% endunknown %}\n\n"
        '{% embed url="https://example.org/film" %}\nA caption\n{% endembed %}\n\n'
        '{% code title="app.py" %}\n```py\nx\n```\n{% endcode %}\n\n'
        "| A | B |\n| --- | --- |\n| [in a cell](https://example.org/cell) | two |\n\n"
        '<table data-view="cards"><thead><tr><th></th><th></th><th data-hidden data-card-target '
        'data-type="content-ref"></th></tr></thead><tbody><tr><td></td><td>Carded</td><td>'
        '<a href="https://example.org/card">card</a></td></tr></tbody></table>\n'
    )
    data = fetched(http, f"/v1/spaces/{import_directory(storage, docs, title='Docs').space}/pdf")
    written = texts(data)
    for words in ("plain  HTML", "of & writer", "{% unknown a=1 %}", "https://example.org/film", "A caption", "app.py"):
        assert words in written, words
    assert "hidden" not in written
    assert b"(https://example.org/film)" in data
    assert b"(https://example.org/cell)" in data
    assert b"(https://example.org/card)" in data


def test_an_address_that_was_changed_is_refused(http: httpx.Client, space: str) -> None:
    url = httpx.URL(http.get(f"/v1/spaces/{space}/pdf").json()["url"])
    for changed in ({"page": "other"}, {"expires": "99999999999"}, {"signature": "0"}, {"only": "true"}):
        assert httpx.get(url.copy_merge_params(changed), trust_env=False, timeout=30).status_code == 403
    assert http.get(f"/v1/spaces/{space}/pdf?page=nothing").status_code == 404
    assert http.get(f"/v1/spaces/{space}/pdf?only=true").status_code == 400


def text(written: str) -> dict[str, Any]:
    return {"object": "text", "leaves": [{"object": "leaf", "text": written}]}


def test_whatever_a_document_holds_it_is_laid_out(tmp_path: Path) -> None:
    deep: dict[str, Any] = {"object": "block", "type": "paragraph", "nodes": []}
    for _ in range(80):
        item = {"object": "block", "type": "list-item", "nodes": [deep]}
        deep = {"object": "block", "type": "list-unordered", "data": {}, "nodes": [item]}
    strange: list[dict[str, Any]] = [
        {"object": "block", "type": "never heard of", "data": {"title": "Known", "ref": {"kind": "url", "url": "x"}}},
        {"object": "block", "type": "table", "data": {"records": {}, "definition": {}}},
        {"object": "block", "type": "image", "data": {"ref": {"kind": "file"}}},
        {"object": "block", "type": "code", "nodes": [text("x" * 9000)]},
        {"object": "block", "type": "heading-1", "nodes": [text("\x00\u202e漢字")]},
    ]
    page = {"part": 0, "id": "a", "title": "", "depth": 9, "nodes": [deep, *strange], "files": {}}
    assert PdfLayout(json.loads(json.dumps({"title": "T", "pages": [page]})), tmp_path).draw().startswith(b"%PDF-")
    assert PdfLayout({"title": "", "pages": []}, tmp_path).draw().startswith(b"%PDF-")


def draw(tmp_path: Path, *nodes: dict[str, Any]) -> bytes:
    page = {"part": 0, "id": "a", "title": "T", "depth": 0, "nodes": list(nodes), "files": {}}
    return PdfLayout({"title": "T", "pages": [page]}, tmp_path).draw()


def test_no_word_is_broken_where_its_looks_change(tmp_path: Path) -> None:
    code = {"object": "leaf", "text": "unbroken", "marks": [{"type": "code"}]}
    nodes = [
        {
            "object": "block",
            "type": "paragraph",
            "nodes": [text("x" * length + " ("), {"object": "text", "leaves": [code]}],
        }
        for length in range(50, 90)
    ]
    assert texts(draw(tmp_path, *nodes)).split().count("unbroken") == len(nodes)


def test_signs_beside_words_are_left_out_and_buttons_lead_where_they_do(tmp_path: Path) -> None:
    icon = {"object": "inline", "type": "icon", "data": {"icon": "compass"}}
    buttons = [
        {
            "object": "inline",
            "type": "button",
            "data": {"label": name, "ref": {"kind": "url", "url": f"https://e.org/{name}"}},
        }
        for name in ("First", "Second")
    ]
    nodes = [
        {"object": "block", "type": "heading-2", "nodes": [icon, text(" Guides")]},
        {"object": "block", "type": "paragraph", "nodes": [{**icon, "data": {"icon": "alone"}}]},
        {"object": "block", "type": "paragraph", "nodes": buttons},
    ]
    data = draw(tmp_path, *nodes)
    assert texts(data).split() == ["T", "Guides", "alone", "First", "Second", "1"]
    assert b"(https://e.org/First)" in data
    assert b"(https://e.org/Second)" in data


def test_a_column_is_as_wide_as_its_words_need(tmp_path: Path) -> None:
    long = "so many words that an even share of the sheet is too little for them all"
    names = ("a", "b", "c", "d")
    table = {
        "object": "block",
        "type": "table",
        "data": {
            "definition": {name: {"title": name, "textAlignment": "right"} for name in names},
            "records": {"r": {"values": dict.fromkeys(names, "1") | {"c": long}}},
        },
    }
    assert long in texts(draw(tmp_path, table))


@pytest.mark.parametrize(("columns", "words"), [(60, "word"), (2, "word " * 5_000), (30, "word " * 90)])
def test_what_has_no_room_as_a_table_is_written_row_by_row(tmp_path: Path, columns: int, words: str) -> None:
    names = [f"Column{number}" for number in range(columns)]
    table = {
        "object": "block",
        "type": "table",
        "data": {
            "definition": {name: {"title": name} for name in names},
            "records": {"r": {"values": dict.fromkeys(names, words)}},
        },
    }
    written = texts(draw(tmp_path, table))
    assert written.count("word") == columns * words.count("word")
    assert "Column1: " in written


@pytest.mark.parametrize("columns", [1, 10, 20, 30, 34])
def test_a_table_of_any_width_is_drawn(tmp_path: Path, columns: int) -> None:
    names = [f"c{number}" for number in range(columns)]
    for letters in (1, 39, 41, 80, 300, 3_000):
        values = dict.fromkeys(names, "m" * letters)
        data = {"definition": {name: {"title": name} for name in names}, "records": {"r": {"values": values}}}
        written = texts(draw(tmp_path, {"object": "block", "type": "table", "data": data}))
        assert written.count("m") == letters * columns


def test_each_kind_of_hint_has_a_sign_and_is_marked_on_each_sheet(tmp_path: Path) -> None:
    words = [{"object": "block", "type": "paragraph", "nodes": [text(f"words {number}")]} for number in range(60)]
    hints = [
        {"object": "block", "type": "hint", "data": {"style": style}, "nodes": words}
        for style in ("info", "success", "warning", "danger")
    ]
    data = draw(tmp_path, *hints)
    assert [word for word in texts(data).split() if word in "i+!\xd7"] == ["i", "+", "!", "\xd7"]
    sheets = read_streams(data)
    assert sum(b"words" in sheet for sheet in sheets) > len(hints)
    assert all(re.search(rb" l S", sheet) for sheet in sheets if b"words" in sheet)


def spell(written: str) -> str:
    pdf = FPDF()
    spelled = Fonts(pdf, [written]).spell(written)
    for font in pdf.fonts.values():
        if isinstance(font, TTFFont):
            font.close()
    return spelled


def write_font(path: Path, signs: str) -> None:
    """Write a font that draws these characters, each as a rectangle."""
    glyphs = {ord(sign): f"u{ord(sign):04x}" for sign in signs}
    names = [".notdef", *glyphs.values()]
    pen = TTGlyphPen(None)
    pen.moveTo((50, 0))
    for corner in ((50, 700), (450, 700), (450, 0)):
        pen.lineTo(corner)
    pen.closePath()
    font = FontBuilder(1000)
    font.setupGlyphOrder(names)
    font.setupCharacterMap(glyphs)
    font.setupGlyf(dict.fromkeys(names, pen.glyph()))
    font.setupHorizontalMetrics(dict.fromkeys(names, (500, 50)))
    font.setupHorizontalHeader(ascent=800, descent=-200)
    font.setupNameTable({"familyName": path.stem, "styleName": "Regular"})
    font.setupOS2(sTypoAscender=800, usWinAscent=800, usWinDescent=200)
    font.setupPost()
    font.save(path)


@pytest.fixture
def have_fonts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """Let the machine have one font of the first family and some others, each by what it draws."""

    def have(first: str, *others: str) -> None:
        write_font(tmp_path / "DejaVuSans.ttf", first)
        files = [tmp_path / f"other-{number}.ttf" for number in range(len(others))]
        for file, signs in zip(files, others, strict=True):
            write_font(file, signs)
        monkeypatch.setattr(fonts, "PLACES", (str(tmp_path),))
        monkeypatch.setattr(fonts, "FALLBACKS", (str(tmp_path / "none.ttf"), *map(str, files)))

    return have


def test_what_no_font_draws_is_a_box_that_a_reader_sees(
    monkeypatch: pytest.MonkeyPatch, have_fonts: Callable[..., None]
) -> None:
    have_fonts(f"Ж {BOX}")
    assert spell("漢 Ж") == f"{BOX} Ж"
    monkeypatch.setattr(fonts, "PLACES", ())
    assert spell("漢 Ж") == "? ?"


def test_another_font_of_the_machine_draws_what_the_first_lacks(have_fonts: Callable[..., None]) -> None:
    have_fonts(f"Ж {BOX}", "שלום")
    assert spell("שלום 漢") == f"שלום {BOX}"


def test_arabic_is_joined_and_begins_at_the_right(tmp_path: Path, have_fonts: Callable[..., None]) -> None:
    have_fonts("مرحبا بالعالمدليلT123456789./•")
    link = {"object": "inline", "type": "link", "data": {"ref": {"kind": "url", "url": "https://example.org/far"}}}
    item = {"object": "block", "type": "paragraph", "nodes": [{**link, "nodes": [text("مرحبا بالعالم")]}]}
    nodes = [{"object": "block", "type": "list-unordered", "nodes": [{"object": "block", "nodes": [item]}]}]
    page = {"part": 0, "id": "a", "title": "دليل", "depth": 0, "nodes": nodes, "files": {}}
    layout = PdfLayout({"title": "T", "pages": [page]}, tmp_path)
    data = layout.draw()
    assert layout._pdf.text_shaping is not None
    assert b"https://example.org/far" in data
    [place] = re.findall(rb"/Rect \[([0-9.]+) [0-9.]+ ([0-9.]+)", data)
    assert float(place[1]) > 500, "points, of a sheet that is 595 wide"


def test_a_reference_leads_to_the_page_of_its_own_part(tmp_path: Path) -> None:
    """A translation has the ids of what it was made from, and both may be parts of one PDF."""
    see = {"object": "block", "type": "content-ref", "data": {"ref": {"kind": "page", "page": "a"}}}
    pages = [
        {"part": part, "id": "a", "title": title, "depth": 0, "nodes": [see], "files": {}}
        for part, title in enumerate(("Windmills", "Moulins"))
    ]
    data = PdfLayout({"title": "T", "pages": pages}, tmp_path).draw()
    assert [word for word in texts(data).split() if word in ("Windmills", "Moulins")] == ["Windmills"] * 2 + [
        "Moulins"
    ] * 2


@pytest.mark.parametrize("count", [5, 6, 45, 46, 92, 93])
def test_a_pdf_of_many_pages_begins_with_their_titles_and_sheets(tmp_path: Path, count: int) -> None:
    words = [{"object": "block", "type": "paragraph", "nodes": [text("words")]}]
    pages = [
        {"part": 0, "id": str(number), "title": f"Page{number}", "depth": number % 2, "nodes": words, "files": {}}
        for number in range(count)
    ]
    pages[1]["title"] = "Long" * 40
    sheets = list_sheets(PdfLayout({"title": "All of it", "pages": pages}, tmp_path).draw())
    contents = [sheet for sheet in sheets if "words" not in sheet]
    assert len(contents) == {5: 0, 6: 1, 45: 1, 46: 2, 92: 2, 93: 3}[count]
    assert len(sheets) == count + len(contents)
    if contents:
        assert contents[0].startswith("All of it ")
        assert f"Page0 {len(contents) + 1}" in contents[0]
        assert f"Page{count - 1} {len(sheets)}" in contents[-1]


def test_a_group_begins_on_the_sheet_of_its_first_page(tmp_path: Path) -> None:
    words = [{"object": "block", "type": "paragraph", "nodes": [text("words")]}]
    pages = [
        {"part": 0, "id": name, "title": name, "depth": depth, "nodes": nodes, "files": {}}
        for name, depth, nodes in (("Section", 0, []), ("Group", 1, []), ("Page", 2, words), ("Next", 2, words))
    ]
    assert list_sheets(PdfLayout({"title": "T", "pages": pages}, tmp_path).draw()) == [
        "Section Group Page words 1",
        "Next words 2",
    ]


def read_streams(data: bytes) -> list[bytes]:
    """What is written on each sheet, in the language of PDFs."""
    found = re.findall(rb"stream\r?\n(.*?)endstream", data, re.DOTALL)
    return [zlib.decompressobj().decompress(one) for one in found if one.startswith(b"x")]


def list_sheets(data: bytes) -> list[str]:
    """What stands on each sheet of a PDF with the built-in fonts."""
    found = [b" ".join(re.findall(rb"\(((?:[^()\\]|\\.)*)\)", one)).decode("latin-1") for one in read_streams(data)]
    return [" ".join(one.split()) for one in found if one]


def test_a_process_that_may_not_give_way_lays_out_all_the_same(tmp_path: Path) -> None:
    (tmp_path / JOB).write_text('"Guides"\n')
    alone = [sys.executable, str(without_priority.__file__)]
    worker = [sys.executable, "-m", "syncd.platform.services.pdf.worker", str(tmp_path)]
    done = subprocess.run([*alone, *worker], capture_output=True, check=False)
    assert done.stdout.startswith(b"%PDF"), done.stderr
