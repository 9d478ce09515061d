"""How likely each deed, each shape of a world and each fault is in the schedules of a profile."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.faults.twoway.schedule import Shape

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
    race_share: float = 1.0
    """How often a run that something happens to is raced, where there are races; else it is killed, or the like."""


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
    "conflicts": Profile(
        writing={**WRITING, **UNTIDY, "contest": 55, "rename": 12, "link": 8, "git-merge": 2, "amend": 2, "dirty": 6},
        web={**WEB, "contest": 40, "link": 12, "new-page": 6},
        review={**REVIEW, "contest": 16, "link": 4},
        syncing={**SYNCING, "sync": 12, "push": 8, "resolve": 12},
        actors={"write": 8, "sync": 7, "web": 7, "rev": 2, "boss": 1},
        shapes=(
            (5, Shape()),
            (1, Shape(clones=3)),
            (3, Shape(clones=1)),
            (1, Shape(spaces=2)),
            (1, Shape(topics=True)),
        ),
        faults=0.1,
    ),
    "merges": Profile(
        writing={**WRITING, **UNTIDY, "contest": 40, "rename": 8, "folder": 3, "retitle": 8},
        web={**WEB, "contest": 20, "edit": 20, "retitle": 8, "slug": 6},
        boss={"contest-merge": 10, "merge": 3, "update": 2, "archive": 1},
        actors={"write": 8, "sync": 7, "web": 6, "rev": 2, "boss": 5},
        shapes=((6, Shape()), (3, Shape(clones=1)), (2, Shape(update="never")), (1, Shape(spaces=2))),
        faults=0.05,
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
    "blocks": Profile(
        writing={**WRITING, "block": 22, "git-merge": 2, "asset": 0},
        web={**WEB, "block": 16},
        review={**REVIEW, "block": 10},
        shapes=(
            (3, Shape()),
            (1, Shape(spaces=2)),
            (1, Shape(server="formatted")),
            (1, Shape(server="lossy")),
            (2, Shape(server="comments")),
            (1, Shape(clones=1, flow="ci")),
        ),
        faults=0.1,
    ),
    "roots": Profile(
        writing={**WRITING, "link": 5, "reroot": 10, "asset": 0, "git-merge": 2},
        web={**WEB, "link": 4},
        shapes=(
            (4, Shape(root="content")),
            (1, Shape(root="content", spaces=2)),
            (1, Shape(root="content", upstream="one")),
            (1, Shape(root="content", upstream="all")),
            (1, Shape(root="content", topics=True)),
            (1, Shape(root="content", clones=1, flow="ci")),
            (1, Shape(root="content", server="formatted")),
        ),
        faults=0.15,
    ),
    "names": Profile(
        writing={**WRITING, "new-awkward-page": 9, "rename-awkwardly": 9, "retitle-awkwardly": 7, "git-merge": 2},
        web={**WEB, "slug-awkwardly": 8, "retitle-awkwardly": 8},
        review={**REVIEW, "slug-awkwardly": 3, "retitle-awkwardly": 3},
        shapes=(
            (5, Shape()),
            (1, Shape(clones=3)),
            (1, Shape(spaces=2)),
            (1, Shape(update="never")),
            (1, Shape(upstream="one")),
            (1, Shape(server="formatted")),
        ),
        faults=0.1,
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
    "reverts": Profile(
        writing={**WRITING, "revert": 16, "amend": 2, "git-merge": 2},
        web={**WEB, "restore": 4},
        shapes=(
            (4, Shape()),
            (1, Shape(clones=1)),
            (1, Shape(spaces=2)),
            (1, Shape(update="never")),
            (1, Shape(upstream="one")),
            (1, Shape(topics=True)),
            (1, Shape(clones=1, flow="ci")),
        ),
        faults=0.1,
    ),
    "team": Profile(
        writing={**WRITING, **BRANCHING, "git-merge": 2, "rename-branch": 0, "delete-branch": 0},
        shapes=((3, Shape(upstream="one", topics=True)), (1, Shape(clones=3, upstream="one", topics=True))),
        faults=0.15,
    ),
    "drafts": Profile(
        writing={**WRITING, **UNTIDY, "unlist": 12, "git-merge": 2},
        web={**WEB, "restore": 2},
        shapes=(
            (4, Shape()),
            (1, Shape(clones=3)),
            (1, Shape(spaces=2)),
            (1, Shape(update="never")),
            (1, Shape(upstream="one")),
            (1, Shape(upstream="all")),
            (1, Shape(server="formatted")),
            (1, Shape(clones=1, flow="ci")),
        ),
        faults=0.1,
    ),
    "notes": Profile(
        writing={**WRITING, **UNTIDY, "note": 16, "git-merge": 2},
        shapes=(
            (3, Shape(notes=True)),
            (3, Shape(notes=True, upstream="one")),
            (3, Shape(notes=True, upstream="all")),
            (1, Shape(notes=True, spaces=2)),
            (1, Shape(notes=True, topics=True)),
            (3, Shape(notes=True, clones=1, flow="ci")),
            (1, Shape(notes=True, clones=1, spaces=2, flow="ci")),
        ),
        faults=0.1,
    ),
    "transfers": Profile(
        writing={**WRITING, **UNTIDY, "transfer": 14, "git-merge": 2},
        shapes=((4, Shape(spaces=2)), (1, Shape(clones=1, spaces=2, flow="ci"))),
        faults=0.1,
    ),
    "halves": Profile(
        writing={**WRITING, "transfer": 16, "contest-arrived": 24, "amend": 2},
        web={**WEB, "contest-arrived": 24},
        review={**REVIEW, "contest-arrived": 16},
        shapes=((3, Shape(clones=1, spaces=2)), (2, Shape(spaces=2)), (1, Shape(clones=1, spaces=2, flow="ci"))),
        faults=0.05,
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
    "mixed": Profile(
        writing={**WRITING, **REWRITING, **BRANCHING, **UNTIDY, "link": 5, "describe": 3, "into-group": 4, "asset": 0},
        web={**WEB, "link": 4, "describe": 3, "restore": 3, "retitle-group": 2, "move-group": 2, "into-group": 3},
        review={**REVIEW, "link": 2, "describe": 2},
        boss={"merge": 9, "archive": 1, "update": 4, "carry-out": 4},
        actors={"write": 10, "sync": 9, "web": 4, "rev": 2, "boss": 3},
        shapes=(
            (3, Shape(topics=True)),
            (2, Shape(clones=1, topics=True)),
            (1, Shape(spaces=2, topics=True)),
            (1, Shape(groups=True, topics=True)),
            (1, Shape(server="formatted", topics=True)),
            (1, Shape(server="lossy", topics=True)),
            (1, Shape(server="comments", topics=True)),
            (1, Shape(update="never", topics=True)),
            (1, Shape(merge="auto", topics=True)),
            (2, Shape(spaces=2, groups=True, topics=True)),
        ),
        faults=0.5,
        races=RACES,
        race_share=0.6,
    ),
    "everything": Profile(
        writing={
            **WRITING,
            **REWRITING,
            **BRANCHING,
            **UNTIDY,
            "link": 5,
            "describe": 3,
            "into-group": 3,
            "asset": 0,
            "block": 6,
            "reroot": 3,
            "new-awkward-page": 4,
            "rename-awkwardly": 4,
            "retitle-awkwardly": 3,
            "transfer": 3,
            "pick-from": 3,
        },
        web={
            **WEB,
            "link": 4,
            "describe": 3,
            "restore": 3,
            "retitle-group": 2,
            "move-group": 2,
            "into-group": 3,
            "slug-awkwardly": 3,
            "retitle-awkwardly": 3,
            "block": 5,
        },
        review={**REVIEW, "link": 2, "describe": 2, "block": 3, "slug-awkwardly": 1, "retitle-awkwardly": 1},
        boss={"merge": 9, "archive": 1, "update": 4, "carry-out": 4},
        actors={"write": 10, "sync": 9, "web": 4, "rev": 2, "boss": 3},
        shapes=(
            (2, Shape(topics=True)),
            (2, Shape(clones=1, topics=True)),
            (2, Shape(spaces=2, topics=True)),
            (2, Shape(root="content", topics=True)),
            (1, Shape(root="content", spaces=2, topics=True)),
            (1, Shape(root="content", upstream="one", topics=True)),
            (1, Shape(root="content", upstream="all", topics=True)),
            (1, Shape(root="content", groups=True, topics=True)),
            (1, Shape(groups=True, spaces=2, topics=True)),
            (1, Shape(server="formatted", topics=True)),
            (1, Shape(server="comments", topics=True)),
            (1, Shape(server="comments", root="content", topics=True)),
            (1, Shape(update="never", root="content", topics=True)),
            (1, Shape(merge="auto", root="content", topics=True)),
            (1, Shape(upstream="all", clones=3, topics=True)),
            (1, Shape(upstream="one", spaces=2, topics=True)),
        ),
        faults=0.4,
        races=RACES,
        race_share=0.5,
    ),
    "restore": Profile(web={**WEB, "restore": 16}, actors={"write": 6, "sync": 6, "web": 7, "rev": 1, "boss": 3}),
}
