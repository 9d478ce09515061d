"""The end of the demo: a published page that opens while the platform runs."""

import io
import sys
import tomllib
from pathlib import Path

import httpx
import pytest

from syncd.cli.app import run
from syncd.cli.demo import run_demo
from syncd.errors import ConfigInvalid

pytestmark = pytest.mark.story


class Enter(io.TextIOBase):
    """An input at which somebody presses Enter, but first reads the page that was told."""

    answer: httpx.Response

    def __init__(self, told: io.StringIO) -> None:
        super().__init__()
        self.told = told

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        """Return an empty line, after the page was read."""
        address = next(line.strip() for line in self.told.getvalue().splitlines() if "/sites/" in line)
        self.answer = httpx.get(address, trust_env=False, follow_redirects=True)
        return "\n"


def test_the_demo_shows_what_it_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    told = io.StringIO()
    enter = Enter(told)
    monkeypatch.setattr(sys, "stdout", told)
    monkeypatch.setattr(sys, "stdin", enter)
    run_demo(tmp_path / "demo", run, should_open=True)
    assert enter.answer.status_code == 200
    assert "This page was added in an editor" in enter.answer.text
    assert "open the address yourself" in told.getvalue()
    assert "$ git commit --quiet --message 'Say hello from Git'\n" in told.getvalue()


def test_what_is_kept_is_served_again_where_its_clone_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = io.StringIO()
    monkeypatch.setattr(sys, "stdout", told)
    run_demo(tmp_path / "my demo", run)
    last = told.getvalue().splitlines()[-1]
    config = tomllib.loads((tmp_path / "my demo" / "docs" / ".git" / "syncd.toml").read_text("utf-8"))
    port = config["platform"]["url"].rpartition(":")[2]
    assert f"syncd platform serve --data '{tmp_path}/my demo/platform' --port {port} takes it up again" in last


def test_what_is_no_new_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for taken, reason in ((tmp_path, "is not empty"), (tmp_path / "file", "File exists")):
        with pytest.raises(ConfigInvalid, match=reason):
            run_demo(taken, run)
    with pytest.raises(ConfigInvalid, match="Not a directory"):
        run_demo(tmp_path / "file" / "demo", run)
