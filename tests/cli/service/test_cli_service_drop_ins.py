"""Repositories come to a running service as files in `conf.d/`; one with a mistake is reported, and spoils nothing."""

import re

import pytest

from tests.cli.conftest import Shell
from tests.cli.service.service import Two, command, serve_platform

pytestmark = pytest.mark.story
OFTEN = {"NOTIFY_SOCKET": "/nonexistent", "WATCHDOG_USEC": "1000000"}
"""Lets the service look at its files as often as it would tell systemd that it is alive."""


def test_a_file_that_comes_and_one_that_is_broken_and_mended(shell: Shell) -> None:
    two = Two(shell)
    whole = two.config.read_text()
    head, docs, other = whole.split("[[repository]]")
    two.config.write_text(f"{head}[[repository]]{docs}")
    with serve_platform(two, OFTEN) as service:
        service.hear("^ready")
        directory = shell.root / "conf.d"
        directory.mkdir()
        (directory / "more.toml").write_text(f"[[repository]]{other}\nnonsense = 1\n")
        service.hear("^conf.d/more.toml: ! run held: .*nonsense")
        assert "conf.d/more.toml: failed since" in service.ask("/readyz").text
        assert service.metric("syncd_last_run_ok", repository="docs", kind="repository") == 1
        code, text = command("config", "check", "--config", two.config, environ=service.environ)
        assert code == 78
        code, text = command("reload", "--json", "--config", two.config, environ=service.environ)
        assert code == 78
        assert re.search(r"conf\.d/more\.toml: .*nonsense", text)
        assert "all other files count" in text
        code, text = command("config", "check", "--config", two.config, environ=service.environ)
        assert f"{directory / 'more.toml'}:" in text
        assert re.search(r"more\.toml:\d+:\d+: error: .*nonsense", text)
        two.edit("other", "Arrived")
        (directory / "more.toml").write_text(f"[[repository]]{other}")
        service.hear("^ready: ")
        while not any(line.startswith("other: mirror main") for line in service.said):
            service.hear("^ready: ")
        assert two.has("other", "Arrived")
        assert service.ask("/readyz").text == "ready\n"
