"""Mirror: main content becomes Git, once, exactly, and only as much as changed."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from syncd import fault_points
from syncd.errors import BecameEmpty, Unreachable
from syncd.fault_points import FaultPoint
from syncd.model.change_request import ChangeRequestCreate
from syncd.model.content_write import ContentWrite, DeletePage, InsertPage, Markdown, UpdatePage
from syncd.model.page import walk_pages
from syncd.sync.outcome import Applied, Held, Unchanged
from syncd.sync.run.values import RunOptions


def files_of(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(directory).parts[:1]
    }


def test_a_clone_holds_what_was_published_byte_for_byte(world: Any, small: dict[str, str | bytes]) -> None:
    clone = world.clone()
    assert files_of(clone) == {path: c if isinstance(c, bytes) else c.encode() for path, c in small.items()}
    assert world.git("status", "--porcelain") == ""


def test_the_commit_carries_what_syncd_must_remember(world: Any) -> None:
    world.clone()
    message = world.git("log", "-1", "--format=%B", "platform/main")
    assert message.startswith("Mirror Docs\n\nSyncd-Space: ")
    with world.client() as client:
        assert f"Syncd-Revision: {client.spaces.get(world.space).revision}\n" in message
    assert world.git("log", "-1", "--format=%cn", "platform/main") == "syncd\n"


def test_a_second_run_writes_nothing_and_asks_once(world: Any, fine: Any) -> None:
    world.clone()
    before = world.git("rev-parse", "platform/main", "main")
    results = world.sync()
    fine(results)
    assert all(isinstance(result.outcome, Unchanged) for result in results)
    assert world.requests[-1] == {"GET": 1}
    assert world.git("rev-parse", "platform/main", "main") == before


def test_only_what_changed_is_fetched(world: Any, fine: Any) -> None:
    clone = world.clone()
    world.edit_on_platform({"options.md": "# Options\n\n* first\n* second\n* third\n"})
    fine(world.pull())
    assert world.requests[-1] == {"GET": 4}  # the space, its content, one page, the space again
    assert (clone / "options.md").read_text().endswith("* third\n")
    assert world.git("diff", "--name-only", "HEAD^", "HEAD") == "options.md\n"
    assert world.git("status", "--porcelain") == ""


def test_two_clones_write_the_same_commit_for_a_revision_whenever_they_do(world: Any, fine: Any) -> None:
    world.clone()
    world.clone("other")
    world.edit_on_platform({"options.md": "# Options\n\nRewritten.\n"})
    fine(world.pull())
    world.ahead = timedelta(days=1)
    fine(world.pull("other"))
    assert world.git("rev-parse", "platform/main") == world.git("rev-parse", "platform/main", clone="other")


def test_deleting_the_store_costs_time_and_nothing_else(world: Any, fine: Any) -> None:
    clone = world.clone()
    (clone / ".git" / "syncd-state.db").unlink()
    world.edit_on_platform({"options.md": "# Options\n\nRewritten.\n"})
    fine(world.pull())
    assert world.git("diff", "--name-only", "HEAD^", "HEAD") == "options.md\n"
    assert world.requests[-1] == {"GET": 5}  # also the revision that the last commit stands for


def test_a_page_renamed_while_the_store_was_lost_moves_like_any_other(world: Any, fine: Any) -> None:
    clone = world.clone()
    (clone / ".git" / "syncd-state.db").unlink()
    with world.client() as client:
        pages = {page.slug: page for page, _ in walk_pages(client.content.get(world.space).pages)}
        number = client.change_requests.create(world.space, ChangeRequestCreate(subject="Rename")).id
        rename = UpdatePage.model_validate({"page": pages["options"].id, "slug": "choices"})
        client.change_requests.write_content(world.space, number, ContentWrite(changes=(rename,)))
        client.change_requests.merge(world.space, number)
    fine(world.pull())
    assert (clone / "choices.md").read_text() == "# Options\n\n* first\n* second\n"
    assert not (clone / "options.md").exists()


def test_files_that_are_no_pages_are_left_alone(world: Any, fine: Any) -> None:
    clone = world.clone()
    world.commit("Add a draft", {"drafts/idea.md": "# Idea\n", "LICENSE": "mine\n"})
    world.edit_on_platform({"errors.md": "# Errors explained\n\nChanged.\n"})
    fine(world.pull())
    assert (clone / "drafts" / "idea.md").read_text() == "# Idea\n"
    assert (clone / "errors.md").read_text().endswith("Changed.\n")


def test_a_directory_of_its_own_leaves_the_rest_of_the_repository(world: Any, small: dict[str, str | bytes]) -> None:
    clone = world.clone(directory="docs")
    assert set(files_of(clone)) == {f"docs/{path}" for path in small}


def test_a_space_that_became_empty_does_not_empty_the_repository(world: Any) -> None:
    world.clone()
    empty = world.root / "empty"
    empty.mkdir()
    (empty / "SUMMARY.md").write_text("# Table of contents\n")
    from syncd.platform.services.directory.read import import_directory

    import_directory(world.storage, empty, title=None, space=world.space)
    before = world.git("rev-parse", "platform/main")
    (held,) = [result.outcome for result in world.pull() if result.flow == "mirror"]
    assert isinstance(held, Held)
    assert held.exit_code == BecameEmpty.exit_code
    assert "--force mirror.docs=6" in held.hint
    assert world.git("rev-parse", "platform/main") == before
    results = world.run(RunOptions(propose=False), force={"mirror.docs": 6})
    assert not [result for result in results if result.outcome.exit_code]


@pytest.mark.parametrize("state", ["edited", "untracked"])
def test_an_edit_that_is_not_committed_is_never_overwritten(world: Any, state: str) -> None:
    clone = world.clone()
    if state == "edited":
        (clone / "options.md").write_text("my unsaved thoughts\n")
        world.edit_on_platform({"options.md": "# Options\n\nTheirs.\n"})
    else:
        (clone / "new.md").write_text("my unsaved thoughts\n")
        summary = (clone / "SUMMARY.md").read_text() + "* [New](new.md)\n"
        world.edit_on_platform({"new.md": "# New\n\nTheirs.\n", "SUMMARY.md": summary})
    before = world.git("rev-parse", "main")
    results = world.pull()
    (held,) = [result.outcome for result in results if result.outcome.exit_code]
    assert isinstance(held, Held)
    assert held.exit_code == 5
    name = "options.md" if state == "edited" else "new.md"
    assert name in held.why + held.hint + "".join(held.paths)
    assert (clone / name).read_text() == "my unsaved thoughts\n"
    assert world.git("rev-parse", "main") == before
    assert world.git("rev-parse", "platform/main") != before


def test_an_edit_of_another_file_does_not_stand_in_the_way(world: Any, fine: Any) -> None:
    clone = world.clone()
    (clone / "errors.md").write_text("my unsaved thoughts\n")
    world.edit_on_platform({"options.md": "# Options\n\nTheirs.\n"})
    fine(world.pull())
    assert (clone / "options.md").read_text() == "# Options\n\nTheirs.\n"
    assert (clone / "errors.md").read_text() == "my unsaved thoughts\n"
    assert world.git("status", "--porcelain") == " M errors.md\n"


def test_every_revision_that_passed_becomes_a_commit_of_its_own(world: Any, fine: Any) -> None:
    clone = world.clone()
    before = world.git("rev-parse", "platform/main").strip()
    for number in range(3):
        world.edit_on_platform({"options.md": f"# Options\n\n* {number}\n", f"page-{number}.md": "# New\n"})
    fine(world.pull())
    shown = "%(trailers:key=Syncd-Revision,valueonly,separator=%x2C)"
    revisions = world.git("log", "--first-parent", f"--format={shown}", f"{before}..platform/main").split()
    assert len(set(revisions)) == 3
    texts = [world.git("show", f"platform/main~{back}:options.md") for back in (2, 1, 0)]
    assert [text.split()[-1] for text in texts] == ["0", "1", "2"]
    assert "page-1.md" not in world.git("ls-tree", "--name-only", "platform/main~2")
    assert (clone / "options.md").read_text().endswith("* 2\n")
    assert all(isinstance(result.outcome, Unchanged) for result in world.sync())


def test_an_interrupted_run_makes_the_same_commits_in_the_end(world: Any, fine: Any) -> None:
    world.clone()
    before = world.git("rev-parse", "platform/main").strip()
    for number in range(3):
        world.edit_on_platform({"options.md": f"# Options\n\n* {number}\n"})
    fine(world.pull())
    trees = world.git("log", "--first-parent", "--format=%T", f"{before}..platform/main")
    world.git("update-ref", "refs/remotes/platform/main", "platform/main~2")
    fine(world.pull())
    assert world.git("log", "--first-parent", "--format=%T", f"{before}..platform/main") == trees


def test_a_large_file_arrives_byte_for_byte(world: Any, fine: Any) -> None:
    clone = world.clone()
    large = bytes(range(256)) * (12 << 10)
    page = "# Usage\n\n[A large one](../.gitbook/assets/large.bin)\n"
    world.edit_on_platform({".gitbook/assets/large.bin": large, "guide/usage.md": page})
    fine(world.pull())
    assert (clone / ".gitbook/assets/large.bin").read_bytes() == large
    assert world.git("fsck", "--strict") == ""


def test_a_merge_of_somebody_else_carries_their_name_and_words(world: Any, fine: Any) -> None:
    world.clone()
    with world.client() as client:
        pages = [page for page, _ in walk_pages(client.content.get(world.space).pages)]
        (options,) = [page.id for page in pages if page.slug == "options"]
        for words in ("First words", "Second words"):
            request = client.change_requests.create(world.space, ChangeRequestCreate(subject=words))
            change = UpdatePage(page=options, document=Markdown(markdown=f"# Options\n\n{words}\n"))
            client.change_requests.write_content(world.space, request.id, ContentWrite(changes=(change,)))
            client.change_requests.merge(world.space, request.id)
        who = client.users.get_current().display_name
    fine(world.pull())
    shown = "%an|%s|%(trailers:key=Syncd-Change-Request,valueonly,separator=%x2C)"
    found = world.git("log", "--first-parent", "-2", f"--format={shown}", "platform/main").splitlines()
    assert found == [f"{who}|Second words|2", f"{who}|First words|1"]


def test_a_page_made_anew_at_the_path_of_a_deleted_one_is_told_as_that(world: Any, fine: Any, applied: Any) -> None:
    world.clone()
    with world.client() as client:
        request = client.change_requests.create(world.space, ChangeRequestCreate(subject="Anew"))
        pages = walk_pages(client.content.get(world.space).pages)
        ((page, above),) = [found for found in pages if found[0].slug == "options"]
        anew = {"title": page.title, "slug": "options", "document": {"markdown": "# Options\n\nAnew.\n"}}
        insert = InsertPage.model_validate(anew | ({"into": above.id} if above else {}))
        for change in (DeletePage(page=page.id), insert):
            client.change_requests.write_content(world.space, request.id, ContentWrite(changes=(change,)))
        client.change_requests.merge(world.space, request.id)
    results = world.pull()
    fine(results)
    changes = applied(results, "mirror").changes
    told = [(change.verb, change.message) for change in changes if change.key == "options.md"]
    assert told == [("create", ""), ("delete", "another page has its path now")]
    assert "Anew." in (world.root / "clone" / "options.md").read_text()


def test_revisions_that_were_mirrored_are_told_where_a_later_one_fails(
    world: Any, fine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.clone()
    fine(world.pull())
    for text in ("one", "two"):
        world.edit_on_platform({"options.md": f"# Options\n\n* {text}\n"})
    reached: list[FaultPoint] = []

    def fail(point: FaultPoint) -> None:
        reached.append(point)
        if reached.count(FaultPoint.COMMIT_STREAMED) == 2:
            raise Unreachable("the platform is away")

    monkeypatch.setattr(fault_points, "on_reach", fail)
    done, failed = [one.outcome for one in world.pull() if one.flow == "mirror"]
    assert isinstance(done, Applied)
    assert [change.key for change in done.changes if change.noun == "mirror"] == ["docs"]
    assert failed.exit_code == Unreachable.exit_code
    assert "* one" in world.git("show", "platform/main:options.md")
    monkeypatch.undo()
    fine(world.pull())
    assert "* two" in world.git("show", "platform/main:options.md")
