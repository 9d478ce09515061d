"""`site validate`: check a site file by every rule, offline or with the platform; `--fix` mends what it can."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import typer

from syncd.cli.check.excerpt import SourceText
from syncd.cli.check.findings import LocatedFinding, Report, choose_exit_code, find_display_path
from syncd.cli.check.report import FORMATS, write_report
from syncd.cli.sites.offline import DEFAULT_FILE, SiteFileLocation, locate_site_file
from syncd.cli.terminal.rewrite_file import rewrite_file
from syncd.cli.terminal.text import escape
from syncd.errors import FileInvalid, PathRefused
from syncd.files import read_file
from syncd.layout.lint.finding import Finding
from syncd.layout.site.check.file import check_site, remove_silenced
from syncd.layout.site.read.declared import Place as Spot
from syncd.layout.site.read.declared import SiteFile
from syncd.layout.site.read.file import read_site_file
from syncd.layout.site.read.rules import ONLINE, SITE_RULES, report_finding
from syncd.layout.site.write.mend import mend_text
from syncd.model.ref import Kind
from syncd.model.wording import format_count
from syncd.plan.site.lockfile.lockfile import find_lock_path, parse_lock
from syncd.plan.site.online import check_live, check_lock
from syncd.sync.gc_tuning import collect_seldom

if TYPE_CHECKING:
    from syncd.plan.site.live_state import LiveSite, SiteLock


@dataclass(frozen=True)
class ValidateOptions:
    """What a person typed behind `site validate`."""

    file: Path | None = None
    config: Path | None = None
    online: bool = False
    strict: bool = False
    fix: bool = False


@dataclass(frozen=True)
class Validation:
    """A site file, None when it cannot be read, with its findings.

    Shape: `mode` is `offline`, `online`, `skipped` when errors kept the platform from being asked, or `nothing`.
    """

    file: SiteFile | None
    findings: Sequence[Finding]
    mode: str


def run_validate(options: ValidateOptions, style: str) -> int:
    """Check the site file, print what was found, and return the exit code.

    The exit code is 65 when there are errors, with `strict` also when there are warnings.
    Raises: BadParameter; ConfigInvalid when there is no file; FileInvalid when one cannot be read; with `online`
    PlatformError, too.
    """
    if style not in FORMATS:
        raise typer.BadParameter(f"--format {style}: choose one of {', '.join(FORMATS)}")
    file = options.file or (Path(DEFAULT_FILE) if Path(DEFAULT_FILE).is_file() else None)
    location = locate_site_file(options.config, file)
    with collect_seldom():
        validation = validate_file(location, options)
        if options.fix and _apply_fixes(location, validation.findings, sys.stdout if style == "text" else sys.stderr):
            validation = validate_file(location, options)
    lines: dict[str, SourceText] = {}
    found = [
        LocatedFinding(
            location.top,
            finding.path,
            finding,
            lines.setdefault(finding.path, _open_source(location.top, finding.path)),
        )
        for finding in validation.findings
    ]
    code = choose_exit_code(found, strict=options.strict)
    write_report(_build_report(location, validation, found, code), style)
    return code


def _apply_fixes(location: SiteFileLocation, findings: Sequence[Finding], out: TextIO) -> bool:
    """Apply the fixes of findings file by file, print them, and return whether there were any."""
    done: list[Finding] = []
    for path in sorted({finding.path for found in findings for finding in found.list_all() if finding.fix is not None}):
        before = read_file(location.top, path).decode()
        after, mends = mend_text(before, path, findings)
        if after != before:
            rewrite_file(location.top, path, after)
            done += mends
    for finding in done:
        assert finding.fix is not None
        print(f"mended {escape(finding.path)}:{finding.line}: {finding.code}: {escape(finding.fix.what)}", file=out)
    return bool(done)


def _open_source(top: Path, path: str) -> SourceText:
    def read() -> bytes:
        try:
            return read_file(top, path)
        except (OSError, PathRefused):
            return b""

    return SourceText(read)


def validate_file(location: SiteFileLocation, options: ValidateOptions) -> Validation:
    """Return what is found in a site file and in the files that it names.

    Raises: ConfigInvalid when there is no file; FileInvalid when one cannot be read; with `online` PlatformError, too.
    """
    try:
        source = location.read_texts()
    except FileInvalid as error:
        if not error.line:  # the file cannot be read, and so has no place
            raise
        spot = Spot(error.path, error.line, error.column)
        return Validation(None, (report_finding("SY001", spot, error.reason, error.hint),), "nothing")
    file, found = read_site_file(source.text, path=source.path, others=source.others)
    if file is None:
        return Validation(None, found, "nothing")
    found = (*found, *check_site(file), *_check_lock_file(location, file))
    if any(finding.severity == "error" for finding in found) or not options.online:
        return Validation(file, remove_silenced(file, found), "skipped" if options.online else "offline")
    live, lock = _read_platform(location, file, options)
    found = (*found, *check_lock(file, lock), *check_live(file, live, lock))
    return Validation(file, remove_silenced(file, found), "online")


def _check_lock_file(location: SiteFileLocation, file: SiteFile) -> Iterable[Finding]:
    """The findings of the lock that need no platform."""
    path = find_lock_path(location.path)
    try:
        text = read_file(location.top, path).decode(errors="replace")
    except FileNotFoundError:
        return ()
    except (OSError, PathRefused) as error:
        raise FileInvalid(f"cannot be read: {error}", path=path, line=0) from error
    return check_lock(file, parse_lock(text, at=str(location.top / path)))


def _read_platform(location: SiteFileLocation, file: SiteFile, options: ValidateOptions) -> "tuple[LiveSite, SiteLock]":
    """The state of the platform and the lock, read with the configuration of this file."""
    from syncd.cli.sites.session import find_one_site
    from syncd.sync.site.lock import LockWriter
    from syncd.sync.site.read.site import read_live

    site = find_one_site(options.config, location.top / location.path, "--online")
    with site.open_for_reading() as workspace:
        lock = LockWriter(workspace, file, site.site_options.lock).lock
        return read_live(workspace, file, lock, kinds=site.site_options.kinds), lock


def _build_report(
    location: SiteFileLocation, validation: Validation, found: Sequence[LocatedFinding], code: int
) -> Report:
    after = {
        "nothing": ".",
        "offline": f" (checked offline; add --online for {len(ONLINE)} more rules).",
        "online": " (checked with the platform).",
        "skipped": " (checked offline: the platform was not asked, because of the errors).",
    }[validation.mode]
    path = find_display_path(location.top / location.path)
    contents = f": {_describe_contents(validation.file)}" if validation.file is not None else ""
    checked = {"file": path, "online": validation.mode == "online"}
    return Report("site validate", found, code, SITE_RULES, path, f"{path} is valid{contents}", after, checked)


def _describe_contents(file: SiteFile) -> str:
    kinds: tuple[Kind, ...] = ("group", "section", "variant", "redirect", "override")
    parts = [format_count(len(items), kind) for kind in kinds if (items := file.of(kind))]
    return ", ".join(parts) or "it declares nothing that can be listed"
