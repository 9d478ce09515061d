"""`syncd api`: any operation by its method and path."""

import json
from typing import Any

import pytest

from syncd.cli.app import run


class Api:
    """Runs `syncd api` in this process, against the served platform."""

    def __init__(self, shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
        self._at = ["--url", shell.url, "--token-file", str(shell.token)]
        self._capsys = capsys

    def __call__(self, *words: str) -> Any:
        code, out, error = self.raw(*words)
        assert code == 0, error
        return json.loads(out) if out else None

    def raw(self, *words: str) -> tuple[int, str, str]:
        code = run(["api", *words, *self._at])
        said = self._capsys.readouterr()
        return code, said.out, said.err


@pytest.fixture
def api(shell: Any, capsys: pytest.CaptureFixture[str]) -> Api:
    return Api(shell, capsys)


def test_a_get_prints_the_answer_and_takes_fields_as_query_parameters(api: Api, shell: Any) -> None:
    assert api("GET", f"/spaces/{shell.space}")["title"] == "Docs"
    assert api("get", f"v1/spaces/{shell.space}")["id"] == shell.space
    organization = api("GET", "/orgs")["items"][0]["id"]
    assert len(api("GET", f"/orgs/{organization}/spaces", "-F", "limit=1")["items"]) == 1
    assert api("GET", f"/orgs/{organization}/spaces?limit=0")["items"] == []


def test_fields_become_members_of_the_body_typed_nested_and_listed(api: Api, shell: Any) -> None:
    made = api("POST", f"/spaces/{shell.space}/change-requests", "-f", "subject=1")
    assert made["subject"] == "1"
    content = f"/spaces/{shell.space}/change-requests/{made['number']}/content"
    fields = [
        *("-F", "changes[][operation]=insert_page", "-F", "changes[][title]=One", "-F", "changes[][hidden]=true"),
        *("-F", "changes[][document][markdown]=# One"),
        *("-F", "changes[][operation]=insert_page", "-F", "changes[][document][markdown]=# Two"),
    ]
    written = api("POST", f"{content}?compat=false", *fields)
    assert [change["object"] for change in written["changes"]] == ["created_page", "created_page"]
    file = shell.root / "body.json"
    file.write_text(
        json.dumps({"changes": [{"operation": "delete_page", "page": written["changes"][1]["page"]["id"]}]})
    )
    assert api("POST", f"{content}?compat=false", "--input", str(file))["changes"][0]["object"] == "deleted_page"
    archived = api("PATCH", f"/spaces/{shell.space}/change-requests/{made['number']}", "-F", "status=archived")
    assert archived["status"] == "archived"


def test_every_page_of_a_list_is_read_and_jq_selects(api: Api, shell: Any) -> None:
    for number in range(3):
        api("POST", f"/spaces/{shell.space}/change-requests", "-f", f"subject=Change {number}")
    asked = ("GET", f"/spaces/{shell.space}/change-requests", "-F", "status=draft", "-F", "limit=1", "--paginate")
    assert api(*asked)["count"] == 3
    code, out, _ = api.raw(*asked, "--jq", ".items[].subject")
    assert (code, sorted(out.splitlines())) == (0, ["Change 0", "Change 1", "Change 2"])


def test_an_operation_that_answers_nothing_prints_nothing(api: Api) -> None:
    organization = api("GET", "/orgs")["items"][0]["id"]
    assert api.raw("DELETE", f"/orgs/{organization}/sites/none") == (0, "", "")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("FETCH", "/orgs"), 64, "methods are"),
        (("POST", "/orgs", "--paginate"), 64, "--paginate"),
        (("GET", "/orgs", "--jq", ".["), 64, "--jq: the expression ends too early: .["),
        (("GET", "/orgs", "--jq", '"é" | foo(1)'), 64, "--jq: foo/1 is not defined at column 7, which begins: foo(1)"),
        (("GET", "/orgs", "--jq", ".a b"), 64, "--jq: unexpected name at column 4, which begins: b"),
        (("GET", "/orgs", "--jq", ".a |\n  .b %% c"), 64, "unexpected '%' at line 2, column 7, which begins: % c"),
        (("GET", "/orgs", "--jq", 'import "x" as y; 1'), 64, "--jq: module not found: x\n"),
        (
            ("GET", "/orgs", "--jq", ".items.id"),
            64,
            "--jq does not fit the answer, which is shown without --jq: Cannot",
        ),
        (("GET", "/orgs", "-F", "limit"), 64, "KEY=VALUE"),
        (("POST", "/orgs", "-F", "a=1", "-F", "a[b]=1"), 64, "another kind"),
        (("GET", "/orgs", "-F", "a[b]=1"), 64, "query parameter"),
        (("POST", "/orgs", "--input", "no such file"), 64, "cannot be read"),
        (("GET", "/orgs", "--input", "no such file"), 64, "a GET sends no body"),
        (("POST", "/orgs", "-F", "a=@no such file"), 64, "no such file cannot be read: No such file or directory\n"),
        (("GET", "https://example.com/v1/orgs"), 78, "not a path"),
        (("GET", "/"), 78, "/orgs or /user"),
        (("GET", "/spaces/none"), 78, "No space none"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(api: Api, words: tuple[str, ...], code: int, said: str) -> None:
    found, out, error = api.raw(*words)
    assert (found, out) == (code, "")
    assert said in error


def test_without_an_address_the_configuration_says_where(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    config = shell.clone() / ".git" / "syncd.toml"
    assert run(["api", "GET", "/user", "--config", str(config)]) == 0
    assert json.loads(capsys.readouterr().out)["object"] == "user"


def test_without_any_configuration_of_a_repository_ones_own_file_says_where(
    shell: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    own = shell.root / "home" / "syncd" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text(f'[platform]\nurl = "{shell.url}"\ntoken_file = "{shell.token}"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(shell.root / "home"))
    monkeypatch.chdir(shell.root)
    assert run(["api", "GET", "/user"]) == 0
    assert json.loads(capsys.readouterr().out)["object"] == "user"
