"""Plan a site's redirects: desired from the site file, existing from the platform, base from the lock."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from syncd.errors import BecameEmpty
from syncd.layout.site_file import Prune, source_key
from syncd.model.redirect import SiteRedirect
from syncd.plan.change import Change, Plan

NOUN = "redirect"


@dataclass(frozen=True)
class DesiredRedirect:
    """A declared redirect whose destination is resolved to the platform's ids."""

    source: str
    destination: Mapping[str, Any]
    where: str


@dataclass(frozen=True)
class RedirectPolicy:
    """What a plan may take away, and what it must."""

    prune: Prune = "owned"
    allow_empty: bool = False
    absent: Sequence[str] = field(default=())


def plan_redirects(
    desired: Sequence[DesiredRedirect],
    existing: Iterable[SiteRedirect],
    owned: Mapping[str, str],
    *,
    policy: RedirectPolicy,
) -> Plan:
    """Given the three sides, return the plan; `owned` maps the keys of redirects in the lock to their ids.

    Shape: linear in the number of redirects; what is not in the lock is never deleted, except by name or policy.
    Raises: BecameEmpty when nothing is desired while the lock owns some.
    """
    wanted = {source_key(redirect.source): redirect for redirect in desired}
    there = {source_key(redirect.source): redirect for redirect in existing}
    if not wanted and owned.keys() & there.keys() and not policy.allow_empty and policy.prune != "never":
        raise BecameEmpty(
            f"the site file declares no redirects, but {len(owned)} are syncd's",
            hint="set policy.allow_empty: true if that is intended",
        )
    changes = [change for key, redirect in wanted.items() for change in _wanted(key, redirect, there.get(key), owned)]
    changes += _unwanted(wanted, there, owned, policy)
    return Plan.of(changes)


def _wanted(
    key: str, redirect: DesiredRedirect, existing: SiteRedirect | None, owned: Mapping[str, str]
) -> Iterator[Change]:
    after = {"source": redirect.source, "destination": dict(redirect.destination)}
    if existing is None:
        yield Change("create", NOUN, redirect.source, after=after, where=redirect.where)
        return
    before = {"id": existing.id, "source": existing.source, "destination": existing.destination}
    if existing.source != redirect.source or not _leads_to(existing.destination, redirect.destination):
        yield Change("update", NOUN, redirect.source, before=before, after=after, where=redirect.where)
    elif owned.get(key) != existing.id:
        yield Change("adopt", NOUN, redirect.source, "already right", before=before, after=after, where=redirect.where)


def _unwanted(
    wanted: Mapping[str, DesiredRedirect],
    there: Mapping[str, SiteRedirect],
    owned: Mapping[str, str],
    policy: RedirectPolicy,
) -> Iterator[Change]:
    absent = {source_key(source) for source in policy.absent}
    unmanaged = 0
    for key, existing in there.items():
        if key in wanted:
            continue
        before = {"id": existing.id, "source": existing.source, "destination": existing.destination}
        mine = owned.get(key) == existing.id
        if key in absent or policy.prune == "all" or (mine and policy.prune == "owned"):
            why = "declared absent" if key in absent else "no longer declared"
            yield Change("delete", NOUN, existing.source, why, before=before)
        else:
            unmanaged += 1
    if unmanaged:
        yield Change("report", NOUN, "unmanaged", f"{unmanaged} on the platform are not in the site file; left alone")


def _leads_to(existing: Mapping[str, Any], desired: Mapping[str, Any]) -> bool:
    """Whether every declared member of a destination is as declared; unknown members are left alone."""
    return all(existing.get(name) == value for name, value in desired.items())
