"""A directory to type in, with or without a platform and a clone; a test types all that it says it plays."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.checkouts import plant
from tests.cli.conftest import PAGES
from tests.manual.not_typed import NOT_TYPED
from tests.manual.place import Place, list_played

ADDRESS = "http://127.0.0.1:8470"


@pytest.fixture
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Place]:
    """A directory without a platform yet."""
    place = Place(tmp_path)
    yield place
    if place.is_serving():
        place.stop()
    said = list_played(request.function)
    left = [line for page, line in said if line not in place.typed and line not in NOT_TYPED.get(page, {})]
    assert not left, f"this test says that it types them: {left}"


@pytest.fixture
def platform(place: Place) -> Place:
    """A platform that runs, with a space of pages."""
    plant(place.root / "source", PAGES)
    said = place.type("syncd platform import source --data platform-data --title Guides")
    place.names = {"SPACE": said.split("space ", 1)[1].split()[0]}
    place.serve()
    place.names |= {ADDRESS: place.url, "https://api.gitbook.com": place.url}
    return place


@pytest.fixture
def clone(platform: Place) -> Place:
    """A platform with a space, and a clone of it in `docs`, where the space fills the whole repository."""
    platform.type(f"syncd clone {platform.url} {platform.names['SPACE']} docs --token-file platform-data/token")
    return platform


@pytest.fixture
def guides(platform: Place) -> Place:
    """A platform with a space, and a clone of it in `docs`, where the space has the directory `guides`."""
    platform.type(f"syncd clone {platform.url} {platform.names['SPACE']}=guides docs --token-file platform-data/token")
    return platform
