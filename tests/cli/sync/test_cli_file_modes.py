"""The mode of a file, which only Git knows, stays when the platform changes the content, and is no content itself."""

import pytest

from tests.cli.sync.two_way import HOME, Web, Writer, text_of

pytestmark = pytest.mark.story

RUNNABLE, PLAIN = "100755", "100644"


def make_runnable(docs: Writer, *names: str) -> None:
    """Commit that files can be run."""
    for name in names:
        (docs.path / name).chmod(0o755)
    docs.commit("Make it runnable")


def mode(docs: Writer, name: str, ref: str = "HEAD") -> str:
    """Return the mode of a file in a commit."""
    return docs.git("ls-tree", ref, "--", name).split(" ")[0]


def test_a_mode_alone_is_no_change_of_content(docs: Writer, web: Web) -> None:
    make_runnable(docs, "p1.md", "SUMMARY.md", "README.md")
    assert "in step" in docs.run("sync")
    assert web.requests() == []
    assert mode(docs, "p1.md") == RUNNABLE


def test_a_file_keeps_its_mode_when_the_platform_changes_it(docs: Writer, web: Web) -> None:
    make_runnable(docs, "p1.md", "SUMMARY.md", "README.md")
    docs.run("sync")
    web.edit("p1", "P1 one.", "P1 one, says the web.")
    web.edit(HOME, "Home one.", "Home one, says the web.")
    web.add("p5", text_of("P5"))
    docs.run("sync")
    assert "says the web" in docs.read("p1.md")
    assert [mode(docs, name) for name in ("p1.md", "SUMMARY.md", "README.md", "p5.md")] == [*[RUNNABLE] * 3, PLAIN]
    web.edit("p1", "P1 two.", "P1 two, says the web.")
    docs.settle()
    assert mode(docs, "p1.md") == RUNNABLE


def test_a_file_keeps_its_mode_through_a_change_request(docs: Writer, web: Web) -> None:
    make_runnable(docs, "p1.md", "SUMMARY.md")
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.add("p5.md", "P5")
    make_runnable(docs, "p5.md")
    docs.run("push")
    for slug in ("p1", "p5"):
        web.edit(slug, f"{slug.upper()} two.", "Two, says a reviewer.", request=web.proposed())
    docs.run("sync")
    web.merge()
    web.edit("p5", "P5 three.", "P5 three, says the web.")
    docs.settle()
    names = ("p1.md", "p5.md", "SUMMARY.md")
    assert "says a reviewer" in docs.read("p1.md")
    assert [mode(docs, name) for name in names] == [RUNNABLE] * 3
    assert [mode(docs, name, "platform/main") for name in names] == [RUNNABLE] * 3


def test_a_page_that_is_renamed_keeps_its_mode(docs: Writer, web: Web) -> None:
    make_runnable(docs, "p1.md", "p2.md")
    docs.run("sync")
    web.rename("p1", "new")
    docs.run("sync")
    assert mode(docs, "new.md") == RUNNABLE
    docs.edit("p3.md", "P3 one.", "P3 one, says B.")
    web.rename("p2", "other")
    web.edit("other", "P2 one.", "P2 one, says the web.")
    docs.settle()
    assert "says the web" in docs.read("other.md")
    assert mode(docs, "other.md") == RUNNABLE


def test_a_page_that_the_platform_moves_below_another_keeps_its_mode(docs: Writer, web: Web) -> None:
    make_runnable(docs, "p1.md")
    docs.edit("p3.md", "P3 one.", "P3 one, says B.")
    docs.run("sync")
    web.add("p5", text_of("P5"), below="p1")
    docs.settle()
    assert not docs.has("p1.md")
    assert mode(docs, "p1/README.md") == RUNNABLE


def test_a_page_whose_mode_alone_changed_is_deleted(docs: Writer, web: Web) -> None:
    make_runnable(docs, "p1.md")
    web.delete("p1")
    docs.settle()
    assert not docs.has("p1.md")
    assert "p1.md" not in docs.read("SUMMARY.md")


def test_a_page_keeps_its_mode_when_its_conflict_is_settled(docs: Writer, web: Web) -> None:
    make_runnable(docs, "p1.md", "p2.md", "SUMMARY.md")
    docs.replace("p1.md", "P1 one.", "P1 one, says B.")
    docs.replace("p2.md", "P2 one.", "P2 one, says B.")
    docs.retitle("P3", "Mine")
    web.edit("p1", "P1 one.", "P1 one, says the web.")
    web.edit("p2", "P2 one.", "P2 one, says the web.")
    web.retitle("p3", "Theirs")
    docs.run("pull", code=6)
    docs.run("resolve", "p1.md", "--hunk", "1", "--theirs")
    docs.run("resolve", "p2.md", "p3.md", "--theirs")
    assert "says the web" in docs.read("p1.md")
    assert "says the web" in docs.read("p2.md")
    assert "[Theirs](p3.md)" in docs.read("SUMMARY.md")
    assert [mode(docs, name) for name in ("p1.md", "p2.md", "SUMMARY.md")] == [RUNNABLE] * 3


def test_a_mode_that_both_sides_know_is_taken_back(docs: Writer, web: Web) -> None:
    make_runnable(docs, "p1.md")
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.run("push")
    web.merge()
    docs.settle()
    assert mode(docs, "p1.md", "platform/main") == RUNNABLE
    (docs.path / "p1.md").chmod(0o644)
    docs.commit("Make it plain")
    web.edit("p1", "P1 two.", "P1 two, says the web.")
    docs.settle()
    assert "says the web" in docs.read("p1.md")
    assert mode(docs, "p1.md") == PLAIN
