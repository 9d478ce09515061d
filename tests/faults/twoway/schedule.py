"""A schedule: who does what, in which order, as data that a seed makes and a file can hold.

A step names its target by a number ("the n-th page that exists"), which is looked up when the step is played; so every
subset of the steps is a schedule again.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

THEN = " then "
"""Between what happens to a command, and to the same one when it is run again because it was killed."""


@dataclass(frozen=True)
class Shape:
    """What the world of a schedule is like before its first step.

    Shape: `server` is "plain", "formatted" or "lossy" (it rewrites Markdown), or "comments" (its API writes no content,
    so that people carry out what comments propose); `update`, `merge` and `status` are the policies of the
    configuration; `flow` is "sync", or "ci" where a job that starts from a fresh clone proposes, and
    the writer pulls. `upstream` is "" for none, "one" where the first clone alone has syncd and the others share a Git
    remote with it, or "all" where all have both, and each proposes what the others have committed. With
    `groups`, pages of a space stand in groups, which people make, rename and move on the platform alone: the API has no
    operation for them. With `topics`, clones have branches beside main, each with a change request of its own. `root`
    is the directory below a space's that its `.gitbook.yaml` names, "" for none. With `notes`, each space has reusable
    content, which the API cannot write.
    """

    clones: int = 2
    spaces: int = 1
    server: str = "plain"
    update: str = "auto"
    merge: str = "manual"
    status: str = "open"
    flow: str = "sync"
    upstream: str = ""
    groups: bool = False
    topics: bool = False
    root: str = ""
    notes: bool = False


@dataclass(frozen=True)
class Step:
    """One deed. Shape: `actor` is a clone ("a", "b", "c"), "web" (an editor of main content), "rev" (a reviewer of a
    change request) or "boss" (who merges and archives); `fault` is what happens while syncd runs, such as
    "kill:after-write:2" or "web.edit:before-request:5"; after THEN stands what happens to the same command when it is
    run again because it was killed."""

    id: int
    actor: str
    action: str
    n: int = 0
    m: int = 0
    fault: str = ""


@dataclass(frozen=True)
class Schedule:
    """What is played. Shape: the end is played as `settle` says: how conflicts are settled."""

    seed: int
    shape: Shape
    steps: tuple[Step, ...]
    settle: str = "edit"

    @property
    def goes_on(self) -> bool:
        """Whether everybody edits once more when all is at rest: it costs as much as all steps together."""
        return self.seed % 3 == 0

    def only(self, ids: Iterable[int]) -> "Schedule":
        """Given ids of steps, return the schedule with these alone."""
        wanted = set(ids)
        return replace(self, steps=tuple(step for step in self.steps if step.id in wanted))

    def dump(self) -> str:
        """Return the schedule as JSON that `load` reads."""
        return json.dumps(asdict(self), indent=1)


def load(text: str) -> Schedule:
    """Given what `dump` returned, return the schedule. Raises: ValueError, KeyError, TypeError."""
    data: dict[str, Any] = json.loads(text)
    steps = tuple(Step(**step) for step in data["steps"])
    return Schedule(data["seed"], Shape(**data["shape"]), steps, data["settle"])
