"""A page that wins or loses pages below it lies at another path; it stays one page, on whichever side that happens."""

from typing import Any

import pytest

from syncd.model.change_request import ChangeRequestCreate
from syncd.model.content_write import ContentWrite, InsertPage, Operation, UpdatePage
from syncd.model.page import walk_pages
from syncd.sync.run.values import RunOptions

TABLE = (
    "# Table of contents\n\n* [Home](README.md)\n* [Guide](guide/README.md)\n  * [Setup](guide/setup.md)\n"
    "  * [Usage](guide/usage.md)\n  * [Errors](errors.md)\n\n## Reference\n\n* [Options](options.md)\n"
)


def edit_main(world: Any, *operations: Operation) -> None:
    """Somebody changes main content by a change request of their own."""
    with world.client() as client:
        request = client.change_requests.create(world.space, ChangeRequestCreate(subject="Theirs"))
        client.change_requests.write_content(world.space, request.id, ContentWrite(changes=operations))
        assert client.change_requests.merge(world.space, request.id).result == "merge"


def ids(world: Any) -> dict[str, str]:
    """Ids of pages by title."""
    with world.client() as client:
        return {page.title: page.id for page, _ in walk_pages(client.content.get(world.space).pages)}


def titles_of(world: Any) -> list[str]:
    """The headings of all pages of the clone."""
    files = [path for path in world.git("ls-files").splitlines() if path.endswith(".md") and path != "SUMMARY.md"]
    return sorted((world.root / "clone" / path).read_text().split("# ")[1].splitlines()[0] for path in files)


@pytest.mark.parametrize("parent", ["Options", pytest.param("New", marks=pytest.mark.long)])
@pytest.mark.parametrize("runs", [1, pytest.param(3, marks=pytest.mark.long)])
def test_a_page_whose_only_child_a_change_request_has_elsewhere_stands_once(
    world: Any, fine: Any, parent: str, runs: int
) -> None:
    """Main content puts a page below another one, which the change request has below a third."""
    world.clone()
    world.commit("Move", {"SUMMARY.md": TABLE})
    fine(world.sync())
    if parent == "New":
        new = {"document": {"markdown": "# New\n\nWords.\n"}, "slug": "new"}
        edit_main(world, InsertPage.model_validate(new))
    page = ids(world)
    edit_main(world, UpdatePage.model_validate({"page": page["Errors"], "into": page[parent]}))
    before = titles_of(world)
    for _ in range(runs):
        fine(world.sync())
    expected = sorted([*before, *(["New"] if parent == "New" else [])])
    assert titles_of(world) == expected
    assert world.merge(1) == "merge"
    for _ in range(2):
        fine(world.sync())
    assert titles_of(world) == expected
    assert world.git("diff", "--stat", "main", "platform/main") == ""


def test_a_page_that_both_sides_gave_pages_below_stands_once_when_they_are_merged(world: Any, fine: Any) -> None:
    """In the change request it lies where the branch lists it, and in main content it has become a folder."""
    world.clone()
    table = TABLE.replace("* [Options](options.md)\n", "* [Options](options.md)\n  * [More](more.md)\n")
    world.commit("Add", {"SUMMARY.md": table, "more.md": "# More\n"})
    fine(world.sync())
    page, before = ids(world), titles_of(world)
    edit_main(world, UpdatePage.model_validate({"page": page["Usage"], "into": page["Options"]}))
    fine(world.run(RunOptions(integrate=False, propose=False)))
    with world.client() as client:
        client.change_requests.refresh(world.space, "1")
    assert world.merge(1) == "merge"
    for _ in range(2):
        fine(world.sync())
        assert titles_of(world) == before
    assert world.git("diff", "--stat", "main", "platform/main") == ""
