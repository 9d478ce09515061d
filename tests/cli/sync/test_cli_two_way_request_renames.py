"""A reviewer gives a page another slug in a change request.

Run these stories: .venv/bin/python -m pytest -n 2 tests/cli/sync/test_cli_two_way_request_renames.py
"""

import pytest

from tests.cli.sync.two_way import Team, Web, Writer

pytestmark = pytest.mark.story


@pytest.mark.parametrize("page", ["p1", "p2", "new"])
@pytest.mark.parametrize("is_merged", [True, False])
def test_a_page_that_a_reviewer_renames_is_renamed_in_git(docs: Writer, web: Web, page: str, is_merged: bool) -> None:
    docs.add("new.md", "New")
    docs.edit("p2.md", "P2 one.", "P2 one, says B.")
    docs.run("sync")
    web.rename(page, "other", request=web.proposed())
    docs.run("sync")
    if is_merged:
        web.merge()
        docs.run("sync")
    assert docs.has("other.md")
    assert not docs.has(f"{page}.md")


def test_two_clones_have_the_same_files_after_a_reviewer_renamed_a_page(docs: Writer, web: Web, team: Team) -> None:
    other = team.clone(web.space, name="other")
    docs.edit("p2.md", "P2 one.", "P2 one, says B.")
    docs.run("sync")
    web.rename("p1", "other", request=web.proposed())
    docs.run("sync")
    web.merge()
    for clone in (docs, other):
        clone.run("sync")
    assert docs.files() == other.files()
