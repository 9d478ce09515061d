"""The twenty things that users of Git synchronisation complain of: each has tests that show how syncd answers it."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent
PAGE = ROOT.parent / "syncd" / "manual" / "explanation" / "git-sync.md"

ANSWERS: dict[int, list[str]] = {
    1: [
        "sync/propose/test_sync_lost.py::test_a_server_that_only_formats_changes_no_byte_in_git",
        "layout/compare/test_layout_quiet.py::test_only_the_block_that_says_something_else_is_replaced",
    ],
    2: [
        "sync/propose/test_sync_lost.py::test_words_that_the_server_lost_are_told_and_stay_in_git",
        "sync/test_sync_history.py::test_a_short_history_loses_no_word",
    ],
    3: [
        "sync/propose/test_sync_propose.py::test_an_outdated_change_request_is_updated_when_nothing_conflicts",
        "sync/merge/test_sync_merge.py::test_every_pair_of_deeds_has_the_outcome_that_the_table_states",
    ],
    4: [
        "layout/tree/test_layout_placement.py::test_a_file_keeps_its_name_when_only_the_number_flips",
        "sync/mirror/test_sync_layout.py::test_files_of_one_name_are_told_apart_when_the_store_is_lost",
    ],
    5: [
        "cli/check/test_cli_check.py::test_a_plain_directory_is_checked_without_anything_else",
        "plan/merge/test_plan_summary.py::test_no_page_is_lost_or_stands_twice_and_a_second_merge_changes_nothing",
    ],
    6: [
        "cli/sync/test_cli_review.py::test_comments_are_listed_with_their_place_and_answered",
        "sync/propose/test_sync_propose.py::test_an_edit_by_a_reviewer_comes_back_into_the_branch",
    ],
    7: ["sync/integrate/test_sync_upstream.py::test_a_protected_branch_is_left_alone_and_the_side_branch_is_pushed"],
    8: [
        "cli/sync/test_cli_story.py::test_clone_edit_push_merge_pull_status",
        "cli/test_cli_faults.py::test_nothing_listens",
    ],
    9: ["sync/integrate/test_sync_upstream.py::test_commits_come_from_the_remote_and_what_the_platform_has_goes_there"],
    10: ["cli/sync/test_cli_story.py::test_redirects_follow_the_site_file"],
    11: [
        "cli/check/test_cli_check.py::test_a_plain_directory_is_checked_without_anything_else",
        "layout/tree/test_layout_keeping.py::test_a_good_link_is_never_replaced_by_a_broken_one",
    ],
    12: ["cli/ci/test_cli_ci.py::test_a_job_proposes_tells_github_and_repeats_for_free"],
    13: ["sync/integrate/test_sync_upstream.py::test_a_bare_repository_serves_a_team_without_a_work_tree"],
    14: [
        "sync/propose/test_sync_propose.py::test_pushing_again_changes_nothing",
        "sync/mirror/test_sync_mirror.py::test_a_second_run_writes_nothing_and_asks_once",
    ],
    15: [
        "sync/propose/test_sync_propose.py::test_too_many_deletions_wait_for_a_person",
        "sync/mirror/test_sync_mirror.py::test_a_space_that_became_empty_does_not_empty_the_repository",
    ],
    16: [
        "sync/integrate/test_sync_resolve.py::test_while_a_page_is_held_the_others_go_on_both_ways",
        "cli/sync/test_cli_upstream_mirror.py::test_a_conflict_with_main_content_is_settled_by_a_plain_merge",
        "cli/sync/test_cli_conflict_description.py::test_the_page_both_versions_and_both_ways_out_are_named",
    ],
    17: [
        "sync/merge/test_sync_structure.py::test_a_renamed_folder_and_a_renamed_retitled_and_rewritten_page_keep_their_ids"
    ],
    18: ["faults/test_faults_resume.py::test_a_first_mirror_that_is_killed_goes_on_where_it_was"],
    19: [
        "sync/integrate/test_sync_resolve.py::test_a_page_in_conflict_stops_no_other",
        "sync/integrate/test_sync_rewritten.py::test_an_amended_branch_updates_its_change_request",
    ],
    20: ["sync/mirror/test_sync_mirror.py::test_the_commit_carries_what_syncd_must_remember"],
}


def test_the_manual_answers_every_one() -> None:
    rows = re.findall(r"^\| (\d+)\. \S.* \| \S.* \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [int(row) for row in rows] == sorted(ANSWERS) == list(range(1, 21))


@pytest.mark.parametrize("number", ANSWERS)
def test_each_answer_is_tested(number: int) -> None:
    for answer in ANSWERS[number]:
        path, _, name = answer.partition("::")
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, answer
