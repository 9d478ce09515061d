"""Convert merge records of syncd versions that had no parts.

These versions wrote trailers on a merge commit: the commit that was taken in, the common ancestors, and the pages that
were left out. The newest such record is turned into a part, once, by a merge that changes no file. Older ones are not
needed any more.
"""

import json
from collections.abc import Iterable

from syncd.repo.repository import Repository
from syncd.sync.branches import HEADS
from syncd.sync.merge.leave_out import leave_out
from syncd.sync.merge.parts import PART_TRAILER
from syncd.sync.merge.write_part import write_part
from syncd.sync.workspace import Workspace

_TAKEN_IN, _LEFT_OUT, _COMMON = "Syncd-Met", "Syncd-Held", "Syncd-Since"


def convert_former_record(workspace: Workspace, branch: str) -> bool:
    """Record as a part what a former version of syncd had recorded in trailers; return whether the branch moved.

    Raises: WorkTreeInTheWay, OperationInProgress or RefMoved when the branch cannot be moved.
    """
    repository = workspace.repository
    tip, main = repository.resolve(f"{HEADS}{branch}"), repository.resolve(workspace.main)
    if tip is None or main is None or repository.is_ancestor(main, tip):
        return False
    for commit in repository.find_marked(main, tip, _TAKEN_IN)[1]:
        taken = [
            oid for oid in _select_present(repository, commit.trailers[_TAKEN_IN]) if repository.is_ancestor(oid, main)
        ]
        common = _select_present(repository, commit.trailers.get(_COMMON, []))
        # A part that came after a record has taken its place; without the commits that it names, it says nothing.
        if (
            not taken
            or not common
            or any(PART_TRAILER in one.trailers for one in repository.find_marked(commit.oid, tip, PART_TRAILER)[1])
        ):
            continue
        left_out = [paths for value in commit.trailers.get(_LEFT_OUT, []) if (paths := _parse_paths(value))]
        tree = leave_out(repository, workspace.bindings, taken[0], common[0], left_out)
        part = write_part(repository, taken[0], common, tree, name=f"{workspace.remote}/main")
        person = workspace.committer()
        words = f"Record what {branch} has taken in of {workspace.remote}/main\n"
        joined = repository.commit_tree(
            repository.read_root_tree(tip), parents=[tip, part], message=words, author=person, committer=person
        )
        repository.fast_forward(branch, old=tip, new=joined)
        return True
    return False


def _select_present(repository: Repository, oids: Iterable[str]) -> list[str]:
    named = list(oids)
    here = repository.select_present(named)
    return [oid for oid in named if oid in here]


def _parse_paths(value: str) -> list[str]:
    """The paths of one page: one as it is, or several as JSON."""
    try:
        found = json.loads(value) if value.startswith("[") else [value]
    except ValueError:
        return [value]
    return [path for path in found if isinstance(path, str)]
