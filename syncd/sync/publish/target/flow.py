"""Publish: the site of the first tracked branch is built after each run that moved it, and put where readers find it.

| state                          | what becomes of it                                                                  |
|--------------------------------|-------------------------------------------------------------------------------------|
| the branch is where it was     | nothing is built                                                                    |
| the build fails                | what is published stays; the run says why, and each next one tries again            |
| a run is killed                | what is published stays whole; the next run takes the build up again                |
| pages can lie nowhere          | the site is published without them; each run says so until it is mended             |

A ref of our own names the commit that is published, for each way in which a site may be built of it.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from syncd import __version__
from syncd.errors import NO_SPACE, ConfigInvalid, DiskFull, Stopped
from syncd.fault_points import FaultPoint, reach
from syncd.layout.lint.space import SpaceFile
from syncd.layout.tree.built_sites import MANIFEST
from syncd.model.wording import format_count
from syncd.plan.change import Change
from syncd.sync.branches import HEADS
from syncd.sync.integrate.upstream import Exchange
from syncd.sync.outcome import PARTLY_DONE, Applied, Held, Outcome, Unchanged
from syncd.sync.publish.assemble import assemble_site, read_declared, read_space
from syncd.sync.publish.atomic import build_atomically
from syncd.sync.publish.build import BuildOptions, build_site
from syncd.sync.publish.content import SiteContent
from syncd.sync.publish.output import BuildSummary
from syncd.sync.publish.source import find_space_directories, read_items, select_files, select_space
from syncd.sync.publish.target.branch import find_published_commit, push_site
from syncd.sync.publish.target.options import PublishOptions
from syncd.sync.site.read.site_file import read_at_commit
from syncd.sync.workspace import Workspace

FLOW = "publish"
PUBLISHED_REF = "refs/syncd/published/"
"""Below this, by a digest of how a site is built and where it goes, is the commit that is published."""
_SHOWN = 3


def publish_site(workspace: Workspace, exchange: Exchange, options: PublishOptions) -> Outcome:
    """Build the site of the first tracked branch and publish it, unless that was done.

    Raises: ConfigInvalid, FileInvalid, PathRefused, DiskFull, AnotherRuns, PlatformError, RefMoved, GitFailed, Stopped;
    then what is published stays as it is.
    """
    repository = workspace.repository
    commit = repository.resolve(f"{HEADS}{workspace.branch}")
    if commit is None:
        raise ConfigInvalid(f"there is no branch {workspace.branch} to build the site of", hint="git branch lists them")
    ref = f"{PUBLISHED_REF}{_compute_way(workspace, options)}"
    former = repository.resolve(ref)
    if former == commit and _is_in_place(exchange, options) and (last := _repeat_outcome(workspace, options)):
        return last
    site = _read_site(workspace, commit, options)
    with _translate_failures(options.target):
        summary, outcome = _build_and_put(workspace, exchange, site, options)
    reach(FaultPoint.SITE_PUBLISHED)
    if former != commit:
        repository.update_ref(ref, commit, old=former)
    for other, tip in repository.list_refs(PUBLISHED_REF).items():
        if other != ref:
            repository.delete_ref(other, old=tip)
    return _describe_left_out(summary, options) or outcome


def _build_and_put(
    workspace: Workspace, exchange: Exchange, site: SiteContent, options: PublishOptions
) -> tuple[BuildSummary, Outcome]:
    """Build a site, and put it where it belongs; what differs there is an outcome."""

    def pulse() -> None:
        if workspace.is_cancelled():
            raise Stopped("stopped while the site was built", hint="the next run takes up from here")

    # The service has threads, which a process that it forks would not have.
    build = partial(build_site, site, options=_make_build_options(options), pulse=pulse)
    if options.directory is None:
        top = workspace.repository.make_own_directory() / "site"
        summary = build(top)
        reach(FaultPoint.SITE_BUILT)
        return summary, push_site(exchange, options.branch, top, site.commit)
    summary = build_atomically(options.directory, build)
    if not summary.has_changed:
        return summary, Unchanged()
    pages, files = format_count(summary.pages, "page"), format_count(summary.written, "file")
    words = f"{pages}, {files} written, {summary.removed} removed"
    words += f", {len(summary.conditional)} not for everybody" if summary.conditional else ""
    return summary, Applied((Change("update", "site", options.target, words, after=site.commit),))


def _make_build_options(options: PublishOptions) -> BuildOptions:
    return BuildOptions(options.base_url, 1, options.is_indexed, options.is_public)


def _read_site(workspace: Workspace, commit: str, options: PublishOptions) -> SiteContent:
    """What a commit shows: the bound spaces, or, without any, all that it has. Raises: FileInvalid, ConfigInvalid."""
    repository = workspace.repository
    top = repository.work_tree or repository.git_dir
    blobs = select_files(repository.list_files(commit))

    def read(paths: Sequence[str]) -> dict[str, SpaceFile]:
        return read_items(repository, {path: blobs[path] for path in paths})

    directories = [binding.directory for binding in workspace.bindings] or _list_outer(find_space_directories(blobs))
    spaces = [read_space(select_space(top, directory, blobs, read)) for directory in directories]
    bound = {binding.directory: binding.space for binding in workspace.bindings}
    missing = ConfigInvalid(f"there is no {options.site_file}")
    declared = read_declared(partial(read_at_commit, repository, commit, options.site_file, missing), options.site_file)
    site = assemble_site(top, spaces, declared, bound, commit)
    if site.problem is not None:
        raise site.problem
    if not any(space.paths for space in site.spaces.values()):
        raise ConfigInvalid(f"{workspace.branch} has no pages to build a site of", hint="list them in SUMMARY.md")
    return site


def _list_outer(directories: frozenset[str]) -> list[str]:
    """The directories that lie in no other one."""
    found: list[str] = []
    for directory in sorted(directories):
        if not any(not outer or directory.startswith(f"{outer}/") for outer in found):
            found.append(directory)
    return found


def _compute_way(workspace: Workspace, options: PublishOptions) -> str:
    """A digest of how a site is built and where it goes."""
    upstream = workspace.upstream.name if workspace.upstream is not None and options.branch else ""
    facts = [__version__, options.site_file, options.target, upstream, options.base_url, options.is_indexed]
    facts.append(options.is_public)
    spaces = [[binding.space, binding.directory] for binding in workspace.bindings]
    top = workspace.repository.work_tree or workspace.repository.git_dir
    return hashlib.sha256(json.dumps([*facts, workspace.branch, spaces, top.name]).encode()).hexdigest()[:16]


def _is_in_place(exchange: Exchange, options: PublishOptions) -> bool:
    """Whether what was published is still there."""
    if options.directory is not None:
        return options.directory.is_symlink() and (options.directory / MANIFEST).is_file()
    return find_published_commit(exchange, options.branch) is not None


def _repeat_outcome(workspace: Workspace, options: PublishOptions) -> Outcome | None:
    """What a run comes to that has nothing to build: what was left out still is. None where nobody knows any more."""
    row = next((one for one in workspace.store.list_outcomes() if (one.flow, one.key) == (FLOW, options.target)), None)
    if row is not None and row.why.startswith(_format_lack(options)):
        return Held(row.why, row.hint, exit_code=PARTLY_DONE)
    return Unchanged() if row is not None and not row.why else None


def _describe_left_out(summary: BuildSummary, options: PublishOptions) -> Held | None:
    """What to say of a site that lacks pages; None for a whole one."""
    if not summary.left_out:
        return None
    rows = [f"{path}: {reason}" for path, reason in summary.left_out.items()]
    more = f" (and {len(rows) - _SHOWN} more)" if len(rows) > _SHOWN else ""
    why = f"{_format_lack(options)}{'; '.join(rows[:_SHOWN])}{more}"
    return Held(why, "mend it in Git; the next run publishes it", exit_code=PARTLY_DONE)


def _format_lack(options: PublishOptions) -> str:
    return f"{options.target} is published without "


@contextmanager
def _translate_failures(target: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        at = Path(str(error.filename)).parent if error.filename else target
        said = f"the site cannot be written to {at}: {error.strerror or error}"
        if error.errno in NO_SPACE:
            raise DiskFull(said, hint="make room on that disk; the next run publishes it") from error
        raise ConfigInvalid(
            said, hint="the service's user must be able to write there; the next run tries it again"
        ) from error
