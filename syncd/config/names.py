"""What names, directories and branches of a configuration may be, and which of them are in each other's way."""

import re
from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase

NAME = r"^[a-z0-9][a-z0-9._-]{0,62}$"
SPACE_ID = r"^[A-Za-z0-9_-]{1,128}$"
INSTANCE = r"^[0-9a-f]{6}$"
NAME_OR_NOTHING = f"^$|{NAME}"
ONE_WORD = r"^[^\s\x00-\x1f\x7f]+$"
ONE_WORD_OR_NOTHING = r"^[^\s\x00-\x1f\x7f]*$"
HTTP_ADDRESS = r"^https?://[^\s]+$"
COMMAND_WORD = r"^[^\x00]+$"
PATTERN_MEANINGS = {
    **dict.fromkeys(
        (NAME, NAME_OR_NOTHING),
        "must be small letters, digits, ., _ and -, beginning with a letter or a digit, 63 at most",
    ),
    **dict.fromkeys((ONE_WORD, ONE_WORD_OR_NOTHING), "must be without spaces and control characters"),
    HTTP_ADDRESS: "must be an address that begins with http:// or https://, without spaces",
    COMMAND_WORD: "must be a word that is not empty",
    SPACE_ID: "must be the id of a space: letters, digits, - and _",
    INSTANCE: "must be six digits from 0 to f, in small letters",
}
"""What a value must be that is checked by a pattern, in words."""
_BRANCH = re.compile(r"(?!-)(?!.*\.\.)[^\x00-\x20\x7f~^:\\]{1,200}")
_PATTERN_SIGNS = frozenset("*?[")
"""Signs that no branch has in its name: what holds one stands for several branches."""
_OWN_PREFIX = "syncd/"
_OWN_BRANCH = re.compile(r"syncd(?:/[A-Za-z0-9_](?:[.-]?[A-Za-z0-9_])*(?<!\.lock))+")


def clean_directory(directory: str) -> str:
    """Return a directory of a repository without `.` and double slashes; "" is the root.

    Raises: ValueError for one outside of the repository or in its .git.
    """
    parts = [part for part in directory.split("/") if part not in ("", ".")]
    if directory.startswith("/") or any(part == ".." or part.casefold() == ".git" for part in parts):
        raise ValueError("must stay inside the repository")
    return "/".join(parts)


def lie_in_each_other(one: str, other: str) -> bool:
    """Return whether one of two clean directories is the other, or lies in it: as branches, Git cannot have both."""
    a, b = (f"{directory}/" if directory else "" for directory in (one, other))
    return a.startswith(b) or b.startswith(a)


def is_pattern(branch: str) -> bool:
    """Return whether a tracked branch is one by pattern, such as `docs/*`, and not by its name."""
    return bool(_PATTERN_SIGNS & set(branch))


def is_branch_or_pattern(text: str) -> bool:
    """Return whether a text can be the name of a branch, or a pattern for names."""
    return _BRANCH.fullmatch(text) is not None


def is_branch(text: str) -> bool:
    """Return whether a text can be the name of a branch."""
    return is_branch_or_pattern(text) and not is_pattern(text)


def is_own_branch(text: str) -> bool:
    """Return whether every syncd takes a branch for one of its own by its name alone, and never for one to propose."""
    return _OWN_BRANCH.fullmatch(text) is not None


def find_tracking_pattern(patterns: Iterable[str], branches: Collection[str]) -> str | None:
    """Return the first pattern that one of the branches matches, or None; `sync.branches.match_branches` has the rule.

    Shape: a branch below `syncd/` is matched only by a pattern that says so.
    """
    for pattern in patterns:
        is_own = pattern.startswith(_OWN_PREFIX)
        if any(fnmatchcase(name, pattern) for name in branches if name.startswith(_OWN_PREFIX) == is_own):
            return pattern
    return None
