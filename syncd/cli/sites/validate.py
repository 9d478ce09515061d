"""`site validate`: every rule over a site file, offline or with the platform; and what can be mended, mended."""

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import typer

from syncd.cli.check.excerpt import Source as Lines
from syncd.cli.check.findings import Found, Report, exit_code
from syncd.cli.check.report import FORMATS, write_report
from syncd.cli.sites.offline import USUAL, Place, place_of
from syncd.cli.terminal.rewrite_file import rewrite
from syncd.cli.terminal.text import safe
from syncd.errors import FileInvalid, PathRefused
from syncd.files import read_file
from syncd.layout.lint.finding import Finding
from syncd.layout.site.check.file import audible, check_site
from syncd.layout.site.read.declared import Place as Spot
from syncd.layout.site.read.declared import SiteFile
from syncd.layout.site.read.file import read_site_file
from syncd.layout.site.read.rules import ONLINE, SITE_RULES, broken
from syncd.layout.site.write.mend import mended
from syncd.model.ref import Kind
from syncd.model.wording import format_count
from syncd.plan.site.lockfile.lockfile import lock_path, parse_lock
from syncd.plan.site.online import check_live, check_lock
from syncd.sync.gc_tuning import collect_seldom

if TYPE_CHECKING:
    from syncd.plan.site.live_state import Live, Lock


@dataclass(frozen=True)
class Asked:
    """What a person wants validated, and how."""

    file: Path | None = None
    config: Path | None = None
    online: bool = False
    strict: bool = False
    fix: bool = False


@dataclass(frozen=True)
class Judged:
    """What became of a site file: what is in it, as far as it could be read, what is wrong, and who was asked."""

    file: SiteFile | None
    findings: Sequence[Finding]
    asked: str


def run_validate(asked: Asked, style: str) -> int:
    """Check the site file, print what was found, and return the exit code.

    Shapes: 65 when there are errors, with `strict` also when there are warnings. Raises: ConfigInvalid when there is no
    file; with `online` PlatformError, too.
    """
    if style not in FORMATS:
        raise typer.BadParameter(f"--format {style}: choose one of {', '.join(FORMATS)}")
    here = asked.file or (Path(USUAL) if Path(USUAL).is_file() else None)
    place = place_of(asked.config, here)
    with collect_seldom():
        judged = _judged(place, asked)
        if asked.fix and _mend(place, judged.findings, sys.stdout if style == "text" else sys.stderr):
            judged = _judged(place, asked)
    lines: dict[str, Lines] = {}
    found = [
        Found(place.top, one.path, one, lines.setdefault(one.path, _lines(place.top, one.path)))
        for one in judged.findings
    ]
    code = exit_code(found, strict=asked.strict)
    write_report(_report(place, judged, found, code), style)
    return code


def _mend(place: Place, findings: Sequence[Finding], out: TextIO) -> bool:
    """Mend what can be mended, file by file, and say what was done; whether anything was."""
    done: list[Finding] = []
    for path in sorted({one.path for found in findings for one in found.all() if one.fix is not None}):
        before = read_file(place.top, path).decode()
        after, mends = mended(before, path, findings)
        if after != before:
            rewrite(place.top, path, after)
            done += mends
    for one in done:
        assert one.fix is not None
        print(f"mended {safe(one.path)}:{one.line}: {one.code}: {safe(one.fix.what)}", file=out)
    return bool(done)


def _lines(top: Path, path: str) -> Lines:
    def read() -> bytes:
        try:
            return read_file(top, path)
        except (OSError, PathRefused):
            return b""

    return Lines(read)


def _judged(place: Place, asked: Asked) -> Judged:
    try:
        source = place.source()
    except FileInvalid as error:
        spot = Spot(error.path, error.line, error.column)
        return Judged(None, (broken("SY001", spot, error.reason, error.hint),), "nothing")
    file, found = read_site_file(source.text, path=source.path, others=source.others)
    if file is None:
        return Judged(None, found, "nothing")
    found = (*found, *check_site(file), *_of_lock(place, file))
    if any(one.severity == "error" for one in found) or not asked.online:
        return Judged(file, audible(file, found), "skipped" if asked.online else "offline")
    live, lock = _asked_for(place, file, asked)
    found = (*found, *check_lock(file, lock), *check_live(file, live, lock))
    return Judged(file, audible(file, found), "online")


def _of_lock(place: Place, file: SiteFile) -> Iterable[Finding]:
    """What the committed lock tells without the platform."""
    path = lock_path(place.path)
    try:
        text = read_file(place.top, path).decode(errors="replace")
    except FileNotFoundError:
        return ()
    except (OSError, PathRefused) as error:
        raise FileInvalid(f"cannot be read: {error}", path=path, line=0) from error
    return check_lock(file, parse_lock(text, at=str(place.top / path)))


def _asked_for(place: Place, file: SiteFile, asked: Asked) -> "tuple[Live, Lock]":
    """The platform and the lock, read by the configuration that has this file."""
    from syncd.cli.sites.session import one_site
    from syncd.sync.site.lock import Keeping
    from syncd.sync.site.read.site import read_live

    site = one_site(asked.config, place.top / place.path, "--online")
    with site.look() as workspace:
        lock = Keeping(workspace, file, site.wish.lock).lock
        return read_live(workspace, file, lock, kinds=site.wish.kinds), lock


def _report(place: Place, judged: Judged, found: Sequence[Found], code: int) -> Report:
    after = {
        "nothing": ".",
        "offline": f" (checked offline; add --online for {len(ONLINE)} more rules).",
        "online": " (checked with the platform).",
        "skipped": " (checked offline: the platform was not asked, because of the errors).",
    }[judged.asked]
    name = found[0].seen if found and found[0].path == place.path else _seen(place)
    said = f": {_contents(judged.file)}" if judged.file is not None else ""
    checked = {"file": name, "online": judged.asked == "online"}
    return Report("site validate", found, code, SITE_RULES, name, f"{name} is valid{said}", after, checked)


def _seen(place: Place) -> str:
    seen = os.path.relpath(place.top / place.path)
    return str(place.top / place.path) if seen.startswith("..") else seen.replace(os.sep, "/")


def _contents(file: SiteFile) -> str:
    kinds: tuple[Kind, ...] = ("group", "section", "variant", "redirect", "override")
    parts = [format_count(len(items), kind) for kind in kinds if (items := file.of(kind))]
    return ", ".join(parts) or "it declares nothing that can be listed"
