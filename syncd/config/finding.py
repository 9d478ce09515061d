"""Which configuration applies, and how much of it: all that the operator decides, little of what others do."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from syncd.config.drop_ins import SOME_PLATFORM, SOME_REPOSITORY, DropIn, list_drop_ins, read_drop_ins
from syncd.config.reading import Document, parse, read_document, resolve_paths
from syncd.config.register import Record, Register, find_base
from syncd.config.repository import RepositoryConfig
from syncd.config.shapes import Config
from syncd.config.trust import (
    ConfigFile,
    Key,
    check_token_command,
    check_upstream,
    compute_digest,
    find_privileged_keys,
    is_same_address,
    keep_permitted,
)
from syncd.errors import ConfigInvalid, NotTrusted

NAME = "syncd.toml"
_SYSTEM = Path("/etc/syncd/config.toml")


def find_config(
    environ: Mapping[str, str], *, given: Path | None = None, git_dir: Path | None = None, top: Path | None = None
) -> ConfigFile | None:
    """Return the first configuration that applies, from the ways to name one and the repository around the caller.

    Shape: `--config`, `$SYNCD_CONFIG`, `syncd.toml` in the git directory, one of the operator's that names the
    repository at `top`, `syncd.toml` at the top of the work tree, the user's, the system's; None when none exists.
    Raises: ConfigInvalid when one of the operator's cannot be read.
    """
    if given is not None:
        return ConfigFile(given)
    if named := environ.get("SYNCD_CONFIG"):
        if not Path(named).is_absolute():
            raise ConfigInvalid(
                f"SYNCD_CONFIG is {named}, which is another file in each directory", hint="give it an absolute path"
            )
        return ConfigFile(Path(named))
    if git_dir is not None and _is_file(git_dir / NAME):
        return ConfigFile(git_dir / NAME, "git directory", top)
    own = [path for path in _own_files(environ) if path.is_file()]
    # A linked work tree belongs to the repository that the operator names by its main one.
    here = {top, git_dir, git_dir.parent if git_dir is not None and git_dir.name == ".git" else None}
    naming = [path for path in own if here & _named_repositories(path)]
    if not naming and top is not None and _is_file(top / NAME):
        return ConfigFile(top / NAME, "work tree", top)
    complete = [path for path in naming or own if "repository" in read_document(path).raw or list_drop_ins(path)]
    return ConfigFile(complete[0]) if complete else None


def load_config(file: ConfigFile, environ: Mapping[str, str], *, url: str = "") -> Config:
    """Return the configuration that is valid for this run, with the platform that the operator names.

    Shape: `url`, else $SYNCD_URL, is the platform where a file of a repository may not decide it; drop-ins with a
    mistake are left out. Raises: ConfigInvalid; NotTrusted when a file of a repository decides what only the operator
    may decide.
    """
    return load_with_drop_ins(file, environ, url=url)[0]


def load_with_drop_ins(
    file: ConfigFile, environ: Mapping[str, str], *, url: str = ""
) -> tuple[Config, tuple[DropIn, ...]]:
    """Return the configuration with the repositories of its drop-ins, and those of them that have a mistake.

    Shape: `url`, else $SYNCD_URL, is the platform where a file of a repository may not decide it.
    Raises: ConfigInvalid; NotTrusted when a file of a repository decides what only the operator may decide.
    """
    url = url or environ.get("SYNCD_URL", "")
    document = _require_repositories(file, environ)
    raw = select_keys(file, document, environ, url=url)
    if "platform" not in raw:
        raw["platform"] = find_platform(environ, url, at=file.path)
    elif url:
        raw["platform"] = {"url": url, **raw["platform"]}
    config = resolve_paths(parse(_add_some_repository(raw, file.path), at=file.path), file.path)
    repositories, broken = _add_drop_ins(file, raw, config.repository)
    if not repositories and broken:
        assert broken[0].error is not None
        raise broken[0].error
    return config.model_copy(update={"repository": repositories}), broken


def select_keys(file: ConfigFile, document: Document, environ: Mapping[str, str], *, url: str) -> dict[str, Any]:
    """Return what counts of a configuration in this run: all of it, or the keys that a repository may decide.

    Shape: `url` is the platform that the operator names, or "". Raises: ConfigInvalid; NotTrusted.
    """
    raw = dict(document.raw)
    if file.origin != "operator" and not is_trusted(file, document, environ):
        foreign = [key for key in find_privileged_keys(raw) if not _is_known(key, file, url)]
        if foreign or not url:
            raise _refuse(file, environ, foreign, url)
        return keep_permitted(raw)
    if file.origin == "work tree":
        check_upstream(file, raw)
        check_token_command(file, raw)
    return raw


def load_repositories(file: ConfigFile, environ: Mapping[str, str]) -> tuple[RepositoryConfig, ...]:
    """Return the repositories of a configuration for work that needs no platform.

    Shape: of a file that is not trusted, only the keys that a repository may decide. Raises: ConfigInvalid.
    """
    document = _require_repositories(file, environ)
    raw = dict(document.raw)
    if file.origin != "operator" and not is_trusted(file, document, environ):
        raw = keep_permitted(raw)
    whole = _add_some_repository({**raw, "platform": SOME_PLATFORM}, file.path)
    config = resolve_paths(parse(whole, at=file.path), file.path)
    return _add_drop_ins(file, raw, config.repository)[0]


def is_trusted(file: ConfigFile, document: Document, environ: Mapping[str, str]) -> bool:
    """Return whether the owner of this account has trusted exactly this content of a repository's configuration."""
    register = Register(environ)
    record = None if _lies_in(register.directory, file.top) else register.find(file.path)
    return record is not None and record.digest == compute_digest(file, document)


def read_valid(file: ConfigFile) -> Document:
    """Return the document of a configuration when every key and value in it has the right shape.

    Shape: a platform may be missing. Raises: ConfigInvalid.
    """
    document = read_document(file.path, is_plain=file.origin != "operator")
    parse(_add_some_repository(add_some_platform(document.raw), file.path), at=file.path)
    return document


def _require_repositories(file: ConfigFile, environ: Mapping[str, str]) -> Document:
    """Return the valid document of a configuration that names repositories. Raises: ConfigInvalid."""
    if file.origin == "operator" and is_platform_alone(file, read_document(file.path), environ):
        hint = "[[repository]] adds one; syncd clone and syncd init make a configuration of its own for each"
        raise ConfigInvalid(f"{file.path} names a platform, and no repository", hint=hint)
    return read_valid(file)


def trust_document(file: ConfigFile, document: Document, environ: Mapping[str, str], *, at: str) -> Record:
    """Record that the owner of this account trusts exactly this content of a repository's configuration.

    Units: `at` is the time in ISO 8601. Raises: ConfigInvalid.
    """
    register = Register(environ)
    if _lies_in(register.directory, file.top):
        raise ConfigInvalid(
            f"what is trusted would be recorded in {register.directory}, where whoever commits can write it",
            hint="let XDG_STATE_HOME name a directory outside of the repository",
        )
    keys = {key.name: str(key.value) for key in find_privileged_keys(document.raw)}
    record = Record(str(file.path), compute_digest(file, document), at, keys)
    register.write(record)
    return record


def find_platform(environ: Mapping[str, str], url: str = "", *, at: Path) -> dict[str, Any]:
    """Return the operator's platform as a table, for a file that names none.

    Shape: the address alone when there is one; else the table of the user's configuration, or of the system's. Raises
    ConfigInvalid when there is none.
    """
    if url:
        return {"url": url}
    if (own := find_own_platform(environ)) is not None:
        whole = {"platform": own.raw["platform"], "repository": [{"space": [{"id": "none"}]}]}
        return resolve_paths(parse(whole, at=own.path), own.path).platform.model_dump(exclude_none=True)
    raise ConfigInvalid(
        f"{at}: platform - is missing",
        hint=f"set SYNCD_URL, or write [platform] with its url into {_own_files(environ)[0]}",
    )


def find_own_platform(environ: Mapping[str, str]) -> Document | None:
    """Return the first of the user's and the system's configurations that names a platform. Raises: ConfigInvalid."""
    documents = (read_document(path) for path in _own_files(environ) if path.is_file())
    return next((document for document in documents if "platform" in document.raw), None)


def is_platform_alone(file: ConfigFile, document: Document, environ: Mapping[str, str]) -> bool:
    """Return whether a file is the user's or the system's own and names a platform for others, without a repository."""
    is_own = file.origin == "operator" and file.path.absolute() in _own_files(environ)
    return is_own and document.raw.keys() == {"platform"} and not list_drop_ins(file.path)


def add_some_platform(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the same table with a stand-in address where it names none: the operator may name it elsewhere."""
    platform = raw.get("platform", {})
    return {**raw, "platform": {**SOME_PLATFORM, **platform} if isinstance(platform, Mapping) else platform}


def _own_files(environ: Mapping[str, str]) -> tuple[Path, Path]:
    return find_base(environ, "XDG_CONFIG_HOME", ".config") / "syncd" / "config.toml", _SYSTEM


def _lies_in(directory: Path, top: Path | None) -> bool:
    return top is not None and directory.resolve().is_relative_to(top)


def _is_file(path: Path) -> bool:
    return path.is_symlink() or (path.exists() and not path.is_dir())


def _named_repositories(path: Path) -> set[Path]:
    """Return the repositories that a configuration of the operator's names."""
    raw = add_some_platform(read_document(path).raw)
    own = resolve_paths(parse(raw, at=path), path).repository if "repository" in raw else ()
    added = (repository for drop_in in read_drop_ins(path, own) for repository in drop_in.repositories)
    return {repository.path for repository in (*own, *added)}


def _add_some_repository(raw: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return the same table with a stand-in repository where only its drop-ins name any."""
    return {**SOME_REPOSITORY, **raw} if list_drop_ins(path) else dict(raw)


def _add_drop_ins(
    file: ConfigFile, raw: Mapping[str, Any], own: tuple[RepositoryConfig, ...]
) -> tuple[tuple[RepositoryConfig, ...], tuple[DropIn, ...]]:
    """Return the repositories of a file and of its drop-ins, and the drop-ins that have a mistake."""
    if file.origin != "operator":
        return _place_at_top(own, file, raw), ()
    own = own if "repository" in raw else ()
    drop_ins = tuple(read_drop_ins(file.path, own))
    added = (repository for drop_in in drop_ins for repository in drop_in.repositories)
    return (*own, *added), tuple(drop_in for drop_in in drop_ins if drop_in.error is not None)


def _place_at_top(
    repositories: tuple[RepositoryConfig, ...], file: ConfigFile, raw: Mapping[str, Any]
) -> tuple[RepositoryConfig, ...]:
    """Return the repositories at the top of their work tree, unless its owner trusts the file to name other paths."""
    if file.origin != "work tree" or file.top is None:
        return repositories
    update = {"path": file.top}
    return tuple(
        one if "path" in table else one.model_copy(update=update)
        for one, table in zip(repositories, raw["repository"], strict=True)
    )


def _is_known(key: Key, file: ConfigFile, url: str) -> bool:
    """Return whether a privileged key has only the operator's own value, or the default."""
    if key.name == "platform.url":
        return bool(url) and is_same_address(str(key.value), url)
    is_path = key.name.startswith("repository.") and key.name.endswith(".path")
    return is_path and (file.path.parent / str(key.value)).resolve() == file.top


def _refuse(file: ConfigFile, environ: Mapping[str, str], foreign: list[Key], url: str) -> NotTrusted:
    record = Register(environ).find(file.path)
    if record is not None:
        why = f"is not what you trusted on {record.at[:10]}"
    elif file.origin == "work tree":
        why = "comes with the repository, and you have not trusted it"
    else:
        why = "was not written by syncd on this machine, and you have not trusted it"
    names = ", ".join(key.name for key in foreign)
    hints = ["read it, then: syncd trust"]
    if {key.name for key in foreign} <= {"platform.url"}:
        hints.append("or, in a CI job, name the platform in the job itself: SYNCD_URL")
    elif url:
        hints.append(f"or take out what is not for a repository to say: {names}")
    says = f"; only you may say {names}" if names else ""
    return NotTrusted(f"{file.path} {why}{says}", hint="\n".join(hints))
