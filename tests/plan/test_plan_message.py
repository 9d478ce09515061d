"""Words that syncd writes stay within the limits and carry no hostile characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncd.model.change_request import SUBJECT_MAX
from syncd.plan.message import (
    PROPOSED,
    bare_subject,
    former_marker,
    marked_subject,
    marker,
    merged_subject,
    mirror_message,
    proposal_subject,
    proposed_subject,
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


@pytest.mark.parametrize("id", ["", "r\nSyncd-Space: x", "r\x85x", "r\u202ex"])
def test_an_id_that_is_not_one_line_is_written_nowhere(id: str) -> None:
    with pytest.raises(ValueError, match="Syncd-Revision"):
        mirror_message("Title", space="s", revision=id)


def test_no_subject_of_a_person_makes_a_mirror_commit_one_of_a_change_request() -> None:
    said = proposed_subject(7, "Fix it [main#0a1b2c]")
    assert said == "Change request #7: Fix it"
    assert merged_subject("Fix it") == "Fix it"
    assert not merged_subject(said).startswith(PROPOSED)


def test_several_commits_are_counted() -> None:
    assert proposal_subject(["Newest", "Older", "Oldest"]) == "Newest (and 2 more)"
