"""An editor that keeps the lines of both sides of each conflict in a file; its markers may have any number of signs."""

import re
import sys
from pathlib import Path

_BEGIN = re.compile(rb"(<{7,}) ")
_TITLE = b"title: "


def keep_both(lines: list[bytes]) -> list[bytes]:
    """Return the lines without markers, and without those of the base; of two titles, that of ours is kept."""
    found = next(filter(None, map(_BEGIN.match, lines)), None)
    if found is None:
        return lines
    ours, base, middle, theirs = (sign * len(found[1]) for sign in (b"<", b"|", b"=", b">"))
    kept: list[bytes] = []
    is_base = False
    for line in lines:
        if line.startswith(base + b" "):
            is_base = True
        elif line.rstrip(b"\r\n") == middle:
            is_base = False
        elif not (is_base or line.startswith((ours + b" ", theirs + b" "))):
            kept.append(line)
    titles = kept[:2] if found.start() == 0 and lines[0] == found.string else []
    return [kept[0], *kept[2:]] if len(titles) == 2 and all(line.startswith(_TITLE) for line in titles) else kept


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_bytes(b"".join(keep_both(file.read_bytes().splitlines(keepends=True))))
