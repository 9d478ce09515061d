"""`site build`: gather a site, check it, build it, and say what became of it."""

import os
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from syncd.cli.check.excerpt import SourceText
from syncd.cli.check.findings import LocatedFinding, Report, choose_exit_code, find_display_path, format_finding
from syncd.cli.check.report import build_diagnostics
from syncd.cli.preview.gather import PreviewSource, SourceReader, find_source, make_plain_path
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.text import escape, print_text, style_text
from syncd.errors import NO_SPACE, ConfigInvalid, FileInvalid, NotARepository, make_disk_full
from syncd.layout.lint.check import check_space
from syncd.layout.lint.rules import RULES
from syncd.model.wording import format_count
from syncd.repo.repository import Repository
from syncd.sync.outcome import PARTLY_DONE
from syncd.sync.publish.atomic import build_atomically
from syncd.sync.publish.build import BuildOptions, build_site, check_base_url
from syncd.sync.publish.content import SiteContent
from syncd.sync.publish.output import BuildSummary


@dataclass(frozen=True)
class BuildCommandOptions:
    """What a person typed behind `site build`."""

    directory: Path
    source: Path
    ref: str = ""
    base_url: str = ""
    is_indexed: bool = True
    is_public: bool = False
    is_atomic: bool = False
    jobs: int = 0
    is_strict: bool = False
    as_json: bool = False


def run_build(options: BuildCommandOptions) -> int:
    """Build the site and return the exit code: 4 when pages are left out, 65 with `is_strict` when something is wrong.

    Raises: ConfigInvalid when there is nothing to build; FileInvalid for a site file that cannot be read; AnotherRuns;
    DiskFull.
    """
    check_base_url(options.base_url)
    directory = make_plain_path(options.directory)
    if options.source.resolve().is_relative_to(directory.resolve()):
        raise ConfigInvalid(f"{directory} holds what is to be built", hint="name another directory, such as public")
    with ExitStack() as stack:
        reader = SourceReader(_find_source(options), stack, skipped=directory)
        site = reader.gather()
        if site.problem is not None:
            raise site.problem
        if not any(space.paths for space in site.spaces.values()):
            raise ConfigInvalid(f"there are no pages in {options.source}", hint="name a directory with Markdown files")
        report = _check_site(site, is_strict=options.is_strict)
        if report.exit_code and options.is_strict:
            _print_outcome(options, report, None)
            return report.exit_code
        build = BuildOptions(options.base_url, options.jobs or _count_cores(), options.is_indexed, options.is_public)
        build_into = partial(build_site, site, options=build)
        try:
            summary = build_atomically(directory, build_into) if options.is_atomic else build_into(directory)
        except OSError as error:
            if error.errno in NO_SPACE:
                raise make_disk_full(error, directory) from error
            raise
    _print_outcome(options, report, summary)
    if not summary.left_out:
        return 0
    return FileInvalid.exit_code if options.is_strict else PARTLY_DONE


def _find_source(options: BuildCommandOptions) -> PreviewSource:
    source = find_source(options.source)
    if not options.ref:
        return source
    try:
        with Repository.open(source.path) as git:
            commit = git.find_revision(options.ref)
    except NotARepository as error:
        raise ConfigInvalid(f"{source.path} is in no Git repository", hint="--ref reads Git") from error
    if commit is None:
        raise ConfigInvalid(f"there is no commit {options.ref[:80]!r}", hint="git branch --all lists branches")
    return PreviewSource(source.path, commit, options.ref, source.remote, source.repository)


def _check_site(site: SiteContent, *, is_strict: bool) -> Report:
    findings = []
    for space in site.spaces.values():
        texts = {path: SourceText(item.read) for path, item in space.files.items.items()}
        empty = SourceText(bytes)
        findings += [
            LocatedFinding(site.top, space.locate(one.path), one, texts.get(one.path, empty))
            for one in check_space(space.files.items)
            if one.severity != "info"
        ]
    files = sum(len(space.files.items) for space in site.spaces.values())
    code = choose_exit_code(findings, strict=is_strict)
    return Report("site build", findings, code, RULES, format_count(files, "file"), "Nothing to mend")


def _count_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _print_outcome(options: BuildCommandOptions, report: Report, summary: BuildSummary | None) -> None:
    if options.as_json:
        print_document(_build_document(options, report, summary))
        return
    for located in report.findings:
        print_text("\n".join(format_finding(report, located)))
    where = escape(find_display_path(make_plain_path(options.directory)))
    if report.findings:
        print_text(report.summary)
    if summary is None:
        print_text(f"Nothing is built: {where} is as it was.")
        return
    for path, reason in summary.left_out.items():
        print_text(f"{style_text('left out', 33, sys.stdout)} {escape(path)}: {escape(reason)}")
    for path, reason in summary.conditional.items():
        print_text(f"{style_text('not for everybody', 36, sys.stdout)} {escape(path)}: {escape(reason)}")
    counts = f"{summary.written} written, {summary.removed} removed, {summary.unchanged} unchanged"
    print_text(f"{format_count(summary.pages, 'page')} in {where}: {format_count(summary.files, 'file')}, {counts}.")


def _build_document(options: BuildCommandOptions, report: Report, summary: BuildSummary | None) -> dict[str, Any]:
    counts = report.counts
    document: dict[str, Any] = {
        "command": "site build",
        "directory": str(make_plain_path(options.directory)),
        "is_built": summary is not None,
        "error_count": counts["error"],
        "warning_count": counts["warning"],
        "diagnostics": build_diagnostics(report),
    }
    if summary is not None:
        document |= {"pages": summary.pages, "rendered": summary.rendered, "written": summary.written}
        document |= {"removed": summary.removed, "unchanged": summary.unchanged}
        for name, rows in (("left_out", summary.left_out), ("conditional", summary.conditional)):
            document[name] = [{"path": path, "reason": reason} for path, reason in rows.items()]
    return document
