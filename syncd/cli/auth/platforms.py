"""Which platform an `auth` command is about: the one that is named, else the one that is configured."""

import os
from pathlib import Path

import typer

from syncd.api.transport.addresses import parse_base_url
from syncd.cli.terminal.context import find_config_file, load_config_file
from syncd.config import PlatformConfig, is_same_address
from syncd.config.finding import find_own_platform, find_platform
from syncd.errors import ConfigInvalid, NotARepository, NotTrusted

PUBLIC_PLATFORM = "https://api.gitbook.com"
APPLICATION = "https://app.gitbook.com"
"""Where people find the public platform; any other platform has one address for people and programs."""


def find_configured_platform(config_file: Path | None) -> PlatformConfig | None:
    """Return the platform that counts in the current directory, or None.

    Shape: it is that of the configuration, else `$SYNCD_URL`, else that of the user's own file. A file of a repository
    that is not trusted names none. Raises: ConfigInvalid.
    """
    try:
        file = find_config_file(config_file)
    except NotARepository:
        file = None
    if file is not None:
        try:
            return load_config_file(file).platform
        except NotTrusted:
            if config_file is not None:
                raise
    url = os.environ.get("SYNCD_URL", "")
    if not url and find_own_platform(os.environ) is None:
        return None
    return PlatformConfig.model_validate(find_platform(os.environ, url, at=Path.cwd()))


def build_named_platform(url: str, config_file: Path | None, *, insecure: bool = False) -> PlatformConfig:
    """Return the platform of an address, with the configuration's other keys where it is the configured one.

    Raises: BadParameter for what is no address; it is not repeated, since it may be a token. ConfigInvalid.
    """
    if "://" not in url:
        raise typer.BadParameter(
            f"this is no address of a platform, such as {PUBLIC_PLATFORM}; "
            "a token is never given on the command line, where everybody on this machine can read it"
        )
    try:
        configured = find_configured_platform(config_file)
    except ConfigInvalid:
        if config_file is not None:
            raise
        configured = None
    if configured is not None and is_same_address(configured.url, url):
        return configured.model_copy(update={"insecure": configured.insecure or insecure})
    parse_base_url(url, insecure=insecure)
    return PlatformConfig(url=url, insecure=insecure)
