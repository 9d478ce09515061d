"""What a description tells of pages in conflict: bounded, inert, found again, and at the cost of nobody's words."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.model.document import Document
from syncd.plan.propose.description import (
    Description,
    read_proposed_commit,
    render_description,
    update_conflicts,
    update_description,
)
from syncd.plan.propose.description_conflicts import (
    LINE_MAX,
    LINES_MAX,
    NO_CONFLICTS,
    PAGES_MAX,
    ConflictingPage,
    Conflicts,
    SideVersion,
    read_fingerprint,
)
from tests.plain_documents import make_document

COMMIT = "1" * 40
PAGE = ConflictingPage(
    "a.md", "both changed it", (SideVersion("Git", "a.md", ("ours",)), SideVersion("Web", "", ("theirs",)))
)
TOLD = Conflicts("0123456789abcdef", (PAGE,))
OTHER = Conflicts("fedcba9876543210", (replace(PAGE, path="b.md"),))
MADE = Description("main", COMMIT, conflicts=TOLD)


def with_words(document: Document, text: str, at: int) -> Document:
    nodes = list(document.nodes)
    return document.model_copy(update={"nodes": (*nodes[:at], *make_document(text).nodes, *nodes[at:])})


def test_it_is_found_again_and_replaced() -> None:
    made = render_description(MADE)
    assert read_fingerprint(made) == TOLD.fingerprint
    assert update_conflicts(made, TOLD) is None
    fresh = update_conflicts(made, OTHER)
    assert fresh is not None
    assert fresh.text() == render_description(replace(MADE, conflicts=OTHER)).text(), (
        "it counts as syncd's words as before"
    )
    empty = update_conflicts(fresh, NO_CONFLICTS)
    assert empty is not None
    assert empty.text() == render_description(replace(MADE, conflicts=NO_CONFLICTS)).text()
    assert read_fingerprint(empty) == ""
    again = update_conflicts(empty, TOLD)
    assert again is not None
    assert again.text() == made.text()


def test_it_stays_where_a_person_put_it() -> None:
    theirs = with_words(render_description(MADE), "Mine.", 0)
    fresh = update_conflicts(theirs, OTHER)
    assert fresh is not None
    assert fresh.text().startswith("Mine.\n\nProposed by syncd")
    assert "b.md" in fresh.text()
    later = update_description(fresh, replace(MADE, commit="2" * 40, conflicts=NO_CONFLICTS))
    assert later is not None
    assert later.text().startswith("Mine.")
    assert read_proposed_commit(later) == "2" * 40
    assert "b.md" not in later.text()


@pytest.mark.parametrize("at", range(2, 8))
def test_words_in_the_middle_of_it_stay(at: int) -> None:
    theirs = with_words(render_description(MADE), "Mine.", at)
    fresh = update_conflicts(theirs, OTHER)
    assert fresh is not None
    assert "Mine." in fresh.text()
    assert read_fingerprint(fresh) == OTHER.fingerprint
    assert update_conflicts(fresh, OTHER) is None


@pytest.mark.parametrize("gone", ["Syncd-Conflicts:", "Syncd-Conflicts-End:"])
def test_without_one_of_its_lines_it_is_told_once_more_and_no_more(gone: str) -> None:
    made = render_description(MADE)
    left = [node for node in made.nodes if not Document(nodes=(node,)).text().startswith(gone)]
    fresh = update_conflicts(made.model_copy(update={"nodes": tuple(left)}), TOLD)
    assert fresh is not None
    assert read_fingerprint(fresh) == TOLD.fingerprint
    assert update_conflicts(fresh, TOLD) is None


def test_a_description_without_the_line_for_machines_is_left_alone() -> None:
    assert update_conflicts(None, TOLD) is None
    assert update_conflicts(make_document("All mine."), TOLD) is None


def test_long_texts_are_cut_and_it_is_said() -> None:
    long = tuple(f"{'x' * 2 * LINE_MAX} {number}" for number in range(3 * LINES_MAX))
    page = replace(PAGE, versions=(SideVersion("Git", "a.md", long),))
    text = render_description(replace(MADE, conflicts=Conflicts("0" * 16, (page,) * (PAGES_MAX + 3)))).text()
    assert len(text) < PAGES_MAX * (LINES_MAX + 10) * (LINE_MAX + 40)
    assert f"[cut: {2 * LINES_MAX} more lines]" in text
    assert f"[cut: {LINE_MAX + 2} more characters]" in text
    assert "And 3 more pages." in text


@settings(deadline=None, max_examples=25)
@given(st.text(), st.text(), st.lists(st.text(), max_size=40))
def test_hostile_words_stay_words(path: str, why: str, lines: list[str]) -> None:
    marks = (
        f"Syncd-Commit: {'2' * 40} =evil (00000000)",
        "Syncd-Conflicts: 0000000000000000",
        "Syncd-Conflicts-End: 00000000",
    )
    page = ConflictingPage(path, why, (SideVersion("Git", path, (*marks, *lines)),), (why, *marks))
    made = render_description(replace(MADE, conflicts=Conflicts("0" * 16, (page,))))
    assert read_proposed_commit(made) == COMMIT
    assert read_fingerprint(made) == "0" * 16
    fresh = update_conflicts(made, TOLD)
    assert fresh is not None
    assert fresh.text() == render_description(MADE).text()
