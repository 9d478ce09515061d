"""A page's text as a reader asks for it: with its variables filled in, and with what it includes in it.

Only what does not depend on the reader is evaluated: `space.vars.<name>` and `page.vars.<name>`, in an expression
(`<code class="expression">…</code>`) or in double braces. Whatever else an expression asks for, such as claims of a
visitor, and every condition stay as they are written, so `evaluated=true` and `deterministic-only` say the same.
"""

import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from syncd.layout import links
from syncd.layout.blocks import prose
from syncd.layout.frontmatter import split
from syncd.layout.paths import collision_key
from syncd.platform.failures import Failure
from syncd.platform.outline import Outline, Spot
from syncd.platform.rendering import Look, file_members
from syncd.platform.tree import FILES, INCLUDES, ROOT

Evaluated = Literal["true", "false", "deterministic-only"]
Dereferenced = Literal["true", "false", "reusable-contents"]

DEPTH_MAX = 8
"""Includes within includes."""
INCLUDES_MAX = 500
CHARACTERS_MAX = 4_000_000
"""Of all that one page includes: a few that include each other several times could fill any memory."""

_NAME = r"\s*(space|page)\.vars\.([A-Za-z_][A-Za-z0-9_-]*+)\s*"
_EXPRESSION = re.compile(rf'<code class="expression">{_NAME}</code>|\{{\{{{_NAME}\}}\}}')
_INCLUDE = re.compile(r'\{%[ \t]*+include[ \t]++"([^"\n]*+)"[ \t]*+%\}')
_SPECIAL = re.compile(r"[\\`*_\[\]<{]")


@dataclass(frozen=True)
class Words:
    """Texts of one revision: `read` returns a blob by its id."""

    outline: Outline
    look: Look
    read: Callable[[str], bytes]

    def text(self, spot: Spot, evaluated: Evaluated = "false", dereferenced: Dereferenced = "false") -> str:
        """Given where a page or reusable content stands, return its text, exactly as written unless more is asked for.

        Shapes: `dereferenced` puts in what is included; `true` also lets every address of a page or file of the space
        be one that works anywhere. Raises: Failure 413 when that makes it too long.
        """
        text = self.read(spot.node.body or "").decode()
        if dereferenced != "false":
            text = self._included(text, spot)
        if dereferenced == "true":
            text = links.rewrite(text, lambda address: self._anywhere(address, at=spot.node.path or ""))
        return self._evaluated(text, spot) if evaluated != "false" else text

    def _included(self, text: str, spot: Spot) -> str:
        left = [INCLUDES_MAX, CHARACTERS_MAX]

        def put_in(text: str, at: str, trail: tuple[str, ...]) -> str:
            def replacement(found: re.Match[str]) -> str:
                target = links.resolve(found[1], at=at)
                id = self.outline.by_file.get(collision_key(target[0])) if target else None
                if id is None or id in trail or len(trail) > DEPTH_MAX:
                    return found[0]
                inner = self.outline.spots[id]
                if inner.parent != INCLUDES or inner.node.body is None:
                    return found[0]
                raw = split(self.read(inner.node.body).decode())[1].strip("\r\n")
                left[0] -= 1
                left[1] -= len(raw)
                if min(left) < 0:
                    raise Failure(413, "This page includes too much. Read it with dereferenced=false.")
                here = inner.node.path or ""
                return links.rewrite(put_in(raw, here, (*trail, id)), lambda to: _moved(to, source=here, at=at))

            return _in_prose(text, _INCLUDE, replacement)

        return put_in(text, spot.node.path or "", (spot.node.id,))

    def _anywhere(self, address: str, *, at: str) -> str | None:
        target = links.resolve(address, at=at)
        id = self.outline.by_file.get(collision_key(target[0])) if target else None
        if target is None or id is None:
            return None
        spot = self.outline.spots[id]
        if spot.parent == FILES:
            return str(file_members(spot, self.look)["downloadURL"])
        place = f"{self.look.app}/{spot.path}" if spot.path else self.look.app
        return None if spot.parent == INCLUDES else place + target[1]

    def _evaluated(self, text: str, spot: Spot) -> str:
        variables: Mapping[str, Mapping[str, Any]] = {
            "space": self.outline.spots[ROOT].node.fields.get("variables", {}),
            "page": spot.node.fields.get("variables", {}),
        }

        def replacement(found: re.Match[str]) -> str:
            scope, name = (found[1], found[2]) if found[1] else (found[3], found[4])
            return _spelled(variables[scope][name]) if name in variables[scope] else found[0]

        return _in_prose(text, _EXPRESSION, replacement)


def _in_prose(text: str, pattern: re.Pattern[str], replacement: Callable[[re.Match[str]], str]) -> str:
    """Replace what matches, but not in code blocks, which show how such things are written."""
    if not pattern.search(text):
        return text
    pieces: list[str] = []
    done = 0
    for start, end in prose(text, len(split(text)[0])):
        for found in pattern.finditer(text, start, end):
            pieces += [text[done : found.start()], replacement(found)]
            done = found.end()
    return "".join([*pieces, text[done:]])


def _moved(address: str, *, source: str, at: str) -> str | None:
    target = links.resolve(address, at=source)
    return links.relative(target[0], at=at) + target[1] if target else None


def _spelled(value: Any) -> str:
    """A variable's value such that Markdown shows just that."""
    plain = ("true" if value else "false") if isinstance(value, bool) else str(value)
    return _SPECIAL.sub(r"\\\g<0>", html.escape(plain, quote=False).replace("\n", " "))
