r"""Names that look alike: how they are spelled so that they differ, and the command that renames a file.

Unicode writes `é` as one character (NFC) or as `e` with a mark (NFD); both look the same, and Git, the platform and
most file systems take them for different names.
"""

import unicodedata
from shlex import quote

from syncd.model.text import spell_sign


def spell_decomposed(name: str) -> str:
    r"""Return a name in which what keeps it from being composed (NFC) is spelled, such as `cafe\u0301.md`."""
    composed = compose(name)
    if composed == name:
        return name
    return "".join(
        spell_sign(sign) if not sign.isascii() and (unicodedata.combining(sign) or sign not in composed) else sign
        for sign in name
    )


def compose(name: str) -> str:
    """Return a name as keyboards type it: in NFC."""
    return unicodedata.normalize("NFC", name)


def format_renaming(path: str) -> str:
    """Return the commands that give a file, and folders around it, composed names (NFC); "" where they have such."""
    parts, commands = path.split("/"), []
    for index, part in enumerate(parts):
        if compose(part) != part:
            before, after = ("/".join([*parts[:index], name]) for name in (part, compose(part)))
            commands.append(f"git mv {_quote_bytes(before)} {quote(after)}")
            parts[index] = compose(part)
    return " && ".join(commands)


def _quote_bytes(name: str) -> str:
    r"""A name for a shell, with the bytes of decomposed and hidden characters spelled: `$'cafe\xcc\x81.md'`."""
    spelled = "".join(
        f"\\{sign}"
        if sign in "\\'"
        else sign
        if sign.isascii() and sign.isprintable()
        else "".join(f"\\x{byte:02x}" for byte in sign.encode("utf-8", "surrogateescape"))
        for sign in name
    )
    return f"$'{spelled}'"
