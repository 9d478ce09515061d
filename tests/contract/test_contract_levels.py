"""What somebody may do with a space or collection follows from the level there, whatever the organization's role is.

Each operation on one is asked for by callers whose level there is just too weak, for each reason that there is for a
level; nothing changes. A guest who has the role that the operation declares, on that one space, is let in.
"""

from typing import Any

import pytest

from syncd.platform.app import OPERATIONS
from syncd.platform.people.auth import ROLES, read_needed_role
from syncd.platform.schema.collections import collections
from syncd.platform.schema.content import spaces
from syncd.platform.schema.people import permissions
from tests.contract.probe import PROBES, collect
from tests.contract.test_contract import send
from tests.contract.world import World

pytestmark = pytest.mark.long

collect()

KINDS = {"{space_id}": ("spaceId", spaces), "{collection_id}": ("collectionId", collections)}
MORE = {
    "createChangeRequest": "its template is another space, closed to the guest",
    "duplicateSpace": "the copy is put beside the space, where only members may create",
    "moveCollection": "the collection is moved to where the guest may not create",
    "moveSpace": "the space is moved to where the guest may not create",
    "transferCollection": "it is taken from an organization that the guest does not administrate",
    "transferSpace": "it is taken from an organization that the guest does not administrate",
    "submitChangeRequestReview": "who is not asked for a review needs the role review",
    **{
        f"{verb}Comment{what}In{place}": "it is somebody else's"
        for verb in ("update", "delete")
        for what in ("", "Reply")
        for place in ("Space", "ChangeRequest")
    },
}
"""Operations that ask for more than a level on the one space or collection, and why."""
ELSEWHERE = "/integrations/"
"""Below this, a space is only a place where an installation is."""


def kind_of(path: str) -> tuple[str, Any] | None:
    """Given an operation's path, return what says on which space or collection it acts, or None."""
    found = [KINDS[part] for part in path.split("/") if part in KINDS]
    return found[0] if found and ELSEWHERE not in path else None


@pytest.mark.parametrize("target", ["in-process"], indirect=True)
@pytest.mark.parametrize("operation", [id for id in sorted(PROBES) if kind_of(OPERATIONS[id].path)])
def test_the_level_decides(world: World, operation: str) -> None:
    route = world.target.routes[operation]
    kind = kind_of(route.path)
    assert kind
    ask, (name, table) = PROBES[operation](world), kind
    content, needed = ask.path[name], read_needed_role(route.openapi_extra)
    weaker, copies = ROLES[: ROLES.index(needed)], operation == "duplicateSpace"
    member, guest = world.person("create"), world.person(None)

    def refused(who: tuple[str, str], why: str) -> None:
        before = world.storage.version()
        answer = send(world, route, ask, by=who[1])
        assert answer.status_code == 403, f"{why}: {answer.status_code} {answer.text[:500]}"
        assert world.storage.version() == before, why

    # Who may create in the organization may copy what is open to be read.
    for everybody in (None, *(() if copies else weaker)):
        let(world, table, content, everybody=everybody)
        refused(member, f"a member, where everybody has {everybody}")
    let(world, table, content, everybody="admin")
    refused(guest, "a guest, where everybody is an administrator")
    for role in () if copies else weaker[-1:]:
        let(world, table, content, everybody="admin", own={member[0]: role, guest[0]: role})
        refused(member, f"a member who has {role} of their own")
        refused(guest, f"a guest who has {role}")
    let(world, table, content, everybody=None, own={guest[0]: needed})
    answer = send(world, route, ask, by=guest[1])
    assert answer.status_code == ask.status or operation in MORE, f"{answer.status_code} {answer.text[:500]}"


def let(world: World, table: Any, content: str, *, everybody: str | None, own: dict[str, str] | None = None) -> None:
    """Give everybody and some people levels on a space or collection, in place of those that they had."""
    given = {"content": content, "kind": "user", "created_at": "2026-01-01T00:00:00.000Z"}
    with world.storage.write() as connection:
        connection.execute(table.update().where(table.c.id == content).values(default_level=everybody))
        connection.execute(permissions.delete().where(permissions.c.content == content))
        for user, role in (own or {}).items():
            connection.execute(permissions.insert().values(**given, subject=user, role=role))
