"""Who can read which space of a site, found out by asking every visitor that there could be."""

from collections.abc import Mapping
from itertools import chain, combinations

from syncd.plan.site.live_state import LiveSite

Visitor = tuple[str, frozenset[str]]
"""How somebody comes to a site, and which conditions hold for them."""
Readers = Mapping[str, frozenset[Visitor]]
"""By the id of a space, everybody who can read it."""

ADMITTED = {
    "public": {"crawler", "stranger", "link", "account"},
    "unlisted": {"stranger", "link", "account"},
    "share-link": {"link"},
    "visitor-auth": {"account"},
}


def find_readers(live: LiveSite, conditions: frozenset[str], *, need_adaptive: bool) -> Readers:
    """Given a site and all conditions that were ever on it, return who can read what.

    Shape: `need_adaptive` says whether conditions keep nobody out while adaptive content is off.
    """
    some = chain.from_iterable(combinations(sorted(conditions), count) for count in range(len(conditions) + 1))
    visitors = [(way, frozenset(held)) for held in some for way in ADMITTED[live.site["visibility"]]]
    counts = not need_adaptive or live.site.get("adaptive_content")
    found: dict[str, frozenset[Visitor]] = {}
    for variant in live.of("variant"):
        section = live.items.get(variant.parent)
        needed = {variant.fields.get("condition"), section.fields.get("condition") if section else None} - {None, ""}
        through = frozenset(one for one in visitors if not counts or needed <= one[1])
        space = variant.fields["space"]
        found[space] = found.get(space, frozenset()) | through
    return found


def find_conditions(*sites: LiveSite) -> frozenset[str]:
    """Given sites, return every condition of their sections and variants."""
    there = (thing.fields.get("condition") for live in sites for thing in live.of("section", "variant"))
    return frozenset(one for one in there if one)


def find_new_readers(
    views: tuple[LiveSite, LiveSite, LiveSite], besides: frozenset[str], *, may_show: bool
) -> set[str]:
    """Given a site before a plan, at one moment, and after it, return the spaces that have readers they had not.

    Shape: `besides` are spaces without content; `may_show` lets spaces that were on no part of the site be read by
    those who can read them in the end. Before a site is published, nobody reads what is new on it.
    """
    before, now, end = views
    conditions = find_conditions(*views)
    found: set[str] = set()
    for need_adaptive in (False, True):
        were, are, will = (find_readers(view, conditions, need_adaptive=need_adaptive) for view in (before, now, end))
        for space in are.keys() - besides:
            is_new = space not in were
            allowed = were.get(space, frozenset()) | (
                will.get(space, frozenset()) if is_new and may_show else frozenset()
            )
            if not are[space] <= allowed and (before.published or not is_new):
                found.add(space)
    return found
