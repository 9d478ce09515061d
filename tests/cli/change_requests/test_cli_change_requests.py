"""`syncd cr`: change requests are listed, shown, opened, merged, archived and reopened from the command line."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from syncd.api.client import Client
from syncd.model.change_request import ChangeRequestCreate, ChangeRequestUpdate
from syncd.model.content_write import ContentWrite
from syncd.model.review import ReviewCreate
from syncd.model.space import SpaceUpdate
from syncd.platform.people.tokens import TokenHolder, issue_token
from syncd.platform.services.directory.read import import_directory
from syncd.platform.storage.storage import Storage
from tests.checkouts import plant
from tests.cli.command_runner import CommandRunner, make_runner

pytestmark = pytest.mark.story


@pytest.fixture
def docs(shell: Any) -> Path:
    """A clone whose branch feature/x was pushed: it changes a page and deletes another."""
    docs: Path = shell.clone()
    shell.git("checkout", "--quiet", "-b", "feature/x", cwd=docs)
    (docs / "use.md").write_text("# Use\n\nLike that.\n")
    (docs / "install.md").unlink()
    (docs / "SUMMARY.md").write_text("# Table of contents\n\n* [Home](README.md)\n* [Use](use.md)\n")
    shell.git("commit", "--quiet", "--all", "--message", "Say it better", cwd=docs)
    return docs


@pytest.fixture
def cr(docs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandRunner:
    pushed = make_runner("push", docs, monkeypatch, capsys)()
    assert pushed.code == 0, pushed.err
    return make_runner("cr", docs, monkeypatch, capsys)


@pytest.fixture
def client(shell: Any) -> Iterator[Client]:
    with Client(shell.url, shell.token.read_text().strip()) as client:
        yield client


@pytest.fixture
def ann(shell: Any) -> Iterator[Client]:
    with Storage(shell.data) as storage:
        token = issue_token(storage, TokenHolder("ann@example.org", role="review")).secret
    with Client(shell.url, token) as ann:
        yield ann


def move_main(client: Client, space: str) -> None:
    """Merge a page that somebody else wrote."""
    other = client.change_requests.create(space, ChangeRequestCreate(subject="Another page"))
    page = {"operation": "insert_page", "title": "New", "document": {"markdown": "One more.\n"}}
    write = ContentWrite.model_validate({"changes": (page,)})
    client.change_requests.write_content(space, other.id, write)
    client.change_requests.merge(space, other.id)


def test_change_requests_are_listed_with_author_reviews_and_branch(
    shell: Any, cr: CommandRunner, client: Client, ann: Client
) -> None:
    client.change_requests.create(shell.space, ChangeRequestCreate(subject="A draft\x1b[2J of somebody"))
    ann.reviews.create(shell.space, "1", ReviewCreate(status="changes-requested"))
    listed = cr("list")
    assert (listed.code, listed.err) == (0, "")
    lines = listed.out.splitlines()
    assert lines[0] == "#2 docs  A draft [2J of somebody  (draft)"
    assert lines[2] == "#1 docs/feature/x  Say it better  (open)"
    assert lines[3] == "  ! changes requested by ann, just now"
    (draft,) = json.loads(cr("list", "--status", "draft", "--json").out)["change_requests"]
    assert (draft["number"], draft["branch"], draft["outdated"]) == (2, None, False)
    everything = json.loads(cr("list", "--all", "--json").out)["change_requests"]
    assert [each["number"] for each in everything] == [2, 1]
    mine = everything[1]
    assert (mine["branch"], mine["subject"], mine["name"]) == ("feature/x", "Say it better", "docs")
    assert [(each["status"], each["reviewer"]) for each in mine["reviews"]] == [("changes-requested", "ann")]
    assert cr("list", "--status", "merged").out == "No change request is merged.\n"
    assert cr("list", "--status", "gone").code == 64
    assert cr("list", "--status", "open", "--all").code == 64
    nowhere = cr("list", "--space", "nowhere")
    assert (nowhere.code, "there are: docs" in nowhere.err) == (64, True)


def test_a_change_request_is_shown_with_the_files_that_it_changes(shell: Any, cr: CommandRunner) -> None:
    shown = cr("show", "1")
    assert shown.code == 0, shown.err
    assert shown.out.splitlines()[0] == "#1 docs/feature/x  Say it better  (open)"
    assert "  ~ update page use.md  (Use)" in shown.out
    assert "  - delete page install.md  (Install)" in shown.out
    assert "nobody has reviewed it yet" in shown.out
    document = json.loads(cr("show", "#1", "--json").out)["change_request"]
    assert {(each["verb"], each["key"]) for each in document["changes"]} == {
        ("update", "use.md"),
        ("delete", "install.md"),
    }
    assert "Proposed by syncd from branch feature/x" in document["description"]
    assert document["conflicts"] == []
    by_address = json.loads(cr("show", f"{document['url']}?x=1", "--json").out)["change_request"]
    assert by_address["id"] == document["id"]
    missing = cr("show", "7")
    assert (missing.code, "no change request #7" in missing.err) == (64, True)
    assert cr("show", "seven").code == 64
    assert cr("show", "https://example.org/o/x/s/other/~/changes/1").code == 64


def test_the_address_is_printed_and_opened(shell: Any, docs: Path, cr: CommandRunner, tmp_path: Path) -> None:
    address = cr("open", "1", "--print").out.strip()
    assert address == f"{shell.url.removesuffix('/v1')}/app/o/{address.split('/')[5]}/s/{shell.space}/~/changes/1"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{tmp_path}/opened"\n')
    browser.chmod(0o700)
    done = shell.syncd("cr", "open", "1", cwd=docs, environ={"BROWSER": f"{browser} %s"})
    assert (done.returncode, done.stdout.strip()) == (0, address), done.stderr
    assert (tmp_path / "opened").read_text().strip() == address
    without = dict.fromkeys(("BROWSER", "DISPLAY", "WAYLAND_DISPLAY", "TERM"), "")
    failed = shell.syncd("cr", "open", "1", cwd=docs, environ=without)
    assert (failed.returncode, failed.stdout.strip()) == (1, address), failed.stderr


def test_a_merge_is_done_and_comes_back_with_pull(shell: Any, docs: Path, cr: CommandRunner, client: Client) -> None:
    done = cr("merge", "1")
    assert done.code == 0, done.err
    assert done.out.splitlines()[0] == "#1 docs/feature/x  Say it better  (merged)"
    assert done.out.splitlines()[-1] == "Next: syncd pull brings it to Git"
    assert client.change_requests.get(shell.space, "1").status == "merged"
    said = shell.fine("status", cwd=docs)
    assert "#1 of feature/x: merged; " in said
    assert said.endswith("Next: syncd pull\n"), "status knows it without a run"
    config = docs / ".git" / "syncd.toml"
    named = cr("merge", "1", "--config", str(config))
    assert named.out.splitlines()[-1] == f"Next: syncd pull --config {config} brings it to Git"
    again = cr("merge", "1", "--json")
    assert (again.code, json.loads(again.out)["change_request"]["status"]) == (0, "merged")
    assert cr("close", "1").code == 5
    assert cr("reopen", "1").code == 5
    shell.fine("pull", cwd=docs)
    assert "(merged)" in cr("list", "--all").out
    (mine,) = json.loads(cr("list", "--status", "merged", "--json").out)["change_requests"]
    assert mine["branch"] == "feature/x", "the subject says it when Git has forgotten"


def test_an_outdated_change_request_is_merged_only_after_an_update(
    shell: Any, cr: CommandRunner, client: Client
) -> None:
    move_main(client, shell.space)
    refused = cr("merge", "1")
    assert (refused.code, "outdated" in refused.err, "--update" in refused.err) == (6, True, True)
    assert client.change_requests.get(shell.space, "1").status == "open"
    assert "  ! outdated: main content has moved on" in cr("list").out
    assert cr("merge", "1", "--update").code == 0


def test_what_both_sides_changed_is_updated_but_not_merged(shell: Any, cr: CommandRunner, client: Client) -> None:
    other = client.change_requests.create(shell.space, ChangeRequestCreate(subject="The same line"))
    use = next(page for page in client.content.list_pages(shell.space) if page.slug == "use")
    update = {"operation": "update_page", "page": use.id, "document": {"markdown": "Like something else.\n"}}
    client.change_requests.write_content(shell.space, other.id, ContentWrite.model_validate({"changes": (update,)}))
    client.change_requests.merge(shell.space, other.id)
    refused = cr("merge", "1", "--update")
    assert (refused.code, "changed the same" in refused.err) == (6, True)
    assert "a merge now takes what main content says there out" in refused.err
    assert "hint: syncd pull, syncd resolve, then syncd push" in refused.err
    assert client.change_requests.get(shell.space, "1").status == "open"


def test_a_rule_that_forbids_the_merge_is_named(shell: Any, cr: CommandRunner, client: Client, ann: Client) -> None:
    rules = {"type": "rules", "rules": [{"rule": "require_at_least_one_approved_review"}]}
    client.spaces.update(shell.space, SpaceUpdate.model_validate({"merge_rules": rules}))
    refused = cr("merge", "1")
    assert (refused.code, "require_at_least_one_approved_review" in refused.err) == (5, True)
    unknown = {"type": "rules", "rules": [{"rule": "require_agent_review"}]}
    client.spaces.update(shell.space, SpaceUpdate.model_validate({"merge_rules": unknown}))
    refused = cr("merge", "1")
    assert (refused.code, "require_agent_review" in refused.err) == (5, True), "only the platform knows this rule"
    client.spaces.update(shell.space, SpaceUpdate.model_validate({"merge_rules": rules}))
    ann.reviews.create(shell.space, "1", ReviewCreate(status="approved"))
    assert "approved by ann" in cr("list").out
    assert cr("merge", "1").code == 0


def test_who_may_not_merge_is_not_authorised(shell: Any, docs: Path, cr: CommandRunner) -> None:
    with Storage(shell.data) as storage:
        token = issue_token(storage, TokenHolder("edith@example.org", role="edit")).secret
    shell.token.write_text(token)
    refused = cr("merge", "1")
    assert (refused.code, "may not merge" in refused.err) == (77, True)


def test_a_closed_change_request_stays_closed_until_it_is_reopened(
    shell: Any, docs: Path, cr: CommandRunner, client: Client
) -> None:
    assert cr("close", "1").code == 0
    assert client.change_requests.get(shell.space, "1").status == "archived"
    said = shell.fine("status", cwd=docs)
    assert "#1 of feature/x: archived; " in said
    assert "SUMMARY.md, install.md, use.md: #1 was archived with that" in said, "status knows it without a run"
    assert "Next:" not in said, "nobody reviews it"
    assert "is archived already" in cr("close", "1").out
    refused = cr("merge", "1")
    assert (refused.code, "syncd cr reopen 1" in refused.err) == (5, True)
    shell.fine("push", cwd=docs)
    assert [each.number for each in client.change_requests.list(shell.space)] == [], "the same is not proposed again"
    assert cr("reopen", "1").code == 0
    assert "#1 of feature/x: open; holds what feature/x says; waits for a review" in shell.fine("status", cwd=docs)
    assert "is open already" in cr("reopen", "1").out
    shell.fine("push", cwd=docs)
    assert [each.number for each in client.change_requests.list(shell.space)] == [1]
    client.change_requests.update(shell.space, "1", ChangeRequestUpdate(status="draft"))
    assert cr("merge", "1").code == 5, "nobody was asked to review a draft"


def test_a_number_in_two_spaces_needs_the_space(
    shell: Any, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = plant(tmp_path / "more", {"README.md": "# Other\n", "SUMMARY.md": "* [Other](README.md)\n"})
    with Storage(shell.data) as storage:
        other = import_directory(storage, source, title="Api").space
    shell.fine(
        "clone", shell.url, f"{shell.space}=docs", f"{other}=api", tmp_path / "both", "--token-file", shell.token
    )
    for space in (shell.space, other):
        client.change_requests.create(space, ChangeRequestCreate(subject=f"In {space[:3]}"))
    cr = make_runner("cr", tmp_path / "both", monkeypatch, capsys)
    several = cr("show", "1")
    assert (several.code, "--space" in several.err) == (64, True)
    assert cr("show", "1", "--space", "api").out.startswith("#1 api")
    address = client.change_requests.get(other, "1").address
    assert cr("show", address).out.startswith("#1 api")
    assert cr("show", address, "--space", "docs").code == 64
    assert [each["name"] for each in json.loads(cr("list", "--space", other, "--json").out)["change_requests"]] == [
        "api"
    ]
