"""The configuration: its shapes, where it is found, who may decide what, and the secrets that it names."""

from syncd.config.drop_ins import DropIn, check_paths, name_drop_in, read_drop_in_stamp
from syncd.config.finding import find_config, load_config, load_repositories, load_with_drop_ins, trust_document
from syncd.config.reading import load, make_document, parse
from syncd.config.repository import (
    ChangeRequestsConfig,
    RepositoryConfig,
    SiteConfig,
    SpaceConfig,
    UpstreamConfig,
)
from syncd.config.secrets import load_notification_address, load_notification_secret, load_webhook_secrets
from syncd.config.shapes import (
    Config,
    NotificationsConfig,
    NotificationTargetConfig,
    PlatformConfig,
    WebhooksConfig,
    WebhookSourceConfig,
)
from syncd.config.tokens import check_private, is_credential, load_token, make_token_renewal, read_token
from syncd.config.trust import ConfigFile, is_same_address

__all__ = [
    "ChangeRequestsConfig",
    "Config",
    "ConfigFile",
    "DropIn",
    "NotificationTargetConfig",
    "NotificationsConfig",
    "PlatformConfig",
    "RepositoryConfig",
    "SiteConfig",
    "SpaceConfig",
    "UpstreamConfig",
    "WebhookSourceConfig",
    "WebhooksConfig",
    "check_paths",
    "check_private",
    "find_config",
    "is_credential",
    "is_same_address",
    "load",
    "load_config",
    "load_notification_address",
    "load_notification_secret",
    "load_repositories",
    "load_token",
    "load_webhook_secrets",
    "load_with_drop_ins",
    "make_document",
    "make_token_renewal",
    "name_drop_in",
    "parse",
    "read_drop_in_stamp",
    "read_token",
    "trust_document",
]
