"""A few pages that were edited, inserted or renamed are sent and recorded without the tree of either side, and just as
with them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from syncd.api.client import Client
from syncd.errors import NotFound, Rejected
from syncd.model.change_request import ChangeRequestUpdate
from syncd.model.changes import Changes
from syncd.model.content_write import ContentWrite, ContentWritten, Markdown, RevertPage, UpdatePage
from syncd.model.page import walk_pages
from syncd.sync.outcome import Applied
from syncd.sync.run.cycle import run_cycle
from syncd.sync.run.values import Result, RunOptions
from tests.sync.conflicts import Stand
from tests.sync.conftest import SMALL

PUSH = RunOptions(integrate=False)
OPTIONS = "# Options\n\n* first\n* second\n* mine, see [setup](guide/setup.md)\n"
USAGE = "# Usage\n\nMy words.\n\n![A picture](../.gitbook/assets/picture.png)\n"
NEW = "# New\n\nSee [setup](setup.md).\n"
SETUP = "  * [Setup](guide/setup.md)\n"
SUMMARY, SETUP_PAGE = str(SMALL["SUMMARY.md"]), str(SMALL["guide/setup.md"])
RENAMED = SUMMARY.replace("guide/setup.md", "guide/install.md")
Files = dict[str, str | bytes]
TREES = ("content", "change_request_content", "revisions")


def run(world: Any, stand: Callable[[Client], Any], clone: str = "clone", **options: Any) -> list[Result]:
    """Push with something in front of the client."""
    with world.workspace(clone) as workspace:
        return run_cycle(replace(workspace, client=stand(workspace.client), **options), PUSH)


def count_trees(read: list[str]) -> Callable[[Client], Any]:
    """Put something in front of a client that notes each tree that is read."""

    def stand(client: Client) -> Any:
        def note(group: str) -> Callable[..., Any]:
            def get(*ids: str, **options: Any) -> Any:
                read.append(group)
                return getattr(client, group).get(*ids, **options)

            return get

        return Stand(client, **{group: Stand(getattr(client, group), get=note(group)) for group in TREES})

    return stand


def hide_changes(client: Client) -> Any:
    """A platform that does not say what a revision has changed: then the tree is read after each write."""

    def get_changes(*ids: str, **options: Any) -> Changes:
        raise NotFound("no such route", status=404)

    return Stand(client, revisions=Stand(client.revisions, get_changes=get_changes))


def write_as_reviewer(world: Any, slug: str, text: str) -> None:
    with world.client() as client:
        pages = walk_pages(client.change_request_content.list_pages(world.space, "1"))
        id = next(page.id for page, _ in pages if page.slug == slug)
        operation = UpdatePage(page=id, document=Markdown(markdown=text))
        client.change_requests.write_content(world.space, "1", ContentWrite(changes=(operation,)))


def read_proposed(world: Any, slug: str) -> str:
    with world.client() as client:
        pages = walk_pages(client.change_request_content.list_pages(world.space, "1"))
        id = next(page.id for page, _ in pages if page.slug == slug)
        return str(client.change_request_content.get_page(world.space, "1", id).markdown)


def describe_lane(world: Any, clone: str, number: int) -> tuple[Any, ...]:
    """What Git and the store have of a change request: the trees of its commit and of the parents, and the anchors."""
    ref = f"platform/changes/docs/{number}"
    parents = world.git("log", "-1", "--format=%P", ref, clone=clone).split()
    trees = [world.git("rev-parse", f"{one}^{{tree}}", clone=clone).strip() for one in (ref, *parents)]
    refs = world.git("for-each-ref", "--format=%(refname:rstrip=2)", "refs/syncd", "refs/remotes", clone=clone).split()
    with world.workspace(clone) as workspace, world.client() as client:
        request = client.change_requests.get(world.space, str(number)).id
        main, lane = (workspace.store.read_last_seen(world.space, name) for name in ("main", request))
        anchors = {**main.anchors, **lane.anchors}.values()
        return trees, refs, sorted(one if one.id in main.anchors else one._replace(id="new") for one in anchors)


def test_an_edit_is_sent_without_reading_a_tree(world: Any, fine: Any) -> None:
    world.clone()
    edit = world.commit("Mine", {"options.md": OPTIONS, "guide/usage.md": USAGE})
    read: list[str] = []
    results = run(world, count_trees(read))
    fine(results)
    assert read == []
    assert isinstance(results[-1].outcome, Applied)
    assert [change.key for change in results[-1].outcome.changes] == ["#1", "guide/usage.md", "options.md"]
    assert world.git("rev-parse", "platform/changes/docs/1").strip() == edit
    again = world.commit("More", {"options.md": OPTIONS + "* more\n"})
    fine(run(world, count_trees(read)))
    assert read == []
    assert world.git("rev-parse", "platform/changes/docs/1").strip() == again
    assert read_proposed(world, "options").endswith("* more\n")
    fine(world.sync())
    assert world.requests[-1] == {"GET": 2}


EDITS = ({"options.md": OPTIONS}, {"options.md": OPTIONS + "* more\n", "guide/usage.md": USAGE})
INSERTS = (
    {"guide/new.md": NEW, "SUMMARY.md": SUMMARY.replace(SETUP, f"{SETUP}  * [New](guide/new.md)\n")},
    {"guide/new.md": f"{NEW}\nMore.\n", "options.md": OPTIONS},
)
RENAMES = (
    {
        "guide/install.md": SETUP_PAGE,
        "SUMMARY.md": RENAMED,
        # Else the platform changes its link, and that is read.
        "README.md": str(SMALL["README.md"]).replace("setup.md", "install.md"),
    },
    {"guide/install.md": f"{SETUP_PAGE}\nFour.\n"},
)


def test_a_page_that_the_platform_does_not_bring_back_is_inserted(world: Any, fine: Any) -> None:
    world.clone()
    world.commit("Drop", {"SUMMARY.md": SUMMARY.replace(SETUP, "")}, gone=("guide/setup.md",))
    fine(run(world, lambda client: client))
    world.git("revert", "--no-edit", "HEAD")
    refused: list[ContentWrite] = []

    def stand(client: Client) -> Any:
        def write_content(space: str, request: str, body: ContentWrite) -> ContentWritten:
            if any(isinstance(change, RevertPage) for change in body.changes):
                refused.append(body)
                raise Rejected("no such operation", status=400)
            return client.change_requests.write_content(space, request, body)

        return Stand(client, change_requests=Stand(client.change_requests, write_content=write_content))

    results = run(world, stand)
    fine(results)
    assert len(refused) == 1
    assert isinstance(results[-1].outcome, Applied)
    assert [change.key for change in results[-1].outcome.changes] == ["#1", "guide/setup.md"]
    assert world.git("rev-parse", "platform/changes/docs/1^{tree}") == world.git("rev-parse", "HEAD^{tree}")


@pytest.mark.long
@pytest.mark.parametrize(
    ("commits", "gone"),
    [(EDITS, ()), (INSERTS, ()), (RENAMES, ("guide/setup.md",))],
    ids=["edits", "inserts", "renames"],
)
def test_it_is_recorded_as_if_the_tree_had_been_read(
    world: Any, fine: Any, commits: tuple[Files, ...], gone: tuple[str, ...]
) -> None:
    """Branches of two clones ask for the same, one after the other; of the second request every tree is read."""
    found = []
    read: list[str] = []
    for number, (clone, stand) in enumerate((("clone", count_trees(read)), ("other", hide_changes)), start=1):
        world.clone(clone)
        world.git("switch", "--quiet", "--create", f"branch-{number}", clone=clone)
        for at, files in enumerate(commits):
            world.commit("Mine", dict(files), clone=clone, gone=() if at else gone)
            with world.workspace(clone) as workspace:
                options = replace(PUSH, branches=(f"branch-{number}",))
                fine(run_cycle(replace(workspace, client=stand(workspace.client)), options))
        found.append(describe_lane(world, clone, number))
        with world.workspace(clone) as workspace:  # as long as it is open, pages of the other clone wait for it
            archived = ChangeRequestUpdate(status="archived")
            workspace.client.change_requests.update(world.space, str(number), archived)
    assert found[0] == found[1]
    assert read == []


def test_what_the_platform_refuses_is_planned_with_both_trees(world: Any, fine: Any) -> None:
    """A table of contents does not tell which slugs are taken: the platform does, and nothing is written then."""
    world.clone()
    edit = world.commit("Mine", dict(INSERTS[0]))
    refused: list[ContentWrite] = []

    def stand(client: Client) -> Any:
        def write_content(space: str, request: str, body: ContentWrite) -> ContentWritten:
            if not refused:
                refused.append(body)
                raise Rejected("this slug is taken", status=400)
            return client.change_requests.write_content(space, request, body)

        return Stand(client, change_requests=Stand(client.change_requests, write_content=write_content))

    results = run(world, stand)
    fine(results)
    assert refused
    assert isinstance(results[-1].outcome, Applied)
    assert [change.key for change in results[-1].outcome.changes] == ["#1", "guide/new.md"]
    assert world.git("rev-parse", "platform/changes/docs/1").strip() == edit


@pytest.mark.long
@pytest.mark.parametrize(
    ("files", "gone"),
    [
        ({"guide/new.md": NEW}, ""),
        ({"first.md": NEW, "SUMMARY.md": SUMMARY.replace("* [Home]", "* [First](first.md)\n* [Home]")}, ""),
        ({"guide/in.md": NEW, "SUMMARY.md": SUMMARY.replace(SETUP, f"{SETUP}    * [New](guide/in.md)\n")}, ""),
        ({"new.md": NEW, "SUMMARY.md": SUMMARY + "* [New](new.md)\n"}, ""),
        ({"SUMMARY.md": SUMMARY.replace(SETUP, "")}, "guide/setup.md"),
        ({"SUMMARY.md": SUMMARY.replace("[Setup]", "[Set it up]")}, ""),
        (
            {"setup.md": SETUP_PAGE, "SUMMARY.md": SUMMARY.replace("guide/setup", "setup")},
            "guide/setup.md",
        ),
    ],
    ids=["unlisted", "first", "first-child", "in-a-group", "deleted", "retitled", "in-another-folder"],
)
def test_whatever_else_a_push_changes_is_left_to_the_trees(world: Any, fine: Any, files: Files, gone: str) -> None:
    world.clone()
    world.commit("Mine", {"options.md": OPTIONS, **files}, gone=(gone,) if gone else ())
    read: list[str] = []
    fine(run(world, count_trees(read)))
    assert "content" in read


@pytest.mark.long
@pytest.mark.parametrize("slug", ["usage", "options"])
@pytest.mark.parametrize("is_second", [False, True])
def test_what_a_reviewer_writes_right_before_the_write_is_kept(
    world: Any, fine: Any, slug: str, is_second: bool
) -> None:
    """Between the last look at the change request and the write, which no platform compares."""
    world.clone()
    world.commit("Mine", {"options.md": OPTIONS})
    if is_second:
        fine(world.push())
        world.commit("More", {"options.md": OPTIONS + "* more\n"})
    # In another place than the writer's edit, so that both can be kept.
    former = OPTIONS if is_second else "# Options\n\n* first\n* second\n"
    theirs = {
        "usage": "# Usage\n\nWords of a reviewer.\n",
        "options": former.replace("# Options\n", "# Options\n\nWords of a reviewer.\n"),
    }[slug]

    def stand(client: Client) -> Any:
        def write_content(space: str, request: str, body: ContentWrite) -> ContentWritten:
            if not written:
                written.append(request)
                write_as_reviewer(world, slug, theirs)
            return client.change_requests.write_content(space, request, body)

        written: list[str] = []
        return Stand(client, change_requests=Stand(client.change_requests, write_content=write_content))

    run(world, stand)
    with world.client() as client:
        request = client.change_requests.get(world.space, "1")
    with world.workspace() as workspace:
        assert workspace.store.read_lane(world.space, request.id).revision == request.revision
    world.sync()
    world.sync()
    everywhere = world.git("grep", "-h", "Words of a reviewer", "platform/changes/docs/1")
    assert "Words of a reviewer" in everywhere
    assert "Words of a reviewer" in read_proposed(world, slug)
    assert "mine" in read_proposed(world, "options")


@pytest.mark.parametrize("slug", ["usage", "options"])
def test_what_a_reviewer_writes_right_after_the_write_is_read(world: Any, fine: Any, slug: str) -> None:
    world.clone()
    world.commit("Mine", {"options.md": OPTIONS})

    def stand(client: Client) -> Any:
        def get_changes(*ids: str, **options: Any) -> Changes:
            found = client.revisions.get_changes(*ids, **options)
            write_as_reviewer(world, slug, f"# {slug.title()}\n\nWords of a reviewer.\n")
            return found

        return Stand(client, revisions=Stand(client.revisions, get_changes=get_changes))

    fine(run(world, stand))
    assert "Words of a reviewer." in world.git("grep", "-h", "reviewer", "platform/changes/docs/1")
    world.sync()
    assert "Words of a reviewer." in read_proposed(world, slug)


def test_an_update_from_main_content_right_before_the_write_is_found(world: Any, fine: Any) -> None:
    world.clone()
    world.commit("Mine", {"options.md": OPTIONS})
    fine(world.push())
    world.commit("More", {"options.md": OPTIONS + "* more\n"})

    def stand(client: Client) -> Any:
        def write_content(space: str, request: str, body: ContentWrite) -> ContentWritten:
            world.edit_on_platform({"errors.md": "# Errors explained\n\nNews in main content.\n"})
            client.change_requests.refresh(space, request)
            return client.change_requests.write_content(space, request, body)

        return Stand(client, change_requests=Stand(client.change_requests, write_content=write_content))

    run(world, stand)
    with world.client() as client:
        request = client.change_requests.get(world.space, "1")
    with world.workspace() as workspace:
        lane = workspace.store.read_lane(world.space, request.id)
    assert lane is None or lane.revision == request.revision
    fine(world.sync())
    assert "News in main content." in world.git("show", "main:errors.md")
    assert "more" in read_proposed(world, "options")


def test_a_file_that_an_edited_page_links_to_first_is_uploaded(world: Any, fine: Any) -> None:
    world.clone()
    world.commit("A file", {"data/table.csv": b"a,b\n"})
    world.push()
    world.commit("A link", {"options.md": "# Options\n\n[Table](data/table.csv)\n"})
    fine(world.push())
    with world.client() as client:
        names = {file.name for file in client.change_request_content.get(world.space, "1").files}
    assert "table.csv" in names


@pytest.mark.parametrize(
    "text",
    [
        "# Options\r\n\r\n* first\r\n* second\r\n",
        "\ufeff# Options\n\n* first\n* second\n",
        "# Options\n\n* first\n* second",
        "# Options\n\n* first\n* second\n\n\n",
    ],
    ids=["CRLF", "byte order mark", "no newline at the end", "empty lines at the end"],
)
def test_line_ends_and_the_end_of_a_page_alone_open_no_change_request(world: Any, fine: Any, text: str) -> None:
    world.clone()
    world.commit("Line ends", {"options.md": text})
    fine(world.push())
    with world.client() as client:
        assert not list(client.change_requests.list(world.space, status="open"))


def test_what_the_platform_wrote_in_another_way_is_read(world: Any, fine: Any) -> None:
    """The blob that arrived is not the one that was sent: the tree is read, and Git keeps its bytes."""
    world.clone()
    edit = world.commit("Mine", {"options.md": OPTIONS.replace("\n", "\r\n")})
    read: list[str] = []
    fine(run(world, count_trees(read)))
    assert "change_request_content" in read
    assert world.git("rev-parse", "platform/changes/docs/1").strip() == edit
