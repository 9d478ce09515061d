"""Pages in conflict as people are told of them: each an outcome of its own, with the command that settles it."""

from collections.abc import Callable
from shlex import quote

from syncd.errors import Conflict
from syncd.store.glance import Outcome as Remembered
from syncd.sync.meeting import SET_ASIDE, Meeting
from syncd.sync.outcome import Held
from syncd.sync.workspace import Workspace


def conflicts_of(
    workspace: Workspace, meeting: Meeting, branch: str, name: str, *, among: Callable[[str], bool] | None = None
) -> tuple[Held, ...]:
    """Given a meeting of a branch with what `name` stands for, return an outcome for each held page.

    Shape: `among` chooses by path; pages that were set aside for another reason are told of there.
    """
    checked_out = workspace.repository.head().branch == branch if meeting.held else True
    where = "" if checked_out else f" --branch {quote(branch)}"
    return tuple(
        Held(
            f"{page.why} ({branch} and {name}); it stays as each side has it",
            f"syncd resolve {quote(page.path)}{where}, with --ours, --theirs or --edit",
            exit_code=Conflict.exit_code,
            paths=(page.path,),
        )
        for page in meeting.held
        if page.why != SET_ASIDE and (among is None or any(map(among, page.paths)))
    )


def settle_conflicts(workspace: Workspace, is_settled: Callable[[str], bool]) -> None:
    """Given which pages are settled, let what was last said of them not stand."""
    at = workspace.now().isoformat(timespec="seconds")
    told = [outcome for outcome in workspace.store.outcomes() if outcome.flow == "conflict" and outcome.state == "held"]
    workspace.store.record(Remembered("conflict", o.key, "unchanged", "", at) for o in told if is_settled(o.key))
