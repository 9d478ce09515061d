"""`kill -9` at any moment of clone, push and pull: the same command, run again, comes to the same end.

Three ways to choose the moment: when the n-th request reaches the platform or its answer is on the way, at the n-th
step of the process (`zygote.py`), and at a fault point. Half of the kills end git's processes too, half leave them.
SYNCD_TEST_KILLS is the number of points of the long form.
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from syncd.fault_points import FaultPoint
from syncd.model.change_request import ChangeRequestCreate, ChangeRequestUpdate
from syncd.model.content_write import ContentWrite, UpdatePage
from tests.sampling import sample_cases

pytestmark = pytest.mark.story

KILLS = int(os.environ.get("SYNCD_TEST_KILLS", "240"))
TRIES = 2
"""Runs in which a command has to recover."""
SIGKILL = -9
OF_IMPORTS = {FaultPoint.IMPORT_COMPARED, FaultPoint.IMPORT_REQUESTED, FaultPoint.IMPORT_DONE}
OF_PLANS = {FaultPoint.PLAN_BEGUN, FaultPoint.PLAN_STEP_SENT, FaultPoint.PLAN_DONE}
ELSEWHERE = {FaultPoint.BRANCH_PUSHED, FaultPoint.SITE_BUILT, FaultPoint.SITE_PUBLISHED} | OF_IMPORTS | OF_PLANS
"""Those of an upstream, and of a site that is built or kept, which no scene has:
`tests/cli/sync/test_cli_upstream_mirror.py`, `tests/sync/publish/test_publish_target.py`, `tests/sync/git_import/` and
`tests/fleet/test_fleet_plans.py` stop there."""
FAULT_POINTS = tuple(point for point in FaultPoint if point not in ELSEWHERE)
UNSAVED = "# Errors\n\nWhat they mean. token-unsaved\n"
UNTRACKED = "token-untracked\n"


def clone(stage: Any) -> tuple[str, ...]:
    return tuple(stage.clone_words())


def push(stage: Any) -> tuple[str, ...]:
    """Edits, a new page with an image, a rename and a deletion."""
    stage.fine(*stage.clone_words())
    text = (stage.clone / "guide" / "setup.md").read_text()
    summary = (stage.clone / "SUMMARY.md").read_text()
    files = {
        "README.md": "# Home\n\nWelcome back. token-1 See [setup](guide/install.md).\n",
        "guide/install.md": text.replace("# Setup", "# Installing"),
        "new-page.md": "# New page\n\n![new](.gitbook/assets/new.png) token-2 and [options](options.md).\n",
        ".gitbook/assets/new.png": b"\x89PNG\r\n\x1a\n another picture that is none",
        "SUMMARY.md": summary.replace("[Setup](guide/setup.md)", "[Installing](guide/install.md)").replace(
            "* [Notes](notes.md)\n", "* [New page](new-page.md)\n"
        ),
    }
    stage.commit("Rework the guide", files, gone=["guide/setup.md", "notes.md"])
    leave_unsaved(stage)
    return ("push",)


def push_again(stage: Any) -> tuple[str, ...]:
    """A change request is there already, and a reviewer has edited it; two more commits."""
    push(stage)
    stage.fine("push")
    with stage.client() as client:
        content = client.change_request_content.get(stage.space, "1")
        (options,) = [page.id for page in content.pages[2].pages if page.slug == "options"]
        edit(client, stage.space, "1", options, "# Options\n\n* first token-reviewer\n* second\n")
    stage.commit("More", {"guide/usage.md": "# Usage\n\n![A picture](../.gitbook/assets/picture.png)\n\ntoken-3\n"})
    stage.commit("Rename", {"guide/README.md": "# The guide\n\nStart here. token-4\n"})
    return ("push",)


def pull(stage: Any) -> tuple[str, ...]:
    """Both sides have changed: a merge, and a work tree that follows it."""
    stage.fine(*stage.clone_words())
    stage.commit("Mine", {"options.md": "# Options\n\n* first token-1\n* second\n"})
    stage.commit("Mine too", {"mine.md": "token-2\n"})
    summary = (stage.clone / "SUMMARY.md").read_text()
    theirs = {
        "README.md": "# Home\n\nTheirs. token-3\n",
        "guide/usage.md": "# Usage\n\n![A picture](../.gitbook/assets/other.png)\n",
        ".gitbook/assets/other.png": b"\x89PNG\r\n\x1a\n theirs",
        "theirs.md": "# Theirs\n\nA new page. token-4\n",
        "notes.md": None,
        "SUMMARY.md": summary.replace("* [Notes](notes.md)\n", "* [Theirs](theirs.md)\n"),
    }
    stage.revise(theirs)
    leave_unsaved(stage)
    return ("pull",)


def pull_merged(stage: Any) -> tuple[str, ...]:
    """The own change request was merged on the platform, and main content has gone on."""
    push(stage)
    stage.fine("push")
    with stage.client() as client:
        client.change_requests.merge(stage.space, "1")
        (options,) = [page.id for page in client.content.list_pages(stage.space)[2].pages if page.slug == "options"]
        other = client.change_requests.create(stage.space, ChangeRequestCreate(subject="Theirs"))
        edit(client, stage.space, other.id, options, "# Options\n\n* first token-theirs\n* second\n")
        client.change_requests.merge(stage.space, other.id)
    return ("pull",)


def leave_unsaved(stage: Any) -> None:
    stage.write({"errors.md": UNSAVED, "untracked.txt": UNTRACKED})


def edit(client: Any, space: str, request: str, page: str, markdown: str) -> None:
    changes = (UpdatePage.model_validate({"page": page, "document": {"markdown": markdown}}),)
    client.change_requests.write_content(space, request, ContentWrite(changes=changes))


Way = Literal["before", "after", "step", "point"]


@dataclass(frozen=True)
class Point:
    """A moment of a run: `at` is the number of a request or step, or of a fault point in `FaultPoint`.

    Shape: of requests and steps, `at` between 0 and 1 is the part of all; a negative one counts from the last request.
    """

    scene: Callable[[Any], tuple[str, ...]]
    way: Way
    at: float
    whole: bool = True

    def __str__(self) -> str:
        at = FAULT_POINTS[int(self.at)] if self.way == "point" else f"{self.at:.4g}"
        return f"{self.scene.__name__}-{self.way}-{at}{'' if self.whole else '-alone'}"


def fallen(theatre: Any, stage: Any, point: Point) -> bool:
    """Start the scene's command and kill it at the point; return whether it was still running then."""
    scene = theatre.scene(point.scene)
    words = theatre.words(scene, stage)
    if point.way == "point":
        running = stage.start(*words, point=FAULT_POINTS[int(point.at)], whole=point.whole)
    elif point.way == "step":
        at = point.at if point.at >= 1 else 1 + point.at * scene.steps
        running = stage.start(*words, stop_at=int(at), whole=point.whole)
    else:
        at = struck(point.at, len(scene.requests))
        victim: list[Any] = []

        def act(seen: Any, send: Any) -> Any:
            if seen.number != at:
                return send()
            if point.way == "after":
                send()
            while not victim:
                time.sleep(0.001)
            victim[0].kill(whole=point.whole)
            return None

        stage.proxy.reset(act)
        running = stage.start(*words)
        victim.append(running)
    return bool(running.wait() == SIGKILL)


def wrong(theatre: Any, point: Point) -> tuple[bool, str]:
    """Return whether the kill at a point found its victim, and what is not as it should be afterwards."""
    scene = theatre.scene(point.scene)
    with theatre.play(scene) as stage:
        killed = fallen(theatre, stage, point)
        stage.proxy.reset()
        for _ in range(TRIES):
            again = stage.syncd(*theatre.words(scene, stage))
            if again.code == 0:
                break
        else:
            return killed, f"exit code {again.code}: {again.text}"
        state = stage.state()
        differs = [f"{key}: {state[key]} is not {value}" for key, value in scene.state.items() if state[key] != value]
        return killed, "\n".join(differs + stage.wounds())


def struck(at: float, count: int) -> int:
    """Given a point's `at` and how many requests there are, return the number of the one that is meant."""
    if at < 0:
        return int(count + 1 + at)
    return int(at) if at >= 1 else int(1 + at * count)


SCENES = (clone, push, push_again, pull, pull_merged)
REACHED_BY = {
    **dict.fromkeys(FAULT_POINTS, clone),
    FaultPoint.CHANGE_REQUEST_OPENED: push,
    FaultPoint.CONTENT_WRITTEN: push,
    FaultPoint.CHANGE_REQUEST_DESCRIBED: push,
    FaultPoint.MERGE_WRITTEN: pull,
}
"""The scene in which each fault point is reached."""
POINTS = [
    *(Point(push, way, at) for at in (5, 6, 7, -1) for way in ("before", "after")),
    *(Point(push_again, way, -1) for way in ("before", "after")),
    *(Point(scene, "after", at) for scene in (clone, pull) for at in (0.3, 0.99)),
    *(Point(scene, "step", at, at > 0.7) for scene in (clone, push, pull, pull_merged) for at in (0.55, 0.8)),
    *(Point(REACHED_BY[point], "point", at, at % 2 == 0) for at, point in enumerate(FAULT_POINTS)),
    *(Point(scene, "point", FAULT_POINTS.index(FaultPoint.MOVE_BRANCH_DONE), False) for scene in (pull, pull_merged)),
]
KEPT = {0, 5, 9, 14} | {
    number for number, point in enumerate(POINTS) if point.way == "point" and not str(point).startswith("clone")
}
"""Those that run by default: of a move and of what Git writes, all are tried in `tests/repo/test_repo_crash.py`."""


@pytest.mark.parametrize("point", sample_cases(POINTS, kept=KEPT), ids=str)
def test_after_a_kill_the_next_run_comes_to_the_same_end(theatre: Any, point: Point) -> None:
    killed, complaint = wrong(theatre, point)
    assert not complaint
    assert killed


@pytest.mark.parametrize("way", ["before", "after"])
def test_an_archived_change_request_is_not_proposed_again_after_a_kill(theatre: Any, way: Way) -> None:
    """The kill falls on the last request of a push to a change request that was there before."""
    with theatre.play(theatre.scene(push_again)) as stage:
        assert fallen(theatre, stage, Point(push_again, way, -1))
        stage.proxy.reset()
        stage.fine("push")
        with stage.client() as client:
            archived = ChangeRequestUpdate.model_validate({"status": "archived"})
            client.change_requests.update(stage.space, "1", archived)
            stage.fine("push")
            assert not list(client.change_requests.list(stage.space, "open"))


def sweep(theatre: Any) -> Iterator[Point]:
    """Every request, before and after, and the rest evenly over all steps."""
    requests = [
        Point(scene, way, number)
        for scene in SCENES
        for number in range(1, len(theatre.scene(scene).requests) + 1)
        for way in ("before", "after")
    ]
    yield from requests
    rest = max(KILLS - len(requests), 0)
    for index in range(rest):
        scene, part = SCENES[index % len(SCENES)], (index + 0.5) / rest
        yield Point(scene, "step", part, index % 2 == 0)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_after_a_kill_at_any_of_many_points_the_next_run_comes_to_the_same_end(theatre: Any) -> None:
    counts: Counter[str] = Counter()
    complaints = []
    for point in sweep(theatre):
        killed, complaint = wrong(theatre, point)
        counts.update({"points": 1, "killed": killed, "failed": bool(complaint)})
        if complaint:
            complaints.append(f"{point}: {complaint}")
            print(complaints[-1], flush=True)
    print(dict(counts), {scene.__name__: theatre.scene(scene).steps for scene in SCENES}, flush=True)
    assert not complaints
    assert counts["killed"] > counts["points"] * 0.9
