"""`upgrade --check`: what the syncd that is installed would change of what is on this disk, before it does."""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from syncd import __version__
from syncd.cli.configuration.problems import find_problems
from syncd.cli.service.install import UNIT, InstalledFile, InstallOptions, is_ours, list_files
from syncd.cli.terminal.context import find_config_file
from syncd.cli.terminal.options import DEFAULT_DATA
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.text import escape, print_text, style_text
from syncd.config import RepositoryConfig, load_repositories
from syncd.daemon.health import combine_codes
from syncd.daemon.locks import SERVICE_LOCK, STATE_FILE, UNKNOWN, find_holder
from syncd.errors import ConfigInvalid, NotFound, StoreNewer, SyncdError
from syncd.model.wording import format_count
from syncd.repo.repository import Repository
from syncd.store.schema import VERSION
from syncd.store.status import read_schema
from syncd.sync.outcome import CHANGES_PENDING

OLDER_FORM = "SY004"
"""The code of a finding about a form of the site file that a later syncd may no longer read."""
_COLOURS = {"ok": 32, "change": 33, "fail": 31, "skip": 90}
_OTHER_UNITS = ("syncd@.service", "syncd-worker@.service", "syncd-platform.service")


@dataclass(frozen=True)
class UpgradeOptions:
    """What a person typed.

    Shape: `data` is the directory of an embedded platform; files of services are below `root`.
    """

    config: Path | None = None
    data: Path | None = None
    root: Path = Path("/")
    as_json: bool = False


@dataclass(frozen=True)
class UpgradeFinding:
    """What becomes of one file or setting on this disk.

    Shape: `state` is "ok" when it stays as it is, "change" when it would be changed or a person should change it,
    "fail" when this syncd refuses it, with its `exit_code`, and "skip" when it was not looked at.
    """

    subject: str
    state: Literal["ok", "change", "fail", "skip"]
    detail: str
    hint: str = ""
    exit_code: int = 0


def check_upgrade(options: UpgradeOptions) -> int:
    """Print what the installed syncd would change here, and return the exit code: 2 for changes; nothing is written.

    Raises: ConfigInvalid for a named configuration that is not there; NotFound for a named platform that is not.
    """
    findings = [*_check_configuration(options), *_check_units(options.root), *_check_platform(options.data)]
    refused = combine_codes([one.exit_code for one in findings if one.state == "fail"])
    code = refused or (CHANGES_PENDING if any(one.state == "change" for one in findings) else 0)
    if options.as_json:
        print_document(
            {"version": __version__, "findings": [asdict(finding) for finding in findings], "exit_code": code}
        )
        return code
    for finding in findings:
        print_text("\n".join(_format_finding(finding)))
    print_text(_summarize(findings))
    return code


def _check_configuration(options: UpgradeOptions) -> Iterator[UpgradeFinding]:
    file = find_config_file(options.config)
    if file is None:
        yield UpgradeFinding("configuration", "skip", "none applies here", "name it with --config FILE")
        return
    is_fine = True
    for problem in find_problems(file, os.environ):
        place = f"{problem.place}:{problem.line}:{problem.column}" if problem.line else problem.place
        is_old = problem.message.startswith(OLDER_FORM)
        if is_old or not problem.is_warning:
            is_fine = False
            state: Literal["change", "fail"] = "change" if is_old else "fail"
            key = f"{problem.key}: " if problem.key and not problem.key.endswith(".site.file") else ""
            code = 0 if is_old else ConfigInvalid.exit_code
            yield UpgradeFinding(place or str(file.path), state, f"{key}{problem.message}", problem.hint, code)
    if is_fine:
        yield UpgradeFinding(str(file.path), "ok", "says nothing that this version reads in another way or refuses")
    try:
        repositories = load_repositories(file, os.environ)
    except SyncdError:  # said above, with its place
        return
    for repository in repositories:
        yield _check_state(repository)


def _check_state(config: RepositoryConfig) -> UpgradeFinding:
    """Return what becomes of the state database of a repository."""
    try:
        with Repository.open(config.path) as repository:
            git_dir = repository.git_dir
        schema = read_schema(git_dir / STATE_FILE)
    except StoreNewer as error:
        hint = "install that version, or delete the file: the next run makes it anew, from Git and the platform"
        return UpgradeFinding(str(config.path), "fail", error.what, hint, error.exit_code)
    except SyncdError as error:
        return UpgradeFinding(str(config.path), "fail", error.what, error.hint, error.exit_code)
    file = str(git_dir / STATE_FILE)
    if schema is None:
        return UpgradeFinding(file, "ok", "is not there, or damaged: the next run makes it anew, from both sides")
    if schema.version == VERSION:
        return UpgradeFinding(file, "ok", f"has schema {VERSION} already")
    added = f", with {', '.join(schema.missing_tables)}" if schema.missing_tables else ""
    holder = find_holder(git_dir / SERVICE_LOCK)
    stop = f"stop the service first (process {holder}), and " if holder is not None else ""
    if holder == UNKNOWN:
        stop = "stop the service first, where another user runs one, and "
    hint = f"{stop}keep a copy of the file: an older syncd refuses it afterwards"
    detail = f"the next run brings schema {schema.version} to {VERSION}{added}; rows stay"
    return UpgradeFinding(file, "change", detail, hint)


def _check_units(root: Path) -> Iterator[UpgradeFinding]:
    """Yield how the files of services stand; nothing where none is installed."""
    for is_user in (False, True):
        try:
            files = list_files(InstallOptions(is_user=is_user, root=root))
        except SyncdError as error:  # the one file for CI jobs serves nothing
            yield UpgradeFinding(UNIT, "skip", error.what, error.hint)
            return
        command = f"syncd service install{' --user' if is_user else ''}"
        if any(file.path.exists() for file in files):
            yield from (_compare_file(file, command) for file in files)
    for name in _OTHER_UNITS:
        path = root / "etc/systemd/system" / name
        if path.exists():
            hint = f"compare it with what this version brings: syncd example {name}"
            yield UpgradeFinding(str(path), "skip", "was copied there by a person", hint)


def _compare_file(file: InstalledFile, command: str) -> UpgradeFinding:
    path = str(file.path)
    if not file.path.exists():
        return UpgradeFinding(path, "change", f"is missing; {command} writes it", f"{command} --dry-run shows it")
    if not is_ours(file.path):
        hint = f"{command} refuses to replace it: move your changes into a drop-in, then {command} --force"
        return UpgradeFinding(path, "change", "is not as syncd service install wrote it", hint)
    text = file.path.read_text(encoding="utf-8")
    if text == file.marked_text:
        return UpgradeFinding(path, "ok", "is what this version writes")
    program = _find_program(text)
    if (
        os.path.isfile(program)
        and replace(file, text=file.text.replace(_find_program(file.text), program)).marked_text == text
    ):
        return UpgradeFinding(path, "ok", f"is what this version writes where it is installed as {program}")
    return UpgradeFinding(
        path, "change", f"is of another version; {command} renews it", f"{command} --dry-run shows it"
    )


def _find_program(unit: str) -> str:
    """Return the program that a unit starts, or "" in a file that starts none."""
    started = re.search(r"^ExecStart=(.+?) run\b", unit, re.MULTILINE)
    return started[1] if started is not None else ""


def _check_platform(data: Path | None) -> Iterator[UpgradeFinding]:
    """Yield what becomes of the tables of an embedded platform: the named one, or the one of this directory."""
    file = (data or DEFAULT_DATA) / "platform.db"
    # The service's user may stand in a directory that it may not read: Path.is_file raises there, before Python 3.14.
    if not os.path.isfile(file):
        if data is not None:
            raise NotFound(
                f"there is no platform in {data} that this user can read",
                hint="a platform in PostgreSQL is not looked at",
            )
        return
    from syncd.platform.migrations import pending

    try:
        steps = pending.list_steps(file)
    except SyncdError as error:
        yield UpgradeFinding(str(file), "fail", error.what, error.hint, error.exit_code)
        return
    if not steps:
        yield UpgradeFinding(str(file), "ok", "has the tables of this version already")
        return
    detail = f"the next server changes its tables, all or none: {', '.join(steps)}"
    yield UpgradeFinding(str(file), "change", detail, "syncd platform backup first: an older syncd refuses it then")


def _format_finding(finding: UpgradeFinding) -> Iterator[str]:
    state = style_text(f"{finding.state:<6}", _COLOURS[finding.state], sys.stdout)
    yield f"{state} {escape(finding.subject)}: {escape(finding.detail)}"
    if finding.state != "ok":
        yield from (f"       {escape(line)}" for line in filter(None, finding.hint.split("\n")))


def _summarize(findings: Sequence[UpgradeFinding]) -> str:
    states = [finding.state for finding in findings]
    changed, refused = states.count("change"), states.count("fail")
    if refused:
        return f"syncd {__version__} finds {format_count(refused, 'problem')} to mend first; nothing was changed."
    if changed:
        return f"syncd {__version__} finds {format_count(changed, 'change')} to make; nothing was changed."
    return f"syncd {__version__} changes nothing here."
