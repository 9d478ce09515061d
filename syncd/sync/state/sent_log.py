"""Refs that record what was being sent to a change request, so that the next run knows what a killed one has
written."""

from typing import TYPE_CHECKING

from syncd.sync.binding import Binding

if TYPE_CHECKING:  # `status` needs the names of the refs only
    from syncd.sync.workspace import Workspace

SENDING = "refs/syncd/sending/"
"""Below it `<space>/<number>` is the commit that is being written to a change request."""
COMMENTED = "refs/syncd/commented/"
"""Below it `<space>/<number>` is the commit that the comments of a change request propose."""
READ = "refs/syncd/read/"
"""Below it `<space>/<number>` is what a change request holds, where its own commit says what is meant instead."""


def begin_sending(workspace: "Workspace", binding: Binding, number: int, commit: str) -> None:
    """Record the commit that is about to be written to a change request."""
    workspace.repository.set_ref(f"{SENDING}{binding.name}/{number}", commit)


def end_sending(workspace: "Workspace", binding: Binding, number: int) -> None:
    """Delete the record that a change request was being written, once its content was read back."""
    workspace.repository.set_ref(f"{SENDING}{binding.name}/{number}", None)


def is_sending(workspace: "Workspace", binding: Binding, number: int) -> bool:
    """Return whether a run ended before it had read back what it wrote to a change request."""
    return workspace.repository.resolve(f"{SENDING}{binding.name}/{number}") is not None


def begin_comments(workspace: "Workspace", binding: Binding, number: int, commit: str) -> None:
    """Record the commit that the comments on a change request propose."""
    workspace.repository.set_ref(f"{COMMENTED}{binding.name}/{number}", commit)


def end_comments(workspace: "Workspace", binding: Binding, number: int) -> None:
    """Delete the record that comments had the proposal, once the content of the change request has it."""
    workspace.repository.set_ref(f"{COMMENTED}{binding.name}/{number}", None)


def find_commented(workspace: "Workspace", binding: Binding, number: int) -> str | None:
    """Return the commit that the comments of a change request propose; None when its content does."""
    return workspace.repository.resolve(f"{COMMENTED}{binding.name}/{number}")


def record_read(workspace: "Workspace", binding: Binding, number: int, commit: str) -> None:
    """Record the commit of what the platform holds of a change request; "" where that is the change request's own
    commit.
    """
    workspace.repository.set_ref(f"{READ}{binding.name}/{number}", commit or None)


def list_sent(workspace: "Workspace", binding: Binding, number: int | None = None) -> tuple[str, ...]:
    """Return the commits that may have been sent to a change request, or with None to any of the space."""
    below = f"{binding.name}/" if number is None else f"{binding.name}/{number}"
    listed = (workspace.repository.list_refs(f"{kind}{below}") for kind in (SENDING, COMMENTED))
    return tuple(dict.fromkeys(commit for found in listed for commit in found.values()))


def forget_sent(workspace: "Workspace", binding: Binding, number: int) -> None:
    """Delete all records of what was sent to a change request that is done."""
    end_sending(workspace, binding, number)
    end_comments(workspace, binding, number)
    record_read(workspace, binding, number, "")
