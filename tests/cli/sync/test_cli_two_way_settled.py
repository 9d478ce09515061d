"""What a branch holds and the platform lacks stays the branch's, also once a conflict in another page is settled.

Then the change request is updated from main content, and the branch's commit says what becomes of the conflict. That
commit has more: what only a person can do on the platform, and pages that it does not take.
Run these stories: .venv/bin/python -m pytest -n 2 tests/cli/sync/test_cli_two_way_settled.py
"""

from collections.abc import Callable

import pytest

from tests.cli.sync.two_way import FOUR, Team, Web, Writer

pytestmark = pytest.mark.story

NOTE = ".gitbook/includes/note.md"
FILES = FOUR | {NOTE: "---\ntitle: Note\n---\n\nNote one.\n", ".gitbook/vars.yaml": "size: one\n"}
Edit = Callable[[Writer], None]


def edit_by_hand(docs: Writer) -> None:
    """Given a clone, edit what no operation of the API writes."""
    docs.replace(NOTE, "Note one.", "Note one, says A.")
    docs.replace(".gitbook/vars.yaml", "one", "two")
    docs.write("SUMMARY.md", docs.read("SUMMARY.md") + "\n## Elsewhere\n\n* [Example](https://example.org)\n")


def edit_badly(docs: Writer) -> None:
    """Given a clone, write pages that no platform takes."""
    docs.write("p2.md", docs.read("p2.md") + "\n<<<<<<< HEAD\nThat.\n=======\nThis.\n>>>>>>> x\n")
    docs.write("p3.md", b"# P3\n\nLike \0 this.\n")


def settle_lines(docs: Writer, web: Web) -> None:
    """Given both sides, let them change one line, and let its writer decide."""
    web.edit("p1", "P1 one.", "P1 one, says W.")
    docs.syncd("sync")
    docs.run("resolve", "p1.md", "--ours")


def revive_page(docs: Writer, web: Web) -> None:
    """Given both sides, let somebody edit a page that the branch has deleted."""
    web.edit("p4", "P4 one.", "P4 one, says W.")
    docs.syncd("sync")


@pytest.mark.parametrize("settle", [settle_lines, revive_page])
@pytest.mark.parametrize(("edit", "code"), [(edit_by_hand, 0), (edit_badly, 65)])
def test_what_the_platform_lacks_stays_in_the_branch(
    team: Team, edit: Edit, code: int, settle: Callable[[Writer, Web], None]
) -> None:
    web = team.space(files=FILES)
    docs = team.clone(web.space)
    edit(docs)
    if settle is revive_page:
        docs.git("rm", "--quiet", "p4.md")
        docs.replace("SUMMARY.md", "* [P4](p4.md)\n", "")
    docs.edit("p1.md", "P1 one.", "P1 one, says A.")
    written = {name: (docs.path / name).read_bytes() for name in (NOTE, ".gitbook/vars.yaml", "p2.md", "p3.md")}
    docs.run("sync", code=code)
    settle(docs, web)
    docs.run("push", code=code)
    docs.run("sync", code=code)
    tip = docs.tip()
    docs.run("sync", code=code)
    assert docs.tip() == tip, "each run makes a commit"
    for name in ("p2", "p3"):
        assert "says" not in web.text(name, request=web.proposed())
        assert "<<<<" not in web.text(name, request=web.proposed())
    web.merge()
    said = docs.run("sync", code=code)
    assert {name: (docs.path / name).read_bytes() for name in written} == written
    assert "P1 one, says A." in web.text("p1")
    if edit is edit_by_hand:
        assert "* [Example](https://example.org)" in docs.read("SUMMARY.md")
        for step in ("'note'", "'size'", "'Example'", "'Elsewhere'"):
            assert step in said
