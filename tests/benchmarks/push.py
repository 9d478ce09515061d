"""Fifty edited pages become a change request, against bare diff-tree, cat-file and the bare POSTs."""

from collections.abc import Iterator
from pathlib import Path

from syncd.sync.run.values import RunOptions
from tests.benchmarks.bare import Bare
from tests.benchmarks.measure import Cost, Line, both, cost_of, duel, median
from tests.benchmarks.stage import Stage, git, run_flows

ROUNDS = 5
EDITED = 50
AIM = 2.0
WRITES_AIM = 3
SMALL_SPACE = 100
PERSON = "A. Writer <writer@example.org> 1700000000 +0000"
WRITES = ("POST", "PUT", "PATCH", "DELETE")


def measure(stage: Stage) -> Iterator[Line]:
    """Given a stage, measure and return the lines."""
    yield from _pushes(stage, stage.space_of(SMALL_SPACE), SMALL_SPACE)
    yield from _pushes(stage, stage.large, stage.pages)


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
        forget_requests(path)
        return cost

    def baseline(number: int) -> Cost:
        branch = commit_edits(path, ids, f"bare-{number}")
        with Bare(stage.url, stage.token) as bare:
            return cost_of(lambda: bare_push(bare, path, branch, space, ids))

    result = duel(baseline, ours, rounds=ROUNDS)
    name = f"push in {pages}"
    facts = f"syncd {median(result.ours)}; bare {median(result.base)}"
    yield from both(name, result, facts, aim=AIM)
    yield Line(f"{name} writes", max(writes), unit="requests", aim=WRITES_AIM)


def commit_edits(directory: Path, ids: dict[str, str], branch: str, *, count: int = EDITED) -> str:
    """Commit so many edits, spread over all pages, on a new branch upon main content, and return the branch."""
    main = git(directory, "rev-parse", "refs/remotes/platform/main").decode().strip()
    lines = [f"commit refs/heads/{branch}\ncommitter {PERSON}\ndata 5\nEdit\nfrom {main}\n".encode()]
    for page in list(ids)[:: max(1, len(ids) // count)][:count]:
        text = git(directory, "cat-file", "blob", f"{main}:{page}") + f"\nEdited on {branch}.\n".encode()
        lines.append(f"M 100644 inline {page}\ndata {len(text)}\n".encode() + text + b"\n")
    git(directory, "fast-import", "--quiet", data=b"".join(lines))
    return branch


def forget_requests(directory: Path) -> None:
    """Let syncd not know the change request any more: every round shall open its first one."""
    refs = git(directory, "for-each-ref", "--format=delete %(refname)", "refs/syncd", "refs/remotes/platform/changes")
    git(directory, "update-ref", "--stdin", data=refs)


def bare_push(bare: Bare, directory: Path, branch: str, space: str, ids: dict[str, str]) -> None:
    """Open a change request with the pages of a branch, as somebody would write it who needs nothing else."""
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
