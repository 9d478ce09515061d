"""Words that syncd writes stay within the limits and carry no hostile characters."""

from hypothesis import given
from hypothesis import strategies as st

from syncd.model.change_request import SUBJECT_MAX
from syncd.plan.message import (
    bare_subject,
    former_marker,
    marked_subject,
    marker,
    mirror_message,
    one_line,
    proposal_subject,
)


@given(st.text(), st.text(min_size=1, max_size=80))
def test_a_marked_subject_fits_and_keeps_its_marker(subject: str, branch: str) -> None:
    mark = marker(branch, "0a1b2c")
    text = marked_subject(subject, mark)
    assert len(text) <= SUBJECT_MAX
    assert text.endswith(mark)


def test_the_marker_is_taken_off_for_the_commit() -> None:
    assert bare_subject(marked_subject("Fix the install page", marker("docs/fix", "0a1b2c"))) == "Fix the install page"


def test_branches_with_the_same_end_have_markers_of_their_own() -> None:
    end = "a-chapter-with-a-rather-long-name"
    one, other = marker(f"ann/{end}", "0a1b2c"), marker(f"bob/{end}", "0a1b2c")
    assert one != other
    assert former_marker(f"ann/{end}", "0a1b2c") == former_marker(f"bob/{end}", "0a1b2c")
    assert marker("docs/short", "0a1b2c") == former_marker("docs/short", "0a1b2c") == "[docs/short#0a1b2c]"
    assert bare_subject(marked_subject("Say it", marker("odd]name", "0a1b2c"))) == "Say it"


def test_a_subject_cannot_forge_a_trailer() -> None:
    message = mirror_message("Title\n\nSyncd-Revision: forged\x1b[2J", space="s", revision="r")
    assert message.splitlines()[0] == "Title Syncd-Revision: forged [2J"
    assert message.count("Syncd-Revision: r\n") == 1


@given(st.text())
def test_one_line_is_one_line(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1


def test_several_commits_are_counted() -> None:
    assert proposal_subject(["Newest", "Older", "Oldest"]) == "Newest (and 2 more)"
