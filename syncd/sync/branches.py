"""The tracked branches of one run: those called by name, and those that patterns match in the repository now."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from syncd.model.text import join_lines
from syncd.repo.repository import Repository

HEADS = "refs/heads/"
OWN_PREFIX = "syncd/"
"""Where syncd's own branches lie: what it could not push, what the platform has, what was changed on a site by hand."""


@dataclass(frozen=True)
class Branch:
    """A tracked branch; `is_named` is false for one that only a pattern matches."""

    name: str
    is_named: bool = True

    @property
    def ref(self) -> str:
        """Its full ref."""
        return f"{HEADS}{self.name}"


def is_tracked_branch(name: str, names: Sequence[str], patterns: Sequence[str]) -> bool:
    """Return whether a branch is tracked; `names` and `patterns` are those of tracked branches."""
    return name in names or any(match_branches([name], patterns))


def is_own_branch(name: str, names: Sequence[str], patterns: Sequence[str]) -> bool:
    """Return whether a branch is one that syncd makes for people to merge, and not one of theirs to propose.

    Shape: `names` and `patterns` are those of tracked branches.
    """
    return name.startswith(OWN_PREFIX) and not is_tracked_branch(name, names, patterns)


def find_tracked(repository: Repository, names: Sequence[str], patterns: Sequence[str]) -> list[Branch]:
    """Return the tracked branches: the named ones in order, then the matched ones by name.

    Shape: a named branch need not exist; a pattern that matches nothing is no error.
    """
    named = [Branch(name) for name in dict.fromkeys(names)]
    if not patterns:
        return named
    present = (ref.removeprefix(HEADS) for ref in repository.list_refs(HEADS))
    return named + [
        Branch(name, is_named=False) for name in sorted(match_branches(present, patterns)) if name not in names
    ]


def match_branches(names: Iterable[str], patterns: Sequence[str]) -> Iterable[str]:
    """Yield the names of branches that a pattern matches and that can be shown as they are.

    Shape: `*` matches any signs, a slash too, as in Git's own patterns for branches. What syncd made for people to
    merge by hand is matched only by a pattern that says so.
    """
    for name in names:
        seen = join_lines(name) == name and name.isprintable() and not name.startswith("-")
        meant = [one for one in patterns if one.startswith(OWN_PREFIX)] if name.startswith(OWN_PREFIX) else patterns
        if seen and any(fnmatchcase(name, pattern) for pattern in meant):
            yield name


def put_ancestors_first(
    repository: Repository, branches: Iterable[Branch], *, exclude: str | None = None
) -> list[Branch]:
    """Return the branches in their order, but each that another one begins at before that.

    Shape: no branch begins at commits that `exclude` reaches.
    """
    tips = [(branch, repository.resolve(branch.ref)) for branch in branches]
    commits = {tip for _, tip in tips if tip is not None}
    ancestors = repository.find_ancestors(commits, exclude=exclude) if len(commits) > 1 else {}
    ordered: list[tuple[Branch, str | None]] = []
    for branch, tip in tips:
        later = (at for at, (_, other) in enumerate(ordered) if tip in ancestors.get(other or "", ()))
        ordered.insert(next(later, len(ordered)), (branch, tip))
    return [branch for branch, _ in ordered]
