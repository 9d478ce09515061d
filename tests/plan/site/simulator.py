"""A platform without a server: takes the steps of a plan, one request each, and refuses what the API refuses."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from syncd.layout.site.read.customization import overlay_leaves
from syncd.layout.site.read.declared import SiteFile
from syncd.layout.site.read.visitors import build_schema, list_claims
from syncd.layout.tree.paths import slugify
from syncd.model.customization_override import amend_override, apply_override
from syncd.model.redirect import make_source_key
from syncd.model.ref import ROOT, Ref
from syncd.plan.site.compose import plan_site
from syncd.plan.site.live_state import ExistingItem, InFlightRequest, LiveSite, LockEntry, SiteLock, replace_refs
from syncd.plan.site.lockfile.in_flight import is_noted
from syncd.plan.site.match.first_sections import take_first_part
from syncd.plan.site.steps import SitePlan, Step


class Refused(AssertionError):
    """The platform would have answered with an error."""


@dataclass
class Thing:
    kind: str
    id: str
    parent: str
    fields: dict[str, Any]
    default: str = ""
    """For a section: the variant that somebody chose."""


class Simulator:
    """A site with its lock; `run` does one step on both, as an executor would."""

    def __init__(self, live: LiveSite, lock: SiteLock, file: SiteFile) -> None:
        self.given, self.file = live, file
        self.site = dict(live.site)
        self.things = {
            thing.id: Thing(thing.kind, thing.id, thing.parent, dict(thing.fields)) for thing in live.items.values()
        }
        self.orders = {id: list(children) for id, children in live.orders.items()}
        self.default_section = self.default_space = ""
        for thing in self.things.values():
            if thing.fields.pop("default", False):
                self._choose(thing)
        self.claims = list_claims(live.schema or {})
        self.has_schema = live.schema is not None
        self.customization = copy.deepcopy(dict(live.customization))
        self.own: dict[str, dict[str, Any]] = {}
        self.lock = lock
        self.brought: dict[str, str] = {}
        self.count = 0

    def live(self) -> LiveSite:
        """Return the site as a reader would read it."""
        things = {
            thing.id: ExistingItem(thing.kind, thing.id, self._shown(thing), thing.parent)  # type: ignore[arg-type]
            for thing in self.things.values()
        }
        overrides = {id: self._effective(id) for id, thing in self.things.items() if thing.kind == "variant"}
        return replace(
            self.given,
            site=dict(self.site),
            items=things,
            orders={id: tuple(children) for id, children in self.orders.items() if children},
            schema=build_schema(self.claims) if self.has_schema else None,
            customization=copy.deepcopy(self.customization),
            overrides=overrides,
        )

    def run(self, step: Step) -> None:
        """Do one step. Raises: Refused."""
        self.begin(step)
        body = self._resolved(step.body)
        id = "" if step.call.endswith(".create") else self._resolved(step.id)
        made = ""
        if step.call not in ("adopt", "forget"):
            made = getattr(self, step.call.replace(".", "_"))(id, body, step) or ""
        self._keep(step, made or id)

    def run_all(self, plan: SitePlan) -> None:
        """Do every step of a plan; where it expects a section, with those of a new plan once that is there."""
        for step in take_first_part(plan).steps:
            self.run(step)
        if plan.expects:
            self.run_all(plan_site(self.file, self.live(), self.lock))

    def begin(self, step: Step) -> None:
        """Write down what an executor writes down before it sends a step."""
        if is_noted(step):
            id = "" if step.call.endswith(".create") else self._resolved(step.id)
            begun = InFlightRequest(step.call, id, self._resolved(step.body))
            self.lock = replace(self.lock, in_flight={**self.lock.in_flight, step.ref: begun})

    def _keep(self, step: Step, id: str) -> None:
        begun = self.lock.in_flight.get(step.ref)
        if begun is not None and (step.call not in ("adopt", "forget") or begun.call.endswith((".create", ".delete"))):
            left = {ref: one for ref, one in self.lock.in_flight.items() if ref != step.ref}
            self.lock = replace(self.lock, in_flight=left)
        items = dict(self.lock.items)
        if step.drops:
            items.pop(step.ref, None)
        else:
            items[step.ref] = LockEntry(id, step.by, {})
        self.lock = replace(self.lock, items=items)
        if step.call == "section.create":
            self._register_brought(step.ref, id)
        if not step.drops:
            items = dict(self.lock.items)
            items[step.ref] = LockEntry(id, step.by, self._resolved(step.applied))
            self.lock = replace(self.lock, items=items)

    def _register_brought(self, section: str, id: str) -> None:
        self.brought[section] = self.orders[id][0]

    def _resolved(self, value: Any) -> Any:
        return replace_refs(value, self._id_of)

    def _id_of(self, ref: Ref) -> str:
        entry = self.lock.items.get(ref)
        if entry is not None and entry.id in (*self.things, self.file.site):
            return entry.id
        return self.brought.pop(self.file.items[ref].parent)

    # --- the API ---------------------------------------------------------------------------------------------------

    def site_update(self, id: str, body: dict[str, Any], step: Step) -> None:
        names = {
            "title": "title",
            "visibility": "visibility",
            "basename": "basename",
            "agentsContext": "agents_context",
        }
        for name, value in body.items():
            if name == "adaptiveContent":
                self.site["adaptive_content"] = value["enabled"]
            elif name == "defaultSiteSection":
                self._get(value, "section")
                self.default_section = value
            elif name == "defaultSiteSpace":
                if self._get(value, "variant").parent != ROOT:
                    raise Refused("no such site-space at the root")
                self.default_space = value
            else:
                self.site[names[name]] = value

    def schema_put(self, id: str, body: dict[str, Any], step: Step) -> None:
        self.has_schema = True
        for name, schema in body.items():
            if schema is None:
                self.claims.pop(name)
            else:
                self.claims[name] = schema

    def group_create(self, id: str, body: dict[str, Any], step: Step) -> str:
        if body.get("parent"):
            self._get(body["parent"], "group")
        fields = {"title": body["title"], "icon": body.get("icon")}
        return self._add("group", body.get("parent", ROOT), fields)

    def group_update(self, id: str, body: dict[str, Any], step: Step) -> None:
        group = self._get(id, "group")
        if "parentSectionGroupId" in body:
            parent = body.pop("parentSectionGroupId") or ROOT
            above = parent
            while above:
                if above == id:
                    raise Refused("a group cannot be within itself")
                above = self._get(above, "group").parent
            self._reparent(group, parent)
        group.fields |= body

    def group_add(self, id: str, body: dict[str, Any], step: Step) -> None:
        self._get(id, "group")
        self._reparent(self._get(body["section"], "section"), id)

    def group_delete(self, id: str, body: dict[str, Any], step: Step) -> None:
        group = self._get(id, "group")
        if self.orders.get(id):
            raise Refused("nobody knows what becomes of what a deleted group holds")
        self.orders[group.parent].remove(id)
        self.orders.pop(id, None)
        del self.things[id]

    def section_create(self, id: str, body: dict[str, Any], step: Step) -> str:
        self._wrap_root()
        fields = {"title": body.get("title"), "icon": body.get("icon"), "description": None, "condition": None}
        made = self._add("section", ROOT, fields | {"path": self._free_path(str(body.get("title")), "section", ROOT)})
        self._variant(made, body["spaceId"])
        return made

    def _wrap_root(self) -> None:
        """Put the site-spaces at the root into a section of their own, as it is done with the first section."""
        root = [id for id in self.orders.get(ROOT, ()) if self.things[id].kind == "variant"]
        if not root:
            return
        default = next(id for id in root if self._shown(self.things[id])["default"])
        title = str(self.things[default].fields["space"])
        fields = {"title": title, "icon": None, "description": None, "condition": None}
        made = self._add("section", ROOT, fields | {"path": self._free_path(title, "section", ROOT)})
        for id in root:
            self._reparent(self.things[id], made)
        self.things[made].default = default

    def section_update(self, id: str, body: dict[str, Any], step: Step) -> None:
        section = self._get(id, "section")
        if "siteSectionGroupId" in body:
            if not self.given.abilities.reparent:
                raise Refused("beyond the document")
            self._reparent(section, body.pop("siteSectionGroupId") or ROOT)
        if "defaultSiteSpace" in body:
            chosen = body.pop("defaultSiteSpace")
            if self._get(chosen, "variant").parent != id:
                raise Refused("no such site-space in this section")
            section.default = chosen
        self._path(section, body)
        section.fields |= body

    def section_delete(self, id: str, body: dict[str, Any], step: Step) -> None:
        section = self._get(id, "section")
        if self._shown(section)["default"] and sum(thing.kind == "section" for thing in self.things.values()) > 1:
            raise Refused("the default section")
        self.orders[section.parent].remove(id)
        for child in self.orders.pop(id, []):
            del self.things[child]
        del self.things[id]

    def section_move(self, id: str, body: dict[str, Any], step: Step) -> None:
        self._move(id, body, {"section"})

    def variant_create(self, id: str, body: dict[str, Any], step: Step) -> str:
        section = body.get("sectionId", ROOT)
        if section:
            self._get(section, "section")
        elif any(thing.kind == "section" for thing in self.things.values()):
            raise Refused("it would go to the default section")
        return self._variant(section, body["spaceId"])

    def variant_update(self, id: str, body: dict[str, Any], step: Step) -> None:
        variant = self._get(id, "variant")
        if "spaceId" in body:
            variant.fields["space"] = body.pop("spaceId")
        self._path(variant, body)
        variant.fields |= body

    def variant_delete(self, id: str, body: dict[str, Any], step: Step) -> None:
        variant = self._get(id, "variant")
        if len(self.orders[variant.parent]) == 1:
            raise Refused("the last variant")
        if self._shown(variant)["default"]:
            raise Refused("the default variant")
        self.orders[variant.parent].remove(id)
        del self.things[id]

    def variant_move(self, id: str, body: dict[str, Any], step: Step) -> None:
        self._move(id, body, {"variant"})

    def structure_sort(self, id: str, body: dict[str, Any], step: Step) -> None:
        if not self.given.abilities.sort:
            raise Refused("beyond the document")
        self._move(id, body, {"variant"} if self.things[id].kind == "variant" else {"section", "group"})

    def redirect_create(self, id: str, body: dict[str, Any], step: Step) -> str:
        self._source(body["source"], "")
        self._target(body["destination"])
        made = self._id("redirect")
        self.things[made] = Thing("redirect", made, ROOT, dict(body))
        return made

    def redirect_update(self, id: str, body: dict[str, Any], step: Step) -> None:
        redirect = self._get(id, "redirect")
        if "source" in body:
            self._source(body["source"], id)
        if "destination" in body:
            self._target(body["destination"])
        redirect.fields |= body

    def redirect_delete(self, id: str, body: dict[str, Any], step: Step) -> None:
        self._get(id, "redirect")
        del self.things[id]

    def customization_put(self, id: str, body: dict[str, Any], step: Step) -> None:
        self.customization = overlay_leaves(self.customization, body)

    def override_patch(self, id: str, body: dict[str, Any], step: Step) -> None:
        self._get(id, "variant")
        self.own[id] = amend_override(self.own.get(id, {}), body)

    def override_delete(self, id: str, body: dict[str, Any], step: Step) -> None:
        self.own.pop(id, None)

    # --- the rules -------------------------------------------------------------------------------------------------

    def _get(self, id: str, kind: str) -> Thing:
        thing = self.things.get(id)
        if thing is None or thing.kind != kind:
            raise Refused(f"no {kind} {id}")
        return thing

    def _id(self, kind: str) -> str:
        used = self.things.keys() | {entry.id for entry in self.lock.items.values()}
        while True:
            self.count += 1
            if (made := f"new{self.count}_{len(self.things)}_{kind}") not in used:
                return made

    def _add(self, kind: str, parent: str, fields: dict[str, Any]) -> str:
        made = self._id(kind)
        self.things[made] = Thing(kind, made, parent, fields)
        self.orders.setdefault(parent, []).append(made)
        return made

    def _variant(self, section: str, space: str) -> str:
        fields = {
            "space": space,
            "path": self._free_path(space, "variant", section),
            "condition": None,
            "hidden": False,
        }
        return self._add("variant", section, fields)

    def _beside(self, kind: str, parent: str) -> list[Thing]:
        return [one for one in self.things.values() if one.kind == kind and (kind == "section" or one.parent == parent)]

    def _free_path(self, title: str, kind: str, parent: str) -> str:
        taken = {str(one.fields["path"]).casefold() for one in self._beside(kind, parent)}
        slug, number = slugify(title), 1
        path = slug
        while path.casefold() in taken:
            number += 1
            path = f"{slug}-{number}"
        return path

    def _path(self, thing: Thing, body: dict[str, Any]) -> None:
        if "path" not in body:
            return
        for other in self._beside(thing.kind, thing.parent):
            if other is not thing and str(other.fields["path"]).casefold() == body["path"].casefold():
                raise Refused(f"path {body['path']} is taken by {other.id}")

    def _reparent(self, thing: Thing, parent: str) -> None:
        self.orders[thing.parent].remove(thing.id)
        thing.parent = parent
        self.orders.setdefault(parent, []).append(thing.id)

    def _move(self, id: str, body: dict[str, Any], kinds: set[str]) -> None:
        thing = self.things[id]
        ((side, anchor),) = body.items()
        if (
            thing.kind not in kinds
            or self.things[anchor].kind not in kinds
            or self.things[anchor].parent != thing.parent
        ):
            raise Refused("position: no sibling")
        before = list(self.orders[thing.parent])
        order = [one for one in before if one != id]
        order.insert(order.index(anchor) + (side == "after"), id)
        if order == before:
            raise Refused("a move that changes nothing")
        self.orders[thing.parent] = order

    def _source(self, source: str, besides: str) -> None:
        for thing in self.things.values():
            is_other = thing.kind == "redirect" and thing.id != besides
            if is_other and make_source_key(thing.fields["source"]) == make_source_key(source):
                raise Refused(f"redirect {thing.id} has this source")

    def _target(self, destination: Mapping[str, Any]) -> None:
        if "siteSectionId" in destination:
            self._get(destination["siteSectionId"], "section")
        if "siteSpaceId" in destination:
            self._get(destination["siteSpaceId"], "variant")

    def _choose(self, thing: Thing) -> None:
        if thing.kind == "section":
            self.default_section = thing.id
        elif thing.parent == ROOT:
            self.default_space = thing.id
        else:
            self.things[thing.parent].default = thing.id

    def _shown(self, thing: Thing) -> dict[str, Any]:
        if thing.kind not in ("section", "variant"):
            return dict(thing.fields)
        return {**thing.fields, "default": thing.id == self._default(thing)}

    def _default(self, thing: Thing) -> str:
        if thing.kind == "section":
            chosen, first = self.default_section, next(iter(self._sections()), "")
        else:
            above = self.things.get(thing.parent)
            chosen = self.default_space if above is None else above.default
            first = self.orders[thing.parent][0]
            if chosen in self.things and self.things[chosen].parent != thing.parent:
                chosen = ""
        return chosen if chosen in self.things else first

    def _sections(self) -> list[str]:
        found: list[str] = []
        left = list(reversed(self.orders.get(ROOT, [])))
        while left:
            id = left.pop()
            if self.things[id].kind == "section":
                found.append(id)
            elif self.things[id].kind == "group":
                left += reversed(self.orders.get(id, []))
        return found

    def _effective(self, id: str) -> dict[str, Any]:
        return apply_override(
            {name: value for name, value in self.customization.items() if name != "title"}, self.own.get(id, {})
        )
