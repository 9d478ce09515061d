"""`init`: bind a repository that exists, bare or not, to spaces that exist; neither side is replaced unasked."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast, get_args

import typer

from syncd.cli.sync.clone import check_out
from syncd.cli.sync.setup import Setup, drafted, platform_of, taken_up, wanted_of, written
from syncd.cli.terminal.context import load_here, require_here
from syncd.cli.terminal.output import emit, result_document, result_lines
from syncd.cli.terminal.progress import progress
from syncd.cli.terminal.text import print_text
from syncd.config import Config, RepositoryConfig
from syncd.daemon.workplace import Circumstances, record_command, wish, workplace
from syncd.errors import ConfigInvalid, NotARepository
from syncd.repo import Repository
from syncd.repo.location import discover_repository, find_bare, find_repository
from syncd.sync.outcome import Waiting
from syncd.sync.policy import PreferredSide
from syncd.sync.run.cycle import run_cycle
from syncd.sync.run.values import Result, find_exit_code


@dataclass(frozen=True)
class Init:
    """What the command line says; without `url` the configuration that is there says what to bind."""

    url: str = ""
    words: Sequence[str] = ()
    prefer: Sequence[str] = ()
    branch: str = ""
    token_file: Path | None = None
    insecure: bool = False


def run_init(asked: Init, *, as_json: bool) -> int:
    """Given what to bind, bind it as far as nobody has to choose, print what came of it, and return the exit code.

    Raises: NotARepository; ConfigInvalid when the repository is bound to something else.
    """
    config = _configuration(asked)
    results: list[Result] = []
    for repository in config.repository:
        results += _bound(config, repository, asked)
    code = find_exit_code(results)
    if as_json:
        emit({"command": "init", "results": [result_document(result) for result in results], "exit_code": code})
        return code
    print_text("\n".join(result_lines(results)))
    if not code:
        print("Bound. Next: syncd status, then syncd push for what only Git has.")
    return code


def _configuration(asked: Init) -> Config:
    top, git_dir = _locate(Path.cwd())
    file = git_dir / "syncd.toml"
    if not asked.url:
        return _find_configuration(top, git_dir)
    if not asked.words:
        raise typer.BadParameter("name at least one SPACE")
    with Repository.open(top) as git:
        branch = asked.branch or git.read_head().branch
    if branch is None:
        raise typer.BadParameter("no branch is checked out: name one with --branch")
    platform = platform_of(asked.url, asked.token_file, insecure=asked.insecure)
    # A work tree whose git directory is elsewhere is named by its path; all others are found beside the file.
    beside = top / ".git" == file.parent or top == file.parent
    setup = Setup(file, platform, wanted_of(asked.words), branch, "." if beside else str(top))
    again = f"to bind more spaces, add them to {file}, then run syncd init alone"
    return taken_up(setup, hint=again) or written(setup, drafted(setup))


def _find_configuration(top: Path, git_dir: Path) -> Config:
    """The configuration that applies here, without the other repositories that it names."""
    file = require_here(None)
    config = load_here(file)
    here = [repository for repository in config.repository if _is_at(repository.path, git_dir)]
    if not here:
        raise ConfigInvalid(
            f"{file.path} names other repositories, not {top}",
            hint="add this one to it, or name the platform and its spaces: syncd init URL SPACE[=DIR]",
        )
    return config.model_copy(update={"repository": tuple(here)})


def _is_at(path: Path, git_dir: Path) -> bool:
    with suppress(NotARepository):
        return find_repository(path).common_dir == git_dir
    return False


def _locate(start: Path) -> tuple[Path, Path]:
    """The top of the repository around a directory, or a bare one, and where its configuration is kept."""
    place = discover_repository(start)
    if place is None:
        raise NotARepository(f"{start} is in no Git repository", hint="run syncd init inside one, or syncd clone")
    top = place.work_tree or place.git_dir
    bare = find_bare(start)
    if bare is not None and bare.git_dir not in (place.git_dir, place.common_dir) and bare.git_dir.is_relative_to(top):
        raise NotARepository(
            f"{bare.git_dir} looks like a bare repository inside of the work tree {top}",
            hint=f"run syncd init in {top} to bind that one; a bare repository has to lie outside of any work tree",
        )
    return top, place.common_dir


def _bound(config: Config, repository: RepositoryConfig, asked: Init) -> list[Result]:
    with progress() as tell, workplace(config, repository, Circumstances(os.environ, progress=tell)) as workspace:
        bind = replace(
            wish(repository),
            propose=False,
            site=None,
            should_publish=False,
            prefer=_preferences(asked.prefer, repository),
        )
        results = run_cycle(workspace, bind)
        if any(result.flow == "bind" and isinstance(result.outcome, Waiting) for result in results):
            results = run_cycle(workspace, bind)  # what was bound before is integrated now
        if not find_exit_code(results):
            check_out(workspace, workspace.branch)
    record_command(repository, results)
    return results


def _preferences(words: Sequence[str], repository: RepositoryConfig) -> Mapping[str, PreferredSide]:
    """Given `SIDE` or `NAME=SIDE` words, return the side of each space that is named."""
    names = [space.name for space in repository.space]
    prefer: dict[str, PreferredSide] = {}
    for word in words:
        name, _, side = word.rpartition("=")
        if side not in get_args(PreferredSide):
            raise typer.BadParameter(f"--prefer {word}: write platform or git, or NAME=platform or NAME=git")
        if name and name not in names:
            raise ConfigInvalid(f"no space is named {name}", hint=f"they are named {', '.join(names)}")
        prefer |= dict.fromkeys([name] if name else names, cast(PreferredSide, side))
    return prefer
