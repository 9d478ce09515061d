"""A poll that finds nothing new: of a hundred spaces in one repository, and of one."""

from collections.abc import Iterator, Sequence

from syncd.model.space import SpaceCreate
from syncd.repo.repository import Repository
from syncd.sync.run.values import RunOptions
from tests.benchmarks.measure import Line, cost_of, median
from tests.benchmarks.stage import Stage, run_flows

ROUNDS = 7
SPACES = 100
REQUESTS_AIM, A_SPACE_LIMIT = 10, 1.0
CPU_SECONDS = 0.2


def measure(stage: Stage) -> Iterator[Line]:
    """Given a stage, measure and return the lines."""
    with stage.client() as client:
        organization = next(client.organizations.list()).id
        made = [client.spaces.create(organization, SpaceCreate(title=f"Space {number}")).id for number in range(SPACES)]
    yield from _polls(stage, made)
    yield from _polls(stage, made[:1])


def _polls(stage: Stage, spaces: Sequence[str]) -> Iterator[Line]:
    path = stage.mirror_of(*spaces)
    with Repository.open(path) as repository:
        tip = repository.resolve("refs/remotes/platform/main")
        assert tip is not None
        repository.update_ref("refs/heads/main", tip, old=None)
    requests: list[int] = []

    def work() -> None:
        with stage.workspace(path, *spaces) as workspace:
            requests.append(run_flows(workspace, RunOptions()))

    cost = median([cost_of(work) for _ in range(ROUNDS)])
    name, each = f"idle {len(spaces)}", max(requests) / len(spaces)
    yield Line(f"{name} requests", each, unit="a space", limit=A_SPACE_LIMIT, facts=f"{max(requests)} in all; {cost}")
    if len(spaces) > 1:
        yield Line(f"{name} requests in all", max(requests), unit="requests", aim=REQUESTS_AIM)
    yield Line(f"{name} CPU", cost.cpu, unit="s", aim=CPU_SECONDS)
