"""The shapes of the configuration: the platform, the repositories, webhooks and notifications."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StrictBool, field_validator, model_validator

from syncd.config.names import COMMAND_WORD, HTTP_ADDRESS, NAME
from syncd.config.repository import ConfigTable, RepositoryConfig, Seconds

WEBHOOK_SECONDS = 10.0
"""Between two runs of one repository that webhooks ask for."""


class PlatformConfig(ConfigTable):
    """Where the platform is and what identifies the caller there."""

    url: str
    """Address of the API."""
    token_file: Path | None = None
    """File with the token, readable by its owner only."""
    token_command: (
        Annotated[
            tuple[Annotated[str, Field(pattern=COMMAND_WORD, max_length=4096)], ...],
            Field(min_length=1, max_length=64),
        ]
        | None
    ) = None
    """Command that prints the token, word by word, run without a shell; instead of token_file."""
    insecure: StrictBool = False
    """Whether plain http to another host is allowed."""

    @field_validator("token_command")
    @classmethod
    def _begins_with_a_program(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if value and "/" in value[0] and not value[0].startswith(("/", "~/")):
            raise ValueError("must begin with a program of PATH, or with its path from the root or from ~/")
        return value

    @model_validator(mode="after")
    def _has_one_source(self) -> "PlatformConfig":
        if self.token_file is not None and self.token_command is not None:
            raise ValueError("token_file and token_command exclude each other")
        return self


class WebhookSourceConfig(ConfigTable):
    """One sender of webhooks; its path is `/hooks/` and its name."""

    name: Annotated[str, Field(pattern=NAME)]
    """Stands for the sender in its path, in metrics and in messages."""
    kind: Literal["github", "gitlab", "gitea", "platform"]
    """How the sender signs, and what its webhooks look like."""
    secret_file: Path | None = None
    """File with its secrets, one on each line, readable by its owner only."""


class WebhooksConfig(ConfigTable):
    """Where the service hears webhooks; each only wakes the repository that it names."""

    listen: Annotated[str, Field(min_length=1, max_length=200)]
    """ADDRESS:PORT that webhooks come to."""
    interval: Seconds = WEBHOOK_SECONDS
    """Seconds between two runs of one repository that webhooks ask for."""
    source: Annotated[tuple[WebhookSourceConfig, ...], Field(min_length=1, max_length=50)]
    """One table for each sender."""

    @model_validator(mode="after")
    def _have_names_of_their_own(self) -> "WebhooksConfig":
        _check_names("sources", [source.name for source in self.source])
        return self


NotifiedEvent = Literal["conflict", "held", "failed", "recovered", "merged", "outdated", "reviewed"]
"""What people are notified of."""
_PROBLEM_EVENTS: tuple[NotifiedEvent, ...] = ("conflict", "held", "failed", "recovered")


class NotificationTargetConfig(ConfigTable):
    """One receiver of notifications: an address that takes what Slack's incoming webhooks take."""

    name: Annotated[str, Field(pattern=NAME)]
    """Stands for the receiver in metrics and in messages."""
    url: Annotated[str, Field(pattern=HTTP_ADDRESS, max_length=2008)] | None = None
    """Its address."""
    url_file: Path | None = None
    """File with its address, where that is a secret, as Slack's is; readable by its owner only."""
    secret_file: Path | None = None
    """File with the secret that signs notifications, readable by its owner only."""
    events: Annotated[tuple[NotifiedEvent, ...], Field(min_length=1)] = _PROBLEM_EVENTS
    """What it wants to hear of."""
    repositories: tuple[str, ...] = ()
    """The repositories that it wants to hear of, by name; none is all."""
    private: StrictBool = False
    """Whether its address may be in a private network, or this machine's."""

    @model_validator(mode="after")
    def _has_one_address(self) -> "NotificationTargetConfig":
        if (self.url is None) == (self.url_file is None):
            raise ValueError("needs url, or url_file, and not both")
        return self


class NotificationsConfig(ConfigTable):
    """Who is notified of what needs a person."""

    desktop: StrictBool = False
    """Whether notifications are shown on the desktop of the service's user."""
    target: Annotated[tuple[NotificationTargetConfig, ...], Field(max_length=50)] = ()
    """One table for each receiver."""

    @model_validator(mode="after")
    def _have_names_of_their_own(self) -> "NotificationsConfig":
        _check_names("targets", ["desktop", *(target.name for target in self.target)])
        return self


def _check_names(what: str, names: list[str]) -> None:
    twice = next((name for name in names if names.count(name) > 1), "")
    if twice:
        raise ValueError(f"two {what} are named {twice}")


class Config(ConfigTable):
    """Everything that an operator decides."""

    platform: PlatformConfig
    """Where the platform is."""
    repository: Annotated[tuple[RepositoryConfig, ...], Field(min_length=1)]
    """One table for each Git repository."""
    webhooks: WebhooksConfig | None = None
    """Where webhooks are heard; nowhere without this table."""
    notifications: NotificationsConfig = Field(default_factory=lambda: NotificationsConfig())
    """Who is notified."""
