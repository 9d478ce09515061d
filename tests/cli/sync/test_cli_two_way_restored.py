"""A platform that was restored from a backup has change requests of before, and gives their numbers again.

Run these stories: .venv/bin/python -m pytest -n 2 tests/cli/sync/test_cli_two_way_restored.py
"""

import pytest

from syncd.model.change_request import ChangeRequestCreate
from tests.cli.sync.two_way import Interposer, Team, Web, Writer

pytestmark = pytest.mark.story


@pytest.fixture
def docs(team: Team, web: Web, interposer: Interposer) -> Writer:
    return team.clone(web.space)


@pytest.mark.parametrize("command", ["sync", "push"])
def test_what_a_restored_change_request_has_lost_is_sent_again(
    docs: Writer, web: Web, team: Team, interposer: Interposer, command: str
) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.run("sync")
    backup = team.back_up()
    docs.edit("p2.md", "P2 one.", "P2 one, says B.")
    docs.run("sync")
    web = team.restore(backup, web, interposer)
    docs.run(command)
    docs.run(command)
    assert "P2 one, says B." in docs.read("p2.md")
    request = web.proposed()
    for slug in ("p1", "p2"):
        assert "says B." in web.text(slug, request=request)


@pytest.mark.parametrize("is_killed", [False, True])
def test_main_content_that_a_restored_change_request_lacks_is_not_taken_out(
    docs: Writer, web: Web, team: Team, interposer: Interposer, is_killed: bool
) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.run("sync")
    web.edit("p4", "P4 one.", "P4 one, says the web.")
    backup = team.back_up()
    docs.settle()
    web = team.restore(backup, web, interposer)
    docs.edit("p2.md", "P2 one.", "P2 one, says B.")
    if is_killed:
        docs.killed(interposer, "sync", at="/content$")
    docs.settle()
    web.merge()
    docs.settle()
    for words in ("P1 one, says B.", "P2 one, says B.", "P4 one, says the web."):
        assert words in web.everything()
        assert words in docs.everything()


def test_a_number_that_is_given_again_is_another_change_request(
    docs: Writer, web: Web, team: Team, interposer: Interposer
) -> None:
    backup = team.back_up()
    docs.edit("p2.md", "P2 one.", "P2 one, says B.")
    docs.run("sync")
    number = web.proposed()
    web = team.restore(backup, web, interposer)
    other = web.client.change_requests.create(web.space, ChangeRequestCreate(subject="Somebody else's"))
    assert other.number == number
    web.edit("p3", "P3 one.", "P3 one, a draft.", request=number)
    docs.run("undo", "--yes", code=1)
    assert web.client.change_requests.get(web.space, str(number)).is_live
    docs.edit("p4.md", "P4 one.", "P4 one, says B.")
    docs.settle()
    assert "says B." not in web.everything(request=number)
    assert "a draft" not in docs.everything()
    assert "P2 one, says B." in docs.read("p2.md")
    own = web.proposed()
    assert own != number
    for slug in ("p2", "p4"):
        assert "says B." in web.text(slug, request=own)


def test_a_restored_space_is_held_however_often_it_was_edited_since(
    docs: Writer, web: Web, team: Team, interposer: Interposer
) -> None:
    backup = team.back_up()
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.run("sync")
    web.merge()
    docs.settle()
    web = team.restore(backup, web, interposer)
    for _ in range(27):
        web.edit("p3", "P3 one", "P3 one x")
    docs.run("sync", code=5)
    assert "P1 one, says B." in docs.read("p1.md")
