"""Every order of everybody's deeds, with runs that are stopped in the middle: the four properties of every flow."""

import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from tests.sync.conftest import new_world
from tests.sync.history import History

DEEDS = sorted(History.DEEDS)


class TwoSides(RuleBasedStateMachine):
    """Converges and loses nothing (at the end), writes nothing twice (at the end), survives a stop at any request."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.root = Path(tempfile.mkdtemp(prefix="syncd-machine-"))
        self.stack.callback(shutil.rmtree, self.root)

    @initialize(seed=st.integers(0, 1 << 16), clones=st.integers(1, 2))
    def begin(self, seed: int, clones: int) -> None:
        self.history = History(self.stack.enter_context(new_world(self.root)), seed, clones=clones)

    @rule(deed=st.sampled_from(DEEDS))
    def do(self, deed: str) -> None:
        getattr(self.history, deed)()

    @rule()
    def sync(self) -> None:
        self.history.sync()

    @rule(requests=st.integers(0, 25))
    def stopped(self, requests: int) -> None:
        self.history.sync_stopped(requests)

    @rule()
    def merge(self) -> None:
        self.history.merge_one()

    @rule()
    def lose_the_store(self) -> None:
        self.history.lose_store()

    def teardown(self) -> None:
        with self.stack:
            if hasattr(self, "history"):
                self.history.settle()
                self.history.check()
                self.history.check_twins()


def run(examples: int, steps: int) -> None:
    checks = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    run_state_machine_as_test(
        TwoSides,
        settings=settings(
            max_examples=examples, stateful_step_count=steps, deadline=None, suppress_health_check=checks, database=None
        ),
    )


def test_any_order_of_deeds_converges() -> None:
    run(2, 8)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_any_order_of_many_deeds_converges() -> None:
    run(60, 40)
