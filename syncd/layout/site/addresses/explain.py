"""Why an address of a site is what it is: each decision on the way to it, with the line that made it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from syncd.layout.site.addresses.addresses import SiteMap, Spot, find_path, fold_address
from syncd.layout.site.addresses.follow import Fate, find_address, follow_address, format_target
from syncd.layout.site.read.declared import Item

_NEAR_MAX = 3


@dataclass(frozen=True)
class Reason:
    """One decision: `kind` is redirect, section, variant, space, page, or hidden for a rule that never answers.

    Shape: `name` is what was chosen, `why` the sentence for people. `where` is the `file:line:column` that says so, or
    "" where no line does.
    """

    kind: str
    name: str
    why: str
    where: str = ""


@dataclass(frozen=True)
class Explanation:
    """What becomes of an address, the decisions in their order, and addresses like it where nothing is there."""

    fate: Fate
    reasons: tuple[Reason, ...]
    near: tuple[str, ...] = ()


def explain_address(site: SiteMap, url: str) -> Explanation:
    """Return why an address of a site leads where it does, by its file and as much of its content as is known."""
    fate = follow_address(site, url)
    reasons = [Reason("redirect", hop.source, f"leads to {hop.to}", hop.where) for hop in fate.hops]
    if fate.spot is not None:
        reasons += _explain_spot(site, fate, fate.spot, url)
    inner = site.inner(url)
    rule = site.rules.get(f"/{inner}") if inner is not None and not fate.hops else None
    if rule is not None:
        to = format_target(rule.fields.get("to"))
        reasons.append(Reason("hidden", str(rule.fields.get("source")), _explain_hidden(to), str(rule.where())))
    others = [address for address in site.addresses() if address != f"/{inner}"]
    near = get_close_matches(f"/{inner}", others, n=_NEAR_MAX) if fate.end == "nothing" else ()
    return Explanation(fate, tuple(reasons), tuple(near))


def _explain_hidden(to: str) -> str:
    return f"a redirect to {to} that never answers: content at its address comes first"


def _explain_spot(site: SiteMap, fate: Fate, spot: Spot, url: str) -> Iterator[Reason]:
    variant = site.file.items[spot.variant]
    section = site.file.items.get(variant.parent)
    target = _find_target(site, fate)
    address = find_address(target) if target else url
    parts = (site.inner(address) or "").split("/") if address else []
    if section is not None:
        is_named = bool(parts) and parts[0] == fold_address(find_path(section))
        parts = parts[1:] if is_named else parts
        yield _explain_choice(section, not address, is_named=is_named, first="it is the first section of the file")
    is_named = bool(parts) and parts[0] == fold_address(find_path(variant))
    yield _explain_choice(
        variant, not address and "section" not in target, is_named=is_named, first="it is the first variant there"
    )
    alias = next((name for name, space in site.file.spaces.items() if space == spot.space), "")
    where = str(site.file.space_places.get(alias, variant.where("space")))
    yield Reason("space", alias or spot.space, f"the variant shows the space {spot.space}", where)


def _find_target(site: SiteMap, fate: Fate) -> Mapping[str, Any]:
    """The declared destination of the last redirect, {} without any."""
    if not fate.hops:
        return {}
    rule = next(item for item in site.rules.values() if str(item.where()) == fate.hops[-1].where)
    return rule.fields.get("to") or {}


def _explain_choice(item: Item, is_target: bool, *, is_named: bool, first: str) -> Reason:
    if is_target:
        why, where = "the redirect leads there", item.where()
    elif is_named:
        why, where = f"the address names its path, {find_path(item)}", item.where("path")
    elif item.fields.get("default"):
        why, where = "no other is named, and it is the default", item.where("default")
    else:
        why, where = f"no other is named, and {first}", item.where()
    if condition := item.fields.get("condition"):
        why += f"; only for visitors with {condition} ({item.where('condition')})"
    if item.fields.get("hidden"):
        why += f"; hidden from menus ({item.where('hidden')})"
    return Reason(item.kind, item.key, why, str(where))
