"""The service as a real process: alone, prompt, never twice at once, and gone within ten seconds of SIGTERM."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from signal import SIGHUP, SIGINT, SIGTERM, SIGUSR1
from typing import Any

import pytest

from syncd.daemon.locks import RUN_LOCK, FileLock, find_holder, is_abandoned
from tests.daemon.conftest import PATIENT

pytestmark = pytest.mark.story

Describe = Callable[..., dict[str, Any]]


def plain(tmp_path: Path, *names: str) -> list[Path]:
    """Directories that stand for git directories where no Git is needed."""
    made = [tmp_path / name for name in names]
    for path in made:
        (path / "refs" / "heads").mkdir(parents=True)
    return made


def test_of_two_daemons_started_together_exactly_one_serves(serve: Any, job: Describe, tmp_path: Path) -> None:
    (git_dir,) = plain(tmp_path, "docs")
    for _ in range(5):
        daemons = [serve(job(git_dir)), serve(job(git_dir))]
        while all(daemon.process.poll() is None for daemon in daemons):
            time.sleep(0.01)
        loser, winner = sorted(daemons, key=lambda daemon: daemon.process.poll() is None)
        assert loser.ends() == 7
        said = loser.silent_for(1)
        assert said[0] == "outcome syncd Waiting 7"
        assert not any(line.startswith("run") for line in said)
        winner.hear("run docs")
        assert find_holder(git_dir / "syncd" / "daemon.lock") == winner.process.pid
        winner.signal(SIGTERM)
        assert winner.ends() == 0


def test_a_daemon_that_was_killed_leaves_no_lock(serve: Any, job: Describe, tmp_path: Path) -> None:
    (git_dir,) = plain(tmp_path, "docs")
    for _ in range(3):
        daemon = serve(job(git_dir, "hanging"))
        daemon.hear("run docs")
        daemon.kill()


def test_one_repository_configured_twice_is_refused(serve: Any, job: Describe, tmp_path: Path) -> None:
    (git_dir,) = plain(tmp_path, "docs")
    daemon = serve(job(git_dir), job(git_dir, name="again"))
    assert daemon.ends() == 78
    assert find_holder(git_dir / "syncd" / "daemon.lock") is None


@pytest.mark.parametrize("number", [SIGTERM, SIGINT])
def test_a_signal_ends_a_running_cycle_between_two_steps(
    serve: Any, job: Describe, tmp_path: Path, number: Any
) -> None:
    (git_dir,) = plain(tmp_path, "docs")
    daemon = serve(job(git_dir, "patient"))
    daemon.hear("run docs")
    start = time.monotonic()
    daemon.signal(number)
    assert daemon.ends() == 0
    assert time.monotonic() - start < 2
    daemon.hear("outcome docs Unchanged 0")


def test_a_hanging_cycle_does_not_keep_the_daemon(serve: Any, job: Describe, tmp_path: Path) -> None:
    one, other = plain(tmp_path, "docs", "other")
    daemon = serve(job(one, "hanging"), job(other, name="other"))
    daemon.hear("outcome other Unchanged 0")
    daemon.signal(SIGTERM)
    assert daemon.ends() == 0
    assert find_holder(one / "syncd" / "daemon.lock") is None
    assert not is_abandoned(one / "syncd" / "daemon.lock"), "it was stopped, and did not die"


def hang(git_dir: Path) -> Path:
    """Let the disk of a repository hang, and return what lets it answer when it is opened for writing."""
    (git_dir / "syncd").mkdir(exist_ok=True)
    pipe = git_dir / "syncd" / "service.json"
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    return pipe


def test_a_disk_that_hangs_at_the_start_holds_its_repository_alone(
    serve: Any, job: Describe, tmp_path: Path, systemd: Any
) -> None:
    one, two, other = plain(tmp_path, "one", "two", "other")
    pipes = [hang(git_dir) for git_dir in (one, two)]
    environ = {"NOTIFY_SOCKET": str(tmp_path / "notify")}
    daemon = serve(job(one, name="one"), job(two, name="two"), job(other, name="other"), environ=environ)
    daemon.hear_all({"outcome one Waiting 75", "outcome two Waiting 75", "outcome other Unchanged 0"})
    systemd.hear("READY=1")
    systemd.hear(
        "STATUS=2 of 3 repositories: one: the disk of the repository does not answer; it is held until it does"
    )
    daemon.signal(SIGUSR1)
    daemon.hear("outcome other Unchanged 0")
    pipes[0].write_text("")
    daemon.hear("outcome one Unchanged 0")
    systemd.hear("STATUS=1 of 3 repositories: two: the disk of the repository does not answer")
    assert "run two" not in daemon.said
    daemon.signal(SIGTERM)
    assert daemon.ends() == 0


def test_a_disk_that_hangs_at_a_reload_holds_its_repository_alone(serve: Any, job: Describe, tmp_path: Path) -> None:
    one, other = plain(tmp_path, "one", "other")
    daemon = serve(job(one, name="one"), job(other, name="other"))
    daemon.hear_all({"outcome one Unchanged 0", "outcome other Unchanged 0"})
    pipe = hang(one)
    daemon.signal(SIGHUP)
    daemon.hear_all({"outcome one Waiting 75", "outcome other Unchanged 0"})
    daemon.signal(SIGHUP)  # the look that hangs goes on, and is not told of again
    daemon.hear("outcome other Unchanged 0")
    write_jobs(daemon, job(other, name="other"))
    daemon.signal(SIGHUP)
    daemon.hear("outcome other Unchanged 0")
    pipe.write_text("")
    assert daemon.said.count("outcome one Waiting 75") == 1
    wait_until_free(one)
    daemon.signal(SIGTERM)
    assert daemon.ends() == 0


def write_jobs(daemon: Any, *jobs: Any) -> None:
    daemon.spec.write_text(json.dumps({"jobs": jobs, "patience": 60}))


def wait_until_free(git_dir: Path) -> None:
    deadline = time.monotonic() + PATIENT
    while find_holder(git_dir / "syncd" / "daemon.lock") is not None:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_who_asks_twice_does_not_wait(serve: Any, job: Describe, tmp_path: Path) -> None:
    (git_dir,) = plain(tmp_path, "docs")
    daemon = serve(job(git_dir, "hanging"))
    daemon.hear("run docs")
    daemon.signal(SIGINT)
    time.sleep(0.2)
    daemon.signal(SIGINT)
    assert daemon.ends() == 0


def test_ready_is_said_when_every_first_cycle_was_answered(
    serve: Any, job: Describe, tmp_path: Path, systemd: Any
) -> None:
    one, other = plain(tmp_path, "docs", "other")
    environ = {"NOTIFY_SOCKET": str(tmp_path / "notify")}
    daemon = serve(job(one), job(other, "patient", name="other"), environ=environ)
    daemon.hear("outcome docs Unchanged 0")
    assert "READY=1" not in systemd.all_for(0.5)
    assert any(told.startswith("EXTEND_TIMEOUT_USEC=") for told in systemd.told)
    assert "STATUS=syncing other" in systemd.told
    (tmp_path / "go-on").touch()
    systemd.hear("READY=1")
    systemd.hear("STATUS=in step")
    daemon.signal(SIGHUP)
    systemd.hear("RELOADING=1\nMONOTONIC_USEC=")
    systemd.hear("READY=1")
    daemon.signal(SIGTERM)
    systemd.hear("STOPPING=1")


def test_what_is_refused_at_the_start_holds_itself_alone(
    serve: Any, job: Describe, tmp_path: Path, systemd: Any
) -> None:
    one, other = plain(tmp_path, "docs", "other")
    gone = tmp_path / "gone"
    environ = {"NOTIFY_SOCKET": str(tmp_path / "notify")}
    daemon = serve(job(one, "refused"), job(gone, name="gone"), job(other, name="other"), environ=environ)
    daemon.hear_all({"outcome docs Held 77", "outcome gone Held 78", "outcome other Unchanged 0"})
    systemd.hear("READY=1")
    systemd.hear("STATUS=2 of 3 repositories: docs: the token is refused; gone: ")
    daemon.signal(SIGUSR1)
    daemon.hear_all({"outcome docs Held 77", "outcome gone Held 78", "outcome other Unchanged 0"})
    plain(tmp_path, "gone")
    daemon.signal(SIGUSR1)
    daemon.hear("outcome gone Unchanged 0")
    assert find_holder(gone / "syncd" / "daemon.lock") == daemon.process.pid


def test_a_repository_that_moves_away_and_another_that_comes_are_told_apart(
    serve: Any, job: Describe, tmp_path: Path
) -> None:
    one, other = plain(tmp_path, "docs", "other")
    daemon = serve(job(one), job(other, name="other"))
    daemon.hear_all({"outcome docs Unchanged 0", "outcome other Unchanged 0"})
    one.rename(tmp_path / "away")
    daemon.signal(SIGUSR1)
    daemon.hear_all({"outcome docs Held 78", "outcome other Unchanged 0"})
    assert find_holder(tmp_path / "away" / "syncd" / "daemon.lock") is None, "whoever moved it may serve it there"
    plain(tmp_path, "docs")
    daemon.signal(SIGUSR1)
    daemon.hear("outcome docs Unchanged 0")
    assert find_holder(one / "syncd" / "daemon.lock") == daemon.process.pid
    (one / "refs" / "heads" / "main").write_text("a commit\n")
    daemon.hear("run docs")


def test_a_missing_answer_is_not_the_end_of_the_start(serve: Any, job: Describe, tmp_path: Path, systemd: Any) -> None:
    (git_dir,) = plain(tmp_path, "docs")
    serve(job(git_dir, "limited"), environ={"NOTIFY_SOCKET": str(tmp_path / "notify")})
    systemd.hear("READY=1")
    systemd.hear("STATUS=docs: the limit is reached")


def test_pings_follow_the_progress_of_the_cycles(serve: Any, job: Describe, tmp_path: Path, systemd: Any) -> None:
    (git_dir,) = plain(tmp_path, "docs")
    environ = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "200000"}
    daemon = serve(job(git_dir, "patient"), patience=1, environ=environ)
    daemon.hear("run docs")
    # Longer than its patience: a long cycle that moves is not a hanging one.
    for _ in range(20):
        systemd.hear("WATCHDOG=1")
    assert not any(told.startswith("STATUS=no progress") for told in systemd.told)


def test_no_ping_comes_from_a_daemon_whose_cycle_hangs(serve: Any, job: Describe, tmp_path: Path, systemd: Any) -> None:
    one, other = plain(tmp_path, "docs", "other")
    environ = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "200000"}
    serve(job(one, "hanging"), job(other, name="other", interval=0.5), patience=1, environ=environ)
    systemd.hear("STATUS=no progress in docs")
    assert "WATCHDOG=1" not in systemd.all_for(1.5)


def test_wakes_during_a_run_are_answered_by_one_more_run(serve: Any, job: Describe, tmp_path: Path) -> None:
    (git_dir,) = plain(tmp_path, "docs")
    daemon = serve(job(git_dir, "patient"))
    daemon.hear("run docs")
    for _ in range(3):
        daemon.signal(SIGUSR1)
        time.sleep(0.05)
    assert daemon.silent_for(0.3) == []
    (tmp_path / "go-on").touch()
    for line in ("outcome docs Unchanged 0", "run docs", "outcome docs Unchanged 0"):
        daemon.hear(line)
    assert daemon.silent_for(1) == []


def test_a_job_runs_at_its_interval(serve: Any, job: Describe, tmp_path: Path) -> None:
    (git_dir,) = plain(tmp_path, "docs")
    daemon = serve(job(git_dir, interval=0.4))
    daemon.hear("run docs")
    start = time.monotonic()
    for _ in range(4):
        daemon.hear("run docs")
    assert time.monotonic() - start > 4 * 0.3


def test_a_time_that_the_platform_named_is_waited_for(serve: Any, job: Describe, tmp_path: Path) -> None:
    (git_dir,) = plain(tmp_path, "docs")
    daemon = serve(job(git_dir, "limited", interval=0.3))
    daemon.hear("outcome docs Waiting 75")
    start = time.monotonic()
    daemon.signal(SIGUSR1)
    daemon.hear("run docs")
    assert time.monotonic() - start > 1.5


def test_a_reload_takes_up_and_lets_go(serve: Any, job: Describe, tmp_path: Path) -> None:
    one, two, three = plain(tmp_path, "one", "two", "three")
    daemon = serve(job(one, name="one"), job(two, "patient", name="two"))
    daemon.hear("run two")
    daemon.spec.write_text(json.dumps({"jobs": [job(one, name="first"), job(three, name="three")]}))
    daemon.signal(SIGHUP)
    daemon.hear_all({"run first", "run three", "outcome two Unchanged 0"})
    assert "run two" not in daemon.silent_for(0.5)
    assert find_holder(two / "syncd" / "daemon.lock") is None
    assert find_holder(three / "syncd" / "daemon.lock") == daemon.process.pid


def test_a_reload_that_fails_keeps_the_jobs_and_one_that_meets_another_service_waits_there(
    serve: Any, job: Describe, tmp_path: Path, systemd: Any
) -> None:
    one, two = plain(tmp_path, "one", "two")
    daemon = serve(job(one, name="one"), environ={"NOTIFY_SOCKET": str(tmp_path / "notify")})
    daemon.hear("outcome one Unchanged 0")
    systemd.hear("STATUS=in step")
    daemon.spec.write_text("{")
    daemon.signal(SIGHUP)
    daemon.hear("outcome syncd Held 78")
    systemd.hear("STATUS=the former configuration counts: the file makes no sense")
    daemon.spec.write_text(json.dumps({"jobs": [job(one, name="new"), job(two, name="two")]}))
    with FileLock.acquire(two / "syncd" / "daemon.lock"):
        daemon.signal(SIGHUP)
        daemon.hear_all({"outcome new Unchanged 0", "outcome two Waiting 7"})
        systemd.hear("STATUS=1 of 2 repositories: two: ")
    daemon.signal(SIGUSR1)
    daemon.hear("outcome two Unchanged 0")


def test_a_defect_in_one_job_is_reported_and_spares_the_others(serve: Any, job: Describe, tmp_path: Path) -> None:
    one, other = plain(tmp_path, "docs", "other")
    daemon = serve(job(one, "defective"), job(other, name="other", interval=0.5))
    daemon.hear("outcome docs Waiting 1")
    for _ in range(3):
        daemon.hear("outcome other Unchanged 0")


def test_a_defect_in_what_tells_of_a_run_keeps_no_repository(serve: Any, job: Describe, tmp_path: Path) -> None:
    (docs,) = plain(tmp_path, "docs")
    daemon = serve(job(docs, name="untold", interval=0.5))
    for _ in range(3):
        daemon.hear("outcome untold Unchanged 0")


def test_a_run_waits_while_a_person_runs(serve: Any, job: Describe, tmp_path: Path) -> None:
    (git_dir,) = plain(tmp_path, "docs")
    with FileLock.acquire(git_dir / RUN_LOCK):
        daemon = serve(job(git_dir, interval=1))
        daemon.hear("outcome docs Waiting 7")
        assert "run docs" not in daemon.said
    daemon.hear("run docs")


def test_a_commit_makes_it_run(serve: Any, job: Describe, repository: Path, commit: Callable[[], None]) -> None:
    daemon = serve(job(repository))
    daemon.hear("outcome docs Unchanged 0")
    commit()
    daemon.hear("outcome docs Unchanged 0")
    assert daemon.silent_for(1.5) == []


def test_its_own_commits_do_not(serve: Any, job: Describe, repository: Path) -> None:
    daemon = serve(job(repository, "committing"))
    daemon.hear("outcome docs Applied 0")
    assert daemon.silent_for(2) == []


def test_a_commit_of_someone_else_during_a_run_is_not_missed(serve: Any, job: Describe, repository: Path) -> None:
    daemon = serve(job(repository, "overtaken"))
    for line in ("outcome docs Unchanged 0", "run docs", "outcome docs Unchanged 0"):
        daemon.hear(line)
    assert daemon.silent_for(1.5) == []
