"""A platform that cannot write content: comments carry the proposal, each once, until a person has put it in."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from syncd.api.client import Client
from syncd.errors import GuardRefused
from syncd.model.change_request import ChangeRequestUpdate
from syncd.model.content_write import ContentWrite, InsertPage, Markdown, UpdatePage
from syncd.model.space import GitSync
from syncd.platform.server import BackgroundServer
from syncd.platform.settings import PlatformSettings
from syncd.sync.outcome import Applied, Unchanged
from syncd.sync.propose.flow import propose
from tests.sync.normalising import FILES, reformat_page

OPTIONS = "# Options\n\nAll of *them*:\n\n- first\n- second\n\n```sh\nls\n```\n"


@pytest.fixture
def mute(worlds: Any, tmp_path: Path) -> Iterator[Any]:
    """A world whose platform takes no content, and that can learn to."""
    with worlds(tmp_path, PlatformSettings(content_write=False), files=FILES) as world:
        yield world


def comments_of(world: Any, *, status: str = "open", number: str = "1") -> dict[str, Any]:
    """The comments by the first line of what they say."""
    with world.client() as client:
        found = client.change_request_comments.list(world.space, number, status=status)
        return {comment.body.markdown.partition("\n")[0].rstrip(":"): comment for comment in found}


def write_by_hand(world: Any, url: str, number: str, slug: str, text: str) -> None:
    """A person puts a text into a change request; the platform's own editor stands for them."""
    with Client(url, world.token) as client:
        pages = {page.slug: page.id for page in client.change_request_content.get(world.space, number).pages}
        write = ContentWrite(changes=(UpdatePage(page=pages[slug], document=Markdown(markdown=text)),))
        client.change_requests.write_content(world.space, number, write)


def assert_quiet(world: Any, fine: Any) -> None:
    before = world.git("for-each-ref")
    results = world.sync()
    fine(results)
    assert all(isinstance(result.outcome, Unchanged) for result in results), results
    assert set(world.requests[-1]) == {"GET"}
    assert world.git("for-each-ref") == before


def test_line_ends_of_a_page_that_became_a_folder_are_never_proposed(mute: Any, fine: Any) -> None:
    mute.clone()
    summary = str(FILES["SUMMARY.md"]).replace("options.md", "options/README.md")
    windows = {"SUMMARY.md": summary, "options/README.md": str(FILES["options.md"]).replace("\n", "\r\n")}
    mute.commit("Another system", windows, gone=("options.md",))
    fine(mute.push())
    with mute.client() as client:
        assert not list(client.change_requests.list(mute.space))


def test_a_page_is_proposed_by_a_comment_on_it_once(mute: Any, fine: Any, applied: Any) -> None:
    mute.clone()
    edit = mute.commit("Edit options", {"options.md": OPTIONS})
    results = mute.push()
    fine(results)
    (note,) = applied(results, "propose").notes
    assert note == "#1: this platform takes no content through its API; 1 comment carries the proposal"
    ((said, comment),) = comments_of(mute).items()
    assert said == "Proposed text of `options.md`"
    assert f"````markdown\n{OPTIONS}````" in comment.body.markdown
    with mute.client() as client:
        request = client.change_requests.get(mute.space, "1")
        assert request.status == "open"
        assert "takes no content through its API" in request.description.text()
        assert comment.target.page.id in {page.id for page in client.content.list_pages(mute.space)[1:2]}
    assert_quiet(mute, fine)
    assert mute.git("rev-parse", "main").strip() == edit
    (mute.root / "clone" / ".git" / "syncd-state.db").unlink()
    fine(mute.sync())
    assert len(comments_of(mute, status="all")) == 1
    assert mute.git("show", "main:options.md") == OPTIONS
    assert_quiet(mute, fine)


def test_a_text_with_the_line_ends_of_another_system_is_proposed_with_plain_ones(mute: Any, fine: Any) -> None:
    mute.clone()
    mute.commit("Edit options", {"options.md": OPTIONS.replace("\n", "\r\n")})
    fine(mute.push())
    (comment,) = comments_of(mute).values()
    assert f"````markdown\n{OPTIONS}````" in comment.body.markdown


def test_a_new_page_that_is_put_in_and_merged_at_once_lies_where_git_has_it(mute: Any, fine: Any) -> None:
    clone = mute.clone()
    toc = (clone / "SUMMARY.md").read_text() + "* [New](extra/new.md)\n"
    mute.commit("New page", {"extra/new.md": "# New\n\nIt is new.\n", "SUMMARY.md": toc})
    fine(mute.push())
    document = {"markdown": "# New\n\nIt is new.\n"}
    page = InsertPage.model_validate({"title": "New", "slug": "new", "document": document})
    with BackgroundServer(mute.storage, PlatformSettings()) as url, Client(url, mute.token) as client:
        client.change_requests.write_content(mute.space, "1", ContentWrite(changes=(page,)))
        client.change_requests.merge(mute.space, "1")
    fine(mute.sync())
    for ref in ("platform/main", "main"):
        paths = mute.git("ls-tree", "-r", "--name-only", ref).split()
        assert [path for path in paths if path.endswith("new.md")] == ["extra/new.md"], ref
    assert_quiet(mute, fine)


@pytest.mark.long
def test_the_comment_follows_the_branch_and_goes_with_the_change(mute: Any, fine: Any) -> None:
    mute.clone()
    mute.commit("Edit two", {"options.md": OPTIONS, "errors.md": "# Errors\n\nMany.\n"})
    fine(mute.push())
    before = comments_of(mute)
    mute.commit("Edit options again", {"options.md": OPTIONS + "\nMore.\n", "errors.md": FILES["errors.md"]})
    fine(mute.push())
    after = comments_of(mute)
    assert set(after) == {"Proposed text of `options.md`"}
    assert after["Proposed text of `options.md`"].id == before["Proposed text of `options.md`"].id
    assert "\nMore.\n" in after["Proposed text of `options.md`"].body.markdown
    assert len(comments_of(mute, status="all")) == 2
    assert_quiet(mute, fine)


@pytest.mark.long
def test_a_proposal_that_is_made_again_opens_its_comment_again(mute: Any, fine: Any) -> None:
    mute.clone()
    mute.commit("Edit two", {"options.md": OPTIONS, "errors.md": "# Errors\n\nMany.\n"})
    fine(mute.push())
    mute.commit("Only one", {"errors.md": FILES["errors.md"]})
    fine(mute.push())
    assert set(comments_of(mute)) == {"Proposed text of `options.md`"}
    mute.commit("Both again", {"errors.md": "# Errors\n\nMany.\n"})
    fine(mute.push())
    assert set(comments_of(mute)) == {"Proposed text of `options.md`", "Proposed text of `errors.md`"}
    assert_quiet(mute, fine)


@pytest.mark.long
def test_an_archived_proposal_is_not_made_again_until_the_branch_moves(mute: Any, fine: Any) -> None:
    mute.clone()
    mute.commit("Edit options", {"options.md": OPTIONS})
    fine(mute.push())
    with mute.client() as client:
        client.change_requests.update(mute.space, "1", ChangeRequestUpdate(status="archived"))
    fine(mute.sync())
    assert_quiet(mute, fine)
    mute.commit("Edit errors", {"errors.md": "# Errors\n\nMany.\n"})
    fine(mute.push())
    assert set(comments_of(mute, number="2")) == {"Proposed text of `options.md`", "Proposed text of `errors.md`"}


@pytest.mark.long
def test_comments_that_were_left_when_the_content_came_are_resolved_later(mute: Any, fine: Any) -> None:
    mute.clone()
    edit = mute.commit("Edit options", {"options.md": OPTIONS})
    fine(mute.push())
    with BackgroundServer(mute.storage) as editor:
        write_by_hand(mute, editor, "1", "options", OPTIONS)
    fine(mute.pull())
    mute.git("update-ref", "refs/syncd/proposed/docs/1/main", edit)
    fine(mute.sync())
    assert comments_of(mute) == {}
    assert_quiet(mute, fine)


@pytest.mark.long
def test_what_is_no_text_is_told_in_one_comment(mute: Any, fine: Any) -> None:
    mute.clone()
    summary = "# Table of contents\n\n* [Home](README.md)\n* [New one](new.md)\n* [All options](options.md)\n"
    files = {
        "SUMMARY.md": summary,
        "new.md": "# New one\n\n![p](.gitbook/assets/p.png)\n",
        ".gitbook/assets/p.png": b"x",
    }
    mute.commit("Rework", files, gone=["errors.md"])
    fine(mute.push())
    said = comments_of(mute)
    assert set(said) == {
        "This platform takes no content through its API. What is left to do by hand",
        "Text of the new page `new.md`",
    }
    orders = said["This platform takes no content through its API. What is left to do by hand"].body.markdown
    assert "1. Upload the file `.gitbook/assets/p.png`." in orders
    assert "Add the page `New one` at the top level, as number 2" in orders
    assert "Page `options.md`: call it `All options`" in orders
    assert "Delete the page `errors.md`" in orders
    assert_quiet(mute, fine)


@pytest.mark.long
def test_a_long_page_is_split_over_numbered_comments(mute: Any, fine: Any) -> None:
    mute.clone()
    text = "# Options\n\n" + "".join(f"Line {number} of many words.\n\n" for number in range(4000))
    mute.commit("Write a lot", {"options.md": text})
    fine(mute.push())
    said = comments_of(mute)
    parts = [said[f"Proposed text of `options.md`, part {number} of 3"] for number in (1, 2, 3)]
    inner = [part.body.markdown.partition("```markdown\n")[2].rpartition("```")[0] for part in parts]
    assert "".join(inner) == text
    assert_quiet(mute, fine)


@pytest.mark.parametrize(
    "rewrite",
    [pytest.param(None, marks=pytest.mark.long, id="as it is"), pytest.param(reformat_page, id="re-formatted")],
)
def test_what_a_person_puts_in_and_merges_is_known_again(mute: Any, fine: Any, rewrite: Any) -> None:
    mute.clone()
    edit = mute.commit("Edit options", {"options.md": OPTIONS})
    fine(mute.push())
    with BackgroundServer(mute.storage, PlatformSettings(rewrite=rewrite)) as editor:
        write_by_hand(mute, editor, "1", "options", OPTIONS)
    mute.merge(1)
    fine(mute.sync())
    assert mute.git("show", "platform/main:options.md") == OPTIONS
    assert mute.git("show", "main:options.md") == OPTIONS
    assert mute.git("diff", edit, "main") == ""
    assert_quiet(mute, fine)


@pytest.mark.long
def test_a_text_that_was_put_in_has_its_comment_resolved(mute: Any, fine: Any) -> None:
    mute.clone()
    mute.commit("Edit two", {"options.md": OPTIONS, "errors.md": "# Errors\n\nMany.\n"})
    fine(mute.push())
    with BackgroundServer(mute.storage, PlatformSettings(rewrite=reformat_page)) as editor:
        write_by_hand(mute, editor, "1", "options", OPTIONS)
    fine(mute.sync())
    assert set(comments_of(mute)) == {"Proposed text of `errors.md`"}
    assert mute.git("show", "main:options.md") == OPTIONS
    assert mute.git("show", "main:errors.md") == "# Errors\n\nMany.\n"
    assert_quiet(mute, fine)


def test_a_platform_that_learns_to_write_gets_the_text_and_the_comments_are_resolved(mute: Any, fine: Any) -> None:
    mute.clone()
    mute.commit("Edit options", {"options.md": OPTIONS})
    fine(mute.push())
    with BackgroundServer(mute.storage) as able:
        mute.url = able
        edit = mute.commit("Edit errors", {"errors.md": "# Errors\n\nMany.\n"})
        fine(mute.push())
        assert comments_of(mute) == {}
        assert mute.git("rev-parse", "platform/changes/docs/1").strip() == edit
        assert_quiet(mute, fine)
        mute.merge(1)
        fine(mute.sync())
        assert mute.git("rev-parse", "main^2").strip() == edit
        assert mute.git("for-each-ref", "refs/syncd") == ""


def test_a_run_that_was_killed_after_any_comment_doubles_none(mute: Any, fine: Any) -> None:
    mute.clone()
    mute.commit("Edit two", {"options.md": OPTIONS, "errors.md": "# Errors\n\nMany.\n"})
    fine(mute.push())
    for ref in mute.git("for-each-ref", "--format=%(refname)", "refs/syncd", "refs/remotes/platform/changes").split():
        mute.git("update-ref", "-d", ref)
    (mute.root / "clone" / ".git" / "syncd-state.db").unlink()
    with mute.client() as client:
        client.change_request_comments.delete(mute.space, "1", comments_of(mute)["Proposed text of `errors.md`"].id)
    fine(mute.sync())
    assert set(comments_of(mute, status="all")) == {"Proposed text of `options.md`", "Proposed text of `errors.md`"}
    with mute.client() as client:
        assert len(list(client.change_request_comments.list(mute.space, "1"))) == 2
        assert len(list(client.change_requests.list(mute.space, status="open"))) == 1
    assert_quiet(mute, fine)


def test_a_space_that_the_platform_keeps_in_git_is_mirrored_quietly_and_refused_when_asked(mute: Any) -> None:
    mute.clone()
    mute.commit("Edit options", {"options.md": OPTIONS})
    with mute.workspace() as workspace:
        (binding,) = workspace.bindings
        space = workspace.client.spaces.get(mute.space).model_copy(update={"git_sync": GitSync(repo_name="docs")})
        told = propose(workspace, binding, "main", space=space, proposals=[], done=[], is_requested=False)
        assert isinstance(told, Applied)
        assert not told.changes
        assert "kept in Git by the platform itself" in told.notes[0]
        with pytest.raises(GuardRefused) as held:
            propose(workspace, binding, "main", space=space, proposals=[], done=[])
        assert held.value.exit_code == 5
    with mute.client() as client:
        assert not list(client.change_requests.list(mute.space, status="draft"))
