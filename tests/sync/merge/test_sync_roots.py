"""One side gives a space another root in `.gitbook.yaml`, and the other side goes on where the files were."""

from typing import Any

import pytest

from syncd.plan.merge.pages import SIDES, Side, other_side
from syncd.sync.merge.compose import apply_choices
from syncd.sync.merge.leave_out import leave_out
from syncd.sync.merge.merge import merge
from syncd.sync.merge.result import Choice, OwnText
from tests.sync.merge.place import BASE, LINES, Files, Place

X = f"# The page\n\n{LINES}"


def below(files: Files, root: str = "text", more: str = "") -> Files:
    return {**{f"{root}/{path}": text for path, text in files.items()}, ".gitbook.yaml": f"root: ./{root}\n{more}"}


def without_page(files: Files) -> Files:
    summary = str(files["SUMMARY.md"]).replace("* [The page](x.md)\n", "")
    return {**{path: text for path, text in files.items() if path != "x.md"}, "SUMMARY.md": summary}


def merge_sides(place: Place, former: Files, mover: Side, moved: Files, other: Files) -> Any:
    base = place.commit(former)
    files = {mover: moved, other_side(mover): other}
    return merge(place.workspace, *(place.commit(files[side], base) for side in SIDES))


@pytest.mark.parametrize("mover", SIDES)
def test_a_page_that_one_side_deletes_stays_listed_where_the_other_edits_it(place: Place, mover: Side) -> None:
    edited: Files = {**BASE, "x.md": X.replace("Line 3 of", "My line of")}
    for moved, other in ((below(without_page(BASE)), edited), (below(edited), without_page(BASE))):
        result = merge_sides(place, BASE, mover, moved, other)
        assert not result.conflicts
        files = place.files(result.tree_with_ours)
        assert "My line of" in files["text/x.md"]
        assert "(x.md)" in files["text/SUMMARY.md"]
        assert not [path for path in files if not path.startswith(("text/", ".gitbook"))]


def test_where_both_moved_alike_the_same_holds(place: Place) -> None:
    edited: Files = {**BASE, "x.md": X.replace("Line 3 of", "My line of")}
    files = place.files(merge_sides(place, BASE, "ours", below(without_page(BASE)), below(edited)).tree_with_ours)
    assert "My line of" in files["text/x.md"]
    assert "(x.md)" in files["text/SUMMARY.md"]


@pytest.mark.parametrize("chosen", [*SIDES, OwnText(b"# The page\n\nBoth.\n")], ids=["ours", "theirs", "a text"])
@pytest.mark.parametrize("mover", SIDES)
def test_a_page_in_conflict_lies_below_the_new_root(place: Place, mover: Side, chosen: Choice) -> None:
    one, other = (X.replace("Line 3 of", f"{side} of") for side in SIDES)
    result = merge_sides(place, BASE, mover, below({**BASE, "x.md": one}), {**BASE, "x.md": other})
    assert [conflict.path for conflict in result.conflicts] == ["text/x.md"]
    settled = apply_choices(place.workspace, result, {"text/x.md": chosen})
    for tree in (result.tree_with_ours, result.tree_with_theirs, settled.tree_with_ours):
        files = place.files(tree)
        assert set(files) == set(below(BASE))
        assert "(x.md)" in files["text/SUMMARY.md"]


@pytest.mark.parametrize("mover", SIDES)
def test_other_settings_of_the_side_that_stays_are_kept(place: Place, mover: Side) -> None:
    former: Files = {**BASE, ".gitbook.yaml": "redirects:\n  old: x.md\n"}
    moved = below(BASE, more="redirects:\n  old: x.md\n")
    other: Files = {**BASE, ".gitbook.yaml": "redirects:\n  old: x.md\n  older: x.md\n"}
    result = merge_sides(place, former, mover, moved, other)
    assert not result.conflicts
    assert place.files(result.tree_with_ours) == {
        **moved,
        ".gitbook.yaml": "root: ./text\nredirects:\n  old: x.md\n  older: x.md\n",
    }


def test_of_two_new_roots_ours_stands_and_a_note_says_so(place: Place) -> None:
    new: Files = {**BASE, "new.md": "# New\n", "SUMMARY.md": str(BASE["SUMMARY.md"]) + "* [New](new.md)\n"}
    result = merge_sides(place, BASE, "ours", below(BASE), below(new, "content"))
    assert not result.conflicts
    assert place.files(result.tree_with_ours) == below(new)
    assert result.notes == (".gitbook.yaml: both sides gave it another root; it is ./text, not ./content",)


def test_a_root_that_is_taken_back_takes_no_other_file_along(place: Place) -> None:
    former: Files = {**below(BASE), "setup.py": "pass\n"}
    moved: Files = {**BASE, "setup.py": "pass\n"}
    other: Files = {**former, "text/x.md": X.replace("Line 3 of", "My line of")}
    files = place.files(merge_sides(place, former, "ours", moved, other).tree_with_ours)
    assert files == {**moved, "x.md": X.replace("Line 3 of", "My line of")}


def test_a_page_that_is_left_out_is_as_the_base_has_it_below_the_new_root(place: Place) -> None:
    """What is not sent of a branch that gave the space another root must not look as if it were deleted."""
    base = place.commit(BASE)
    tip = place.commit(below({**BASE, "x.md": X.replace("Line 3 of", "My line of")}), base)
    tree = leave_out(place.repository, place.workspace.bindings, tip, base, [("text/x.md", "x.md")])
    assert place.files(tree) == below(BASE)


@pytest.mark.parametrize("mover", SIDES)
def test_a_table_of_contents_under_another_name_is_merged_by_what_it_says(place: Place, mover: Side) -> None:
    edited: Files = {**BASE, "x.md": X.replace("Line 3 of", "My line of")}
    rest = without_page(BASE)
    settings = {"toc.md": rest.pop("SUMMARY.md"), ".gitbook.yaml": "structure:\n  summary: toc.md\n"}
    moved = {**rest, **settings}
    files = place.files(merge_sides(place, BASE, mover, moved, edited).tree_with_ours)
    assert "My line of" in files["x.md"]
    assert "(x.md)" in files["toc.md"]
    assert "SUMMARY.md" not in files
