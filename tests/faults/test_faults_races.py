"""Somebody else acts between any two steps of a run: the platform, a writer, a reviewer, or another syncd.

A writer's deed falls on an exact step of the process (`zygote.py`), everybody else's on an exact request.
"""

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from syncd.model.content_write import ContentWrite, UpdatePage
from tests.sampling import sample_cases

pytestmark = pytest.mark.story

COUNT = int(os.environ.get("SYNCD_TEST_DEEDS", "160"))
DOCUMENTED = {0, 1, 4, 5, 6, 7, 69, 75}
SUMMARY = (
    "# Table of contents\n\n* [Home](README.md)\n* [Guide](guide/README.md)\n  * [Setup](guide/setup.md)\n"
    "  * [Usage](guide/usage.md)\n\n## Reference\n\n* [Options](options.md)\n* [Errors](errors.md)\n"
)
IMAGE = "![A picture](../.gitbook/assets/picture.png)"


def version(number: int) -> dict[str, Any]:
    """Content of which every part says which version it belongs to; even versions have one page more."""
    texts = {
        "README.md": f"# Home\n\nVersion {number}.\n",
        "guide/README.md": f"# Guide\n\nVersion {number}.\n",
        "guide/setup.md": f"# Setup\n\nVersion {number}.\n",
        "guide/usage.md": f"# Usage\n\nVersion {number}. {IMAGE}\n",
        "options.md": f"# Options\n\nVersion {number}.\n",
        "errors.md": f"# Errors\n\nVersion {number}.\n",
        "notes.md": None if number % 2 else f"# Notes\n\nVersion {number}.\n",
        "SUMMARY.md": SUMMARY if number % 2 else SUMMARY + "* [Notes](notes.md)\n",
    }
    return {**texts, ".gitbook/assets/picture.png": b"version %d" % number}


def mirrored(stage: Any) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Each commit of the platform's branch: the revision that it names, and its files."""
    shown = "--format=%H %(trailers:key=Syncd-Revision,valueonly,separator=%x2C)"
    for line in stage.git("log", "--first-parent", shown, "platform/main").splitlines():
        commit, _, revision = line.partition(" ")
        paths = stage.git("ls-tree", "-r", "--name-only", "-z", commit).split("\0")[:-1]
        yield revision, {path: stage.git("show", f"{commit}:{path}").encode() for path in paths}


def first_version(stage: Any) -> tuple[str, ...]:
    stage.revise(version(1))
    stage.fine(*stage.clone_words())
    stage.revise(version(2))
    return ("pull",)


@pytest.mark.parametrize(
    ("part", "every"),
    sample_cases([(0.0, False), (0.15, False), (0.5, False), (0.99, False), (0.15, True), (0.75, True)], kept=(1, 5)),
)
def test_no_commit_mixes_two_revisions(theatre: Any, part: float, every: bool) -> None:
    scene = theatre.scene(first_version)
    number = 1 + int(part * len(scene.requests))
    with theatre.play(scene) as stage:
        known: dict[str, dict[str, Any]] = {}
        one_by_one = threading.Lock()

        def act(seen: Any, send: Any) -> Any:
            if seen.number == number or (every and number < seen.number < number + 40):
                with one_by_one:
                    content = version(3 + len(known))
                    known[stage.revise(content)] = content
            return send()

        stage.proxy.reset(act)
        assert stage.syncd("pull").code in DOCUMENTED
        assert known
        stage.proxy.reset()
        stage.fine("pull")
        commits = list(mirrored(stage))
        assert commits[0][0] == list(known)[-1], "the next run has the newest revision"
        assert len({revision for revision, _ in commits}) == len(commits)
        for revision, files in commits:
            if revision in known:
                expected = {path: text for path, text in known[revision].items() if text is not None}
                assert files == {path: as_bytes(text) for path, text in expected.items()}
            versions = {line for text in files.values() for line in text.decode().split() if line.rstrip(".").isdigit()}
            assert len({number.rstrip(".") for number in versions}) == 1, (revision, files)
        assert not stage.wounds()


def test_a_page_that_goes_while_content_is_read_only_costs_another_try(theatre: Any) -> None:
    with theatre.play(theatre.scene(first_version)) as stage:
        revised = threading.Event()

        def act(seen: Any, send: Any) -> Any:
            reply = send()
            if seen.path.endswith("/content") and not revised.is_set():
                revised.set()
                stage.revise(version(3))
            return reply

        stage.proxy.reset(act)
        stage.fine("pull")
        assert not (stage.clone / "notes.md").exists()
        assert "Version 3" in (stage.clone / "README.md").read_text()


def as_bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


def pull(stage: Any) -> tuple[str, ...]:
    """Both sides have changed: a merge, and a work tree that follows it."""
    stage.fine(*stage.clone_words())
    stage.commit("Mine", {"options.md": "# Options\n\n* first token-1\n* second\n"})
    summary = (stage.clone / "SUMMARY.md").read_text().replace("* [Notes](notes.md)\n", "* [Theirs](theirs.md)\n")
    theirs = {"README.md": "# Home\n\nTheirs. token-3\n", "theirs.md": "# Theirs\n\ntoken-4\n", "notes.md": None}
    stage.revise({**theirs, "SUMMARY.md": summary})
    return ("pull",)


def attempt(stage: Any, *words: str) -> bool:
    done = subprocess.run(["git", *words], cwd=stage.clone, capture_output=True, check=False)
    return done.returncode == 0


def commits_a_page(stage: Any) -> None:
    stage.write({"deed.md": "token-deed\n"})
    attempt(stage, "add", "deed.md")
    attempt(stage, "commit", "--quiet", "--message", "Deed", "deed.md")


def edits_what_changes(stage: Any) -> None:
    stage.write({"README.md": "# Home\n\ntoken-deed\n"})


def edits_what_goes(stage: Any) -> None:
    stage.write({"notes.md": "# Notes\n\ntoken-deed\n"})


def edits_what_stays(stage: Any) -> None:
    stage.write({"guide/usage.md": "# Usage\n\ntoken-deed\n"})


def stages_what_changes(stage: Any) -> None:
    stage.write({"README.md": "# Home\n\ntoken-deed\n"})
    attempt(stage, "add", "README.md")


def makes_what_comes(stage: Any) -> None:
    stage.write({"theirs.md": "token-deed\n"})


def goes_to_another_branch(stage: Any) -> None:
    stage.write({"deed.txt": "token-deed\n"})
    attempt(stage, "checkout", "--quiet", "-b", "other")


def commits_everything_elsewhere(stage: Any) -> None:
    stage.write({"deed.md": "token-deed\n"})
    attempt(stage, "checkout", "--quiet", "-b", "other")
    attempt(stage, "add", "deed.md")
    attempt(stage, "commit", "--quiet", "--message", "Deed")


DEEDS = (
    commits_a_page,
    edits_what_changes,
    edits_what_goes,
    edits_what_stays,
    stages_what_changes,
    makes_what_comes,
    goes_to_another_branch,
    commits_everything_elsewhere,
)


def tokens(stage: Any, *names: str) -> set[str]:
    """Which tokens are in the work tree, in the index, or in a commit that a ref leads to."""
    found = {name for name in names if stage.git("log", "--all", "--oneline", f"-Sn{name[1:]}", check=False)}
    files = [path for path in stage.clone.rglob("*") if path.is_file() and ".git" not in path.parts]
    text = b"".join(path.read_bytes() for path in files).decode(errors="replace")
    text += stage.git("diff", "--cached") + stage.git("log", "--all", "-p")
    return found | {name for name in names if name in text}


def step_of_the_move(scene: Any, part: float) -> int:
    """A step in the last part of a pull, which is the move of the work tree."""
    return int(scene.steps * (0.55 + 0.4 * part))


def interrupted(theatre: Any, scene: Any, deed: Callable[[Any], None], step: int) -> str:
    """Play a pull in which the writer does the deed at a step, and return what is wrong in the end."""
    with theatre.play(scene) as stage:
        gate = Path(stage.root / "gate")
        running = stage.start("pull", stop_at=step, gate=gate)
        deadline = time.monotonic() + 30
        while not gate.exists() and running.pid and time.monotonic() < deadline:
            time.sleep(0.002)
        assert gate.exists(), f"step {step} did not come"
        deed(stage)
        gate.unlink()
        code = running.wait()
        complaints = [] if code in DOCUMENTED else [f"exit code {code}: {running.text}"]
        lost = {"token-1", "token-deed"} - tokens(stage, "token-1", "token-deed")
        complaints += [f"{token} is lost" for token in sorted(lost)]
        return "\n".join([*complaints, *strange(stage, deed), *settled(stage)])


def strange(stage: Any, deed: Callable[[Any], None]) -> Iterator[str]:
    """What git status shows that the writer has not done."""
    own = {"deed.md", "deed.txt"}
    if deed not in (commits_a_page, goes_to_another_branch, commits_everything_elsewhere):
        own |= {"README.md", "notes.md", "guide/usage.md", "theirs.md"}
    for line in stage.git("status", "--porcelain", "-uall").splitlines():
        if line[3:] not in own:
            yield f"{line} is not the writer's doing"


def settled(stage: Any) -> Iterator[str]:
    """Commit what is there, go back to main and pull again: a writer needs no more than that."""
    attempt(stage, "add", "--all")
    attempt(stage, "commit", "--quiet", "--message", "All that there is")
    attempt(stage, "checkout", "--quiet", "main")
    again = stage.syncd("pull")
    if again.code not in (0, 6):
        yield f"then exit code {again.code}: {again.text}"
    if again.code == 0 and not attempt(stage, "merge-base", "--is-ancestor", "platform/main", "main"):
        yield "main lacks what the platform has"
    lost = {"token-1", "token-deed", "token-3", "token-4"} - tokens(
        stage, "token-1", "token-deed", "token-3", "token-4"
    )
    yield from (f"{token} is lost after the next run" for token in sorted(lost))
    if again.code == 0 and (status := stage.git("status", "--porcelain")):
        yield f"then status is {status}"
    yield from stage.wounds()


@pytest.mark.parametrize("deed", sample_cases(DEEDS, kept=(0, 2, 4)), ids=lambda deed: deed.__name__)
def test_nothing_that_a_writer_does_during_a_pull_is_lost(theatre: Any, deed: Callable[[Any], None]) -> None:
    scene = theatre.scene(pull)
    part = DEEDS.index(deed) / len(DEEDS)
    assert not interrupted(theatre, scene, deed, step_of_the_move(scene, part))


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_nothing_that_a_writer_does_at_any_step_of_a_pull_is_lost(theatre: Any) -> None:
    scene = theatre.scene(pull)
    complaints = []
    for index in range(COUNT):
        deed, step = DEEDS[index % len(DEEDS)], step_of_the_move(scene, index / COUNT)
        complaint = interrupted(theatre, scene, deed, step)
        if complaint:
            complaints.append(f"{deed.__name__} at step {step}: {complaint}")
            print(complaints[-1], flush=True)
    print(f"{COUNT} deeds, {len(complaints)} with consequences", flush=True)
    assert not complaints


def push(stage: Any) -> tuple[str, ...]:
    stage.fine(*stage.clone_words())
    stage.commit("Mine", {"options.md": "# Options\n\n* first token-mine\n* second\n"})
    return ("push",)


def push_more(stage: Any) -> tuple[str, ...]:
    push(stage)
    stage.fine("push")
    stage.commit("Mine too", {"errors.md": "# Errors\n\ntoken-mine-too\n"})
    return ("push",)


def reviewed(stage: Any) -> bool:
    """A reviewer edits a page of the change request that the writer has not touched; False when there is none yet."""
    with stage.client() as client:
        found = [*client.change_requests.list(stage.space, "draft"), *client.change_requests.list(stage.space, "open")]
        if not found:
            return False
        (notes,) = [
            page.id
            for page in client.change_request_content.get(stage.space, found[0].id).pages[-1].pages
            if page.slug == "notes"
        ]
        markdown = {"markdown": "# Notes\n\ntoken-reviewer\n"}
        changes = (UpdatePage.model_validate({"page": notes, "document": markdown}),)
        client.change_requests.write_content(stage.space, found[0].id, ContentWrite(changes=changes))
        return True


def in_the_change_request(stage: Any) -> str:
    return str(stage.state()["proposed"])


@pytest.mark.parametrize("prepare", [push, push_more], ids=lambda prepare: prepare.__name__)
@pytest.mark.parametrize("back", sample_cases([4, 2, 0], kept=(1,)))
def test_a_reviewer_s_edit_during_a_push_is_not_lost(theatre: Any, prepare: Callable[[Any], Any], back: int) -> None:
    """The edit falls on the request that many before the last."""
    scene = theatre.scene(prepare)
    number = len(scene.requests) - back
    with theatre.play(scene) as stage:
        edited = False

        def act(seen: Any, send: Any) -> Any:
            nonlocal edited
            if seen.number >= number and not edited:
                edited = reviewed(stage)
            return send()

        stage.proxy.reset(act)
        assert stage.syncd("push").code in DOCUMENTED
        stage.proxy.reset()
        assert edited
        for _ in range(2):
            stage.fine("push")
        shown = in_the_change_request(stage)
        assert "token-mine" in shown
        assert "token-reviewer" in shown, "the reviewer's edit was written over"


@pytest.mark.parametrize(("way", "back"), [("before", 1), ("after", 0)])
def test_a_reviewer_s_edit_after_a_push_that_was_killed_is_not_lost(theatre: Any, way: str, back: int) -> None:
    scene = theatre.scene(push)
    number = len(scene.requests) - back
    with theatre.play(scene) as stage:
        victim: list[Any] = []

        def act(seen: Any, send: Any) -> Any:
            if seen.number != number:
                return send()
            if way == "after":
                send()
            while not victim:
                time.sleep(0.001)
            victim[0].kill(whole=True)
            return None

        stage.proxy.reset(act)
        victim.append(stage.start("push"))
        assert victim[0].wait() == -9
        stage.proxy.reset()
        assert reviewed(stage)
        stage.fine("push")
        shown = in_the_change_request(stage)
        assert "token-mine" in shown
        assert "token-reviewer" in shown, "the reviewer's edit was written over"
