"""Forget the change requests of a space in whose place another one is bound under the same name.

Refs name a space by its name. A change request of the other space may have the number of one of the former space, and
what that held must not pass for the content of it.
"""

from collections.abc import Sequence
from dataclasses import replace

from syncd.plan import message
from syncd.sync.binding import Binding
from syncd.sync.state.notes import NO_REQUEST, SPACE, find_former_space, notes_ref, read_notes
from syncd.sync.state.proposed_refs import ProposalRecord, read_all_records
from syncd.sync.state.request_state import read_recorded_id
from syncd.sync.state.sent_log import COMMENTED, READ, SENDING
from syncd.sync.workspace import Workspace


def forget_former_space(workspace: Workspace, binding: Binding) -> str:
    """Delete the refs of a former space's change requests, and what is recorded of them; return a note on those that
    stay open there, or "".

    Shape: nothing is asked or changed on the platform. What a branch had sent there is proposed to the space that is
    bound now; a former space that is bound once more is one to a new clone, which finds its change requests by the
    markers in their subjects.
    """
    repository = workspace.repository
    records, space = read_all_records(repository, binding), find_former_space(repository, binding)
    if not (space or _has_unnoted(workspace, binding, records)):
        return ""
    former = replace(binding, space=space)
    numbers = sorted({int(record.number) for record in records if record.number.isdecimal()})
    for number in numbers:
        if id := read_recorded_id(workspace, former, number):
            workspace.store.forget(space, id)
        workspace.store.forget_request(space, number)
    noted = notes_ref(binding, NO_REQUEST)
    notes = noted.removesuffix(f"{NO_REQUEST}")
    lanes = f"refs/remotes/{workspace.remote}/changes/{binding.name}/"
    sent = (f"{kind}{binding.name}/" for kind in (SENDING, COMMENTED, READ))
    # The records go last, and then the note whose they are: the run after one that was killed goes on from there.
    for prefix in (lanes, *sent, notes, binding.proposed_refs, noted):
        for ref, commit in repository.list_refs(prefix).items():
            if ref != noted or prefix == noted:
                repository.delete_ref(ref, old=commit)
    if not numbers:
        return ""
    listed = ", ".join(f"#{number}" for number in numbers)
    who = f"space {space}" if space else "another space"
    return f"{binding.name} was {who} before; {listed} there is left as it is"


def _has_unnoted(workspace: Workspace, binding: Binding, records: Sequence[ProposalRecord]) -> bool:
    """Whether a former version, which noted no space, has recorded change requests of another one: nothing can have
    been proposed to a space that was never mirrored."""
    repository = workspace.repository
    if not records or read_notes(repository, binding, NO_REQUEST).get(SPACE):
        return False
    return repository.find_commit(workspace.main, message.SPACE, binding.space) is None
