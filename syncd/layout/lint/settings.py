"""Rules about `.gitbook.yaml` and variables: redirects without effect, and variables that are not defined."""

import re
from collections.abc import Iterator, Mapping

from syncd.layout.lint.blank_code import blank_code
from syncd.layout.lint.finding import Finding, make_finding
from syncd.layout.lint.space import Space
from syncd.layout.lint.suggestions import NearMisses, format_suggestion
from syncd.layout.tree.settings import SETTINGS_PATH, derive_page_slug
from syncd.layout.tree.variables import VARIABLES
from syncd.layout.yaml import yaml
from syncd.model.text import quote_name

_EXPRESSION = re.compile(r'<code class="expression">([^<]{0,2000})</code>|\{%[ \t]*(?:if|elif)[ \t]([^%\n]{0,2000})%\}')
_NAME = re.compile(r"\b(space|page)\.vars\.([A-Za-z_]\w*)")


def check_settings(space: Space) -> Iterator[Finding]:
    """Yield the findings about redirects and about the variables that pages use."""
    if SETTINGS_PATH in space.files and SETTINGS_PATH not in space.unreadable:
        for part in space.draft.settings.skipped:
            yield make_finding("settings-unseen", SETTINGS_PATH, (part.line, part.column), part.reason)
        yield from _check_redirects(space)
    yield from _check_variables(space)


def _check_redirects(space: Space) -> Iterator[Finding]:
    located = yaml.load_located(space.read_page(SETTINGS_PATH).text, at=SETTINGS_PATH)
    redirects = located.value.get("redirects", {}) if isinstance(located.value, dict) else {}
    if redirects is None:
        message = "`redirects:` has no value"
        yield make_finding("redirects-empty", SETTINGS_PATH, located.positions[("redirects",)], message)
        return
    near = NearMisses(space.files)
    pages = _find_page_addresses(space)
    for source, target in redirects.items():
        place = located.positions[("redirects", source)]
        wrong = next((side for side in (source, target) if side.startswith(("/", "./"))), None)
        if wrong is not None:
            start, rest = ("/", wrong[1:]) if wrong.startswith("/") else ("./", wrong[2:])
            message = f"{quote_name(wrong)} starts with {start}"
            yield make_finding("redirect-form", SETTINGS_PATH, place, message, f"write {rest}" if rest else "")
        path = space.draft.settings.add_root(re.sub(r"^(?:\./|/)+", "", target.partition("#")[0]))
        if path not in space.files:
            hint = format_suggestion(near.find(path))
            yield make_finding("redirect-missing", SETTINGS_PATH, place, f"there is no file {quote_name(target)}", hint)
        shadow = pages.get(source.strip("/").lower())
        if shadow is not None:
            message = f"{quote_name(shadow)} is published at {quote_name(source)}, so this redirect never takes effect"
            yield make_finding("redirect-shadowed", SETTINGS_PATH, place, message)


def _find_page_addresses(space: Space) -> Mapping[str, str]:
    """Return the pages by the addresses that their files suggest; addresses are matched without regard to case."""
    found: dict[str, str] = {}
    root = space.draft.settings.add_root("")
    for path in space.draft.documents:
        inner = path.removeprefix(root)
        slug = derive_page_slug(path, settings=space.draft.settings)
        folder = inner.rpartition("/")[0]
        readme = inner.lower().endswith("/readme.md")
        address = folder if readme else f"{folder}/{slug}" if folder else slug
        if address:
            found.setdefault(address.lower(), path)
    return found


def _check_variables(space: Space) -> Iterator[Finding]:
    space_variables = frozenset(space.draft.variables)
    unreadable = space.draft.settings.add_root(VARIABLES) in space.unreadable
    near = NearMisses(space_variables)
    includes = frozenset(space.draft.includes)
    for page in space.read_published_pages():
        if ".vars." not in page.text:
            continue
        for start, scope, name in _find_used_variables(page.text, page.body):
            known = page.variables if scope == "page" else space_variables
            # An include sees the variables of whatever page shows it.
            is_unknowable = unreadable if scope == "space" else page.path in includes
            if name not in known and not is_unknowable:
                hint = format_suggestion(near.find(name)) if scope == "space" else ""
                message = f"{scope}.vars.{name} is not defined"
                yield make_finding("variable-undefined", page.path, page.locate(start), message, hint)


def _find_used_variables(text: str, body: int) -> Iterator[tuple[int, str, str]]:
    """Yield the offset, scope and name of each variable in an expression of a page.

    An expression that is shown as code is skipped. The tag of an expression is itself one for code, so it is renamed
    before code is blanked.
    """
    words = blank_code(text.replace('<code class="expression">', '<span class="expression">'), body)
    for expression in _EXPRESSION.finditer(text, body):
        if words[expression.start()].isspace():
            continue
        for name in _NAME.finditer(text, expression.start(), expression.end()):
            yield name.start(), name[1], name[2]
