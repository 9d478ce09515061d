"""Rules about redirects: SY301 to SY310."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from syncd.layout.lint.finding import Finding, Fix
from syncd.layout.site.addresses.addresses import SiteMap, unfold_address
from syncd.layout.site.addresses.follow import find_address, format_target
from syncd.layout.site.addresses.graph import find_hops, find_own_path, follow_hops
from syncd.layout.site.check.structure import quote_name
from syncd.layout.site.read.declared import Item, Place, SiteFile
from syncd.layout.site.read.rules import report_finding
from syncd.model.redirect import SOURCE_MAX, SOURCE_PATTERN, make_source_key
from syncd.model.ref import Ref
from syncd.model.web_address import ADDRESS_MAX, is_web_address

CHAIN_SHOWN = 8
"""Hops of a chain that a message names: many chains can share a long end."""
_NAMED = 2
"""Redirects of a chain that a message names each as what to change."""
LOOP_SHOWN = 100
"""Hops of a loop that a message names."""
FORMS = ({"section"}, {"variant"}, {"page", "in"}, {"url"}, {"raw"})
_KINDS = ("section", "variant", "page", "url", "raw")
_FORMS_SAID = "write one of { section: … }, { variant: … }, { page: …, in: … }, { url: … }, { raw: { … } }"
_SOURCE = re.compile(SOURCE_PATTERN)
_PLAIN = re.compile(r"https://[A-Za-z0-9.-]+(?:[/?#][!-~]*)?")
_STRAY = re.compile(r"%(?![0-9A-Fa-f]{2})")
_LEFT = "/-._~%"


def check_redirects(file: SiteFile, site: SiteMap) -> Iterator[Finding]:
    """Yield the mistakes in the redirects of a site file."""
    redirects = file.of("redirect")
    for item in redirects:
        yield from _check_source(item.fields.get("source"), item.where("source"))
        yield from _check_destination(item)
    for source, place in file.absent.items():
        yield from _check_source(source, place)
    yield from _check_twice(file)
    yield from check_chains(site)
    yield from _check_shadowed(file, site)
    yield from _check_gated(file)


def _check_source(source: Any, place: Place) -> Iterator[Finding]:
    if not isinstance(source, str):
        return
    if not _SOURCE.fullmatch(source):
        yield report_finding("SY301", place, *find_wrong_source(source))
    elif len(source) > SOURCE_MAX:
        message = f"redirect source is {len(source)} characters long; the API takes at most {SOURCE_MAX}"
        yield report_finding("SY102", place, message)


def find_wrong_source(source: str) -> tuple[str, str]:
    """Return what in a source breaks the API's pattern, and a hint."""
    if "://" in source:
        path = re.split("[?#]", source.partition("://")[2])[0].partition("/")[2]
        return f"{quote_name(source)} is an address; a source is a path", _suggest_source(path)
    if source in ("", "/"):
        return f"{quote_name(source)} is the start page of the site, which cannot be redirected", ""
    if not source.startswith("/"):
        return f"{quote_name(source)} does not start with a slash", _suggest_source(f"/{source}")
    for sign, what in (("?", "a query"), ("#", "an anchor")):
        if sign in source:
            return f"{quote_name(source)} has {what}; only paths are matched", _suggest_source(
                source.partition(sign)[0]
            )
    if "*" in source:
        return '"*" is not supported by this API: a source is one path', "write one redirect for each old path"
    if source.endswith("/"):
        return f"{quote_name(source)} ends with a slash", _suggest_source(source)
    if "//" in source:
        return f"{quote_name(source)} has an empty segment", _suggest_source(source)
    if _STRAY.search(source):
        return f'{quote_name(source)} has a "%" without two hexadecimal digits', 'write "%25" for the sign itself'
    wrong = next((sign for sign in source if not _SOURCE.fullmatch(f"/{sign}") and sign not in "/%"), "")
    return f"{quote_name(source)} has {quote_name(wrong)}, which must be percent-encoded", _suggest_source(
        quote(source, safe=_LEFT, errors="replace")
    )


def _suggest_source(source: str) -> str:
    """A hint that names a right source, where one can be made."""
    found = "/" + "/".join(part for part in source.split("/") if part)
    return f"use {quote_name(found)}" if _SOURCE.fullmatch(found) and len(found) <= SOURCE_MAX else ""


def _check_destination(item: Item) -> Iterator[Finding]:
    to = item.fields.get("to")
    if not isinstance(to, Mapping):
        if "to" not in item.places:  # else the reader has said what is wrong with it
            yield report_finding(
                "SY303", item.place, f"redirect {quote_name(_find_source(item))} has no destination", _FORMS_SAID
            )
        return
    if to.keys() not in FORMS:
        yield report_finding("SY303", item.where("to"), *_find_destination_kind(item, to))
    elif isinstance(url := to.get("url"), str) and (len(url) > ADDRESS_MAX or not _PLAIN.fullmatch(url)):
        yield from _check_address(url, item.places.get("to.url", item.where("to")))


def _find_destination_kind(item: Item, to: Mapping[str, Any]) -> tuple[str, str]:
    """What is wrong with a destination that is not exactly one, and a hint."""
    given = [name for name in _KINDS if name in to]
    if len(given) > 1:
        return (
            f"redirect {quote_name(_find_source(item))} has {len(given)} destinations: {', '.join(given)}",
            "keep one of them",
        )
    if given == ["page"]:
        return (
            f"page {quote_name(str(to['page']))} is in no variant",
            "name its variant: { page: …, in: SECTION/VARIANT }",
        )
    if "in" in to:
        return f"in: goes with page:{f', not with {given[0]}:' if given else ''}", _FORMS_SAID
    return f"redirect {quote_name(_find_source(item))} has no destination", _FORMS_SAID


def _check_address(url: str, place: Place) -> Iterator[Finding]:
    """An address that is not plainly right; most are, and need no parsing."""
    if not is_web_address(url):
        hint = "write it with its scheme, such as https://example.com/path; name what is on this site by its key"
        yield report_finding("SY303", place, f"{quote_name(url)} is no http or https address", hint)
    elif len(url) > ADDRESS_MAX:
        yield report_finding(
            "SY303", place, f"the address is {len(url)} characters long; at most {ADDRESS_MAX} are taken"
        )
    elif urlsplit(url).scheme == "http":
        yield report_finding(
            "SY309", place, f"{quote_name(url)} is not encrypted", f"use {quote_name('https' + url[4:])} if it answers"
        )


def _check_twice(file: SiteFile) -> Iterator[Finding]:
    for item in file.repeated:
        if item.kind == "redirect":
            first = file.items[item.ref]
            there, source = first.where("source"), _find_source(item)
            other = _find_source(first)
            at = _name_line(there, item.place)
            if other == source:
                message = f"{quote_name(source)} is redirected twice (first at {at})"
            else:
                message = f"{quote_name(source)} equals {quote_name(other)} ({at}); {_explain_alike(source, other)}"
            yield report_finding("SY302", item.where("source"), message)
    for source, place in file.absent.items():
        if (declared := file.items.get(Ref.of("redirect", make_source_key(source)))) is not None:
            at = _name_line(declared.where("source"), place)
            message = f"{quote_name(source)} is under absent: and is a redirect ({at})"
            yield report_finding("SY302", place, message)


def _name_line(there: Place, here: Place) -> str:
    """Where something else stands, for a message about a place that may be in another file."""
    return f"line {there.line}" if there.file == here.file else f"{there.file}:{there.line}"


def _explain_alike(one: str, other: str) -> str:
    is_encoded = unquote(one) == unquote(other)
    return "a character equals its percent-encoding" if is_encoded else "matching ignores case"


def check_chains(site: SiteMap) -> Iterator[Finding]:
    """Yield loops and chains of a site's redirects, and addresses of the site itself that no redirect answers."""
    rules, steps = site.rules, find_hops(site)
    trails = follow_hops(steps)
    for loop in trails.loops:
        yield _report_loop([rules[key] for key in loop])
    for key, entry in trails.lost.items():
        message = f"{_find_source(rules[key])} leads into a redirect loop at {_find_source(rules[entry])}"
        yield report_finding("SY305", _find_address_place(rules[key]), message)
    entered = set(steps.values())
    for key, last in trails.ends.items():
        if key not in entered:
            yield _report_chain(site, steps, key, rules[last])
    for key, item in rules.items() if site.hosts else ():
        if key not in steps and (path := find_own_path(site, item)) is not None:
            message = (
                f"this is /{unfold_address(path)} on the site itself; an address breaks when something there is renamed"
            )
            yield report_finding("SY310", _find_address_place(item), message, "name it by its section, variant or page")


def _report_loop(loop: list[Item]) -> Finding:
    """One finding for the whole circle, at the redirect in it that is declared first."""
    start = min(range(len(loop)), key=lambda at: loop[at].place)
    loop = [*loop[start:], *loop[:start]]
    way = [_find_address(item) for item in loop[:-1]]
    if len(way) > LOOP_SHOWN:
        way[LOOP_SHOWN:] = [f"({len(way) - LOOP_SHOWN} more)"]
    message = f"redirect loop: {' -> '.join([_find_source(loop[0]), *way, _find_source(loop[0])])}"
    return report_finding(
        "SY305", _find_address_place(loop[0]), message, "point one of them at a section, variant or page"
    )


def _report_chain(site: SiteMap, steps: Mapping[str, str], key: str, last: Item) -> Finding:
    """One finding for the whole way, at the redirect that no other leads to; it speaks for those on the way."""
    to, way = last.fields.get("to"), [site.rules[key]]
    while (key := steps[key]) in steps:
        way.append(site.rules[key])
    shown = [_find_source(way[0]), *map(_find_address, way[:CHAIN_SHOWN])]
    shown += [f"({len(way) - CHAIN_SHOWN} more)"] if len(way) > CHAIN_SHOWN else []
    meant = " and ".join(map(_find_source, way)) if len(way) <= _NAMED else f"each of these {len(way)} redirects"
    message = f"{' -> '.join([*shown, format_target(to)])}; point {meant} at {format_target(to)}"
    first, *others = [_report_flattened(item, to, message) for item in way]
    return replace(first, covered=tuple(others))


def _report_flattened(item: Item, to: Any, message: str) -> Finding:
    fix = (
        Fix(f"point {_find_source(item)} at {format_target(to)}", item.ref, "to", to)
        if isinstance(to, Mapping)
        else None
    )
    return report_finding("SY306", _find_address_place(item), message, fix=fix)


def _check_shadowed(file: SiteFile, site: SiteMap) -> Iterator[Finding]:
    """Only what this file itself declares; what else is there, the platform has to be asked."""
    for item in file.of("redirect") if file.of("section") else ():
        source = _find_source(item)
        spot = site.at(site.inner(source) or "") if _SOURCE.fullmatch(source) else None
        if spot is not None and not spot.path:
            message = f"{source} is where visitors read {spot.variant.words}; this redirect will not run"
            yield report_finding("SY307", item.where("source"), message)


def _check_gated(file: SiteFile) -> Iterator[Finding]:
    gated = {item.ref: item for item in file.of("section", "variant") if item.fields.get("condition")}
    for item in file.of("redirect") if gated else ():
        to = item.fields.get("to")
        if not isinstance(to, Mapping):
            continue
        section, variant = to.get("section"), to.get("variant") or to.get("in")
        parent = variant.partition("/")[0] if isinstance(variant, str) else section
        found = gated.get(Ref.of("variant", str(variant))) or gated.get(Ref.of("section", str(parent)))
        if found is not None:
            message = f"{found.kind} {quote_name(found.key)} has a condition; visitors who may not see it do not arrive"
            yield report_finding("SY308", item.where("to"), message)


def _find_source(item: Item) -> str:
    return str(item.fields.get("source") or item.key)


def _find_address(item: Item) -> str:
    return find_address(item.fields["to"])


def _find_address_place(item: Item) -> Place:
    places = (item.places[name] for name in ("to.url", "to.raw.url") if name in item.places)
    return next(places, item.where("to"))
