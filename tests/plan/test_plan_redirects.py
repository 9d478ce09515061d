"""A redirect plan converges, repeats nothing, and deletes only what is syncd's."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncd.errors import BecameEmpty
from syncd.layout.site_file import source_key
from syncd.model.redirect import SiteRedirect
from syncd.plan.change import Plan
from syncd.plan.redirects import DesiredRedirect, RedirectPolicy, plan_redirects

sources = st.from_regex(r"/[a-zA-Z]{1,2}", fullmatch=True)
destinations = st.sampled_from([{"kind": "site-section", "siteSectionId": name} for name in "ab"])
tables = st.dictionaries(sources.map(source_key), st.tuples(sources, destinations), max_size=8)


def desired_of(table: Mapping[str, tuple[str, Mapping[str, Any]]]) -> list[DesiredRedirect]:
    return [DesiredRedirect(key, to, f"site.yaml:{n}:1") for n, (key, (_, to)) in enumerate(table.items(), start=1)]


def existing_of(table: Mapping[str, tuple[str, Mapping[str, Any]]]) -> list[SiteRedirect]:
    return [SiteRedirect(id=f"id{key}", source=key, destination=dict(to)) for key, (_, to) in table.items()]


def carried_out(
    plan: Plan, existing: list[SiteRedirect], owned: Mapping[str, str]
) -> tuple[list[SiteRedirect], dict[str, str]]:
    there = {redirect.id: redirect for redirect in existing}
    mine = dict(owned)
    for change in plan.changes:
        key = source_key(change.key)
        match change.verb:
            case "create":
                made = SiteRedirect(id=f"new{key}", **change.after)
                there[made.id], mine[key] = made, made.id
            case "update":
                there[change.before["id"]] = SiteRedirect(id=change.before["id"], **change.after)
                mine[key] = change.before["id"]
            case "adopt":
                mine[key] = change.before["id"]
            case "delete":
                del there[change.before["id"]]
                mine.pop(key, None)
    return list(there.values()), mine


@given(tables, tables, st.sets(sources.map(source_key)))
def test_a_plan_carried_out_leaves_nothing_to_do(desired: Any, existing: Any, owned_keys: set[str]) -> None:
    owned = {key: f"id{key}" for key in owned_keys & existing.keys()}
    policy = RedirectPolicy(allow_empty=True)
    plan = plan_redirects(desired_of(desired), existing_of(existing), owned, policy=policy)
    after, mine = carried_out(plan, existing_of(existing), owned)
    assert not plan_redirects(desired_of(desired), after, mine, policy=policy)
    for redirect in desired_of(desired):
        assert any(there.source == redirect.source and there.destination == redirect.destination for there in after)


@given(tables, tables)
def test_nothing_that_is_not_in_the_lock_is_deleted(desired: Any, existing: Any) -> None:
    plan = plan_redirects(desired_of(desired), existing_of(existing), {}, policy=RedirectPolicy())
    assert not plan.only("delete")


@given(tables, tables, st.randoms())
def test_the_order_of_the_input_does_not_matter(desired: Any, existing: Any, random: Any) -> None:
    wanted, there = desired_of(desired), existing_of(existing)
    policy = RedirectPolicy(prune="all", allow_empty=True)
    digest = plan_redirects(wanted, there, {}, policy=policy).digest()
    random.shuffle(wanted)
    random.shuffle(there)
    assert plan_redirects(wanted, there, {}, policy=policy).digest() == digest


def test_an_empty_declaration_is_no_order_to_delete_everything() -> None:
    existing = [SiteRedirect(id="1", source="/a", destination={"kind": "external", "url": "https://example.org"})]
    with pytest.raises(BecameEmpty):
        plan_redirects([], existing, {"/a": "1"}, policy=RedirectPolicy())


def test_members_of_a_destination_that_are_not_declared_stay() -> None:
    there = SiteRedirect(id="1", source="/a", destination={"kind": "site-section", "siteSectionId": "s", "future": 1})
    wanted = DesiredRedirect("/a", {"kind": "site-section", "siteSectionId": "s"}, "site.yaml:1:1")
    assert not plan_redirects([wanted], [there], {"/a": "1"}, policy=RedirectPolicy())
