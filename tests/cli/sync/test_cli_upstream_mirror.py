"""Who has Git only sees the other side of a conflict as a branch of the Git host, and settles it by `git merge`."""

import pytest

from tests.cli.service.hosted import MIRROR, Hosted
from tests.cli.sync.two_way import Team, conflicts, text_of

pytestmark = pytest.mark.story

GIT, WEB, BOTH = "P1 two by Git", "P1 two by web", "P1 two by both"
CHANGES = f"{MIRROR}-changes/docs/"


def page(words: str) -> str:
    return text_of("P1").replace("P1 two", words)


@pytest.fixture
def hosted(team: Team) -> Hosted:
    """A service that has run once."""
    hosted = Hosted(team)
    hosted.sync()
    return hosted


@pytest.fixture
def divided(hosted: Hosted) -> Hosted:
    """A page is in conflict with main content, and another one is proposed."""
    hosted.publish("p1.md", "P1 two", GIT)
    hosted.publish("p2.md", "P2 two", "P2 two by Git")
    hosted.web.edit("p1", "P1 two", WEB)
    hosted.web.edit("p3", "P3 two", "P3 two by web")
    assert conflicts(hosted.sync(code=6)) == ["p1.md"]
    return hosted


@pytest.fixture
def reviewed(hosted: Hosted) -> Hosted:
    """A page is in conflict with what a reviewer did in the change request."""
    hosted.publish("p1.md", "P1 two", GIT)
    hosted.sync()
    hosted.web.edit("p1", GIT, "P1 two by a reviewer", request=hosted.web.proposed())
    hosted.publish("p1.md", GIT, "P1 two by Git again")
    assert conflicts(hosted.sync(code=6)) == ["p1.md"]
    return hosted


@pytest.mark.parametrize("text", [page(BOTH), page(GIT), page(WEB)], ids=["both", "ours", "theirs"])
def test_a_conflict_with_main_content_is_settled_by_a_plain_merge(divided: Hosted, text: str) -> None:
    divided.merge(MIRROR, "p1.md")
    assert GIT in divided.git.read("p1.md")
    assert WEB in divided.git.read("p1.md")
    divided.settle("p1.md", text)
    settled = divided.git.tip()
    assert conflicts(divided.sync()) == []
    request = divided.web.proposed()
    assert divided.web.text("p1", request=request) == text
    assert "P2 two by Git" in divided.web.text("p2", request=request)
    divided.web.merge(request)
    divided.sync()
    before = divided.refs()
    divided.sync()
    assert divided.refs() == before
    divided.git.git("pull", "--quiet", "--ff-only")
    assert divided.git.git("merge-base", "--is-ancestor", settled, "HEAD") == ""
    assert divided.git.read("p1.md") == divided.web.text("p1") == text
    assert sorted(divided.web.slugs()) == ["", "p1", "p2", "p3", "p4"]


@pytest.mark.parametrize("text", [page(BOTH), page("P1 two by Git again"), page("P1 two by a reviewer")])
def test_a_conflict_with_a_reviewer_is_settled_by_a_plain_merge(reviewed: Hosted, text: str) -> None:
    request = reviewed.web.proposed()
    branch = f"{CHANGES}{request}"
    assert reviewed.branches() == ["main", MIRROR, branch]
    reviewed.merge(branch, "p1.md")
    reviewed.settle("p1.md", text)
    assert conflicts(reviewed.sync()) == []
    assert reviewed.web.text("p1", request=request) == text
    assert reviewed.branches() == ["main", MIRROR], "nothing is left to settle with it"
    before = reviewed.refs()
    assert reviewed.sync() == "Everything is in step.\n"
    assert reviewed.refs() == before
    assert [each.number for each in reviewed.web.requests()] == [request]


def test_the_message_says_how_plain_git_settles_it(divided: Hosted) -> None:
    said = divided.sync(code=6)
    assert "or in any clone, on main: git pull, then git merge origin/syncd/platform\n" in said
    divided.web.edit("p2", "P2 two by Git", "P2 two by a reviewer", request=divided.web.proposed())
    divided.publish("p2.md", "P2 two by Git", "P2 two by Git again")
    assert f"then git merge origin/{CHANGES}{divided.web.proposed()}\n" in divided.sync(code=6)


@pytest.fixture
def squashed(divided: Hosted) -> Hosted:
    """Somebody has settled the conflict, and the host made one commit with one parent of it."""
    divided.git.git("fetch", "--quiet", "--prune")
    divided.git.git("merge", "--quiet", "--ff-only", "origin/main")
    divided.git.git("merge", "--quiet", "--squash", f"origin/{MIRROR}", code=1)
    divided.settle("p1.md", page(BOTH))
    return divided


def test_a_squash_settles_nothing_and_the_message_says_so(squashed: Hosted) -> None:
    said = squashed.sync(code=6)
    assert conflicts(said) == ["p1.md"]
    assert f"git merge origin/{MIRROR}\n    keep the merge commit: a squash does not say" in said
    status = squashed.service.run("status", "--config", squashed.config, code=6)
    assert "    keep the merge commit: a squash does not say" in status


def test_a_squash_is_settled_where_the_service_runs(squashed: Hosted) -> None:
    squashed.sync(code=6)
    squashed.clone.run("resolve", "p1.md", "--ours", "--branch", "main", "--config", squashed.config)
    assert conflicts(squashed.sync()) == []
    assert squashed.web.text("p1", request=squashed.web.proposed()) == page(BOTH)


def test_who_can_only_squash_gives_the_page_the_text_of_the_platform_first(squashed: Hosted) -> None:
    squashed.sync(code=6)
    squashed.git.git("fetch", "--quiet")
    squashed.git.git("merge", "--quiet", "--ff-only", "origin/main")
    squashed.git.git("checkout", f"origin/{MIRROR}", "--", "p1.md")
    squashed.git.commit("Take the platform's page")
    squashed.git.git("push", "--quiet")
    assert conflicts(squashed.sync()) == []
    squashed.publish("p1.md", WEB, BOTH)
    assert conflicts(squashed.sync()) == []
    assert squashed.web.text("p1", request=squashed.web.proposed()) == page(BOTH)


def test_a_conflict_that_a_merge_settles_is_sent_though_its_change_request_was_archived(divided: Hosted) -> None:
    divided.web.archive(divided.web.proposed())
    divided.sync(code=6)
    divided.merge(MIRROR, "p1.md")
    divided.settle("p1.md", page(BOTH))
    assert "was archived with that" not in divided.sync()
    assert divided.web.text("p1", request=divided.web.proposed()) == page(BOTH)


def test_what_people_push_while_the_service_runs_is_settled_by_a_plain_merge(team: Team) -> None:
    """Somebody was faster at the Git host, and the service's branch has the platform's words already."""
    hosted = Hosted(team, upstream='push = "never"')
    hosted.web.edit("p1", "P1 two", WEB)
    hosted.sync()
    hosted.publish("p1.md", "P1 two", GIT)
    hosted.configure()
    said = hosted.sync(code=6)
    assert "(main and origin/main)" in said
    assert "git merge origin/syncd/platform" in said
    hosted.merge(MIRROR, "p1.md")
    hosted.settle("p1.md", page(BOTH))
    hosted.sync()
    assert hosted.host.tip("main") == hosted.clone.tip("main")
    assert hosted.host.git("show", "main:p1.md") == page(BOTH)
    assert hosted.web.text("p1", request=hosted.web.proposed()) == page(BOTH)


def test_each_branch_s_change_request_in_conflict_is_there(team: Team) -> None:
    """A page of one branch is in conflict with main content, and of another one with a reviewer."""
    hosted = Hosted(team)
    hosted.configure(repository='branches = ["main", "topic"]')
    hosted.sync()
    hosted.git.git("switch", "--quiet", "--create", "topic")
    hosted.git.edit("p1.md", "P1 two", "P1 two by topic")
    hosted.git.git("push", "--quiet", "origin", "topic")
    hosted.sync()
    request = hosted.web.proposed()
    hosted.web.edit("p1", "P1 two by topic", "P1 two by a reviewer", request=request)
    hosted.git.edit("p1.md", "P1 two by topic", "P1 two by topic again")
    hosted.git.git("push", "--quiet", "origin", "topic")
    hosted.git.git("switch", "--quiet", "main")
    hosted.publish("p2.md", "P2 two", "P2 two by Git")
    hosted.web.edit("p2", "P2 two", "P2 two by web")
    hosted.sync(code=6)
    hosted.publish("p1.md", "P1 one", "P1 one by Git")
    hosted.web.edit("p1", "P1 one", "P1 one by web")
    hosted.sync(code=6)
    assert f"{CHANGES}{request}" in hosted.branches()


def test_what_a_reviewer_wrote_is_there_where_a_push_of_it_has_failed(team: Team) -> None:
    """The service's branch has the reviewer's words, and somebody was faster at the Git host, which has them not."""
    hosted = Hosted(team)
    hosted.configure(repository='branches = ["main", "topic"]')
    hosted.sync()
    hosted.git.git("switch", "--quiet", "--create", "topic")
    hosted.git.edit("p1.md", "P1 two", GIT)
    hosted.git.git("push", "--quiet", "--set-upstream", "origin", "topic")
    hosted.sync()
    request = hosted.web.proposed()
    hosted.web.edit("p1", GIT, "P1 two by a reviewer", request=request)
    hook = hosted.host.path / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    hosted.service.syncd("sync", "--config", hosted.config)
    hook.unlink()
    hosted.git.edit("p1.md", GIT, "P1 two by Git again")
    hosted.git.git("push", "--quiet", "origin", "topic")
    said = hosted.sync(code=6)
    assert "(topic and origin/topic)" in said
    assert f"git merge origin/{CHANGES}{request}" in said
    hosted.git.git("fetch", "--quiet", "origin")
    hosted.git.git("merge", f"origin/{CHANGES}{request}", code=1)
    hosted.settle("p1.md", page(BOTH))
    hosted.sync()
    assert hosted.host.tip("topic") == hosted.clone.tip("topic")
    assert hosted.host.git("show", "topic:p1.md") == page(BOTH)
    assert hosted.web.text("p1", request=request) == page(BOTH)


def test_files_of_no_space_are_settled_by_a_plain_merge_too(team: Team) -> None:
    hosted = Hosted(team, spaces=2)
    hosted.configure(repository='branches = ["main", "topic"]')
    hosted.git.write("code.txt", "one\n")
    hosted.git.commit()
    hosted.git.git("switch", "--quiet", "--create", "topic")
    hosted.git.edit("docs0/p1.md", "P1 two", GIT)
    hosted.git.edit("code.txt", "one", "two")
    hosted.git.git("push", "--quiet", "origin", "main", "topic")
    hosted.sync()
    hosted.git.git("switch", "--quiet", "main")
    hosted.publish("code.txt", "one", "three")
    hosted.webs[0].merge()
    said = hosted.sync(code=4)
    assert "changed the same lines of code.txt, which no space holds" in said
    assert f"in any other clone: git merge origin/{MIRROR}" in said
    hosted.merge(MIRROR, "code.txt")
    hosted.settle("code.txt", "two and three\n")
    hosted.sync()
    assert hosted.host.git("show", "main:code.txt") == "two and three\n"
    assert GIT in hosted.host.git("show", "main:docs0/p1.md")


def test_only_change_requests_in_conflict_are_there_and_no_longer_than_they_live(reviewed: Hosted) -> None:
    assert f"{CHANGES}{reviewed.web.proposed()}" in reviewed.branches()
    reviewed.web.archive(reviewed.web.proposed())
    reviewed.sync()
    assert reviewed.branches() == ["main", MIRROR]
    assert "platform-changes" not in reviewed.refs()


def test_the_branch_is_the_mirror_and_goes_only_when_it_moved(hosted: Hosted) -> None:
    assert hosted.host.tip(MIRROR) == hosted.clone.tip("refs/remotes/platform/main")
    assert "pushed" not in hosted.sync()
    hosted.web.edit("p1", "P1 two", WEB)
    assert f"origin/{MIRROR}  (pushed)" in hosted.sync()
    assert hosted.host.tip(MIRROR) == hosted.clone.tip("refs/remotes/platform/main")


def test_a_new_clone_of_the_service_goes_on_where_the_former_one_was(divided: Hosted) -> None:
    divided.web.edit("p2", "P2 two by Git", "P2 two by a reviewer", request=divided.web.proposed())
    divided.publish("p2.md", "P2 two by Git", "P2 two by Git again")
    divided.sync(code=6)
    mirror, number = divided.host.tip(MIRROR), divided.web.proposed()
    divided.replace_clone()
    assert conflicts(divided.sync(code=6)) == ["p1.md", "p2.md"]
    assert divided.host.tip(MIRROR) == divided.clone.tip("refs/remotes/platform/main") == mirror
    assert divided.host.tip(f"{CHANGES}{number}") == divided.clone.tip(f"refs/remotes/platform/changes/docs/{number}")
    divided.merge(MIRROR, "p1.md")
    divided.settle("p1.md", page(BOTH))
    divided.merge(f"{CHANGES}{number}", "p2.md")
    divided.settle("p2.md", text_of("P2"))
    divided.sync()
    assert [each.number for each in divided.web.requests()] == [number]
    assert divided.web.text("p1", request=number) == page(BOTH)
    assert divided.branches() == ["main", MIRROR]


@pytest.mark.parametrize("is_new", [False, True], ids=["", "nor by a new clone"])
def test_what_somebody_else_put_there_is_never_replaced(hosted: Hosted, is_new: bool) -> None:
    hosted.git.git("fetch", "--quiet")
    hosted.git.git("switch", "--quiet", "--create", "mine", f"origin/{MIRROR}")
    hosted.git.edit("p4.md", "P4 two", "P4 two by mistake")
    hosted.git.git("push", "--quiet", "origin", f"mine:{MIRROR}")
    if is_new:
        hosted.replace_clone()
    hosted.web.edit("p1", "P1 two", WEB)
    said = hosted.sync(code=6)
    assert f"origin/{MIRROR} has commits that this clone did not push there" in said
    assert hosted.host.tip(MIRROR) == hosted.git.tip("mine")
    assert hosted.host.tip("main") == hosted.clone.tip("main"), "only this is held"
    assert WEB in hosted.host.git("show", "main:p1.md")
    assert 'to let it push none: mirror = "" in [repository.upstream]' in said
    hosted.configure('mirror = ""')
    assert hosted.sync() == "Everything is in step.\n"
    hosted.configure()
    hosted.git.git("push", "--quiet", "origin", "--delete", MIRROR)
    hosted.sync()
    assert hosted.host.tip(MIRROR) == hosted.clone.tip("refs/remotes/platform/main")


def test_a_mirror_that_was_made_anew_replaces_what_this_clone_pushed(hosted: Hosted) -> None:
    hosted.web.edit("p1", "P1 two", WEB)
    hosted.sync()
    former = hosted.host.tip(MIRROR)
    message, hosted.clone.clock = hosted.clone.git("log", "-1", "--format=%B", former), "2001-01-01T00:00:00Z"
    anew = hosted.clone.git("commit-tree", f"{former}^{{tree}}", "-p", f"{former}^", "-m", message).strip()
    hosted.clone.git("update-ref", "refs/remotes/platform/main", anew)
    # A branch that carries the former one would bring it back, instead of taking in a second one of the same revision.
    hosted.host.git("update-ref", "refs/heads/main", f"{former}^")
    hosted.clone.git("update-ref", "refs/remotes/origin/main", f"{former}^")
    hosted.clone.git("update-ref", "refs/heads/main", f"{former}^")
    hosted.web.edit("p2", "P2 two", "P2 two by web")
    hosted.sync()
    made = hosted.host.tip(MIRROR)
    assert made == hosted.clone.tip("refs/remotes/platform/main")
    hosted.host.git("merge-base", "--is-ancestor", former, made, code=1)


@pytest.mark.parametrize("times", [1, 2])
def test_a_run_that_is_killed_between_two_pushes_is_made_whole_by_the_next(divided: Hosted, times: int) -> None:
    divided.web.edit("p2", "P2 two by Git", "P2 two by a reviewer", request=divided.web.proposed())
    divided.web.edit("p3", "P3 two by web", "P3 two by web again")
    divided.publish("p2.md", "P2 two by Git", "P2 two by Git again")
    divided.killed(f"branch-pushed:{times}")
    divided.sync(code=6)
    assert divided.host.tip(MIRROR) == divided.clone.tip("refs/remotes/platform/main")
    number = divided.web.proposed()
    assert divided.host.tip(f"{CHANGES}{number}") == divided.clone.tip(f"refs/remotes/platform/changes/docs/{number}")
    before = divided.refs()
    divided.sync(code=6)
    assert divided.refs() == before


def test_a_run_that_is_killed_after_it_deleted_a_branch_is_made_whole_by_the_next(reviewed: Hosted) -> None:
    reviewed.web.archive(reviewed.web.proposed())
    reviewed.killed("branch-pushed")
    assert reviewed.branches() == ["main", MIRROR]
    reviewed.sync()
    assert "platform-changes" not in reviewed.refs()


def test_a_change_request_s_branch_with_commits_of_others_is_left(reviewed: Hosted) -> None:
    branch = f"{CHANGES}{reviewed.web.proposed()}"
    reviewed.git.git("fetch", "--quiet")
    reviewed.git.git("switch", "--quiet", "--create", "mine", f"origin/{branch}")
    reviewed.git.edit("p4.md", "P4 two", "P4 two by mistake")
    reviewed.git.git("push", "--quiet", "origin", f"mine:{branch}")
    reviewed.web.archive(reviewed.web.proposed())
    assert "somebody has pushed to it: delete it there" in reviewed.sync()
    assert reviewed.host.tip(branch) == reviewed.git.tip("mine")
    assert "somebody has pushed to it" not in reviewed.sync(), "told once"


@pytest.mark.parametrize("upstream", ['mirror = ""', 'push = "never"'])
def test_it_can_be_turned_off(team: Team, upstream: str) -> None:
    hosted = Hosted(team, upstream=upstream)
    hosted.publish("p1.md", "P1 two", GIT)
    hosted.web.edit("p1", "P1 two", WEB)
    assert "git merge" not in hosted.sync(code=6)
    assert hosted.branches() == ["main"]


def test_no_pattern_and_no_clone_takes_it_for_a_branch_to_propose(team: Team) -> None:
    hosted = Hosted(team)
    hosted.configure(repository='branches = ["main", "*"]')
    hosted.sync()
    for name in (MIRROR, f"{CHANGES}7"):
        hosted.clone.git("branch", name, "main")
    hosted.publish("p1.md", "P1 two", GIT)
    assert "syncd/platform" not in hosted.sync()
    assert len(hosted.web.requests()) == 1
    hosted.git.git("fetch", "--quiet")
    writer = team.clone(hosted.web.space, name="writer")
    writer.git("remote", "add", "origin", str(hosted.host.path))
    writer.git("fetch", "--quiet", "origin")
    writer.git("switch", "--quiet", "--create", MIRROR, f"origin/{MIRROR}")
    writer.edit("p4.md", "P4 two", "P4 two by mistake")
    assert "is one of syncd's own" in writer.run("push", code=64)
    assert len(hosted.web.requests()) == 1


def test_a_side_branch_never_takes_the_mirror_s_place(team: Team) -> None:
    hosted = Hosted(team)
    hosted.configure('push = "side"', 'branches = ["main", "plat*"]')
    hosted.sync()
    mirror = hosted.host.tip(MIRROR)
    hosted.git.git("switch", "--quiet", "--create", "platform")
    hosted.git.edit("p1.md", "P1 two", GIT)
    hosted.git.git("push", "--quiet", "origin", "platform")
    hosted.sync()
    hosted.web.edit("p1", GIT, "P1 two by a reviewer", request=hosted.web.proposed())
    assert "the side branch of platform would be syncd/platform" in hosted.sync(code=6)
    assert hosted.host.tip(MIRROR) == mirror


def test_a_host_that_takes_no_such_branch_holds_only_that(hosted: Hosted) -> None:
    hook = hosted.host.path / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f'#!/bin/sh\n[ "$1" != refs/heads/{MIRROR} ]\n')
    hook.chmod(0o755)
    hosted.web.edit("p1", "P1 two", WEB)
    said = hosted.sync(code=6)
    assert f"origin did not take {MIRROR}: hook declined" in said
    assert 'allow it there, or set mirror = ""' in said
    assert WEB in hosted.host.git("show", "main:p1.md")


def test_a_merge_of_the_mirror_of_several_spaces_settles_each(team: Team) -> None:
    hosted = Hosted(team, spaces=2)
    hosted.sync()
    for name in ("docs0", "docs1"):
        hosted.publish(f"{name}/p1.md", "P1 two", GIT)
    for web in hosted.webs:
        web.edit("p1", "P1 two", WEB)
    hosted.sync(code=6)
    hosted.merge(MIRROR, "docs0/p1.md", "docs1/p1.md")
    hosted.git.write("docs0/p1.md", page(BOTH))
    hosted.settle("docs1/p1.md", page(GIT))
    hosted.sync()
    texts = [web.text("p1", request=web.proposed()) for web in hosted.webs]
    assert texts == [page(BOTH), page(GIT)]
