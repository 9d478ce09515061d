"""Pages for editors and reviewers: what they show and do, for whom, and what they refuse."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from syncd.platform.app import create_app
from syncd.platform.app_pages.sessions import make_link
from tests.contract.in_process import InProcess
from tests.contract.world import Target, World
from tests.platform.app_pages.browser_session import ORIGIN, OWN, Person, read_words
from tests.platform.clock import Clock
from tests.storages import new_storage

TEXT = "# Guide\n\nHello world, how are you?\n\n* one\n* two\n\nThis goes away.\n"
NEW = "# Guide\n\nHello big world, how are you?\n\n* one\n* two\n* three\n\nA paragraph about something else.\n"
EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'{{7*7}}"


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with new_storage(tmp_path_factory.mktemp("platform")) as storage:
        app = create_app(storage)
        with httpx.Client(base_url=ORIGIN, transport=InProcess(app)) as client:
            yield Target(storage, app, client)


class Proposal:
    """A space with a page, and an open change request that changes it and adds another."""

    def __init__(self, world: World, subject: str = "Better words") -> None:
        self.world = world
        page = {"operation": "insert_page", "title": "Guide", "document": {"markdown": TEXT}}
        self.space = world.space(changes=[page])["id"]
        self.page = world.made("listPages", {"spaceId": self.space})["pages"][0]["id"]
        changes: list[dict[str, Any]] = [
            {"operation": "update_page", "page": self.page, "document": {"markdown": NEW}},
            {"operation": "insert_page", "title": "Second", "document": {"markdown": "# Second\n\nNew.\n"}},
        ]
        made = world.change_request(self.space, subject, changes=changes)
        self.at = {"spaceId": self.space, "changeRequestId": made["id"]}
        self.request = world.made("updateChangeRequestById", self.at, body={"status": "open"})
        self.home = f"/app/o/{world.organization}/s/{self.space}"
        self.path = f"{self.home}/~/changes/{self.request['number']}"

    def read(self) -> dict[str, Any]:
        return dict(self.world.made("getChangeRequestById", self.at))

    def comment(self, words: str = "Why?", **target: str) -> str:
        made = self.world.made("postCommentInChangeRequest", self.at, body={"body": {"markdown": words}, **target})
        return str(made["id"])

    def find_key(self, text: str) -> str:
        path = {**self.at, "pageId": self.page}
        document = self.world.made("getPageInChangeRequestById", path, query={"format": "document"})["document"]
        return next(str(node["key"]) for node in document["nodes"] if text in str(node))


@pytest.fixture
def proposal(target: Target) -> Proposal:
    return Proposal(target.world())


@pytest.fixture
def admin(proposal: Proposal) -> Person:
    return Person(proposal.world, proposal.world.user)


def test_the_addresses_that_answers_name_lead_to_pages(proposal: Proposal, admin: Person) -> None:
    world, at = proposal.world, {"spaceId": proposal.space}
    revision = world.made("getCurrentRevision", at)
    named = [
        world.made("getOrganizationById")["urls"]["app"],
        world.made("getSpaceById", at)["urls"]["app"],
        proposal.request["urls"]["app"],
        revision["urls"]["app"],
        revision["pages"][0]["urls"]["app"],
    ]
    for address in named:
        answer = admin.get(address)
        assert answer.status_code == 200, address
        assert answer.headers["content-type"] == "text/html; charset=utf-8"


def test_every_page_is_strict(proposal: Proposal, admin: Person) -> None:
    for path in (proposal.path, proposal.home, "/app/sign-in", "/app/static/app.js", "/app/no"):
        headers = admin.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'"), path
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"


def test_a_change_request_says_what_it_is(proposal: Proposal, admin: Person) -> None:
    words = read_words(admin.get(proposal.path))
    assert "Better words #" in words
    assert "Guide edited +3 −2" in words
    assert "Second added +3 −0" in words
    assert "You may merge it now." in words
    assert "Nobody has reviewed it yet." in words


def test_every_key_of_the_frontmatter_that_differs_is_named(target: Target) -> None:
    world = target.world()
    former = (
        "---\nicon: house\nnoRobotsIndex: true\nif: visitor.claims.a\nlayout:\n  width: wide\n---\n\n# Guide\n\nSame.\n"
    )
    latter = former.replace("noRobotsIndex", "hidden").replace("house", "bug").replace("claims.a", "claims.b")
    latter = latter.replace(
        "wide", "wide\n  outline:\n    visible: false\ntags: [one, {tag: two, primary: true}]\nvars:\n  version: 2"
    )
    space = world.space(changes=[{"operation": "insert_page", "title": "Guide", "document": {"markdown": former}}])[
        "id"
    ]
    page = world.made("listPages", {"spaceId": space})["pages"][0]["id"]
    change = {"operation": "update_page", "page": page, "document": {"markdown": latter}}
    made = world.change_request(space, "Settings", changes=[change])
    address = f"/app/o/{world.organization}/s/{space}/~/changes/{made['number']}/diff"
    words = read_words(Person(world, world.user).get(address))
    for said in (
        "icon: house → bug",
        "hidden: nothing → true",
        "noRobotsIndex: true → nothing",
        "if: visitor.claims.a → visitor.claims.b",
        "layout.outline: nothing → false",
        "tags: nothing → one, two (primary)",
        "vars.version: nothing → 2",
        "The text of the page is the same on both sides.",
    ):
        assert said in words
    assert "layout.width" not in words


def test_what_leads_nowhere_is_marked_as_on_a_published_page(target: Target) -> None:
    world = target.world()
    text = (
        '[missing](nope.md)\n\n![A picture](no.png)\n\n{% file src="no.pdf" %}\n\n{% include "no-include.md" %}\n\n'
        '<table><thead><tr><th data-type="files">F</th></tr></thead><tbody><tr><td><a href="cell.pdf">cell.pdf</a></td>'
        "</tr></tbody></table>\n"
    )
    inserted = {"operation": "insert_page", "title": "Guide", "document": {"markdown": text}}
    space = world.space(changes=[inserted])["id"]
    answer = Person(world, world.user).get(f"/app/o/{world.organization}/s/{space}")
    nowhere = 'class="b-broken" title="This link leads nowhere."'
    assert f"<span {nowhere}>missing</span>" in answer.text
    assert f"<span {nowhere}>cell.pdf</span>" in answer.text
    assert 'class="b-missing-image">A picture' in answer.text
    assert "no.pdf This link leads nowhere." in read_words(answer)
    assert "This content is not there. no-include.md" in read_words(answer)
    assert "~/broken" not in answer.text


def test_a_page_in_arabic_is_read_from_the_right(target: Target) -> None:
    world = target.world()
    inserted = {"operation": "insert_page", "title": "Guide", "document": {"markdown": "مرحبا بالعالم\n"}}
    space = world.space(changes=[inserted])["id"]
    page = world.made("listPages", {"spaceId": space})["pages"][0]["id"]
    change = {"operation": "update_page", "page": page, "document": {"markdown": "مرحبا بكم\n"}}
    number = world.change_request(space, "Words", changes=[change])["number"]
    person, home = Person(world, world.user), f"/app/o/{world.organization}/s/{space}"
    assert '<article class="sheet" dir="rtl">' in person.get(home).text
    for view in ("changes", "sides", "before", "after"):
        words = person.get(f"{home}/~/changes/{number}/diff", view=view).text
        assert '<article class="blocks sheet" aria-label="The page" dir="rtl">' in words


def test_a_site_says_what_is_in_it_and_what_its_readers_did(proposal: Proposal, admin: Person) -> None:
    world = proposal.world
    site = world.site(proposal.space, title="Docs & more")
    path = {"siteId": site["id"]}
    assert "Docs & more not published" in read_words(admin.get(f"/app/o/{world.organization}"))
    address = f"/app/o/{world.organization}/sites/{site['id']}"
    assert site["urls"]["app"].endswith(address)
    assert "Nothing was counted." in read_words(admin.get(address))
    site = world.made("publishSite", path)
    [part] = world.made("listSiteSpaces", path)["items"]
    here = {"siteSpace": part["id"], "page": proposal.page}
    rated = {"type": "page_post_feedback", "location": here}
    ratings = [rated | {"feedback": {"rating": one}} for one in ("good", "bad")]
    events = [
        *ratings,
        ratings[0],
        {"type": "search_type_query", "query": EVIL},
        {"type": "page_view", "location": here},
    ]
    world.made("trackEventsInSiteById", path, body={"events": events})
    answer = admin.get(address)
    words = read_words(answer)
    assert "Guide 2 0 1" in words
    assert "pages rated 3 pages read 1 searches 1" in words
    assert f'href="{site["urls"]["published"]}~syncd/pages/{part["id"]}/{proposal.page}"' in answer.text
    assert "<script>alert(1)" not in answer.text
    reader = Person(world, world.person("read")[0])
    assert "Who may change the site sees here" in read_words(reader.get(address))
    assert reader.get(f"{address}x").status_code == 404


def test_a_site_names_sections_only_where_it_has_some(proposal: Proposal, admin: Person) -> None:
    world = proposal.world
    site = world.site(proposal.space)
    address = f"/app/o/{world.organization}/sites/{site['id']}"
    assert "What is in it Site-space Space" in read_words(admin.get(address))
    section = {"spaceId": world.space()["id"], "title": "Reference"}
    world.made("addSectionToSite", {"siteId": site["id"]}, body=section)
    words = read_words(admin.get(address))
    assert "What is in it Section Site-space Space" in words
    assert "Reference" in words


def test_a_difference_is_shown_in_every_view(proposal: Proposal, admin: Person) -> None:
    changes = admin.get(f"{proposal.path}/diff", page=proposal.page).text
    assert 'Hello<ins class="b-inserted"> big</ins> world' in changes
    assert '<ins class="b-inserted">three</ins>' in changes
    assert "This goes away." in changes
    sides = admin.get(f"{proposal.path}/diff", page=proposal.page, view="sides").text
    assert "b-side-before" in sides
    before = admin.get(f"{proposal.path}/diff", page=proposal.page, view="before").text
    assert "This goes away." in before
    assert "something else" not in before
    after = admin.get(f"{proposal.path}/diff", page=proposal.page, view="after").text
    assert "something else" in after
    assert "This goes away." not in after
    source = admin.get(f"{proposal.path}/diff", page=proposal.page, view="source").text
    assert '<tr class="added">' in source
    assert "Hello big world" in source


def test_pages_of_a_space(proposal: Proposal, admin: Person) -> None:
    home = proposal.home
    assert "Hello world" in read_words(admin.get(home))
    assert "Better words" in read_words(admin.get(f"{home}/~/changes"))
    assert "There is none." in read_words(admin.get(f"{home}/~/changes", status="archived"))
    assert "Better words" in read_words(admin.get(f"{home}/~/changes", who="creator"))
    assert "This space has no files." in read_words(admin.get(f"{home}/~/files"))
    history = admin.get(f"{home}/~/revisions").text
    revision = proposal.world.made("getSpaceById", {"spaceId": proposal.space})["revision"]
    assert revision in history
    assert "Guide added" in read_words(admin.get(f"{home}/~/revisions/{revision}"))


def test_the_round_of_a_review(proposal: Proposal, admin: Person) -> None:
    key = proposal.find_key("big")
    admin.get(f"{proposal.path}/diff", page=proposal.page)
    posted = admin.post(f"{proposal.path}/comments", page=proposal.page, node=key, body="Is it **big**?")
    assert posted.status_code == 303
    shown = admin.get(posted.headers["location"].partition("#")[0]).text
    assert "Is it <strong>big</strong>?" in shown
    assert shown.index("Hello<ins") < shown.index("Is it <strong>") < shown.index("three")
    (comment,) = proposal.world.made("listCommentsInChangeRequest", proposal.at)["items"]
    at = f"{proposal.path}/comments/{comment['id']}"
    assert admin.post(f"{at}/reply", body="Yes.").status_code == 303
    assert admin.post(f"{at}/resolve").status_code == 303
    words = read_words(admin.get(proposal.path))
    assert "Yes." in words
    assert "resolved by" in words
    approved = admin.post(
        f"{proposal.path}/review", verdict="approved", body="Good.", revision=proposal.request["revision"]
    )
    assert "You approved it." in admin.get(approved.headers["location"]).text
    merged = admin.post(f"{proposal.path}/merge", revision=proposal.request["revision"])
    assert "It is merged into the space." in admin.get(merged.headers["location"]).text
    assert proposal.read()["status"] == "merged"
    assert "Hello big world" in read_words(admin.get(proposal.home))


def test_close_reopen_and_reviewers(proposal: Proposal, admin: Person) -> None:
    user, _ = proposal.world.person("review")
    assert admin.post(f"{proposal.path}/reviewers", who=user).status_code == 303
    assert "A review" in read_words(admin.get(proposal.path))
    assert admin.post(f"{proposal.path}/reviewers/remove", who=user).status_code == 303
    assert admin.post(f"{proposal.path}/status", status="archived").status_code == 303
    assert proposal.read()["status"] == "archived"
    assert admin.post(f"{proposal.path}/merge", revision=proposal.request["revision"]).status_code == 409
    assert admin.post(f"{proposal.path}/status", status="open").status_code == 303
    assert proposal.read()["status"] == "open"


def test_an_outdated_change_request_says_so_and_is_updated(proposal: Proposal, admin: Person) -> None:
    other = {"operation": "update_page", "page": proposal.page, "document": {"markdown": TEXT.replace("world", "all")}}
    proposal.world.write(proposal.space, [other])
    words = read_words(admin.get(proposal.path))
    assert "outdated" in words
    assert "Conflicts" in words
    assert admin.post(f"{proposal.path}/update").status_code == 303
    assert proposal.read()["outdated"] is False


def test_nobody_approves_or_merges_what_he_has_not_seen(proposal: Proposal, admin: Person) -> None:
    seen = proposal.request["revision"]
    edit = {"operation": "update_page", "page": proposal.page, "document": {"markdown": "# Guide\n\nOther.\n"}}
    proposal.world.made("updateChangeRequestContent", proposal.at, body={"changes": [edit]})
    for action, fields in (("merge", {}), ("review", {"verdict": "approved"})):
        refused = admin.post(f"{proposal.path}/{action}", revision=seen, **fields)
        assert refused.status_code == 409
        assert "Look at it again." in refused.text
    assert proposal.read()["status"] == "open"


def test_a_merge_rule_is_named(proposal: Proposal, admin: Person) -> None:
    rules = {"type": "rules", "rules": [{"rule": "require_at_least_one_approved_review"}]}
    proposal.world.made("updateSpaceById", {"spaceId": proposal.space}, body={"mergeRules": rules})
    page = admin.get(proposal.path)
    assert "require_at_least_one_approved_review" in page.text
    assert "Merge into the space" not in page.text
    refused = admin.post(f"{proposal.path}/merge", revision=proposal.request["revision"])
    assert (refused.status_code, "A merge rule forbids" in refused.text) == (412, True)


ACTIONS: tuple[tuple[str, dict[str, str]], ...] = (
    ("comments", {"body": "Words"}),
    ("review", {"verdict": "approved"}),
    ("status", {"status": "archived"}),
    ("update", {}),
    ("merge", {}),
)
ALLOWED = {
    None: (404, ()),
    "read": (200, ()),
    "comment": (200, ("comments",)),
    "edit": (200, ("comments", "status", "update")),
    "review": (200, ("comments", "review", "status", "update", "merge")),
    "create": (200, ("comments", "review", "status", "update", "merge")),
    "admin": (200, ("comments", "review", "status", "update", "merge")),
}


@pytest.mark.parametrize("role", [*ALLOWED, "outsider"])
def test_a_person_sees_and_does_what_the_api_allows(proposal: Proposal, role: str | None) -> None:
    world = proposal.world
    if role == "outsider":
        other = Target(world.storage, world.target.app, world.target.client).world()
        person, token = Person(world, other.user), other.http
    else:
        user, token = world.person(role)
        person = Person(world, user)
    sees, does = ALLOWED.get(role, (404, ()))
    by_api = world.call("getChangeRequestById", proposal.at, by=token).status_code
    sees = by_api if sees != 200 else sees
    page = person.get(proposal.path)
    assert page.status_code == sees == by_api
    assert ("Approve" in page.text) == ("review" in does)
    assert ("Close</button>" in page.text) == ("status" in does)
    assert ("Merge into the space" in page.text) == ("merge" in does)
    assert ('name="body"' in page.text) == ("comments" in does)
    person.get(f"/app/o/{world.organization}")
    for action, fields in ACTIONS:
        answer = person.post(f"{proposal.path}/{action}", revision=proposal.request["revision"], **fields)
        assert (answer.status_code == 303) == (action in does), f"{action}: {answer.status_code}"
        if answer.status_code != 303:
            assert answer.status_code in (403, 404), answer.text
        if action == "status" and answer.status_code == 303:
            person.post(f"{proposal.path}/status", status="open")


def test_what_the_api_hides_no_page_shows(proposal: Proposal) -> None:
    outsider = Person(proposal.world, proposal.world.target.world().user)
    for path in ("", "/~/files", "/~/revisions", "/~/changes", "/guide"):
        answer = outsider.get(proposal.home + path)
        assert answer.status_code == 404
        assert "Guide" not in answer.text
    mine = proposal.home.replace(proposal.world.organization, "somewhere")
    assert Person(proposal.world, proposal.world.user).get(mine).status_code == 404


def test_a_form_needs_the_token_of_its_own_session(proposal: Proposal, admin: Person) -> None:
    other = Person(proposal.world, proposal.world.user)
    other.get(proposal.path)
    for token in ("", "0" * 64, other.token):
        assert admin.post(f"{proposal.path}/status", token=token, status="archived").status_code == 403
    assert proposal.read()["status"] == "open"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "null"},
        {"Origin": ORIGIN, "Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://127.0.0.1.evil.example"},
    ],
)
def test_a_page_of_another_site_changes_nothing(proposal: Proposal, admin: Person, headers: dict[str, str]) -> None:
    admin.get(proposal.path)
    refused = admin.post(f"{proposal.path}/status", headers=headers, status="archived")
    assert refused.status_code == 403
    assert proposal.read()["status"] == "open"


@pytest.mark.parametrize("mode", ["cors", "no-cors", "same-origin", "websocket"])
def test_only_a_window_reads_the_pages(proposal: Proposal, admin: Person, mode: str) -> None:
    read = {"Sec-Fetch-Mode": mode, "Sec-Fetch-Site": "same-origin"}
    for path in (proposal.path, proposal.home, "/app", "/app/sign-in"):
        assert admin.client.get(path, headers=read).status_code == 403
    assert admin.post(f"{proposal.path}/merge", headers={**OWN, **read}).status_code == 403
    for path in (f"{proposal.path}/version", "/app/static/app.css"):
        assert admin.client.get(path, headers=read).status_code == 200
    assert admin.client.get(proposal.path, headers={"Sec-Fetch-Mode": "navigate"}).status_code == 200


def test_a_foreign_name_leads_nowhere(proposal: Proposal, admin: Person) -> None:
    answer = admin.client.get(proposal.path, headers={"Host": "evil.example"})
    assert answer.status_code == 421
    assert "Better" not in answer.text


def test_a_link_works_once_and_for_ten_minutes(tmp_path: Path) -> None:
    clock = Clock()
    with new_storage(tmp_path / "platform", clock=clock) as storage:
        app = create_app(storage)
        client = httpx.Client(base_url=ORIGIN, transport=InProcess(app))
        with client:
            world = Target(storage, app, client).world()
            link, name = make_link(storage, world.user)
            assert name
            looked = client.get("/app/sign-in", params={"link": link})
            assert (looked.status_code, "A admin" in looked.text) == (200, True)
            assert client.post("/app/sign-in", data={"link": link}, headers=OWN).status_code == 303
            assert client.post("/app/sign-in", data={"link": link}, headers=OWN).status_code == 401
            assert client.get("/app/sign-in", params={"link": link}).status_code == 401
            late, _ = make_link(storage, world.user)
            clock.on(seconds=601)
            assert client.post("/app/sign-in", data={"link": late}, headers=OWN).status_code == 401
            assert client.get(f"/app/o/{world.organization}").status_code == 200
            clock.on(hours=13)
            assert client.get(f"/app/o/{world.organization}").status_code == 401


def test_a_session_is_new_with_each_sign_in_and_ends(proposal: Proposal, admin: Person) -> None:
    """Nobody else can choose a session for somebody (fixation), and signing out ends it everywhere."""
    cookie = admin.answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Path=/app" in cookie
    former = admin.client.cookies["syncd_app"]
    link, _ = make_link(proposal.world.storage, proposal.world.user)
    planted = Person(proposal.world, proposal.world.user, signs_in=False)
    planted.client.cookies.set("syncd_app", former, domain="127.0.0.1", path="/app")
    answer = planted.client.post("/app/sign-in", data={"link": link}, headers=OWN)
    assert answer.cookies["syncd_app"] not in ("", former)
    assert admin.get(proposal.path).status_code == 401
    again = Person(proposal.world, proposal.world.user)
    secret = again.client.cookies["syncd_app"]
    again.get(proposal.path)
    assert again.post("/app/sign-out").status_code == 303
    stolen = {"Cookie": f"syncd_app={secret}"}
    assert proposal.world.target.client.get(proposal.path, headers=stolen).status_code == 401


def test_the_database_holds_no_secret(proposal: Proposal, admin: Person) -> None:
    link, _ = make_link(proposal.world.storage, proposal.world.user)
    data = b"".join(one.read_bytes() for one in proposal.world.storage.data.glob("platform.db*"))
    assert link.encode() not in data
    assert admin.client.cookies["syncd_app"].encode() not in data


def test_without_a_session_there_is_only_how_to_get_one(proposal: Proposal) -> None:
    stranger = Person(proposal.world, proposal.world.user, signs_in=False)
    for path in (proposal.path, proposal.home, "/app", "/app/no"):
        answer = stranger.get(path)
        assert answer.status_code == 401
        assert "syncd platform login" in answer.text
        assert "Better words" not in answer.text
    assert stranger.client.post(f"{proposal.path}/merge", data={}, headers=OWN).status_code == 401


def test_no_text_of_others_becomes_html(target: Target) -> None:
    proposal = Proposal(target.world(), EVIL[:100])
    page = {"operation": "insert_page", "title": EVIL, "document": {"markdown": f"{EVIL}\n"}}
    proposal.world.made("updateChangeRequestContent", proposal.at, body={"changes": [page]})
    proposal.comment(EVIL)
    proposal.comment(EVIL, page=proposal.page, node=proposal.find_key("big"))
    person = Person(proposal.world, proposal.world.user)
    changes = proposal.world.made("getChangeRequestChanges", proposal.at)["changes"]
    new = next(one["page"]["id"] for one in changes if "alert" in str(one.get("page", {}).get("title")))
    views = [
        person.get(f"{proposal.path}/diff", page=id, view=view)
        for id in (proposal.page, new)
        for view in ("changes", "sides", "before", "after", "source")
    ]
    for answer in (*views, person.get(proposal.path), person.get(f"{proposal.home}/~/changes")):
        assert answer.status_code == 200
        assert "<script>alert" not in answer.text
        assert "onerror=alert(1)>" not in answer.text.replace("&gt;", "")
        assert "49" not in read_words(answer).split()


def test_the_version_changes_with_the_change_request(proposal: Proposal, admin: Person) -> None:
    first = admin.get(f"{proposal.path}/version").text
    assert f'data-version="{first}"' in admin.get(proposal.path).text
    assert admin.get(f"{proposal.path}/version").text == first
    proposal.comment()
    assert admin.get(f"{proposal.path}/version").text != first


def test_a_long_page_is_cut_with_a_note(proposal: Proposal, admin: Person) -> None:
    long = "# Guide\n\n" + "".join(f"Line {number} of many words.\n\n" for number in range(12_000))
    edit = {"operation": "update_page", "page": proposal.page, "document": {"markdown": long * 2}}
    proposal.world.made("updateChangeRequestContent", proposal.at, body={"changes": [edit]})
    shown = admin.get(f"{proposal.path}/diff", page=proposal.page)
    assert "too long to be compared here" in shown.text
    source = admin.get(f"{proposal.path}/diff", page=proposal.page, view="source")
    assert "These are the first 5000 of" in source.text


def test_large_and_chunked_forms_are_refused(proposal: Proposal, admin: Person) -> None:
    headers = {**OWN, "Content-Type": "application/x-www-form-urlencoded"}
    large = admin.client.post(f"{proposal.path}/comments", content=b"body=" + b"x" * 600_000, headers=headers)
    assert large.status_code == 413
    chunked = admin.client.post(f"{proposal.path}/comments", content=iter([b"body=x"]), headers=headers)
    assert chunked.status_code in (401, 403, 413)


def test_the_api_takes_no_cookie_and_no_form(proposal: Proposal, admin: Person) -> None:
    assert admin.client.get(f"/v1/spaces/{proposal.space}").status_code == 401
    form = admin.client.post(f"/v1/spaces/{proposal.space}/change-requests", data={"subject": "x"}, headers=OWN)
    assert form.status_code == 415
