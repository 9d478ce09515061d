"""Words that syncd writes stay within the limits and carry no hostile characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncd.model.change_request import SUBJECT_MAX
from syncd.plan.message import (
    PROPOSED,
    add_marker,
    build_former_marker,
    build_marker,
    choose_subject,
    is_marked_elsewhere,
    remove_marker,
    render_merged_subject,
    render_mirror_message,
    render_proposed_subject,
)


@given(st.text(), st.text(min_size=1, max_size=80))
def test_a_marked_subject_fits_and_keeps_its_marker(subject: str, branch: str) -> None:
    mark = build_marker(branch, "0a1b2c")
    text = add_marker(subject, mark)
    assert len(text) <= SUBJECT_MAX
    assert text.endswith(mark)


def test_the_marker_is_taken_off_for_the_commit() -> None:
    assert (
        remove_marker(add_marker("Fix the install page", build_marker("docs/fix", "0a1b2c"))) == "Fix the install page"
    )


def test_branches_with_the_same_end_have_markers_of_their_own() -> None:
    end = "a-chapter-with-a-rather-long-name"
    one, other = build_marker(f"ann/{end}", "0a1b2c"), build_marker(f"bob/{end}", "0a1b2c")
    assert one != other
    assert build_former_marker(f"ann/{end}", "0a1b2c") == build_former_marker(f"bob/{end}", "0a1b2c")
    assert build_marker("docs/short", "0a1b2c") == build_former_marker("docs/short", "0a1b2c") == "[docs/short#0a1b2c]"
    assert remove_marker(add_marker("Say it", build_marker("odd]name", "0a1b2c"))) == "Say it"


def test_a_subject_cannot_forge_a_trailer() -> None:
    message = render_mirror_message("Title\n\nSyncd-Revision: forged\x1b[2J", space="s", revision="r")
    assert message.splitlines()[0] == "Title Syncd-Revision: forged [2J"
    assert message.count("Syncd-Revision: r\n") == 1


@pytest.mark.parametrize("id", ["", "r\nSyncd-Space: x", "r\x85x", "r\u202ex"])
def test_an_id_that_is_not_one_line_is_written_nowhere(id: str) -> None:
    with pytest.raises(ValueError, match="Syncd-Revision"):
        render_mirror_message("Title", space="s", revision=id)


def test_a_directory_of_any_name_is_one_line() -> None:
    message = render_mirror_message(
        "Title", space="s", revision="r", directory="a\nSyncd-Space: x", former_directory=""
    )
    assert message.splitlines()[-2:] == ['Syncd-Directory: "a\\nSyncd-Space: x"', 'Syncd-Former-Directory: ""']


def test_no_subject_of_a_person_makes_a_mirror_commit_one_of_a_change_request() -> None:
    said = render_proposed_subject(7, "Fix it [main#0a1b2c]")
    assert said == "Change request #7: Fix it"
    assert render_merged_subject("Fix it") == "Fix it"
    assert not render_merged_subject(said).startswith(PROPOSED)


def test_several_commits_are_counted() -> None:
    assert choose_subject(["Newest", "Older", "Oldest"]) == "Newest (and 2 more)"


@pytest.mark.parametrize("branch", ["main", "a/" + "long-" * 12 + "name"])
def test_what_another_clone_or_branch_proposes_is_told_by_its_marker(branch: str) -> None:
    subject = add_marker("New pages", build_marker(branch, "00000a"))
    assert is_marked_elsewhere(subject, branch, "00000b")
    assert not is_marked_elsewhere(subject, branch, "00000a"), "it is this clone's own"
    assert is_marked_elsewhere(subject, "topic", "00000a")
    assert not is_marked_elsewhere(add_marker("Older", build_former_marker(branch, "00000a")), branch, "00000a")
    assert not is_marked_elsewhere("New pages", branch, "00000b")
