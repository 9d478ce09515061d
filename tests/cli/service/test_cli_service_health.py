"""One thing is broken: every place that says how the service is doing says so, and all else is done."""

import os
import re
import shutil
import socket
from pathlib import Path
from signal import SIGHUP

import pytest

from syncd.daemon.locks import STATE_FILE
from tests.cli.service.service import Two, assert_docs_broken, assert_good, command, serve_platform
from tests.cli.service.test_cli_daemon import soon
from tests.sampling import sample_cases

pytestmark = pytest.mark.story

PLACES = ["docs", "docs/.git", "docs/.git/objects", "docs/.git/syncd/state.db"]
NAMES = ("main", "second", "third")
FAILING_GIT = """#!/bin/sh
if test -e '{switch}'; then
  case "$GIT_DIR $*" in
    */docs/.git\\ {verb}*) echo 'fatal: git is broken' >&2; exit 128;;
  esac
fi
exec '{git}' "$@"
"""


def test_a_service_whose_runs_succeed_says_so_everywhere(two: Two) -> None:
    with serve_platform(two) as service:
        service.hear("ready")
        assert_good(service)


@pytest.mark.parametrize("verb", ["", "fast-import", "cat-file"])
def test_git_fails_in_one_repository(two: Two, tmp_path: Path, verb: str) -> None:
    switch, programs = tmp_path / "git-is-broken", tmp_path / "bin"
    programs.mkdir()
    script = programs / "git"
    script.write_text(FAILING_GIT.format(switch=switch, verb=verb, git=shutil.which("git")))
    script.chmod(0o755)
    with serve_platform(two, {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}) as service:
        service.hear("ready")
        switch.touch()
        two.edit("docs", "Broken")
        two.edit("other", "Working")
        service.run_again("^docs: ! .*git is broken", "^other: mirror main")
        assert two.has("other", "Working")
        two.edit("other", "Working on")
        service.run_again("^other: mirror main")
        labels = {"repository": "docs", "kind": "repository"}
        assert soon(lambda: service.metric("syncd_consecutive_failures", **labels) >= 2)
        told = [line for line in service.said if "git is broken" in line]
        assert len(told) == len({*told}), "it has not changed"
        assert service.metric("syncd_last_success_timestamp_seconds", **labels) > 0
        assert_docs_broken(service, "failed", "git is broken", 1)
        switch.unlink()
        service.run_again("^docs: works again")
        assert two.has("docs", "Broken")
        assert_good(service)


def test_the_journal_is_told_the_repository_and_a_priority_with_each_line(two: Two) -> None:
    """A stream that is not the journal, or another process's, gets plain lines."""
    two.spaces["docs"] = "nosuchspace"
    two.write()
    with serve_platform(two, {"JOURNAL_STREAM": ""}) as service:
        service.hear("^<6>ready")
        two.spaces["docs"] = two.shell.space
        two.edit("docs", "News")
        two.write()
        service.process.send_signal(SIGHUP)
        service.hear_all("^<6>docs: mirror main", "^<5>docs: works again")
        two.config.write_text("[platform]")
        service.process.send_signal(SIGHUP)
        service.hear("^<3>error: .*config.toml")
        two.write()
        service.process.send_signal(SIGHUP)
        service.hear("^<6>ready")
    assert sum("ready" in line for line in service.said) == 3, "a reload that failed makes nothing ready"
    assert any(re.match("<3>docs: ! bind main held: .*nosuchspace", line) for line in service.said)
    plain = re.compile("<[3-6]>((docs|other): |ready|error: |  hint: )")
    assert [line for line in service.said if not plain.match(line)] == []
    two.write()
    with serve_platform(two, {"JOURNAL_STREAM": "1:2"}) as service:
        service.hear("^ready")


def test_a_repository_is_moved_away_while_it_is_served_and_before_a_start(two: Two) -> None:
    with serve_platform(two) as service:
        service.hear("ready")
        labels = {"repository": "docs", "kind": "repository"}
        success = service.metric("syncd_last_success_timestamp_seconds", **labels)
        two.docs.rename(two.shell.root / "away")
        two.edit("other", "Working")
        service.run_again("^docs: ! run held: .*docs is no Git repository", "^other: mirror main")
        assert two.has("other", "Working")
        assert service.metric("syncd_state_readable", repository="docs") == 0
        assert_docs_broken(service, "failed", "is no Git repository", 78)
        assert "docs  cannot be read" in service.status()[1]
    with serve_platform(two) as service:
        service.hear_all("^docs: ! run held: ", "^ready")
        assert service.metric("syncd_last_success_timestamp_seconds", **labels) == success, "a restart forgets nothing"
        assert service.metric("syncd_consecutive_failures", **labels) >= 2
        assert_docs_broken(service, "failed", "is no Git repository", 78)
        (two.shell.root / "away").rename(two.docs)
        service.run_again("^docs: works again, after [2-9] runs that failed")
        assert_good(service)


@pytest.mark.parametrize("place", sample_cases(PLACES, kept=(0, 3)))
def test_a_part_of_a_repository_is_something_else(two: Two, place: str) -> None:
    """A file where a directory was, or a directory where a file was; root may read whatever has no permissions."""
    path, aside = two.shell.root / place, two.shell.root / "aside"
    with serve_platform(two) as service:
        service.hear("ready")
        for part in path.parent.glob(f"{path.name}-*"):
            part.unlink()  # of the state database
        path.rename(aside)
        if aside.is_dir():
            path.write_text("nothing of this is a repository\n")
        else:
            path.mkdir()
        two.edit("other", "Working")
        service.run_again("^docs: ! run held: ", "^other: mirror main")
        assert two.has("other", "Working")
        docs = service.status()[2]["repositories"][0]
        assert_docs_broken(service, "failed", "", docs["run"]["record"]["exit_code"])
        if path.is_dir():
            path.rmdir()
        else:
            path.unlink()
        aside.rename(path)
        service.run_again("^docs: works again")
        assert_good(service)


def test_nobody_may_read_a_repository(two: Two) -> None:
    """Root reads whatever it likes, so the service is somebody else where a test may make it so."""
    with serve_platform(two) as service:
        service.hear("ready")
        if os.geteuid() == 0:
            os.chown(two.docs / ".git", 65534, -1)
        else:
            two.docs.chmod(0)
        service.run_again("^docs: ! run held: .*(Permission denied|belongs to user 65534)")
        assert service.metric("syncd_last_run_ok", repository="other", kind="repository") == 1
        assert service.metric("syncd_last_run_ok", repository="docs", kind="repository") == 0
        if os.geteuid() == 0:
            os.chown(two.docs / ".git", 0, -1)
        else:
            two.docs.chmod(0o755)
        service.run_again("^docs: works again")
        assert_good(service)


def test_a_damaged_state_is_begun_anew_and_forgets_no_success(two: Two) -> None:
    with serve_platform(two) as service:
        service.hear("ready")
        state = two.docs / ".git" / STATE_FILE
        for part in state.parent.glob("state.db-*"):
            part.unlink()
        state.write_bytes(b"no database" * 1000)
        two.edit("docs", "News")
        service.run_again("^docs: mirror main")
        assert two.has("docs", "News")
        assert_good(service)


def test_the_token_is_refused(two: Two) -> None:
    with serve_platform(two) as service:
        service.hear("ready")
        token = two.shell.token.read_text()
        two.shell.token.write_text("wrong\n")
        service.run_again("^docs: ! mirror main held: .*401", "^other: ! mirror main held: .*401")
        ready = service.ask("/readyz")
        assert ready.status_code == 503
        assert re.findall(r"^(\w+) space main: failed since", ready.text, re.MULTILINE) == ["docs", "other"]
        for name in ("docs", "other"):
            assert service.metric("syncd_last_run_ok", repository=name, kind="space", name="main") == 0
        code, text, _ = service.status()
        assert code == 77
        assert text.count("! run of the service failed since ") == 2
        two.shell.token.write_text(token)
        service.run_again("^docs: works again", "^other: works again")
        assert_good(service)


@pytest.mark.long
def test_the_platform_does_not_answer(two: Two) -> None:
    with serve_platform(two) as service:
        service.hear("ready")
        with socket.create_server(("127.0.0.1", 0)) as free:
            nobody = f"http://127.0.0.1:{free.getsockname()[1]}"
        two.write(url=nobody)
        service.process.send_signal(SIGHUP)
        service.hear_all("^docs: ! mirror main waiting: ", "^other: ! mirror main waiting: ")
        assert service.ask("/readyz").status_code == 503
        assert service.ask("/livez").status_code == 200
        labels = {"repository": "docs", "kind": "space", "name": "main"}
        assert service.metric("syncd_last_run_state", **labels, state="waiting") == 1
        assert service.status()[0] == 69
        two.write()
        service.process.send_signal(SIGHUP)
        service.hear_all("^docs: works again", "^other: works again")
        assert_good(service)


@pytest.mark.parametrize("when", ["start", "reload"])
def test_one_space_does_not_exist(two: Two, when: str) -> None:
    two.spaces["docs"] = two.new_space("First")
    shutil.rmtree(two.docs)
    two.shell.git("init", "--quiet", "--initial-branch=main", str(two.docs), cwd=two.shell.root)
    third = two.new_space("Third")
    wrong, right = [("second", "nosuchspace"), ("third", third)], [("third", third)]
    two.write(*(wrong if when == "start" else right))
    with serve_platform(two) as service:
        service.hear("ready")
        if when == "reload":
            assert service.ask("/readyz").status_code == 200
            two.write(*wrong)
            service.process.send_signal(SIGHUP)
            service.hear("^docs: ! mirror second held: .*nosuchspace")
        refs = two.shell.git("ls-tree", "-r", "--name-only", "platform/main", cwd=two.docs)
        assert {"main/use.md", "third/use.md"} <= set(refs.splitlines())
        found = {
            name: service.metric("syncd_last_run_ok", repository="docs", kind="space", name=name) for name in NAMES
        }
        assert found == {"main": 1, "second": 0, "third": 1}
        ready = service.ask("/readyz")
        assert (ready.status_code, len(ready.text.splitlines())) == (503, 2)
        assert "docs space second: failed since " in ready.text
        assert "nosuchspace" not in ready.text + service.ask("/metrics").text
        code, text, document = service.status()
        assert (code, document["repositories"][0]["run"]["record"]["state"]) == (4, "partial")
        assert re.search(r"^! run of the service partial since .*: mirror second: .*nosuchspace", text, re.MULTILINE)
        two.write(("third", third))
        service.process.send_signal(SIGHUP)
        service.hear("^docs: works again")
        assert service.ask("/readyz").text == "ready\n"


def test_a_site_file_with_a_mistake_holds_the_site_alone(two: Two) -> None:
    (two.docs / "site.yaml").write_text("version: 1\nsite: [\n")
    two.shell.git("add", "site.yaml", cwd=two.docs)
    two.shell.git("commit", "--quiet", "--message", "Site", cwd=two.docs)
    first, *rest = two.config.read_text().split("[[repository]]")
    rest[0] += '\n[repository.site]\nfile = "site.yaml"\n'
    two.config.write_text("[[repository]]".join([first, *rest]))
    with serve_platform(two) as service:
        service.hear_all("^docs: ! site site.yaml held: ", "^ready")
        assert service.metric("syncd_last_run_state", repository="docs", kind="site", state="failed") == 1
        assert service.metric("syncd_last_run_ok", repository="docs", kind="space") == 1
        assert service.ask("/readyz").text.startswith("not ready\ndocs site: failed since ")
        assert "site.yaml" not in service.ask("/readyz").text + service.ask("/metrics").text
        assert_docs_broken(service, "partial", "site site.yaml: ", 65)


def test_a_configuration_that_cannot_be_read_ends_the_start(two: Two) -> None:
    two.config.write_text("[platform")
    done = two.shell.syncd("run", "--config", two.config)
    assert done.returncode == 78
    assert str(two.config) in done.stderr


def test_a_command_that_works_does_not_hide_a_service_that_does_not(two: Two, tmp_path: Path) -> None:
    """As where only the service's surroundings are wrong."""
    switch, programs = tmp_path / "git-is-broken", tmp_path / "bin"
    programs.mkdir()
    script = programs / "git"
    script.write_text(FAILING_GIT.format(switch=switch, verb="", git=shutil.which("git")))
    script.chmod(0o755)
    switch.touch()
    with serve_platform(two, {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}) as service:
        service.hear("ready")
        service.environ["PATH"] = os.environ["PATH"]
        assert command("sync", "--config", two.config, environ=service.environ)[0] == 0
        assert_docs_broken(service, "failed", "git is broken", 1)
    assert command("sync", "--config", two.config)[0] == 0
    assert service.status()[0] == 0, "without the service, the later run counts"


def test_one_broken_repository_stops_no_command_for_others(two: Two) -> None:
    shutil.rmtree(two.docs)
    two.edit("other", "Working")
    code, text = command("sync", "--config", two.config)
    assert code == 4
    assert "! run docs held: " in text
    assert two.has("other", "Working")
