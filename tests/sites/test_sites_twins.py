"""Two clones that apply the same commit at the same moment make everything once."""

import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from syncd.layout.site.check.file import check_site
from syncd.layout.site.read.declared import SiteFile
from syncd.layout.site.read.file import read_site_file
from syncd.model.redirect import make_source_key
from syncd.platform.settings import PlatformSettings
from syncd.sync.site.apply import ApplyResult
from tests.sites.stage import WRITES, Stage, Wire, create_stage

SITE = """\
version: 1
site: {{ org: {organization}, id: {site} }}
spaces: {{ s0: {spaces[0]}, s1: {spaces[1]}, holding: {holding} }}
visitors: {{ claims: {{ partner: {{ type: boolean, description: A partner. }} }} }}
structure:
  holding_space: holding
  items:
    - section: home
      title: Same
      path: same
      default: true
      variants:
        - {{ variant: en, space: s0, path: en, default: true }}
        - {{ variant: fr, space: s1, path: fr }}
    - group: more
      title: Same
      items:
        - section: secret
          title: Secret
          path: secret
          condition: visitor.claims.partner == true
          variants: [{{ variant: en, space: s1, path: en, default: true }}]
redirects:
  - {{ from: /old, to: {{ section: home }} }}
"""
ROUTES = ("section-groups", "sections", "site-spaces", "redirects")


class Together(Wire):
    """A network that holds the first write of a run, and its first creation on one route, until the other run is there.

    Shape: `first` and `made` are the same two barriers for both runs; a run that has ended breaks them, since it may
    end before that creation, and the other goes on alone.
    """

    def __init__(self, route: str, first: threading.Barrier, made: threading.Barrier) -> None:
        super().__init__()
        self.route, self.waits = route, {"first": first, "made": made}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.method in WRITES:
            self.wait("first")
        if request.method == "POST" and request.url.path.endswith(f"/{self.route}"):
            self.wait("made")
        return super().handle_request(request)

    def wait(self, name: str) -> None:
        if (barrier := self.waits.pop(name, None)) is not None:
            with suppress(threading.BrokenBarrierError):
                barrier.wait()


@pytest.fixture(scope="module", params=[True, False], ids=["beyond", "document"])
def stage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with create_stage(tmp_path_factory.mktemp("site"), PlatformSettings(site_write=request.param)) as made:
        yield made


def cloned(stage: Stage, at: Path) -> Stage:
    shutil.copytree(stage.root / "clone", at / "clone")
    return replace(stage, root=at)


def declared(stage: Stage) -> SiteFile:
    file, findings = read_site_file(SITE.format(**vars(stage)), path=f"{stage.site}/site.yaml", others={})
    assert file is not None
    assert not [one for one in (*findings, *check_site(file)) if one.severity == "error"]
    return file


def titles(stage: Stage) -> Counter[Any]:
    """What there is on the site, by what people know it by."""
    with stage.workspace() as workspace:
        client, at = workspace.client, (stage.organization, stage.site)
        sections = list(client.sections.list(*at))
        found = [("group", one.title) for one in client.section_groups.list(*at)]
        found += [("section", f"{one.title} {one.path}") for one in sections]
        found += [("variant", f"{one.path} {inner.path}") for one in sections for inner in one.site_spaces]
        return Counter([*found, *(("redirect", make_source_key(one.source)) for one in client.redirects.list(*at))])


EXPECTED = Counter(
    [
        ("group", "Same"),
        ("section", "Same same"),
        ("section", "Secret secret"),
        ("variant", "same en"),
        ("variant", "same fr"),
        ("variant", "secret en"),
        ("redirect", "/old"),
    ]
)


@pytest.mark.long
@pytest.mark.parametrize("route", ROUTES)
def test_two_clones_at_once_leave_no_twins(stage: Stage, tmp_path: Path, route: str) -> None:
    site = stage.emptied()
    clones = [cloned(site, tmp_path / name) for name in ("one", "other")]
    file = declared(site)
    first, made = threading.Barrier(2, timeout=60), threading.Barrier(2, timeout=60)

    def run(clone: Stage) -> ApplyResult:
        try:
            return clone.apply(file, Together(route, first, made))
        finally:
            first.abort()
            made.abort()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, clones))
    ids = []
    for clone in clones:
        done = clone.apply(file)
        assert done.exit_code == 0, done
        again = clone.apply(file)
        assert not again.steps, again.steps
        ids.append({ref: entry.id for ref, entry in again.lock.items.items()})
    assert ids[0] == ids[1], "both know the same things"
    assert titles(site) == EXPECTED
