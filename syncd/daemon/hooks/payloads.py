"""What a webhook names: addresses of a Git repository and a branch of it, or a space of the platform; nothing else is
read of it.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from syncd.net.signatures import Sender

_EVENTS: Mapping[Sender, tuple[str, frozenset[str]]] = {
    "github": ("x-github-event", frozenset({"push"})),
    "gitea": ("x-gitea-event", frozenset({"push"})),
    "gitlab": ("x-gitlab-event", frozenset({"Push Hook", "System Hook"})),
}
"""The header that names the event, and the events that can mean work."""
_SPACE_EVENTS = frozenset({"space_content_updated"})
_ADDRESSES = (
    "clone_url",
    "git_http_url",
    "ssh_url",
    "git_ssh_url",
    "git_url",
    "html_url",
    "web_url",
    "url",
    "homepage",
)
_ADDRESSES_MAX, _CHARACTERS_MAX = 16, 2048
_HEADS = "refs/heads/"
_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class WebhookSubject:
    """What a webhook names. Shape: `addresses` are of one Git repository, `branch` is one of it; `space` is an id."""

    addresses: tuple[str, ...] = ()
    branch: str = ""
    space: str = ""


def read_payload(sender: Sender, headers: Mapping[str, str], body: bytes) -> WebhookSubject | None:
    """Return what a webhook names, or None when it is about nothing that a run could look at.

    Shape: the names of `headers` are in lower case. Raises: ValueError when the body makes no sense.
    """
    document = _parse_body(headers.get("content-type", ""), body)
    if sender == "platform":
        space = document.get("spaceId")
        is_meant = document.get("type") in _SPACE_EVENTS and isinstance(space, str)
        return WebhookSubject(space=str(space)[:_CHARACTERS_MAX]) if is_meant else None
    header, events = _EVENTS[sender]
    ref = document.get("ref")
    is_push = headers.get(header, "") in events and document.get("object_kind", "push") == "push"
    if not is_push or not isinstance(ref, str) or not ref.startswith(_HEADS):
        return None
    addresses = list(dict.fromkeys(_list_addresses(document)))[:_ADDRESSES_MAX]
    return WebhookSubject(tuple(addresses), ref.removeprefix(_HEADS)[:_CHARACTERS_MAX]) if addresses else None


def _parse_body(content_type: str, body: bytes) -> Mapping[str, Any]:
    text = body.decode("utf-8")
    if content_type.partition(";")[0].strip().lower() == _FORM:
        # GitHub sends a form unless it is told otherwise.
        text = parse_qs(text, max_num_fields=8).get("payload", [""])[0]
    try:
        document = json.loads(text)
    except RecursionError:
        raise ValueError("it lies too deep in itself") from None
    if not isinstance(document, dict):
        raise ValueError("it is no object")
    return document


def _list_addresses(document: Mapping[str, Any]) -> Iterator[str]:
    places = [document.get(name) for name in ("repository", "project")]
    for place in (place for place in places if isinstance(place, Mapping)):
        for key in _ADDRESSES:
            value = place.get(key)
            if isinstance(value, str) and 0 < len(value) <= _CHARACTERS_MAX:
                yield value
