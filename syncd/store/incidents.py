"""What needs a person and was told, and what is still to be told, in a small file for each repository: a restart tells
nothing twice, and forgets nothing.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from syncd.store.small_files import write_small_file

FORMAT = 1
"""Of the file; one that says another number is not read."""


@dataclass(frozen=True)
class Incident:
    """Something that began and has not ended: what one flow came to.

    Shape: `event` is conflict, held or failed, or waiting for what may still end by itself. `since` is ISO 8601,
    `address` where people see it on the platform, or "".
    """

    flow: str
    key: str
    event: str
    why: str
    hint: str = ""
    since: str = ""
    address: str = ""


@dataclass(frozen=True)
class Notification:
    """One message to one receiver, until it has arrived.

    Shape: `title` and each of `lines` are one line of text; `id` tells a receiver that it came before. `at` is ISO
    8601.
    """

    id: str
    target: str
    event: str
    repository: str
    title: str
    lines: tuple[str, ...]
    at: str


@dataclass(frozen=True)
class SeenRequest:
    """An own change request as people were last told of it.

    Shape: `space` is the space's id; `reviews` has a sentence for the latest review of each reviewer.
    """

    space: str
    number: str
    subject: str
    address: str
    is_outdated: bool
    reviews: tuple[str, ...]


@dataclass(frozen=True)
class IncidentRecord:
    """The incidents of one repository that are open, and the notifications of it that have not arrived.

    Shape: `requests` are its own change requests; None while nobody wants to hear of them.
    """

    incidents: tuple[Incident, ...] = ()
    pending: tuple[Notification, ...] = field(default=())
    requests: tuple[SeenRequest, ...] | None = None


def read_incidents(file: Path) -> IncidentRecord:
    """Return the record in a file; one that is absent, damaged or cannot be read holds nothing."""
    try:
        document = json.loads(file.read_bytes())
        return parse_incidents(document) if document["format"] == FORMAT else IncidentRecord()
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return IncidentRecord()


def parse_incidents(document: Any) -> IncidentRecord:
    """Return the record of a JSON document; one that is damaged holds nothing.

    Shape: members that a newer syncd added are passed over, here and in each notification.
    """
    try:
        incidents = tuple(Incident(**_check_texts(_choose_fields(Incident, each))) for each in document["incidents"])
        pending = tuple(parse_notification(each) for each in document["pending"])
        return IncidentRecord(incidents, pending, _parse_requests(document.get("requests")))
    except (ValueError, LookupError, TypeError, AttributeError):
        return IncidentRecord()


def parse_notification(document: Mapping[str, Any]) -> Notification:
    """Return the notification of a JSON document. Raises: ValueError, LookupError, TypeError."""
    texts = _check_texts({**_choose_fields(Notification, document), "lines": ""})
    return Notification(**texts | {"lines": _check_lines(document["lines"])})


def write_incidents(file: Path, record: IncidentRecord) -> None:
    """Write a record to its file. Raises: DiskFull, StoreError."""
    write_small_file(file, json.dumps({"format": FORMAT, **asdict(record)}, indent=1))


def _parse_requests(documents: Any) -> tuple[SeenRequest, ...] | None:
    if documents is None:
        return None
    return tuple(map(_parse_request, documents))


def _parse_request(document: Any) -> SeenRequest:
    texts = _choose_fields(SeenRequest, document)
    del texts["is_outdated"], texts["reviews"]
    is_outdated = document["is_outdated"]
    if not isinstance(is_outdated, bool):
        raise ValueError("whether it is outdated is true or false")
    return SeenRequest(**_check_texts(texts), is_outdated=is_outdated, reviews=_check_lines(document["reviews"]))


def _choose_fields(kind: type, document: Any) -> dict[str, Any]:
    """The members of an object that a class has."""
    names = {one.name for one in fields(kind)}
    return {name: value for name, value in document.items() if name in names}


def _check_texts(fields: dict[str, Any]) -> dict[str, Any]:
    if not all(isinstance(value, str) for value in fields.values()):
        raise ValueError("every field is a text")
    return fields


def _check_lines(lines: Any) -> tuple[str, ...]:
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise ValueError("lines are texts")
    return tuple(lines)
