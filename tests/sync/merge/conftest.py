"""What the tests of merges share."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from syncd.repo.repository import Repository
from syncd.sync.binding import Binding
from syncd.sync.workspace import Workspace
from tests.sync.merge.place import Place


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with Repository.create(tmp_path_factory.mktemp("place") / "work") as repository:
        nothing = cast(Any, None)
        binding = Binding("space", "", "docs")
        yield Place(Workspace(nothing, repository, nothing, lambda: datetime.now(UTC), (binding,)))
