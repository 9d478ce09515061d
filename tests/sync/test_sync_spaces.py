"""Several spaces in one repository: what one of them does takes nothing away from another."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from syncd.platform.importing import import_directory
from syncd.repo import Repository
from syncd.sync.cycle import Result, Wish, run_cycle
from syncd.sync.workspace import Binding
from tests.sync.conftest import assert_fine, plant

OTHER: dict[str, str | bytes] = {
    "README.md": "# Other\n\nOne.\n",
    "SUMMARY.md": "# Table of contents\n\n* [Other](README.md)\n",
}


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["docs-first", "other-first"])
def test_an_updated_change_request_of_one_space_reverts_nothing_of_another(world: Any, order: Sequence[int]) -> None:
    made = import_directory(world.storage, plant(world.root / "other", OTHER), title="Other", space=None)
    bindings = (Binding(world.space, "docs", "docs"), Binding(made.space, "other", "other"))
    clone = world.root / "clone"

    def run(wish: Wish) -> list[Result]:
        with world.workspace() as workspace:
            return run_cycle(replace(workspace, bindings=tuple(bindings[place] for place in order)), wish)

    Repository.create(clone, branch="main").close()
    assert_fine(run(Wish(integrate=False, propose=False)))
    with Repository.open(clone) as repository:
        tip = repository.resolve("refs/remotes/platform/main")
        assert tip is not None
        repository.update_ref("refs/heads/main", tip, old=None)
        repository.checkout_new("main")
    world.commit("Mine", {"docs/options.md": "# Options\n\n* first\n* second\n* mine\n", "notes.txt": "mine\n"})
    assert_fine(run(Wish()))
    world.edit_on_platform({"guide/usage.md": "# Usage\n\nTheirs.\n"})
    theirs: dict[str, str | bytes] = {**OTHER, "README.md": "# Other\n\nTwo, from the platform.\n"}
    import_directory(world.storage, plant(world.root / "other", theirs), title=None, space=made.space)
    assert_fine(run(Wish()))
    assert (clone / "other" / "README.md").read_bytes() == b"# Other\n\nTwo, from the platform.\n"
    assert (clone / "docs" / "guide" / "usage.md").read_text() == "# Usage\n\nTheirs.\n"
    assert (clone / "notes.txt").read_text() == "mine\n"
    with world.client() as client:
        assert not list(client.change_requests.list(made.space, "open"))
    assert_fine(run(Wish()))
    assert set(world.requests[-1]) == {"GET"}
