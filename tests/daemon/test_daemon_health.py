"""What is said of the service, computed from records: ready or not and why, systemd's line, and whose run counts."""

from dataclasses import replace
from datetime import datetime

import pytest

from syncd.daemon.health import (
    OVERDUE_SECONDS,
    USEFUL,
    RepositoryHealth,
    ServiceHealth,
    choose_runs,
    combine_codes,
    find_faults,
    is_ready,
    render_status,
)
from syncd.daemon.metrics import render_metrics
from syncd.store.runs import RunRecord

AT, LATER = "2026-05-01T10:00:00+00:00", "2026-05-01T10:30:00+00:00"
NOW = datetime.fromisoformat(AT).timestamp() + 30
WHOLE = RunRecord("repository", "docs", "ok", at=AT, succeeded=AT)
GOOD = RepositoryHealth("docs", 60, (WHOLE,), has_run=True)
OTHER = replace(GOOD, name="other")


def broken(state: str = "failed", why: str = "git rev-list: fatal") -> RepositoryHealth:
    return replace(GOOD, runs=(replace(WHOLE, state=state, why=why, since=AT, failures=3),))


def service(*repositories: RepositoryHealth, is_alive: bool = True) -> ServiceHealth:
    return ServiceHealth(is_alive, repositories)


@pytest.mark.parametrize("state", ["ok", "conflict", "approval", "manual", "partial", "held", "waiting", "failed"])
def test_only_a_run_that_did_what_it_is_for_makes_ready(state: str) -> None:
    health = service(broken(state), OTHER)
    assert is_ready(health, NOW) is (state in USEFUL)
    assert find_faults(health, NOW) == ([] if state in USEFUL else [f"docs: {state} since {AT} (3 runs)"])


def test_a_space_that_fails_alone_is_the_one_that_is_named() -> None:
    space = RunRecord("space", "api", "failed", 78, "SECRET", since=AT, at=AT, failures=1)
    runs = (replace(WHOLE, state="partial", why="SECRET", since=AT, failures=1), space, replace(space, state="ok"))
    assert find_faults(service(replace(GOOD, runs=runs)), NOW) == [f"docs space api: failed since {AT} (1 run)"]


@pytest.mark.parametrize(
    ("repository", "fault"),
    [
        (replace(GOOD, has_run=False), "docs: no run has ended since the service started"),
        (replace(GOOD, runs=()), "docs: no run has ended since the service started"),
        (replace(GOOD, is_stuck=True), "docs: the run shows no progress"),
    ],
)
def test_what_has_not_run_or_hangs_is_not_ready(repository: RepositoryHealth, fault: str) -> None:
    assert find_faults(service(repository, OTHER), NOW) == [fault]


def test_a_run_long_ago_says_nothing_of_now() -> None:
    often, seldom = GOOD, replace(OTHER, interval=3600)
    late = NOW - 30 + OVERDUE_SECONDS
    assert find_faults(service(often, seldom), late) == []
    assert find_faults(service(often, seldom), late + 1) == [f"docs: no run has ended since {AT}"]
    assert len(find_faults(service(often, seldom), late + 3 * 3600)) == 2


def test_a_configuration_that_was_refused_is_a_fault_until_one_counts() -> None:
    health = replace(service(GOOD), refusal="own.toml:3:1: no such key\nmore")
    assert find_faults(health, NOW) == ["the configuration has a mistake, and the former one counts"]
    assert render_status(health) == "the former configuration counts: own.toml:3:1: no such key"
    assert "syncd_config_ok 0.0" in render_metrics(health, NOW)
    assert "syncd_config_ok 1.0" in render_metrics(service(GOOD), NOW)


def test_a_run_of_a_clock_that_was_set_back_says_nothing_of_now() -> None:
    assert find_faults(service(GOOD), NOW - 60) == []
    assert find_faults(service(GOOD), NOW - 365 * 86400) == [f"docs: no run has ended since {AT}"]


def test_a_loop_that_does_not_turn_is_not_ready() -> None:
    assert not is_ready(service(GOOD, is_alive=False), NOW)


@pytest.mark.parametrize(
    ("repositories", "line"),
    [
        ((GOOD,), "in step"),
        ((GOOD, OTHER), "in step"),
        ((replace(GOOD, has_run=False),), "no run has ended yet"),
        ((broken(),), "docs: git rev-list: fatal"),
        ((broken(), OTHER), "1 of 2 repositories: docs: git rev-list: fatal"),
        ((broken(), replace(OTHER, is_running=True)), "syncing other; 1 of 2 repositories: docs: git rev-list: fatal"),
        ((replace(GOOD, is_running=True),), "syncing docs"),
        ((replace(GOOD, refusal="another syncd works on /srv/docs"),), "docs: another syncd works on /srv/docs"),
        ((broken("conflict", "1 page waits for a person"),), "docs: 1 page waits for a person"),
        ((replace(broken(), is_stuck=True, is_running=True), OTHER), "no progress in docs"),
    ],
)
def test_systemd_is_told_what_runs_and_what_is_wrong(repositories: tuple[RepositoryHealth, ...], line: str) -> None:
    assert render_status(service(*repositories)) == line


@pytest.mark.parametrize(
    ("service_at", "command_at", "has_service", "by"),
    [
        ("", "", True, ""),
        (AT, "", False, "service"),
        ("", AT, True, "command"),
        (AT, LATER, True, "service"),
        (AT, LATER, False, "command"),
        (LATER, AT, False, "service"),
    ],
)
def test_a_command_proves_nothing_of_a_service_that_runs(
    service_at: str, command_at: str, has_service: bool, by: str
) -> None:
    sets = [(replace(WHOLE, at=at),) if at else () for at in (service_at, command_at)]
    who, runs = choose_runs(sets[0], sets[1], has_service=has_service)
    assert who == by
    assert runs == {"service": sets[0], "command": sets[1], "": ()}[by]


@pytest.mark.parametrize(
    ("codes", "code"), [([], 0), ([0, 0], 0), ([77], 77), ([77, 77], 77), ([0, 77], 4), ([5, 77], 4)]
)
def test_several_repositories_have_one_exit_code(codes: list[int], code: int) -> None:
    assert combine_codes(codes) == code
