"""Several spaces in one repository: what one of them does takes nothing away from another."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import httpx
import pytest

from syncd.api.client import Client
from syncd.api.options import DEFAULTS, ClientOptions
from syncd.platform.services.directory.read import import_directory
from syncd.repo.repository import Repository
from syncd.sync.binding import Binding
from syncd.sync.policy import Policy
from syncd.sync.run.cycle import run_cycle
from syncd.sync.run.spaces import LISTED_PER_SPACE, SpaceReader
from syncd.sync.run.values import Result, RunOptions
from tests.checkouts import plant
from tests.sync.conftest import assert_fine

SYNC = RunOptions()
OTHER: dict[str, str | bytes] = {
    "README.md": "# Other\n\nOne.\n",
    "SUMMARY.md": "# Table of contents\n\n* [Other](README.md)\n",
}


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["docs-first", "other-first"])
def test_an_updated_change_request_of_one_space_reverts_nothing_of_another(world: Any, order: Sequence[int]) -> None:
    made = import_directory(world.storage, plant(world.root / "other", OTHER), title="Other", space=None)
    bindings = (Binding(world.space, "docs", "docs"), Binding(made.space, "other", "other"))
    clone = world.root / "clone"

    def run(wish: RunOptions) -> list[Result]:
        with world.workspace() as workspace:
            return run_cycle(replace(workspace, bindings=tuple(bindings[place] for place in order)), wish)

    Repository.create(clone, branch="main").close()
    assert_fine(run(RunOptions(integrate=False, propose=False)))
    with Repository.open(clone) as repository:
        tip = repository.resolve("refs/remotes/platform/main")
        assert tip is not None
        repository.update_ref("refs/heads/main", tip, old=None)
        repository.checkout_new("main")
    world.commit("Mine", {"docs/options.md": "# Options\n\n* first\n* second\n* mine\n", "notes.txt": "mine\n"})
    assert_fine(run(RunOptions()))
    world.edit_on_platform({"guide/usage.md": "# Usage\n\nTheirs.\n"})
    theirs: dict[str, str | bytes] = {**OTHER, "README.md": "# Other\n\nTwo, from the platform.\n"}
    import_directory(world.storage, plant(world.root / "other", theirs), title=None, space=made.space)
    assert_fine(run(RunOptions()))
    assert (clone / "other" / "README.md").read_bytes() == b"# Other\n\nTwo, from the platform.\n"
    assert (clone / "docs" / "guide" / "usage.md").read_text() == "# Usage\n\nTheirs.\n"
    assert (clone / "notes.txt").read_text() == "mine\n"
    with world.client() as client:
        assert not list(client.change_requests.list(made.space, "open"))
    assert_fine(run(RunOptions()))
    assert set(world.requests[-1]) == {"GET"}


@pytest.mark.long
def test_lines_beside_what_was_merged_of_one_space_are_in_no_conflict(world: Any) -> None:
    """The branch has other spaces' work, too, so that only a part of it is merged: what that part has is known."""
    made = import_directory(world.storage, plant(world.root / "other", OTHER), title="Other", space=None)
    bindings = (Binding(world.space, "docs", "docs"), Binding(made.space, "other", "other"))
    clone, options = world.root / "clone", "# Options\n\n* first\n"

    def run(wish: RunOptions = SYNC, **policy: Any) -> list[Result]:
        with world.workspace() as workspace:
            return run_cycle(replace(workspace, bindings=bindings, policy=Policy(**policy)), wish)

    Repository.create(clone, branch="main").close()
    assert_fine(run(RunOptions(integrate=False, propose=False)))
    world.git("update-ref", "refs/heads/main", "refs/remotes/platform/main")
    world.git("checkout", "--quiet", "main")
    world.commit("One", {"docs/options.md": f"{options}* mine\n* second\n", "other/README.md": "# Other\n\nMine.\n"})
    assert_fine(run())
    world.commit("Third", {"docs/options.md": f"{options}* third\n* mine\n* second\n"})
    world.edit_on_platform({"guide/usage.md": "# Usage\n\nTheirs.\n"})
    assert_fine(run(update="never"))
    assert_fine(run())
    world.edit_on_platform({"guide/usage.md": "# Usage\n\nTheirs, too.\n"})
    world.merge(1)
    world.commit("Two", {"docs/options.md": f"{options}* mine, too\n* third\n* mine\n* second\n"})
    assert_fine(run())
    assert_fine(run())
    with world.client() as client:
        (request,) = client.change_requests.list(world.space, "open")
        page = client.change_request_content.get_page_by_path(world.space, str(request.number), "reference/options")
    assert page.markdown == f"{options}* mine, too\n* third\n* mine\n* second\n"


def test_what_another_clone_has_merged_of_one_space_brings_nothing_of_another(world: Any) -> None:
    made = import_directory(world.storage, plant(world.root / "other", OTHER), title="Other", space=None)
    bindings = (Binding(world.space, "docs", "docs"), Binding(made.space, "other", "other"))

    def run(clone: str, instance: str, wish: RunOptions) -> list[Result]:
        with world.workspace(clone) as workspace:
            there = replace(workspace, bindings=bindings, instance=instance, branch="main")
            return run_cycle(there, wish)

    Repository.create(world.root / "one", branch="main").close()
    assert_fine(run("one", "0a1b2c", RunOptions(integrate=False, propose=False)))
    world.git("update-ref", "refs/heads/main", "refs/remotes/platform/main", clone="one")
    world.git("checkout", "--quiet", "main", clone="one")
    world.git("clone", "--quiet", str(world.root / "one"), str(world.root / "two"), clone="one")
    assert_fine(run("two", "0a1b2d", RunOptions(propose=False)))
    files: dict[str, str | bytes] = {
        "docs/options.md": "# Options\n\n* mine\n",
        "other/README.md": "# Other\n\nMine.\n",
    }
    world.commit("Both", files, clone="one")
    assert_fine(run("one", "0a1b2c", RunOptions()))
    world.merge(1)
    world.git("pull", "--quiet", "--ff-only", clone="two")
    assert_fine(run("two", "0a1b2d", RunOptions(propose=False)))
    assert world.git("show", "platform/main:docs/options.md", clone="two") == "# Options\n\n* mine\n"
    assert world.git("show", "platform/main:other/README.md", clone="two") == OTHER["README.md"], "nobody merged it"
    assert world.git("show", "main:other/README.md", clone="two") == "# Other\n\nMine.\n"


class Faulty(httpx.BaseTransport):
    """The way to the platform; requests for the paths in `broken` are answered so, or with no answer for None."""

    def __init__(self, broken: Mapping[str, int | None]) -> None:
        self.broken, self.asked = dict(broken), Counter[str]()
        self._real = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/v1")
        self.asked[path] += 1
        status = next((status for start, status in self.broken.items() if path.startswith(start)), 0)
        if status is None:
            raise httpx.ConnectError("nobody is there", request=request)
        if status:
            return httpx.Response(status, json={"error": {"code": status, "message": "refused"}})
        return self._real.handle_request(request)

    def close(self) -> None:
        self._real.close()


@pytest.fixture
def spaces(world: Any) -> list[str]:
    """Four spaces on the platform, and a repository for them."""
    Repository.create(world.root / "clone", branch="main").close()
    titles = ("One", "Two", "Three", "Four")
    return [
        import_directory(world.storage, plant(world.root / title, OTHER), title=title, space=None).space
        for title in titles
    ]


def run_through(world: Any, spaces: Sequence[str], transport: Faulty) -> dict[str, int]:
    """Run every flow of spaces named `s0`, `s1` and so on, and return the exit code of each mirror."""
    bindings = tuple(Binding(space, f"s{number}", f"s{number}") for number, space in enumerate(spaces))
    with (
        world.workspace() as workspace,
        Client(world.url, world.token, ClientOptions(transport=transport, sleep=lambda seconds: None)) as client,
    ):
        results = run_cycle(replace(workspace, client=client, bindings=bindings), RunOptions())
    assert {result.flow for result in results if result.outcome.exit_code} <= {"mirror"}
    return {result.key: result.outcome.exit_code for result in results if result.flow == "mirror"}


@pytest.mark.long
@pytest.mark.parametrize("place", [0, 1, 3])
@pytest.mark.parametrize(("status", "code"), [(404, 78), (403, 77), (500, 69)])
def test_a_space_that_cannot_be_read_stops_no_other(
    world: Any, spaces: list[str], place: int, status: int, code: int
) -> None:
    transport = Faulty({f"/spaces/{spaces[place]}": status, "/orgs": 403})
    codes = run_through(world, spaces, transport)
    assert codes == {f"s{number}": code if number == place else 0 for number in range(4)}
    asked = transport.asked[f"/spaces/{spaces[place]}"]
    assert asked == (DEFAULTS.tries if status == 500 else 1), "it is asked for once a run"
    for number in set(range(4)) - {place}:
        assert world.git("show", f"platform/main:s{number}/README.md") == OTHER["README.md"]
    assert set(run_through(world, spaces, Faulty({})).values()) == {0}


@pytest.mark.parametrize(("status", "code", "asked"), [(401, 77, 1), (None, 69, DEFAULTS.tries)])
def test_a_failure_that_all_spaces_share_is_met_once(
    world: Any, spaces: list[str], status: int | None, code: int, asked: int
) -> None:
    transport = Faulty({"/": status})
    assert run_through(world, spaces, transport) == {f"s{number}": code for number in range(4)}
    assert transport.asked.total() == asked


@pytest.mark.parametrize(("places", "single"), [(range(4), 1), (range(1996, 2000), 4), (range(0, 2000, 10), 1)])
def test_a_run_reads_no_more_of_an_organization_than_its_own_spaces_are_worth(
    places: Sequence[int], single: int
) -> None:
    sent = Counter[str]()

    def answer(request: httpx.Request) -> httpx.Response:
        if "/orgs/" not in request.url.path:
            sent["single"] += 1
            return httpx.Response(200, json=_show_space(request.url.path.rsplit("/", 1)[1]))
        first, limit = int(request.url.params.get("page", 0)), int(request.url.params["limit"])
        items = [_show_space(f"s{number}") for number in range(first, min(first + limit, 2000))]
        sent["listed"] += len(items)
        following = {"next": {"page": str(first + limit)}} if first + limit < 2000 else {}
        return httpx.Response(200, json={**following, "count": 2000, "items": items})

    ids = [f"s{place}" for place in places]
    with Client("https://platform.example", "token", ClientOptions(transport=httpx.MockTransport(answer))) as client:
        reader = SpaceReader(client, ids)
        reader.read_all()
        assert [reader.get(id).id for id in ids] == ids
    assert sent["single"] == single
    assert sent["listed"] <= LISTED_PER_SPACE * len(ids)


def _show_space(id: str) -> dict[str, str]:
    return {"object": "space", "id": id, "title": id, "organization": "o"}
