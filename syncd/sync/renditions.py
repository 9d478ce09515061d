"""Renditions: what the platform holds for a commit of a branch that asks for more than content write can express.

A group that only a person can create, a file that cannot be replaced: the branch has them, the change request has not.
The commit that stands for its content then says of which commit it is the rendition. Whoever has that commit counts as
having taken in the rendition, so that what waits for a person is never mistaken for a reviewer's deletion.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from syncd.layout.keeping import keep_entries, same_entries
from syncd.layout.summary import parse
from syncd.layout.summary import render as render_entries
from syncd.layout.variables import TAGS, VARIABLES, parse_tags, parse_variables
from syncd.model.anchor import Anchor
from syncd.plan.message import OUTDONE, RENDITION
from syncd.plan.met import MET, claim_of
from syncd.repo import Blob, Repository
from syncd.sync.tables import settings_at, text_at
from syncd.sync.workspace import Binding, Workspace


class Rest(NamedTuple):
    """What a rendition says besides what it holds: its message, and parents besides the proposed commit."""

    message: str
    parents: Sequence[str] = ()


def renditions(repository: Repository, ours: str, theirs: str, met: Iterable[str] = ()) -> tuple[str, ...]:
    """Given two commits, return those that theirs alone reaches and that render a commit which ours has, or has met."""
    marked = repository.marked(ours, theirs, RENDITION)[1]
    if not marked:
        return ()
    rendered = [(commit.oid, commit.trailers[RENDITION][-1]) for commit in marked]
    claims = [claim_of(commit.oid, commit.trailers) for commit in repository.marked(ours, theirs, MET)[0]]
    taken = [oid for claim in claims if not claim.held for oid in claim.met]
    there = repository.present([*(of for _, of in rendered), *taken])
    known = (ours, *met, *(oid for oid in taken if oid in there))
    return tuple(
        oid for oid, of in rendered if of in there and any(repository.is_ancestor(of, commit) for commit in known)
    )


def rendered(repository: Repository, commit: str) -> str:
    """Given a commit, return the one that it renders as far as can be, else itself."""
    (found,) = repository.commits(None, commit, limit=1)
    return commit if OUTDONE in found.trailers else found.trailers.get(RENDITION, [commit])[-1]


def meant(repository: Repository, commit: str | None) -> str | None:
    """Given a commit of the platform, return what a branch has to take in: itself, or what outdoes it."""
    if commit is None:
        return None
    (found,) = repository.commits(None, commit, limit=1)
    better = found.trailers.get(RENDITION, [commit])[-1] if OUTDONE in found.trailers else commit
    return better if better in repository.present([better]) else commit


def outdone(by: str) -> str:
    """Given a commit that had brought two sides together already, return the trailers of what a platform made of them.

    Whoever has that commit has nothing to learn from it, and the platform has to be told.
    """
    return f"{RENDITION}: {by}\n{OUTDONE}: yes\n"


def render(
    workspace: Workspace, binding: Binding, commit: str, content: str, anchors: Iterable[Anchor], rest: Rest
) -> str:
    """Given a proposed commit, one with what the platform made of it, and its anchors, return the rendition.

    Shape: the proposed commit itself where both say the same; else its tree with all that the platform has in it.
    """
    repository, person = workspace.repository, workspace.committer()
    listing = repository.tree(commit, binding.directory)
    changes: dict[str, Blob | bytes | None] = {}
    for anchor in anchors:
        there = listing.get(anchor.path)
        if there is None or there.oid != anchor.oid:
            changes[binding.path(anchor.path)] = Blob(anchor.oid, there.mode if there is not None else "100644")
    settings = settings_at(repository, binding, commit)
    for inner, spelled in _TABLES:
        path = settings.below(inner or settings.summary)
        ours, theirs = (text_at(repository, side, binding.path(path)) for side in (commit, content))
        if ours != theirs:
            text = theirs if ours is None or theirs is None else spelled(ours, theirs, path)
            if text != ours:
                changes[binding.path(path)] = text.encode() if text is not None else None
    if not changes:
        return commit
    tree = repository.replaced(repository.subtree(commit), changes)
    message, parents = f"{rest.message.rstrip()}\n{RENDITION}: {commit}\n", [commit, *rest.parents]
    return repository.commit_tree(tree, parents=parents, message=message, author=person, committer=person)


def _summary(ours: str, theirs: str, path: str) -> str:
    """Theirs as it is written on our side: ours itself where both list the same."""
    written, there = parse(ours, at=path), parse(theirs, at=path)
    entries = keep_entries(there, written, ())
    if same_entries(written, entries, at=path):
        return ours
    return theirs if same_entries(there, entries, at=path) else render_entries(entries)


def _variables(ours: str, theirs: str, path: str) -> str:
    return ours if parse_variables(ours, at=path) == parse_variables(theirs, at=path) else theirs


def _tags(ours: str, theirs: str, path: str) -> str:
    return ours if parse_tags(ours, at=path) == parse_tags(theirs, at=path) else theirs


_TABLES: tuple[tuple[str, Callable[[str, str, str], str]], ...] = (
    ("", _summary),
    (VARIABLES, _variables),
    (TAGS, _tags),
)
"""The files that no page owns, "" for SUMMARY.md, each with how it is spelled on our side."""
