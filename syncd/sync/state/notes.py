"""Notes of syncd on one change request: a small JSON file in Git, kept by a ref as long as the change request lives."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from syncd.repo.repository import Repository
from syncd.sync.binding import Binding

if TYPE_CHECKING:  # `status` needs it not
    from syncd.model.change_request import ChangeRequest

FILE = "notes.json"
FILES_BY_HAND = "files_by_hand"
"""Files that a person has to bring to the platform."""
ADDRESS = "address"
"""Where people read the change request."""

SPACE = "space"
"""The id of the space that the records under a name are of; in the notes of NO_REQUEST."""
NO_REQUEST = 0
"""Stands for the number where there is no change request."""

STATUS = "status"
"""What became of the change request, when that is not what a reader of Git would think: it was archived."""


def read_notes(repository: Repository, binding: Binding, number: int) -> dict[str, Any]:
    """Return the notes of a change request; {} where a person removed them."""
    commit = repository.resolve(notes_ref(binding, number))
    blob = repository.lookup(commit, FILE) if commit is not None else None
    try:
        notes = json.loads(repository.read(blob)) if blob is not None else {}
    except ValueError:
        return {}
    return notes if isinstance(notes, dict) else {}


def add_notes(repository: Repository, binding: Binding, number: int, facts: Mapping[str, Any]) -> None:
    """Add facts by name to the notes of a change request."""
    before = read_notes(repository, binding, number)
    after = before | dict(facts)
    if after != before:
        data = json.dumps(after, sort_keys=True, indent=1).encode()
        repository.write_files(notes_ref(binding, number), {FILE: data}, f"Note of change request #{number}\n")


def note_status(repository: Repository, binding: Binding, request: "ChangeRequest") -> None:
    """Note in Git whether a change request is archived now, for readers that have Git only."""
    status = request.status if request.status == "archived" else ""
    if read_notes(repository, binding, request.number).get(STATUS, "") != status:
        add_notes(repository, binding, request.number, {STATUS: status})


def note_space(repository: Repository, binding: Binding) -> None:
    """Note which space the records of change requests under its name are of."""
    add_notes(repository, binding, NO_REQUEST, {SPACE: binding.space})


def forget_space(repository: Repository, binding: Binding) -> None:
    """Take back the note of the space, once nothing is recorded under its name."""
    noted, ref = read_notes(repository, binding, NO_REQUEST), notes_ref(binding, NO_REQUEST)
    old = repository.resolve(ref)
    if old is None or noted.pop(SPACE, None) is None:
        return
    if noted:
        data = json.dumps(noted, sort_keys=True, indent=1).encode()
        repository.write_files(ref, {FILE: data}, "Note of no change request\n")
    else:
        repository.delete_ref(ref, old=old)


def find_former_space(repository: Repository, binding: Binding) -> str:
    """Return the id of another space whose change requests are recorded under the name of this one, or ""."""
    noted = read_notes(repository, binding, NO_REQUEST).get(SPACE, "")
    return noted if isinstance(noted, str) and noted != binding.space else ""


def notes_ref(binding: Binding, number: int) -> str:
    """Return the ref of a change request's notes."""
    return f"refs/syncd/notes/{binding.name}/{number}"
