"""What the commands of a site start with: which site is meant, its file, and what the flags say."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import typer

from syncd.cli.service.stop_signals import Stopping
from syncd.cli.terminal.context import configuration
from syncd.config import Config, RepositoryConfig, SiteConfig
from syncd.daemon.workplace import Circumstances, never, reading, site_wish, workplace
from syncd.errors import ConfigInvalid
from syncd.layout.lint.near import Near, meant
from syncd.plan.site.gates.gates import SCOPES
from syncd.plan.site.lockfile.lockfile import lock_path
from syncd.plan.site.steps import SitePlan
from syncd.repo import Repository
from syncd.sync.site.flow import Prepared
from syncd.sync.site.options import SiteWish
from syncd.sync.site.read.site_file import Source, committed, in_work_tree
from syncd.sync.workspace import Progress, Workspace, ignore_progress

_SHOWN = 12
NEEDS_NUMBER = frozenset({"structure.delete"})
"""Scopes of `--force` that are never opened without saying how many things they are about."""


@dataclass(frozen=True)
class Sited:
    """One repository with a site, and how its file is followed."""

    config: Config
    repository: RepositoryConfig
    wish: SiteWish

    def open(
        self, progress: Progress = ignore_progress, stopping: Stopping | None = None
    ) -> AbstractContextManager[Workspace]:
        """Given what hears the progress, and who asks to stop, open both sides for a run that writes."""
        cancelled = never if stopping is None else stopping.is_asked
        return workplace(self.config, self.repository, Circumstances(os.environ, cancelled, progress))

    def look(self, progress: Progress = ignore_progress) -> AbstractContextManager[Workspace]:
        """Given what hears the progress, open both sides to look at them, beside any run."""
        return reading(self.config, self.repository, Circumstances(os.environ, progress=progress))


def sited(config_file: Path | None, file: Path | None = None) -> list[Sited]:
    """Given `--config` and `--file`, return the sites that are meant: that of the file, or all that are configured.

    Raises: ConfigInvalid when there is none.
    """
    config = configuration(config_file)
    if file is not None:
        repository, path = _holder(config, file)
        return [Sited(config, repository, site_wish(repository.site or SiteConfig(), file=path))]
    found = [Sited(config, one, site_wish(one.site)) for one in config.repository if one.site is not None]
    if not found:
        raise ConfigInvalid(
            "no repository has a site",
            hint='add [repository.site] with file = "site.yaml" to the configuration, or name the file with --file',
        )
    return found


def one_site(config_file: Path | None, file: Path | None, what: str) -> Sited:
    """Given `--config`, `--file` and what is asked for, return the one site that it can be about."""
    found = sited(config_file, file)
    if len(found) > 1:
        raise typer.BadParameter(f"{what} is about one site, and {len(found)} are configured: name one with --file")
    return found[0]


def source_of(workspace: Workspace, wish: SiteWish) -> tuple[Source, str]:
    """Given a site, return its file as it is on disk where there is one, and how that differs from what is committed.

    Shape: the difference is a sentence, or "".
    """
    repository, branch = workspace.repository, workspace.branch
    top = repository.work_tree
    if top is None or not (top / wish.file).is_file():
        return committed(repository, branch, wish.file), ""
    here = in_work_tree(top, wish.file)
    tip = repository.resolve(f"refs/heads/{branch}")
    if tip is None and repository.resolve("HEAD") is not None:
        return here, ""  # a job's clone, on a commit and no branch
    if tip is None or repository.lookup(tip, wish.file) is None:
        return here, f"{wish.file} is not committed on {branch} yet; apply and the service take what is committed"
    if committed(repository, branch, wish.file).inputs() == here.inputs():
        return committed(repository, branch, wish.file), ""
    return here, f"{wish.file} differs from what is committed on {branch}; apply and the service take what is committed"


def lock_note(each: Sited, prepared: Prepared) -> str:
    """Given a plan, say what becomes of a lock that lies on disk while none is committed; "" when it is not so."""
    path = lock_path(each.wish.file)
    known = each.wish.lock == "state" or prepared.lock.serial or prepared.lock.items
    if known or not (each.repository.path / path).is_file():
        return ""
    return f"{path} is not committed yet, and without it everything is adopted anew: git add {path} && git commit"


def require_targets(targets: Iterable[str], prepared: Prepared) -> None:
    """Given the refs of `--target` and a plan, see that each is declared or in the lock. Raises: BadParameter."""
    known = prepared.file.items.keys() | prepared.lock.items.keys()
    if strange := sorted(set(targets) - known):
        raise typer.BadParameter(f"--target {strange[0]}: {unknown('thing', strange[0], sorted(known))}")


def unknown(what: str, word: str, known: Sequence[str]) -> str:
    """Given a word that names none of what is known, return a sentence that says so, with the likely meant one."""
    listed = f"there are {', '.join(known[:_SHOWN])}{', …' if len(known) > _SHOWN else ''}"
    return f"there is no such {what}; {meant(Near(known).to(word)) or listed}"


def forced(words: Sequence[str], plan: SitePlan) -> dict[str, int]:
    """Given `CLASS` and `CLASS=NUMBER` words and a plan, return which gates of it are opened, by number.

    Raises: BadParameter for what is no such word.
    """
    opened: dict[str, int] = {}
    for word in words:
        scope, equals, number = word.partition("=")
        if equals and not (number.isascii() and number.isdigit()):
            raise typer.BadParameter(f"--force {word}: write CLASS or CLASS=NUMBER, as the refusal printed it")
        if not equals and scope in NEEDS_NUMBER:
            raise typer.BadParameter(f"--force {scope}: say how many, as the refusal printed it: {scope}=NUMBER")
        if scope not in SCOPES:
            raise typer.BadParameter(f"--force {scope}: {unknown('class', scope, SCOPES)}")
        counts = [gate.count for gate in plan.gates if gate.scope == scope]
        opened[scope] = int(number) if equals else next(iter(counts), 0)
    return opened


def _holder(config: Config, file: Path) -> tuple[RepositoryConfig, str]:
    """The repository that a file lies in, and its path from there."""
    for repository, top in _tops(config):
        if file.resolve().is_relative_to(top):
            return repository, file.resolve().relative_to(top).as_posix()
    if len(config.repository) == 1 and not file.is_absolute():  # a bare repository has no files to name otherwise
        return config.repository[0], file.as_posix()
    raise typer.BadParameter(f"--file {file} lies in no configured repository")


def _tops(config: Config) -> Iterator[tuple[RepositoryConfig, Path]]:
    for repository in config.repository:
        with Repository.open(repository.path) as git:
            if git.work_tree is not None:
                yield repository, git.work_tree.resolve()
