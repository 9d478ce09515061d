"""The operator's file: which platform, which repositories, which spaces; TOML into frozen shapes."""

import re
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator

from syncd.errors import ConfigInvalid

INTERVAL_SECONDS = 60.0
"""Between two polls of one repository: one cheap request a space."""
SITE_SECONDS = 300.0
"""Between two looks at a site whose file has not changed: a dozen requests, and one for a thousand redirects."""
_NAME = r"^[a-z0-9][a-z0-9._-]{0,62}$"
_BRANCH = re.compile(r"(?!-)(?!.*\.\.)[^\x00-\x20\x7f~^:\\]{1,200}")
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_PATTERN_SIGNS = frozenset("*?[")
"""Signs that no branch has in its name: what holds one stands for several branches."""


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


class PlatformConfig(_Section):
    """Where the platform is and what identifies the caller there."""

    url: str
    token_file: Path | None = None
    insecure: bool = False


class SpaceConfig(_Section):
    """One space and the directory that mirrors it; `name` stands for it in refs and output."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,128}$")]
    directory: str = "."
    name: Annotated[str, Field(pattern=_NAME)] = "space"

    @field_validator("directory")
    @classmethod
    def _stays_inside(cls, value: str) -> str:
        parts = [part for part in value.split("/") if part not in ("", ".")]
        if value.startswith("/") or any(part == ".." or part.casefold() == ".git" for part in parts):
            raise ValueError("must stay inside the repository")
        return "/".join(parts)


class SiteConfig(_Section):
    """The site file on the first tracked branch; the meaning of each key is in `sync/reconcile/wish.py`."""

    file: str = "site.yaml"
    apply: bool = True
    every: Annotated[float, Field(ge=1, le=86400)] = SITE_SECONDS
    lock: Literal["repo", "state"] = "repo"
    ordering: Literal["auto", "move", "sort", "off"] = "auto"
    redirect_kinds: tuple[Literal["site-section", "site-space", "site-page", "external", "path"], ...] = ()

    @field_validator("file")
    @classmethod
    def _names_a_file(cls, value: str) -> str:
        parts = value.split("/")
        if value.startswith("/") or any(part in ("", ".", "..") or part.casefold() == ".git" for part in parts):
            raise ValueError("must be the path of a file in the repository, such as site.yaml or docs/site.yaml")
        return value


class ChangeRequestsConfig(_Section):
    """What a team decided about its change requests; the meaning of each is in `sync/policy.py`."""

    status: Literal["open", "draft"] = "open"
    reviewers: Annotated[
        tuple[Annotated[str, Field(pattern=r"^[^\s\x00-\x1f\x7f]{1,254}$")], ...], Field(max_length=50)
    ] = ()
    update: Literal["auto", "never"] = "auto"
    merge: Literal["manual", "auto"] = "manual"
    deleted_branch: Literal["archive", "keep"] = "archive"


class UpstreamConfig(_Section):
    """The Git remote that the tracked branches come from and go to; credentials are named by their files."""

    remote: Annotated[str, Field(pattern=_NAME)] = "origin"
    url: str | None = None
    push: Literal["branch", "side", "never"] = "branch"
    side: str = "syncd/{branch}"
    username: Annotated[str, Field(pattern=r"^[^\s\x00-\x1f\x7f]{0,254}$")] = ""
    token_file: Path | None = None
    ssh_key_file: Path | None = None
    known_hosts_file: Path | None = None

    @field_validator("side")
    @classmethod
    def _names_a_branch(cls, value: str) -> str:
        plain = value.replace("{branch}", "b")
        if "{branch}" not in value or value == "{branch}" or set("*?[{}") & set(plain) or not _BRANCH.fullmatch(plain):
            raise ValueError("must be a branch's name with {branch} in it")
        return value


class RepositoryConfig(_Section):
    """One Git repository, the spaces that it mirrors and the site that it declares: at least one of them."""

    path: Path = Path()
    remote: Annotated[str, Field(pattern=_NAME)] = "platform"
    branches: Annotated[tuple[str, ...], Field(min_length=1)] = ("main",)
    instance: Annotated[str, Field(pattern=r"^[0-9a-f]{6}$")] = "000000"
    interval: Annotated[float, Field(ge=1, le=86400)] = INTERVAL_SECONDS
    propose: bool = True
    space: tuple[SpaceConfig, ...] = ()
    site: SiteConfig | None = None
    upstream: UpstreamConfig | None = None
    change_requests: ChangeRequestsConfig = ChangeRequestsConfig()

    @property
    def named(self) -> tuple[str, ...]:
        """The tracked branches that are called by their name."""
        return tuple(branch for branch in self.branches if not _PATTERN_SIGNS & set(branch))

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns that stand for whatever branches there are at the time."""
        return tuple(branch for branch in self.branches if _PATTERN_SIGNS & set(branch))

    @field_validator("branches")
    @classmethod
    def _are_branches(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for branch in value:
            if not _BRANCH.fullmatch(branch):
                raise ValueError(f"{branch[:80]!r} is no branch and no pattern for branches")
        return value

    @model_validator(mode="after")
    def _is_about_something(self) -> "RepositoryConfig":
        if not self.space and self.site is None:
            raise ValueError("names neither a space nor a site, so there is nothing to keep in step")
        return self

    @model_validator(mode="after")
    def _site_has_a_branch(self) -> "RepositoryConfig":
        if self.site is not None and not self.named:
            raise ValueError("the site file needs a branch that is called by its name, not by a pattern")
        return self

    @model_validator(mode="after")
    def _two_remotes(self) -> "RepositoryConfig":
        if self.upstream is not None and self.upstream.remote == self.remote:
            raise ValueError(f"the platform and the upstream cannot both be the remote {self.remote}")
        return self

    @model_validator(mode="after")
    def _apart(self) -> "RepositoryConfig":
        for index, one in enumerate(self.space):
            for other in self.space[index + 1 :]:
                if one.name == other.name:
                    raise ValueError(f"two spaces are named {one.name}")
                a, b = f"{one.directory}/", f"{other.directory}/"
                if not one.directory or not other.directory or a.startswith(b) or b.startswith(a):
                    raise ValueError(f"the directories of {one.name} and {other.name} lie in each other")
        return self


class Config(_Section):
    """Everything that an operator decides."""

    platform: PlatformConfig
    repository: Annotated[tuple[RepositoryConfig, ...], Field(min_length=1)]


def load(path: Path) -> Config:
    """Given the path of a configuration file, return what it says; relative paths are resolved against its directory.

    Raises: ConfigInvalid naming every key that is wrong.
    """
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigInvalid(f"there is no configuration at {path}", hint="see: syncd clone --help") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigInvalid(f"{path} cannot be read: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigInvalid(f"{path}: {error}") from error
    return _resolved(parse(raw, at=path), path)


def parse(raw: Mapping[str, Any], *, at: Path) -> Config:
    """Given parsed TOML, return the configuration.

    Raises: ConfigInvalid with one line a mistake: `key.path - what is wrong`.
    """
    try:
        return Config.model_validate(raw)
    except ValidationError as error:
        lines = [f"{'.'.join(map(str, e['loc'])) or 'file'} - {e['msg']}" for e in error.errors()]
        raise ConfigInvalid(f"{at}: " + "; ".join(lines), hint="every key: config.example.toml") from None


def find(environ: Mapping[str, str], *, given: Path | None, start: Path) -> Path:
    """Given the ways to name a configuration, return the first that applies.

    Shape: `--config`, `$SYNCD_CONFIG`, `.git/syncd.toml` of the repository around `start`, `syncd.toml` committed at
    its top, the user's, the system's.
    Raises: ConfigInvalid when none exists.
    """
    if given is not None:
        return given
    if named := environ.get("SYNCD_CONFIG"):
        return Path(named)
    user = Path(environ.get("XDG_CONFIG_HOME") or Path(environ.get("HOME", "/")) / ".config") / "syncd" / "config.toml"
    for candidate in (inside(start), committed(start), user, Path("/etc/syncd/config.toml")):
        if candidate is not None and candidate.is_file():
            return candidate
    raise ConfigInvalid(
        "there is no configuration here",
        hint="run syncd inside a repository made by syncd clone or bound by syncd init, or name --config FILE",
    )


def committed(start: Path) -> Path | None:
    """Given a directory, return where a configuration at the top of the work tree around it would be."""
    top = next((directory for directory in (start, *start.parents) if (directory / ".git").exists()), None)
    return top / "syncd.toml" if top is not None else None


def inside(start: Path) -> Path | None:
    """Given a directory, return where the configuration of the repository around it is, or None outside of one."""
    for directory in (start, *start.parents):
        git = directory / ".git"
        if git.is_dir():
            return git / "syncd.toml"
        if (directory / "HEAD").is_file() and (directory / "objects").is_dir():  # bare
            return directory / "syncd.toml"
        if git.is_file():  # a linked worktree: `gitdir: <path>`; its repository is two levels up from worktrees/<name>
            pointed = Path(git.read_text(encoding="utf-8").removeprefix("gitdir:").strip())
            linked = pointed if pointed.is_absolute() else directory / pointed
            return (linked.parent.parent if linked.parent.name == "worktrees" else linked) / "syncd.toml"
    return None


def token(config: PlatformConfig, environ: Mapping[str, str]) -> SecretStr:
    """Given the configuration, return the token: `token_file`, else $SYNCD_TOKEN, else systemd's credential `token`.

    Raises: ConfigInvalid when there is none, or when others may read the file.
    """
    credential = Path(environ["CREDENTIALS_DIRECTORY"]) / "token" if "CREDENTIALS_DIRECTORY" in environ else None
    if config.token_file is None and environ.get("SYNCD_TOKEN"):
        return SecretStr(environ["SYNCD_TOKEN"].strip())
    path = config.token_file or credential
    if path is None:
        raise ConfigInvalid("there is no token", hint="set platform.token_file, or the variable SYNCD_TOKEN")
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigInvalid(f"the token file {path} cannot be read: {error}") from error
    if path != credential and mode & _OTHERS:
        raise ConfigInvalid(f"others may read the token file {path}", hint=f"chmod 600 {path}")
    if not re.fullmatch(r"[\x21-\x7e]+", text):
        raise ConfigInvalid(f"the token file {path} does not hold one token on one line")
    return SecretStr(text)


def check_private(path: Path, key: str, environ: Mapping[str, str]) -> None:
    """Given a file that holds a secret, make sure that it can be read, and by its owner only, unless systemd gave it.

    Raises: ConfigInvalid.
    """
    try:
        mode = path.stat().st_mode
        with path.open("rb"):
            pass
    except OSError as error:
        raise ConfigInvalid(f"the {key} {path} cannot be read: {error.strerror}") from error
    handed = Path(environ["CREDENTIALS_DIRECTORY"]) if "CREDENTIALS_DIRECTORY" in environ else None
    if mode & _OTHERS and (handed is None or path.parent != handed):
        raise ConfigInvalid(f"others may read the {key} {path}", hint=f"chmod 600 {path}")


def _resolved(config: Config, path: Path) -> Config:
    home = path.parent
    root = home.parent if home.name == ".git" else home
    platform = config.platform
    if platform.token_file is not None:
        platform = platform.model_copy(update={"token_file": root / platform.token_file.expanduser()})
    repositories = tuple(
        repository.model_copy(
            update={
                "path": (root / repository.path.expanduser()).resolve(),
                "upstream": _beside(repository.upstream, root),
            }
        )
        for repository in config.repository
    )
    return config.model_copy(update={"platform": platform, "repository": repositories})


def _beside(upstream: UpstreamConfig | None, root: Path) -> UpstreamConfig | None:
    if upstream is None:
        return None
    files = {name: getattr(upstream, name) for name in ("token_file", "ssh_key_file", "known_hosts_file")}
    return upstream.model_copy(
        update={name: root / path.expanduser() for name, path in files.items() if path is not None}
    )
