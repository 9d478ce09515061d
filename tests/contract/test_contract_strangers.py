"""What belongs to others is not found: in an operation's path, query and body, by administrators of an organization.

Each operation is asked for in a world of its own, with ids of a second world in place of its own ones: each alone and
all together. Every such request is refused or finds nothing, and the database is afterwards what it was before.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute

from tests.contract.probe import ABSENT, PROBES, Ask, collect
from tests.contract.world import World

pytestmark = pytest.mark.long

collect()

OWNER = "organizationId"
HARMLESS = {
    # A name that nobody has is anybody's to take; what is taken is tried in `test_platform_attack`.
    ("publishIntegration", "integrationName"),
    # Each of many redirects is refused on its own, within an answer that is a success.
    ("bulkUpsertSiteRedirects", "siteSpaceId"),
    # Who is not in the team is not removed from it either.
    ("updateMembersInOrganizationTeam", "remove"),
    # A rule may name whom it likes: it gives nobody a way in.
    ("updateOrganizationById", "users"),
}
"""Operations, with the parameter or member in which something strange does no harm."""
_ID = re.compile(r"[A-Za-z0-9]{20}")

Place = tuple[str | int, ...]
Asked = tuple[Mapping[str, str], Mapping[str, Any], Any]
"""The path, the query and the body of a request."""
Pair = tuple[World, Ask, World, Ask]

_alike: dict[frozenset[str], Pair] = {}
"""Two worlds for all operations that only have a path, by the names in it: no request changes anything there."""


@pytest.mark.parametrize("target", ["in-process"], indirect=True)
@pytest.mark.parametrize("operation", sorted(PROBES))
def test_nothing_of_others_is_found(world: World, operation: str) -> None:
    route = world.target.routes[operation]
    mine, ask, others, theirs = pair(world, route)
    if ask.outsider is None:
        return
    owned = {OWNER} if "{organization_id}" in str(route.path_format) else set()
    here, there = (
        {name: {OWNER: of.organization, **asked.path}[name] for name in owned | asked.path.keys()}
        for of, asked in ((mine, ask), (others, theirs))
    )
    for where, (path, query, body) in mixed((here, ask.query, ask.body), (there, theirs.query, theirs.body)):
        if (operation, where) in HARMLESS:
            continue
        before = mine.storage.version()
        answer = mine.call(operation, path, query=query, body=None if body is ABSENT else body)
        assert refused(route, answer), f"with another {where}: {answer.status_code} {answer.text[:500]}"
        assert mine.storage.version() == before, f"with another {where}, something was changed"


def pair(world: World, route: APIRoute) -> Pair:
    """Given a world and an operation, return two worlds in which the operation would succeed."""
    names = frozenset(re.findall(r"{(\w+)", str(route.path_format)))
    known = _alike.get(names) if _methods(route) <= {"GET", "DELETE"} else None
    if known is not None:
        return known
    others = world.target.world()
    made = (world, PROBES[route.unique_id](world), others, PROBES[route.unique_id](others))
    if _methods(route) <= {"GET", "DELETE"} and not made[1].query:
        _alike[names] = made
    return made


def _methods(route: APIRoute) -> set[str]:
    return set(route.methods or ())


def refused(route: APIRoute, answer: httpx.Response) -> bool:
    """Given an operation and its answer, return whether nothing was found."""
    if answer.status_code == 204:
        return "DELETE" in _methods(route)
    if answer.status_code == 200:
        return "GET" in _methods(route) and answer.json().get("items") == []
    return 400 <= answer.status_code < 500


def mixed(mine: Asked, theirs: Asked) -> Iterator[tuple[str, Asked]]:
    """Given two requests that would succeed, return those of the first with ids of the second, and say where."""
    path, query, body = mine
    strange = [name for name in path if path[name] != theirs[0][name]]
    for names in [*([name] for name in strange), strange[1:], strange]:
        if names:
            yield " ".join(names), ({**path, **{name: theirs[0][name] for name in names}}, query, body)
    for place in places(query, theirs[1]):
        yield named(place), (path, replaced(query, theirs[1], place), body)
    for place in places(body, theirs[2]):
        yield named(place), (path, query, replaced(body, theirs[2], place))


def places(mine: Any, theirs: Any, at: Place = ()) -> Iterator[Place]:
    """Given two values of one shape, return the places where both have ids, and not the same ones."""
    if isinstance(mine, Mapping) and isinstance(theirs, Mapping):
        for name in sorted(mine.keys() & theirs.keys()):
            yield from places(mine[name], theirs[name], (*at, name))
    elif isinstance(mine, list | tuple) and isinstance(theirs, list | tuple):
        for number in range(min(len(mine), len(theirs))):
            yield from places(mine[number], theirs[number], (*at, number))
    elif isinstance(mine, str) and isinstance(theirs, str) and mine != theirs and _ID.fullmatch(mine):
        yield at


def replaced(mine: Any, theirs: Any, place: Place) -> Any:
    """Given two values of one shape, return the first with what the second has at a place."""
    if not place:
        return theirs
    name, rest = place[0], place[1:]
    inner = replaced(mine[name], theirs[name], rest)
    if isinstance(mine, Mapping):
        return {**mine, name: inner}
    return [inner if number == name else each for number, each in enumerate(mine)]


def named(place: Place) -> str:
    """Given a place, return the name of the innermost member that it is in."""
    return next(str(part) for part in reversed(place) if isinstance(part, str))
