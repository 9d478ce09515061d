"""`status`, also what `syncd` alone prints: the state of both sides as this machine last saw them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from syncd.cli.status.document import build_file_document, build_status_document
from syncd.cli.status.gather import build_broken_status, find_status
from syncd.cli.status.porcelain import HEADER, build_file_record, format_porcelain, format_records
from syncd.cli.status.text import format_status
from syncd.cli.status.values import BrokenStatus, RepositoryStatus
from syncd.cli.status.watch import watch_status
from syncd.cli.terminal.context import load_whole_configuration
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.text import hide_credentials, print_text
from syncd.config import Config, RepositoryConfig
from syncd.daemon.health import combine_codes
from syncd.errors import ConfigInvalid, NotARepository
from syncd.repo.process.location import discover_repository, find_repository

if TYPE_CHECKING:
    from syncd.cli.status.files import FileStatus

FORMATS = ("text", "json", "porcelain")


@dataclass(frozen=True)
class StatusOptions:
    """What a person typed: `format` is one of FORMATS; `is_nul` ends records of porcelain with NUL."""

    files: Sequence[str] = ()
    format: str = "text"
    is_nul: bool = False
    should_watch: bool = False


def parse_options(
    files: Sequence[str], porcelain: str | None, *, json: bool, is_nul: bool, should_watch: bool
) -> StatusOptions:
    """Return the options from what was typed. Raises: BadParameter."""
    if porcelain not in (None, "v1"):
        raise typer.BadParameter(f"--porcelain={porcelain}: the format is v1")
    if json and porcelain is not None:
        raise typer.BadParameter("--json and --porcelain exclude each other")
    if is_nul and porcelain is None:
        raise typer.BadParameter("-z belongs to --porcelain=v1")
    format = "json" if json else "porcelain" if porcelain is not None else "text"
    return StatusOptions(files, format, is_nul, should_watch)


def show_status(config_file: Path | None, options: StatusOptions) -> int:
    """Print the status of every configured repository, or of files, and return the exit code.

    Raises: BadParameter; ConfigInvalid, NotTrusted.
    """
    config, broken = load_whole_configuration(config_file, is_shown=True)
    if options.files:
        return _show_files(_choose_repository(config, broken), options, config_file)

    def find() -> list[RepositoryStatus | BrokenStatus]:
        left_out = [build_broken_status(path, error) for path, error in broken.items()]
        return [*left_out, *(find_status(repository, config_file) for repository in config.repository)]

    if options.should_watch:
        return watch_status(find, lambda found: _print_statuses(config, found, options))
    statuses = find()
    _print_statuses(config, statuses, options)
    return combine_codes([status.exit_code for status in statuses])


def _print_statuses(
    config: Config, statuses: Sequence[RepositoryStatus | BrokenStatus], options: StatusOptions
) -> None:
    start = str(Path.cwd())
    if options.format == "json":
        code = combine_codes([status.exit_code for status in statuses])
        documents = [build_status_document(status, start=start) for status in statuses]
        print_document(
            {"platform": hide_credentials(config.platform.url), "repositories": documents, "exit_code": code}
        )
    elif options.format == "porcelain":
        print(format_porcelain(statuses, start=start, is_nul=options.is_nul), end="")
    else:
        text = "\n\n".join("\n".join(format_status(status, start=start)) for status in statuses)
        print_text(f"{text}\n" if options.should_watch else text)


def _choose_repository(config: Config, broken: Mapping[Path, ConfigInvalid]) -> RepositoryConfig:
    """The configured repository around the current directory.

    Raises: BadParameter when there is none; ConfigInvalid where a drop-in with a mistake may name it.
    """
    place = discover_repository(Path.cwd())
    for repository in config.repository:
        try:
            if place is not None and find_repository(repository.path).common_dir == place.common_dir:
                return repository
        except NotARepository:
            continue
    if broken:
        raise next(iter(broken.values()))
    raise typer.BadParameter("files are named inside of their repository, and none that is configured is here")


def _show_files(repository: RepositoryConfig, options: StatusOptions, config_file: Path | None) -> int:
    from syncd.cli.status.files import find_exit_code, find_files

    def find() -> "list[FileStatus]":
        status = find_status(repository)
        if isinstance(status, BrokenStatus):
            raise NotARepository(status.error, hint=status.hint)
        return find_files(repository, status, options.files)

    if options.should_watch:
        return watch_status(find, lambda found: _print_files(found, options, config_file))
    files = find()
    _print_files(files, options, config_file)
    return find_exit_code(files)


def _print_files(files: "Sequence[FileStatus]", options: StatusOptions, config_file: Path | None) -> None:
    from syncd.cli.status.file_text import format_file
    from syncd.cli.status.files import find_exit_code

    if options.format == "json":
        documents: list[dict[str, Any]] = [build_file_document(file) for file in files]
        print_document({"files": documents, "exit_code": find_exit_code(files)})
    elif options.format == "porcelain":
        records = [(HEADER,), *map(build_file_record, files)]
        print(format_records(records, is_nul=options.is_nul), end="")
    else:
        text = "\n\n".join("\n".join(format_file(file, config_file)) for file in files)
        print_text(f"{text}\n" if options.should_watch else text)
