"""Fifty edited pages become a change request, against bare diff-tree, cat-file and the bare POSTs."""

from collections.abc import Iterator
from pathlib import Path

from syncd.sync.run.values import RunOptions
from tests.benchmarks.bare import Bare
from tests.benchmarks.measure import Cost, Line, both, cost_of, duel, median, over
from tests.benchmarks.relay import counted
from tests.benchmarks.stage import Stage, git, run_flows, run_syncd, syncd

ROUNDS = 5
EDITED = 50
AIM = 2.0
WRITES_AIM = 3
SMALL_SPACE = 100
ONE_CPU_AIM, ONE_READ_AIM, ONE_MEMORY_AIM = 0.4, 0.5, 110
_PERSON = "A. Writer <writer@example.org> 1700000000 +0000"
WRITES = ("POST", "PUT", "PATCH", "DELETE")


def measure(stage: Stage) -> Iterator[Line]:
    """Given a stage, measure and return the lines."""
    yield from _pushes(stage, stage.space_of(SMALL_SPACE), SMALL_SPACE)
    yield from _pushes(stage, stage.large, stage.pages)
    yield from _one_page(stage)


def _one_page(stage: Stage) -> Iterator[Line]:
    """`syncd push` of one page of the large space, over a push that finds nothing: what a writer waits for."""
    path, space, token = stage.fresh("clone"), stage.large, str(stage.data / "token")
    with counted(stage.url) as (url, traffic), Bare(stage.url, stage.token) as bare:
        syncd("clone", url, space, str(path), "--token-file", token)
        words = ("--config", str(path / ".git" / "syncd.toml"))
        ids = {page["git"]["path"]: str(page["id"]) for page in bare.documents(space)}
        peaks: list[float] = []
        down: list[int] = []

        def ours(number: int) -> Cost:
            branch = commit_edits(path, ids, f"one-{number}", count=1)
            before = traffic.received
            ran = run_syncd("push", branch, *words)
            down.append(traffic.received - before)
            peaks.append(ran.peak_mb)
            again = run_syncd("push", branch, *words).cost
            _forget(path)
            return over(ran.cost, again)

        def baseline(number: int) -> Cost:
            branch = commit_edits(path, ids, f"bare-one-{number}", count=1)
            return cost_of(lambda: _bare_push(bare, path, branch, space, ids))

        result = duel(baseline, ours, rounds=ROUNDS)
    facts = f"over a push that finds nothing {median(result.ours)}; bare {median(result.base)}"
    name = f"push one in {stage.pages}"
    yield from both(name, result, facts)
    yield Line(f"{name} work", median(result.ours).cpu, unit="s CPU", aim=ONE_CPU_AIM)
    yield Line(f"{name} read", max(down) / 1e6, unit="MB", aim=ONE_READ_AIM)
    yield Line(f"{name} memory", max(peaks), unit="MB", aim=ONE_MEMORY_AIM)


def _pushes(stage: Stage, space: str, pages: int) -> Iterator[Line]:
    path = stage.mirror_of(space)
    writes: list[int] = []
    with Bare(stage.url, stage.token) as bare:
        ids = {page["git"]["path"]: str(page["id"]) for page in bare.documents(space)}

    def ours(number: int) -> Cost:
        branch = commit_edits(path, ids, f"ours-{number}")

        def work() -> None:
            with stage.workspace(path, space) as workspace:
                run_flows(workspace, RunOptions(branches=(branch,), integrate=False))
                writes.append(sum(workspace.client.requests_sent.get(method, 0) for method in WRITES))

        cost = cost_of(work)
        _forget(path)
        return cost

    def baseline(number: int) -> Cost:
        branch = commit_edits(path, ids, f"bare-{number}")
        with Bare(stage.url, stage.token) as bare:
            return cost_of(lambda: _bare_push(bare, path, branch, space, ids))

    result = duel(baseline, ours, rounds=ROUNDS)
    name = f"push in {pages}"
    facts = f"syncd {median(result.ours)}; bare {median(result.base)}"
    yield from both(name, result, facts, aim=AIM)
    yield Line(f"{name} writes", max(writes), unit="requests", aim=WRITES_AIM)


def commit_edits(directory: Path, ids: dict[str, str], branch: str, *, count: int = EDITED) -> str:
    """Commit so many edits, spread over all pages, on a new branch upon main content, and return the branch."""
    main = git(directory, "rev-parse", "refs/remotes/platform/main").decode().strip()
    lines = [f"commit refs/heads/{branch}\ncommitter {_PERSON}\ndata 5\nEdit\nfrom {main}\n".encode()]
    for page in list(ids)[:: max(1, len(ids) // count)][:count]:
        text = git(directory, "cat-file", "blob", f"{main}:{page}") + f"\nEdited on {branch}.\n".encode()
        lines.append(f"M 100644 inline {page}\ndata {len(text)}\n".encode() + text + b"\n")
    git(directory, "fast-import", "--quiet", data=b"".join(lines))
    return branch


def _forget(directory: Path) -> None:
    """Let syncd not know the change request any more: every round shall open its first one."""
    refs = git(directory, "for-each-ref", "--format=delete %(refname)", "refs/syncd", "refs/remotes/platform/changes")
    git(directory, "update-ref", "--stdin", data=refs)


def _bare_push(bare: Bare, directory: Path, branch: str, space: str, ids: dict[str, str]) -> None:
    changed = git(directory, "diff-tree", "-r", "-z", "refs/remotes/platform/main", f"refs/heads/{branch}")
    fields = changed.decode().split("\0")
    oids = {path: facts.split(" ")[3] for facts, path in zip(fields[::2], fields[1::2], strict=False)}
    texts = _contents(directory, list(oids.values()))
    request = bare.send("POST", f"/spaces/{space}/change-requests", {"subject": "Edit"})["id"]
    operations = [
        {"operation": "update_page", "page": ids[path], "document": {"markdown": text}}
        for path, text in zip(oids, texts, strict=True)
    ]
    content = f"/spaces/{space}/change-requests/{request}/content?compat=false"
    bare.send("POST", content, {"changes": operations})
    bare.send("PATCH", f"/spaces/{space}/change-requests/{request}", {"status": "open"})


def _contents(directory: Path, oids: list[str]) -> Iterator[str]:
    answer = git(directory, "cat-file", "--batch", data="".join(f"{oid}\n" for oid in oids).encode())
    start = 0
    for _ in oids:
        head = answer.index(b"\n", start)
        end = head + 1 + int(answer[start:head].rsplit(b" ", 1)[1])
        yield answer[head + 1 : end].decode()
        start = end + 1
