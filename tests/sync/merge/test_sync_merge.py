"""Two sides meet page by page: every pair of deeds has the outcome that the manual promises, and no words are lost."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from syncd.plan.merge.hunks import Labels, join_hunks, list_hunks, replace_hunks
from syncd.plan.merge.pages import NOT_TEXT, SAME_PLACE, SIDES, TITLES, Side, other_side
from syncd.sync.bind.former_records import convert_former_record
from syncd.sync.binding import Binding
from syncd.sync.merge.compose import apply_choices
from syncd.sync.merge.leave_out import leave_out
from syncd.sync.merge.merge import merge
from syncd.sync.merge.result import MergeResult
from syncd.sync.merge.texts import split_conflict
from syncd.sync.merge.write_part import write_part
from tests.plan.merge.deeds import Deed, outcome, pairs, table_lines
from tests.sync.merge.place import BASE, LINES, Files, Place


def edited(text: str | bytes, line: int, words: str) -> str:
    assert isinstance(text, str)
    return text.replace(f"Line {line} of", f"{words} of")


def done(deed: Deed, side: str, line: int) -> Files:
    """The files after a deed; each side writes words of its own into a line, a name or a title."""
    files = dict(BASE)
    summary = str(files["SUMMARY.md"])

    def moved(path: str) -> None:
        files[path] = files.pop("x.md")
        files["SUMMARY.md"] = summary.replace("(x.md)", f"({path})")

    match deed:
        case Deed.EDITED:
            files["x.md"] = edited(files["x.md"], line, f"{side}-text")
        case Deed.MOVED:
            moved(f"{side}.md")
        case Deed.MOVED_AND_EDITED:
            files["x.md"] = edited(files["x.md"], line, f"{side}-text")
            moved(f"{side}.md")
        case Deed.FOLDER:
            moved("x/README.md")
        case Deed.RETITLED:
            files["SUMMARY.md"] = summary.replace("[The page]", f"[{side}-title]")
        case Deed.REORDERED:
            rest = summary.replace("* [The page](x.md)\n", "")
            first, last = "* [The page](x.md)\n* [Home]", "(other.md)\n  * [The page](x.md)\n"
            files["SUMMARY.md"] = (
                rest.replace("* [Home]", first) if side == "ours" else rest.replace("(other.md)\n", last)
            )
        case Deed.DELETED:
            del files["x.md"]
            files["SUMMARY.md"] = summary.replace("* [The page](x.md)\n", "")
        case Deed.ADDED:
            files["new.md"] = f"# New\n\n{side}-text\n"
            files["SUMMARY.md"] = summary + "* [New](new.md)\n"
    return files


def words_of(deed: Deed, side: str) -> set[str]:
    text = {f"{side}-text"} if "text" in deed.changes else set()
    return text | ({f"{side}-title"} if "title" in deed.changes else set())


def met(place: Place, ours: Deed, theirs: Deed, *, same_lines: bool) -> MergeResult:
    base = place.commit(BASE)
    one = place.commit(done(ours, "ours", 1), base)
    other = place.commit(done(theirs, "theirs", 1 if same_lines else 7), base)
    return merge(place.workspace, one, other)


@pytest.mark.parametrize(("ours", "theirs"), list(pairs()), ids=lambda deed: deed.name)
def test_every_pair_of_deeds_has_the_outcome_that_the_table_states(place: Place, ours: Deed, theirs: Deed) -> None:
    promise = outcome(ours, theirs)
    meeting = met(place, ours, theirs, same_lines=False)
    conflict = met(place, ours, theirs, same_lines=True) if promise.may_be_held else None
    where = {"x.md", "x/README.md", "ours.md", "theirs.md", "new.md"}
    if conflict is not None:
        assert len(conflict.conflicts) == 1
        for tree, side, deed in (
            (conflict.tree_with_ours, "ours", ours),
            (conflict.tree_with_theirs, "theirs", theirs),
        ):
            assert words_of(deed, side) <= words_in(place, tree)
        both_titled = "title" in ours.changes & theirs.changes
        if not both_titled and Deed.ADDED not in (ours, theirs):
            assert meeting.conflicts == ()
    if conflict is None or not meeting.conflicts:
        assert meeting.conflicts == ()
        files = place.files(meeting.tree_with_ours)
        found = where & files.keys()
        assert len(found) == (1 if promise.stays else 0), found
        listed = place.titles(meeting.tree_with_ours)
        assert where & listed.keys() == found
        assert files.keys() - {"SUMMARY.md"} == listed.keys()
        if promise.stays:
            assert words_of(ours, "ours") | words_of(theirs, "theirs") <= words_in(place, meeting.tree_with_ours)
            assert found == {place_of(ours, theirs)}


@pytest.mark.parametrize("base_files", [BASE, {path: BASE[path] for path in ("README.md", "SUMMARY.md", "other.md")}])
@pytest.mark.parametrize("chosen", SIDES)
def test_of_two_titles_the_chosen_one_stands(place: Place, base_files: Files, chosen: Side) -> None:
    """Also of a page that the base does not have: one side deleted it and added it again."""
    former = {**base_files, "SUMMARY.md": "".join(
        line for line in str(BASE["SUMMARY.md"]).splitlines(keepends=True) if "x.md" in base_files or "x.md" not in line
    )}  # fmt: skip
    base = place.commit(former)
    ours, theirs = (place.commit(done(Deed.RETITLED, side, 1), base) for side in SIDES)
    result = merge(place.workspace, ours, theirs)
    assert [conflict.why for conflict in result.conflicts] == [TITLES]
    settled = apply_choices(place.workspace, result, {"x.md": chosen})
    assert not settled.conflicts
    assert place.titles(settled.tree_with_ours)["x.md"] == f"{chosen}-title"


@pytest.mark.parametrize("are_retitled", [False, True], ids=["of other titles", "of titles in conflict"])
@pytest.mark.parametrize("mover", SIDES)
@pytest.mark.parametrize("chosen", SIDES)
def test_a_page_added_where_the_other_side_moves_another_is_never_overwritten(
    place: Place, chosen: Side, mover: Side, are_retitled: bool
) -> None:
    base = place.commit(BASE)
    moved = {path: text for path, text in BASE.items() if path != "x.md"} | {"new.md": BASE["x.md"]}
    summary = str(BASE["SUMMARY.md"])
    moved["SUMMARY.md"] = summary.replace("[The page](x.md)", "[Moved](new.md)")
    kept = summary.replace("The page", "Kept") if are_retitled else summary
    added = {**BASE, "new.md": "# New\n\nOther words.\n", "SUMMARY.md": f"{kept}* [New](new.md)\n"}
    files = {mover: moved, other_side(mover): added}
    ours, theirs = (place.commit(files[side], base) for side in SIDES)
    result = merge(place.workspace, ours, theirs)
    assert [conflict.why for conflict in result.conflicts] == [SAME_PLACE]
    for path in ("x.md", "new.md"):
        settled = apply_choices(place.workspace, result, {path: chosen})
        assert not settled.conflicts
        assert place.files(settled.tree_with_ours) == files[chosen]


def test_the_manual_states_every_pair() -> None:
    page = Path(__file__).parents[3] / "syncd" / "manual" / "explanation" / "both-sides.md"
    assert "\n".join(table_lines()) in page.read_text(encoding="utf-8")


def words_in(place: Place, tree: str) -> set[str]:
    text = "\n".join(place.files(tree).values())
    return {word for side in ("ours", "theirs") for word in (f"{side}-text", f"{side}-title") if word in text}


def place_of(ours: Deed, theirs: Deed) -> str:
    for deed, side in ((ours, "ours"), (theirs, "theirs")):
        if deed is Deed.FOLDER:
            return "x/README.md"
        if "path" in deed.changes:
            return f"{side}.md"
    return "x.md"


def test_a_part_counts_only_with_the_tree_that_it_names(place: Place) -> None:
    """A part that a cherry-pick copied onto a branch that never had the rest brings no more than its own change."""
    one, two = "# The page\n\nOne.\n", "# The page\n\nTwo.\n"
    root = place.commit(BASE)
    ours = place.commit({**BASE, "x.md": one}, root)
    theirs = place.commit({**BASE, "other.md": "# Other\n\nNewer.\n", "x.md": two}, root)
    result = merge(place.workspace, ours, theirs)
    tree = leave_out(place.repository, place.workspace.bindings, theirs, result.base.tree, [("x.md",)])
    part = write_part(place.repository, theirs, result.base.commits, tree, name="main")
    grown = place.commit({**BASE, "x.md": one}, ours, part)
    again = merge(place.workspace, grown, theirs)
    assert place.files(again.tree_with_ours)["other.md"] == BASE["other.md"], "what was taken in and undone is no news"
    assert [page.path for page in again.conflicts] == ["x.md"]
    found = place.repository.read_commit(part)
    message = f"{found.subject}\n\n{found.body}\n"
    picked = place.commit({**BASE, "x.md": one}, ours, message=message)
    assert "Newer" in place.files(merge(place.workspace, picked, theirs).tree_with_ours)["other.md"]


@pytest.mark.long
def test_bases_of_bases_of_bases_are_merged_once_each(place: Place) -> None:
    """Three lines merge each other again and again: the base at each level is two merges, each with bases below."""
    tips = [place.commit({**BASE, "new.md": f"# New {line}\n"}, place.commit(BASE)) for line in range(3)]
    for level in range(12):
        files = {**BASE, "new.md": f"# New\n\nLevel {level}.\n"}
        tips = [place.commit({**files, "other.md": f"# Other\n\n{line}.\n"}, *tips) for line in range(3)]
    meeting = merge(place.workspace, *tips[:2])
    assert [page.path for page in meeting.conflicts] == ["other.md"]


def test_a_conflict_outside_of_every_space_is_told_apart(place: Place) -> None:
    workspace = replace(place.workspace, bindings=(Binding("space", "docs", "docs"),))
    base = place.commit({"docs/a.md": "# A\n", "Makefile": "all:\n"})
    ours = place.commit({"docs/a.md": "# Ours\n", "Makefile": "ours:\n"}, base)
    theirs = place.commit({"docs/a.md": "# Theirs\n", "Makefile": "theirs:\n"}, base)
    meeting = merge(workspace, ours, theirs)
    assert {page.path for page in meeting.conflicts} == {"docs/a.md", "Makefile"}
    assert meeting.outside_paths == ("Makefile",)


def test_pictures_changed_on_both_sides_are_held(place: Place) -> None:
    base = place.commit({"a.png": b"\0one\n"})
    meeting = merge(
        place.workspace, place.commit({"a.png": b"\0two\n"}, base), place.commit({"a.png": b"\0three\n"}, base)
    )
    assert [(page.path, page.why) for page in meeting.conflicts] == [("a.png", NOT_TEXT)]


@pytest.mark.parametrize("moved", ["the page", "what it links to"])
def test_a_link_that_follows_a_move_is_no_change_of_its_line(place: Place, moved: str) -> None:
    """The platform writes links anew when a page moves; a writer who edits the same line has changed it alone."""
    text = "# Page\n\nSee [the other](other.md) for more.\n"
    summary = "* [Home](README.md)\n* [Page](page.md)\n* [Other](other.md)\n"
    files: Files = {"README.md": "# Home\n", "page.md": text, "other.md": "# Other\n\nElse.\n", "SUMMARY.md": summary}
    base = place.commit(files)
    ours = place.commit({**files, "page.md": text.replace("for more", "for much more")}, base)
    path, former = ("deep/page.md", "page.md") if moved == "the page" else ("deep/other.md", "other.md")
    address = "../other.md" if moved == "the page" else "deep/other.md"
    theirs = {name: content for name, content in files.items() if name != former}
    theirs |= {path: files[former], "SUMMARY.md": summary.replace(former, path)}
    page = path if moved == "the page" else "page.md"
    theirs[page] = text.replace("other.md", address)
    meeting = merge(place.workspace, ours, place.commit(theirs, base))
    assert meeting.conflicts == ()
    assert place.files(meeting.tree_with_ours)[page] == f"# Page\n\nSee [the other]({address}) for much more.\n"


@pytest.mark.parametrize("mover", SIDES)
@pytest.mark.parametrize("first", ["One", "First"])
def test_a_link_that_one_side_wrote_leads_on_where_the_other_moved_the_page(
    place: Place, mover: Side, first: str
) -> None:
    text = "# Page\n\n%s.\n\nTwo.\n\nThree.\n%s"
    summary = "* [Home](README.md)\n* [Page](deep/page.md)\n"
    files: Files = {"README.md": "# Home\n", "deep/picture.png": b"x", "SUMMARY.md": summary}
    base = place.commit({**files, "deep/page.md": text % ("One", "")})
    shown = "\n![A picture](%spicture.png)\n"
    edited = place.commit({**files, "deep/page.md": text % ("One", shown % "")}, base)
    listed: Files = {**files, "SUMMARY.md": summary.replace("deep/", "")}
    moved = place.commit({**listed, "page.md": text % (first, "")}, base)
    meeting = merge(place.workspace, *((moved, edited) if mover == "ours" else (edited, moved)))
    assert meeting.conflicts == ()
    assert place.files(meeting.tree_with_ours)["page.md"] == text % (first, shown % "deep/")


@pytest.mark.parametrize("mover", SIDES)
@pytest.mark.parametrize("edit", ["by one", "by both", "by both, to one text", "of a new page"])
def test_a_link_that_one_side_adds_leads_to_where_the_other_moves_its_page(
    place: Place, mover: Side, edit: str
) -> None:
    text = "# Page\n\n%s.\n\nTwo.\n\n%s.\n"
    summary = "* [Home](README.md)\n* [Page](page.md)\n* [Other](other.md)\n"
    files: Files = {"README.md": "# Home\n", "page.md": text % ("One", "Three"), "SUMMARY.md": summary}
    other = {"other.md": about("Other")}
    base = place.commit({**files, **other})
    link = text % ("See [it](./other.md#two) and [me](page.md)", "Three")
    moved = {**files, "deep/other.md": about("Other"), "SUMMARY.md": summary.replace("other.md", "deep/other.md")}
    if edit == "by both":
        moved["page.md"] = text % ("One", "Four")
    elif edit == "by both, to one text":
        moved["page.md"] = link
    name = "new.md" if edit == "of a new page" else "page.md"
    sides = place.commit(moved, base), place.commit({**files, **other, name: link}, base)
    meeting = merge(place.workspace, *(sides if mover == "ours" else reversed(sides)))
    assert meeting.conflicts == ()
    last = "Four" if edit == "by both" else "Three"
    expected = text % ("See [it](deep/other.md#two) and [me](page.md)", last)
    assert place.files(meeting.tree_with_ours)[name] == expected


@pytest.mark.parametrize("mover", SIDES)
def test_links_follow_pages_that_the_other_side_lets_exchange_paths(place: Place, mover: Side) -> None:
    summary = "* [Home](README.md)\n* [One](one.md)\n* [Two](two.md)\n"
    files: Files = {"README.md": "# Home\n", "one.md": about("One"), "two.md": about("Two"), "SUMMARY.md": summary}
    base = place.commit(files)
    turned = summary.replace("one.md", "x").replace("two.md", "one.md").replace("x", "two.md")
    moved = place.commit({**files, "one.md": about("Two"), "two.md": about("One"), "SUMMARY.md": turned}, base)
    linked = place.commit({**files, "README.md": "# Home\n\n[One](one.md), [two](two.md).\n"}, base)
    meeting = merge(place.workspace, *((moved, linked) if mover == "ours" else (linked, moved)))
    assert place.files(meeting.tree_with_ours)["README.md"] == "# Home\n\n[One](two.md), [two](one.md).\n"


@pytest.mark.parametrize("mover", SIDES)
@pytest.mark.parametrize("words", ["", " And more."])
def test_a_link_that_follows_a_move_keeps_no_page_that_the_other_side_deletes(
    place: Place, mover: Side, words: str
) -> None:
    text = "# Page\n\nSee [it](%s).%s\n"
    summary = "* [Home](README.md)\n* [Page](page.md)\n* [Other](other.md)\n"
    home = {"README.md": "# Home\n"}
    base = place.commit({**home, "page.md": text % ("other.md", ""), "other.md": about("Other"), "SUMMARY.md": summary})
    moved = {**home, "page.md": text % ("new.md", words), "new.md": about("Other")}
    moved["SUMMARY.md"] = summary.replace("other.md", "new.md")
    deleted = {**home, "other.md": about("Other"), "SUMMARY.md": summary.replace("* [Page](page.md)\n", "")}
    sides = place.commit(moved, base), place.commit(deleted, base)
    meeting = merge(place.workspace, *(sides if mover == "ours" else reversed(sides)))
    assert meeting.conflicts == ()
    assert ("page.md" in place.files(meeting.tree_with_ours)) is bool(words)


@pytest.mark.parametrize("converter", SIDES)
@pytest.mark.parametrize("ends", ["\r\n", "\n"])
def test_other_line_ends_are_no_change_of_a_line(place: Place, converter: Side, ends: str) -> None:
    def write(text: object, line_ends: str) -> bytes:
        return str(text).replace("\n", line_ends).encode()

    former = "\n" if ends == "\r\n" else "\r\n"
    base = place.commit({**BASE, "x.md": write(BASE["x.md"], former)})
    converted = place.commit({**BASE, "x.md": write(edited(BASE["x.md"], 1, "One"), ends)}, base)
    edit = place.commit({**BASE, "x.md": write(edited(BASE["x.md"], 7, "Seven"), former)}, base)
    meeting = merge(place.workspace, *((converted, edit) if converter == "ours" else (edit, converted)))
    assert meeting.conflicts == ()
    both = edited(edited(BASE["x.md"], 1, "One"), 7, "Seven")
    assert place.files(meeting.tree_with_ours)["x.md"] == write(both, ends).decode()


@pytest.mark.parametrize("is_new", [False, True], ids=["with a base", "new on both sides"])
@pytest.mark.parametrize("converter", SIDES)
def test_a_text_in_conflict_has_the_line_ends_of_ours(place: Place, converter: Side, is_new: bool) -> None:
    base = place.commit({path: text for path, text in BASE.items() if not (is_new and path == "x.md")})
    texts = {side: edited(BASE["x.md"], 2, side) for side in SIDES}
    texts[converter] = texts[converter].replace("\n", "\r\n")
    ours, theirs = (place.commit({**BASE, "x.md": texts[side]}, base) for side in SIDES)
    (conflict,) = merge(place.workspace, ours, theirs).conflicts
    pieces = split_conflict(place.repository, conflict)
    (hunk,) = list_hunks(pieces)
    assert (hunk.ours.count(b"\n"), hunk.theirs.count(b"\n")) == (1, 1)
    settled = join_hunks(replace_hunks(pieces, {1: hunk.theirs}), Labels())
    wanted = edited(BASE["x.md"], 2, "theirs")
    assert settled.decode() == (wanted.replace("\n", "\r\n") if converter == "ours" else wanted)


def about(name: str, *more: str) -> str:
    return "\n\n".join([f"# {name}", f"What {name} is.", f"How {name} works.", *more]) + "\n"


def in_ring(*paths: str, more: Mapping[str, list[str]]) -> Files:
    """The pages A, B and C at three paths, each with more words or none."""
    listed = [f"* [{name}]({path})\n" for name, path in zip("ABC", paths, strict=True)]
    texts: Files = {path: about(name, *more.get(name, [])) for name, path in zip("ABC", paths, strict=True)}
    return {"README.md": "# Home\n", "SUMMARY.md": "".join(["* [Home](README.md)\n", *listed]), **texts}


@pytest.mark.parametrize("mover", SIDES)
def test_pages_that_exchange_paths_while_each_is_edited_are_known_by_their_lines(place: Place, mover: Side) -> None:
    base = place.commit(in_ring("a.md", "b.md", "c.md", more={}))
    added = {name: [f"More of {name}."] for name in "ABC"}
    moved = place.commit(in_ring("b.md", "c.md", "a.md", more=added), base)
    stayed: Files = in_ring("a.md", "b.md", "c.md", more={})
    stayed["a.md"] = str(stayed["a.md"]).replace("# A", "# Anew")
    stayed["SUMMARY.md"] = str(stayed["SUMMARY.md"]).replace("[A]", "[Anew]")
    other = place.commit(stayed, base)
    result = merge(place.workspace, *((moved, other) if mover == "ours" else (other, moved)))
    assert result.conflicts == ()
    expected = in_ring("b.md", "c.md", "a.md", more=added)
    files = place.files(result.tree_with_ours)
    assert files["b.md"] == str(expected["b.md"]).replace("# A", "# Anew")
    assert {path: files[path] for path in ("a.md", "c.md")} == {path: expected[path] for path in ("a.md", "c.md")}
    assert place.titles(result.tree_with_ours) == {"README.md": "Home", "b.md": "Anew", "c.md": "B", "a.md": "C"}


def test_a_page_that_stays_is_listed_at_the_path_of_one_that_left_the_table(place: Place) -> None:
    """Ours deletes two pages. Theirs let them exchange paths, edited one, and took the other out of the table."""
    start = place.commit(BASE)
    head = "# Table of contents\n\n* [Home](README.md)\n"
    ours = place.commit({"README.md": str(BASE["README.md"]), "SUMMARY.md": head}, start)
    edited = {"other.md": str(BASE["x.md"]) + "And more.\n", "x.md": BASE["other.md"]}
    theirs = place.commit({**BASE, **edited, "SUMMARY.md": f"{head}* [The page](other.md)\n"}, start)
    for one, other in ((ours, theirs), (theirs, ours)):
        result = merge(place.workspace, one, other)
        assert not result.conflicts
        assert place.titles(result.tree_with_ours) == {"README.md": "Home", "other.md": "The page"}


def test_a_page_that_gets_a_copy_of_another_is_no_page_that_moved(place: Place) -> None:
    base = place.commit(in_ring("a.md", "b.md", "c.md", more={}))
    copied: Files = in_ring("a.md", "b.md", "c.md", more={"A": ["More of A."]})
    copied |= {"b.md": about("A", "A copy."), "SUMMARY.md": str(copied["SUMMARY.md"]).replace("[B]", "[A again]")}
    edited_too = in_ring("a.md", "b.md", "c.md", more={}) | {"a.md": about("A").replace("# A", "# Anew")}
    result = merge(place.workspace, place.commit(copied, base), place.commit(edited_too, base))
    files = place.files(result.tree_with_ours)
    assert result.conflicts == ()
    assert files["b.md"] == copied["b.md"]
    assert files["a.md"] == str(copied["a.md"]).replace("# A", "# Anew")


def test_a_table_of_contents_that_merges_by_lines_keeps_its_bytes(place: Place) -> None:
    summary = str(BASE["SUMMARY.md"]).replace("* ", "- ") + "- [More](more.md)\n- [Last](last.md)\n"
    files = {**BASE, "more.md": "# More\n", "last.md": "# Last\n", "SUMMARY.md": summary}
    base = place.commit(files)
    ours = place.commit({**files, "SUMMARY.md": summary.replace("[Home]", "[Start]")}, base)
    theirs = place.commit({**files, "SUMMARY.md": summary.replace("[Last]", "[End]")}, base)
    merged = place.files(merge(place.workspace, ours, theirs).tree_with_ours)["SUMMARY.md"]
    assert merged == summary.replace("[Home]", "[Start]").replace("[Last]", "[End]")


def test_the_root_of_a_space_may_lie_deeper(place: Place) -> None:
    def inside(side: str, line: int) -> Files:
        files = {
            f"pages/{path}": text
            for path, text in done(Deed.RETITLED if side == "ours" else Deed.MOVED, side, line).items()
        }
        return {**files, ".gitbook.yaml": "root: ./pages/\n"}

    base = place.commit({**{f"pages/{path}": text for path, text in BASE.items()}, ".gitbook.yaml": "root: ./pages/\n"})
    meeting = merge(place.workspace, place.commit(inside("ours", 1), base), place.commit(inside("theirs", 1), base))
    assert not meeting.conflicts
    assert "[ours-title](theirs.md)" in place.files(meeting.tree_with_ours)["pages/SUMMARY.md"]


def test_what_a_former_version_had_recorded_becomes_a_part(place: Place) -> None:
    """It named in trailers what a branch had taken in but for a page; taken back since, that stays taken back."""
    repository = place.repository
    one, two = "# The page\n\nOne.\n", "# The page\n\nTwo.\n"
    root = place.commit(BASE)
    theirs = place.commit({**BASE, "other.md": "# Other\n\nNewer.\n", "x.md": two}, root)
    message = f"Bring\n\nSyncd-Met: {theirs}\nSyncd-Since: {root}\nSyncd-Held: x.md\n"
    took = place.commit({**BASE, "other.md": "# Other\n\nNewer.\n", "x.md": one}, root, message=message)
    tip = place.commit({**BASE, "x.md": one}, took)
    repository.update_ref("refs/heads/main", tip, old=None)
    repository.update_ref(place.workspace.main, theirs, old=None)
    assert convert_former_record(place.workspace, "main")
    assert not convert_former_record(place.workspace, "main"), "once"
    joined = repository.resolve("refs/heads/main")
    assert joined is not None
    assert repository.find_tree(joined) == repository.find_tree(tip), "no file changes"
    result = merge(place.workspace, joined, theirs)
    assert place.files(result.tree_with_ours)["other.md"] == BASE["other.md"]
    assert [page.path for page in result.conflicts] == ["x.md"]


def test_moves_that_two_clones_record_of_the_same_revisions_are_of_the_files_where_the_records_begin(
    place: Place,
) -> None:
    listed = "* [Home](README.md)\n* [B](%s)\n* [C](%s)\n"

    def tree(b: str, c: str, *, more: str = "") -> Files:
        texts: Files = {b: f"# B\n\n{LINES}\nOf B.\n{more}", c: f"# C\n\n{LINES}\nOf C.\n"}
        return {"README.md": "# Home\n", "SUMMARY.md": listed % (b, c), **texts}

    def record(title: str, *moves: tuple[str, str]) -> str:
        return f"{title}\n\n" + "".join(f'Syncd-Moved: ["{old}", "{new}"]\n' for old, new in moves)

    start = place.commit(tree("b.md", "c.md"))
    swapped = place.commit(tree("c.md", "b.md"), start)
    away = tree("x.md", "c.md")
    first, second = (place.commit(away, start, message=record(title, ("b.md", "x.md"))) for title in ("One", "Two"))
    merged = place.commit(tree("c.md", "b.md"), swapped, first)
    back = record("Back", ("x.md", "c.md"), ("c.md", "b.md"))
    mirror = place.commit(tree("c.md", "b.md"), first, merged, message=back)
    # The other clone gave the page another name for the same revision.
    other = record("Other", ("x.md", "c.md"), ("c.md", "d.md"))
    ours = place.commit(tree("c.md", "d.md"), second, merged, message=other)
    theirs = place.commit(tree("c.md", "b.md", more="Edited.\n"), mirror)
    meeting = merge(place.workspace, ours, theirs)
    assert meeting.conflicts == ()
    files = place.files(meeting.tree_with_ours)
    assert files["c.md"].endswith("Of B.\nEdited.\n")
    assert files["d.md"].endswith("Of C.\n")
    assert "b.md" not in files


def test_moves_that_a_base_of_several_commits_has_are_not_made_again(place: Place) -> None:
    """One of two bases has one page move to where another was; the other base has never heard of it."""
    listed = "* [Home](README.md)\n* [A](%s)\n* [B](%s)\n"

    def tree(a: str, b: str, home: str = "README.md") -> Files:
        texts: Files = {a: f"# A\n\n{LINES}\nOf A.\n", b: f"# B\n\n{LINES}\nOf B.\n", home: "# Home\n"}
        return {**texts, "SUMMARY.md": listed.replace("README.md", home) % (a, b)}

    moves = 'Syncd-Moved: ["a.md", "b.md"]\nSyncd-Moved: ["b.md", "c.md"]\n'
    start = place.commit(tree("a.md", "b.md"))
    mirror = place.commit(tree("b.md", "c.md"), start, message=f"Move\n\n{moves}")
    mine = place.commit({**tree("a.md", "b.md"), "more.txt": "Mine.\n"}, start)
    ours = place.commit({**tree("b.md", "c.md"), "more.txt": "Mine, again.\n"}, mine, mirror)
    message = 'Move home\n\nSyncd-Moved: ["README.md", "x/README.md"]\n'
    later = tree("b.md", "c.md", "x/README.md")
    theirs = place.commit({**later, "more.txt": "Mine.\n"}, mirror, mine, message=message)
    result = merge(place.workspace, ours, theirs)
    assert result.conflicts == ()
    assert place.files(result.tree_with_ours) == {**later, "more.txt": "Mine, again.\n"}


@pytest.mark.parametrize("former", ["a: 1\nb: 2\n", None])
def test_variables_of_both_sides_are_merged_by_their_names(place: Place, former: str | None) -> None:
    path = ".gitbook/vars.yaml"
    known = former or ""
    base = place.commit(BASE | ({path: former} if former else {}))
    ours, theirs = (place.commit(BASE | {path: f"{known}{line}\n"}, base) for line in ("ours: 3", "theirs: true"))
    result = merge(place.workspace, ours, theirs)
    assert result.conflicts == ()
    assert place.files(result.tree_with_ours)[path] == f"{known}ours: 3\ntheirs: true\n"


@pytest.mark.parametrize(
    ("ours", "theirs"), [("a: 2\n", "a: 3\n"), ("# Mine.\na: 1\nours: 3\n", "a: 1\ntheirs: 3\n"), ("a: 2\n", "a: [\n")]
)
def test_variables_that_cannot_be_merged_by_their_names_are_in_conflict(place: Place, ours: str, theirs: str) -> None:
    path = ".gitbook/vars.yaml"
    base = place.commit(BASE | {path: "a: 1\n"})
    one, other = (place.commit(BASE | {path: text}, base) for text in (ours, theirs))
    assert [conflict.path for conflict in merge(place.workspace, one, other).conflicts] == [path]
