"""Tells a failing schedule: how to play it again, what was done, as commands, and what came of it."""

from tests.faults.twoway.campaign import Played

WIDTH = 240


def tell(played: Played, profile: str) -> str:
    """Given what was played and the profile that made it, return the story."""
    schedule = played.schedule
    ids = ",".join(str(step.id) for step in schedule.steps)
    lines = [
        f"## seed {schedule.seed}: {', '.join(played.columns) or 'nothing failed'}",
        f"again: python -m tests.faults replay --profile {profile} --seed {schedule.seed} --steps {ids}",
        f"world: {schedule.shape}; conflicts are settled by --{schedule.settle}",
        *played.story,
    ]
    shown = [line if len(line) <= WIDTH else line[: WIDTH - 4] + " ..." for line in lines]
    return "\n".join([*shown, *(f"=> {failure.column}: {failure.text}" for failure in played.failures)])
