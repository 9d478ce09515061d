"""Rules about `.gitbook.yaml` and variables: redirects that do nothing, and names that nobody defined."""

import re
from collections.abc import Iterator, Mapping

from syncd.layout.lint.finding import Finding, finding
from syncd.layout.lint.near import Near, meant
from syncd.layout.lint.space import Space
from syncd.layout.lint.words import prose_only
from syncd.layout.tree.draft import page_slug
from syncd.layout.tree.paths import shown
from syncd.layout.tree.settings import PATH
from syncd.layout.tree.variables import VARIABLES
from syncd.layout.yaml import yaml

_EXPRESSION = re.compile(r'<code class="expression">([^<]{0,2000})</code>|\{%[ \t]*(?:if|elif)[ \t]([^%\n]{0,2000})%\}')
_NAME = re.compile(r"\b(space|page)\.vars\.([A-Za-z_]\w*)")


def check_settings(space: Space) -> Iterator[Finding]:
    """Given a space, return what is wrong with its redirects and with the variables that its pages use."""
    if PATH in space.items and PATH not in space.broken:
        for part in space.draft.settings.skipped:
            yield finding("settings-unseen", PATH, (part.line, part.column), part.why)
        yield from _redirects(space)
    yield from _variables(space)


def _redirects(space: Space) -> Iterator[Finding]:
    located = yaml.load_located(space.page(PATH).text, at=PATH)
    redirects = located.value.get("redirects", {}) if isinstance(located.value, dict) else {}
    if redirects is None:
        message = "`redirects:` has no value"
        yield finding("redirects-empty", PATH, located.where[("redirects",)], message)
        return
    near = Near(space.items)
    pages = _addresses(space)
    for source, target in redirects.items():
        place = located.where[("redirects", source)]
        if any(side.startswith(("/", "./")) for side in (source, target)):
            yield finding("redirect-form", PATH, place, f"{shown(source)} or its target starts with / or ./")
        path = space.draft.settings.below(re.sub(r"^(?:\./|/)+", "", target.partition("#")[0]))
        if path not in space.items:
            hint = meant(near.to(path))
            yield finding("redirect-missing", PATH, place, f"there is no file {shown(target)}", hint)
        shadow = pages.get(source.strip("/").lower())
        if shadow is not None:
            message = f"{shown(shadow)} is published at {shown(source)}, so this redirect never takes effect"
            yield finding("redirect-shadowed", PATH, place, message)


def _addresses(space: Space) -> Mapping[str, str]:
    """The pages by their addresses, as their files suggest; addresses are matched without regard to case."""
    found: dict[str, str] = {}
    root = space.draft.settings.below("")
    for path in space.draft.documents:
        inner = path.removeprefix(root)
        slug = page_slug(path, settings=space.draft.settings)
        folder = inner.rpartition("/")[0]
        readme = inner.lower().endswith("/readme.md")
        address = folder if readme else f"{folder}/{slug}" if folder else slug
        if address:
            found.setdefault(address.lower(), path)
    return found


def _variables(space: Space) -> Iterator[Finding]:
    own = frozenset(space.draft.variables)
    unreadable = space.draft.settings.below(VARIABLES) in space.broken
    near = Near(own)
    includes = frozenset(space.draft.includes)
    for page in space.published():
        if ".vars." not in page.text:
            continue
        for start, scope, name in _used(page.text, page.body):
            known = page.variables if scope == "page" else own
            # An include sees the variables of whatever page shows it.
            unknown = unreadable if scope == "space" else page.path in includes
            if name not in known and not unknown:
                hint = meant(near.to(name)) if scope == "space" else ""
                message = f"{scope}.vars.{name} is not defined"
                yield finding("variable-undefined", page.path, page.place(start), message, hint)


def _used(text: str, body: int) -> Iterator[tuple[int, str, str]]:
    """Each variable in an expression of a page: where it stands, its scope and its name.

    An expression that is shown as code is none. Its own tag is one for code, so it stands under another name here.
    """
    words = prose_only(text.replace('<code class="expression">', '<span class="expression">'), body)
    for expression in _EXPRESSION.finditer(text, body):
        if words[expression.start()].isspace():
            continue
        for name in _NAME.finditer(text, expression.start(), expression.end()):
            yield name.start(), name[1], name[2]
