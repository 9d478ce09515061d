"""Two runs of syncd at once on one directory: one waits or gives up, and the result is that of one run."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.sampling import sample_cases

pytestmark = pytest.mark.story


def both(stage: Any) -> tuple[str, ...]:
    """Both sides have changed, and the writer's commit is to be proposed."""
    stage.fine(*stage.clone_words())
    stage.commit("Mine", {"options.md": "# Options\n\n* first token-1\n* second\n"})
    stage.revise({"README.md": "# Home\n\nTheirs. token-3\n"})
    return ("sync",)


def together(stage: Any, words: tuple[str, ...], *, hold: Callable[[list[Any]], object]) -> list[Any]:
    """Start two processes; the first is held at its first request until `hold` returns."""
    runs: list[Any] = []

    def act(seen: Any, send: Any) -> Any:
        if seen.number == 1:
            while len(runs) < 2:
                time.sleep(0.001)
            hold(runs)
        return send()

    stage.proxy.reset(act)
    runs.append(stage.start(*words))
    while not stage.proxy.seen:
        time.sleep(0.002)
    runs.append(stage.start(*words))
    for run in runs:
        run.wait()
    stage.proxy.reset()
    return runs


def test_the_second_of_two_runs_waits_for_the_first(theatre: Any) -> None:
    scene = theatre.scene(both)
    with theatre.play(scene) as stage:
        runs = together(stage, ("sync",), hold=lambda _: time.sleep(0.5))
        assert [run.code for run in runs] == [0, 0], [run.text for run in runs]
        assert stage.state() == scene.state
        assert not stage.wounds()


@pytest.mark.long
def test_the_second_of_two_runs_gives_up_after_ten_seconds(theatre: Any) -> None:
    scene = theatre.scene(both)
    with theatre.play(scene) as stage:
        runs = together(stage, ("sync",), hold=lambda started: started[1].wait())
        assert [run.code for run in runs] == [0, 7], [run.text for run in runs]
        assert stage.state() == scene.state


def bare(stage: Any) -> tuple[str, ...]:
    return tuple(stage.clone_words())


@pytest.mark.parametrize("part", sample_cases([0.1, 0.25, 0.4], kept=(1,)))
def test_two_clones_into_one_directory_make_one_clone(theatre: Any, part: float) -> None:
    scene = theatre.scene(bare)
    with theatre.play(scene) as stage:
        words = theatre.words(scene, stage)
        gate = stage.root / "gate"
        first = stage.start(*words, stop_at=int(part * scene.steps), gate=gate)
        while not gate.exists():
            time.sleep(0.002)
        second = stage.start(*words)
        time.sleep(0.3)
        gate.unlink()
        codes = {first.wait(), second.wait()}
        assert codes <= {0, 7, 78}, first.text + second.text
        assert 0 in codes, first.text + second.text
        stage.fine(*words)
        assert stage.state() == scene.state
        assert not stage.wounds()
