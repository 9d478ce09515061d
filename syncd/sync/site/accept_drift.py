"""Drift that the policy accepts goes to a branch of its own, which a person merges; never to the tracked one."""

from dataclasses import dataclass

from syncd.errors import FileInvalid, GuardRefused, RefMoved
from syncd.layout.site.read.declared import SiteFile
from syncd.layout.site.read.file import read_site_file
from syncd.model.ref import AREAS
from syncd.model.wording import format_count
from syncd.plan.change import Change
from syncd.plan.site.drift.accept import AcceptedDrift, accept_drift
from syncd.plan.site.live_state import LiveSite
from syncd.plan.site.steps import SitePlan
from syncd.sync.branches import HEADS
from syncd.sync.site.read.site_file import SiteFileTexts, read_at_commit
from syncd.sync.workspace import Workspace

BRANCH = "syncd/site/drift"
"""Grows from the tracked branch, and then from itself until somebody has merged it."""


@dataclass(frozen=True)
class DriftBranch:
    """What became of drift that the policy accepts: what the branch got, if anything, and sentences about the rest."""

    change: Change | None = None
    left: tuple[str, ...] = ()


def accept_on_branch(
    workspace: Workspace, source: SiteFileTexts, file: SiteFile, live: LiveSite, plan: SitePlan
) -> DriftBranch:
    """Commit the drift that the policy of a committed site file accepts to a branch of its own.

    Shape: what the branch says already is not said again, and what people wrote there stays.
    """
    areas = frozenset(area for area in AREAS if file.policy.drift(area) == "accept")
    if not areas or not source.commit or not plan.list_drift():
        return DriftBranch()
    repository = workspace.repository
    old = repository.resolve(f"{HEADS}{BRANCH}")
    if old is not None and not repository.is_ancestor(old, source.commit):
        missing = FileInvalid("the file is gone", path=source.path)
        try:
            source = read_at_commit(repository, old, source.path, missing)
        except FileInvalid as error:  # somebody works on that branch: what they make of it is theirs
            return DriftBranch(left=(f"not accepted on {BRANCH}: {error.what}",))
        found, _ = read_site_file(source.text, path=source.path, others=source.others)
        file = found or file
    texts = {**source.others, source.path: source.text}
    accepted = accept_drift(file, texts, live, plan, areas=areas)
    left = tuple(f"not accepted: {sentence}" for sentence in accepted.left)
    if not accepted.texts:
        return DriftBranch(left=left)
    try:
        commit = _commit_accepted(workspace, source, accepted, old)
    except (GuardRefused, RefMoved) as error:  # such as an uncommitted edit in the way: the next run tries again
        return DriftBranch(left=(*left, f"not accepted on {BRANCH} yet: {error.what}"))
    words = f"merge it to keep {', '.join(accepted.words)}"
    return DriftBranch(Change("update" if old else "create", "branch", BRANCH, words, before=old, after=commit), left)


def _commit_accepted(workspace: Workspace, source: SiteFileTexts, accepted: AcceptedDrift, old: str | None) -> str:
    repository, person = workspace.repository, workspace.committer()
    blobs = {path: text.encode() for path, text in accepted.texts.items()}
    tree = repository.write_tree(repository.find_tree(source.commit), blobs)
    count = len(accepted.fields)
    body = "\n".join(f"- {words}" for words in accepted.words)
    message = f"Accept {format_count(count, 'edit')} of the site\n\nChanged on the platform:\n{body}\n"
    commit = repository.commit_tree(tree, parents=[source.commit], message=message, author=person, committer=person)
    repository.fast_forward(BRANCH, old=old, new=commit)
    return commit
