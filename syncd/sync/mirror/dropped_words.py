"""What a merge on the platform took out of main content: where both had changed the same block or title, it keeps that
of the change request alone, and where that had deleted the page, nothing."""

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence

from syncd.layout.compare.lost_words import find_lost_words
from syncd.layout.tree.paths import is_markdown
from syncd.plan.merge.pages import Page, TextSource, Version
from syncd.repo.repository import Repository
from syncd.sync.binding import Binding
from syncd.sync.merge.merge import find_moves, merge
from syncd.sync.merge.result import MergeResult
from syncd.sync.merge.summaries import read_summary
from syncd.sync.state.proposals import Proposal, find_head
from syncd.sync.workspace import Workspace


def describe_dropped(
    workspace: Workspace, binding: Binding, merged: Sequence[Proposal], before: str | None, after: str
) -> Iterator[str]:
    """Yield a note for each change request whose merge took something out of main content.

    Shape: `before` and `after` are the commits of main content around the merge; before it there may be None.
    """
    for proposal in merged:
        if before is None:
            return
        both = merge(workspace, before, find_head(workspace, binding, proposal))
        paths = dict.fromkeys(_find_dropped(workspace, binding, both, after=after))
        if paths:
            number, named = proposal.change_request.number, " ".join(map(shlex.quote, paths))
            # A job's commits end with the job: nobody could compare them.
            where = f" from {named}" if workspace.starts else f": git diff {before[:10]} {after[:10]} -- {named}"
            yield (
                f"#{number} was merged on the platform while it was in conflict with main content, and what that said "
                f"is gone{where}"
            )


def _find_dropped(workspace: Workspace, binding: Binding, both: MergeResult, *, after: str) -> Iterator[str]:
    """The paths of a space's pages that lost words of main content when a change request was merged.

    Shape: a page that moved has two paths, and for a title there is that of the table of contents. `both` is Git's
    merge of main content, as ours, and the change request, which need not be in conflict: the platform compares blocks,
    and Git lines. `after` is the commit of main content that came of it.
    """
    repository = workspace.repository
    edited = list(_list_edited(repository, both, after))
    moves = find_moves(workspace, both.ours, after) if edited else {}
    summary = read_summary(repository, binding, after) if edited else None
    for page, title in edited:
        if page.ours is None:
            continue
        path = moves.get(page.ours.path, page.ours.path)
        oid = repository.lookup(after, path) if binding.holds(path) else None
        if oid is None:
            continue
        if is_markdown(page.ours.path) and _lacks_words(repository, page.base, page.ours, oid):
            yield from dict.fromkeys((page.ours.path, path))
        entry = summary.index_pages().get(path) if summary is not None else None
        if summary is not None and entry is not None and title not in ("", entry.title):
            yield summary.path
    for path in both.revived_paths:
        had, has = (repository.lookup(commit, path) is not None for commit in (both.ours, after))
        if binding.holds(path) and had and not has:
            yield path


def _list_edited(repository: Repository, both: MergeResult, after: str) -> Iterator[tuple[Page, str]]:
    """The pages that main content changed and that may have lost it, each with the title of main content where the
    titles are in conflict.

    The change request need not have changed them in the eyes of Git, which may know a newer base than the platform.
    """
    for conflict in both.conflicts:
        yield conflict.pages[0], conflict.find_title("ours")
    clean = both.decisions.clean if both.decisions is not None else ()
    has_kept = any(decision.text is TextSource.OURS for decision in clean)
    replaced = {found.path for found in repository.compare_trees(both.ours, after)} if has_kept else set()
    for decision in clean:
        ours = decision.page.ours
        is_replaced = decision.text is TextSource.OURS and ours is not None and ours.path in replaced
        if is_replaced or decision.text is TextSource.MERGED:
            yield decision.page, ""


def _lacks_words(repository: Repository, base: Version | None, ours: Version, now: str) -> bool:
    """Whether a blob lacks some of the words that main content had got."""
    text, former = repository.read(ours.oid), repository.read(base.oid) if base is not None else b""
    new, gone = (
        Counter(word for line in find_lost_words(text, other, at=ours.path) for word in line.words)
        for other in (former, repository.read(now))
    )
    return bool(new & gone)
