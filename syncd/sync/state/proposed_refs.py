"""The change requests of branches as Git alone remembers them, and which new files one leaves to another."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from syncd.plan.message import SPACE
from syncd.repo.repository import Repository
from syncd.sync.binding import Binding
from syncd.sync.branches import HEADS
from syncd.sync.state.notes import NO_REQUEST, STATUS, add_notes, find_former_space, read_notes

AWAITED = "awaited"
"""What a push of a branch left to change requests, with the commits of the branch and of main content; in the notes of
NO_REQUEST."""


@dataclass(frozen=True)
class ProposalRecord:
    """A proposal as Git alone remembers it."""

    ref: str
    commit: str
    number: str
    branch: str


def read_records(repository: Repository, binding: Binding) -> list[ProposalRecord]:
    """Return the proposals of a space in the order of their refs; none while those under its name are another's."""
    return read_all_records(repository, binding) if not find_former_space(repository, binding) else []


def read_all_records(repository: Repository, binding: Binding) -> list[ProposalRecord]:
    """Return the proposals under the name of a space, whichever space they are of."""
    found: list[ProposalRecord] = []
    for ref, commit in sorted(repository.list_refs(binding.proposed_refs).items()):
        number, _, branch = ref.removeprefix(binding.proposed_refs).partition("/")
        found.append(ProposalRecord(ref, commit, number, branch))
    return found


def list_proposed(repository: Repository, binding: Binding) -> list[tuple[int, str, str]]:
    """Return the numbers of the own change requests of a space, each with its branch and commit."""
    records = read_records(repository, binding)
    return sorted((int(one.number), one.branch, one.commit) for one in records if one.number.isdecimal())


def archived_refs(binding: Binding) -> str:
    """Return how the refs of a space begin that keep what reviewers wrote in change requests of deleted branches."""
    return f"refs/syncd/archived/{binding.name}/"


def list_archived(repository: Repository, binding: Binding) -> list[tuple[int, str, str, str]]:
    """Return the numbers of change requests whose branch was deleted, each with this branch, and the commit of what
    reviewers wrote and the ref that keeps it."""
    prefix, found = archived_refs(binding), list[tuple[int, str, str, str]]()
    for ref, oid in sorted(repository.list_refs(prefix).items()):
        number, _, branch = ref.removeprefix(prefix).partition("/")
        commit = repository.read_commit(oid)
        if number.isdecimal() and binding.space in commit.trailers.get(SPACE, []):  # not of a former space of the name
            found.append((int(number), branch, oid, ref))
    return found


def note_awaited(
    repository: Repository, binding: Binding, branch: str, commits: tuple[str, str], awaited: Mapping[str, int]
) -> None:
    """Note what a branch leaves to change requests, by path; `commits` are its own and main content's."""
    noted = _read_awaited(repository, binding)
    here = {name: facts for name, facts in noted.items() if name != branch and repository.resolve(f"{HEADS}{name}")}
    wanted = here | ({branch: {"commits": [*commits], "paths": dict(awaited)}} if awaited else {})
    if wanted != noted:
        add_notes(repository, binding, NO_REQUEST, {AWAITED: wanted})


def _read_awaited(repository: Repository, binding: Binding) -> dict[str, Any]:
    noted = read_notes(repository, binding, NO_REQUEST).get(AWAITED)
    return noted if isinstance(noted, dict) else {}


def _find_noted(repository: Repository, binding: Binding, branch: str, commits: tuple[str, str]) -> dict[str, int]:
    """What the last push of a branch, at just these commits, left to change requests that Git may know nothing of."""
    noted = _read_awaited(repository, binding).get(branch)
    if not isinstance(noted, dict) or noted.get("commits") != [*commits]:
        return {}
    paths = noted.get("paths")
    known = paths.items() if isinstance(paths, dict) else ()
    return {path: number for path, number in known if isinstance(number, int)}


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
    found = _find_later(repository, binding, paths, main, tip, (own, here)) if own is not None and here else {}
    noted = _find_noted(repository, binding, branch, (tip, main)) if paths else {}
    found |= {path: noted[path] for path in paths if path in noted and path not in found}
    others = [number for number, other, _ in list_proposed(repository, binding) if other != branch] if new else []
    for number in others:
        lane = repository.resolve(f"{lanes}{number}")
        if lane is None or read_notes(repository, binding, number).get(STATUS) == "archived":
            continue
        brought = [path for path in new if lookup(lane, path)]
        if brought and own is None and all(lookup(tip, path) == lookup(lane, path) for path in paths):
            brought = list(paths)
        found |= {path: number for path in brought if path not in found}
    return found


def _find_later(
    repository: Repository, binding: Binding, paths: Collection[str], main: str, tip: str, own: tuple[int, str]
) -> dict[str, int]:
    """The branch's own change request by each changed path that main content got after it began, given its number and
    the commit of what it holds."""
    lookup, (number, here) = repository.lookup, own
    later = [path for path in paths if lookup(tip, path) and lookup(main, path) and not lookup(here, path)]
    base = repository.find_merge_base(main, here) if later else None
    if base is None or read_notes(repository, binding, number).get(STATUS) == "archived":
        return {}
    return {path: number for path in later if lookup(base, path) is None}
