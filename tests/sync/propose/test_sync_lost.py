"""A server that keeps pages in a form of its own, and loses words: Git keeps what its writers wrote."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from syncd.api.client import Client
from syncd.api.options import ClientOptions
from syncd.errors import Rejected
from syncd.model.content_write import ContentWrite, Markdown, UpdatePage
from syncd.plan.merge.pages import Side
from syncd.platform.settings import PlatformSettings
from syncd.sync.integrate.resolve import resolve_pages
from syncd.sync.outcome import Unchanged
from syncd.sync.run.cycle import run_cycle
from syncd.sync.run.values import RunOptions
from tests.sync.conflicts import Stand
from tests.sync.normalising import FILES, lossy, reformat_page, typographic

WRITTEN = """---
icon: gear
description: "Every option: what it does"
---

# Options
All options are *optional*
and can be left out.
- first
- second

Opened by <person> in
<space>, on Monday.

| a | b |
|---|---|
| 1 | two |

The end ~ of it.
"""


@pytest.fixture
def rewriting(worlds: Any, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    rewrite, git = request.param
    with worlds(tmp_path, PlatformSettings(rewrite=rewrite, git=git), files=FILES) as world:
        yield world


def everywhere(rewrite: Any, *, default: str = "") -> pytest.MarkDecorator:
    """A server that rewrites so, with and without blob ids; one of the two, at most, in the default suite."""
    rows = [
        pytest.param((rewrite, name == "ids"), id=name, marks=() if name == default else pytest.mark.long)
        for name in ("ids", "no-ids")
    ]
    return pytest.mark.parametrize("rewriting", rows, indirect=True)


def page_of(world: Any, slug: str = "options", number: str = "1") -> Any:
    with world.client() as client:
        pages = [client.change_request_content.get(world.space, number).pages]
        while pages:
            for page in pages.pop():
                if page.slug == slug:
                    return client.change_request_content.get_page(world.space, number, page.id)
                pages.append(page.pages)
    raise AssertionError(slug)


def review_edit(world: Any, old: str, new: str, number: str = "1") -> None:
    page = page_of(world, number=number)
    assert old in page.markdown, page.markdown
    text = page.markdown.replace(old, new)
    with world.client() as client:
        write = ContentWrite(changes=(UpdatePage(page=page.id, document=Markdown(markdown=text)),))
        client.change_requests.write_content(world.space, number, write)


def comments_of(world: Any, number: str = "1") -> list[Any]:
    with world.client() as client:
        return list(client.change_request_comments.list(world.space, number))


def notes_of(results: list[Any], flow: str) -> list[str]:
    return [note for result in results if result.flow == flow for note in getattr(result.outcome, "notes", ())]


def assert_quiet(world: Any, fine: Any) -> None:
    before = world.git("for-each-ref")
    results = world.sync()
    fine(results)
    assert all(isinstance(result.outcome, Unchanged) for result in results), results
    assert set(world.requests[-1]) == {"GET"}
    assert world.git("for-each-ref") == before


@everywhere(reformat_page, default="no-ids")
def test_a_server_that_only_formats_changes_no_byte_in_git(rewriting: Any, fine: Any) -> None:
    world = rewriting
    world.clone()
    edit = world.commit("Write options", {"options.md": WRITTEN})
    results = world.push()
    fine(results)
    assert not notes_of(results, "propose")
    assert world.git("rev-parse", "platform/changes/docs/1").strip() == edit
    assert "All options are _optional_ and can" in page_of(world).markdown
    assert_quiet(world, fine)
    review_edit(world, "two", "2")
    fine(world.sync())
    assert world.git("show", "main:options.md") == WRITTEN.replace(
        "|---|---|\n| 1 | two |", "| --- | --- |\n| 1   | 2   |"
    ).replace("| a | b |", "| a   | b   |")
    assert_quiet(world, fine)
    world.merge(1)
    fine(world.sync())
    assert world.git("rev-parse", "main") == world.git("rev-parse", "platform/main")
    assert "All options are *optional*\nand can be left out.\n- first" in world.git("show", "main:options.md")
    assert not comments_of(world)
    assert_quiet(world, fine)


@everywhere(lossy, default="ids")
def test_words_that_the_server_lost_are_told_and_stay_in_git(rewriting: Any, fine: Any) -> None:
    world = rewriting
    clone = world.clone()
    edit = world.commit("Write options", {"options.md": WRITTEN})
    results = world.push()
    fine(results)
    assert notes_of(results, "propose")[0] == "options.md:12: the platform does not keep: <person>"
    (comment,) = comments_of(world)
    assert comment.target.page.id == page_of(world).id
    assert "* line 12: `<person>`" in comment.body.markdown
    with world.client() as client:
        said = client.change_requests.get(world.space, "1").description.text()
    assert "options.md:12: the platform does not keep: <person>" in said
    assert world.git("rev-parse", "platform/changes/docs/1").strip() == edit
    assert_quiet(world, fine)
    (clone / ".git" / "syncd-state.db").unlink()
    fine(world.sync())
    assert world.git("rev-parse", "main").strip() == edit
    assert_quiet(world, fine)
    world.merge(1)
    fine(world.sync())
    assert world.git("show", "main:options.md") == WRITTEN
    assert len(comments_of(world)) == 1
    assert_quiet(world, fine)


def push_once(world: Any, *, loses_answer: bool) -> list[Any]:
    """Push; where the answer to the write of content is lost, the platform has done it all the same."""
    lost = [] if loses_answer else ["nothing"]

    def lose(request: httpx.Request) -> httpx.Response:
        answer = network.handle_request(request)
        if request.method == "POST" and request.url.path.endswith("/content") and not lost:
            lost.append(answer.read().decode())
            raise httpx.ReadError("gone", request=request)
        return answer

    with (
        httpx.HTTPTransport() as network,
        world.workspace() as workspace,
        Client(world.url, world.token, ClientOptions(transport=httpx.MockTransport(lose))) as client,
    ):
        return run_cycle(replace(workspace, client=client), RunOptions(integrate=False))


@pytest.mark.parametrize("loses_answer", [False, True])
@pytest.mark.parametrize("is_renamed", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_page_with_another_title_keeps_its_words_and_can_be_deleted(
    worlds: Any, tmp_path: Path, fine: Any, loses_answer: bool, is_renamed: bool
) -> None:
    """The text goes with the title, so the server loses words of a text that was there before."""
    with worlds(tmp_path, PlatformSettings(rewrite=lossy), files={**FILES, "options.md": WRITTEN}) as world:
        clone = world.clone()
        path, table = "named.md" if is_renamed else "options.md", FILES["SUMMARY.md"]
        assert isinstance(table, str)
        if is_renamed:
            (clone / "options.md").rename(clone / path)
        retitled = {"SUMMARY.md": table.replace("[Options](options.md)", f"[Every option]({path})")}
        world.commit("Say it otherwise", retitled)
        fine(push_once(world, loses_answer=loses_answer))
        assert "<person>" not in page_of(world, path.removesuffix(".md")).markdown
        assert world.git("show", f"platform/changes/docs/1:{path}") == WRITTEN
        fine(world.sync())
        assert world.git("show", f"main:{path}") == WRITTEN
        gone = {"SUMMARY.md": table.replace("* [Options](options.md)\n", "")}
        world.commit("Need none", gone, gone=[path])
        fine(world.sync())
        world.merge(1)
        fine(world.sync())
        assert path not in world.git("ls-tree", "--name-only", "main").split()
        assert_quiet(world, fine)


@everywhere(lossy, default="no-ids")
def test_an_edit_beside_lost_words_comes_back_without_their_loss(rewriting: Any, fine: Any) -> None:
    world = rewriting
    world.clone()
    world.commit("Write options", {"options.md": WRITTEN})
    fine(world.push())
    review_edit(world, "on Monday", "on Tuesday")
    fine(world.sync())
    wanted = WRITTEN.replace("Monday", "Tuesday")
    assert world.git("show", "main:options.md") == wanted
    assert_quiet(world, fine)
    review_edit(world, "The end", "The very end")
    fine(world.sync())
    wanted = wanted.replace("The end ~", "The very end \\~")
    assert world.git("show", "main:options.md") == wanted
    world.merge(1)
    fine(world.sync())
    assert world.git("show", "main:options.md") == wanted
    assert_quiet(world, fine)


@pytest.mark.long
@pytest.mark.parametrize("choice", ["ours", "theirs"])
@pytest.mark.parametrize("rewriting", [(lossy, True)], indirect=True)
def test_an_edit_of_the_very_place_waits_for_a_person(rewriting: Any, fine: Any, choice: Side) -> None:
    world = rewriting
    world.clone()
    edit = world.commit("Write options", {"options.md": WRITTEN})
    fine(world.push())
    review_edit(world, "Opened by  in", "Opened by nobody in")
    results = world.sync()
    (held,) = [result for result in results if result.outcome.exit_code]
    assert (held.flow, held.key, held.outcome.exit_code) == ("conflict", "options.md", 6)
    assert world.git("show", "main:options.md") == WRITTEN
    assert "nobody" in world.git("show", "platform/changes/docs/1:options.md")
    assert "nobody" in page_of(world).markdown
    before = world.git("for-each-ref")
    assert [result.key for result in world.sync() if result.outcome.exit_code] == ["options.md"]
    assert set(world.requests[-1]) == {"GET"}
    assert world.git("for-each-ref") == before
    with world.workspace() as workspace:
        resolve_pages(workspace, "main", {"options.md": choice})
    fine(world.sync())
    fine(world.sync())
    assert ("<person>" in world.git("show", "main:options.md")) == (choice == "ours")
    assert ("nobody" in page_of(world).markdown) == (choice == "theirs")
    assert world.git("merge-base", "--is-ancestor", edit, "main") == ""
    assert_quiet(world, fine)


@everywhere(lossy, default="ids")
def test_a_run_that_was_killed_before_it_read_back_knows_its_own_words(rewriting: Any, fine: Any) -> None:
    world = rewriting
    clone = world.clone()
    edit = world.commit("Write options", {"options.md": WRITTEN})
    fine(world.push())
    for ref in world.git("for-each-ref", "--format=%(refname)", "refs/syncd", "refs/remotes/platform/changes").split():
        world.git("update-ref", "-d", ref)
    (clone / ".git" / "syncd-state.db").unlink()
    world.git("update-ref", "refs/syncd/sending/docs/1", edit)
    fine(world.sync())
    assert world.git("rev-parse", "main").strip() == edit
    assert world.git("rev-parse", "platform/changes/docs/1").strip() == edit
    assert "<person>" in world.git("show", "main:options.md")
    assert len(comments_of(world)) == 1
    assert_quiet(world, fine)


@pytest.mark.long
@pytest.mark.parametrize("rewriting", [(lossy, True)], indirect=True)
def test_without_the_forms_an_edit_is_brought_and_what_went_with_it_is_told(rewriting: Any, fine: Any) -> None:
    world = rewriting
    world.clone()
    world.commit("Write options", {"options.md": WRITTEN})
    fine(world.push())
    world.merge(1)
    fine(world.sync())
    world.git("update-ref", "-d", "refs/syncd/forms/docs")
    world.edit_on_platform({**FILES, "options.md": lossy(WRITTEN).replace("Monday", "Tuesday")})
    results = world.sync()
    fine(results)
    assert "options.md:12: <person> went with an edit" in notes_of(results, "mirror")[0]
    assert "Opened by  in , on Tuesday" in world.git("show", "main:options.md")
    assert "All options are *optional*\nand can be left out.\n- first" in world.git("show", "main:options.md")
    assert_quiet(world, fine)


@everywhere(lossy, default="no-ids")
def test_a_server_that_shows_no_comments_takes_the_proposal_all_the_same(rewriting: Any, fine: Any) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise Rejected("GET …/comments: no", status=405)

    world = rewriting
    world.clone()
    world.commit("Write options", {"options.md": WRITTEN})
    with world.workspace() as workspace:
        client = workspace.client
        comments = Stand(client.change_request_comments, list=refuse)
        results = run_cycle(replace(workspace, client=Stand(client, change_request_comments=comments)), RunOptions())
    fine(results)
    assert notes_of(results, "propose")[0] == "options.md:12: the platform does not keep: <person>"


@everywhere(lossy)
def test_the_same_words_are_told_once(rewriting: Any, fine: Any) -> None:
    world = rewriting
    world.clone()
    world.commit("Write options", {"options.md": WRITTEN})
    fine(world.push())
    world.commit("Say more", {"options.md": WRITTEN + "\nMore.\n"})
    fine(world.push())
    assert len(comments_of(world)) == 1
    world.commit(
        "Say it without", {"options.md": WRITTEN.replace("<person>", "a person").replace("<space>", "a space")}
    )
    results = world.push()
    fine(results)
    assert not notes_of(results, "propose")
    assert_quiet(world, fine)


@everywhere(typographic)
def test_other_quotation_marks_and_entities_are_no_loss(rewriting: Any, fine: Any) -> None:
    world = rewriting
    world.clone()
    text = '# Options\n\nSay "yes" &amp; go, `a && b`.\n'
    edit = world.commit("Quote", {"options.md": text})
    results = world.push()
    fine(results)
    assert not notes_of(results, "propose")
    assert world.git("rev-parse", "platform/changes/docs/1").strip() == edit
    world.merge(1)
    fine(world.sync())
    assert world.git("show", "main:options.md") == text
    assert_quiet(world, fine)
