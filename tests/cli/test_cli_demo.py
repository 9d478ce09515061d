"""The end of the demo: a published page that opens while the platform runs."""

import io
import sys
from pathlib import Path

import httpx
import pytest

from syncd.cli.app import run
from syncd.cli.demo import run_demo

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
