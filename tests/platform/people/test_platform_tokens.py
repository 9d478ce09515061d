"""Tokens from the command line: shown once, kept as a hash, ended by whoever runs the platform."""

import json
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa

from syncd import errors
from syncd.cli.app import run
from syncd.platform.people import auth
from syncd.platform.people.tokens import TokenHolder, delete_token, find_tokens, issue_token
from syncd.platform.schema import accounts
from syncd.platform.storage.storage import Storage, hash_token

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def owned(storage: Storage) -> Storage:
    """A platform with its owner."""
    storage.bootstrap()
    return storage


def test_a_new_email_makes_a_user_and_a_member_who_may_read(server: tuple[str, str], storage: Storage) -> None:
    made = issue_token(storage, TokenHolder("Ann@example.org"), label="laptop")
    again = issue_token(storage, TokenHolder("ann@EXAMPLE.org"))
    assert (made.user, made.email, made.display_name) == (again.user, "Ann@example.org", "Ann")
    with httpx.Client(base_url=f"{server[0]}/v1", trust_env=False, timeout=30) as http:
        for token in (made, again):
            http.headers["Authorization"] = f"Bearer {token.secret}"
            assert http.get("/user").json()["id"] == made.user
            (organization,) = http.get("/orgs").json()["items"]
            assert http.post(f"/orgs/{organization['id']}/spaces", json={"title": "x"}).status_code == 403


def test_a_token_for_nobody_in_particular_is_the_owners(server: tuple[str, str], storage: Storage) -> None:
    made = issue_token(storage, TokenHolder())
    answers = [
        httpx.get(
            f"{server[0]}/v1/user", headers={"Authorization": f"Bearer {token}"}, trust_env=False, timeout=30
        ).json()
        for token in (made.secret, server[1])
    ]
    assert answers[0] == answers[1]


def test_a_role_is_given_to_a_new_member_and_never_changed(owned: Storage) -> None:
    made = issue_token(owned, TokenHolder("ann@example.org", role="edit"))
    issue_token(owned, TokenHolder("ann@example.org", role="edit"))
    with pytest.raises(errors.ConfigInvalid, match="role edit already"):
        issue_token(owned, TokenHolder(made.user, role="admin"))
    with pytest.raises(errors.ConfigInvalid, match="role admin already"):
        issue_token(owned, TokenHolder(role="read"))
    with owned.read() as connection:
        roles = connection.execute(sa.select(accounts.members.c.role).order_by(accounts.members.c.joined_at)).all()
        assert [role for (role,) in roles] == ["admin", "edit"]
    assert len(find_tokens(owned)) == 3, "what was refused left nothing"


@pytest.mark.parametrize(
    ("person", "label", "what"),
    [
        (TokenHolder("nobody"), "", "no user nobody"),
        (TokenHolder("a@b@c"), "", "not an e-mail"),
        (TokenHolder("a@example.org", role="king"), "", "no role king"),
        (TokenHolder("a@example.org", organization="nowhere"), "", "no organization nowhere"),
        (TokenHolder(), "two\nlines", "printable"),
        (TokenHolder(), "x" * 101, "printable"),
    ],
)
def test_what_cannot_be_is_refused_and_leaves_nothing(
    owned: Storage, person: TokenHolder, label: str, what: str
) -> None:
    with pytest.raises((errors.NotFound, errors.ConfigInvalid), match=what):
        issue_token(owned, person, label=label)
    with owned.read() as connection:
        assert connection.scalar(sa.select(sa.func.count()).select_from(accounts.users)) == 1
    assert len(find_tokens(owned)) == 1


def test_a_token_is_ended_by_its_label_or_the_beginning_of_its_id(owned: Storage) -> None:
    one, other, third = (issue_token(owned, TokenHolder(), label=label) for label in ("ci", "ci", "laptop"))
    with pytest.raises(errors.ConfigInvalid, match="2 tokens are called ci") as several:
        delete_token(owned, "ci")
    assert one.id in several.value.hint
    assert delete_token(owned, "laptop").id == third.id
    assert delete_token(owned, one.id[:6]).id == one.id
    assert delete_token(owned, "ci").id == other.id
    for absent in ("ci", one.id, "", "%", "abc"):
        with pytest.raises(errors.NotFound):
            delete_token(owned, absent)
    assert [token.label for token in find_tokens(owned)] == ["data/token"]


def test_the_owners_token_is_ended_by_deleting_its_file(owned: Storage) -> None:
    with pytest.raises(errors.ConfigInvalid, match="owner's token") as refused:
        delete_token(owned, "data/token")
    assert str(owned.token_file) in refused.value.hint


def test_a_token_that_was_revoked_elsewhere_is_refused_within_seconds(
    server: tuple[str, str], storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auth, "REMEMBERED_S", 0.0)
    made = issue_token(storage, TokenHolder(), label="ci")
    with httpx.Client(headers={"Authorization": f"Bearer {made.secret}"}, trust_env=False, timeout=30) as http:
        assert http.get(f"{server[0]}/v1/user").status_code == 200
        delete_token(storage, "ci")
        assert http.get(f"{server[0]}/v1/user").status_code == 401


def test_the_commands_show_a_token_once_and_what_it_was_afterwards(tmp_path: Path, capsys: Captured) -> None:
    data = ("--data", str(tmp_path / "platform"))
    assert run(["platform", "token", "create", "--user", "ann@example.org", "--label", "ci", *data]) == 0
    shown = capsys.readouterr()
    secret = shown.out.strip()
    assert secret.startswith("syncd_")
    assert "ann@example.org" in shown.err

    assert run(["platform", "token", "list", "--json", *data]) == 0
    output = capsys.readouterr().out
    token = next(one for one in json.loads(output)["tokens"] if one["label"] == "ci")
    assert (token["label"], token["email"], token["id"]) == ("ci", "ann@example.org", hash_token(secret)[:12])
    assert secret not in output

    assert run(["platform", "token", "list", *data]) == 0
    assert f"{token['id']}  {token['created_at'][:10]}  ann@example.org" in capsys.readouterr().out
    assert run(["platform", "token", "revoke", "ci", *data]) == 0
    assert "within 5 seconds" in capsys.readouterr().out
    assert run(["platform", "token", "revoke", "ci", *data]) == 78


def test_a_command_that_looks_for_a_platform_makes_none(tmp_path: Path, capsys: Captured) -> None:
    for words in (("token", "list"), ("token", "revoke", "x"), ("export", "x", str(tmp_path / "out"))):
        assert run(["platform", *words, "--data", str(tmp_path / "nowhere")]) == 78
        assert "there is no platform in" in capsys.readouterr().err
    assert not (tmp_path / "nowhere").exists()
