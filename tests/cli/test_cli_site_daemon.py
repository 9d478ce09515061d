"""`syncd run` on a repository with a site: it follows commits, waits for a person, and its own commits wake nothing."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from syncd.daemon.locks import STATE
from syncd.store.glance import glance
from tests.cli.sited import Sited, sited
from tests.cli.test_cli_daemon import daemon, soon

SECTION = """\
    - section: {key}
      title: {title}
      path: {key}
      default: {default}
      variants: [{{ variant: main, space: {key}, default: true }}]
"""
GUIDES = "structure:\n  items:\n" + SECTION.format(key="guides", title="Guides", default="true")
BOTH = GUIDES + SECTION.format(key="api", title="Api", default="false")
PRUNED = "policy: { prune: { structure: owned } }\n"


@pytest.fixture
def at(shell: Any, capsys: pytest.CaptureFixture[str]) -> Iterator[Sited]:
    with sited(shell, capsys) as each:
        config = each.docs / ".git" / "syncd.toml"
        config.write_text(config.read_text().replace("[[repository]]", "[[repository]]\ninterval = 1"))
        yield each


def commits(at: Sited) -> list[str]:
    said: str = at.shell.git("log", "--format=%s", "main", cwd=at.docs)
    return said.splitlines()


def looked(at: Sited) -> str:
    """When the service last looked at the site."""
    return next((look.at for look in glance(at.docs / ".git" / STATE).looks), "")


def test_the_service_follows_commits_waits_for_a_person_and_is_quiet_after_its_own(at: Sited) -> None:
    at.write(BOTH)
    at.configure("every = 3600\n")
    with daemon(at.docs):
        assert soon(lambda: commits(at)[0] == "chore(syncd): lock serial 1"), "everything is adopted"
        first = looked(at)
        time.sleep(2.2)
        assert looked(at) == first, "neither its own commit nor an interval is a reason to look"
        at.write(BOTH.replace("title: Api", "title: API"))
        assert soon(lambda: at.sections() == {"guides": "Guides", "api": "API"}), "a commit is, at once"
        assert soon(lambda: commits(at)[0] == "chore(syncd): lock serial 2")
        at.write(PRUNED + GUIDES)
        assert soon(lambda: bool(at.json("site", "pending")["pending"])), "a deletion waits"
        assert "api" in at.sections()
        at("site", "approve", at.json("site", "pending")["pending"][0]["digest"])
        assert soon(lambda: at.sections() == {"guides": "Guides"}), "until somebody agrees"
        assert soon(lambda: commits(at)[0] == "chore(syncd): lock serial 3")
    assert not list(at.client.change_requests.list(at.shell.space, status="open")), "nothing of this is content"
    assert at.shell.git("status", "--porcelain", cwd=at.docs) == ""
