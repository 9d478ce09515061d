"""Entries of SUMMARY.md whose files do not exist: the platform has no page for them, and the writer's line stays."""

from typing import Any

import pytest

from tests.sync.conftest import SMALL

ENTRY = "* [Later](later.md)\n"
LISTED = str(SMALL["SUMMARY.md"]).replace("## Reference", f"{ENTRY}\n## Reference")


def _read_table(world: Any) -> str:
    return str((world.root / "clone" / "SUMMARY.md").read_text())


@pytest.mark.parametrize("order", ["merged", "edited"])
def test_an_entry_without_a_file_stays_in_the_branch(world: Any, fine: Any, order: str) -> None:
    world.clone()
    world.commit("List a page that is to come", {"SUMMARY.md": LISTED, "errors.md": "# Errors explained\n\nMine.\n"})
    if order == "merged":
        fine(world.push())
        world.merge(1)
    else:
        world.edit_on_platform({"SUMMARY.md": str(SMALL["SUMMARY.md"]).replace("[Setup]", "[Set it up]")})
    fine(world.sync())
    assert ENTRY in _read_table(world)
    assert ("[Set it up]" in _read_table(world)) == (order == "edited")
    assert ENTRY not in world.git("show", "platform/main:SUMMARY.md")
    tip = world.git("rev-parse", "main")
    fine(world.sync())
    assert world.git("rev-parse", "main") == tip, "nothing new, no commit"


def test_its_page_is_sent_when_the_file_comes(world: Any, fine: Any) -> None:
    world.clone()
    world.commit("List a page that is to come", {"SUMMARY.md": LISTED, "errors.md": "# Errors explained\n\nMine.\n"})
    fine(world.push())
    world.merge(1)
    fine(world.sync())
    world.commit("Here it is", {"later.md": "# Later\n\nNow.\n"})
    fine(world.sync())
    world.merge(2)
    fine(world.sync())
    assert world.git("diff", "platform/main", "main") == ""
    with world.client() as client:
        assert "Later" in [page.title for page in client.content.get(world.space).pages]


def test_an_entry_without_a_file_that_its_writer_takes_out_is_gone(world: Any, fine: Any) -> None:
    world.clone()
    world.commit("List a page that is to come", {"SUMMARY.md": LISTED, "errors.md": "# Errors explained\n\nMine.\n"})
    fine(world.push())
    world.merge(1)
    fine(world.sync())
    world.commit("Take it out", {"SUMMARY.md": _read_table(world).replace(ENTRY, "")})
    world.edit_on_platform({"SUMMARY.md": str(SMALL["SUMMARY.md"]).replace("[Setup]", "[Set it up]")})
    fine(world.sync())
    assert "Later" not in _read_table(world)
