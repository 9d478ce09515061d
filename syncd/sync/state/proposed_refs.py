"""The change requests of branches as Git alone remembers them, and which new files one leaves to another."""

from collections.abc import Collection

from syncd.repo.repository import Repository
from syncd.sync.binding import Binding
from syncd.sync.state.notes import STATUS, read_notes


def list_proposed(repository: Repository, space: str) -> list[tuple[int, str, str]]:
    """Return the numbers of the own change requests of a space, by its name, each with its branch and commit."""
    prefix = f"refs/syncd/proposed/{space}/"
    parts = ((*ref.removeprefix(prefix).partition("/"), commit) for ref, commit in repository.list_refs(prefix).items())
    return sorted((int(number), branch, commit) for number, _, branch, commit in parts if number.isdecimal())


def find_awaited(
    repository: Repository,
    binding: Binding,
    branch: str,
    paths: Collection[str],
    *,
    remote: str,
    own: int | None,
    main: str,
    tip: str,
) -> dict[str, int]:
    """Return the numbers of the change requests that bring files of a branch, by the path of each.

    Shape: `paths` are changed ones, from the repository's root; `own` is the branch's change request, None without one;
    `main` and `tip` are the commits of main content and of the branch. A branch without a change request that says just
    what another one's says leaves all of it to that.
    """
    lookup, lanes = repository.lookup, f"refs/remotes/{remote}/changes/{binding.name}/"
    here = repository.resolve(f"{lanes}{own}") if own is not None else None
    known = [commit for commit in (main, here) if commit is not None]
    new = [path for path in paths if lookup(tip, path) and not any(lookup(commit, path) for commit in known)]
    found: dict[str, int] = {}
    others = [number for number, other, _ in list_proposed(repository, binding.name) if other != branch] if new else []
    for number in others:
        lane = repository.resolve(f"{lanes}{number}")
        if lane is None or read_notes(repository, binding, number).get(STATUS) == "archived":
            continue
        brought = [path for path in new if lookup(lane, path)]
        if brought and own is None and all(lookup(tip, path) == lookup(lane, path) for path in paths):
            brought = list(paths)
        found |= {path: number for path in brought if path not in found}
    return found
