"""A name stands for another space than before: what was proposed to the former one is not taken for a change request
of the new one, and a stranger's change request there is nobody's own because of its number.

Run these stories: .venv/bin/python -m pytest -n 2 tests/cli/sync/test_cli_two_way_other_space.py
"""

import json

import pytest

from syncd.model.change_request import ChangeRequestCreate, ChangeRequestUpdate
from tests.cli.sync.two_way import FOUR, Team, Web, Writer, text_of

pytestmark = pytest.mark.story

OTHER = {**FOUR, "p4.md": text_of("P4").replace("P4 one.", "P4 one of the new space.")}


def bind(docs: Writer, former: str, space: str, *, policy: str = "") -> None:
    """Let the configuration name another space in the place of one."""
    text = docs.read(".git/syncd.toml")
    assert former in text
    docs.write(".git/syncd.toml", text.replace(former, space) + policy)
    docs.run("trust", "--yes")


def open_theirs(web: Web, slug: str = "p3") -> int:
    """Let a stranger write in a change request that is not done."""
    request = web.client.change_requests.create(web.space, ChangeRequestCreate(subject="A stranger's"))
    web.edit(slug, "P3 one.", "P3 one, a stranger's draft.", request=request.number)
    web.client.change_requests.update(web.space, str(request.number), ChangeRequestUpdate(status="open"))
    return request.number


def own_requests(docs: Writer) -> list[str]:
    """Return the change requests that status names."""
    (found,) = json.loads(docs.syncd("status", "--json").stdout)["repositories"]
    return [f"#{each['number']}" for each in found["requests"]]


@pytest.mark.parametrize("policy", ["", '\n[repository.change_requests]\nmerge = "auto"\n'])
def test_a_stranger_s_change_request_of_another_space_is_left_alone(
    docs: Writer, web: Web, team: Team, policy: str
) -> None:
    docs.edit("p2.md", "P2 one.", "P2 one, says B.")
    docs.run("sync")
    old = web.proposed()
    before = web.client.change_requests.get(web.space, str(old))
    new = team.space("new", OTHER)
    theirs = open_theirs(new)
    assert theirs == old
    untouched = new.client.change_requests.get(new.space, str(theirs))
    bind(docs, web.space, new.space, policy=policy)
    assert own_requests(docs) == []
    name = json.loads(docs.syncd("status", "--json").stdout)["repositories"][0]["spaces"][0]["name"]
    assert f"#{old}" in docs.run("init", code=5), "what is left in the former space is said once"
    assert docs.git("for-each-ref", "refs/syncd/notes", "refs/syncd/proposed", "refs/remotes/platform/changes") == ""
    assert f"#{old}" not in docs.run("init", "--prefer", f"{name}=git")
    docs.settle()
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.settle()
    for words in ("P1 one, says B.", "P2 one, says B.", "P4 one."):
        assert words in docs.everything()
    assert "stranger's" not in docs.everything()
    now = new.client.change_requests.get(new.space, str(theirs))
    assert (now.status, now.revision, now.subject) == (untouched.status, untouched.revision, untouched.subject)
    after = web.client.change_requests.get(web.space, str(old))
    assert (after.status, after.revision, after.updated_at) == (before.status, before.revision, before.updated_at)
    if policy:
        assert "P1 one, says B." in new.everything()
        assert "stranger's" not in new.everything()
    else:
        own = [each.number for each in new.requests() if each.number != theirs]
        assert len(own) == 1
        for slug in ("p1", "p2"):
            assert "says B." in new.text(slug, request=own[0])
        assert own_requests(docs) == [f"#{own[0]}"]


def test_what_a_former_version_recorded_of_another_space_is_left_too(docs: Writer, web: Web, team: Team) -> None:
    docs.edit("p2.md", "P2 one.", "P2 one, says B.")
    docs.run("sync")
    note = docs.git("for-each-ref", "--format=%(refname)", "refs/syncd/notes/*/0").strip()
    docs.git("update-ref", "-d", note)
    new = team.space("new", OTHER)
    bind(docs, web.space, new.space)
    docs.run("init", code=5)
    assert own_requests(docs) == []
    assert docs.git("for-each-ref", "refs/remotes/platform/changes") == ""
    theirs = open_theirs(new)
    docs.run("init", "--prefer", "git")
    docs.settle()
    assert "stranger's" not in docs.everything()
    assert "says B." not in new.everything(request=theirs)


def test_what_each_space_holds_of_one_branch_is_kept_apart_when_a_name_changes_twice(
    docs: Writer, web: Web, team: Team
) -> None:
    docs.edit("p2.md", "P2 one.", "P2 one, says B.")
    docs.run("sync")
    new = team.space("new")
    bind(docs, web.space, new.space)
    docs.run("init", "--prefer", "git")
    docs.settle()
    assert new.proposed() == web.proposed(), "both are the first change request of their space"
    number = new.proposed()
    web.edit("p3", "P3 one.", "P3 one, only in the former space.", request=number)
    bind(docs, new.space, web.space)
    docs.settle()
    assert [each.number for each in web.requests()] == [number]
    assert "P3 one, only in the former space." in docs.read("p3.md")
    assert "only in the former space" not in new.everything(request=number)
    assert "P2 one, says B." in new.text("p2", request=number)


def test_without_a_memory_the_marker_says_whose_a_change_request_is(docs: Writer, web: Web) -> None:
    docs.edit("p2.md", "P2 one.", "P2 one, says B.")
    docs.run("sync")
    own = web.proposed()
    theirs = open_theirs(web)
    ref = docs.git("for-each-ref", "--format=%(refname)", "refs/syncd/proposed").strip()
    docs.git("update-ref", ref.replace(f"/{own}/", f"/{theirs}/"), docs.tip())
    (docs.path / ".git" / "syncd" / "state.db").unlink()
    docs.edit("p4.md", "P4 one.", "P4 one, says B.")
    docs.run("undo", "--yes", code=1)
    docs.settle()
    assert "stranger's" not in docs.everything()
    assert "says B." not in web.everything(request=theirs)
    assert web.client.change_requests.get(web.space, str(theirs)).is_live
    assert own_requests(docs) == [f"#{own}"]
    for slug in ("p2", "p4"):
        assert "says B." in web.text(slug, request=own)


def test_a_recorded_change_request_stays_own_under_another_subject(docs: Writer, web: Web) -> None:
    docs.edit("p2.md", "P2 one.", "P2 one, says B.")
    docs.run("sync")
    own = web.proposed()
    web.client.change_requests.update(web.space, str(own), ChangeRequestUpdate(subject="A better subject"))
    docs.edit("p4.md", "P4 one.", "P4 one, says B.")
    docs.settle()
    assert [each.number for each in web.requests()] == [own]
    assert "P4 one, says B." in web.text("p4", request=own)
