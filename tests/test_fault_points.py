"""A named step stops a process where a test asks for it, and does nothing elsewhere."""

import re
import signal
import sys
from pathlib import Path

import pytest

from syncd import fault_points
from syncd.fault_points import FaultPoint, reach, stop_at
from tests.stopping import kill, run_until_stopped

SCRIPT = """
from syncd.fault_points import FaultPoint, reach
for number in range(3):
    reach(FaultPoint.MOVE_LOCKED)
    reach(FaultPoint.MOVE_NOTED)
    print(number, flush=True)
"""


def test_a_point_means_nothing_without_a_test() -> None:
    assert fault_points.on_reach is None
    reach(FaultPoint.MOVE_NOTED)


def test_a_test_hears_of_each_point(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[FaultPoint] = []
    monkeypatch.setattr(fault_points, "on_reach", heard.append)
    reach(FaultPoint.MOVE_NOTED)
    reach(FaultPoint.REF_MOVED)
    assert heard == [FaultPoint.MOVE_NOTED, FaultPoint.REF_MOVED]


def test_a_process_stops_at_the_point_and_the_time_that_are_meant_and_goes_on_when_it_may(tmp_path: Path) -> None:
    with run_until_stopped("move-noted:2", [sys.executable, "-c", SCRIPT], cwd=tmp_path) as process:
        process.send_signal(signal.SIGCONT)
        assert process.communicate()[0] == "0\n1\n2\n"
        assert process.returncode == 0
    with run_until_stopped("move-noted:2", [sys.executable, "-c", SCRIPT], cwd=tmp_path) as process:
        kill(process)
        assert process.stdout is not None
        assert process.stdout.read() == "0\n"


def test_a_process_that_never_gets_there_is_no_silent_success(tmp_path: Path) -> None:
    with (
        pytest.raises(AssertionError, match="ended before ref-moved"),
        run_until_stopped("ref-moved", [sys.executable, "-c", SCRIPT], cwd=tmp_path),
    ):
        pass


@pytest.mark.parametrize("wanted", ["", "no-such-point", "move-noted:x"])
def test_a_point_that_does_not_exist_is_a_mistake(wanted: str) -> None:
    with pytest.raises(ValueError, match=r"is not a valid FaultPoint|invalid literal"):
        stop_at(wanted)


def test_every_point_is_reached_somewhere_in_the_program() -> None:
    texts = [path.read_text(encoding="utf-8") for path in Path(fault_points.__file__).parent.rglob("*.py")]
    named = {name for text in texts for name in re.findall(r"reach\(FaultPoint\.(\w+)\)", text)}
    assert named == set(FaultPoint.__members__)
