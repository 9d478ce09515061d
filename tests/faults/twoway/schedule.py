"""A schedule: who does what, in which order, as data that a seed makes and a file can hold.

A step names its target by a number ("the n-th page that exists"), which is looked up when the step is played; so every
subset of the steps is a schedule again.
"""

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Shape:
    """What the world of a schedule is like before its first step.

    Shape: `server` is "plain", "formatted" or "lossy" (it rewrites Markdown), or "comments" (its API writes no content,
    so that people carry out what comments propose); `update`, `merge` and `status` are the policies of the
    configuration; `flow` is "sync", or "ci" where a job that starts from a fresh clone proposes, and
    the writer pulls. `upstream` is "" for none, "one" where the first clone alone has syncd and the others share a Git
    remote with it, or "all" where all have both, and each proposes what the others have committed. With
    `groups`, pages of a space stand in groups, which people make, rename and move on the platform alone: the API has no
    operation for them. With `topics`, clones have branches beside main, each with a change request of its own.
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


WRITING: Mapping[str, int] = {
    "edit": 10,
    "replace": 5,
    "drop": 5,
    "new-page": 4,
    "delete-page": 3,
    "rename": 5,
    "retitle": 5,
    "reorder": 2,
    "nest": 2,
    "folder": 2,
    "swap": 2,
    "edit-two": 3,
    "asset": 2,
    "crlf": 1,
}
REWRITING: Mapping[str, int] = {"amend": 3, "reset": 3, "squash": 2, "rebase": 2, "git-merge": 3}
BRANCHING: Mapping[str, int] = {
    "branch": 9,
    "switch": 10,
    "join": 4,
    "pick": 3,
    "rename-branch": 1,
    "delete-branch": 2,
}
UNTIDY: Mapping[str, int] = {"dirty": 2, "stash": 1, "unstash": 1}
SYNCING: Mapping[str, int] = {"sync": 10, "push": 6, "pull": 4, "resolve": 4, "serve": 2}
WEB: Mapping[str, int] = {
    "draft-edit": 3,
    "draft-merge": 3,
    "asset": 1,
    "edit": 8,
    "replace": 5,
    "drop": 4,
    "new-page": 3,
    "delete-page": 2,
    "retitle": 4,
    "slug": 3,
    "nest": 2,
    "reorder": 1,
    "swap": 1,
    "restore": 1,
}
REVIEW: Mapping[str, int] = {
    "edit": 8, "replace": 4, "drop": 3, "new-page": 1, "delete-page": 1, "retitle": 3, "slug": 1
}  # fmt: skip
RACES = (
    "web.edit+boss.update", "web.edit+boss.merge", "web.new-page+boss.update", "web.delete-page+boss.update",
    "web.slug+boss.update", "web.restore", "web.restore+boss.update", "rev.edit+boss.update", "rev.edit+boss.merge",
    "rev.delete-page", "rev.slug", "rev.new-page", "boss.update", "boss.merge", "boss.archive",
)  # fmt: skip
BOSS: Mapping[str, int] = {"merge": 12, "archive": 1, "update": 1, "carry-out": 0}


@dataclass(frozen=True)
class Profile:
    """How likely the deeds of each kind are in a schedule."""

    writing: Mapping[str, int] = field(default_factory=lambda: WRITING)
    web: Mapping[str, int] = field(default_factory=lambda: WEB)
    review: Mapping[str, int] = field(default_factory=lambda: REVIEW)
    syncing: Mapping[str, int] = field(default_factory=lambda: SYNCING)
    boss: Mapping[str, int] = field(default_factory=lambda: BOSS)
    actors: Mapping[str, int] = field(default_factory=lambda: {"write": 9, "sync": 7, "web": 4, "rev": 2, "boss": 3})
    shapes: tuple[tuple[int, Shape], ...] = ((1, Shape()),)
    faults: float = 0.0
    kills_servers: bool = False
    kills_again: int = 0
    """How often the same command is killed again when it is run again."""
    races: Sequence[str] = ()
    """What others do while syncd runs, where nothing else happens to it; joined by + they do several things."""


_SHAPES = (
    (10, Shape()),
    (2, Shape(clones=3)),
    (3, Shape(spaces=2)),
    (2, Shape(update="never")),
    (1, Shape(merge="auto")),
    (1, Shape(status="draft")),
    (2, Shape(server="formatted")),
    (1, Shape(server="lossy")),
    (1, Shape(clones=1, flow="ci")),
    (1, Shape(clones=1, spaces=2, flow="ci")),
    (2, Shape(upstream="one")),
)
PROFILES: Mapping[str, Profile] = {
    "plain": Profile(),
    "rewrites": Profile(writing={**WRITING, **{name: 2 * many for name, many in REWRITING.items()}, **UNTIDY}),
    "commits": Profile(
        writing={**WRITING, **REWRITING, **UNTIDY, "rebase-commits": 12, "shuffle": 5},
        shapes=((4, Shape()), (1, Shape(spaces=2)), (1, Shape(update="never"))),
        faults=0.1,
    ),
    "kills": Profile(faults=0.5),
    "kill": Profile(
        writing={**WRITING, **REWRITING, **UNTIDY},
        syncing={**SYNCING, "resolve": 2},
        actors={"write": 9, "sync": 12, "web": 4, "rev": 2, "boss": 3},
        shapes=_SHAPES,
        faults=0.95,
        kills_servers=True,
        kills_again=5,
    ),
    "all": Profile(writing={**WRITING, **REWRITING, **UNTIDY}, shapes=_SHAPES, faults=0.25),
    "spaces": Profile(writing={**WRITING, **REWRITING}, shapes=((1, Shape(spaces=2)),)),
    "lossy": Profile(shapes=((1, Shape(server="formatted")), (1, Shape(server="lossy")))),
    "upstream": Profile(
        writing={**WRITING, **UNTIDY, "git-merge": 2},
        shapes=(
            (4, Shape(upstream="one")),
            (1, Shape(clones=3, upstream="one")),
            (1, Shape(spaces=2, upstream="one")),
        ),
        faults=0.25,
    ),
    "shared": Profile(
        writing={**WRITING, **UNTIDY, "git-merge": 2},
        shapes=(
            (4, Shape(upstream="all")),
            (1, Shape(clones=3, upstream="all")),
            (1, Shape(spaces=2, upstream="all")),
        ),
        faults=0.25,
    ),
    "groups": Profile(
        writing={**WRITING, "into-group": 8, "git-merge": 2},
        web={**WEB, "retitle-group": 6, "move-group": 5, "into-group": 7, "ungroup": 1},
        shapes=((3, Shape(groups=True)), (1, Shape(groups=True, spaces=2)), (1, Shape(groups=True, upstream="one"))),
        faults=0.2,
    ),
    "assets": Profile(
        writing={**WRITING, "asset": 14, "asset-replace": 8, "asset-rename": 5, "asset-delete": 4},
        web={**WEB, "asset": 10, "asset-replace": 6, "asset-drop": 3},
        shapes=((4, Shape()), (1, Shape(spaces=2)), (1, Shape(upstream="one")), (1, Shape(upstream="all"))),
        faults=0.15,
    ),
    "links": Profile(
        writing={**WRITING, "link": 16, "rename": 8, "nest": 5, "folder": 3, "swap": 4},
        web={**WEB, "link": 10, "draft-link": 2, "slug": 7, "nest": 5, "swap": 3},
        review={**REVIEW, "link": 6, "slug": 2},
        shapes=((4, Shape()), (1, Shape(clones=3)), (1, Shape(spaces=2)), (1, Shape(update="never"))),
        faults=0.15,
    ),
    "descriptions": Profile(
        writing={**WRITING, **UNTIDY, "describe": 16, "git-merge": 2},
        web={**WEB, "describe": 14},
        review={**REVIEW, "describe": 6},
        shapes=((4, Shape()), (1, Shape(spaces=2)), (1, Shape(upstream="one")), (1, Shape(clones=1, flow="ci"))),
        faults=0.15,
    ),
    "topics": Profile(
        writing={**WRITING, **BRANCHING, "git-merge": 2},
        shapes=(
            (4, Shape(clones=1, topics=True)),
            (3, Shape(topics=True)),
            (1, Shape(clones=1, spaces=2, topics=True)),
            (1, Shape(clones=1, topics=True, update="never")),
            (1, Shape(clones=1, topics=True, merge="auto")),
        ),
        faults=0.15,
    ),
    "stacks": Profile(
        writing={**WRITING, **BRANCHING, **REWRITING},
        shapes=(
            (4, Shape(clones=1, topics=True)),
            (3, Shape(topics=True)),
            (1, Shape(clones=1, spaces=2, topics=True)),
        ),
        faults=0.1,
    ),
    "picks": Profile(
        writing={**WRITING, "amend": 3, "rebase": 2, "git-merge": 3, "pick-from": 14},
        shapes=((3, Shape()), (1, Shape(clones=3)), (1, Shape(spaces=2)), (1, Shape(topics=True))),
        faults=0.1,
    ),
    "team": Profile(
        writing={**WRITING, **BRANCHING, "git-merge": 2, "rename-branch": 0, "delete-branch": 0},
        shapes=((3, Shape(upstream="one", topics=True)), (1, Shape(clones=3, upstream="one", topics=True))),
        faults=0.15,
    ),
    "transfers": Profile(
        writing={**WRITING, **UNTIDY, "transfer": 14, "git-merge": 2},
        shapes=((4, Shape(spaces=2)), (1, Shape(clones=1, spaces=2, flow="ci"))),
        faults=0.1,
    ),
    "closing": Profile(
        writing={**WRITING, **BRANCHING, "git-merge": 2, "rename-branch": 0, "delete-branch": 8},
        shapes=((3, Shape(upstream="one", topics=True)), (1, Shape(upstream="all", topics=True))),
        faults=0.1,
    ),
    "undo": Profile(
        syncing={**SYNCING, "undo": 10}, shapes=((3, Shape()), (1, Shape(spaces=2)), (1, Shape(upstream="one")))
    ),
    "ci": Profile(
        writing={**WRITING, **REWRITING},
        shapes=(
            (2, Shape(clones=1, flow="ci")),
            (2, Shape(clones=1, spaces=2, flow="ci")),
            (1, Shape(clones=1, flow="ci", update="never")),
            (1, Shape(clones=1, spaces=2, flow="ci", server="formatted")),
        ),
        faults=0.25,
    ),
    "comments": Profile(
        writing={name: weight for name, weight in WRITING.items() if name != "asset"},
        boss={"merge": 6, "archive": 1, "update": 1, "carry-out": 8},
        shapes=((3, Shape(server="comments")), (1, Shape(server="comments", spaces=2))),
        faults=0.2,
    ),
    "service": Profile(
        writing={**WRITING, **REWRITING, **UNTIDY}, syncing={"serve": 12, "push": 2, "resolve": 2}, faults=0.5
    ),
    "races": Profile(
        writing={**WRITING, **UNTIDY},
        web={**WEB, "restore": 6},
        boss={"merge": 8, "archive": 1, "update": 6},
        actors={"write": 9, "sync": 10, "web": 3, "rev": 2, "boss": 3},
        shapes=(
            (5, Shape()),
            (2, Shape(spaces=2)),
            (1, Shape(update="never")),
            (1, Shape(upstream="one")),
            (1, Shape(clones=1, flow="ci")),
        ),
        faults=0.7,
        races=RACES,
    ),
    "restore": Profile(web={**WEB, "restore": 16}, actors={"write": 6, "sync": 6, "web": 7, "rev": 1, "boss": 3}),
}
THEN = " then "
POINTS = 60
"""More than the program has fault points: a schedule names one by a number, so that it holds when there are others."""
SHORTEST, LONGEST = 7, 13
LOST = 0.1
"""How often a write is not answered, instead of a kill there."""
PROMPT = 0.4
"""How often a writer syncs right after a deed."""


def generate(seed: int, profile: str = "all") -> Schedule:
    """Given a seed and the name of a profile, return its schedule, always the same."""
    chance, kind = random.Random(f"{profile} {seed}"), PROFILES[profile]
    shape = _pick(chance, kind.shapes)
    most = chance.randint(SHORTEST, LONGEST)
    steps: list[Step] = []
    while len(steps) < most:
        step = _step(chance, kind, shape, len(steps) + 1, has_pushed=any(one.action in SYNCING for one in steps))
        steps.append(step)
        if step.action in WRITING and step.actor in "abc" and chance.random() < PROMPT:
            action = chance.choice(["sync", "sync", "push"])
            steps.append(Step(len(steps) + 1, step.actor, action, fault=_fault(chance, kind)))
    return Schedule(seed, shape, tuple(steps), chance.choice(["edit", "edit", "ours", "theirs"]))


def _step(chance: random.Random, kind: Profile, shape: Shape, id: int, *, has_pushed: bool) -> Step:
    group = _weighted(chance, kind.actors)
    if group in ("rev", "boss") and not has_pushed:
        group = "write"
    n, m = chance.randrange(1000), chance.randrange(1000)
    if group in ("web", "rev", "boss"):
        deeds = {"web": kind.web, "rev": kind.review, "boss": kind.boss}[group]
        return Step(id, group, _weighted(chance, deeds), n, m)
    actor = "abc"[: shape.clones][chance.choice([0, 0, *range(shape.clones)])]
    if group == "write":
        # What was pushed to a Git remote is not rewritten: nobody can push it again without force.
        shared = REWRITING.keys() - {"git-merge"} if shape.upstream else ()
        deeds = {name: weight for name, weight in kind.writing.items() if name not in shared}
        return Step(id, actor, _weighted(chance, deeds), n, m)
    action = _weighted(chance, kind.syncing)
    return Step(id, actor, action, n, m, _fault(chance, kind) if action not in ("resolve", "undo") else "")


def _fault(chance: random.Random, kind: Profile) -> str:
    """What happens to a run, and to the next ones when it is killed, or "" for nothing."""
    if chance.random() >= kind.faults:
        return ""
    return THEN.join([_first_fault(chance, kind), *(_kill_at_request(chance) for _ in range(kind.kills_again))])


def _first_fault(chance: random.Random, kind: Profile) -> str:
    if kind.races:
        return _race(chance, kind.races, latest=20)
    way = chance.choice(["write", "write", "request", "point", "point", "race", "race"])
    what = chance.choice(["kill", "kill", "kill", "kill", "kill", "kill", "term"])
    if kind.kills_servers and chance.random() < 0.25:
        what = "server"
    if way == "point":
        return f"kill:point:{chance.randrange(POINTS)}:{chance.choice([1, 1, 1, 2, 3])}"
    if way == "race":
        return _race(chance, ["web.edit", "web.replace", "web.retitle", "rev.edit", "rev.replace", "boss.merge"])
    if way == "write" and what == "kill" and chance.random() < LOST:
        return f"lost:after-write:{chance.choice([1, 1, 2, 3])}"
    number = chance.choice([1, 1, 1, 2, 2, 3, 4]) if way == "write" else chance.randint(1, 9)
    return f"{what}:{chance.choice(['before', 'after'])}-{way}:{number}"


def _race(chance: random.Random, deeds: Sequence[str], *, latest: int = 12) -> str:
    """What others do at one of the first requests of a run."""
    return f"{chance.choice(deeds)}:{chance.choice(['before', 'after'])}-request:{chance.randint(1, latest)}"


def _kill_at_request(chance: random.Random) -> str:
    return f"kill:{chance.choice(['before', 'after'])}-request:{chance.randint(1, 12)}"


def _pick(chance: random.Random, choices: Iterable[tuple[int, Shape]]) -> Shape:
    rows = list(choices)
    return chance.choices([shape for _, shape in rows], [weight for weight, _ in rows])[0]


def _weighted(chance: random.Random, weights: Mapping[str, int]) -> str:
    return chance.choices(list(weights), list(weights.values()))[0]
