"""Files with names that some system cannot have, or cannot tell apart: each arrives as it is, or is told of."""

from typing import Any

import pytest

from tests.sync.conftest import changed

ASSETS = ".gitbook/assets/"


@pytest.mark.parametrize(("first", "second"), [("A.png", "a.png"), ("cafe\u0301.png", "caf\u00e9.png")])
def test_of_two_names_that_are_one_on_many_disks_the_second_is_told_of(
    world: Any, fine: Any, first: str, second: str
) -> None:
    world.clone()
    world.commit("Add both", {ASSETS + first: b"One.", ASSETS + second: b"Two."})
    results = world.push()
    fine(results)
    told = [(change.verb, change.key) for change in changed(results, "propose").changes if change.noun == "file"]
    assert told == [("create", ASSETS + first), ("report", ASSETS + second)]
    world.merge(1)
    fine(world.sync())
    again = world.sync()
    fine(again)
    assert [change.key for change in changed(again, "propose").changes] == [ASSETS + second]
    assert (world.root / "clone" / ASSETS / second).read_bytes() == b"Two."
    with world.client() as client:
        assert sorted(file.name for file in client.content.get(world.space).files) == sorted(["picture.png", first])


def test_a_file_with_a_line_break_in_its_name_reaches_another_clone(world: Any, fine: Any) -> None:
    world.clone()
    world.commit("Add it", {f"{ASSETS}two\nlines.png": b"Here."})
    fine(world.push())
    world.merge(1)
    fine(world.sync())
    assert (world.root / "clone" / ASSETS / "two\nlines.png").read_bytes() == b"Here."
    path = world.clone("other")
    assert b"Here." in [file.read_bytes() for file in (path / ASSETS).iterdir()]
