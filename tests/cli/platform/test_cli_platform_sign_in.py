"""`syncd platform login` and `logout`: links to the platform's pages, and their end."""

import json
from pathlib import Path

import httpx
import pytest

from syncd.cli.app import run
from syncd.platform.server import BackgroundServer
from tests.forked import start_syncd
from tests.storages import new_storage


def test_a_link_leads_to_the_server_on_this_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "platform"
    with start_syncd("platform", "serve", "--port", "0", "--data", str(data), pipes=["stdout"]) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        assert run(["platform", "login", "--data", str(data)]) == 0
        out, err = capsys.readouterr()
        assert out.startswith(f"{url}/app/sign-in?link=")
        assert "within 10 minutes" in err
        with httpx.Client(trust_env=False) as client:
            assert "Owner" in client.get(out.strip()).text
            link = out.strip().partition("link=")[2]
            own = {"Origin": url, "Sec-Fetch-Site": "same-origin"}
            assert client.post(f"{url}/app/sign-in", data={"link": link}, headers=own).status_code == 303
            assert client.get(f"{url}/app", follow_redirects=True).status_code == 200
            assert run(["platform", "logout", "--data", str(data)]) == 0
            assert "1 session of Owner ended." in capsys.readouterr().out
            assert client.get(f"{url}/app").status_code == 401
        server.terminate()


def test_a_link_is_for_a_person_who_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "platform"
    with new_storage(data) as storage:
        storage.bootstrap()
        with BackgroundServer(storage, works=False) as url:
            assert run(["platform", "login", "--data", str(data), "--url", url, "--json"]) == 0
            made = json.loads(capsys.readouterr().out)
            assert made["link"].startswith(f"{url}/app/sign-in?link=")
            assert (made["person"], made["seconds"]) == ("Owner", 600)
    assert run(["platform", "login", "--data", str(data), "--user", "no@example.org"]) != 0
    assert "no user no@example.org" in capsys.readouterr().err
    assert run(["platform", "login", "--data", str(data), "--url", "https://a.example/path"]) == 78
    assert run(["platform", "login", "--data", str(tmp_path / "none")]) != 0
