"""The site file: which redirects a site should have, as a person declares them, with the line of each."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from syncd.errors import FileInvalid
from syncd.layout.yaml import load_located
from syncd.model.redirect import SOURCE_MAX, SOURCE_PATTERN

Prune = Literal["never", "owned", "all"]
Where = tuple[str | int, ...]
_SOURCE = re.compile(SOURCE_PATTERN)
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_KEYS = {"version", "site", "policy", "redirects", "absent"}
_KINDS = ({"section"}, {"variant"}, {"page", "in"}, {"url"}, {"raw"})


@dataclass(frozen=True)
class DeclaredRedirect:
    """One redirect as declared: `to` has exactly one of section, variant, page (with in), url or raw."""

    source: str
    to: Mapping[str, Any]
    where: str


@dataclass(frozen=True)
class SiteFile:
    """A site file that passed every offline rule."""

    organization: str
    site: str
    redirects: tuple[DeclaredRedirect, ...] = ()
    managed: bool = False
    prune: Prune = "owned"
    allow_empty: bool = False
    absent: tuple[str, ...] = field(default=())


def source_key(source: str) -> str:
    """Given a redirect's source, return the key under which the platform matches it: escapes normal, case folded."""

    def normal(escape: re.Match[str]) -> str:
        letter = chr(int(escape[1], 16))
        return letter if letter in _UNRESERVED else escape[0].upper()

    return _ESCAPE.sub(normal, source).casefold()


def parse_site_file(text: str, *, at: str) -> SiteFile:
    """Given the text of a site file, return what it declares.

    Raises: FileInvalid at the first mistake; its hint lists all the others.
    Source: site-file notes, sections 3 and 6.
    """
    located = load_located(text, at=at)
    reader = _Reader(at, located.where)
    file = reader.read(located.value)
    if reader.problems:
        (line, column), what = min(reader.problems)
        others = [f"{at}:{where[0]}:{where[1]}: {why}" for where, why in sorted(reader.problems)[1:]]
        raise FileInvalid(what, path=at, line=line, column=column, hint="\n".join(others))
    return file


class _Reader:
    """Checks a loaded site file and collects every problem with its place."""

    def __init__(self, at: str, where: Mapping[Where, tuple[int, int]]) -> None:
        self.at, self.where = at, where
        self.problems: list[tuple[tuple[int, int], str]] = []

    def read(self, value: Any) -> SiteFile:
        top = self._mapping(value, (), _KEYS)
        if top.get("version") != 1:
            self._problem(("version",), "version: 1 is needed; this syncd reads no other")
        site = self._mapping(top.get("site"), ("site",), {"org", "id"})
        for key in ("org", "id"):
            if not isinstance(site.get(key), str) or not site.get(key):
                self._problem(("site", key), f"site.{key} is missing or no text")
        policy = self._mapping(top.get("policy", {}), ("policy",), {"prune", "allow_empty"})
        prune = policy.get("prune", "owned")
        if prune not in ("never", "owned", "all"):
            self._problem(("policy", "prune"), f"policy.prune is {prune!r}; it is never, owned or all")
        absent = self._mapping(top.get("absent", {}), ("absent",), {"redirects"}).get("redirects", [])
        return SiteFile(
            str(site.get("org")),
            str(site.get("id")),
            tuple(self._redirects(top.get("redirects"))),
            managed="redirects" in top,
            prune=prune,
            allow_empty=policy.get("allow_empty") is True,
            absent=tuple(self._sources(absent, ("absent", "redirects"))),
        )

    def _redirects(self, value: Any) -> Iterator[DeclaredRedirect]:
        first: dict[str, str] = {}
        for index, item in enumerate(self._list(value, ("redirects",))):
            path: Where = ("redirects", index)
            entry = self._mapping(item, path, {"from", "to", "note"})
            to = self._destination(entry.get("to"), (*path, "to"))
            given = entry.get("from")
            for source in self._sources(given if isinstance(given, list) else [given], (*path, "from")):
                where = self._place((*path, "from"))
                if (before := first.setdefault(source_key(source), where)) is not where:
                    self._problem((*path, "from"), f"{source} is declared twice (first at {before}); case is ignored")
                    continue
                yield DeclaredRedirect(source, to, where)

    def _destination(self, value: Any, path: Where) -> Mapping[str, Any]:
        to = self._mapping(value, path, {"section", "variant", "page", "in", "url", "raw"})
        if set(to) not in _KINDS:
            self._problem(path, "to needs exactly one of: section · variant · page with in · url · raw")
            return {}
        for key, given in to.items():
            if not isinstance(given, dict if key == "raw" else str):
                self._problem((*path, key), f"{key} is {given!r}; it must be {'a mapping' if key == 'raw' else 'text'}")
        url = to.get("url")
        if isinstance(url, str) and not url.startswith(("https://", "http://")):
            self._problem((*path, "url"), f"{url!r} is no http(s) address")
        return to

    def _sources(self, value: Any, path: Where) -> Iterator[str]:
        for source in self._list(value, path):
            if not isinstance(source, str):
                self._problem(path, f"{source!r} is no text; quote it")
            elif why := _wrong_source(source):
                self._problem(path, f"{source!r} {why}")
            else:
                yield source

    def _mapping(self, value: Any, path: Where, keys: set[str]) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            self._problem(path, f"{_name(path)} must be a mapping")
            return {}
        for key in value.keys() - keys:
            self._problem((*path, key), f"unknown key {key!r}; known here: {', '.join(sorted(keys))}")
        return value

    def _list(self, value: Any, path: Where) -> list[Any]:
        if value is None:
            return []
        if isinstance(value, list):
            return value
        self._problem(path, f"{_name(path)} must be a list")
        return []

    def _problem(self, path: Where, what: str) -> None:
        self.problems.append((self._position(path), what))

    def _position(self, path: Where) -> tuple[int, int]:
        while path and path not in self.where:
            path = path[:-1]
        return self.where.get(path, (1, 1))

    def _place(self, path: Where) -> str:
        line, column = self._position(path)
        return f"{self.at}:{line}:{column}"


def _name(path: Where) -> str:
    return ".".join(map(str, path)) or "the site file"


def _wrong_source(source: str) -> str:
    """Given a redirect's source, return which part of the pattern it breaks; "" when it is right."""
    if _SOURCE.fullmatch(source):
        return f"is over {SOURCE_MAX} characters" if len(source) > SOURCE_MAX else ""
    if not source.startswith("/"):
        return "must start with a slash"
    if source.endswith("/"):
        return "must not end with a slash"
    if "*" in source:
        return "has a wildcard; this API has none"
    if "?" in source or "#" in source:
        return "has a query or an anchor; only the path is matched"
    return "has characters that must be percent-encoded, or an empty segment"
