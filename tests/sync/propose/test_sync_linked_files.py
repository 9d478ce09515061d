"""Files outside of `.gitbook/assets`, which are content where a page links to them."""

from typing import Any

from syncd.model.content_write import FILE_BYTES_MAX
from syncd.sync.state.linked_files import find_linking_pages
from tests.sync.conftest import changed

LARGE = b"x" * (FILE_BYTES_MAX + 1)
OPTIONS = "# Options\n\n* first\n* second\n\n[All](files/all_of-them%20now.zip)\n"
FILE = "files/all_of-them now.zip"


def _list_reported(results: Any) -> list[str]:
    return [change.key for change in changed(results, "propose").changes if change.verb == "report"]


def test_a_file_that_is_too_large_is_reported_until_the_platform_has_it(world: Any) -> None:
    world.clone()
    world.commit("Add a large file", {FILE: LARGE, "options.md": OPTIONS})
    assert _list_reported(world.push()) == [FILE]
    world.merge(1)
    world.sync()
    assert _list_reported(world.sync()) == [FILE]
    assert (world.root / "clone" / FILE).read_bytes() == LARGE
    assert world.git("ls-tree", "--name-only", "platform/main", "files/") == ""
    world.commit("Edit another page", {"errors.md": "# Errors explained\n\nAnother text.\n"})
    assert _list_reported(world.push()) == [FILE]
    world.commit("Take the link out", {"options.md": "# Options\n\n* first\n* second\n"})
    assert _list_reported(world.push()) == []


def test_pages_are_read_once_for_a_file_that_waits(world: Any) -> None:
    world.clone()
    world.commit("Add a large file", {FILE: LARGE, "options.md": OPTIONS})
    world.push()
    with world.workspace() as workspace:
        repository, tip = workspace.repository, workspace.repository.resolve("refs/heads/main")
        blobs = {path: blob.oid for path, blob in repository.list_files(tip).items()}
        pages = {"options.md": blobs["options.md"], "errors.md": "0" * 40}  # to read the second one would fail
        found = find_linking_pages(repository, workspace.bindings[0], pages, {FILE: blobs[FILE]}, root="")
    assert found == {FILE: ("options.md",)}


def test_a_file_that_comes_after_its_link_is_sent_and_the_page_with_it(world: Any) -> None:
    world.clone()
    world.commit("Link to a file", {"options.md": OPTIONS})
    world.push()
    world.merge(1)
    world.sync()
    world.commit("Add the file", {FILE: b"A small one."})
    sent = [(change.verb, change.key) for change in changed(world.push(), "propose").changes]
    assert sent[1:] == [("create", FILE), ("update", "options.md")]
    with world.client() as client:
        page = next(
            p for p in client.change_request_content.get(world.space, "2").pages[2].pages if p.slug == "options"
        )
        text = client.change_request_content.get_page(world.space, "2", page.id).markdown
    assert "files/all_of-them" not in text
    world.merge(2)
    world.sync()
    assert (world.root / "clone" / "options.md").read_text() == OPTIONS
    assert all(result.outcome.exit_code == 0 for result in world.sync())
    assert world.git("diff", "platform/main", "main") == ""


def test_a_new_file_that_no_page_links_to_is_no_content(world: Any) -> None:
    world.clone()
    world.commit("Add code", {"code/all.zip": LARGE})
    assert all(result.flow != "propose" or not hasattr(result.outcome, "changes") for result in world.push())


def test_nobody_is_asked_to_delete_a_file_that_pages_still_show(world: Any) -> None:
    world.clone()
    world.commit("Add a file", {FILE: b"A small one.", "options.md": OPTIONS})
    world.push()
    world.merge(1)
    world.sync()
    world.commit("Clean up", {}, gone=[FILE])
    (report,) = changed(world.push(), "propose").changes
    kept = "Leave this file on the platform: options.md links to it. In Git, bring it back or take the links out."
    assert (report.verb, report.key, report.message) == ("report", FILE, kept)
    world.commit("Take the link out", {"options.md": "# Options\n\n* first\n* second\n"})
    (report,) = (change for change in changed(world.push(), "propose").changes if change.verb == "report")
    assert report.message == "Delete this file, which the API cannot do."
