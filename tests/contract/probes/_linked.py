"""Content with pages, files and links, for the probes of what reads it."""

import base64
import tempfile
from pathlib import Path
from typing import Any

from syncd.platform.services.directory.read import import_directory
from tests.contract.world import World

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + (3).to_bytes(4) + (2).to_bytes(4) + b"\x08\x06\x00\x00\x00"
NOTES = 3
"""Pages that refer to the home page and to the file."""


def changes() -> list[dict[str, Any]]:
    """Return operations for a home page and three notes, which refer to it, to a file, and to nothing that is there."""
    file = {"name": "logo.png", "base64": base64.b64encode(PNG).decode(), "contentType": "image/png", "ref": "logo"}
    more = [
        file | {"name": f"more-{number}.txt", "contentType": "text/plain", "ref": f"m{number}"} for number in (1, 2)
    ]
    home = "# Home\n\nWelcome to the harbour.\n\n## Boats\n\nThere are many.\n"
    note = "# Note {number}\n\n[Home](../pages/README.md) ![Logo](./logo) [gone](gone-{number}.md) [out](https://example.org)\n"
    return [
        {"operation": "insert_files", "files": [file, *more]},
        {"operation": "insert_page", "title": "Home", "document": {"markdown": home}},
        *(
            {
                "operation": "insert_page",
                "title": f"Note {number}",
                "document": {"markdown": note.format(number=number).replace("../pages/README.md", "README.md")},
            }
            for number in range(NOTES)
        ),
    ]


def main(world: World) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the path parameters of a space with that content, and its revision."""
    path = {"spaceId": world.space("Harbour", changes=changes())["id"]}
    return path, world.made("getCurrentRevision", path)


def proposed(world: World) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the path parameters of a change request with that content, and its revision."""
    path = {"spaceId": world.space("Harbour")["id"]}
    path["changeRequestId"] = world.change_request(path["spaceId"], changes=changes())["id"]
    return path, world.made("getRevisionOfChangeRequestById", path)


def page(revision: dict[str, Any], title: str) -> str:
    """Given a revision and a title, return the id of the page."""
    return next(str(page["id"]) for page in reversed(revision["pages"]) if page["title"] == title)


def logo(revision: dict[str, Any]) -> str:
    """Given a revision, return the id of the image that every note shows."""
    return next(str(file["id"]) for file in revision["files"] if file["name"] == "logo.png")


def imported(world: World) -> dict[str, str]:
    """Return the path parameters of a space with a reusable content, which only an import can bring."""
    with tempfile.TemporaryDirectory() as place:
        for name, text in (("README.md", "# Home\n"), (".gitbook/includes/note.md", "Mind the gap.\n")):
            file = Path(place, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        space = import_directory(world.storage, Path(place), organization=world.organization).space
    reusable = world.made("getCurrentRevision", {"spaceId": space})["reusableContents"][0]
    return {"spaceId": space, "reusableContentId": str(reusable["id"])}
