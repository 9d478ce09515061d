"""Every problem of a configuration: its keys, the files that they name, and the variables that count beside it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

from syncd.api.transport.addresses import check_token, parse_base_url
from syncd.cli.sites.offline import SiteFileLocation
from syncd.cli.sites.validate import ValidateOptions, validate_file
from syncd.cli.terminal.context import load_config_parts
from syncd.config import Config, ConfigFile, check_private, read_token
from syncd.config.drop_ins import MAIN, SOME_REPOSITORY, list_drop_ins
from syncd.config.finding import add_some_platform, find_own_platform, is_platform_alone, is_trusted
from syncd.config.positions import FilePosition, find_nearest, find_positions
from syncd.config.reading import (
    Document,
    expand_home,
    find_mistakes,
    find_root,
    parse,
    read_document,
    resolve_paths,
)
from syncd.config.repository import SiteConfig
from syncd.config.secrets import name_variable
from syncd.config.token_command import find_program
from syncd.config.tokens import list_token_sources
from syncd.config.trust import PERMITTED, Key, list_keys
from syncd.daemon.labels import name_repositories
from syncd.errors import FileInvalid, NotTrusted, SyncdError
from syncd.model.text import quote_name
from syncd.model.wording import format_first
from syncd.net.listening import check_listen_address
from syncd.repo.process.location import discover_repository, find_repository
from syncd.repo.remote.address import parse_address

VARIABLES = (
    *("SYNCD_CONFIG", "SYNCD_URL", "SYNCD_TOKEN", "SYNCD_ASK_KEY", "SYNCD_TRANSLATE_KEY", "SYNCD_STOP_AT"),
    *("SYNCD_PLATFORM_DATABASE", "SYNCD_PLATFORM_FILES", "SYNCD_PLATFORM_S3_ENDPOINT"),
)
"""Variables that syncd reads."""
_NAMES_SHOWN = 10


@dataclass(frozen=True)
class ConfigProblem:
    """What is wrong, and where: in a file, or in a variable of the environment, whose name is `place` then.

    Units: line and column count from 1, and are 0 where the problem has no place of its own in the file.
    """

    place: str
    message: str
    line: int = 0
    column: int = 0
    key: str = ""
    hint: str = ""
    is_warning: bool = False


def find_problems(file: ConfigFile, environ: Mapping[str, str]) -> Iterator[ConfigProblem]:
    """Yield every problem of a configuration, those of the environment first; nothing is asked of the platform."""
    yield from check_environment(environ)
    try:
        document = read_document(file.path, is_plain=file.origin != "operator")
    except SyncdError as error:
        yield _describe_unreadable(file.path, error)
        return
    spoiled: set[Path] = set()
    for path in list_drop_ins(file.path) if file.origin == "operator" else ():
        for problem in _check_drop_in(path, environ):
            spoiled |= set() if problem.is_warning else {path}
            yield problem
    yield from _check_document(file, document, environ, spoiled)
    if "platform" in document.raw or environ.get("SYNCD_URL"):
        return
    try:
        own = find_own_platform(environ)
    except SyncdError as error:
        yield ConfigProblem("", error.what, hint=error.hint)
        return
    if own is not None and own.path != file.path:
        raw = {"platform": own.raw["platform"], "repository": [{"space": [{"id": "none"}]}]}
        yield from _check_keys(Document(own.path, own.data, raw), raw)
        yield from _check_values(Document(own.path, own.data, {"platform": raw["platform"]}), environ)


def check_environment(environ: Mapping[str, str]) -> Iterator[ConfigProblem]:
    """Yield what is wrong with the variables that syncd reads, and a warning where one looks misspelled."""
    if url := environ.get("SYNCD_URL"):
        yield from _find_error("SYNCD_URL", lambda: parse_base_url(url))
    if token := environ.get("SYNCD_TOKEN"):
        yield from _find_error("SYNCD_TOKEN", lambda: check_token(token.strip()))
    for name in sorted(name for name in environ if name.startswith("SYNCD_") and name not in VARIABLES):
        if near := get_close_matches(name, VARIABLES, n=1, cutoff=0.8):
            yield ConfigProblem(name, f"syncd reads no such variable; did you mean {near[0]}?", is_warning=True)


def _find_error(name: str, check: Callable[[], object]) -> Iterator[ConfigProblem]:
    try:
        check()
    except SyncdError as error:
        yield ConfigProblem(name, error.what, hint=error.hint)


def _describe_unreadable(path: Path, error: SyncdError) -> ConfigProblem:
    """The problem of a file that is no TOML, or cannot be read; the error names the place behind the path."""
    line, _, rest = error.what.removeprefix(f"{path}:").partition(":")
    column, _, message = rest.partition(": ")
    if line.isdigit() and column.isdigit():
        return ConfigProblem(str(path), message, int(line), int(column), hint=error.hint)
    return ConfigProblem(str(path), error.what.removeprefix(f"{path}: "), hint=error.hint)


def _check_drop_in(path: Path, environ: Mapping[str, str]) -> Iterator[ConfigProblem]:
    """Yield what is wrong in one file of `conf.d/`, all of it; what others say of it shows when all are loaded."""
    try:
        document = read_document(path)
    except SyncdError as error:
        yield _describe_unreadable(path, error)
        return
    positions = find_positions(document.data)
    for key in sorted(document.raw.keys() - {"repository"}):
        message = f"belongs into {path.parent.parent / MAIN}"
        yield _build_problem(document, positions.get(key), message, key)
    raw = {key: one for key, one in document.raw.items() if key == "repository"}
    found = [*_check_keys(document, add_some_platform(raw))]
    yield from found
    yield from _check_values(Document(path, document.data, raw), environ, {problem.key for problem in found})
    yield from _check_sites(document, ConfigFile(path), is_counted=True)


def _check_document(
    file: ConfigFile, document: Document, environ: Mapping[str, str], spoiled: set[Path]
) -> Iterator[ConfigProblem]:
    """Yield what is wrong in a configuration; `spoiled` are drop-ins whose mistakes are known already."""
    is_alone = is_platform_alone(file, document, environ)
    has_more = is_alone or (file.origin == "operator" and list_drop_ins(file.path))
    some = SOME_REPOSITORY if has_more else {}
    found = [*_check_keys(document, {**some, **add_some_platform(document.raw)})]
    yield from found
    is_counted = file.origin == "operator" or is_trusted(file, document, environ)
    # What a stranger's file names is not even opened.
    raw = document.raw if is_counted else {key: one for key, one in document.raw.items() if key in PERMITTED}
    wrong = {problem.key for problem in found}
    yield from _check_values(Document(document.path, document.data, raw), environ, wrong)
    yield from _check_services(Document(document.path, document.data, raw), environ, wrong)
    yield from _check_sites(document, file, is_counted=is_counted)
    if is_alone and not found:
        whole = parse({**document.raw, **SOME_REPOSITORY}, at=file.path)
        platform = resolve_paths(whole, file.path).platform
        yield from _find_error("", lambda: list(list_token_sources(platform, environ)))
    elif not found:
        try:
            config, broken = load_config_parts(file)
        except NotTrusted as error:
            yield ConfigProblem(str(file.path), error.what.removeprefix(f"{file.path} "), hint=error.hint)
        except SyncdError as error:
            if not any(error.what.startswith(f"{path}:") for path in spoiled):
                yield ConfigProblem(str(file.path), error.what.removeprefix(f"{file.path}: "), hint=error.hint)
        else:
            yield from _find_error("", lambda: list(list_token_sources(config.platform, environ)))
            others = (one for one in broken if one.path not in spoiled)
            yield from (_describe_unreadable(one.path, one.error) for one in others if one.error is not None)
            if not broken:  # a drop-in with a mistake may have the repository
                yield from _check_receivers(document, config)


def _check_receivers(document: Document, config: Config) -> Iterator[ConfigProblem]:
    """Yield each repository that a receiver of notifications wants to hear of, and that is configured nowhere."""
    known, positions = name_repositories(config), find_positions(document.data)
    for number, target in enumerate(config.notifications.target):
        key = f"notifications.target.{number}.repositories"
        for name in dict.fromkeys(target.repositories):
            if name not in known:
                near = get_close_matches(name, known, n=1)
                rest = f"did you mean {near[0]}?" if near else f"there are {format_first(known, _NAMES_SHOWN)}"
                message = f"no repository is named {quote_name(name)}; {rest}"
                yield _build_problem(document, find_nearest(positions, key), message, key)


def _check_keys(document: Document, raw: Mapping[str, Any]) -> Iterator[ConfigProblem]:
    positions = find_positions(document.data)
    for mistake in find_mistakes(raw):
        place = find_nearest(positions, mistake.key)
        yield _build_problem(document, place, mistake.message, mistake.key)


def _check_values(
    document: Document, environ: Mapping[str, str], wrong: set[str] | None = None
) -> Iterator[ConfigProblem]:
    """Yield what is wrong with the addresses and files that the values of a configuration name."""
    positions = find_positions(document.data)
    platform = document.raw.get("platform")
    is_insecure = isinstance(platform, Mapping) and platform.get("insecure") is True
    for key in list_keys(document.raw):
        if key.name in (wrong or ()) or not (isinstance(key.value, str) or key.plain == "platform.token_command"):
            continue
        try:
            _check_value(key, document.path, environ, is_insecure=is_insecure)
        except SyncdError as error:
            message = error.what.removeprefix(f"{key.name} ")
            yield _build_problem(document, find_nearest(positions, key.name), message, key.name, error.hint)


def _check_value(key: Key, path: Path, environ: Mapping[str, str], *, is_insecure: bool) -> None:
    """Check one value that names an address or a file. Raises: SyncdError."""
    root, last = find_root(path), key.plain.rpartition(".")[2]
    if key.plain == "platform.url":
        parse_base_url(key.value, insecure=is_insecure)
    elif key.plain == "repository.upstream.url":
        parse_address(key.value)
    elif key.plain == "repository.path":
        find_repository((root / expand_home(Path(key.value))).resolve())
    elif last == "token_command":
        find_program([str(expand_home(Path(key.value[0]))), *key.value[1:]], environ)
    elif key.plain.startswith("repository.site.publish."):
        _check_publish(last, key.value, root)
    elif last in ("token_file", "import_token_file"):
        read_token(root / expand_home(Path(key.value)), last, environ)
    elif last == "ssh_key_file":
        check_private(root / expand_home(Path(key.value)), last, environ)


def _check_services(document: Document, environ: Mapping[str, str], wrong: set[str]) -> Iterator[ConfigProblem]:
    """Yield what keeps a service from hearing webhooks or from sending notifications, as it finds it at its start."""
    tables = {key: document.raw[key] for key in ("webhooks", "notifications") if key in document.raw}
    if not tables or any(key.partition(".")[0] in tables for key in wrong):
        return
    # Few configurations have them, and what serves them takes long to import.
    from syncd.daemon.hooks.listener import load_sources
    from syncd.daemon.notifications.targets import build_target

    config = resolve_paths(parse(add_some_platform({**tables, **SOME_REPOSITORY}), at=document.path), document.path)
    checks: list[tuple[str, Callable[[], object], bool]] = []
    if (webhooks := config.webhooks) is not None:
        checks.append(("webhooks.listen", partial(check_listen_address, webhooks.listen), False))
        for number, source in enumerate(webhooks.source):
            alone = webhooks.model_copy(update={"source": (source,)})
            # The secret of another place may be there for the service alone, such as a credential of systemd.
            is_elsewhere = source.secret_file is None and name_variable(f"webhook-{source.name}") not in environ
            checks.append((f"webhooks.source.{number}", partial(load_sources, alone, environ), is_elsewhere))
    for number, target in enumerate(config.notifications.target):
        checks.append((f"notifications.target.{number}", partial(build_target, target, environ), False))
    positions = find_positions(document.data)
    for key, check, is_warning in checks:
        try:
            check()
        except SyncdError as error:
            found = _build_problem(document, find_nearest(positions, key), error.what, key, error.hint)
            yield replace(found, is_warning=is_warning)


def _check_publish(key: str, value: str, root: Path) -> None:
    """Check where a site goes. Raises: SyncdError."""
    # Few configurations publish a site, and what builds one takes long to import.
    from syncd.sync.publish.atomic import check_target
    from syncd.sync.publish.build import check_base_url

    if key == "base_url":
        check_base_url(value)
    elif key == "directory":
        check_target(root / expand_home(Path(value)))


def _check_sites(document: Document, file: ConfigFile, *, is_counted: bool) -> Iterator[ConfigProblem]:
    """Yield the errors in the site files that the configuration names, and that are in a work tree."""
    positions = find_positions(document.data)
    repositories = document.raw.get("repository", ())
    for number, table in enumerate(repositories if isinstance(repositories, list) else ()):
        site = table.get("site") if isinstance(table, Mapping) else None
        if not isinstance(site, Mapping) or not isinstance(name := site.get("file", SiteConfig().file), str):
            continue
        path = str(table.get("path", "")) if is_counted else ""
        top = (find_root(file.path) / path).resolve() if path or file.top is None else file.top
        place = discover_repository(top) if top.is_dir() else None
        if place is None or place.work_tree != top:
            continue  # a bare repository: only a run knows the branch that has the file
        if site.get("apply") is False and not (top / name).exists():
            continue  # the site that is built needs none
        key = f"repository.{number}.site.file"
        try:
            findings = validate_file(SiteFileLocation(top, name), ValidateOptions()).findings
        except FileInvalid as error:
            yield ConfigProblem(str(top / error.path), error.reason, error.line, error.column, key, error.hint)
        except SyncdError as error:
            yield _build_problem(document, find_nearest(positions, key), error.what, key, error.hint)
        else:
            for one in sorted(findings):
                message, is_warning = f"{one.code} {one.message}", one.severity != "error"
                yield ConfigProblem(
                    str(top / one.path), message, one.line, one.column, key, one.hint, is_warning=is_warning
                )


def _build_problem(
    document: Document, place: FilePosition | None, message: str, key: str = "", hint: str = ""
) -> ConfigProblem:
    line, column = (place.line, place.column) if place is not None else (0, 0)
    return ConfigProblem(str(document.path), message, line, column, key, hint)
