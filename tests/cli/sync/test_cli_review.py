"""`syncd review`: what reviewers say is shown where it belongs, and answered from the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

from syncd.api.client import Client
from syncd.cli.app import run
from syncd.daemon.locks import RUN_LOCK, FileLock
from syncd.layout.page.block_positions import find_block_line
from syncd.layout.richtext.nodes import collect_text
from syncd.layout.richtext.reading import to_document
from syncd.model.comment import CommentBodyWrite, CommentCreate, CommentReplyCreate
from syncd.model.review import ReviewCreate
from syncd.platform.people.tokens import TokenHolder, issue_token
from syncd.platform.storage.storage import Storage

HEAD = "---\ndescription: Like this\n---\n\n"
BODY = "# Use\n\nLike that.\n\n* one\n* see [the other](install.md) one\n\nLike that.\n"
USE = HEAD + BODY


def block_key(client: Client, space: str, page: str, words: str, *, nth: int = 0) -> str:
    """The key of the nth block of a page that says exactly this, as an editor would send it."""
    document = client.change_request_content.get_page(space, "1", page, format="document").document
    assert document is not None
    found: list[str] = []
    pending: list[Any] = list(reversed(document.nodes))
    while pending:
        node = pending.pop()
        found += [node["key"]] if node.get("key") and collect_text(node) == words else []
        pending += [child for child in reversed(node.get("nodes") or []) if child.get("object") == "block"]
    return found[nth]


@pytest.fixture
def reviewed(shell: Any) -> tuple[Any, Path, str]:
    """A clone whose untracked branch was pushed, and what a reviewer with a token of her own said of it."""
    docs = shell.clone()
    shell.git("checkout", "--quiet", "-b", "feature/x", cwd=docs)
    (docs / "use.md").write_text(USE)
    shell.git("commit", "--quiet", "--all", "--message", "Say it better", cwd=docs)
    assert run(["push", "nobody", "--config", str(docs / ".git" / "syncd.toml")]) == 64
    assert run(["push", "--config", str(docs / ".git" / "syncd.toml")]) == 0
    with Storage(shell.data) as storage:
        token = issue_token(storage, TokenHolder("ann@example.org", role="review")).secret
    with Client(shell.url, token) as ann:
        comments, space = ann.change_request_comments, shell.space
        page = next(page for page in ann.change_request_content.get(space, "1").pages if page.slug == "use")
        key = block_key(ann, space, page.id, "Like that.", nth=1)
        body = CommentBodyWrite(markdown="Said twice\x1b[2J?\n\nSee above.")
        first = comments.post(space, "1", CommentCreate(body=body, page=page.id, node=key))
        comments.post(space, "1", CommentCreate(body=CommentBodyWrite(markdown="Fine page."), page=page.id))
        comments.post(space, "1", CommentCreate(body=CommentBodyWrite(markdown="Well done in all.")))
        comments.post_reply(space, "1", first.id, CommentReplyCreate(body=CommentBodyWrite(markdown="On purpose?")))
        ann.reviews.create(space, "1", ReviewCreate(status="changes-requested"))
    return shell, docs, first.id


def review(capsys: Any, docs: Path, *words: str, code: int = 0) -> str:
    capsys.readouterr()
    assert run(["review", *words, "--config", str(docs / ".git" / "syncd.toml")]) == code
    return str(capsys.readouterr().out)


def written(docs: Path) -> dict[Path, int]:
    """Every file of a clone and when it was written, but for what SQLite keeps beside a database."""
    files = [path for path in docs.rglob("*") if path.is_file() and not path.name.startswith("state.db-")]
    return {path: path.stat().st_mtime_ns for path in files}


def test_comments_are_listed_with_their_place_and_answered(
    reviewed: tuple[Any, Path, str], capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell, docs, first = reviewed
    monkeypatch.chdir(docs)
    with FileLock.acquire(docs / ".git" / RUN_LOCK, wait=0):  # as a run that goes on holds it
        before = written(docs)
        text = review(capsys, docs)
        assert written(docs) == before
    lines = text.splitlines()
    assert lines[0] == "#1 docs/feature/x  Say it better  (open)"
    assert lines.pop(1).startswith(f"  {shell.url}/")
    assert lines[1].startswith("  ! changes requested by ann, just now")
    assert lines[2] == "  ! open comments: 3"
    assert lines[3].startswith("  use.md:12  ann, just now  [")
    assert lines[4:8] == [
        "      Said twice\\u001b[2J?",
        "      See above.",
        "      > ann, just now",
        "        On purpose?",
    ]
    assert any(line.startswith("  use.md:1  ann") for line in lines)
    assert any(line.startswith("  the whole change request  ann") for line in lines)
    monkeypatch.chdir(docs / ".git")
    (fix, *_) = review(capsys, docs, "--format", "quickfix").splitlines()
    assert fix == f"../use.md:12:1: #1 ann: Said twice [2J? See above. | ann: On purpose? [{first}]"

    review(capsys, docs, "reply", first, "Yes, on purpose.")
    review(capsys, docs, "resolve", first)
    assert first not in review(capsys, docs, "--format", "quickfix")
    everything = json.loads(review(capsys, docs, "--all", "--json"))["change_requests"][0]
    assert everything["open_comments"] == 2
    (settled,) = [each for each in everything["comments"] if each["status"] == "resolved"]
    assert [each["text"] for each in settled["replies"]] == ["On purpose?", "Yes, on purpose."]
    assert (settled["path"], settled["line"]) == ("use.md", 12)
    review(capsys, docs, "resolve", "--reopen", first)
    assert json.loads(review(capsys, docs, "--json"))["change_requests"][0]["open_comments"] == 3

    review(capsys, docs, "resolve", "nobody", code=64)
    review(capsys, docs, "reply", first, " ", code=64)
    (docs / ".git" / "syncd" / "state.db").unlink()
    assert "use.md:12:1:" in review(capsys, docs, "--format", "quickfix"), "the database may be lost"
    assert not (docs / ".git" / "syncd" / "state.db").exists()
    assert shell.git("status", "--porcelain", cwd=docs) == ""


@pytest.mark.parametrize(
    ("words", "nth", "line"),
    [("Like that.", 0, 7), ("Like that.", 1, 12), ("see the other one", 0, 10), ("one", 0, 9)],
)
def test_a_block_is_found_by_its_text_in_order(words: str, nth: int, line: int) -> None:
    document = to_document(BODY)
    found: list[str] = []
    pending: list[Any] = list(reversed(document.nodes))
    while pending:
        node = pending.pop()
        found += [node["key"]] if collect_text(node) == words else []
        pending += [child for child in reversed(node.get("nodes") or []) if child.get("object") == "block"]
    assert find_block_line(USE, document, found[nth]) == line
    assert find_block_line(USE, document, "unknown") == 1


def test_finding_a_block_takes_time_in_proportion_to_the_page() -> None:
    text = "# Page\n\n" + "the same line again\n\n" * 2_000
    document = to_document(text)
    assert find_block_line(text, document, document.nodes[-1]["key"]) == 2 + 2 * 2_000 - 1
