"""Policies: how change requests open, who is asked, and what is merged by whom and when."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from syncd.api.client import Client
from syncd.errors import AnswerLost, NotFound, PlatformError, Rejected, Unauthorized, Unreachable
from syncd.model.change_request import ChangeRequest, ChangeRequestCreate, ChangeRequestUpdate, MergeResult
from syncd.model.comment import CommentBodyWrite, CommentCreate, CommentUpdate
from syncd.model.content_write import ContentWrite, DeletePage, InsertPage
from syncd.model.page import walk_pages
from syncd.model.review import ReviewCreate, ReviewersRequest
from syncd.model.space import SpaceUpdate
from syncd.platform.people.tokens import TokenHolder, issue_token
from syncd.sync.outcome import Applied, Held, Unchanged, Waiting
from syncd.sync.policy import Policy
from syncd.sync.run.cycle import run_cycle
from syncd.sync.run.values import Result, RunOptions
from tests.plain_documents import make_document
from tests.sync.conflicts import Stand, held, proposed, review

OPTIONS = "# Options\n\n* first\n* second\n"
MINE = {"options.md": f"{OPTIONS}* mine\n"}
AUTO = RunOptions()


def run(world: Any, wish: RunOptions = AUTO, stand: Any = None, **policy: Any) -> list[Result]:
    with world.workspace() as workspace:
        client = workspace.client if stand is None else stand(workspace.client)
        return run_cycle(replace(workspace, client=client, policy=Policy(**policy)), wish)


def request(world: Any, number: int = 1) -> ChangeRequest:
    with world.client() as client:
        return client.change_requests.get(world.space, str(number))  # type: ignore[no-any-return]


def outcome(results: list[Result], flow: str = "merge") -> Any:
    (found,) = [result.outcome for result in results if result.flow == flow]
    return found


@contextmanager
def reviewer(world: Any) -> Iterator[Client]:
    token = issue_token(world.storage, TokenHolder("ann@example.org", role="review"))
    with Client(world.url, token.secret) as client:
        yield client


def verdict(world: Any, client: Client, status: Any) -> None:
    client.reviews.create(world.space, "1", ReviewCreate(status=status))


def test_a_draft_asks_its_reviewers_once_it_is_open_and_people_decide_its_status(world: Any, fine: Any) -> None:
    world.clone()
    world.commit("Mine", MINE)
    policy: dict[str, Any] = {"status": "draft", "reviewers": ("ANN@example.org", "bob@example.org")}
    with reviewer(world) as ann:
        fine(run(world, **policy))
        assert request(world).status == "draft"
        with world.client() as client:
            assert not list(client.reviews.list_requested(world.space, "1"))
            client.change_requests.update(world.space, "1", ChangeRequestUpdate(status="open"))
            results = run(world, **policy)
            fine(results)
            assert "bob@example.org" in outcome(results, "review").notes[0]
            (asked,) = client.reviews.list_requested(world.space, "1")
            assert asked.user is not None
            assert asked.user.email == "ann@example.org"
            client.reviews.remove_requested(world.space, "1", asked.user.id)
            fine(run(world, **policy))
            assert not list(client.reviews.list_requested(world.space, "1")), "nobody is asked twice"
        ann.change_requests.update(world.space, "1", ChangeRequestUpdate(status="draft"))
        world.commit("More", {"options.md": f"{OPTIONS}* mine\n* more\n"})
        fine(run(world))
        assert request(world).status == "draft", "who made it a draft again had a reason"


def test_a_server_without_reviews_asks_nobody_and_proposes_all_the_same(world: Any, fine: Any) -> None:
    def refuse(*_: object) -> None:
        raise NotFound("POST …/requested-reviewers: not found", status=404)

    def stand(client: Client) -> Any:
        return Stand(client, reviews=Stand(client.reviews, request=refuse))

    world.clone()
    world.commit("Mine", MINE)
    results = run(world, stand=stand, reviewers=("u",))
    fine(results)
    assert "no review was asked of u" in outcome(results, "propose").notes[-1]
    assert request(world).status == "open"


def test_who_cannot_be_asked_is_named_and_stands_in_nobody_s_way(world: Any, fine: Any) -> None:
    asked: list[tuple[str, ...]] = []

    def refuse_one(_: str, __: str, wish: ReviewersRequest) -> None:
        asked.append(wish.users)
        if "gone" in wish.users:
            raise Rejected("POST …/requested-reviewers: no such user", status=400)

    def refuse(*_: object) -> None:
        raise Unauthorized("GET …/members: not for this token", status=403)

    def stand(client: Client) -> Any:
        reviews = Stand(client.reviews, request=refuse_one, list_requested=refuse)
        return Stand(client, reviews=reviews, members=Stand(client.members, list=refuse))

    world.clone()
    world.commit("Mine", MINE)
    results = run(world, stand=stand, reviewers=("ann@example.org", "gone", "u"))
    fine(results)
    assert asked == [("gone", "u"), ("gone",), ("u",)]
    assert outcome(results, "propose").notes[-2:] == (
        "reviewers by e-mail: GET …/members: not for this token",
        "no review was asked of gone: POST …/requested-reviewers: no such user",
    )


def test_an_outdated_change_request_stays_so_when_the_policy_or_the_run_says_so(world: Any, fine: Any) -> None:
    world.clone()
    world.commit("Mine", MINE)
    fine(run(world))
    world.edit_on_platform({"guide/usage.md": "# Usage\n\nTheirs.\n"})
    fine(run(world, update="never"))
    assert request(world).outdated
    fine(run(world, RunOptions(propose=False)))
    assert request(world).outdated, "this run would not write what the platform merges otherwise than Git"
    fine(run(world))
    assert not request(world).outdated


@pytest.mark.long
def test_main_content_comes_by_an_update_alone_and_what_reviewers_take_out_stays_out(world: Any, fine: Any) -> None:
    push = RunOptions(integrate=False)
    world.clone()
    world.commit("Mine", MINE)
    fine(run(world, push, update="never"))
    world.edit_on_platform({"guide/usage.md": "# Usage\n\nTheirs.\n\nToo much.\n"})
    world.commit("More", {"options.md": f"{OPTIONS}* mine\n* more\n"})
    fine(run(world, push, update="never"))
    assert proposed(world, "1", "options") == f"{OPTIONS}* mine\n* more\n"
    assert "Theirs" not in proposed(world, "1", "usage")
    fine(run(world, push))
    review(world, "1", "usage", "# Usage\n\nTheirs.\n")
    fine(run(world))
    assert proposed(world, "1", "usage") == "# Usage\n\nTheirs.\n"


def test_what_main_content_has_no_more_is_not_sent_as_the_branchs(world: Any, fine: Any, small: Any) -> None:
    """The branch has taken in what the change request has not, and then the platform went back to what was before."""
    push = RunOptions(integrate=False)
    world.clone()
    world.commit("Mine", {"errors.md": "# Errors explained\n\nMine.\n"})
    fine(run(world, push, update="never"))
    table = small["SUMMARY.md"].replace("[Setup]", "[Set it up]") + "* [New](new.md)\n"
    world.edit_on_platform({"new.md": "# New\n\nOnce.\n", "options.md": f"{OPTIONS}* once\n", "SUMMARY.md": table})
    fine(run(world, RunOptions(propose=False)))
    assert (world.root / "clone" / "new.md").exists()
    (world.root / "elsewhere" / "new.md").unlink()
    world.edit_on_platform({})
    world.commit("More", {"errors.md": "# Errors explained\n\nMine, too.\n"})
    fine(run(world, push, update="never"))
    assert proposed(world, "1", "errors") == "# Errors explained\n\nMine, too.\n"
    assert proposed(world, "1", "options") == OPTIONS
    with world.client() as client:
        found = [page.title for page, _ in walk_pages(client.change_request_content.get(world.space, "1").pages)]
    assert found == ["Home", "Guide", "Setup", "Usage", "Reference", "Options", "Errors"]
    assert world.merge(1) == "merge"
    fine(run(world))
    assert world.git("diff", "main", "platform/main") == ""
    assert "once" not in world.git("show", "main:options.md")


@pytest.mark.long
def test_a_page_that_the_branch_deleted_does_not_come_back_by_an_update(world: Any, fine: Any, small: Any) -> None:
    world.clone()
    world.commit("Mine", MINE)
    fine(run(world))
    theirs = {"new.md": "# New\n\nNew there.\n", "SUMMARY.md": small["SUMMARY.md"] + "* [New](new.md)\n"}
    world.edit_on_platform(theirs)
    fine(run(world, update="never"))
    assert (world.root / "clone" / "new.md").exists()
    world.commit("Delete", {"SUMMARY.md": small["SUMMARY.md"]}, gone=["new.md"])
    fine(run(world, update="never"))
    world.edit_on_platform({**theirs, "guide/usage.md": "# Usage\n\nTheirs.\n"})
    fine(run(world))
    fine(run(world))
    assert not (world.root / "clone" / "new.md").exists()
    assert not request(world).outdated
    assert world.merge(1) == "merge"
    fine(run(world))
    assert not (world.root / "clone" / "new.md").exists()
    assert world.git("diff", "main", "platform/main") == ""


def test_a_reset_to_main_content_decides_nothing_about_what_reviewers_wrote(world: Any, fine: Any) -> None:
    world.edit_on_platform({"options.md": f"{OPTIONS}* third\n"})
    world.clone()
    world.commit("Drop the third", {"options.md": OPTIONS})
    fine(run(world))
    world.edit_on_platform({"options.md": f"{OPTIONS}* third\n* fourth\n"})
    assert held(run(world, RunOptions(propose=False), update="never")) == ["options.md"]
    world.git("reset", "--hard", "platform/main")
    review(world, "1", "options", OPTIONS.replace("second", "by a reviewer"))
    for _ in range(2):
        fine(run(world))
        assert "by a reviewer" in proposed(world, "1", "options")
        assert "* third" not in proposed(world, "1", "options"), "nor is what the branch had proposed taken back"
    assert world.git("diff", "main", "platform/main") == ""


def test_a_reset_to_main_content_leaves_the_change_request_as_it_is(world: Any, fine: Any) -> None:
    world.clone()
    world.commit("Mine", MINE)
    fine(run(world))
    world.git("reset", "--hard", "platform/main")
    fine(run(world))
    assert "* mine" in proposed(world, "1", "options")
    world.edit_on_platform({"guide/setup.md": "# Setup\n\nTheirs.\n"})
    for _ in range(2):
        fine(run(world))
        assert "* mine" in proposed(world, "1", "options")
    assert world.git("diff", "main", "platform/main") == ""
    world.commit("Another", {"guide/usage.md": "# Usage\n\nAnother.\n"})
    fine(run(world))
    assert "* mine" not in proposed(world, "1", "options"), "it says what the branch says now"
    assert "Another." in proposed(world, "1", "usage")


@pytest.mark.long
def test_a_page_of_which_each_side_has_its_own_is_one_after_an_update(world: Any, fine: Any) -> None:
    """A page that an editor deleted and made anew, with the same words, is one file in Git and two on the platform."""
    text = "# Errors\n\nAs before.\n"
    world.edit_on_platform({"errors.md": text})
    world.clone()
    listed = world.git("show", "main:SUMMARY.md").replace("errors.md", "faults.md")
    world.commit("Mine", {"SUMMARY.md": listed, "faults.md": text}, gone=["errors.md"])
    fine(run(world))
    with world.client() as client:
        other = client.change_requests.create(world.space, ChangeRequestCreate(subject="Theirs"))
        group = client.content.get(world.space).pages[-1]
        anew = {"into": group.id, "slug": "faults", "document": {"markdown": text}}
        changes = (DeletePage(page=group.pages[-1].id), InsertPage.model_validate(anew))
        client.change_requests.write_content(world.space, other.id, ContentWrite(changes=changes))
    world.merge(other.number)
    fine(run(world, update="never"))
    fine(run(world))
    fine(run(world))
    assert world.merge(1) == "merge"
    fine(run(world))
    assert world.git("grep", "-l", "As before", "main") == "main:faults.md\n"
    assert world.git("diff", "main", "platform/main") == ""


def test_words_of_a_person_in_the_description_stay(world: Any, fine: Any) -> None:
    world.clone()
    world.commit("Mine", MINE)
    fine(run(world))
    with world.client() as client:
        theirs = ChangeRequestUpdate(description=make_document("Read the second part first."))
        client.change_requests.update(world.space, "1", theirs)
    world.commit("More", {"options.md": f"{OPTIONS}* mine\n* more\n"})
    fine(run(world))
    description = request(world).description
    assert description is not None
    assert description.text() == "Read the second part first."


def test_git_alone_publishes_in_one_run(world: Any, fine: Any) -> None:
    world.clone()
    world.git("checkout", "--quiet", "-b", "docs/two")
    world.commit("Two", {"guide/usage.md": "# Usage\n\nBy two.\n"})
    world.git("checkout", "--quiet", "main")
    edit = world.commit("Mine", MINE)
    wish = RunOptions(patterns=("docs/*",))
    fine(run(world, wish, merge="auto"))
    assert [request(world, number).status for number in (1, 2)] == ["merged", "merged"]
    assert world.git("rev-parse", "docs/two") == world.git("rev-parse", "platform/main")
    assert edit in world.git("rev-list", "platform/main")
    assert "By two." in world.git("show", "platform/main:guide/usage.md")
    assert world.git("rev-parse", "main") == world.git("rev-parse", "platform/main")
    assert world.git("status", "--porcelain") == ""
    fine(run(world, wish, merge="auto"))
    assert world.requests[-1] == {"GET": 1}


def test_a_file_that_has_to_be_uploaded_by_hand_holds_up_the_merge(world: Any, fine: Any) -> None:
    world.clone()
    big = b"\x89PNG\r\n\x1a\n" + bytes(1_000_001)
    page = {"options.md": f"{OPTIONS}![big](.gitbook/assets/big.png)\n", ".gitbook/assets/big.png": big}
    world.commit("Add a picture", page)
    for _ in range(2):
        results = run(world, merge="auto")
        fine(results)
        assert "upload .gitbook/assets/big.png by hand" in outcome(results).why
    assert request(world).status == "open"


def test_nothing_is_merged_that_somebody_objects_to(world: Any, fine: Any) -> None:
    world.clone()
    world.commit("Mine", MINE)
    fine(run(world))
    with reviewer(world) as ann:
        doubt = CommentCreate(body=CommentBodyWrite(markdown="Sure?"))
        said = ann.change_request_comments.post(world.space, "1", doubt)
        results = run(world, merge="auto")
        fine(results)
        assert outcome(results).why == "#1 is not merged yet: 1 comment is open"
        assert world.requests[-1] == {"GET": 2}
        ann.change_request_comments.update(world.space, "1", said.id, CommentUpdate(resolved=True))
        verdict(world, ann, "changes-requested")
        assert "changes are requested by ann" in outcome(run(world, merge="auto")).why
        with world.client() as client:
            rules = {"type": "rules", "rules": [{"rule": "require_at_least_one_approved_review"}]}
            client.spaces.update(world.space, SpaceUpdate.model_validate({"mergeRules": rules}))
            world.commit("More", {"options.md": f"{OPTIONS}* mine\n* more\n"})
            ann.change_requests.update(world.space, "1", ChangeRequestUpdate(status="draft"))
            assert outcome(run(world, merge="auto")) == Unchanged()
            ann.change_requests.update(world.space, "1", ChangeRequestUpdate(status="open"))
        verdict(world, ann, "approved")
        fine(run(world, merge="auto"))
    assert request(world).status == "merged"


@pytest.mark.parametrize(
    ("answer", "is_merged"),
    [
        (NotFound("GET …/reviews: not found", status=404), True),
        (Rejected("GET …/reviews: no such method", status=405), True),
        (Unreachable("GET …/reviews: not implemented", status=501), True),
        (Rejected("GET …/reviews: the request makes no sense", status=400), False),
    ],
    ids=lambda value: str(getattr(value, "status", "")),
)
def test_reviews_that_cannot_be_read_are_no_consent(world: Any, answer: PlatformError, is_merged: bool) -> None:
    def refuse(*_: object) -> None:
        raise answer

    world.clone()
    world.commit("Mine", MINE)
    results = run(world, stand=lambda client: Stand(client, reviews=Stand(client.reviews, list=refuse)), merge="auto")
    assert isinstance(outcome(results), Applied if is_merged else Held)
    assert (request(world).status == "merged") == is_merged


def test_a_refused_merge_is_tried_once_until_something_moves(world: Any, fine: Any) -> None:
    world.clone()
    world.commit("Mine", MINE)
    with world.client() as client:
        rules = {"type": "rules", "rules": [{"rule": "require_at_least_one_approved_review"}]}
        client.spaces.update(world.space, SpaceUpdate.model_validate({"mergeRules": rules}))
    first, again = (run(world, merge="auto") for _ in range(2))
    fine(again)
    assert isinstance(outcome(again), Waiting)
    assert "require_at_least_one_approved_review" in outcome(again).why
    assert outcome(again) == outcome(first)
    assert world.requests[-1] == {"GET": 3}, "the space, the change request, its reviews; the merge is not tried again"
    with reviewer(world) as ann:
        verdict(world, ann, "approved")
    fine(run(world, merge="auto"))
    assert request(world).status == "merged"


@pytest.mark.parametrize("answer", ["lost", "conflicts"])
def test_an_unclear_answer_to_a_merge_is_looked_into_and_a_conflict_is_said_loudly(world: Any, answer: str) -> None:
    def merge(client: Client) -> Any:
        def merged(space: str, id: str) -> MergeResult:
            result = client.change_requests.merge(space, id)
            if answer == "lost":
                raise AnswerLost("POST …/merge: the answer was lost")
            return result.model_copy(update={"result": "conflicts"})

        return Stand(client, change_requests=Stand(client.change_requests, merge=merged))

    world.clone()
    world.commit("Mine", MINE)
    results = run(world, stand=merge, merge="auto")
    told = outcome(results)
    assert isinstance(told, Applied if answer == "lost" else Held)
    assert told.exit_code == (0 if answer == "lost" else 6)
    assert [result.flow for result in results].count("mirror") == 2, "main content is followed in either case"
    assert world.git("rev-parse", "main") == world.git("rev-parse", "platform/main")
