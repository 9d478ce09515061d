"""A page's text as Markdown, on request with expressions and conditions evaluated and includes expanded.

For a visitor of a site, all is evaluated. For anybody else, only what does not depend on the reader (`evaluation`), so
that `evaluated=true` and `deterministic-only` say the same: what asks for more stays as it is written.
"""

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from syncd.layout.evaluation import BRACES, Scalar, Variables, format_value
from syncd.layout.markdown.addresses import resolve_address
from syncd.layout.markdown.blocks import find_prose
from syncd.layout.page import links
from syncd.layout.page.frontmatter import split_frontmatter
from syncd.layout.page.includes import IncludesTooMuch, expand_includes, replace_in_prose
from syncd.layout.tree.paths import make_collision_key
from syncd.platform.http.failures import Failure
from syncd.platform.revisions.outline import Outline, TreeEntry, read_variables
from syncd.platform.revisions.rendering import RenderContext, build_file_members
from syncd.platform.revisions.tree import FILES, INCLUDES

Evaluated = Literal["true", "false", "deterministic-only"]
Dereferenced = Literal["true", "false", "reusable-contents"]
Refs = Literal["relative", "stable"]

_EXPRESSION = re.compile(r'<code class="expression">([^<\n]*+)</code>|' + BRACES)
_CONDITION = re.compile(r"(?m:^)[ \t]*+\{%[ \t]*+(if|endif)\b[ \t]*+((?:[^%\n]|%(?!\}))*+)%\}[ \t]*+(?:\r?\n|\Z)")
_SPECIAL = re.compile(r"[\\`*_\[\]<{]")


@dataclass(frozen=True)
class PageTexts:
    """Texts of one revision: `read` returns a blob by its id."""

    outline: Outline
    context: RenderContext
    read: Callable[[str], bytes]
    select: Callable[[str, TreeEntry], str] | None = None
    """Returns what a visitor may read of a text, with every condition decided; None for anybody else, who reads all."""

    def render(
        self,
        entry: TreeEntry,
        evaluated: Evaluated = "false",
        dereferenced: Dereferenced = "false",
        refs: Refs = "relative",
    ) -> str:
        """Return the text of a page or reusable content, exactly as written unless more is asked for.

        Shape: `dereferenced` puts in what is included; `true` also makes every address of a page or file of the space
        one that works anywhere. With `refs` as "stable", each address of the space is the one with an id that a write
        takes, wherever the page is moved with it.

        Raises: Failure 413 when that makes the text too long.
        """
        text = self.read(entry.node.body or "").decode()
        if dereferenced != "false":
            text = self._expand_includes(text, entry)
        if self.select is not None:
            text = self.select(text, entry)
        at = entry.node.path or ""
        if dereferenced == "true":
            text = links.rewrite_addresses(text, lambda address: self._resolve_address(address, at=at))
        elif refs == "stable":
            text = links.rewrite_addresses(text, lambda address: self._make_stable(address, at=at))
        is_evaluated = evaluated != "false" and self.select is None
        return evaluate_page_text(text, self.outline, entry) if is_evaluated else text

    def _expand_includes(self, text: str, entry: TreeEntry) -> str:
        try:
            return expand_page_text(text, self.outline, entry, self.read)
        except IncludesTooMuch as error:
            raise Failure(413, "This page includes too much. Read it with dereferenced=false.") from error

    def _find_target(self, address: str, *, at: str) -> tuple[TreeEntry, str] | None:
        """The entry that a relative address leads to, and the rest of the address, such as its anchor."""
        target = resolve_address(address, at=at)
        id = self.outline.by_file.get(make_collision_key(target[0])) if target else None
        return (self.outline.entries[id], target[1]) if target and id is not None else None

    def _make_stable(self, address: str, *, at: str) -> str | None:
        if (found := self._find_target(address, at=at)) is None:
            return None
        entry, rest = found
        kind = {FILES: "files", INCLUDES: "includes"}.get(entry.parent, "pages")
        return f"/{kind}/{entry.node.id}{rest}"

    def _resolve_address(self, address: str, *, at: str) -> str | None:
        if (found := self._find_target(address, at=at)) is None:
            return None
        entry, rest = found
        if entry.parent == FILES:
            return str(build_file_members(entry, self.context)["downloadURL"])
        place = f"{self.context.app}/{entry.path}" if entry.path else self.context.app
        return None if entry.parent == INCLUDES else place + rest


def expand_page_text(text: str, outline: Outline, entry: TreeEntry, read: Callable[[str], bytes]) -> str:
    """Return the text of a page with what it includes; `read` returns a blob by its id. Raises: IncludesTooMuch."""

    def find(path: str) -> tuple[str, str] | None:
        inner = outline.entries.get(outline.by_file.get(make_collision_key(path), ""))
        if inner is None or inner.parent != INCLUDES or inner.node.body is None:
            return None
        return inner.node.path or "", read(inner.node.body).decode(errors="replace")

    return expand_includes(text, entry.node.path or "", find)


def evaluate_page_text(text: str, outline: Outline, entry: TreeEntry) -> str:
    """Return the text of a page with the values that it shows; what depends on the reader stays as it is written."""
    variables = read_variables(outline, entry)

    def replacement(found: re.Match[str]) -> str:
        value = variables.evaluate(html.unescape(found[1])) if found[1] is not None else None
        if found[1] is None:
            value = variables.get(found[2], found[3])
        return found[0] if value is None else _SPECIAL.sub(r"\\\g<0>", _escape_value(value))

    return replace_in_prose(_resolve_conditions(text, variables), _EXPRESSION, replacement)


def _resolve_conditions(text: str, variables: Variables) -> str:
    """The text without blocks whose condition is false, and without the tags around those whose condition is true."""
    tags = list(_find_tags(text)) if "{%" in text else []
    opened: list[tuple[re.Match[str], bool | None]] = []
    gone: list[tuple[int, int]] = []
    for tag in tags:
        if tag[1] == "if":
            opened.append((tag, variables.evaluate_condition(tag[2])))
        elif opened:
            first, truth = opened.pop()
            gone += [(first.start(), first.end()), (tag.start(), tag.end())] if truth else []
            gone += [(first.start(), tag.end())] if truth is False else []
    pieces, done = [], 0
    for start, end in sorted(gone):
        pieces.append(text[done : max(start, done)])
        done = max(end, done)
    return "".join([*pieces, text[done:]])


def _find_tags(text: str) -> Iterator[re.Match[str]]:
    for start, end in find_prose(text, len(split_frontmatter(text)[0])):
        yield from _CONDITION.finditer(text, start, end)


def _escape_value(value: Scalar) -> str:
    return html.escape(format_value(value), quote=False).replace("\n", " ")
