"""What the commands of a site start with: the selected sites, their files, and the parsing of shared options."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import typer

from syncd.cli.service.stop_signals import StopRequest
from syncd.cli.terminal.context import find_config_file, find_other_tree, load_configuration, parse_count
from syncd.cli.terminal.progress import make_environment
from syncd.config import Config, RepositoryConfig, SiteConfig
from syncd.daemon.workspaces import build_site_options, never_cancel, open_for_reading, open_workspace
from syncd.errors import ConfigInvalid
from syncd.layout.lint.suggestions import NearMisses, format_suggestion
from syncd.model.wording import format_first
from syncd.plan.site.gates.gates import SCOPES
from syncd.plan.site.lockfile.lockfile import find_lock_path
from syncd.plan.site.steps import SitePlan
from syncd.repo.process.location import find_repository
from syncd.sync.site.flow import PreparedPlan
from syncd.sync.site.options import SiteOptions
from syncd.sync.site.read.site_file import SiteFileTexts, read_committed, read_work_tree
from syncd.sync.workspace import Progress, Workspace, ignore_progress

_SHOWN = 12
NEEDS_NUMBER = frozenset({"structure.delete"})
"""Scopes of `--force` that are never opened without saying how many things they are about."""


@dataclass(frozen=True)
class SiteSession:
    """One repository with a site, and the options with which its file is applied.

    Shape: `work_tree` has the site file that a person edits; None where there is none.
    """

    config: Config
    repository: RepositoryConfig
    site_options: SiteOptions
    work_tree: Path | None

    def open(
        self, progress: Progress = ignore_progress, stopping: StopRequest | None = None
    ) -> AbstractContextManager[Workspace]:
        """Open the repository and the platform for a run that writes; hold the lock of the repository."""
        cancelled = never_cancel if stopping is None else stopping.is_requested
        return open_workspace(self.config, self.repository, make_environment(progress, cancelled))

    def open_for_reading(self, progress: Progress = ignore_progress) -> AbstractContextManager[Workspace]:
        """Open the repository and the platform for reading only, also while a run takes place."""
        return open_for_reading(self.config, self.repository, make_environment(progress))


def find_sites(config_file: Path | None, file: Path | None = None) -> list[SiteSession]:
    """Return the sites that `--config` and `--file` select: that of the file, or all configured ones.

    Raises: ConfigInvalid when there is none.
    """
    config = load_configuration(config_file)
    if file is not None:
        repository, top, path = _find_repository(config, file)
        return [SiteSession(config, repository, build_site_options(repository.site or SiteConfig(), file=path), top)]
    found = [
        SiteSession(config, one, build_site_options(one.site), _find_work_tree(one, Path.cwd()))
        for one in config.repository
        if one.site is not None
    ]
    if not found:
        hint = f"{format_missing_table(config_file, 'site.yaml')}, or name the file with --file"
        raise ConfigInvalid("no repository has a site", hint=hint)
    return found


def format_missing_table(config_file: Path | None, file: str) -> str:
    """Return what is to be added to the configuration, and to which file, for a site to follow its site file."""
    config = find_config_file(config_file)
    where = f"{config.path}" if config is not None else "the configuration"
    return f'add [repository.site] with file = "{file}" to {where}'


def find_one_site(config_file: Path | None, file: Path | None, what: str) -> SiteSession:
    """Return the only site that `--config` and `--file` select. Raises: BadParameter when there are several."""
    found = find_sites(config_file, file)
    if len(found) > 1:
        raise typer.BadParameter(f"{what} is about one site, and {len(found)} are configured: name one with --file")
    return found[0]


def find_source(workspace: Workspace, session: SiteSession) -> tuple[SiteFileTexts, str]:
    """Return the site file on disk, else the committed one, and a sentence when both differ, or ""."""
    repository, branch = workspace.repository, workspace.branch
    top, site_options = session.work_tree, session.site_options
    if top is None or not (top / site_options.file).is_file():
        return read_committed(repository, branch, site_options.file), ""
    on_disk = read_work_tree(top, site_options.file)
    tip = repository.resolve(f"refs/heads/{branch}")
    if tip is None and repository.resolve("HEAD") is not None:
        return on_disk, ""  # a job's clone, on a commit and no branch
    if tip is None or repository.lookup(tip, site_options.file) is None:
        return (
            on_disk,
            f"{site_options.file} is not committed on {branch} yet; apply and the service take what is committed",
        )
    if read_committed(repository, branch, site_options.file).inputs() == on_disk.inputs():
        return read_committed(repository, branch, site_options.file), ""
    return (
        on_disk,
        f"{site_options.file} differs from what is committed on {branch}; apply and the service take what is committed",
    )


def describe_lock(session: SiteSession, prepared: PreparedPlan) -> str:
    """Return a sentence about a lock that is on disk and not committed, else ""."""
    path = find_lock_path(session.site_options.file)
    known = session.site_options.lock == "state" or prepared.lock.serial or prepared.lock.items
    if known or not (session.repository.path / path).is_file():
        return ""
    return f"{path} is not committed yet, and without it everything is adopted anew: git add {path} && git commit"


def check_targets(targets: Iterable[str], prepared: PreparedPlan) -> None:
    """Check that each ref of `--target` is declared or in the lock. Raises: BadParameter."""
    known = prepared.file.items.keys() | prepared.lock.items.keys()
    if unknown := sorted(set(targets) - known):
        raise typer.BadParameter(f"--target {unknown[0]}: {describe_unknown('resource', unknown[0], sorted(known))}")


def describe_unknown(what: str, word: str, known: Sequence[str]) -> str:
    """Return a sentence about an unknown word, with the known word that was likely meant."""
    listed = f"there are {format_first(known, _SHOWN)}"
    return f"there is no such {what}; {format_suggestion(NearMisses(known).find(word)) or listed}"


def parse_gate_force(words: Sequence[str], plan: SitePlan) -> dict[str, int]:
    """Return the gates of a plan that `CLASS` and `CLASS=NUMBER` words open, each with its number.

    Raises: BadParameter for any other word.
    """
    opened: dict[str, int] = {}
    for word in words:
        scope, equals, number = word.partition("=")
        given = parse_count(number)
        if equals and given is None:
            raise typer.BadParameter(f"--force {word}: write CLASS or CLASS=NUMBER, as the refusal printed it")
        if not equals and scope in NEEDS_NUMBER:
            raise typer.BadParameter(f"--force {scope}: say how many, as the refusal printed it: {scope}=NUMBER")
        if scope not in SCOPES:
            raise typer.BadParameter(f"--force {scope}: {describe_unknown('class', scope, SCOPES)}")
        counts = [gate.count for gate in plan.gates if gate.scope == scope]
        opened[scope] = given if given is not None else next(iter(counts), 0)
    return opened


def _find_repository(config: Config, file: Path) -> tuple[RepositoryConfig, Path | None, str]:
    """The repository that a file lies in, the work tree of that, and its path from there."""
    path = file.resolve()
    for repository in config.repository:
        top = _find_work_tree(repository, path.parent)
        if top is not None and path.is_relative_to(top):
            return repository, top, path.relative_to(top).as_posix()
    # In a bare repository a file can only be named by its path from the root.
    if len(config.repository) == 1 and not file.is_absolute():
        return config.repository[0], _find_work_tree(config.repository[0], Path.cwd()), file.as_posix()
    raise typer.BadParameter(f"--file {file} lies in no configured repository")


def _find_work_tree(repository: RepositoryConfig, start: Path) -> Path | None:
    """The work tree of a repository: the linked one around a directory, else the configured one, if any."""
    return find_other_tree(repository.path, start=start) or find_repository(repository.path).work_tree
