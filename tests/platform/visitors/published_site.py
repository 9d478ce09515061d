"""A published site for tests: two sections, variants, a redirect, and whatever visibility a test asks for."""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy, deepcopy
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import jwt

from syncd.platform.app import create_app
from syncd.platform.services.directory.read import import_directory
from syncd.platform.storage.storage import Storage
from tests.contract.in_process import InProcess
from tests.contract.world import Target, World
from tests.storages import new_storage

CLAIM = "visitor.claims.isStaff == true"
SCHEMA = {
    "type": "object",
    "properties": {
        "isStaff": {"type": "boolean", "description": "Works here"},
        "unsigned": {
            "type": "object",
            "properties": {"isBeta": {"type": "boolean", "description": "In the beta"}},
            "additionalProperties": False,
        },
    },
    "additionalProperties": False,
}


def page(title: str, text: str = "", **members: Any) -> dict[str, Any]:
    """Given a title and a text, return the operation that writes a page."""
    markdown = f"# {title}\n\n{text or f'Words of {title}.'}\n"
    return {"operation": "insert_page", "title": title, "document": {"markdown": markdown}, **members}


@dataclass
class PublishedSiteMaker:
    """A site with the sections Guides (default; variants `v2`, the default, and `v1`) and Internal, for staff only."""

    world: World
    visibility: str = "public"
    guides: str = field(init=False)
    old: str = field(init=False)
    internal: str = field(init=False)
    site: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        world = self.world
        self.guides = world.space("Guides", changes=[page("Welcome"), page("Setup", "Do [this](README.md).")])["id"]
        self.old = world.space("Guides 1", changes=[page("Welcome", "Older words.")])["id"]
        self.internal = world.space("Internal", changes=[page("Secrets", "The vault is behind the clock.")])["id"]
        made = world.site(title="Docs", visibility=self.visibility)
        self.path = {"siteId": made["id"]}
        world.made("updateSiteById", self.path, body={"adaptiveContent": {"enabled": True}})
        world.made("updateSiteAdaptiveSchema", self.path, body={"jsonSchema": SCHEMA})
        sections = [self._add_section(self.guides, "Guides", None), self._add_section(self.internal, "Internal", CLAIM)]
        self.sections = [one["id"] for one in sections]
        added = {"spaceId": self.old, "sectionId": self.sections[0]}
        self.variant = world.made("addSpaceToSite", self.path, body=added)["id"]
        world.made("updateSiteSpaceById", self.path | {"siteSpaceId": self.variant}, body={"path": "v1"})
        world.made("publishSite", self.path)
        self.site = world.made("getSiteById", self.path)
        self.base = f"/sites/{self.site['basename']}"

    def _add_section(self, space: str, title: str, condition: str | None) -> dict[str, Any]:
        made: dict[str, Any] = self.world.made("addSectionToSite", self.path, body={"spaceId": space, "title": title})
        changed = {"condition": condition} if condition else {"path": title.lower()}
        at = self.path | {"siteSectionId": made["id"]}
        return dict(self.world.made("updateSiteSectionById", at, body=changed))

    @property
    def origin(self) -> str:
        """The scheme and host of the platform."""
        return str(self.site["urls"]["location"]).partition("/v1/")[0]

    def sign(self, **claims: Any) -> str:
        """Given claims, return a visitor's token as the site's owner makes it."""
        key = self.world.made("getSitePublishingAuthById", self.path)["privateKey"]
        return jwt.encode(claims, key, algorithm="HS256")

    def import_space(self, directory: Path, texts: Mapping[str, str]) -> str:
        """Given texts by path and a directory for them, return a new space with these, which Guides shows as well."""
        for name, text in texts.items():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_text(text)
        space = import_directory(self.world.storage, directory, organization=self.world.organization).space
        self.world.made("addSpaceToSite", self.path, body={"spaceId": space, "sectionId": self.sections[0]})
        return space

    def add_share_link(self) -> str:
        """Return the key of a new share link."""
        made = self.world.made("createSiteShareLink", self.path, body={"name": "For friends"})
        return str(made["urls"]["published"]).rstrip("/").rpartition("/")[2]

    def look_up(self, path: str = "/", *, redirect_on_error: bool = False, **visitor: Any) -> httpx.Response:
        """Given a path below the site, return what `POST /urls/published` answers."""
        body: dict[str, Any] = {"url": f"{self.origin}{self.base}{path}", "visitor": visitor}
        body |= {"redirectOnError": True} if redirect_on_error else {}
        return self.world.call("resolvePublishedContentByUrl", body=body)


def leave_as_made(made: PublishedSiteMaker) -> None:
    """Add nothing to a new site."""


@contextmanager
def open_published_site(
    data: Path, complete: Callable[[PublishedSiteMaker], object] = leave_as_made
) -> Iterator[PublishedSiteMaker]:
    """Given a directory that is not there, open a platform of its own with a public site; `complete` adds to the site.

    The site is made once in a process for each `complete`, by some fifty requests; each test gets a copy.
    """
    template = _build_template(complete)
    shutil.copytree(template.data, data)
    with Storage(data) as storage, _open_target(storage) as target:
        world = copy(template.made.world)
        world.target, world.storage = target, storage
        yield deepcopy(template.made, {id(template.made.world): world})


class _Template:
    """A platform with a site that no test uses."""

    def __init__(self, complete: Callable[[PublishedSiteMaker], object]) -> None:
        self._directory = TemporaryDirectory(prefix="syncd-published-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT"))
        self.data = Path(self._directory.name, "platform")
        with new_storage(self.data) as storage, _open_target(storage) as target:
            self.made = PublishedSiteMaker(target.world())
            complete(self.made)


@cache
def _build_template(complete: Callable[[PublishedSiteMaker], object]) -> _Template:
    return _Template(complete)


@contextmanager
def _open_target(storage: Storage) -> Iterator[Target]:
    app = create_app(storage)
    with httpx.Client(base_url="http://platform", transport=InProcess(app)) as client:
        yield Target(storage, app, client)
