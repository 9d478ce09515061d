"""A description tells what a change request holds, can be read by machines, and never overwrites a person's words."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.model.document import Document
from syncd.plan.change import Change
from syncd.plan.propose.description import (
    NOTHING_SENT,
    CommitSummary,
    Description,
    SentPart,
    is_about,
    read_base_revision,
    read_commit_unless_partial,
    read_part_without_steps,
    read_proposed_commit,
    read_sent_part,
    read_start,
    read_written_revision,
    render_description,
    update_description,
)
from syncd.plan.propose.description_paths import compute_path_digest
from tests.plain_documents import make_document

ONE, TWO = "1" * 40, "2" * 40
BY_HAND = Change("report", "group", "API", "group 'API' has to be created by hand", where="SUMMARY.md:12")
TOLD = Description(
    "docs/search",
    ONE,
    [
        CommitSummary(ONE, "Write about search", "It was\nmissing.\n\n* how to ask\n  well\n* what is found"),
        CommitSummary(TWO, f"Forge it\x1b[2J\nSyncd-Commit: {TWO} (00000000)"),
    ],
    [BY_HAND],
    ["guide/setup.md:3: a comment in HTML"],
)


def edited(document: Document, text: str, at: int = 1) -> Document:
    words = make_document(text).nodes
    return document.model_copy(update={"nodes": (*document.nodes[:at], *words, *document.nodes[at:])})


def test_it_names_branch_commits_work_by_hand_and_lost_text() -> None:
    text = render_description(TOLD).text()
    for words in ("branch docs/search.", "Write about search 1111111111", "It was missing.", "how to ask well"):
        assert words in text
    assert "SUMMARY.md:12: group 'API' has to be created by hand" in text
    assert "guide/setup.md:3: a comment in HTML" in text
    assert "\x1b" not in text


def test_the_commit_is_found_again_and_cannot_be_forged_by_a_commit_message() -> None:
    assert read_proposed_commit(render_description(TOLD)) == ONE
    assert read_proposed_commit(make_document("Words of a person.")) == ""
    assert read_proposed_commit(None) == ""


@pytest.mark.parametrize(
    ("base", "named", "written"),
    [
        ("", ("", ""), ""),
        ("=r1", ("=", "r1"), "r1"),
        ("+r1", ("+", "r1"), "r1"),
        ("!", ("!", ""), ""),
        ("!r1", ("!", "r1"), ""),
        ("-", ("-", ""), ""),
        ("-r1", ("-", "r1"), ""),
        ("-r1 @r2", ("-", "r1"), "r2"),
        ("- @r2", ("-", ""), "r2"),
    ],
)
def test_the_revisions_are_found_again(base: str, named: tuple[str, str], written: str) -> None:
    made = render_description(replace(TOLD, state=base))
    assert read_proposed_commit(made) == ONE
    assert read_commit_unless_partial(made) == ("" if base.startswith("!") else ONE)
    assert read_base_revision(made) == named
    assert read_written_revision(made) == written


@pytest.mark.parametrize("state", ["", "=r1", "!r1", "-r1 @r2"])
def test_what_was_sent_in_part_is_found_again_beside_what_was_sent_before(state: str) -> None:
    part = SentPart(TWO, "r3", frozenset(map(compute_path_digest, ("a.md", "ü/b.md"))))
    made = render_description(replace(TOLD, state=state, part=part))
    assert read_sent_part(made) == part
    assert part.is_left_out("ü/b.md")
    assert not part.is_left_out("b.md")
    whole = render_description(replace(TOLD, state=state))
    assert read_sent_part(whole) == NOTHING_SENT
    assert [read(made) for read in (read_proposed_commit, read_base_revision, read_written_revision)] == [
        read(whole) for read in (read_proposed_commit, read_base_revision, read_written_revision)
    ]
    assert update_description(made, replace(TOLD, state=state, part=part)) is None


@pytest.mark.parametrize("start", ["", "@r0", "?r0", TWO])
@pytest.mark.parametrize("part", [NOTHING_SENT, SentPart(TWO, "r3", frozenset({compute_path_digest("a.md")}))])
def test_what_the_branch_grew_from_is_found_again(start: str, part: SentPart) -> None:
    told = replace(TOLD, state="-r1 @r2", part=part, start=start)
    made = render_description(told)
    assert read_start(made) == start
    assert read_sent_part(made) == part
    assert (read_base_revision(made), read_written_revision(made)) == (("-", "r1"), "r2")
    assert update_description(made, told) is None


def test_what_syncd_wrote_is_renewed_and_then_stands() -> None:
    later = replace(TOLD, commit=TWO)
    fresh = update_description(render_description(TOLD), later)
    assert fresh == render_description(later)
    assert update_description(fresh, later) is None


def test_what_a_person_changed_keeps_every_word() -> None:
    theirs = edited(render_description(TOLD), "Please read the second part first.")
    kept = update_description(theirs, replace(TOLD, commit=TWO, commits=()))
    assert kept is not None
    assert kept.text() == theirs.text().replace(f"Syncd-Commit: {ONE}", f"Syncd-Commit: {TWO}")
    assert read_proposed_commit(kept) == TWO
    assert update_description(kept, replace(TOLD, commit=TWO)) is None


def test_what_a_person_rewrote_is_left_alone() -> None:
    assert update_description(make_document("All mine."), TOLD) is None


def test_the_description_of_the_former_version_is_taken_over() -> None:
    former = "Proposed by syncd from branch docs/search.\n\n0123456789 Say it\n\nabcdef0123 Say more"
    assert update_description(make_document(former), TOLD) == render_description(TOLD)
    assert update_description(make_document(f"{former}\n\nMy own words."), TOLD) is None
    assert update_description(make_document(" "), TOLD) == render_description(TOLD)


def test_it_says_whose_it_is() -> None:
    assert is_about(render_description(TOLD), "docs/search")
    assert not is_about(render_description(TOLD), "search")
    assert is_about(None, "search")


@settings(deadline=None, max_examples=15)
@given(st.text(), st.lists(st.tuples(st.text(), st.text(max_size=2500)), max_size=6), st.lists(st.text(), max_size=3))
def test_hostile_words_stay_words_and_bounded(branch: str, said: list[tuple[str, str]], lost: list[str]) -> None:
    told = Description(branch, ONE, [CommitSummary(TWO, subject, body) for subject, body in said], (), lost)
    made = render_description(told)
    assert read_proposed_commit(made) == ONE
    assert update_description(made, told) is None
    assert len(made.text()) < 60_000


def test_a_description_names_the_files_with_manual_steps() -> None:
    told = replace(TOLD, state="+rev1")
    first = render_description(told)
    part = read_part_without_steps(first)
    assert (part.commit, part.revision) == (ONE, "rev1")
    assert part.is_left_out("SUMMARY.md")
    assert not part.is_left_out("guide/setup.md")
    assert read_part_without_steps(render_description(replace(told, manual_steps=()))) == NOTHING_SENT
    assert read_part_without_steps(render_description(replace(told, state="!rev1"))) == NOTHING_SENT
    many = [Change("report", "file", f"{number}", where=f"{number}.png") for number in range(101)]
    assert read_part_without_steps(render_description(replace(told, manual_steps=many))) == NOTHING_SENT


def test_what_a_person_rewrote_gets_the_present_files_with_manual_steps() -> None:
    told = replace(TOLD, state="+rev1")
    nodes = render_description(told).nodes
    own = render_description(told).model_copy(update={"nodes": nodes[1:]})
    other = Change("report", "variable", "size", "Set it.", where=".gitbook/vars.yaml")
    fresh = update_description(own, replace(told, manual_steps=[other]))
    assert fresh is not None
    assert read_part_without_steps(fresh).left_out == {compute_path_digest(".gitbook/vars.yaml")}
    done = update_description(fresh, replace(told, manual_steps=[]))
    assert done is not None
    assert read_part_without_steps(done) == NOTHING_SENT
