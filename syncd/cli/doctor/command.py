"""`doctor`: print what every check found, problems with what mends them, and write it down for a report."""

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

from syncd.cli.doctor.check import Check, State
from syncd.cli.doctor.checks import check_everything
from syncd.cli.fleet.connect import find_database
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.text import FORMAT_VERSION, escape, print_text, style_text
from syncd.daemon.health import combine_codes
from syncd.daemon.workspaces import read_time
from syncd.errors import NO_SPACE, ConfigInvalid, make_disk_full
from syncd.model.wording import format_count

STATE_COLOURS: dict[State, int] = {"ok": 32, "warn": 33, "fail": 31, "skip": 90}


def run_doctor(config_file: Path | None, bundle: Path | None, *, as_json: bool) -> int:
    """Make every check, print the results, and return the exit code of what failed; warnings are no failure.

    Shape: `bundle` is a new file that gets the same as JSON, without secrets, for a bug report.
    Raises: ConfigInvalid when the bundle cannot be written, DiskFull.
    """
    checks: list[Check] = []
    for check in _check_all(config_file):
        checks.append(check)
        if not as_json:
            print_text("\n".join(_format_check(check)))
    code = combine_codes([check.exit_code for check in checks if check.state == "fail"])
    document = {"checks": [asdict(check) for check in checks], "exit_code": code}
    if as_json:
        print_document(document)
    else:
        print_text(_summarize(checks))
    if bundle is not None:
        _write_bundle(bundle, {"format_version": FORMAT_VERSION, **document})
        print(f"written: {escape(str(bundle))}", file=sys.stderr)
    return code


def _check_all(config_file: Path | None) -> Iterator[Check]:
    yield from check_everything(config_file, os.environ, read_time())
    if find_database("", os.environ):
        from syncd.cli.doctor.fleet import check_fleet

        yield from check_fleet(os.environ)


def _format_check(check: Check) -> Iterator[str]:
    state = style_text(f"{check.state:<4}", STATE_COLOURS[check.state], sys.stdout)
    yield f"{state} {escape(check.subject)}: {escape(check.detail)}"
    if check.state != "ok":
        yield from (f"       {escape(line)}" for line in filter(None, check.hint.split("\n")))


def _summarize(checks: Iterable[Check]) -> str:
    states = [check.state for check in checks]
    failed, warned, skipped = (states.count(state) for state in ("fail", "warn", "skip"))
    if not failed and not warned:
        return "Nothing is wrong."
    found = [format_count(failed, "failure"), format_count(warned, "warning")]
    return ", ".join(found) + (f", {format_count(skipped, 'check')} not made" if skipped else "") + "."


def _write_bundle(file: Path, document: dict[str, Any]) -> None:
    """Write a document into a new file that only its owner can read, with this person's home directory left out."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    home = os.path.expanduser("~")
    if len(home) > 1:
        text = text.replace(json.dumps(home, ensure_ascii=False)[1:-1], "~")
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with ExitStack() as stack:
            stack.callback(file.unlink)  # else the next try would find a file there
            with open(descriptor, "w", encoding="utf-8") as opened:
                opened.write(text + "\n")
            stack.pop_all()
    except OSError as error:
        if error.errno in NO_SPACE:
            raise make_disk_full(error, file) from error
        raise ConfigInvalid(f"{file} cannot be written: {error.strerror}", hint="name a new file") from error
