"""What many ask for is made once, for as long as somebody waits for it."""

import asyncio

import pytest

from syncd.platform.http.shared_results import SharedResults


class Making:
    """Something that is made when `finish` is set, and notes how often it was begun and given up."""

    def __init__(self) -> None:
        self.begun = self.given_up = 0
        self.finish = asyncio.Event()

    async def make(self) -> bytes:
        self.begun += 1
        try:
            await self.finish.wait()
        except asyncio.CancelledError:
            self.given_up += 1
            raise
        return b"made"


def shared() -> SharedResults[str, bytes]:
    return SharedResults(100, weigh=len)


async def begun(making: Making) -> None:
    while not making.begun:
        await asyncio.sleep(0)


def test_it_is_made_once_for_all_who_ask_and_remembered() -> None:
    async def asked() -> tuple[set[bytes], int]:
        results, making = shared(), Making()
        asking = [asyncio.ensure_future(results.get("key", making.make)) for _ in range(20)]
        await begun(making)
        making.finish.set()
        answers = set(await asyncio.gather(*asking)) | {await results.get("key", making.make)}
        return answers, making.begun

    assert asyncio.run(asked()) == ({b"made"}, 1)


def test_it_goes_on_until_the_last_one_who_asked_has_left() -> None:
    async def left() -> tuple[int, int, bytes]:
        results, making = shared(), Making()
        asking = [asyncio.ensure_future(results.get("key", making.make)) for _ in range(3)]
        await begun(making)
        for task in asking[:2]:
            task.cancel()
            await asyncio.sleep(0)
        assert (making.begun, making.given_up) == (1, 0)
        asking[2].cancel()
        await asyncio.gather(*asking, return_exceptions=True)
        while not making.given_up:
            await asyncio.sleep(0)
        making.finish.set()
        # Whoever asks afterwards is not told that somebody else left.
        return making.begun, making.given_up, await results.get("key", making.make)

    assert asyncio.run(left()) == (1, 1, b"made")


def test_a_failure_is_told_to_all_who_wait_and_not_remembered() -> None:
    async def failed() -> None:
        results, making = shared(), Making()

        async def fail() -> bytes:
            await making.make()
            raise ValueError("no")

        asking = [asyncio.ensure_future(results.get("key", fail)) for _ in range(3)]
        await begun(making)
        making.finish.set()
        assert [type(each) for each in await asyncio.gather(*asking, return_exceptions=True)] == [ValueError] * 3
        with pytest.raises(ValueError, match="no"):
            await results.get("key", fail)
        assert await results.get("key", making.make) == b"made"

    asyncio.run(failed())
