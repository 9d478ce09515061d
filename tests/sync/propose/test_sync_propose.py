"""Propose and review: commits become a change request, its merge comes back, and nothing is lost or doubled."""

from typing import Any

import pytest

from syncd.sync.outcome import Held, Unchanged
from syncd.sync.run.values import RunOptions

SUMMARY = (
    "# Table of contents\n\n* [Home](README.md)\n* [Guide](guide/README.md)\n  * [Installing](guide/install.md)\n"
    "  * [Usage](guide/usage.md)\n\n## Reference\n\n* [Options](options.md)\n* [New page](new-page.md)\n"
)
PICTURE = b"\x89PNG\r\n\x1a\n another picture that is none"
NEW_PAGE = "# New page\n\n![new](.gitbook/assets/new.png) and [options](options.md).\n"


def big_edit(world: Any) -> str:
    """Three edits, a new page with an image, a rename and a deletion."""
    clone = world.root / "clone"
    (clone / "guide" / "setup.md").rename(clone / "guide" / "install.md")
    text = (clone / "guide" / "install.md").read_text()
    files = {
        "README.md": "# Home\n\nWelcome back. See [setup](guide/install.md).\n",
        "guide/README.md": "# Guide\n\nStart over here.\n",
        "guide/usage.md": "# Usage\n\nWords first.\n\n![A picture](../.gitbook/assets/picture.png)\n",
        "guide/install.md": text.replace("# Setup", "# Installing"),
        "new-page.md": NEW_PAGE,
        ".gitbook/assets/new.png": PICTURE,
        "SUMMARY.md": SUMMARY,
    }
    return str(world.commit("Rework the guide", files, gone=["errors.md"]))


def tree_of(world: Any, commit: str) -> str:
    return str(world.git("rev-parse", f"{commit}^{{tree}}"))


def test_one_change_request_holds_exactly_the_branch(world: Any, fine: Any) -> None:
    world.clone()
    with world.client() as client:
        pages = {page.slug: page.id for page in client.content.list_pages(world.space)[1].pages}
    big_edit(world)
    fine(world.push())
    assert tree_of(world, "platform/changes/docs/1") == tree_of(world, "main")
    assert world.git("rev-parse", "platform/changes/docs/1") == world.git("rev-parse", "main")
    with world.client() as client:
        (request,) = client.change_requests.list(world.space, status="open")
        content = client.change_request_content.get(world.space, "1")
        assert request.subject == "Rework the guide [main#0a1b2c]"
        assert request.description is not None
        assert "Rework the guide" in request.description.text()
        guide = content.pages[1]
        assert [page.title for page in guide.pages] == ["Installing", "Usage"]
        assert guide.pages[0].id == pages["setup"], "a renamed file is the same page"
        new = content.pages[2].pages[1]
        markdown = client.change_request_content.get_page(world.space, "1", new.id).markdown
        assert markdown == NEW_PAGE
        assert {file.name for file in content.files} == {"picture.png", "new.png"}


def test_pushing_again_changes_nothing(world: Any, fine: Any) -> None:
    world.clone()
    big_edit(world)
    fine(world.push())
    results = world.sync()
    fine(results)
    assert all(isinstance(result.outcome, Unchanged) for result in results)
    assert world.requests[-1] == {"GET": 2}


def test_the_merge_comes_back_as_a_fast_forward(world: Any, fine: Any) -> None:
    world.clone()
    edit = big_edit(world)
    fine(world.push())
    assert world.merge(1) == "merge"
    fine(world.pull())
    parents = world.git("rev-parse", "main^@").split()
    assert parents[1:] == [edit]
    assert tree_of(world, "main") == tree_of(world, edit)
    assert world.git("rev-parse", "main") == world.git("rev-parse", "platform/main")
    assert world.git("status", "--porcelain") == ""
    message = world.git("log", "-1", "--format=%B")
    assert message.startswith("Rework the guide\n\n")
    assert "Syncd-Change-Request: 1\n" in message
    assert world.git("for-each-ref", "refs/syncd", "refs/remotes/platform/changes") == ""
    assert world.requests[-1].get("POST", 0) == 0
    results = world.sync()
    fine(results)
    assert world.requests[-1] == {"GET": 1}


def test_a_page_keeps_the_path_that_its_writer_gave_it_when_the_store_is_lost(world: Any, fine: Any) -> None:
    clone = world.clone()
    edit = big_edit(world)
    fine(world.push())
    (clone / ".git" / "syncd-state.db").unlink()
    world.merge(1)
    fine(world.pull())
    assert tree_of(world, "main") == tree_of(world, edit)
    assert world.git("status", "--porcelain") == ""


def test_more_commits_go_into_the_same_change_request(world: Any, fine: Any) -> None:
    world.clone()
    big_edit(world)
    fine(world.push())
    edit = world.commit("Say more", {"new-page.md": NEW_PAGE + "\nMore.\n"})
    fine(world.push())
    assert world.requests[-1].get("POST", 0) == 1
    assert world.git("rev-parse", "platform/changes/docs/1").strip() == edit
    world.merge(1)
    fine(world.pull())
    assert world.git("rev-parse", "main^2").strip() == edit


def test_a_change_on_another_page_merges_by_itself(world: Any, fine: Any, applied: Any) -> None:
    world.clone()
    world.commit("Edit options", {"options.md": "# Options\n\n* first\n* second\n* mine\n"})
    world.edit_on_platform({"guide/usage.md": "# Usage\n\nTheirs.\n"})
    fine(world.sync())
    assert world.git("show", "main:guide/usage.md") == "# Usage\n\nTheirs.\n"
    assert "* mine" in world.git("show", "main:options.md")
    world.merge(1)
    fine(world.sync())
    with world.client() as client:
        content = {page.slug: page for page in client.content.list_pages(world.space)}
        assert content
    assert world.git("rev-parse", "main") == world.git("rev-parse", "platform/main")


def test_an_outdated_change_request_is_updated_when_nothing_conflicts(world: Any, fine: Any) -> None:
    world.clone()
    world.commit("Edit options", {"options.md": "# Options\n\n* first\n* second\n* mine\n"})
    fine(world.push())
    world.edit_on_platform({"guide/usage.md": "# Usage\n\nTheirs.\n"})
    with world.client() as client:
        assert client.change_requests.get(world.space, "1").outdated
    fine(world.sync())
    with world.client() as client:
        request = client.change_requests.get(world.space, "1")
        assert not request.outdated
        assert [r.number for r in client.change_requests.list(world.space, status="open")] == [1]
    assert world.git("show", "platform/changes/docs/1:guide/usage.md") == "# Usage\n\nTheirs.\n"
    assert world.git("rev-parse", "main") == world.git("rev-parse", "platform/changes/docs/1"), "one merge, not two"
    assert world.merge(1) == "merge"
    fine(world.sync())
    assert world.git("show", "main:guide/usage.md") == "# Usage\n\nTheirs.\n"
    assert "* mine" in world.git("show", "main:options.md")
    assert world.git("status", "--porcelain") == ""


def test_a_page_in_conflict_stays_on_each_side_and_git_merge_settles_it(world: Any, fine: Any) -> None:
    world.clone()
    world.commit("Mine", {"options.md": "# Options\n\n* mine\n* second\n"})
    world.edit_on_platform({"options.md": "# Options\n\n* theirs\n* second\n"})
    (held,) = [result for result in world.sync() if result.outcome.exit_code]
    assert (held.flow, held.key) == ("conflict", "options.md")
    assert isinstance(held.outcome, Held)
    assert held.outcome.exit_code == 6
    assert "syncd resolve options.md" in held.outcome.hint
    assert world.git("show", "main:options.md") == "# Options\n\n* mine\n* second\n"
    assert world.git("show", "platform/main:options.md") == "# Options\n\n* theirs\n* second\n"
    world.git("-c", "merge.conflictStyle=merge", "merge", "-X", "ours", "--quiet", "--no-edit", "platform/main")
    fine(world.sync())
    assert world.merge(1) == "merge"
    fine(world.sync())
    assert world.git("show", "main:options.md") == "# Options\n\n* mine\n* second\n"


def test_an_edit_by_a_reviewer_comes_back_into_the_branch(world: Any, fine: Any) -> None:
    from syncd.model.content_write import ContentWrite, Markdown, UpdatePage

    world.clone()
    world.commit("Edit options", {"options.md": "# Options\n\n* first\n* second\n* mine\n"})
    fine(world.push())
    with world.client() as client:
        content = client.change_request_content.get(world.space, "1")
        page = content.pages[2].pages[0]
        text = "# Options\n\n* first\n* second\n* mine, said better\n"
        write = ContentWrite(changes=(UpdatePage(page=page.id, document=Markdown(markdown=text)),))
        client.change_requests.write_content(world.space, "1", write)
    fine(world.sync())
    assert "said better" in world.git("show", "main:options.md")
    with world.client() as client:
        assert "said better" in (client.change_request_content.get_page(world.space, "1", page.id).markdown or "")
    world.merge(1)
    fine(world.sync())
    assert "said better" in world.git("show", "main:options.md")
    assert world.git("rev-parse", "main") == world.git("rev-parse", "platform/main")


def test_two_writers_have_two_change_requests(world: Any, fine: Any) -> None:
    world.clone("one")
    world.clone("two")
    world.commit("One", {"options.md": "# Options\n\nBy one.\n"}, clone="one")
    world.commit("Two", {"guide/usage.md": "# Usage\n\nBy two.\n"}, clone="two")
    fine(world.push("one"))
    with world.workspace("two") as workspace:
        from dataclasses import replace

        from syncd.sync.run.cycle import run_cycle

        fine(run_cycle(replace(workspace, instance="ffffff"), RunOptions(integrate=False)))
    with world.client() as client:
        assert len(list(client.change_requests.list(world.space, status="open"))) == 2
    world.merge(1)
    fine(world.pull("two"))
    assert world.git("show", "main:options.md", clone="two") == "# Options\n\nBy one.\n"
    assert world.git("show", "main:guide/usage.md", clone="two") == "# Usage\n\nBy two.\n"


def test_an_archived_change_request_is_not_proposed_again_until_the_branch_moves(world: Any, fine: Any) -> None:
    from syncd.model.change_request import ChangeRequestUpdate

    world.clone()
    world.commit("Edit options", {"options.md": "# Options\n\nMine.\n"})
    fine(world.push())
    with world.client() as client:
        client.change_requests.update(world.space, "1", ChangeRequestUpdate(status="archived"))
    fine(world.push())
    with world.client() as client:
        assert not list(client.change_requests.list(world.space, status="open"))
    world.commit("Try again", {"options.md": "# Options\n\nMine, better.\n"})
    fine(world.push())
    with world.client() as client:
        assert [r.number for r in client.change_requests.list(world.space, status="open")] == [2]


def test_a_page_that_is_not_in_the_table_of_contents_is_not_published(world: Any, fine: Any) -> None:
    world.clone()
    world.commit("Add a draft", {"draft.md": "# Draft\n"})
    results = world.push()
    fine(results)
    with world.client() as client:
        assert not list(client.change_requests.list(world.space, status="draft"))
        assert not list(client.change_requests.list(world.space, status="open"))


def test_too_many_deletions_wait_for_a_person(world: Any) -> None:
    world.clone()
    world.commit("Empty everything", {"SUMMARY.md": "# Table of contents\n"}, gone=["options.md", "errors.md"])
    (held,) = [result.outcome for result in world.push() if result.outcome.exit_code]
    assert isinstance(held, Held)
    assert held.exit_code == 5
    assert "--force propose.docs=6" in held.hint


@pytest.mark.parametrize("title", ["Options & more", "[Options]", "Опции"])
def test_a_title_changed_in_the_table_of_contents_is_the_page_title(world: Any, fine: Any, title: str) -> None:
    clone = world.clone()
    escaped = title.replace("[", "\\[").replace("]", "\\]")
    summary = (clone / "SUMMARY.md").read_text().replace("* [Options]", f"* [{escaped}]")
    edit = world.commit("Retitle", {"SUMMARY.md": summary})
    fine(world.push())
    with world.client() as client:
        assert client.change_request_content.get(world.space, "1").pages[2].pages[0].title == title
    world.merge(1)
    fine(world.pull())
    assert world.git("show", "main:SUMMARY.md") == world.git("show", f"{edit}:SUMMARY.md")
