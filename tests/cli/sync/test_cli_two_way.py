"""Two-way sync as its users meet it: by commands, and with a browser on the other side."""

from codecs import BOM_UTF8
from pathlib import Path
from typing import Any

import pytest

from syncd.api.client import Client
from syncd.model.change_request import ChangeRequestCreate
from syncd.model.content_write import ContentWrite, Markdown, UpdatePage
from tests.cli.sync.two_way import Team, text_of
from tests.sampling import sample_cases


def merge_edit(shell: Any, slug: str, markdown: str) -> None:
    """Given a page's slug and its new text, change it on the platform, as somebody in a browser would, and merge."""
    with Client(shell.url, shell.token.read_text().strip()) as client:
        (page,) = [page.id for page in client.content.list_pages(shell.space) if page.slug == slug]
        write = ContentWrite(changes=(UpdatePage(page=page, document=Markdown(markdown=markdown)),))
        number = str(client.change_requests.create(shell.space, ChangeRequestCreate(subject="Theirs")).number)
        client.change_requests.write_content(shell.space, number, write)
        client.change_requests.merge(shell.space, number)


def commit(shell: Any, docs: Path, texts: dict[str, bytes]) -> None:
    for name, text in texts.items():
        (docs / name).write_bytes(text)
    shell.git("add", "--all", cwd=docs)
    shell.git("commit", "--quiet", "--message", "Mine", cwd=docs)


def test_a_page_keeps_its_line_ends_when_it_is_edited_on_the_platform(shell: Any) -> None:
    docs = shell.clone()
    commit(shell, docs, {"use.md": b"# Use\r\n\r\nLike this.\r\n\r\nAnd that.\r\n"})
    shell.fine("push", cwd=docs)
    with Client(shell.url, shell.token.read_text().strip()) as client:
        client.change_requests.merge(shell.space, "1")
    shell.fine("pull", cwd=docs)
    merge_edit(shell, "use", "# Use\n\nLike this.\n\nMore.\n\nAnd that.\n")
    shell.fine("pull", cwd=docs)
    assert (docs / "use.md").read_bytes() == b"# Use\r\n\r\nLike this.\r\n\r\nMore.\r\n\r\nAnd that.\r\n"
    assert shell.git("status", "--porcelain", cwd=docs) == ""


def test_a_page_with_a_character_that_no_platform_takes_is_named_with_its_line(shell: Any) -> None:
    docs = shell.clone()
    commit(shell, docs, {"use.md": b"# Use\n\nLike \0 this.\n"})
    pushed = shell.syncd("push", cwd=docs)
    assert (pushed.returncode, "use.md:3:6: holds the character NUL" in pushed.stdout) == (65, True), pushed.stdout
    assert "use.md:3:6: error nul-character" in shell.syncd("check", cwd=docs).stdout
    with Client(shell.url, shell.token.read_text().strip()) as client:
        assert not list(client.change_requests.list(shell.space))


def test_a_page_keeps_the_line_ends_of_most_of_its_lines_when_a_reviewer_edits_it(team: Team) -> None:
    web = team.space()
    docs = team.clone(web.space)
    docs.write("p1.md", text_of("P1").replace("\n", "\r\n") + "The last line.\n")
    docs.write("p2.md", "The first line.\r\n\n" + text_of("P2"))
    docs.commit()
    docs.run("sync")
    for slug, words in (("p1", "P1"), ("p2", "P2")):
        web.edit(slug, f"{words} two.", f"{words} two.\n\nMore.", request=web.proposed())
    docs.run("sync")
    p1, p2 = ((docs.path / name).read_bytes() for name in ("p1.md", "p2.md"))
    assert b"P1 two.\r\n\r\nMore.\r\n\r\nP1 three.\r\n" in p1
    assert b"P2 two.\n\nMore.\n\nP2 three.\n" in p2
    web.merge()
    docs.run("sync")
    assert ((docs.path / "p1.md").read_bytes(), (docs.path / "p2.md").read_bytes()) == (p1, p2)
    assert docs.git("diff", "HEAD", "platform/main") == ""


@pytest.mark.parametrize(
    ("mark", "former", "new"),
    sample_cases(
        [
            (BOM_UTF8, b".\n", b". \n"),
            (BOM_UTF8, b"three.\n", b"three."),
            (BOM_UTF8, b"three.\n", b"three.\n\n\n"),
            (BOM_UTF8, b"\n", b"\r\n"),
            (b"", b"\n", b"\r\n"),
        ],
        kept=(0,),
    ),
)
def test_a_page_of_which_only_the_form_changed_keeps_it_and_holds_up_no_other(
    team: Team, mark: bytes, former: bytes, new: bytes
) -> None:
    web = team.space()
    docs = team.clone(web.space)
    text = mark + (docs.path / "p1.md").read_bytes().replace(former, new)
    docs.write("p1.md", text)
    docs.edit("p2.md", "P2 one.", "P2 one, says B.")
    docs.settle()
    (request,) = web.requests()
    assert request.status == "open"
    assert (docs.path / "p1.md").read_bytes() == text
    web.edit("p1", "P1 one.", "P1 one, says the web.", request=request.number)
    docs.settle()
    assert (docs.path / "p1.md").read_bytes() == text.replace(b"P1 one.", b"P1 one, says the web.")
    web.merge()
    docs.settle()
    assert (docs.path / "p1.md").read_bytes() == text.replace(b"P1 one.", b"P1 one, says the web.")
