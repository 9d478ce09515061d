"""Death, a request to stop and a platform that is away, in the middle of `syncd site apply`: the next one repairs it.

The process is killed when a request reaches the platform or its answer is on the way, when it returns from a function
(`zygote.py`), and at any step of it. SYNCD_TEST_KILLS is the number of points of the long form.
"""

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from syncd.model.site import SiteCreate
from syncd.model.space import SpaceCreate
from tests.faults.test_faults_kill import SIGKILL, Point, fallen

KILLS = int(os.environ.get("SYNCD_TEST_KILLS", "80"))
STOPPED, INTERRUPTED, AWAY, LATER = 143, 130, 69, 75
LOCKED = ("LockWriter.save", "Repository.commit_tree", "WorkTree._note", "WorkTree._shift", "WorkTree._publish")
"""Functions that write the lock, in their order: to the store, as a commit, to the work tree, to the branch."""
APPLY = ("site", "apply", "--yes", "--force", "structure.delete=1")
GATE = "visitor.claims.unsigned.beta == true"
SECTION = "    - section: {0}\n      title: {1}\n      path: {2}\n{3}      variants:\n"
VARIANT = "        - {{ variant: {0}, space: {1}, path: {2}{3} }}\n"
REDIRECT = "  - {{ from: /{0}, to: {{ {1} }} }}\n"
DEFAULT = ", default: true"
HEAD = """\
version: 1
site: {{ org: {0}, id: {1} }}
policy: {{ prune: {{ structure: owned }} }}
spaces:
{2}
visitors:
  unsigned: {{ beta: {{ type: boolean, description: Wants the beta docs. }} }}
structure:
  holding_space: empty
  items:
"""
BEFORE = (
    SECTION.format("home", "Home", "home", "      default: true\n")
    + VARIANT.format("en", "home", "en", DEFAULT)
    + VARIANT.format("old", "old", "old", "")
    + SECTION.format("api", "Api", "api", "")
    + VARIANT.format("en", "api", "en", DEFAULT)
    + "redirects:\n"
    + "".join(REDIRECT.format(f"a{number}", "section: home") for number in range(3))
)
AFTER = (
    SECTION.format("api", "API", "reference", "")
    + VARIANT.format("en", "api", "en", DEFAULT)
    + SECTION.format("lab", "Lab", "lab", f"      condition: {GATE}\n")
    + VARIANT.format("en", "lab", "en", DEFAULT)
    + VARIANT.format("old", "old", "former", "")
    + SECTION.format("home", "Home", "home", "      default: true\n")
    + VARIANT.format("en", "home", "en", DEFAULT)
    + VARIANT.format("api", "api", "api", "")
    + "redirects:\n"
    + REDIRECT.format("api", "section: api")
    + "".join(REDIRECT.format(f"a{number}", "section: lab") for number in range(1, 5))
)
STRUCTURE = [
    ("API", "reference", None, [("en", True)]),
    ("Lab", "lab", GATE, [("en", True), ("former", False)]),
    ("Home", "home", None, [("en", True), ("api", False)]),
]
SOURCES = ["/a1", "/a2", "/a3", "/a4", "/api"]


def apply(stage: Any) -> tuple[str, ...]:
    """A site to become another in nearly every way: made, renamed, gated, moved, led elsewhere, deleted."""
    stage.fine(*stage.clone_words())
    with stage.client() as client:
        organization = client.spaces.get(stage.space).organization
        names = ("api", "old", "lab", "empty")
        spaces = {name: client.spaces.create(organization, SpaceCreate(title=name.title())).id for name in names}
        site = client.sites.create(organization, SiteCreate(title="Docs")).id
    aliases = "".join(f"  {name}: {id}\n" for name, id in {"home": stage.space, **spaces}.items())
    head = HEAD.format(organization, site, aliases.rstrip("\n"))
    with (stage.clone / ".git" / "syncd.toml").open("a") as config:
        config.write('\n[repository.site]\nfile = "site.yaml"\napply = false\n')
    stage.commit("A site", {"site.yaml": head + BEFORE})
    stage.fine("site", "apply", "--yes")
    stage.commit("Another site", {"site.yaml": head + AFTER})
    return APPLY


def repaired(stage: Any) -> str:
    """Run the same command once more; return what is not as it should be then."""
    stage.proxy.reset()
    again = stage.syncd(*APPLY)
    if again.code:
        return f"exit code {again.code}: {again.text}"
    plan = stage.syncd("site", "plan", "--exit-code")
    found = [f"the plan is not empty: {plan.text}"] if plan.code else []
    with stage.client() as client:
        organization = client.spaces.get(stage.space).organization
        at = organization, next(iter(client.sites.list(organization))).id
        sections, redirects = list(client.sections.list(*at)), list(client.redirects.list(*at))
    shown = [
        (one.title, one.path, one.condition, [(each.path, each.default) for each in one.site_spaces])
        for one in sections
    ]
    there = {one.id for one in (*sections, *redirects, *(each for one in sections for each in one.site_spaces))}
    sources = sorted(one.source for one in redirects)
    lock = json.loads(stage.git("show", "main:site.lock.json"))["items"]
    known = {entry["id"] for ref, entry in lock.items() if ref.startswith(("section:", "variant:", "redirect:"))}
    found += [f"{shown} {sources}"] if (shown, sources) != (STRUCTURE, SOURCES) else []
    found += [f"the lock knows {known ^ there} or not"] if known != there else []
    return "\n".join((*found, *stage.wounds(), *stage.git("status", "--porcelain").splitlines()))


class Signal:
    """Sends signals to a run when its n-th write is on its way, and lets the platform answer it, or not."""

    def __init__(self, at: int, *numbers: int, answers: bool = True) -> None:
        self.at, self.numbers, self.answers, self.count = at, numbers, answers, 0
        self.running: list[Any] = []

    def __call__(self, seen: Any, send: Callable[[], Any]) -> Any:
        self.count += seen.is_write
        if not seen.is_write or self.count != self.at:
            return send()
        while not self.running:
            time.sleep(0.001)
        for number in self.numbers:
            os.kill(self.running[0].pid, number)
            time.sleep(0.2)
        return send() if self.answers else None


def ended(stage: Any, act: Signal) -> Any:
    stage.proxy.reset(act)
    running = stage.start(*APPLY)
    act.running.append(running)
    running.wait()
    return running


@pytest.mark.long
def test_however_often_an_apply_is_stopped_and_killed_the_last_one_repairs(theatre: Any) -> None:
    with theatre.fresh() as stage:
        apply(stage)
        stopped = ended(stage, Signal(2, signal.SIGTERM))
        assert stopped.code == STOPPED, stopped.text
        assert "steps are done and written down; the next run does " in stopped.text
        assert stage.git("log", "-1", "--format=%s") == "chore(syncd): lock serial 2\n"
        assert stage.proxy.act.count == 2, "what was on its way was answered, and nothing was sent after that"
        assert ended(stage, Signal(5, signal.SIGKILL)).code == SIGKILL
        stage.proxy.reset()
        for function in ("Repository.commit_tree", "WorkTree._publish"):
            assert stage.start(*APPLY, after=function).wait() == SIGKILL
        assert not repaired(stage)


@pytest.mark.long
@pytest.mark.parametrize("function", LOCKED)
@pytest.mark.parametrize("whole", [True, False])
def test_killed_while_the_lock_is_written_the_next_apply_repairs(theatre: Any, function: str, whole: bool) -> None:
    with theatre.play(theatre.scene(apply)) as stage:
        assert stage.start(*APPLY, after=function, whole=whole).wait() == SIGKILL
        assert not repaired(stage)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_killed_at_any_of_many_points_the_next_apply_repairs(theatre: Any) -> None:
    scene, counts, complaints = theatre.scene(apply), Counter[str](), []
    writes = [seen.number for seen in scene.requests if seen.is_write]
    points = [Point(apply, way, number, number % 2 == 0) for number in writes for way in ("before", "after")]
    points += [Point(apply, "step", (at + 0.5) / KILLS, at % 2 == 0) for at in range(KILLS)]
    points += [Point(apply, "step", 1 - (at + 0.5) / KILLS / 8, at % 2 == 0) for at in range(KILLS // 2)]
    for point in points:
        with theatre.play(scene) as stage:
            killed = fallen(theatre, stage, point)
            complaint = repaired(stage)
        counts.update({"points": 1, "killed": killed, "failed": bool(complaint)})
        complaints += [f"{point}: {complaint}"] if complaint else []
    print(dict(counts), scene.steps, len(writes), flush=True)
    assert not complaints
    assert counts["killed"] > counts["points"] * 0.9


@pytest.mark.long
@pytest.mark.parametrize("at", range(1, 26, 3))
def test_told_to_stop_it_ends_between_two_requests_and_says_what_is_left(theatre: Any, at: int) -> None:
    with theatre.play(theatre.scene(apply)) as stage:
        act = Signal(at, signal.SIGTERM)
        stopped = ended(stage, act)
        assert stopped.code == STOPPED or act.count < at, stopped.text
        assert act.count <= at + 3, "redirects go four at a time"
        assert stage.git("log", "-1", "--format=%s") == "chore(syncd): lock serial 2\n"
        assert not repaired(stage)


@pytest.mark.long
def test_ctrl_c_ends_it_between_two_requests_and_a_second_signal_at_once(theatre: Any) -> None:
    with theatre.play(theatre.scene(apply)) as stage:
        interrupted = ended(stage, Signal(2, signal.SIGINT))
        assert interrupted.code == INTERRUPTED
        assert "steps are done and written down" in interrupted.text
        began = time.monotonic()
        hasty = ended(stage, Signal(1, signal.SIGTERM, signal.SIGTERM, answers=False))
        assert hasty.code == STOPPED
        assert time.monotonic() - began < 10
        assert not repaired(stage)


@dataclass
class Away:
    """Gives one answer to everything from the n-th write on, or from the first request (0); None is no answer."""

    at: int
    reply: Any
    count: int = 0

    def __call__(self, seen: Any, send: Callable[[], Any]) -> Any:
        self.count += seen.is_write
        return send() if self.count < self.at else self.reply


@pytest.mark.long
@pytest.mark.parametrize(("words", "at"), [(("site", "plan"), 0), (APPLY, 0), (APPLY, 3)])
@pytest.mark.parametrize("way", ["silent", "foreign", "busy"])
def test_a_platform_that_is_away_or_asks_for_patience_is_told_by_the_exit_code(
    theatre: Any, words: tuple[str, ...], at: int, way: str
) -> None:
    page = theatre.reply(200, (("Content-Type", "text/html"),), b"<html>Under maintenance</html>")
    slower = theatre.reply(429, (("Retry-After", "3600"),), b'{"error":{"code":429,"message":"Slower"}}')
    with theatre.play(theatre.scene(apply)) as stage:
        stage.proxy.reset(Away(at, {"silent": None, "foreign": page, "busy": slower}[way]))
        done = stage.syncd(*words)
        assert done.code == (LATER if way == "busy" else AWAY), done.text
        assert at == 0 or "steps are done and written down" in done.text
        assert not repaired(stage)
