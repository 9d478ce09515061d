"""Slots: so many at once, callers take turns, and whoever leaves or waits too long takes nothing along."""

import asyncio
import random
from collections.abc import Awaitable, Callable

import pytest

from syncd.platform.http.failures import Failure
from syncd.platform.http.slots import Slots


def test_callers_take_turns_however_much_one_of_them_asks() -> None:
    async def order() -> list[str]:
        slots, done = Slots(1, waiting=100, patience_s=60), []

        async def work(by: str) -> None:
            async with slots.hold(by):
                done.append(by)
                await asyncio.sleep(0)

        await asyncio.gather(*(work("busy") for _ in range(8)), work("modest"), work("modest"))
        return done

    assert asyncio.run(order()) == ["busy", "busy", "modest", "busy", "modest", *["busy"] * 5]


def test_too_many_who_wait_and_too_long_a_wait_are_refused() -> None:
    async def refused() -> None:
        slots = Slots(1, waiting=1, patience_s=0.01)
        async with slots.hold("one"):
            waiting = asyncio.ensure_future(_hold(slots, "two"))
            await asyncio.sleep(0)
            with pytest.raises(Failure, match="too much of this at once") as full:
                await _hold(slots, "three")
            assert full.value.status == 503
            with pytest.raises(Failure, match="too much of this at once"):
                await waiting
        await _hold(slots, "four")

    asyncio.run(refused())


async def _hold(slots: Slots, by: str, during: Callable[[], Awaitable[None]] = lambda: asyncio.sleep(0)) -> None:
    async with slots.hold(by):
        await during()


@pytest.mark.parametrize("seed", range(5))
def test_no_slot_is_lost_or_won_by_those_who_leave(seed: int) -> None:
    chance, held, most = random.Random(seed), 0, 0

    async def during() -> None:
        nonlocal held, most
        held += 1
        most = max(most, held)
        try:
            await asyncio.sleep(chance.choice((0, 0, 0.001)))
        finally:
            held -= 1

    async def crowd() -> None:
        slots = Slots(3, waiting=1000, patience_s=60)
        tasks = [asyncio.ensure_future(_hold(slots, str(number % 7), during)) for number in range(300)]
        for task in tasks:
            if chance.random() < 0.4:
                await asyncio.sleep(0)
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert (held, most) == (0, 3)
        # All are free again, and no more than there were.
        await asyncio.gather(*(_hold(slots, "again", during) for _ in range(9)))
        assert most == 3

    asyncio.run(crowd())


def test_threads_with_loops_of_their_own_share_slots() -> None:
    slots, held, most = Slots(2, waiting=100, patience_s=60), 0, 0

    async def during() -> None:
        nonlocal held, most
        held += 1
        most = max(most, held)
        await asyncio.sleep(0.001)
        held -= 1

    async def loops() -> None:
        await asyncio.gather(*(asyncio.to_thread(asyncio.run, _hold(slots, str(n), during)) for n in range(20)))

    asyncio.run(loops())
    assert (held, most) == (0, 2)
