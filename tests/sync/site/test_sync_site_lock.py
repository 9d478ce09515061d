"""The commit of a site's lock is nobody's news: no change request, no second commit, no quarrel with the mirror."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from syncd.model.site import SiteCreate
from syncd.sync.outcome import Applied, Unchanged
from syncd.sync.run.values import Result, RunOptions
from syncd.sync.site.options import SiteOptions

Fine = Callable[[list[Result]], None]
TEXT = """version: 1
site: {{ org: {organization}, id: {site} }}
redirects:
  - {{ from: /old, to: {{ url: "https://example.com" }} }}
"""


@pytest.fixture
def wish(world: Any) -> RunOptions:
    """A clone whose space lies at the root, and beside its pages the file of a site."""
    world.clone()
    with world.client() as client:
        organization = next(iter(client.organizations.list())).id
        site = client.sites.create(organization, SiteCreate(title="Docs", spaces=(world.space,)))
        client.sites.publish(organization, site.id)
    world.commit("Declare the site", {"site.yaml": TEXT.format(organization=organization, site=site.id)})
    return RunOptions(site=SiteOptions("site.yaml"))


def requests(world: Any) -> list[str]:
    with world.client() as client:
        return [one.id for one in client.change_requests.list(world.space)]


def test_the_locks_commit_opens_no_change_request_and_the_next_run_writes_nothing(
    world: Any, wish: RunOptions, fine: Fine
) -> None:
    first = world.run(wish)
    fine(first)
    assert isinstance(next(one.outcome for one in first if one.flow == "site"), Applied)
    assert world.git("log", "-1", "--format=%s").strip() == "chore(syncd): lock serial 1"
    assert json.loads(world.git("show", "main:site.lock.json"))["items"]
    assert world.git("status", "--porcelain") == ""
    assert requests(world) == []
    tip = world.git("rev-parse", "main")
    for _ in range(2):
        again = world.run(wish)
        fine(again)
        assert {type(one.outcome) for one in again} == {Unchanged}, again
        assert not {"POST", "PUT", "PATCH", "DELETE"} & world.requests[-1].keys()
    assert world.git("rev-parse", "main") == tip
    assert requests(world) == []


def test_pages_come_and_go_beside_the_lock(world: Any, wish: RunOptions, fine: Fine) -> None:
    world.run(wish)
    world.edit_on_platform({"options.md": "# Options\n\n* first\n* second\n* third\n"})
    fine(world.run(wish))
    assert "third" in (world.root / "clone" / "options.md").read_text()
    assert (world.root / "clone" / "site.lock.json").exists()
    world.commit("Mine", {"errors.md": "# Errors explained\n\nMine.\n"})
    fine(world.run(wish))
    (number,) = requests(world)
    with world.client() as client:
        assert client.change_requests.merge(world.space, number).result == "merge"
    fine(world.run(wish))
    assert {type(one.outcome) for one in world.run(wish)} == {Unchanged}
    assert json.loads((world.root / "clone" / "site.lock.json").read_text())["serial"] == 1
