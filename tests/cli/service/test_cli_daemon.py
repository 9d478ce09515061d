"""`syncd run`: what a writer commits and what the platform publishes find each other without a command."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from syncd.api.client import Client
from syncd.store.runs import SERVICE_RUNS
from tests.forked import Forked, start_syncd

PATIENCE_SECONDS = 60.0


@contextmanager
def daemon(docs: Path) -> Iterator[Forked]:
    with start_syncd("run", cwd=docs, pipes=["stderr"]) as running:
        try:
            assert running.stderr is not None
            assert any("ready" in line for line in running.stderr)
            yield running
        finally:
            running.terminate()
        assert running.wait(PATIENCE_SECONDS) == 0


def soon(happened: Callable[[], bool]) -> bool:
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        if happened():
            return True
        time.sleep(0.1)
    return False


def test_a_commit_becomes_a_change_request_and_its_merge_a_fast_forward(shell: Any) -> None:
    docs = shell.clone()
    config = docs / ".git" / "syncd.toml"
    config.write_text(config.read_text().replace("[[repository]]", "[[repository]]\ninterval = 1"))
    with Client(shell.url, shell.token.read_text().strip()) as client, daemon(docs):
        (docs / "use.md").write_text("# Use\n\nLike that.\n")
        shell.git("commit", "--quiet", "--all", "--message", "Say it better", cwd=docs)
        requests = client.change_requests
        assert soon(lambda: any(True for _ in requests.list(shell.space, status="open")))
        requests.merge(shell.space, "1")
        assert soon(lambda: shell.git("log", "-1", "--format=%cn", "main", cwd=docs) == "syncd\n")
        assert soon(lambda: shell.git("status", "--porcelain", cwd=docs) == "")
    assert shell.git("log", "--format=%s", "main", cwd=docs).splitlines()[0] == "Say it better"


def test_no_git_is_started_while_nothing_changes(shell: Any) -> None:
    docs = shell.clone()
    config = docs / ".git" / "syncd.toml"
    config.write_text(config.read_text().replace("[[repository]]", "[[repository]]\ninterval = 1"))
    with daemon(docs) as running:
        wait_for_runs(docs, 2)
        before = count_children_faults(running.pid)
        assert before
        wait_for_runs(docs, 3)
        assert count_children_faults(running.pid) == before
        shell.git("branch", "another", cwd=docs)
        assert soon(lambda: count_children_faults(running.pid) > before)


def wait_for_runs(docs: Path, number: int) -> None:
    """Wait until so many runs of the service have ended."""
    runs = docs / ".git" / SERVICE_RUNS
    for _ in range(number):
        assert soon(partial(_is_rewritten, runs, runs.stat().st_mtime_ns))


def _is_rewritten(file: Path, before: int) -> bool:
    return file.stat().st_mtime_ns != before


def count_children_faults(pid: int) -> int:
    """The page faults of a process's ended children: any process that it starts has some. Source: proc(5)."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return int(fields[8])


def test_sighup_reads_the_configuration_again(shell: Any) -> None:
    import signal

    from syncd.model.site import SiteCreate

    docs = shell.clone()
    with Client(shell.url, shell.token.read_text().strip()) as client, daemon(docs) as running:
        organization = client.spaces.get(shell.space).organization or ""
        site = client.sites.create(organization, SiteCreate(title="Docs"))
        redirect = "redirects:\n  - { from: /a, to: { url: 'https://example.org/a' } }\n"
        head = f"version: 1\nsite: {{ org: {organization}, id: {site.id} }}\n"
        (docs / "site.yaml").write_text(head + redirect)
        shell.git("add", "site.yaml", cwd=docs)
        shell.git("commit", "--quiet", "--message", "Redirect", cwd=docs)
        with (docs / ".git" / "syncd.toml").open("a") as config:
            config.write('\n[repository.site]\nfile = "site.yaml"\n')
        running.send_signal(signal.SIGHUP)
        assert soon(lambda: [r.source for r in client.redirects.list(organization, site.id)] == ["/a"])
