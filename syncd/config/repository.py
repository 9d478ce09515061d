"""What a configuration says of one repository: its spaces, its site, its change requests and its upstream."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, field_validator, model_validator

from syncd.config.names import (
    INSTANCE,
    NAME,
    NAME_OR_NOTHING,
    ONE_WORD,
    ONE_WORD_OR_NOTHING,
    SPACE_ID,
    clean_directory,
    find_tracking_pattern,
    is_branch,
    is_branch_or_pattern,
    is_own_branch,
    is_pattern,
    lie_in_each_other,
)

INTERVAL_SECONDS = 60.0
"""Between two polls of one repository: one cheap request a space."""
SITE_SECONDS = 300.0
"""Between two looks at a site whose file has not changed: a dozen requests, and one for a thousand redirects."""

Seconds = Annotated[float, Field(strict=True, ge=1, le=86400)]
"""A time between two runs; a text that spells a number is none, as in the schema."""


class ConfigTable(BaseModel):
    """A table of the configuration; a key that it does not have is a mistake."""

    # A length is said by `max_length`: a pattern that counts to thousands takes longer to build than all the rest.
    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid", validate_default=True)


class SpaceConfig(ConfigTable):
    """One space and the directory that mirrors it; `name` stands for it in refs and output."""

    id: Annotated[str, Field(pattern=SPACE_ID)]
    """The id of the space on the platform."""
    directory: str = "."
    """Directory of the repository that mirrors the space; "." is the root."""
    name: Annotated[str, Field(pattern=NAME)] = "space"
    """Stands for the space in refs and in output."""

    @field_validator("directory")
    @classmethod
    def _stays_inside(cls, value: str) -> str:
        return clean_directory(value)


class SitePublishConfig(ConfigTable):
    """Where `sync` and `run` put the static site that they build of the first branch: a directory, or a branch."""

    directory: Path | None = None
    """The directory that readers are served from; it becomes a link to the newest build."""
    branch: Annotated[str, Field(max_length=200)] = ""
    """The branch of the upstream that the site is pushed to, such as gh-pages."""
    base_url: Annotated[str, Field(max_length=2000)] = ""
    """The address that readers find the site at, for its sitemap and canonical links."""
    index: StrictBool = True
    """Whether search engines may list the site."""
    public: StrictBool = False
    """Whether a site for visitors who sign in, or have a link, is built for everybody all the same."""

    @model_validator(mode="after")
    def _has_one_target(self) -> "SitePublishConfig":
        if self.branch and not is_branch(self.branch):
            raise ValueError(f"{self.branch[:80]!r} is no branch")
        if (self.directory is None) == (not self.branch):
            raise ValueError("takes a directory or a branch: one of both")
        return self


class SiteConfig(ConfigTable):
    """The site file on the first tracked branch; the meaning of each key is in `sync/site/options.py`."""

    file: str = "site.yaml"
    """The site file, as a path in the repository."""
    apply: StrictBool = True
    """Whether `sync` and `run` carry out its plan."""
    every: Seconds = SITE_SECONDS
    """Seconds between two looks of the service at the site while the file stays the same."""
    lock: Literal["repo", "state"] = "repo"
    """Where the lock is kept: committed beside the site file, or in this machine's state."""
    ordering: Literal["auto", "move", "sort", "off"] = "auto"
    """How sections and variants get their order: by the server's sort, by moves, or not at all."""
    redirect_kinds: tuple[Literal["site-section", "site-space", "site-page", "external", "path"], ...] = ()
    """Kinds of redirect destinations that the server takes although none of its redirects shows it."""
    publish: SitePublishConfig | None = None
    """Where the static site goes that is built after each run that moved the first branch."""

    @field_validator("file")
    @classmethod
    def _names_a_file(cls, value: str) -> str:
        parts = value.split("/")
        if value.startswith("/") or any(part in ("", ".", "..") or part.casefold() == ".git" for part in parts):
            raise ValueError("must be the path of a file in the repository, such as site.yaml or docs/site.yaml")
        return value


class ChangeRequestsConfig(ConfigTable):
    """What a team decided about its change requests; the meaning of each is in `sync/policy.py`."""

    status: Literal["open", "draft"] = "open"
    """What a new change request becomes when its content is complete."""
    reviewers: Annotated[tuple[Annotated[str, Field(pattern=ONE_WORD, max_length=254)], ...], Field(max_length=50)] = ()
    """Whom to ask for a review: e-mail addresses or ids of users."""
    update: Literal["auto", "never"] = "auto"
    """Whether main content is pulled into an outdated change request that merges without a conflict."""
    merge: Literal["manual", "auto"] = "manual"
    """Who merges: people on the platform, or syncd."""
    deleted_branch: Literal["archive", "keep"] = "archive"
    """What becomes of the change request of a branch that was deleted."""


class UpstreamConfig(ConfigTable):
    """The Git remote that the tracked branches come from and go to; credentials are named by their files."""

    remote: Annotated[str, Field(pattern=NAME)] = "origin"
    """Name of the remote in Git."""
    url: str | None = None
    """Its address, without a credential in it; else the one that Git has for it."""
    push: Literal["branch", "side", "never"] = "branch"
    """Where commits go."""
    side: str = "syncd/{branch}"
    """The side branch, for branches that take no push; with {branch} in it."""
    mirror: Annotated[str, Field(max_length=100)] = "syncd/platform"
    """The branch that main content of the platform goes to, for plain Git to merge; "" for none."""
    username: Annotated[str, Field(pattern=ONE_WORD_OR_NOTHING, max_length=254)] = ""
    """Whom the token belongs to, where the host asks."""
    token_file: Path | None = None
    """File with the token for https, readable by its owner only."""
    ssh_key_file: Path | None = None
    """File with the key for ssh, readable by its owner only."""
    known_hosts_file: Path | None = None
    """File with the keys of hosts that ssh may speak to."""
    import_url: str | None = None
    """Its address for the platform, which imports from there; else `url`."""
    import_token_file: Path | None = None
    """File with the token that the platform gets for that, readable by its owner only."""

    @property
    def mirror_branches(self) -> tuple[str, ...]:
        """The branches that main content goes to, and change requests with conflicts below one of their own."""
        return (self.mirror, f"{self.mirror}-changes") if self.mirror else ()

    @field_validator("side")
    @classmethod
    def _names_a_branch(cls, value: str) -> str:
        plain = value.replace("{branch}", "b")
        if "{branch}" not in value or value == "{branch}" or set("{}") & set(plain) or not is_branch(plain):
            raise ValueError("must be a branch's name with {branch} in it")
        return value

    @field_validator("mirror")
    @classmethod
    def _names_a_branch_of_syncd(cls, value: str) -> str:
        if value and not is_own_branch(value):
            raise ValueError('must be "", or the name of a branch that begins with syncd/, such as syncd/platform')
        return value


class RepositoryConfig(ConfigTable):
    """One Git repository, the spaces that it mirrors and the site that it declares: at least one of them."""

    path: Path = Path()
    """The repository; else the directory at which relative paths start."""
    name: Annotated[str, Field(pattern=NAME_OR_NOTHING)] = ""
    """Stands for the repository in metrics and in messages; else the name of its directory."""
    remote: Annotated[str, Field(pattern=NAME)] = "platform"
    """Name under which the platform appears in Git."""
    branches: Annotated[tuple[str, ...], Field(min_length=1)] = ("main",)
    """Tracked branches, by name or by pattern such as docs/*."""
    instance: Annotated[str, Field(pattern=INSTANCE)] = "000000"
    """Six hexadecimal digits that tell this repository's change requests from those of another."""
    interval: Seconds = INTERVAL_SECONDS
    """Seconds between two runs of the service."""
    propose: StrictBool = True
    """Whether `sync` and `run` open and update change requests."""
    write: Literal["auto", "content", "git-import", "comments"] = "auto"
    """How a branch reaches the platform: as content of a change request, in its comments, or as main content."""
    space: tuple[SpaceConfig, ...] = ()
    """The spaces that it mirrors."""
    site: SiteConfig | None = None
    """The site that follows a file in it."""
    upstream: UpstreamConfig | None = None
    """The Git remote that its branches come from and go to."""
    change_requests: ChangeRequestsConfig = Field(default_factory=lambda: ChangeRequestsConfig())
    """The policies for change requests."""

    @property
    def branch_names(self) -> tuple[str, ...]:
        """The tracked branches that are listed by name."""
        return tuple(branch for branch in self.branches if not is_pattern(branch))

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns of tracked branches."""
        return tuple(branch for branch in self.branches if is_pattern(branch))

    @property
    def _written_branches(self) -> list[str]:
        """The branches that commits go to: those listed by name, and the side branch of each at the upstream."""
        sides = (
            [self.upstream.side.replace("{branch}", branch) for branch in self.branch_names] if self.upstream else []
        )
        return [*self.branch_names, *sides]

    @field_validator("branches")
    @classmethod
    def _are_branches(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for branch in value:
            if not is_branch_or_pattern(branch):
                raise ValueError(f"{branch[:80]!r} is no branch and no pattern for branches")
        return value

    @model_validator(mode="after")
    def _is_about_something(self) -> "RepositoryConfig":
        if not self.space and self.site is None:
            raise ValueError("names neither a space nor a site, so there is nothing to keep in step")
        return self

    @model_validator(mode="after")
    def _site_has_a_branch(self) -> "RepositoryConfig":
        if self.site is not None and not self.branch_names:
            raise ValueError("the site file needs a branch that is called by its name, not by a pattern")
        return self

    @model_validator(mode="after")
    def _two_remotes(self) -> "RepositoryConfig":
        if self.upstream is not None and self.upstream.remote == self.remote:
            raise ValueError(f"the platform and the upstream cannot both be the remote {self.remote}")
        return self

    @model_validator(mode="after")
    def _import_has_a_source(self) -> "RepositoryConfig":
        is_pushed = self.upstream is not None and self.upstream.push == "branch"
        if self.write == "git-import" and not (is_pushed and self.branch_names):
            why = 'needs [repository.upstream] with push = "branch", and a branch that is called by its name'
            raise ValueError(f'write = "git-import" {why}')
        return self

    @model_validator(mode="after")
    def _mirror_is_no_other_branch(self) -> "RepositoryConfig":
        upstream = self.upstream
        if upstream is None or not upstream.mirror or upstream.push == "never":
            return self
        for branch in self._written_branches:
            if any(lie_in_each_other(branch, name) for name in upstream.mirror_branches):
                raise ValueError(f"upstream.mirror = {upstream.mirror} and the branch {branch} are in each other's way")
        if pattern := find_tracking_pattern(self.patterns, (upstream.mirror, f"{upstream.mirror}-changes/space/1")):
            raise ValueError(f"the pattern {pattern} would track {upstream.mirror}, which is upstream.mirror")
        return self

    @model_validator(mode="after")
    def _site_goes_to_no_other_branch(self) -> "RepositoryConfig":
        name = self.site.publish.branch if self.site is not None and self.site.publish is not None else ""
        if not name:
            return self
        if self.upstream is None or self.upstream.push == "never":
            raise ValueError(f"site.publish.branch = {name} needs a [repository.upstream] that takes pushes")
        for other in (*self._written_branches, *self.upstream.mirror_branches):
            if lie_in_each_other(other, name):
                raise ValueError(f"site.publish.branch = {name} and the branch {other} are in each other's way")
        if pattern := find_tracking_pattern(self.patterns, (name,)):
            raise ValueError(f"the pattern {pattern} would track {name}, which is site.publish.branch")
        return self

    @model_validator(mode="after")
    def _apart(self) -> "RepositoryConfig":
        for index, one in enumerate(self.space):
            for other in self.space[index + 1 :]:
                if one.id == other.id:
                    raise ValueError(f"the space {one.id} is there twice; it has one directory")
                if one.name == other.name:
                    raise ValueError(f"two spaces are named {one.name}")
                if lie_in_each_other(one.directory, other.directory):
                    raise ValueError(f"the directories of {one.name} and {other.name} lie in each other")
        return self
