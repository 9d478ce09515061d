"""What a site file says of visitors: their claims, as fields of the file and as the API's JSON Schema.

A claim is a field `claims.<name>`, or `unsigned.<name>` for one that nobody signed.
Source: API document, SiteAdaptiveSchema; syncd/manual/reference/site-file.md, "visitors".
"""

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from syncd.layout.lint.finding import Finding
from syncd.layout.site.read.declared import Place, SiteFile
from syncd.layout.site.read.rules import report_finding
from syncd.model.adaptive import DRAFT, UNSIGNED, UNSIGNED_DESCRIPTION, find_claims
from syncd.model.condition import ClaimPath, NoCondition, split_condition
from syncd.model.ref import VISITORS
from syncd.model.wording import format_first

SIGNED = "claims"
_CLOSED: Mapping[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
_LISTED = 10


def list_claims(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of each claim in a site's visitor schema by its field's name, in its order."""
    members = _list_members(schema)
    unsigned = _list_members(members.get(UNSIGNED))
    signed = {f"{SIGNED}.{name}": claim for name, claim in members.items() if name != UNSIGNED}
    return signed | {f"{UNSIGNED}.{name}": claim for name, claim in unsigned.items()}


def build_schema(claims: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema that declares these claims and no others."""
    return merge_schema(None, claims)


def merge_schema(schema: Mapping[str, Any] | None, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a site's visitor schema with claims added, replaced or, where None, removed.

    What the changes do not name stays as it is: so the claims to add alone give the union of old and new, and the ones
    to remove can follow once no condition reads them.
    """
    result: dict[str, Any] = {"$schema": DRAFT, **_CLOSED} if schema is None else dict(schema)
    signed = result["properties"] = dict(_list_members(schema))
    for name, claim in changes.items():
        group, _, own = name.partition(".")
        properties = signed
        if group == UNSIGNED:
            if claim is None and UNSIGNED not in signed:
                continue
            properties = dict(_list_members(signed.get(UNSIGNED)))
            described = {"description": UNSIGNED_DESCRIPTION, **signed.get(UNSIGNED, {})}
            signed[UNSIGNED] = {**_CLOSED, **described, "properties": properties}
        if claim is None:
            properties.pop(own, None)
        else:
            properties[own] = claim
    return result


def _list_members(schema: Any) -> Mapping[str, Any]:
    found = schema.get("properties") if isinstance(schema, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def check_claims(file: SiteFile) -> Iterator[Finding]:
    """Yield the mistakes in the visitor claims of a site file (SY203)."""
    item = file.items.get(VISITORS)
    if item is None:
        return
    wrong = [
        found for name, claim in item.fields.items() if claim is not None for found in _check_claim(file, name, claim)
    ]
    yield from wrong
    if not wrong and (problem := _find_problem(item.fields)):
        yield report_finding("SY203", item.place, f"the visitors' claims: {problem[1]}")


def _check_claim(file: SiteFile, name: str, claim: Any) -> Iterator[Finding]:
    place = file.items[VISITORS].where(name)
    if name == f"{SIGNED}.{UNSIGNED}":
        message = f'"{UNSIGNED}" is no name for a signed claim: it holds those that nobody signed'
        yield report_finding("SY203", place, message, "declare them under visitors.unsigned")
    elif problem := _find_problem({name: claim}):
        where, what = problem
        below = where.partition(f".properties.{name.partition('.')[2]}")[2].strip(".")
        message = f'claim "{format_claim(name)}"{f": {below}" if below else ""} {what}'
        yield report_finding("SY203", place, message, "write it as { type: boolean, description: … }")
    elif claim["type"] != "boolean" and not file.policy.allow_unshown_types:
        message = f'claim "{format_claim(name)}" has the type {claim["type"]}; the API shows boolean claims only'
        yield report_finding("SY203", place, message, "set policy.allow_unshown_types: true to use it anyway")


def _find_problem(claims: Mapping[str, Any]) -> tuple[str, str] | None:
    """What the API would not take about claims: where in the schema, and a predicate."""
    try:
        find_claims(build_schema(claims))
    except ValueError as failure:
        where, _, what = str(failure).partition(": ")
        return where, what
    return None


def check_removed_claims(gone: Iterable[str], conditions: Iterable[tuple[str, str]], place: Place) -> Iterator[Finding]:
    """Yield the claims that may not be removed, since a condition on the platform reads them (SY203).

    Shape: `gone` has claims by their fields' names; `conditions` has pairs of an owner, such as `developers/v3`, and
    its condition.
    """
    readers: dict[str, str] = {}
    for owner, text in conditions:
        for path in _find_claims(text):
            readers.setdefault(_format_field(path), owner)
    for name in gone:
        if name in readers:
            message = f'claim "{format_claim(name)}" is still used by {readers[name]}'
            yield report_finding("SY203", place, message, "change that condition first, or keep the claim")


def _find_claims(text: str) -> Iterator[ClaimPath]:
    try:
        yield from (part.claim for part in split_condition(text) if part.claim)
    except NoCondition:
        return


def find_declared(path: ClaimPath, known: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the schema of what a condition reads below `visitor.claims`.

    Shape: `known` has all claims by their fields' names. {} for a property of a value, such as its length; None when
    there is no such claim.
    """
    name, rest = _format_field(path), path[2:] if path[0] == UNSIGNED else path[1:]
    schema = known.get(name)
    for member in rest:
        if not isinstance(schema, Mapping) or schema.get("type") != "object":
            return {} if isinstance(schema, Mapping) else None
        schema = _list_members(schema).get(member)
    return schema if isinstance(schema, Mapping) else None


def _format_field(path: ClaimPath) -> str:
    return f"{UNSIGNED}.{path[1]}" if path[0] == UNSIGNED and len(path) > 1 else f"{SIGNED}.{path[0]}"


def suggest_claim(path: ClaimPath, known: Mapping[str, Any]) -> str:
    """Return the claim that a condition probably meant, or ""."""
    own = path[1] if path[0] == UNSIGNED and len(path) > 1 else path[0]
    names = {format_claim(name): name.partition(".")[2] for name in known}
    same = next((name for name, last in names.items() if last == own), "")
    near = get_close_matches(format_claim(_format_field(path)), names, n=1) or get_close_matches(own, names, n=1)
    return same or (near[0] if near else "")


def format_claims(known: Mapping[str, Any]) -> str:
    """Return a hint that names all claims."""
    names = [format_claim(name) for name in known]
    return f"declared: {format_first(names, _LISTED)}" if names else "visitors: declares no claim"


def format_claim(field: str) -> str:
    """Return a claim's field as a condition names it below `visitor.claims`."""
    return field.removeprefix(f"{SIGNED}.")
