"""A published site as all of its visits need it: its structure, its spaces, its looks, and who is let in."""

import hmac
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from syncd.platform.cache import Cache
from syncd.platform.people.auth import Caller, is_role_at_least
from syncd.platform.publish.settings import read_site_settings, read_site_space_settings
from syncd.platform.revisions.outline import Outline
from syncd.platform.schema import site_tables
from syncd.platform.schema.content import revisions, spaces
from syncd.platform.schema.publish import adaptive_schemas, publishing_auth, share_links
from syncd.platform.schema.specs import specs
from syncd.platform.sites.parts import Structure
from syncd.platform.spaces import roles
from syncd.platform.storage.storage import Storage
from syncd.platform.visitors.claims import derive_site_key

_REMEMBERED = 256


CompleteOutline = Callable[[sa.Connection, str, Outline], Outline]
"""Returns a tree of an organization with what is computed in the place of its computed pages."""


@dataclass(frozen=True)
class PublishedSpaceContent:
    """A space that a site shows, at the revision that is its main content; `root` is the hash of its tree."""

    id: str
    title: str
    language: str
    revision: str
    root: bytes
    updated_at: str


@dataclass(frozen=True)
class PublishedSite:
    """What is published, as one transaction sees it.

    Shape: `spaces` is by id; `share_links` has the ids of the active ones by their keys; `settings` are the site's and
    `variant_settings`, by the ids of site-spaces, those of each of them; `schema` describes the visitors, if anything
    does; `key` signs their tokens, and `fallback_url` is where one without a token is sent, "" for nowhere.
    `specifications` is a hash of what pages are computed from, and `complete` puts these in their place.
    """

    structure: Structure
    spaces: Mapping[str, PublishedSpaceContent]
    share_links: Mapping[str, str] = field(repr=False)
    settings: Mapping[str, Any]
    variant_settings: Mapping[str, Mapping[str, Any]]
    schema: Mapping[str, Any] | None
    key: str = field(repr=False)
    fallback_url: str
    specifications: str
    complete: CompleteOutline = field(repr=False, compare=False)

    @property
    def row(self) -> sa.Row[Any]:
        """The row of the site."""
        return self.structure.site

    @cached_property
    def fingerprint(self) -> str:
        """What all pages of the site depend on beside their own text and their reader, as a hash."""
        roots = sorted((space.id, space.root) for space in self.spaces.values())
        return sha256(repr((self.appearance, roots, self.specifications)).encode()).hexdigest()

    @cached_property
    def appearance(self) -> str:
        """What all pages depend on beside content and reader, as a hash: structure, spaces and customizations."""
        structure = self.structure
        rows = [tuple(row) for row in (structure.site, *structure.groups, *structure.sections, *structure.site_spaces)]
        named = sorted((space.id, space.title, space.language) for space in self.spaces.values())
        shown = repr((rows, named, self.settings, self.variant_settings))
        return sha256(shown.encode(errors="surrogatepass")).hexdigest()

    def with_spaces(self, ids: Collection[str]) -> "PublishedSite":
        """Return the site as if it had no other spaces than these."""
        return replace(self, spaces={id: space for id, space in self.spaces.items() if id in ids})

    def find_space(self, site_space: sa.Row[Any]) -> PublishedSpaceContent | None:
        """Return the content of a site-space; None where its space is deleted."""
        return self.spaces.get(site_space.space)


class PublishedSites:
    """The published sites of a platform by their address, remembered until the database changes."""

    def __init__(self, storage: Storage, complete: CompleteOutline) -> None:
        self._storage, self._complete = storage, complete
        self._known: Cache[tuple[int, str], PublishedSite] = Cache(_REMEMBERED)
        self._redirects: Cache[tuple[int, str], str] = Cache(_REMEMBERED)

    def find_site(self, name: str) -> PublishedSite | None:
        """Return the published site with a basename or id; None when there is none, or it is not published."""
        version = self._storage.version()
        known = None if version is None else self._known.get((version, name))
        if known is not None:
            return known
        with self._storage.read() as connection:
            found = self._find_site(connection, name)
        # What was read may be newer than the version, which then is one that nobody asks for again.
        return found if found is None or version is None else self._known.put((version, name), found)

    def _find_site(self, connection: sa.Connection, name: str, *, is_published: bool = True) -> PublishedSite | None:
        return _read_site(connection, self._storage.secret, self._complete, name, is_published=is_published)

    def find_any_site(self, id: str) -> PublishedSite | None:
        """Return the site with an id, published or not: for those who may see it before its visitors do."""
        with self._storage.read() as connection:
            return self._find_site(connection, id, is_published=False)

    def compute_fingerprint(self, site: PublishedSite) -> str:
        """Return what changes with anything that a renderer may keep of a site: its structure, customizations,
        redirects, and the main content of its spaces. It tells nobody which of them.
        """
        said = f"{site.fingerprint} {self._hash_redirects(site.row.id)}"
        return hmac.new(self._storage.secret, said.encode(), "sha256").hexdigest()[:32]

    def _hash_redirects(self, site_id: str) -> str:
        version = self._storage.version()
        known = None if version is None else self._redirects.get((version, site_id))
        if known is not None:
            return known
        table = site_tables.redirects
        query = sa.select(table).where(table.c.site == site_id).order_by(table.c.id)
        with self._storage.read() as connection:
            rows = [tuple(row) for row in connection.execute(query)]
        found = sha256(repr(rows).encode(errors="surrogatepass")).hexdigest()
        return found if version is None else self._redirects.put((version, site_id), found)

    def find_draft_site(self, caller: Caller, id: str) -> PublishedSite | None:
        """Return a site, published or not, with the spaces of it that a member of its organization may read.

        None for a stranger, and when there is none.
        """
        site = self.find_any_site(id)
        if site is None or not is_role_at_least(caller.find_role(site.row.organization), "read"):
            return None
        query = roles.select_spaces(spaces.c.id).where(spaces.c.id.in_(site.spaces), roles.SPACE_READABLE)
        with self._storage.read() as connection:
            readable = {row.id for row in connection.execute(query, {"caller": caller.user_id})}
        return site.with_spaces(readable)


def _read_site(
    connection: sa.Connection, secret: bytes, complete: CompleteOutline, name: str, *, is_published: bool
) -> PublishedSite | None:
    """Read a site by its basename or id; without `is_published` by its id, whether it is published or not."""
    table = site_tables.sites
    query = sa.select(table).where(table.c.id == name)
    if is_published:
        query = sa.select(table).where(sa.or_(table.c.basename == name, table.c.id == name), table.c.published)
    rows = connection.execute(query).all()
    site = next((row for row in rows if row.basename == name), next(iter(rows), None))
    if site is None:
        return None
    groups, sections, site_spaces = (
        tuple(connection.execute(sa.select(part).where(part.c.site == site.id)).all())
        for part in (site_tables.section_groups, site_tables.sections, site_tables.site_spaces)
    )
    auth = connection.execute(sa.select(publishing_auth).where(publishing_auth.c.site == site.id)).one_or_none()
    schema = sa.select(adaptive_schemas.c.json_schema).where(adaptive_schemas.c.site == site.id)
    return PublishedSite(
        Structure.of(site, groups, sections, site_spaces),
        _read_spaces(connection, site),
        _read_share_links(connection, site),
        read_site_settings(connection, site.id),
        read_site_space_settings(connection, site.id),
        connection.scalar(schema),
        derive_site_key(secret, site.id, auth.generation if auth is not None else 0),
        (auth.fallback_url or "") if auth is not None else "",
        _hash_specifications(connection, site.organization),
        complete,
    )


def _hash_specifications(connection: sa.Connection, organization: str) -> str:
    columns = (specs.c.id, specs.c.slug, specs.c.last_content)
    rows = connection.execute(sa.select(*columns).where(specs.c.organization == organization).order_by(specs.c.id))
    return sha256(repr([tuple(row) for row in rows]).encode()).hexdigest()


def _read_spaces(connection: sa.Connection, site: sa.Row[Any]) -> dict[str, PublishedSpaceContent]:
    linked = sa.select(site_tables.site_spaces.c.space).where(site_tables.site_spaces.c.site == site.id)
    query = (
        sa.select(spaces, revisions.c.root)
        .join(revisions, revisions.c.id == spaces.c.revision)
        .where(spaces.c.id.in_(linked), spaces.c.deleted_at.is_(None), spaces.c.organization == site.organization)
    )
    return {
        row.id: PublishedSpaceContent(row.id, row.title, row.language or "", row.revision, row.root, row.updated_at)
        for row in connection.execute(query)
    }


def _read_share_links(connection: sa.Connection, site: sa.Row[Any]) -> dict[str, str]:
    if site.visibility != "share-link":
        return {}
    active = sa.select(share_links.c.key, share_links.c.id)
    rows = connection.execute(active.where(share_links.c.site == site.id, share_links.c.active))
    return {row.key: row.id for row in rows}
