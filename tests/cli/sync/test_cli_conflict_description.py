"""Who has only a browser reads in the change request which pages are in conflict, and how to settle them."""

import json

import pytest

from syncd.model.change_request import ChangeRequest, ChangeRequestUpdate
from syncd.model.document import Document
from tests.cli.service.hosted import MIRROR, Hosted
from tests.cli.sync.two_way import Team, conflicts, text_of
from tests.plain_documents import make_document

pytestmark = pytest.mark.story

GIT, WEB = "P1 two by Git", "P1 two by web"
PART = "Pages in conflict"


@pytest.fixture
def hosted(team: Team) -> Hosted:
    """A page is in conflict with main content, and another one is proposed."""
    hosted = Hosted(team)
    hosted.sync()
    hosted.publish("p1.md", "P1 two", GIT)
    hosted.publish("p2.md", "P2 two", "P2 two by Git")
    hosted.web.edit("p1", "P1 two", WEB)
    assert conflicts(hosted.sync(code=6)) == ["p1.md"]
    return hosted


def request_of(hosted: Hosted) -> ChangeRequest:
    return hosted.team.client.change_requests.get(hosted.web.space, str(hosted.web.proposed()))


def described(hosted: Hosted) -> str:
    description = request_of(hosted).description
    assert description is not None
    return description.text()


def describe(hosted: Hosted, *nodes: object) -> None:
    """Somebody writes the description in a browser: texts become paragraphs of their own, numbers are blocks kept."""
    existing = request_of(hosted)
    assert existing.description is not None
    made: list[dict[str, object]] = []
    for node in nodes:
        made += [existing.description.nodes[node]] if isinstance(node, int) else make_document(str(node)).nodes
    document = Document(object="document", data={}, nodes=tuple(made))
    update = ChangeRequestUpdate(description=document)
    hosted.team.client.change_requests.update(hosted.web.space, existing.id, update)


def blocks(hosted: Hosted) -> int:
    description = request_of(hosted).description
    assert description is not None
    return len(description.nodes)


def sent(hosted: Hosted, code: int = 6) -> set[str]:
    """Let the service run, and return the methods of the requests that it sends."""
    done = hosted.service.run("sync", "--config", hosted.config, "--json", code=code)
    return set(json.loads(done)["requests"])


def test_the_page_both_versions_and_both_ways_out_are_named(hosted: Hosted) -> None:
    text = described(hosted)
    assert "p1.md: both sides changed the same lines." in text
    assert text.index("In Git, on main (p1.md):") < text.index(GIT) < text.index("In main content (p1.md):")
    assert text.index("In main content (p1.md):") < text.index(WEB) < text.index("In a browser: ")
    assert f"git switch main, git pull, git merge origin/{MIRROR}; settle p1.md" in text
    assert "Keep the merge commit: " in text
    assert "P1 one" not in text, "only the lines in conflict"
    hosted.configure('mirror = ""')
    hosted.sync(code=6)
    assert "Where syncd works: syncd resolve p1.md --branch main, with" in described(hosted)


def test_it_is_written_when_it_changes_and_only_then(hosted: Hosted) -> None:
    assert sent(hosted) == {"GET"}
    hosted.web.edit("p1", WEB, "P1 two by web again")
    assert conflicts(hosted.sync(code=6)) == ["p1.md"]
    assert "P1 two by web again" in described(hosted)
    assert sent(hosted) == {"GET"}
    hosted.merge(MIRROR, "p1.md")
    hosted.settle("p1.md", text_of("P1").replace("P1 two", WEB))
    hosted.sync()
    assert PART not in described(hosted)
    assert "Syncd-Conflicts" not in described(hosted)
    assert sent(hosted, code=0) == {"GET"}


@pytest.mark.parametrize("text", [GIT, "P1 two"], ids=["as in Git", "as before"])
def test_a_conflict_with_main_content_is_settled_in_a_browser(hosted: Hosted, text: str) -> None:
    request = hosted.web.proposed()
    hosted.web.edit("p1", WEB, text)
    hosted.sync()
    hosted.sync()
    assert GIT in hosted.web.text("p1", request=request)
    assert PART not in described(hosted)
    hosted.web.edit("p1", GIT, "P1 two, as both want it", request=request)
    hosted.sync()
    hosted.web.merge(request)
    hosted.sync()
    assert "P1 two, as both want it" in hosted.web.text("p1")
    assert "P1 two, as both want it" in hosted.host.git("show", "main:p1.md")


@pytest.mark.parametrize("text", ["P2 two by Git again", "P2 two by Git"], ids=["as in Git", "as before"])
def test_a_conflict_with_a_reviewer_is_settled_in_a_browser(hosted: Hosted, text: str) -> None:
    request = hosted.web.proposed()
    hosted.web.edit("p2", "P2 two by Git", "P2 two by a reviewer", request=request)
    hosted.publish("p2.md", "P2 two by Git", "P2 two by Git again")
    assert conflicts(hosted.sync(code=6)) == ["p1.md", "p2.md"]
    told = described(hosted)
    assert told.index("In Git, on main (p2.md):") < told.index("In this change request (p2.md):")
    assert f"git merge origin/{MIRROR}-changes/docs/{request}; settle p2.md" in told
    hosted.web.edit("p2", "P2 two by a reviewer", text, request=request)
    assert conflicts(hosted.sync(code=6)) == ["p1.md"]
    hosted.sync(code=6)
    assert "P2 two by Git again" in hosted.web.text("p2", request=request)
    assert "p2.md" not in described(hosted)
    assert "p1.md" in described(hosted)


def test_a_person_s_words_around_it_survive_and_it_is_kept_up_to_date_between_them(hosted: Hosted) -> None:
    count = blocks(hosted)
    describe(hosted, "Please read this.", *range(1, count - 1), "Thanks!", count - 1)
    hosted.web.edit("p1", WEB, "P1 two by web again")
    hosted.sync(code=6)
    text = described(hosted)
    assert "P1 two by web again" in text
    assert WEB + "." not in text
    assert "Please read this." in text
    assert "Thanks!" in text
    assert sent(hosted) == {"GET"}
    hosted.web.edit("p1", "P1 two by web again", "P1 two")
    hosted.sync()
    text = described(hosted)
    assert "Please read this." in text
    assert "Thanks!" in text
    assert PART not in text


def test_a_person_s_words_in_it_survive(hosted: Hosted) -> None:
    count = blocks(hosted)
    describe(hosted, *range(count - 3), "I prefer the first one.", *range(count - 3, count))
    assert sent(hosted) == {"GET"}, "nothing changed"
    hosted.web.edit("p1", WEB, "P1 two by web again")
    hosted.sync(code=6)
    text = described(hosted)
    assert "I prefer the first one." in text
    assert text.count("Syncd-Conflicts:") == text.count("Syncd-Conflicts-End:") == 1
    assert text.index("I prefer the first one.") < text.index("Syncd-Conflicts:") < text.index("P1 two by web again")
    assert sent(hosted) == {"GET"}


def test_a_description_that_is_all_a_person_s_is_left_alone(hosted: Hosted) -> None:
    describe(hosted, "All mine.")
    hosted.web.edit("p1", WEB, "P1 two by web again")
    hosted.sync(code=6)
    assert described(hosted) == "All mine."


def test_where_nothing_else_is_to_be_sent_no_change_request_is_opened(team: Team) -> None:
    hosted = Hosted(team)
    hosted.publish("p1.md", "P1 two", GIT)
    hosted.web.edit("p1", "P1 two", WEB)
    assert conflicts(hosted.sync(code=6)) == ["p1.md"]
    assert hosted.web.requests("open", "draft", "archived") == []
    assert "! conflict p1.md held" in hosted.service.run("status", "--config", hosted.config, code=6)


def test_titles_and_hostile_texts_are_shown_as_text(hosted: Hosted) -> None:
    hosted.git.git("pull", "--quiet", "--no-rebase")
    hosted.git.retitle("P3", "P3 by Git")
    hosted.git.git("push", "--quiet")
    hosted.web.retitle("p3", "P3 by web")
    forged = f"```\nSyncd-Commit: {'1' * 40} =evil (00000000)\n</code> <script>\u202e\nSyncd-Conflicts-End: 00000000"
    hosted.web.edit("p1", WEB, forged)
    assert conflicts(hosted.sync(code=6)) == ["p1.md", "p3.md"]
    text = described(hosted)
    assert text.index("In Git, on main (p3.md):") < text.index("P3 by Git") < text.index("P3 by web")
    assert "\u202e" not in text
    assert f"Syncd-Commit: {'1' * 40}" not in text
    assert text.count("Syncd-Conflicts-End: ") == 1
    assert sent(hosted) == {"GET"}
