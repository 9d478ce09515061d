"""Secrets of webhooks and of notifications: by reference only, from a file, a variable or a credential of systemd."""

import re
from collections.abc import Mapping
from pathlib import Path

from pydantic import SecretStr

from syncd.config.shapes import NotificationTargetConfig, WebhookSourceConfig
from syncd.config.tokens import find_credential, read_private_text
from syncd.errors import ConfigInvalid

SECRETS_MAX = 8
"""Secrets of one sender: the present one, and those that are being replaced."""
CHARACTERS_MIN = 16
"""Of a secret; a shorter one could be guessed by whoever has one signed request."""
_SECRET = re.compile(r"[\x21-\x7e]{1,512}")
_NEW = "make one with: openssl rand -hex 32"


def load_webhook_secrets(source: WebhookSourceConfig, environ: Mapping[str, str]) -> tuple[SecretStr, ...]:
    """Return the secrets of a sender of webhooks: `secret_file`, else $SYNCD_WEBHOOK_SECRET_NAME, else systemd's
    credential `webhook-NAME`.

    Shape: separated by white space, so that a new one and the former one count together. Raises: ConfigInvalid.
    """
    key = f"webhooks.source {source.name}"
    text = _find_text(source.secret_file, f"webhook-{source.name}", f"secret_file of {key}", environ)
    if text is None:
        hint = f"name a secret_file, or set {name_variable(f'webhook-{source.name}')}; {_NEW}"
        raise ConfigInvalid(f"{key} has no secret, and nobody could tell its webhooks from others", hint=hint)
    return _read_secrets(text, key)


def load_notification_secret(target: NotificationTargetConfig, environ: Mapping[str, str]) -> SecretStr | None:
    """Return the secret that signs notifications to a receiver, from places of the same kind, or None without any.

    Raises: ConfigInvalid.
    """
    key = f"notifications.target {target.name}"
    text = _find_text(target.secret_file, f"notify-{target.name}", f"secret_file of {key}", environ)
    return _read_secrets(text, key)[0] if text is not None else None


def load_notification_address(target: NotificationTargetConfig, environ: Mapping[str, str]) -> str:
    """Return the address of a receiver, from `url` or `url_file`. Raises: ConfigInvalid."""
    if target.url_file is None:
        return target.url or ""
    key = f"url_file of notifications.target {target.name}"
    address = read_private_text(target.url_file, key, environ).strip()
    if not re.fullmatch(r"https?://[\x21-\x7e]{1,2000}", address):
        raise ConfigInvalid(f"the {key} {target.url_file} does not hold one address on one line")
    return address


def find_fleet_database(environ: Mapping[str, str]) -> str:
    """Return the URL of a fleet's database: systemd's credential `fleet-database`, or "".

    Raises: ConfigInvalid when it cannot be read.
    """
    found = find_credential("fleet-database", environ)
    return read_private_text(found, "fleet-database", environ).strip() if found is not None else ""


def name_variable(credential: str) -> str:
    """Return the variable that holds the same as a credential: `webhook-a.b` is SYNCD_WEBHOOK_SECRET_A_B."""
    kind, _, name = credential.partition("-")
    return f"SYNCD_{kind}_SECRET_{re.sub('[^A-Za-z0-9]', '_', name)}".upper()


def _find_text(file: Path | None, credential: str, key: str, environ: Mapping[str, str]) -> str | None:
    if file is not None:
        return read_private_text(file, key, environ)
    if given := environ.get(name_variable(credential)):
        return given
    found = find_credential(credential, environ)
    return read_private_text(found, key, environ) if found is not None else None


def _read_secrets(text: str, key: str) -> tuple[SecretStr, ...]:
    words = text.split()
    if not 1 <= len(words) <= SECRETS_MAX or not all(_SECRET.fullmatch(word) for word in words):
        raise ConfigInvalid(f"{key} needs one secret on each line, and at most {SECRETS_MAX}", hint=_NEW)
    if any(len(word) < CHARACTERS_MIN for word in words):
        raise ConfigInvalid(f"{key} has a secret of fewer than {CHARACTERS_MIN} characters", hint=_NEW)
    return tuple(SecretStr(word) for word in words)
