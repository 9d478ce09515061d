"""Requests of which nobody heard what came of them: a run notes some before it sends them, for the plan of the next.

Most of what a dead run did can be seen on the platform. These cannot be told from what people did there, or show
nothing at all: items that are made under a name that others have or a path of the platform's choice, deletions, and
values that were there before.
"""

from collections.abc import Mapping
from typing import Any

from syncd.model.ref import Ref
from syncd.plan.site.call import CREATES, DELETES, Call
from syncd.plan.site.live_state import SiteLock
from syncd.plan.site.steps import Step

CHOICES = frozenset({"defaultSiteSection", "defaultSiteSpace"})
"""Members of a body that say what visitors see first; the platform shows it, and not whether anybody chose it."""
_BLURRED = frozenset({Call.GROUP_CREATE, Call.SECTION_CREATE, Call.VARIANT_CREATE, Call.OVERRIDE_PATCH})


def is_noted(step: Step) -> bool:
    """Return whether a step is recorded before it is sent, since its outcome could not be told without that."""
    return step.call in _BLURRED or step.call in DELETES or not CHOICES.isdisjoint(step.body)


def was_making(lock: SiteLock, ref: Ref) -> bool:
    """Return whether a run was about to create an item when it was killed."""
    begun = lock.in_flight.get(ref)
    return begun is not None and begun.call in CREATES


def was_deleting(lock: SiteLock, ref: Ref) -> bool:
    """Return whether a run was about to delete what the lock has for a ref when it was killed."""
    begun, entry = lock.in_flight.get(ref), lock.items.get(ref)
    return begun is not None and entry is not None and begun.call in DELETES and begun.id == entry.id


def was_sending(lock: SiteLock, ref: Ref, body: Mapping[str, Any]) -> bool:
    """Return whether a run was about to send just this body for an item when it was killed."""
    begun = lock.in_flight.get(ref)
    return begun is not None and begun.body == body
