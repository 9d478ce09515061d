"""A credential helper of git, run by its path: it reads a token from its file, and tells it for one host only.

git asks on standard input and reads the answer from standard output, so the token is in no argument, environment or
configuration. Source: gitcredentials(7), git-credential(1).
"""

import sys
from collections.abc import Sequence
from pathlib import Path


def answer(arguments: Sequence[str], question: str) -> str:
    """Given the token's file, the user's name, protocol, host and action, and git's question, return the answer.

    Shape: nothing for any other host, as after a redirect, and for any other action.
    """
    file, username, protocol, host, action = arguments
    asked = dict(line.partition("=")[::2] for line in question.splitlines())
    if action != "get" or (asked.get("protocol"), asked.get("host")) != (protocol, host):
        return ""
    token = Path(file).read_text(encoding="utf-8").strip().partition("\n")[0]
    return f"username={username}\npassword={token}\n"


if __name__ == "__main__":
    sys.stdout.write(answer(sys.argv[1:], sys.stdin.read()))
