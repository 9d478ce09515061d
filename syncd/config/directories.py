"""Directories of a repository that hold spaces: beside each other, and inside of it."""


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
