"""Ten thousand redirects: validate, plan, apply and plan again, beside octodns that does the same between two files.

syncd talks to a platform in another process, once with the bulk operation and once without; octodns has no server to
talk to, and as many records. Of octodns the interpreter is used that OCTODNS_PYTHON names, else this one if it has it.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from syncd.api.client import Client
from syncd.model.site import SiteCreate, SiteSectionCreate
from syncd.model.space import SpaceCreate
from syncd.sync.gc_tuning import collect_seldom
from syncd.sync.outcome import Applied
from syncd.sync.site.flow import prepare_plan, run_plan
from syncd.sync.site.options import SiteOptions
from syncd.sync.site.read.site_file import read_committed, read_source
from syncd.sync.workspace import Workspace
from tests.benchmarks import sites_documented
from tests.benchmarks.load import server
from tests.benchmarks.measure import Cost, Duel, Line, cost_of, median
from tests.benchmarks.stage import Stage, git, workspace_on

FILE = "site.yaml"
ROUNDS = 3
VALIDATE_AIM = 1.0
REQUESTS_BASE, REQUESTS_PER = 12, 1_000
"""Requests of a plan with no change: so many, and one more for each thousand redirects."""
_WORK = ("plan", "apply", "again")


@dataclass(frozen=True)
class Spent:
    """What one round took: the cost and the number of requests of each kind of work."""

    cost: dict[str, Cost]
    requests: dict[str, int]


def measure(stage: Stage) -> Iterator[Line]:
    """Given a stage, measure and return the lines."""
    count, python = stage.pages, _interpreter()
    rounds: list[Spent] = []
    base: list[dict[str, Cost]] = []
    for _ in range(ROUNDS):  # in turns: both sides of a round meet the same load of the machine
        rounds.append(_round(stage, stage.url, stage.token, count))
        base += [_octodns(python, stage.fresh("octodns"), count)] if python else []
    yield _validation(rounds, count)
    allowed = REQUESTS_BASE + count // REQUESTS_PER
    asked = max(one.requests["again"] for one in rounds)
    yield Line("redirects no change", asked, "requests", aim=allowed, limit=allowed, facts=f"{count} redirects")
    yield from _absolute("redirects", rounds, count)
    yield from _beside(rounds, base)
    with _documented(stage) as (url, token):
        yield from _absolute("without bulk", [_round(stage, url, token, count)], count)


def _round(stage: Stage, url: str, token: str, count: int) -> Spent:
    """On a new site: read the file, plan, apply, and plan again."""
    path = stage.repository()
    _commit(path, site_text(_site(url, token), count))
    cost: dict[str, Cost] = {}
    requests: dict[str, int] = {}
    for name in ("validate", "plan", "apply", "again"):
        with workspace_on(url, token, path, []) as workspace:
            cost[name] = cost_of(partial(_do, workspace, name, count))
            requests[name] = sum(workspace.client.requests_sent.values())
    return Spent(cost, requests)


def _do(workspace: Workspace, name: str, count: int) -> None:
    source, wish = read_committed(workspace.repository, "main", FILE), SiteOptions(FILE)
    if name == "validate":
        with collect_seldom():  # as the command does
            read_source(source)
        return
    prepared = prepare_plan(workspace, source, wish)
    wanted = 0 if name == "again" else count
    if len(prepared.plan.select_lines("create")) != wanted or (name == "again" and prepared.plan):
        raise RuntimeError(f"{name}: {prepared.plan.counts()} in place of {wanted} to create")
    if name == "apply" and not isinstance(settled := run_plan(workspace, prepared, wish).outcome, Applied):
        raise RuntimeError(f"apply: {settled}")


def site_text(site: "Site", count: int) -> str:
    """Given a site, return a file that declares that many redirects to its section `home`."""
    redirects = "".join(f"  - {{ from: /old/page-{number:05d}, to: {{ section: home }} }}\n" for number in range(count))
    return (
        f"version: 1\nsite: {{ org: {site.organization}, id: {site.id} }}\nspaces: {{ home: {site.space} }}\n"
        "structure:\n  items:\n    - section: home\n      path: home\n      default: true\n"
        "      variants: [{ variant: en, space: home, default: true }]\n"
        f"redirects:\n{redirects}"
    )


@dataclass(frozen=True)
class Site:
    """A site with one section."""

    organization: str
    id: str
    space: str


def _site(url: str, token: str) -> Site:
    with Client(url, token) as client:
        organization = next(iter(client.organizations.list())).id
        space = client.spaces.create(organization, SpaceCreate(title="Home")).id
        site = client.sites.create(organization, SiteCreate(title="Redirects")).id
        client.sections.create(organization, site, SiteSectionCreate(space_id=space, title="Home"))
    return Site(organization, site, space)


def _commit(path: Path, text: str) -> None:
    (path / FILE).write_text(text)
    git(path, "add", FILE)
    git(path, "commit", "--quiet", "--message", "Declare the site")


@contextmanager
def _documented(stage: Stage) -> Iterator[tuple[str, str]]:
    """Serve a platform that has nothing beyond the API document."""
    data = stage.fresh("documented")
    with server("-m", sites_documented.__name__, str(data), cwd=stage.root) as (url, _):
        yield url, (data / "token").read_text(encoding="ascii").strip()


def _validation(rounds: list[Spent], count: int) -> Line:
    spent = median([one.cost["validate"] for one in rounds])
    return Line("redirects validate", spent.wall, "s", aim=VALIDATE_AIM, facts=f"{count} redirects: {spent}")


def _absolute(name: str, rounds: list[Spent], count: int) -> Iterator[Line]:
    for work in _WORK:
        spent = median([one.cost[work] for one in rounds])
        facts = f"{spent}; {max(one.requests[work] for one in rounds)} requests"
        yield Line(f"{name} {work}", spent.wall * 1000 / count, "s/1000", facts=facts)


def _beside(rounds: list[Spent], base: list[dict[str, Cost]]) -> Iterator[Line]:
    """How many times the time of octodns ours takes."""
    if not base:
        facts = "not measured: pip install octodns, here or where OCTODNS_PYTHON is"
        yield Line("redirects to octodns", 0, facts=facts)
        return
    for work in _WORK:
        result = Duel(tuple(one[work] for one in base), tuple(one.cost[work] for one in rounds))
        facts = f"syncd {median(result.ours)}; octodns {median(result.base)}"
        yield Line(f"redirects {work} wall", result.wall, aim=1.0, facts=facts)
        yield Line(f"redirects {work} CPU", result.cpu, aim=1.0)


def _interpreter() -> str:
    return os.environ.get("OCTODNS_PYTHON") or (sys.executable if find_spec("octodns") else "")


def _octodns(python: str, root: Path, count: int) -> dict[str, Cost]:
    script = Path(__file__).with_name("sites_octodns.py")
    words = [python, "-I", str(script), str(root), str(count)]
    found = json.loads(subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout)
    return {work: Cost(**found[work]) for work in _WORK}
