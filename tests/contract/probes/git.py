"""Imports from Git repositories and exports to them: what may be asked for; the rest is tested with the platform."""

from typing import Any

from tests.contract.probe import Ask, probe
from tests.contract.world import World

# A name that leads to this machine, which the platform does not reach: nothing is ever sent.
_BODY: dict[str, Any] = {"url": "https://git.localhost/docs.git", "ref": "refs/heads/main"}
_WRONG: tuple[Any, ...] = (
    *({**_BODY, "url": url} for url in ("", "docs", "file:///docs", "http://git.localhost/docs.git", "x" * 2_001, 7)),
    *({**_BODY, "ref": ref} for ref in ("", "main", "x" * 501, None)),
    *({**_BODY, "timestamp": moment} for moment in ("yesterday", 7)),
    {**_BODY, "force": "maybe"},
    {**_BODY, "repoProjectDirectory": 7},
    {"ref": "refs/heads/main"},
)


@probe("importGitRepository")
def probe_import_git_repository(world: World) -> Ask:
    more = {"repoTreeURL": "https://git.localhost/tree", "repoCommitURL": "https://git.localhost/commit"}
    body = {**_BODY, **more, "repoProjectDirectory": "docs", "timestamp": "2026-01-31T08:00:00Z", "standalone": True}
    return Ask({"spaceId": world.space()["id"]}, body=body, status=204, invalid=_WRONG)


@probe("exportToGitRepository")
def probe_export_to_git_repository(world: World) -> Ask:
    body = {**_BODY, "commitMessage": "Write"}
    wrong = (*({**one, "commitMessage": "Write"} for one in _WRONG), _BODY, {**body, "ref": "refs/tags/one"})
    return Ask({"spaceId": world.space()["id"]}, body=body, status=204, invalid=wrong)


@probe("getSpaceGitInfo")
def probe_get_space_git_info(world: World) -> Ask:
    path = {"spaceId": world.space()["id"]}
    assert world.call("getSpaceGitInfo", path).status_code == 404
    assert world.call("importGitRepository", path, body=_BODY).status_code == 204

    def check(answer: Any) -> None:
        assert answer["url"] == _BODY["url"]
        assert (answer["operation"]["state"], answer["operation"]["direction"]) == ("running", "import")

    return Ask(path, check=check)
