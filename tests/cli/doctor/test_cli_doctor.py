"""`syncd doctor`: each thing that can be wrong is named with what mends it, and nothing is changed by looking."""

import json
import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from syncd.cli.doctor.checks import DISK_FAIL, DISK_LEFT, check_clock, check_proxy, check_units, judge_disk
from syncd.daemon.locks import SERVICE_LOCK, FileLock
from syncd.model.site import SiteSectionCreate
from syncd.store.runs import SERVICE_RUNS, RunRecord, write_runs
from tests.cli.sites.site_clone import SiteClone, create_sites
from tests.cli.sites.test_cli_site import STRUCTURE
from tests.cli.status.test_cli_status import make_conflict

NOW = datetime(2026, 5, 1, 10, tzinfo=UTC)
UNIT = """#!/bin/sh
case "$*" in
  *--user*) echo LoadState=not-found;;
  *) printf 'LoadState=loaded\\nActiveState=%s\\nSubState=%s\\nNRestarts=3\\n' {active} {sub};;
esac
"""
OLD_GIT = """#!/bin/sh
if [ "$1" = version ]; then echo "git version 2.30.2"; exit; fi
echo "error: unknown option" >&2
echo "usage: git $1" >&2
exit 129
"""


@pytest.fixture
def at(shell: Any, capsys: pytest.CaptureFixture[str]) -> Iterator[SiteClone]:
    with create_sites(shell, capsys) as each:
        yield each


def diagnose(shell: Any, docs: Path, *words: object) -> tuple[int, dict[str, dict[str, Any]]]:
    """Return the exit code of `syncd doctor --json`, and each check by its subject."""
    done = shell.syncd("doctor", "--json", *words, cwd=docs)
    document = json.loads(done.stdout)
    assert document["exit_code"] == done.returncode
    return done.returncode, {check["subject"]: check for check in document["checks"]}


def list_files(docs: Path) -> dict[str, int]:
    """Return when each file was written; what SQLite puts beside a database while it is read counts for none."""
    files = [path for path in docs.rglob("*") if path.is_file() and not path.name.startswith("state.db-")]
    return {str(path): path.stat().st_mtime_ns for path in files}


def copy_config(shell: Any, docs: Path, old: str, new: str) -> Path:
    """Return a configuration of the operator's own that says the same but for one text."""
    text = (docs / ".git" / "syncd.toml").read_text()
    assert old in text
    file = Path(shell.root) / "syncd.toml"
    file.write_text(text.replace(old, new).replace("[[repository]]\n", f'[[repository]]\npath = "{docs}"\n'))
    return file


def test_where_all_is_well_every_check_is_fine_and_nothing_is_touched(shell: Any) -> None:
    docs = shell.clone()
    before = list_files(docs)
    code, found = diagnose(shell, docs)
    assert code == 0
    assert {check["state"] for check in found.values()} == {"ok"}
    named = {"syncd", "git", "configuration", "platform", "token", "clock", "disk", "file events"}
    assert named <= set(found)
    assert found["space docs"]["detail"] == "Docs"
    assert "served by no syncd run" in found["repository docs"]["detail"]
    assert list_files(docs) == before
    assert shell.fine("doctor", cwd=docs).endswith("Nothing is wrong.\n")


def test_whether_another_user_s_service_runs_is_not_guessed(shell: Any) -> None:
    docs = shell.clone()
    lock = docs / ".git" / SERVICE_LOCK
    lock.unlink(missing_ok=True)
    # Root may read the lock of every user, and nobody a link in its place.
    lock.symlink_to(docs / ".git" / "HEAD")
    _, found = diagnose(shell, docs)
    assert found["repository docs"]["detail"].endswith("; your user cannot see whether a syncd run serves it")
    assert "perhaps a service that your user cannot see" in shell.fine("status", cwd=docs)


def test_without_a_configuration_it_says_how_to_begin(shell: Any) -> None:
    code, found = diagnose(shell, shell.root)
    assert code == 78
    assert found["git"]["state"] == "ok"
    assert found["configuration"]["state"] == "fail"
    assert "syncd clone" in found["configuration"]["hint"]
    assert found["platform"]["state"] == "skip"


def test_a_token_that_is_refused_is_told_once_and_the_spaces_are_not_asked(shell: Any) -> None:
    docs = shell.clone()
    shell.token.write_text("another")
    code, found = diagnose(shell, docs)
    assert (code, found["platform"]["exit_code"]) == (77, 77)
    assert found["space docs"]["state"] == "skip"
    assert found["repository docs"]["state"] == "ok"
    shell.token.chmod(0o644)
    code, found = diagnose(shell, docs)
    assert (code, found["token"]["state"], found["platform"]["state"]) == (78, "fail", "skip")
    assert found["token"]["hint"] == f"chmod 600 {shell.token}"


def test_a_last_run_that_failed_is_told_though_every_other_check_is_fine(shell: Any) -> None:
    docs, token = shell.clone(), shell.token.read_text()
    shell.token.write_text("another")
    assert shell.syncd("pull", cwd=docs).returncode == 77
    shell.token.write_text(token)
    code, found = diagnose(shell, docs)
    assert (code, found["token"]["state"], found["last run"]["state"]) == (77, "ok", "fail")
    assert found["last run"]["detail"].startswith("failed at ")
    assert found["last run"]["hint"].endswith("\nwhen that is mended: syncd sync")
    assert shell.syncd("doctor", cwd=docs).stdout.endswith("1 failure, 0 warnings.\n")
    shell.fine("pull", cwd=docs)
    assert diagnose(shell, docs)[1]["last run"]["state"] == "ok"


def test_an_upstream_that_is_gone_is_a_failure(shell: Any) -> None:
    docs, host = shell.clone(), shell.root / "host.git"
    shell.git("clone", "--quiet", "--bare", str(docs), str(host), cwd=shell.root)
    shell.git("remote", "add", "origin", str(host), cwd=docs)
    space = "[[repository.space]]"
    config = copy_config(shell, docs, space, f'[repository.upstream]\nremote = "origin"\n{space}')
    before = list_files(docs)
    code, found = diagnose(shell, docs, "--config", config)
    assert (code, found["upstream origin"]["detail"]) == (0, "answers, and has main")
    assert list_files(docs) == before
    host.rename(shell.root / "away.git")
    code, found = diagnose(shell, docs, "--config", config)
    assert (code, found["upstream origin"]["state"]) == (78, "fail")
    assert "does not appear to be a git repository" in found["upstream origin"]["detail"]
    shell.git("remote", "remove", "origin", cwd=docs)
    code, found = diagnose(shell, docs, "--config", config)
    assert (code, found["upstream origin"]["hint"]) == (78, "git remote add origin URL")


def test_a_git_directory_that_cannot_be_written_is_a_failure_beside_a_service_of_this_user(shell: Any) -> None:
    docs = shell.clone()
    # A test may be root, who may write everywhere; nobody writes to what is not there.
    (docs / ".git" / "syncd" / "odd").symlink_to(docs / "gone")
    with FileLock.acquire(docs / ".git" / SERVICE_LOCK):
        code, found = diagnose(shell, docs)
    assert "served by process" in found["repository docs"]["detail"]
    assert (code, found["git directory"]["state"]) == (78, "fail")


def test_a_conflict_is_a_warning_with_the_command_that_settles_it(shell: Any) -> None:
    docs = shell.clone()
    make_conflict(shell, docs)
    code, found = diagnose(shell, docs)
    last = found["last run"]
    assert (code, last["state"], last["hint"]) == (0, "warn", "syncd resolve use.md")
    assert last["detail"].startswith("conflict at ")
    assert last["detail"].endswith(": 1 page waits for a person")
    shell.fine("resolve", "use.md", "--ours", cwd=docs)
    last = diagnose(shell, docs)[1]["last run"]
    assert (last["state"], last["hint"]) == ("ok", "")
    assert "what waited for a person is decided" in last["detail"]


def test_a_plan_that_waits_is_a_warning_that_says_how_to_read_it(at: SiteClone) -> None:
    at.configure('file = "site.yaml"\napply = true\n')
    at.write(STRUCTURE)
    at("site", "apply", "--yes")
    at.write(STRUCTURE.split("    - section: api")[0] + "policy: { prune: { structure: owned } }\n")
    at("sync", code=5)
    (plan,) = at.json("site", "pending")["pending"]
    last = {check["subject"]: check for check in at.json("doctor")["checks"]}["last run"]
    assert last["state"] == "warn"
    assert last["hint"].startswith(f"syncd site pending {plan['digest']} --config ")
    assert last["detail"].startswith("approval at ")
    at("site", "approve", plan["digest"])
    last = {check["subject"]: check for check in at.json("doctor")["checks"]}["last run"]
    assert last["state"] == "ok"


def test_what_only_a_person_can_do_is_a_warning(at: SiteClone) -> None:
    at.configure('file = "site.yaml"\napply = true\n')
    at.write(STRUCTURE)
    at("site", "apply", "--yes")
    at.client.sections.create(at.organization, at.site, SiteSectionCreate(space_id=at.spaces["empty"], title="Guide"))
    at.write(STRUCTURE.replace("path: api", "path: guide"))
    at("sync", code=4)
    last = {check["subject"]: check for check in at.json("doctor")["checks"]}["last run"]
    assert last["state"] == "warn"
    assert last["detail"].startswith("manual at ")
    assert "is taken by section" in last["detail"]
    assert "syncd site plan" in last["hint"]


def test_a_platform_that_is_not_there_leaves_the_other_checks_to_be_made(shell: Any) -> None:
    docs = shell.clone()
    config = copy_config(shell, docs, shell.url, "http://127.0.0.1:1")
    code, found = diagnose(shell, docs, "--config", config)
    assert (code, found["platform"]["state"], found["disk"]["state"]) == (69, "fail", "ok")


def test_an_address_that_cannot_be_used_is_a_failure_beside_the_other_checks_and_its_token_is_shown_nowhere(
    shell: Any,
) -> None:
    docs, bundle = shell.clone(), Path(shell.root) / "report.json"
    config = copy_config(shell, docs, shell.url, f"{shell.url}/?token=hunter2")
    code, found = diagnose(shell, docs, "--config", config, "--bundle", bundle)
    assert (code, found["platform"]["state"], found["space docs"]["state"]) == (78, "fail", "skip")
    assert "has credentials, a query or a fragment" in found["platform"]["detail"]
    assert (found["repository docs"]["state"], found["disk"]["state"]) == ("ok", "ok")
    assert "hunter2" not in bundle.read_text()
    for words in ("doctor", "config check", "config show", "status --json", "auth status", "auth status --json"):
        done = shell.syncd(*words.split(), "--config", config, cwd=docs)
        assert done.stdout
        assert "hunter2" not in done.stdout + done.stderr


def test_a_space_that_is_not_there_and_one_in_the_trash(shell: Any) -> None:
    docs = shell.clone()
    code, found = diagnose(shell, docs, "--config", copy_config(shell, docs, shell.space, "nosuchspace"))
    assert (code, found["space docs"]["state"]) == (78, "fail")
    assert "nosuchspace" in found["space docs"]["detail"]
    shell.fine("api", "DELETE", f"/spaces/{shell.space}", "--url", shell.url, "--token-file", shell.token)
    code, found = diagnose(shell, docs)
    assert (code, found["space docs"]["state"]) == (1, "fail")
    assert "in the trash" in found["space docs"]["detail"]


def test_what_a_reader_s_token_may_not_do_is_a_warning(shell: Any) -> None:
    docs = shell.clone()
    words = ("platform", "token", "create", "--user", "reader@example.com", "--data", shell.data)
    shell.token.write_text(shell.fine(*words).strip().splitlines()[-1])
    code, found = diagnose(shell, docs)
    assert (code, found["space docs"]["state"]) == (0, "warn")
    assert "push cannot write" in found["space docs"]["detail"]
    assert shell.fine("doctor", cwd=docs).endswith("0 failures, 1 warning.\n")


def test_the_bundle_is_the_same_for_its_owner_alone_and_has_neither_token_nor_home(shell: Any) -> None:
    docs, file, home = shell.root / "docs", shell.root / "report.json", {"HOME": str(shell.root)}
    clone = ("clone", shell.url, shell.space, docs, "--token-file", shell.token)
    assert shell.syncd(*clone, environ=home).returncode == 0
    done = shell.syncd("doctor", "--bundle", file, cwd=docs, environ=home)
    assert done.returncode == 0, done.stderr
    text = file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert {check["subject"] for check in json.loads(text)["checks"]} >= {"git", "space docs"}
    assert shell.token.read_text().strip() not in text
    assert str(shell.root) not in text
    again = shell.syncd("doctor", "--bundle", file, cwd=docs, environ=home)
    assert again.returncode == 78
    assert f"{file} cannot be written" in again.stderr
    assert file.read_text() == text


@pytest.mark.parametrize(
    ("seconds", "state", "words"),
    [
        (59, "ok", "agrees"),
        (-59, "ok", "agrees"),
        (61, "warn", "61 seconds ahead of"),
        (-3600, "warn", "3600 seconds behind"),
    ],
)
def test_a_clock_that_is_wrong_is_told_with_the_direction(seconds: int, state: str, words: str) -> None:
    (check,) = check_clock(NOW - timedelta(seconds=seconds), NOW)
    assert check.state == state
    assert words in check.detail


def test_a_platform_that_tells_no_time_says_nothing_of_the_clock() -> None:
    assert not list(check_clock(None, NOW))


def test_room_on_the_disk_is_judged() -> None:
    states = [judge_disk(Path("/d"), free).state for free in (DISK_LEFT, DISK_LEFT - 1, DISK_FAIL, DISK_FAIL - 1)]
    assert states == ["ok", "warn", "warn", "fail"]


def test_a_proxy_that_is_named_is_not_used_and_that_is_told() -> None:
    assert not list(check_proxy({}))
    (check,) = check_proxy({"HTTPS_PROXY": "http://proxy:3128"})
    assert (check.state, check.detail) == ("warn", "HTTPS_PROXY is set, and syncd does not use it")


@pytest.mark.parametrize(
    ("active", "sub", "state"),
    [("active", "running", "ok"), ("failed", "failed", "warn"), ("activating", "auto-restart", "warn")],
)
def test_a_unit_that_is_installed_is_asked_how_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, active: str, sub: str, state: str
) -> None:
    systemctl = tmp_path / "systemctl"
    systemctl.write_text(UNIT.format(active=active, sub=sub))
    systemctl.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    (check,) = check_units()
    assert (check.subject, check.state) == ("syncd.service", state)
    assert check.detail == f"{active} ({sub}), started again 3 times"
    assert state == "ok" or "systemctl status syncd.service" in check.hint


def test_a_service_that_died_is_missed_and_one_that_was_stopped_is_not(shell: Any) -> None:
    docs = shell.clone()
    for file in ("command.json", "service.json"):
        (docs / ".git" / "syncd" / file).unlink(missing_ok=True)
    at = (datetime.now(UTC) - timedelta(days=30)).isoformat()
    write_runs(docs / ".git" / SERVICE_RUNS, [RunRecord("repository", "docs", "ok", at=at, succeeded=at)])
    lock = docs / ".git" / SERVICE_LOCK
    lock.write_text("4194303\n")
    done = shell.syncd("status", cwd=docs)
    assert done.returncode == 1, done.stdout
    assert "! run: the service that served it is gone since its run of " in done.stdout
    last = diagnose(shell, docs)[1]["last run"]
    assert (last["state"], last["hint"]) == ("warn", "start it again: systemctl start syncd, or syncd run")
    FileLock.acquire(lock).release()
    assert "is gone" not in shell.fine("status", cwd=docs)
    assert diagnose(shell, docs)[1]["last run"]["state"] == "ok"


def test_a_git_that_is_too_old_is_named_where_it_fails_and_by_doctor(shell: Any) -> None:
    docs, programs = shell.clone(), Path(shell.root) / "bin"
    programs.mkdir()
    old = programs / "git"
    old.write_text(OLD_GIT)
    old.chmod(old.stat().st_mode | stat.S_IXUSR)
    environ = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    for words in (["status"], ["push"], ["clone", shell.url, shell.space, "other", "--token-file", shell.token]):
        failed = shell.syncd(*words, cwd=docs, environ=environ)
        assert failed.returncode == 1
        said = failed.stdout + failed.stderr
        assert "may be too old: install git 2.38 or newer; syncd doctor says which it is" in said
    found = shell.syncd("doctor", cwd=docs, environ=environ).stdout
    assert f"{old} is too old: it says 'git version 2.30.2'" in found
