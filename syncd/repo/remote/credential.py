"""A credential helper of git, run by its path: it reads a token from its file, and tells it for one host only.

git asks on standard input and reads the answer from standard output, so the token is in no argument, environment or
configuration. A file that holds anything but one token, or that others may read, is never sent anywhere.
Source: gitcredentials(7), git-credential(1).
"""

import os
import re
import stat
import sys
from collections.abc import Sequence

PRIVATE, GUARDED = "private", "guarded"
"""A file that only its owner may read; one of which the service manager decides who may."""
_TOKEN = re.compile(rb"[\x21-\x7e]{1,16384}")
_BYTES_MAX = 1 << 16


def answer_question(arguments: Sequence[str], question: str) -> str:
    """Return the answer to a question of Git's credential protocol, "" when this helper has none.

    Shape: `arguments` are how the file is kept, the file, the user's name, protocol, host and action. Another host, as
    after a redirect, another action and a file that holds no token are never answered. Source: gitcredentials(7).
    """
    kept, file, username, protocol, host, action = arguments
    asked = dict(line.partition("=")[::2] for line in question.splitlines())
    if action != "get" or (asked.get("protocol"), asked.get("host")) != (protocol, host):
        return ""
    token = _read_token(file, is_private=kept != GUARDED)
    return f"username={username}\npassword={token.decode('ascii')}\n" if _TOKEN.fullmatch(token) else ""


def _read_token(path: str, *, is_private: bool) -> bytes:
    with open(path, "rb") as file:
        is_open = os.fstat(file.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO)
        return b"" if is_private and is_open else file.read(_BYTES_MAX).strip()


if __name__ == "__main__":
    sys.stdout.write(answer_question(sys.argv[1:], sys.stdin.read()))
