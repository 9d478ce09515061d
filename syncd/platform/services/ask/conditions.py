"""Text without what only some visitors see."""

import re

_MARK = re.compile(r"\{%-?\s{0,100}(if|endif)\b")


def drop_conditions(markdown: str) -> str:
    """Given Markdown, return it without its conditional blocks, nested ones included; one that never ends goes on."""
    kept: list[str] = []
    depth = start = at = 0
    while mark := _MARK.search(markdown, at):
        closed = markdown.find("%}", mark.end())
        at = len(markdown) if closed < 0 else closed + 2
        if mark[1] == "if":
            if not depth:
                kept.append(markdown[start : mark.start()])
            depth += 1
        elif depth:
            depth -= 1
            start = at
    if not depth:
        kept.append(markdown[start:])
    return "".join(kept)
