"""What `push` and `status` say of work that is not proposed: neither keeps silent, and both say the same."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from syncd.api.client import Client
from syncd.model.review import ReviewCreate

pytestmark = pytest.mark.story

NOTHING = "Nothing to propose"


@pytest.fixture
def docs(shell: Any) -> Path:
    clone: Path = shell.clone()
    return clone


def commit(shell: Any, docs: Path, **files: str) -> None:
    for name, text in files.items():
        (docs / f"{name}.md").write_text(text)
    shell.git("add", "--all", cwd=docs)
    shell.git("commit", "--quiet", "--message", "Write", cwd=docs)


def test_a_page_that_no_table_of_contents_lists_is_named(shell: Any, docs: Path) -> None:
    commit(shell, docs, new="# New\n")
    out = shell.fine("push", cwd=docs)
    assert NOTHING in out
    assert "not sent: new.md is not listed in SUMMARY.md" in out
    assert "not sent: new.md is not listed in SUMMARY.md" in shell.fine("status", cwd=docs)
    for command in ("push", "sync"):
        assert shell.json(command, cwd=docs)["unsent"][0]["spaces"][0]["unlisted"] == ["new.md"]
    out = shell.fine("sync", cwd=docs)
    assert "not sent: new.md is not listed in SUMMARY.md" in out
    assert "in step" not in out


def test_a_file_whose_name_differs_from_its_entry_in_case_alone_is_named_with_both(shell: Any, docs: Path) -> None:
    summary = docs / "SUMMARY.md"
    summary.write_text(summary.read_text() + "* [Guide](guide.md)\n")
    commit(shell, docs, Guide="# Guide\n")
    out = shell.fine("push", cwd=docs)
    assert "not sent: SUMMARY.md lists guide.md, but the file is Guide.md; write that there, and commit" in out
    assert out.count("not sent:") == 1


def test_a_file_whose_name_only_looks_like_its_entry_is_renamed_by_the_command_that_is_printed(
    shell: Any, docs: Path
) -> None:
    summary = docs / "SUMMARY.md"
    folder = docs / "Menu\u0308 2"
    folder.mkdir()
    (folder / "it's cafe\u0301.md").write_text("# Caf\u00e9\n")
    summary.write_text(summary.read_text() + "* [Caf\u00e9](<Men\u00fc 2/it's caf\u00e9.md>)\n")
    commit(shell, docs)
    out = shell.fine("push", cwd=docs)
    assert "lists Men\u00fc 2/it's caf\u00e9.md, but the file is Menu\\u0308 2/it's cafe\\u0301.md; rename it" in out
    (command,) = re.findall(r"repository: (git mv .*), and commit\n", out)
    assert command.count("git mv") == 2
    subprocess.run(["bash", "-c", command], cwd=docs, check=True, env={**os.environ, "LC_ALL": "C"})
    commit(shell, docs)
    out = shell.fine("push", cwd=docs)
    assert "not sent" not in out
    assert "create page Men\u00fc 2/it's caf\u00e9.md" in out


def test_an_entry_that_only_looks_like_its_file_is_spelled(shell: Any, docs: Path) -> None:
    summary = docs / "SUMMARY.md"
    summary.write_text(summary.read_text() + "* [Caf\u00e9](cafe\u0301.md)\n")
    commit(shell, docs, café="# Caf\u00e9\n")
    out = shell.fine("push", cwd=docs)
    assert "SUMMARY.md lists cafe\\u0301.md, but the file is caf\u00e9.md; write that there, and commit" in out


def test_edits_that_are_not_committed_are_named(shell: Any, docs: Path) -> None:
    (docs / "use.md").write_text("# Use\n\nEdited.\n")
    out = shell.fine("push", cwd=docs)
    assert NOTHING in out
    assert "not sent: use.md is edited and not committed" in out
    assert shell.json("status", cwd=docs)["repositories"][0]["unsent"][0]["uncommitted"] == ["use.md"]


def test_a_detached_head_is_refused_with_the_way_out(shell: Any, docs: Path) -> None:
    shell.git("checkout", "--quiet", "--detach", cwd=docs)
    commit(shell, docs, use="# Use\n\nOn no branch.\n")
    refused = shell.syncd("push", cwd=docs)
    assert refused.returncode == 64
    assert "HEAD is detached" in refused.stderr
    assert "git switch BRANCH" in refused.stderr
    assert "HEAD is detached" in shell.fine("status", cwd=docs)
    shell.fine("push", "main", cwd=docs)


def test_a_linked_work_tree_pushes_the_branch_that_it_shows(shell: Any, docs: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    shell.git("worktree", "add", "--quiet", "-b", "topic", str(linked), cwd=docs)
    commit(shell, linked, use="# Use\n\nFrom a linked work tree.\n")
    assert "Next: syncd push" in shell.fine("status", cwd=linked)
    assert "propose docs/topic" in shell.fine("push", cwd=linked)


def test_after_a_push_nobody_is_told_to_push(shell: Any, docs: Path) -> None:
    commit(shell, docs, use="# Use\n\nProposed.\n")
    assert "Next: syncd push" in shell.fine("status", cwd=docs)
    pushed = shell.fine("push", cwd=docs)
    address = next(word for word in pushed.split() if word.startswith(shell.url))
    for words in (["push"], ["status"], ["review"]):
        out = shell.fine(*words, cwd=docs)
        assert address in out, words
        assert "Next: syncd push" not in out
        assert NOTHING not in out
    with Client(shell.url, shell.token.read_text().strip()) as client:
        client.change_requests.merge(shell.space, "1")
    shell.fine("pull", cwd=docs)
    assert "Next:" not in shell.fine("status", cwd=docs)


def test_commits_that_are_about_no_space_ask_for_no_push(shell: Any, docs: Path) -> None:
    (docs / "site.yaml").write_text("version: 1\n")
    commit(shell, docs)
    out = shell.fine("status", cwd=docs)
    assert "1 ahead, 0 behind main content; no page or file of a space is changed" in out
    assert "Next:" not in out
    assert NOTHING in shell.fine("push", cwd=docs)


def test_a_file_that_an_unchanged_page_links_to_is_content(shell: Any, docs: Path) -> None:
    (docs / "numbers.csv").write_text("1\n")
    commit(shell, docs, use="# Use\n\n[Numbers](numbers.csv)\n")
    shell.fine("push", cwd=docs)
    with Client(shell.url, shell.token.read_text().strip()) as client:
        client.change_requests.merge(shell.space, "1")
    shell.fine("pull", cwd=docs)
    (docs / "numbers.csv").write_text("2\n")
    commit(shell, docs)
    assert "Next: syncd push" in shell.fine("status", cwd=docs)
    assert "file numbers.csv" in shell.fine("push", cwd=docs), "the API cannot replace a file: a manual step"
    status = shell.fine("status", cwd=docs)
    assert "1 manual step on the platform: syncd push main names each" in status
    assert "Next: syncd push" not in status


def test_a_review_is_told_with_approvals(shell: Any, docs: Path) -> None:
    commit(shell, docs, use="# Use\n\nTo be reviewed.\n")
    shell.fine("push", cwd=docs)
    assert "nobody has reviewed it yet" in shell.fine("review", cwd=docs)
    with Client(shell.url, shell.token.read_text().strip()) as client:
        client.reviews.create(shell.space, "1", ReviewCreate(status="approved"))
    assert "approved by" in shell.fine("review", cwd=docs)


def test_a_push_reads_reviews_only_of_what_has_changed(shell: Any, docs: Path) -> None:
    commit(shell, docs, use="# Use\n\nTo be reviewed.\n")
    shell.fine("push", cwd=docs)
    with Client(shell.url, shell.token.read_text().strip()) as client:
        client.reviews.create(shell.space, "1", ReviewCreate(status="approved"))
    costs = [shell.json(command, cwd=docs)["requests"]["GET"] for command in ("push", "push", "pull")]
    assert costs[0] == costs[1], "nothing has changed for a second push"
    assert costs[2] >= costs[1] + 2, "pull reads reviews and who was asked for one, each time"
    assert shell.json("status", cwd=docs)["repositories"][0]["requests"][0]["awaits"] == "merge"
    commit(shell, docs, use="# Use\n\nReviewed.\n")
    shell.fine("push", cwd=docs)
    assert shell.json("push", cwd=docs)["requests"]["GET"] == costs[1]


def test_a_table_of_contents_that_says_the_same_asks_for_no_second_push(shell: Any, docs: Path) -> None:
    (docs / "SUMMARY.md").write_text((docs / "SUMMARY.md").read_text() + "* [Gone](/gone.md)\n* [Out](../out.md)\n")
    commit(shell, docs)
    assert NOTHING in shell.fine("push", cwd=docs)
    assert "Next:" not in shell.fine("status", cwd=docs)


def test_a_listed_page_that_git_ignores_is_named(shell: Any, docs: Path) -> None:
    (docs / ".gitignore").write_text("secret*\n")
    (docs / "secret.md").write_text("# Secret\n")
    with (docs / "SUMMARY.md").open("a") as summary:
        summary.write("* [Secret](secret.md)\n")
    commit(shell, docs, use="# Use\n\nLike that.\n")
    for command in ("status", "push"):
        out = shell.fine(command, cwd=docs)
        assert "not sent: secret.md is listed in SUMMARY.md, but ignored by Git" in out
    assert shell.json("push", cwd=docs)["unsent"][0]["ignored"] == ["secret.md"]


def test_what_was_taken_back_is_named_with_the_way_on(shell: Any, docs: Path) -> None:
    commit(shell, docs, use="# Use\n\nLike that.\n")
    assert "/~/changes/1" in shell.fine("push", cwd=docs), "the address is printed"
    shell.fine("undo", "1", "--yes", cwd=docs)
    for command in ("push", "status"):
        out = shell.fine(command, cwd=docs)
        assert "not sent: use.md: #1 was archived with that; commit something new, or syncd cr reopen 1" in out
        assert NOTHING not in out
        assert "Next: syncd push" not in out
        assert "holds what main says" not in out
    shell.fine("cr", "reopen", "1", cwd=docs)
    assert "change request #1 holds what main says" in shell.fine("push", cwd=docs)


def test_what_was_taken_back_of_a_branch_that_a_pattern_tracks_is_named_by_a_sync(shell: Any, docs: Path) -> None:
    config = docs / ".git" / "syncd.toml"
    config.write_text(config.read_text().replace('branches = ["main"]', 'branches = ["main", "t/*"]'))
    shell.fine("trust", "--yes", cwd=docs)
    shell.git("switch", "--quiet", "--create", "t/a", cwd=docs)
    commit(shell, docs, use="# Use\n\nLike that.\n")
    shell.fine("sync", cwd=docs)
    shell.fine("undo", "1", "--yes", cwd=docs)
    for branch in ("t/a", "main"):
        shell.git("switch", "--quiet", branch, cwd=docs)
        out = shell.fine("sync", cwd=docs)
        assert "not sent: use.md: #1 was archived with that" in out
        assert "in step" not in out
    assert [work["branch"] for work in shell.json("sync", cwd=docs)["unsent"]] == ["main", "t/a"]


def test_a_listed_page_that_is_not_there_is_named(shell: Any, docs: Path) -> None:
    (docs / "linked.md").symlink_to("install.md")
    with (docs / "SUMMARY.md").open("a") as summary:
        summary.write("* [Ghost](ghost.md)\n* [Linked](linked.md)\n")
    commit(shell, docs)
    for command in ("push", "status"):
        out = shell.fine(command, cwd=docs)
        assert "not sent: ghost.md is listed in SUMMARY.md, but no such file is committed" in out
        assert "not sent: linked.md is listed in SUMMARY.md, but syncd follows no symbolic link" in out
    unsent = shell.json("push", cwd=docs)["unsent"][0]
    assert (unsent["missing"], unsent["linked"], unsent["ignored"]) == (["ghost.md"], ["linked.md"], [])


def test_a_listed_page_whose_file_was_deleted_is_said_to_be_deleted(shell: Any, docs: Path) -> None:
    (docs / "use.md").unlink()
    commit(shell, docs)
    for command in ("status", "push", "status"):
        out = shell.fine(command, cwd=docs)
        assert "! deleted: use.md has no file any more; SUMMARY.md still lists it; take the entry out, or" in out
        assert "not sent" not in out
    unsent = shell.json("push", cwd=docs)["unsent"][0]
    assert (unsent["still_listed"], unsent["missing"]) == (["use.md"], [])


def test_what_only_comments_have_waits_for_somebody_to_put_it_in(shell: Any, docs: Path) -> None:
    config = docs / ".git" / "syncd.toml"
    config.write_text(config.read_text().replace("[[repository]]\n", '[[repository]]\nwrite = "comments"\n'))
    shell.fine("trust", "--yes", cwd=docs)
    commit(shell, docs, use="# Use\n\nLike that.\n")
    out = shell.fine("push", cwd=docs)
    assert "#1: syncd writes comments alone here, as `write` says; 1 comment carries the proposal" in out
    assert "takes no content" not in out
    again = shell.fine("push", cwd=docs)
    assert "comments of change request #1 hold what main says; somebody has to put it in" in again
    out = shell.fine("status", cwd=docs)
    assert "all is proposed in comments" in out
    assert "#1 of main: open; its comments hold what main says; " in out
    assert "; waits for somebody to put it in on the platform" in out
    with Client(shell.url, shell.token.read_text().strip()) as client:
        (comment,) = client.change_request_comments.list(shell.space, "1")
        request = client.change_requests.get(shell.space, "1")
    assert request.description is not None
    assert "takes no content" not in f"{comment.body.markdown}{request.description.text()}"


def test_another_branchs_change_request_holds_what_that_branch_says(shell: Any, docs: Path) -> None:
    shell.git("switch", "--quiet", "--create", "topic", cwd=docs)
    commit(shell, docs, use="# Use\n\nLike that.\n")
    shell.fine("push", cwd=docs)
    shell.git("switch", "--quiet", "main", cwd=docs)
    assert "#1 of topic: open; holds what topic says; waits for a review" in shell.fine("status", cwd=docs)


def test_a_branch_that_no_pull_moves_asks_for_no_pull(shell: Any, docs: Path) -> None:
    shell.git("switch", "--quiet", "--create", "topic", cwd=docs)
    shell.git("switch", "--quiet", "main", cwd=docs)
    commit(shell, docs, use="# Use\n\nLike that.\n")
    shell.fine("push", cwd=docs)
    with Client(shell.url, shell.token.read_text().strip()) as client:
        client.change_requests.merge(shell.space, "1")
    shell.fine("pull", cwd=docs)
    shell.git("switch", "--quiet", "topic", cwd=docs)
    out = shell.fine("status", cwd=docs)
    assert "0 ahead, 2 behind main content" in out
    assert "Next:" not in out, "a pull leaves it where it is"


def test_files_that_are_deleted_and_not_committed_are_named_with_the_way_back(shell: Any, docs: Path) -> None:
    (docs / "use.md").unlink()
    for command in ("push", "status"):
        out = shell.fine(command, cwd=docs)
        assert "not sent: use.md is deleted, and that is not committed; git checkout HEAD -- PATH brings it back" in out
    assert "Next: git status" in out, "a deletion by mistake is not to be committed"
    assert shell.json("push", cwd=docs)["unsent"][0]["deleted"] == ["use.md"]
    shell.git("checkout", "HEAD", "--", "use.md", cwd=docs)
    assert "not sent" not in shell.fine("status", cwd=docs)


def test_a_file_that_a_merge_of_git_left_in_conflict_is_not_to_be_committed_as_it_is(shell: Any, docs: Path) -> None:
    shell.git("switch", "--quiet", "--create", "topic", cwd=docs)
    commit(shell, docs, use="# Use\n\nLike that.\n")
    shell.git("switch", "--quiet", "main", cwd=docs)
    commit(shell, docs, use="# Use\n\nOr like this.\n")
    subprocess.run(["git", "merge", "topic"], cwd=docs, capture_output=True, check=False)
    for command in ("push", "status"):
        out = shell.fine(command, cwd=docs)
        assert "not sent: use.md is in conflict in a merge of Git; edit until no marker is left, git add" in out
        assert "edited and not committed" not in out
    assert shell.json("status", cwd=docs)["repositories"][0]["unsent"][0]["unmerged"] == ["use.md"]


def test_only_what_the_change_request_lacks_is_not_pushed(shell: Any, docs: Path) -> None:
    commit(shell, docs, use="# Use\n\nLike that.\n")
    assert "1 file not pushed: use.md" in shell.fine("status", cwd=docs)
    shell.fine("push", cwd=docs)
    commit(shell, docs, install="# Install\n\nOnce.\n")
    assert "1 file not pushed: install.md" in shell.fine("status", cwd=docs)
    (unsent,) = shell.json("status", cwd=docs)["repositories"][0]["unsent"]
    assert unsent["spaces"][0]["changed"] == ["install.md", "use.md"]
    assert unsent["spaces"][0]["pending"] == ["install.md"]
    pushes = [line for line in shell.fine("status", "--porcelain=v1", cwd=docs).splitlines() if "push\t" in line]
    assert [line.rpartition("\t")[2] for line in pushes] == ["install.md"]


def test_what_a_person_has_to_do_in_a_change_request_is_counted_after_the_push(shell: Any, docs: Path) -> None:
    (docs / "large.png").write_bytes(b"x" * 1_000_001)
    commit(shell, docs, use="# Use\n\n![Large](large.png)\n")
    assert "Upload this file" in shell.fine("push", cwd=docs)
    status = shell.fine("status", cwd=docs)
    assert "1 manual step on the platform: syncd push main names each" in status
    assert "1 manual step to do on the platform" in status
    assert "all is proposed" not in status
    assert "Upload this file" in shell.fine("push", cwd=docs)
    commit(shell, docs, use="# Use\n\nNo picture.\n")
    shell.fine("push", cwd=docs)
    assert "manual step" not in shell.fine("status", cwd=docs)


def test_what_was_taken_back_is_not_called_unchanged(shell: Any, docs: Path) -> None:
    commit(shell, docs, use="# Use\n\nLike that.\n")
    shell.fine("push", cwd=docs)
    shell.fine("undo", "1", "--yes", cwd=docs)
    assert "1 ahead, 0 behind main content; 1 file not proposed any more" in shell.fine("status", cwd=docs)


def test_an_outdated_change_request_is_brought_up_to_date_by_the_command_that_is_named(shell: Any, docs: Path) -> None:
    shell.git("switch", "--quiet", "--create", "topic", cwd=docs)
    commit(shell, docs, use="# Use\n\nLike that.\n")
    shell.fine("push", cwd=docs)
    shell.git("switch", "--quiet", "main", cwd=docs)
    commit(shell, docs, install="# Install\n\nOnce.\n")
    shell.fine("push", cwd=docs)
    with Client(shell.url, shell.token.read_text().strip()) as client:
        client.change_requests.merge(shell.space, "2")
    shell.fine("pull", cwd=docs)
    assert "Next: syncd push topic" in shell.fine("status", cwd=docs), "another pull changes nothing"
    assert "! outdated: main content has moved on; syncd push topic" in shell.fine("review", cwd=docs)
    shell.fine("push", "topic", cwd=docs)
    assert "outdated: " not in shell.fine("status", cwd=docs)
    assert "outdated: " not in shell.fine("review", cwd=docs)


def test_of_many_files_that_are_not_pushed_the_first_are_named_and_with_v_all(shell: Any, docs: Path) -> None:
    names = [f"page-{number}" for number in range(7)]
    listed = "".join(f"* [{name}]({name}.md)\n" for name in names)
    commit(shell, docs, SUMMARY=(docs / "SUMMARY.md").read_text() + listed, **{name: f"# {name}\n" for name in names})
    assert "8 files not pushed: SUMMARY.md, page-0.md, page-1.md, page-2.md, page-3.md and 3 more" in (
        " ".join(shell.fine("status", cwd=docs).split())
    )
    assert ", ".join(f"{name}.md" for name in names) in " ".join(shell.fine("-v", "status", cwd=docs).split())


def test_a_push_of_a_branch_without_a_commit_says_so(shell: Any) -> None:
    docs = shell.clone()
    shell.git("checkout", "--quiet", "--orphan", "new", cwd=docs)
    assert shell.fine("push", cwd=docs).startswith("Nothing to propose: new has no commit yet.\n")
