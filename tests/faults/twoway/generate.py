"""Make a schedule of a seed and a profile."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tests.faults.twoway.profiles import PROFILES, REWRITING, SYNCING, WRITING, Profile
from tests.faults.twoway.schedule import THEN, Schedule, Shape, Step

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
        return _aim(Step(id, group, _weighted(chance, deeds), n, m))
    actor = "abc"[: shape.clones][chance.choice([0, 0, *range(shape.clones)])]
    if group == "write":
        # What was pushed to a Git remote is not rewritten: nobody can push it again without force.
        shared = REWRITING.keys() - {"git-merge"} if shape.upstream else ()
        deeds = {name: weight for name, weight in kind.writing.items() if name not in shared}
        return _aim(Step(id, actor, _weighted(chance, deeds), n, m))
    action = _weighted(chance, kind.syncing)
    return Step(id, actor, action, n, m, _fault(chance, kind) if action not in ("resolve", "undo") else "")


def _aim(step: Step) -> Step:
    """The step, at one of the few sentences that all contest where that is its action."""
    if step.action == "contest-arrived":
        return replace(step, n=step.n % 2, m=step.m % 2)
    return replace(step, n=step.n % 2, m=0) if step.action == "contest" else step


def _fault(chance: random.Random, kind: Profile) -> str:
    """What happens to a run, and to the next ones when it is killed, or "" for nothing."""
    if chance.random() >= kind.faults:
        return ""
    return THEN.join([_first_fault(chance, kind), *(_kill_at_request(chance) for _ in range(kind.kills_again))])


def _first_fault(chance: random.Random, kind: Profile) -> str:
    if kind.races and (kind.race_share == 1 or chance.random() < kind.race_share):
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
