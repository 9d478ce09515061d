"""What `doctor` looks at: this machine, the configuration, the platform and each repository. Nothing is changed."""

import os
import platform
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from datetime import datetime
from pathlib import Path

from syncd import __version__
from syncd.api.client import Client
from syncd.cli.doctor.check import Check, make_failure
from syncd.cli.doctor.upstream import check_upstream
from syncd.cli.fleet.connect import find_database
from syncd.cli.service.run_status import START_HINT, RunStatus, find_run, format_gone, format_pause
from syncd.cli.status.gather import find_status
from syncd.cli.status.next_command import suggest_command
from syncd.cli.status.values import BrokenStatus, RepositoryStatus
from syncd.cli.terminal.context import load_config_parts, require_config_file
from syncd.cli.terminal.progress import make_client_options
from syncd.cli.terminal.text import format_time, name_config
from syncd.config import Config, ConfigFile, RepositoryConfig, SpaceConfig, load_token, name_drop_in
from syncd.config.tokens import SOURCE_NAMES, find_token_source
from syncd.daemon.health import USEFUL
from syncd.daemon.hooks.listener import load_sources
from syncd.daemon.locks import SERVICE_LOCK, STATE_FILE, UNKNOWN, find_holder
from syncd.daemon.notifications.targets import build_subscriptions
from syncd.errors import DENIED_HINT, ConfigInvalid, DiskFull, NotFound, SyncdError
from syncd.model.text import join_lines
from syncd.repo.process.git import describe_git
from syncd.repo.repository import Repository
from syncd.store.runs import RunRecord
from syncd.store.status import read_store_summary
from syncd.watch import Watcher

CLOCK_SECONDS = 60
"""How far this machine's clock may be from the platform's before times in commits mislead."""
DISK_LEFT, DISK_FAIL = 1 << 30, 1 << 26
"""Bytes of free disk below which a check warns, and below which it fails."""
UNITS = ("syncd.service",)
_PROXY_VARIABLES = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
_RIGHTS = {"edit": "push cannot write", "comment": "review cannot answer", "merge": "a change request cannot be merged"}
"""Permissions of a space that a flow needs, and what does not work without each."""
_UNIT_SECONDS = 10


def check_everything(given: Path | None, environ: Mapping[str, str], now: datetime) -> Iterator[Check]:
    """Yield one check after the other, those of this machine first; `given` is the configuration that --config names.

    Nothing that a check meets is raised: it is the check's result.
    """
    yield Check("syncd", "ok", f"{__version__}, Python {platform.python_version()}, {platform.system()}")
    yield check_git()
    yield from check_proxy(environ)
    try:
        file = require_config_file(given)
        config, broken = load_config_parts(file)
    except SyncdError as error:
        if given is None and find_database("", environ):
            yield Check("configuration", "skip", f"none is needed for a worker of a fleet ({error.what})")
        else:
            yield make_failure("configuration", error)
            yield Check("platform", "skip", "not asked: no configuration that counts says which it is")
        yield from check_units()
        return
    yield from (make_failure(name_drop_in(one.path), one.error) for one in broken if one.error is not None)
    yield Check("configuration", "ok", f"{file.path} ({_describe_origin(file)})")
    yield from check_webhooks(config, environ)
    yield from check_notifications(config, environ)
    yield from check_platform(config, environ, now)
    for repository in config.repository:
        yield from check_repository(repository, now, given)
    yield from check_units()


def check_git() -> Check:
    """Return whether Git is there and new enough."""
    try:
        return Check("git", "ok", describe_git())
    except SyncdError as error:
        return make_failure("git", error)


def check_proxy(environ: Mapping[str, str]) -> Iterator[Check]:
    """Yield a warning where a proxy is named: syncd connects to the platform itself."""
    named = [name for name in _PROXY_VARIABLES if environ.get(name)]
    if named:
        hint = "let this machine reach the platform directly"
        yield Check("proxy", "warn", f"{named[0]} is set, and syncd does not use it", hint)


def check_webhooks(config: Config, environ: Mapping[str, str]) -> Iterator[Check]:
    """Yield whether the secrets of the senders of webhooks can be read; nothing where there are none."""
    if config.webhooks is None:
        return
    try:
        names = ", ".join(source.name for source in load_sources(config.webhooks, environ))
    except SyncdError as error:
        yield make_failure("webhooks", error)
        return
    yield Check("webhooks", "ok", f"of {names} at {config.webhooks.listen}")


def check_notifications(config: Config, environ: Mapping[str, str]) -> Iterator[Check]:
    """Yield whether the receivers of notifications can be read; nothing where there are none. Nobody is notified."""
    try:
        targets = [subscription.target for subscription in build_subscriptions(config, environ)]
    except SyncdError as error:
        yield make_failure("notifications", error)
        return
    if targets:
        names = ", ".join(target.name for target in targets)
        yield Check("notifications", "ok", f"to {names}; to try it: syncd notify test")


def check_platform(config: Config, environ: Mapping[str, str], now: datetime) -> Iterator[Check]:
    """Yield whether the token can be read, the platform answers and knows it, the clocks agree, and each space."""
    spaces = [space for repository in config.repository for space in repository.space]
    try:
        secret = load_token(config.platform, environ).get_secret_value()
    except SyncdError as error:
        yield make_failure("token", error)
        yield Check("platform", "skip", "not asked: there is no token")
        return
    url = config.platform.url
    # One try: somebody waits for what is wrong, and a platform that is away now is what is wrong.
    options = make_client_options(config.platform, tries=1)
    with ExitStack() as stack:
        try:
            client = stack.enter_context(Client(url, secret, options))
            user = client.users.get_current()
            clock = client.raw.read_clock()
        except SyncdError as error:
            yield make_failure("platform", error)
            yield from (Check(_name_space(space), "skip", "not asked: the platform gave no answer") for space in spaces)
            return
        yield Check("platform", "ok", url)
        source = find_token_source(config.platform, environ)
        origin = f" ({SOURCE_NAMES[source.kind]})" if source is not None else ""
        yield Check("token", "ok", f"belongs to {user.display_name or user.id}{origin}")
        yield from check_clock(clock, now)
        for space in spaces:
            yield check_space(client, space)
        for repository in config.repository:
            if repository.write == "git-import":
                yield from (check_import(client, space) for space in repository.space)


def check_clock(there: datetime | None, now: datetime) -> Iterator[Check]:
    """Yield how far this machine's clock is from the platform's; nothing where the platform tells no time."""
    if there is None:
        return
    seconds = round((now - there).total_seconds())
    if abs(seconds) <= CLOCK_SECONDS:
        yield Check("clock", "ok", "agrees with the platform's")
        return
    side = "ahead of" if seconds > 0 else "behind"
    hint = "set the clock, for instance: timedatectl set-ntp true"
    yield Check("clock", "warn", f"{abs(seconds)} seconds {side} the platform's", hint)


def check_space(client: Client, space: SpaceConfig) -> Check:
    """Return whether the token may read a space, and what else it may do there."""
    name = _name_space(space)
    try:
        found = client.spaces.get(space.id)
    except NotFound as error:
        hint = "compare its id with the address in the browser; the token's user must be able to read it"
        return Check(name, "fail", f"{space.id} is not there, or may not be seen", hint, error.exit_code)
    except SyncdError as error:
        return make_failure(name, error)
    if found.deleted_at is not None:
        hint = "restore it on the platform, or take it out of the configuration"
        return Check(name, "fail", f"{found.title or space.id} is in the trash since {found.deleted_at}", hint, 1)
    # A server that names no permissions has not refused any.
    missing = [right for right in _RIGHTS if found.permissions.get(right) is False]
    if missing:
        lacks = "; ".join(f"no right to {right}: {_RIGHTS[right]}" for right in missing)
        return Check(name, "warn", lacks, "give the token's user the role Editor in this space")
    return Check(name, "ok", f"{found.title or found.id}")


def check_import(client: Client, space: SpaceConfig) -> Check:
    """Return whether the platform may import a branch as main content of a space; nothing is imported."""
    name = f"import {space.name}"
    last = None
    try:
        has_right = client.spaces.get(space.id).permissions.get("triggerGitSync", True)
        with suppress(NotFound):  # nothing was ever imported
            last = client.spaces.get_git_info(space.id).operation
    except SyncdError as error:
        return make_failure(name, error)
    if not has_right:
        return Check(name, "warn", "no right to import from Git", "the token's user must be an administrator there")
    words = "main content is written without a change request"
    if last is not None and last.state in ("failure", "timeout"):
        return Check(name, "warn", f"{words}; the last {last.direction} failed: {join_lines(last.error or last.state)}")
    return Check(name, "ok", words)


def check_repository(config: RepositoryConfig, now: datetime, config_file: Path | None) -> Iterator[Check]:
    """Yield whether a repository can be opened and watched, its state, last run and upstream, and whether its disk has
    room.

    Shape: `config_file` is the configuration that the command line names.
    """
    name = f"repository {config.name or config.path.name}"
    try:
        with Repository.open(config.path) as repository:
            git_dir = repository.git_dir
            read_store_summary(git_dir / STATE_FILE)
            upstream = [*check_upstream(config, repository)]
    except SyncdError as error:
        yield make_failure(name, error)
        return
    holder = find_holder(git_dir / SERVICE_LOCK)
    served = f", served by process {holder}" if holder is not None else ", served by no syncd run"
    if holder == UNKNOWN:
        served = "; your user cannot see whether a syncd run serves it"
    yield Check(name, "ok", f"{config.path}{served}")
    interval, has_service = config.interval, isinstance(holder, int)
    run = find_run(config.path, git_dir, interval=interval, has_service=has_service, now=now.timestamp())
    yield check_run(run, find_status(config, config_file))
    yield from upstream
    if not isinstance(holder, int) or _is_own_process(holder):
        yield from check_access(git_dir)
    yield check_disk(git_dir)
    yield check_watching(git_dir)


def check_access(git_dir: Path) -> Iterator[Check]:
    """Yield a failure where this user may not write what a run writes below a git directory."""
    own = (git_dir / STATE_FILE).parent
    files = own.iterdir() if os.access(own, os.R_OK) else ()
    for path in (git_dir, git_dir / "objects", git_dir / "refs", own, *files):
        if os.path.lexists(path) and not os.access(path, os.W_OK):
            yield Check("git directory", "fail", f"{path} cannot be written", DENIED_HINT, ConfigInvalid.exit_code)
            return


def _is_own_process(pid: int) -> bool:
    """Whether a process is this user's; what another user's may write, this one cannot find out."""
    try:
        return os.stat(f"/proc/{pid}").st_uid == os.geteuid()
    except OSError:
        return False


def check_run(run: RunStatus, status: RepositoryStatus | BrokenStatus) -> Check:
    """Return whether the last run of a repository did its work, and left nothing for a person, with what mends that."""
    config = "" if isinstance(status, BrokenStatus) else status.config
    hint = f"{name_config('syncd status', config)} says more"
    if run.pause is not None:
        return Check("last run", "warn", format_pause(run.pause), "syncd resume ends the pause")
    if run.record is None:
        return Check("last run", "warn", "none has ended yet", name_config("syncd sync", config))
    if run.is_silent:
        return Check("last run", "warn", f"the service has ended none since {format_time(run.record.at)}", hint)
    if run.is_gone:
        return Check("last run", "warn", format_gone(run.record), START_HINT)
    if run.record.state not in USEFUL:
        return _judge_failed_run(run, run.record, [hint, name_config("syncd sync", config)])
    ended = f"{run.record.state} at {format_time(run.record.at)}"
    if run.record.state == "ok" or isinstance(status, BrokenStatus):
        return Check("last run", "ok", ended)
    if not status.needs_person:
        return Check("last run", "ok", f"{ended}; what waited for a person is decided, and the next run takes it in")
    why = f"{ended}: {run.record.why}" if run.record.why else ended
    hints = [problem.hint for problem in status.problems if problem.state == "held"]
    mending = [suggest_command(status, start=os.getcwd()), *hints, run.record.hint, hint]
    return Check("last run", "warn", why, next(filter(None, mending)))


def _judge_failed_run(run: RunStatus, record: RunRecord, commands: Sequence[str]) -> Check:
    """What a last run without success comes to; `commands` say more of it, and try again."""
    say_more, try_again = commands
    detail = f"{record.state} at {format_time(record.at)}: {record.why}"
    again = [f"when that is mended: {try_again}"] if run.by == "command" else []
    hint = "\n".join([record.hint or say_more, *again])
    if record.state == "waiting":  # another try can succeed as it is
        return Check("last run", "warn", detail, hint)
    return Check("last run", "fail", detail, hint, record.exit_code)


def check_disk(directory: Path) -> Check:
    """Return whether there is room on the disk of a directory."""
    try:
        return judge_disk(directory, shutil.disk_usage(directory).free)
    except OSError as error:
        return Check("disk", "warn", f"cannot be asked: {error.strerror}")


def judge_disk(directory: Path, free: int) -> Check:
    """Return whether so much room is enough. Units: `free` in bytes."""
    detail = f"{free / (1 << 30):.1f} GiB free at {directory}"
    if free >= DISK_LEFT:
        return Check("disk", "ok", detail)
    hint = "make room: a run that finds none changes nothing"
    if free >= DISK_FAIL:
        return Check("disk", "warn", detail, hint)
    return Check("disk", "fail", detail, hint, DiskFull.exit_code)


def check_watching(git_dir: Path) -> Check:
    """Return whether the system lets a service watch the files of a repository."""
    notices: list[str] = []
    watcher = Watcher(lambda _: None, notice=notices.append)
    watcher.add("doctor", git_dir, ())
    watcher.start()
    watcher.stop()
    if notices:
        hint = "raise fs.inotify.max_user_instances and fs.inotify.max_user_watches with sysctl"
        return Check("file events", "warn", notices[0], hint)
    return Check("file events", "ok", "a commit wakes the service at once")


def check_units() -> Iterator[Check]:
    """Yield how the service stands under systemd; nothing where it is not installed there."""
    if (systemctl := shutil.which("systemctl")) is None:
        return
    for unit in UNITS:
        for scope in ([], ["--user"]):
            facts = _read_unit([systemctl, *scope], unit)
            if facts.get("LoadState") != "loaded":
                continue
            name, state = " ".join([unit, *scope]), facts.get("ActiveState", "unknown")
            detail = f"{state} ({facts.get('SubState', '')}), started again {facts.get('NRestarts', '0')} times"
            # A service that dies at each start is "activating", too, while systemd waits to start it again.
            if state in ("active", "activating", "reloading") and facts.get("SubState") != "auto-restart":
                yield Check(name, "ok", detail)
            else:
                command = " ".join(["systemctl", *scope, "status", unit])
                yield Check(
                    name, "warn", detail, f"{command} says why; to start it: {command.replace('status', 'start')}"
                )


def _read_unit(systemctl: Sequence[str], unit: str) -> Mapping[str, str]:
    wanted = "--property=LoadState,ActiveState,SubState,NRestarts"
    try:
        done = subprocess.run(
            [*systemctl, "show", wanted, "--", unit],
            capture_output=True,
            text=True,
            timeout=_UNIT_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)


def _describe_origin(file: ConfigFile) -> str:
    return {"git directory": "in the git directory", "work tree": "comes with the repository"}.get(
        file.origin, "named by you or your system"
    )


def _name_space(space: SpaceConfig) -> str:
    return f"space {space.name}"
