"""Published addresses: what a renderer is told of each, and what the content token reads that it gets."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest

from syncd.platform.services.directory.read import import_directory
from tests.platform.visitors.published_site import CLAIM, PublishedSiteMaker, open_published_site, page

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="  # one pixel


@pytest.fixture
def made(tmp_path: Path) -> Iterator[PublishedSiteMaker]:
    with open_published_site(tmp_path / "platform") as made:
        yield made


@pytest.mark.parametrize(
    ("path", "space", "pathname", "base"),
    [
        ("/", "guides", "/", "/"),
        ("", "guides", "/", "/"),
        ("/setup", "guides", "/setup", "/"),
        ("/nothing/here", "guides", "/nothing/here", "/"),
        ("/v1", "old", "/", "/v1/"),
        ("/v1/welcome", "old", "/welcome", "/v1/"),
    ],
)
def test_an_address_is_told_with_its_place(
    made: PublishedSiteMaker, path: str, space: str, pathname: str, base: str
) -> None:
    found = made.look_up(path).json()
    assert (found["space"], found["pathname"]) == (getattr(made, space), pathname)
    assert (found["siteBasePath"], found["basePath"]) == (f"{made.base}/", f"{made.base}{base}")
    assert (found["site"], found["organization"]) == (made.site["id"], made.world.organization)
    assert found["complete"] is (path not in ("", "/"))
    assert made.world.made("getRevisionById", {"spaceId": found["space"], "revisionId": found["revision"]})


def test_the_path_of_a_default_leads_to_where_it_is_read(made: PublishedSiteMaker) -> None:
    found = made.look_up("/guides/setup").json()
    assert found == {"target": "content", "redirect": f"{made.origin}{made.base}/setup"}


def test_a_redirect_of_the_site_is_told_when_there_is_no_page(made: PublishedSiteMaker) -> None:
    elsewhere = {"kind": "external", "url": "https://example.com/new"}
    setup = {"kind": "site-space", "siteSpaceId": made.variant}
    for source, destination in (("/gone", elsewhere), ("/older", setup), ("/setup", elsewhere)):
        body = {"source": source, "destination": destination}
        made.world.made("createSiteRedirect", made.path, body=body)
    site = made.site["id"]
    assert made.look_up("/gone").json() == {"target": "external", "site": site, "redirect": "https://example.com/new"}
    assert made.look_up("/older").json() == {"target": "content", "redirect": f"{made.origin}{made.base}/v1"}
    assert made.look_up("/setup").json()["pathname"] == "/setup"


@pytest.mark.parametrize("url", ["http://example.com/sites/docs", "nonsense", "http://[", "http://platform/app/o/x"])
def test_an_address_of_nothing_is_not_found(made: PublishedSiteMaker, url: str) -> None:
    assert made.world.call("resolvePublishedContentByUrl", body={"url": url}).status_code == 404


def test_a_site_that_is_not_published_is_not_found(made: PublishedSiteMaker) -> None:
    made.world.made("unpublishSite", made.path)
    assert made.look_up().status_code == 404


def test_a_site_in_a_directory_of_another_host_is_found_by_that_address(made: PublishedSiteMaker) -> None:
    made.world.made("updateSiteById", made.path, body={"proxy": "example.com/company/docs"})
    body = {"url": "https://example.com/company/docs/v1/welcome"}
    found = made.world.made("resolvePublishedContentByUrl", body=body)
    assert (found["space"], found["pathname"], found["basePath"]) == (made.old, "/welcome", "/company/docs/v1/")
    other = {"url": "https://example.com/company/docs-of-others/v1"}
    assert made.world.call("resolvePublishedContentByUrl", body=other).status_code == 404


def test_only_staff_sees_what_is_for_staff(made: PublishedSiteMaker) -> None:
    assert made.look_up("/internal").status_code == 404
    assert made.look_up("/internal", jwtToken=made.sign(isStaff=False)).status_code == 404
    found = made.look_up("/internal", jwtToken=made.sign(isStaff=True)).json()
    assert found["space"] == made.internal
    assert made.look_up("/internal", unsignedClaims={"isStaff": True}).status_code == 404
    forged = jwt.encode({"isStaff": True}, "k" * 32, algorithm="HS256")
    unsigned = jwt.encode({"isStaff": True}, "", algorithm="none")
    late = made.sign(isStaff=True, exp=int(time.time()) - 1)
    early = made.sign(isStaff=True, nbf=int(time.time()) + 60)
    for token in (forged, unsigned, late, early, "a.b.c"):
        assert made.look_up("/internal", jwtToken=token).status_code == 404
    assert made.look_up("/internal", jwtToken="x" * 9000).status_code == 400


def test_visitors_that_nobody_knows_are_sent_to_sign_in(made: PublishedSiteMaker) -> None:
    made.world.made("updateSiteById", made.path, body={"visibility": "visitor-auth"})
    assert made.look_up("/setup").status_code == 401
    fallback = {"fallbackURL": "https://example.com/login"}
    assert made.world.made("updateSitePublishingAuthById", made.path, body=fallback)["fallbackURL"]
    answer = made.look_up("/setup").json()
    assert answer["redirect"] == "https://example.com/login?location=%2Fsetup"
    token = made.sign()
    assert made.look_up("/setup", jwtToken=token).json()["pathname"] == "/setup"
    made.world.made("regenerateSitePublishingAuthById", made.path)
    refused = made.look_up("/setup", jwtToken=token)
    assert refused.status_code == 401, "who just signed in would be sent back and forth"
    assert "token" in refused.json()["error"]["message"]
    query = {"url": f"{made.origin}{made.base}/setup", "visitorAuthToken": token}
    assert made.world.call("getPublishedContentByUrl", query=query).status_code == 401
    # A renderer that has the token from a cookie asks for the place to sign in.
    for answer in (
        made.look_up("/setup", redirect_on_error=True, jwtToken=token),
        made.world.call("getPublishedContentByUrl", query=query | {"redirectOnError": "true"}),
    ):
        assert answer.json()["redirect"] == "https://example.com/login?location=%2Fsetup"


def test_a_share_link_opens_the_site_until_it_is_turned_off(made: PublishedSiteMaker) -> None:
    made.world.made("updateSiteById", made.path, body={"visibility": "share-link"})
    key = made.add_share_link()
    assert made.look_up("/setup").status_code == 404
    assert made.look_up(f"/{key}x/setup").status_code == 404
    found = made.look_up(f"/{key}/setup").json()
    assert (found["shareKey"], found["siteBasePath"]) == (key, f"{made.base}/{key}/")
    at = {"spaceId": made.guides}
    assert made.world.call("getCurrentRevision", at, by=found["apiToken"]).status_code == 200
    link = made.world.made("listSiteShareLinks", made.path)["items"][0]["id"]
    made.world.made("updateSiteShareLinkById", made.path | {"shareLinkId": link}, body={"active": False})
    assert made.look_up(f"/{key}/setup").status_code == 404
    assert made.world.call("getCurrentRevision", at, by=found["apiToken"]).status_code == 404


def test_a_key_a_section_and_a_variant_are_found_by_four_segments_of_another_host(made: PublishedSiteMaker) -> None:
    made.world.made("updateSiteById", made.path, body={"visibility": "share-link", "proxy": "example.com/docs"})
    added = {"spaceId": made.old, "sectionId": made.sections[1]}
    variant = made.world.made("addSpaceToSite", made.path, body=added)["id"]
    made.world.made("updateSiteSpaceById", made.path | {"siteSpaceId": variant}, body={"path": "v1"})
    base = f"/docs/{made.add_share_link()}"
    visitor = {"jwtToken": made.sign(isStaff=True)}
    for path in ("", "/welcome"):
        body = {"url": f"https://example.com{base}/internal/v1{path}", "visitor": visitor}
        found = made.world.made("resolvePublishedContentByUrl", body=body)
        assert (found["siteSpace"], found["basePath"]) == (variant, f"{base}/internal/v1/")
        assert (found["complete"], found["pathname"]) == (True, path or "/")


def test_a_token_says_what_it_is_for(made: PublishedSiteMaker) -> None:
    found = made.look_up("/v1", type="agent", unsignedClaims={"isBeta": True, "other": 1}).json()
    members = jwt.decode(found["apiToken"], options={"verify_signature": False})
    assert members["spaces"] == [made.guides, made.old]
    named = {name: members[name] for name in ("kind", "organization", "site", "siteSpace", "siteSection", "space")}
    assert named == {name: found.get(name) for name in named} | {"kind": "site"}
    assert (members["visitorType"], members["claims"]) == ("agent", {"unsigned": {"isBeta": True}})
    assert members["exp"] > time.time() + 120
    assert members["exp"] % 86_400 == 300
    again = made.look_up("/v1", type="agent", unsignedClaims={"isBeta": True}).json()
    assert again["apiToken"] == found["apiToken"]


def test_another_token_is_given_after_each_change_of_the_site(made: PublishedSiteMaker) -> None:
    world, at_link = made.world, made.path | {"siteSpaceId": made.variant}
    redirect = {"source": "/old", "destination": {"kind": "external", "url": "https://example.com/"}}
    settings = world.made("getSiteCustomizationById", made.path)
    settings["header"] = {**settings["header"], "links": [{"title": "New", "to": None, "links": []}]}
    changes: dict[str, Callable[[], object]] = {
        "redirect": lambda: world.made("createSiteRedirect", made.path, body=redirect),
        "customization": lambda: world.made("updateSiteCustomizationById", made.path, body=settings),
        "override": lambda: world.made("overrideSiteSpaceCustomizationById", at_link, body={"title": "Before"}),
        "structure": lambda: world.made("updateSiteSpaceById", at_link, body={"path": "earlier"}),
        "content of another space": lambda: world.write(made.old, [page("More")]),
    }
    token = made.look_up("/").json()["apiToken"]
    for what, change in changes.items():
        change()
        found = made.look_up("/").json()["apiToken"]
        assert found != token, what
        world.space("Of no site")
        token = made.look_up("/").json()["apiToken"]
        assert found == token, what


def read(made: PublishedSiteMaker, token: str, operation: str, **path: str) -> int:
    return made.world.call(
        operation, path, by=token, query={"query": "words"} if "search" in operation else {}
    ).status_code


def test_a_token_reads_its_spaces_and_site_and_nothing_else(made: PublishedSiteMaker) -> None:
    token = made.look_up("/").json()["apiToken"]
    for space in (made.guides, made.old):
        for operation in ("getSpaceById", "getCurrentRevision", "listPages", "listFiles"):
            assert read(made, token, operation, spaceId=space) == 200
    for operation in ("getSiteById", "getPublishedContentSite"):
        assert read(made, token, operation, **made.path) == 200
    other = made.world.space("Other", changes=[page("Other")])["id"]
    for space in (made.internal, other, "nothing"):
        for operation in ("getSpaceById", "getCurrentRevision", "listPages", "listFiles"):
            assert read(made, token, operation, spaceId=space) == 404
    second = made.world.site(other)["id"]
    assert read(made, token, "getSiteById", siteId=second) == 404
    for operation in (
        "listSites",
        "getOrganizationById",
        "listMembersInOrganizationById",
        "listSpacesInOrganizationById",
    ):
        assert read(made, token, operation) == 403
    for operation in (
        "listChangeRequestsForSpace",
        "listSpaceComments",
        "getSpacePDF",
        "listPermissionsAggregateInSpace",
    ):
        if operation in made.world.target.routes:
            assert read(made, token, operation, spaceId=made.guides) == 403
    for operation in ("getAuthenticatedUser", "listOrganizationsForAuthenticatedUser"):
        assert read(made, token, operation) == 403
    assert made.world.call("updateSiteById", made.path, by=token, body={"title": "Mine"}).status_code == 403


def test_a_renderer_without_a_token_of_its_own_shows_a_site(made: PublishedSiteMaker) -> None:
    world = made.world
    body = {"url": f"{made.origin}{made.base}/setup", "visitor": {"type": "human", "country": "FR"}, "cacheBust": "x"}
    content = world.made("resolvePublishedContentByUrl", body=body, by=world.anonymous)
    assert (content["space"], content["pathname"]) == (made.guides, "/setup")
    assert world.call("resolvePublishedContentByUrl", body=body, by="syncd_not_a_token").status_code == 401
    request = world.change_request(made.guides, changes=[page("Draft")])
    changes = body | {"url": f"{made.origin}{made.base}/~/changes/{request['id']}"}
    assert world.call("resolvePublishedContentByUrl", body=changes, by=world.anonymous).status_code == 404
    # What it asks for each person whom a table names; a page is shown where the answer is 404.
    user = world.call("getUserById", {"userId": world.user}, by=content["apiToken"])
    assert (user.status_code, world.user in user.text) == (404, True)


def test_events_of_a_published_site_need_no_token(made: PublishedSiteMaker) -> None:
    world, body = made.world, {"events": [{"type": "page_view"}]}
    world.made("trackEventsInSiteById", made.path, body=body, by=world.anonymous)
    [counted] = world.made("listSiteEventCounts", made.path)["items"]
    assert (counted["type"], counted["count"]) == ("page_view", 1)
    other = world.site(made.guides)["id"]
    for site in (other, made.site["basename"], "nothing"):
        assert world.call("trackEventsInSiteById", {"siteId": site}, body=body, by=world.anonymous).status_code == 404
    world.made("unpublishSite", made.path)
    assert world.call("trackEventsInSiteById", made.path, body=body, by=world.anonymous).status_code == 404


def test_a_token_knows_nothing_of_what_is_being_written(made: PublishedSiteMaker) -> None:
    request = made.world.change_request(made.guides, changes=[page("Draft")])
    at = {"spaceId": made.guides}
    request = made.world.made("getChangeRequestById", at | {"changeRequestId": request["id"]})
    token = made.look_up("/").json()["apiToken"]
    space = made.world.made("getSpaceById", at, by=token)
    assert (space["changeRequests"], space["comments"]) == (0, 0)
    revision = made.world.made("getCurrentRevision", at, by=token)
    assert "mergedFrom" not in revision
    assert made.world.call("getRevisionById", at | {"revisionId": request["revision"]}, by=token).status_code == 404
    named = at | {"changeRequestId": request["id"]}
    assert made.world.call("getRevisionOfChangeRequestById", named, by=token).status_code == 404
    member = made.look_up(f"/~/changes/{request['number']}/draft").json()
    assert (member["changeRequest"], member["preview"], member["pathname"]) == (request["id"], True, "/draft")
    shown = made.world.made("getRevisionOfChangeRequestById", named, by=member["apiToken"])
    assert "Draft" in [one["title"] for one in shown["pages"]]
    body = {"url": f"{made.origin}{made.base}/~/changes/{request['number']}"}
    assert made.world.call("resolvePublishedContentByUrl", body=body, by=made.world.outsider).status_code == 404


def test_a_token_of_a_change_request_reads_that_one_as_it_is_now(made: PublishedSiteMaker) -> None:
    world, at = made.world, {"spaceId": made.guides}
    staff = page("Staff page", "Hidden.")
    staff["document"]["markdown"] = f"---\nif: {CLAIM}\n---\n\n" + staff["document"]["markdown"]
    request = world.change_request(made.guides, changes=[page("Draft", "New words."), staff])
    other = world.change_request(made.guides, changes=[page("Other")])
    public = made.look_up("/").json()["apiToken"]
    own = made.look_up(f"/~/changes/{request['number']}/draft").json()["apiToken"]
    # What is written after the token was made is read with it, too.
    change = {"operation": "insert_page", "title": "Later", "document": {"markdown": "# Later\n\nMore.\n"}}
    world.made("updateChangeRequestContent", at | {"changeRequestId": request["id"]}, body={"changes": [change]})
    named = at | {"changeRequestId": request["id"]}
    shown = world.made("getChangeRequestById", named, by=own)
    assert (shown["id"], shown["subject"]) == (request["id"], request["subject"])
    at_revision = at | {"revisionId": shown["revision"]}
    titles = [one["title"] for one in world.made("getRevisionById", at_revision, by=own)["pages"]]
    assert titles == ["Welcome", "Setup", "Draft", "Later"]
    told = world.made("getChangeRequestChanges", named, by=own)["changes"]
    assert [(one["type"], one["page"]["title"]) for one in told] == [
        ("page_created", "Draft"),
        ("page_created", "Later"),
    ]
    assert len(world.made("getChangeRequestChanges", named)["changes"]) == 3
    [draft] = [one for one in world.made("getRevisionById", at_revision, by=own)["pages"] if one["title"] == "Draft"]
    document = at | {"documentId": draft["documentId"]}
    assert "New words." in str(world.made("getDocumentById", document, by=own)["nodes"])
    [hidden] = [one for one in world.made("getRevisionById", at_revision)["pages"] if one["title"] == "Staff page"]
    secret = at | {"documentId": hidden["documentId"]}
    assert world.call("getDocumentById", secret).status_code == 200
    closed: list[tuple[str, str, dict[str, str]]] = [
        *((by, "getDocumentById", secret) for by in (own, public)),
        (public, "getDocumentById", document),
        (public, "getRevisionChanges", at_revision),
        *((own, "getRevisionChanges", at | {"revisionId": world.made("getChangeRequestById", at | {
            "changeRequestId": other["id"]})["revision"]}),),
        *((public, name, named) for name in ("getChangeRequestById", "getChangeRequestChanges")),
        *((own, name, at | {"changeRequestId": other["id"]}) for name in (
            "getChangeRequestById", "getChangeRequestChanges")),
    ]  # fmt: skip
    for by, operation, path in closed:
        assert world.call(operation, path, by=by).status_code == 404, operation
    number = at | {"changeRequestId": str(request["number"])}
    assert world.made("getChangeRequestById", number, by=own)["id"] == request["id"]
    assert world.call("updateChangeRequestById", named, body={"subject": "x"}, by=own).status_code == 403


def test_an_address_of_a_revision_shows_it_to_who_may_read_the_space(made: PublishedSiteMaker) -> None:
    world, at = made.world, {"spaceId": made.guides}
    before = world.made("getCurrentRevision", at)["id"]
    world.write(made.guides, [page("Later", "New words.")])
    shown = made.look_up(f"/~/revisions/{before}/setup").json()
    assert (shown["revision"], shown["preview"], shown["pathname"]) == (before, True, "/setup")
    assert "changeRequest" not in shown
    named = at | {"revisionId": before}
    pages = world.made("listPagesInRevisionById", named, by=shown["apiToken"])["pages"]
    assert [one["title"] for one in pages] == ["Welcome", "Setup"]
    public = made.look_up("/").json()["apiToken"]
    assert world.call("listPagesInRevisionById", named, by=public).status_code == 404
    for id, by in ((before, world.outsider), ("none", world.http), (before, world.anonymous)):
        body = {"url": f"{made.origin}{made.base}/~/revisions/{id}"}
        assert world.call("resolvePublishedContentByUrl", body=body, by=by).status_code == 404
    # Who may no longer read the space reads no more than everybody.
    reader = world.person("read")[1]
    body = {"url": f"{made.origin}{made.base}/~/revisions/{before}"}
    token = world.made("resolvePublishedContentByUrl", body=body, by=reader)["apiToken"]
    assert world.call("listPagesInRevisionById", named, by=token).status_code == 200
    world.made("updateSpaceById", at, body={"defaultLevel": None})
    assert world.call("listPagesInRevisionById", named, by=token).status_code == 404
    assert world.call("listPages", at, by=token).status_code == 200


def test_a_token_is_told_what_a_revision_changed_but_not_what_was_before(made: PublishedSiteMaker) -> None:
    world, at = made.world, {"spaceId": made.guides}
    pages = {one["title"]: one["id"] for one in world.made("listPages", at)["pages"]}
    edited = {"operation": "update_page", "page": pages["Welcome"], "title": "Start"}
    removed = {"operation": "delete_page", "page": pages["Setup"]}
    staff = page("Staff page", "Hidden.")
    staff["document"]["markdown"] = f"---\nif: {CLAIM}\n---\n\n" + staff["document"]["markdown"]
    world.write(made.guides, [edited, removed, page("Added", "Words."), staff])
    found = made.look_up("/").json()
    named = at | {"revisionId": found["revision"]}
    whole = world.made("getRevisionChanges", named)
    assert {one["type"] for one in whole["changes"]} == {"page_edited", "page_deleted", "page_created"}
    told = world.made("getRevisionChanges", named, by=found["apiToken"])
    assert [(one["type"], one["page"]["title"]) for one in told["changes"]] == [
        ("page_edited", "Start"), ("page_created", "Added"),
    ]  # fmt: skip
    assert told["changes"][0]["attributes"]["title"] == {"after": "Start"}
    assert "mergedFrom" in whole
    assert "mergedFrom" not in told
    assert not [word for word in ("Welcome", "Setup", "Staff page", '"before"') if word in str(told).replace("'", '"')]
    document = {one["title"]: one for one in world.made("listPages", at, by=found["apiToken"])["pages"]}["Added"]
    read = world.made("getDocumentById", at | {"documentId": document["documentId"]}, by=found["apiToken"])
    assert "Words." in str(read["nodes"])


def test_older_renderers_look_an_address_up_by_get(made: PublishedSiteMaker) -> None:
    made.world.made("updateSiteById", made.path, body={"visibility": "visitor-auth"})
    token = made.sign(isStaff=True)
    query = {"url": f"{made.origin}{made.base}/internal", "visitorAuthToken": token, "redirectOnError": "true"}
    found = made.world.made("getPublishedContentByUrl", query=query, by=made.world.anonymous)
    assert found == made.look_up("/internal", jwtToken=token).json()
    assert found["space"] == made.internal
    del query["visitorAuthToken"]
    assert made.world.call("getPublishedContentByUrl", query=query).status_code == 401


def test_a_picture_is_there_for_as_long_as_the_token(made: PublishedSiteMaker) -> None:
    image = {"operation": "insert_files", "files": [{"name": "plan.png", "contentType": "image/png", "base64": PNG}]}
    made.world.write(made.guides, [image, page("Plan", '<img src=".gitbook/assets/plan.png">')])
    found = made.look_up("/").json()
    token, at = found["apiToken"], {"spaceId": made.guides, "revisionId": found["revision"]}
    ends = jwt.decode(token, options={"verify_signature": False})["exp"]

    def read_expiry(by: str) -> int:
        [file] = made.world.made("getRevisionById", at, by=by)["files"]
        assert made.world.target.client.get(file["downloadURL"]).status_code == 200
        return int(parse_qs(urlsplit(file["downloadURL"]).query)["expires"][0])

    # A renderer keeps a revision by its token, and asks for none of it again.
    assert read_expiry(token) > ends
    assert read_expiry(made.world.http) < time.time() + 2 * 3600


def test_the_site_that_a_token_reads_has_only_what_its_visitor_sees(made: PublishedSiteMaker) -> None:
    def titles(token: str) -> list[Any]:
        site = made.world.made("getPublishedContentSite", made.path, by=token)
        return [section["title"] for section in site["structure"]["structure"]]

    assert titles(made.look_up("/").json()["apiToken"]) == ["Guides"]
    assert titles(made.look_up("/", jwtToken=made.sign(isStaff=True)).json()["apiToken"]) == ["Guides", "Internal"]


@pytest.mark.parametrize("change", ["unpublish", "visibility", "remove", "condition", "section", "expire", "forge"])
def test_a_token_ends_with_what_it_was_made_for(made: PublishedSiteMaker, change: str) -> None:
    token = made.look_up("/v1").json()["apiToken"]
    at = {"spaceId": made.old}
    assert made.world.call("getCurrentRevision", at, by=token).status_code == 200
    match change:
        case "unpublish":
            made.world.made("unpublishSite", made.path)
        case "visibility":
            made.world.made("updateSiteById", made.path, body={"visibility": "visitor-auth"})
        case "remove":
            made.world.made("deleteSiteSpaceById", made.path | {"siteSpaceId": made.variant})
        case "condition":
            at_variant = made.path | {"siteSpaceId": made.variant}
            made.world.made("updateSiteSpaceById", at_variant, body={"condition": CLAIM})
        case "section":
            at_section = made.path | {"siteSectionId": made.sections[0]}
            made.world.made("updateSiteSectionById", at_section, body={"condition": CLAIM})
        case "expire":
            members = jwt.decode(token, options={"verify_signature": False})
            token = jwt.encode(members | {"exp": 1}, "k" * 32, algorithm="HS256")
        case "forge":
            head, body, signature = token.split(".")
            token = f"{head}.{body}.{signature[::-1]}"
    status = 401 if change in ("expire", "forge") else 404
    assert made.world.call("getCurrentRevision", at, by=token).status_code == status


def test_a_token_reads_of_a_text_what_its_visitor_may(made: PublishedSiteMaker) -> None:
    text = "{% if visitor.claims.isStaff == true %}\n\nThe handshake.\n\n{% endif %}\n\nAfter."
    staff = page("Staff page", "The canteen plan.")
    staff["document"]["markdown"] = f"---\nif: {CLAIM}\n---\n\n" + staff["document"]["markdown"]
    made.world.write(made.guides, [page("Mixed", f"Before.\n\n{text}"), staff])
    everybody = made.look_up("/").json()
    known = made.look_up("/", jwtToken=made.sign(isStaff=True)).json()
    at = {"spaceId": made.guides, "revisionId": everybody["revision"]}
    pages = {one["title"]: one["id"] for one in made.world.made("listPages", at)["pages"]}
    for token, has_more in ((everybody["apiToken"], False), (known["apiToken"], True)):
        for evaluated in ("false", "true"):
            path = at | {"pageId": pages["Mixed"]}
            query = {"evaluated": evaluated}
            read = made.world.made("getPageDocumentInRevisionById", path, query=query, by=token)
            assert ("handshake" in str(read)) is has_more
            assert "After" in str(read)
            shown = made.world.made("getPageById", path, query={"format": "document", **query}, by=token)
            assert ("handshake" in str(shown)) is has_more
            document = {one["title"]: one for one in made.world.made("listPages", at, by=token)["pages"]}["Mixed"]
            by_id = made.world.made("getDocumentById", at | {"documentId": document["documentId"]}, by=token)
            assert ("handshake" in str(by_id)) is has_more
        for query in ({}, {"evaluated": "true"}, {"dereferenced": "true"}, {"format.markdown.refs": "stable"}):
            query |= {"format": "markdown"}
            read = made.world.made("getPageById", path, query=query, by=token)["markdown"]
            assert ("handshake" in read, "# Mixed" in read, "After." in read) == (has_more, True, True)
            assert "isStaff" not in read
        path = at | {"pageId": pages["Staff page"]}
        status = made.world.call("getPageDocumentInRevisionById", path, by=token).status_code
        assert status == (200 if has_more else 404)
        if has_more:
            read = made.world.made("getPageById", path, query={"format": "markdown"}, by=token)["markdown"]
            assert read == "# Staff page\n\nThe canteen plan.\n"
    plain = at | {"pageId": pages["Setup"]}
    read = made.world.made("getPageById", plain, query={"format": "markdown"}, by=everybody["apiToken"])
    assert "README.md" in read["markdown"]


def test_a_token_reads_of_what_is_included_what_its_visitor_may(made: PublishedSiteMaker, tmp_path: Path) -> None:
    note = f"{{% if {CLAIM} %}}\n\nThe codeword.\n\n{{% endif %}}\n\nOpen.\n"
    staff = {"staff.md": f"---\nif: {CLAIM}\n---\n\n# Staff\n", ".gitbook.yaml": "redirects:\n  old: staff.md\n"}
    texts = {
        **staff,
        "README.md": '# Home\n\n{% include ".gitbook/includes/note.md" %}\n',
        ".gitbook/includes/note.md": note,
    }
    world, at = made.world, {"spaceId": made.import_space(tmp_path, texts)}
    whole = world.made("getCurrentRevision", at)
    named = {"pageId": whole["pages"][0]["id"], "reusableContentId": whole["reusableContents"][0]["id"]}
    for claims, has_more in (({}, False), ({"isStaff": True}, True), ({}, False)):
        token = made.look_up("/", jwtToken=made.sign(**claims)).json()["apiToken"]
        for dereferenced in ("true", "reusable-contents", "false"):
            query = {"format": "markdown", "dereferenced": dereferenced}
            page = world.made("getPageById", at | named, query=query, by=token)["markdown"]
            is_in = dereferenced != "false"
            assert ("codeword" in page, "Open." in page, "isStaff" in page) == (is_in and has_more, is_in, False)
        for query in ({}, {"format": "markdown"}):
            text = world.made("getReusableContentById", at | named, query=query, by=token)["markdown"]
            assert ("codeword" in text, "Open." in text, "isStaff" in text) == (has_more, True, False)
        status = world.call("getPageByPath", at | {"pagePath": "old"}, by=token).status_code
        assert status == (200 if has_more else 404)


def test_a_token_knows_no_page_whose_condition_its_visitor_does_not_fulfil(made: PublishedSiteMaker) -> None:
    staff = page("Staff page", "The canteen plan.")
    staff["document"]["markdown"] = f"---\nif: {CLAIM}\n---\n\n" + staff["document"]["markdown"]
    made.world.write(made.guides, [page("Open"), staff])
    at = {"spaceId": made.guides}
    listed = {one["title"]: one for one in made.world.made("listPages", at)["pages"]}
    below = page("Below", into=listed["Staff page"]["id"])
    made.world.write(made.guides, [below])
    everybody = made.look_up("/").json()["apiToken"]
    known = made.look_up("/", jwtToken=made.sign(isStaff=True)).json()["apiToken"]
    for token, has_more in ((known, True), (everybody, False), (known, True)):
        for operation in ("listPages", "getCurrentRevision"):
            shown = str(made.world.made(operation, at, by=token))
            assert ("Staff page" in shown, "Below" in shown, "Open" in shown) == (has_more, has_more, True)
        status = 200 if has_more else 404
        for operation, more in (
            ("getPageById", {"pageId": listed["Staff page"]["id"]}),
            ("getPageByPath", {"pagePath": listed["Staff page"]["path"]}),
            ("listSpacePageMetaLinks", {"pageId": listed["Staff page"]["id"]}),
        ):
            assert made.world.call(operation, at | more, by=token).status_code == status


def test_a_token_knows_no_file_that_stands_only_in_what_is_for_others(made: PublishedSiteMaker, tmp_path: Path) -> None:
    include = '{%% include ".gitbook/includes/%s.md" %%}'
    texts = {
        "README.md": f"# Home\n\n![](open.png) ![](both.png)\n\n{include % 'open'}",
        "mixed.md": f"# Mixed\n\n![](both.png)\n\n{{% if {CLAIM} %}}\n\n![](part.png)\n\n{{% endif %}}",
        "staff.md": f"---\nif: {CLAIM}\n---\n\n# Staff\n\n![](both.png) [x](plan.png)\n\n{include % 'staff'}",
        ".gitbook/includes/open.md": "![](../../included.png)",
        ".gitbook/includes/staff.md": "The canteen plan. ![](../../inner.png)",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    open_files, closed_files = ("open", "both", "included"), ("part", "plan", "inner")
    for name in (*open_files, *closed_files):
        (tmp_path / f"{name}.png").write_bytes(name.encode())
    world = made.world
    space = import_directory(world.storage, tmp_path, organization=world.organization).space
    world.made("addSpaceToSite", made.path, body={"spaceId": space, "sectionId": made.sections[0]})
    at = {"spaceId": space}
    whole = world.made("getCurrentRevision", at)
    for claims, is_staff in (({}, False), ({"isStaff": True}, True), ({}, False)):
        token = made.look_up("/", jwtToken=made.sign(**claims)).json()["apiToken"]
        revision = world.made("getCurrentRevision", at, by=token)
        expected = {f"{name}.png" for name in (*open_files, *(closed_files if is_staff else ()))}
        assert {one["name"] for one in revision["files"]} == expected
        assert {one["name"] for one in world.made("listFiles", at, by=token)["items"]} == expected
        assert {one["title"] for one in revision["reusableContents"]} == {"open", *(["staff"] if is_staff else [])}
        status = 200 if is_staff else 404
        for one in whole["files"]:
            expected_status = status if one["name"].removesuffix(".png") in closed_files else 200
            assert world.call("getFileById", at | {"fileId": one["id"]}, by=token).status_code == expected_status
        [inner] = [one for one in whole["reusableContents"] if one["title"] == "staff"]
        path = at | {"revisionId": whole["id"], "reusableContentId": inner["id"]}
        assert world.call("getReusableContentDocumentInRevisionById", path, by=token).status_code == status


def test_a_token_reads_the_specifications_that_its_pages_show(made: PublishedSiteMaker) -> None:
    text = '{"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "paths": {}}'
    for slug in ("shown", "other", "staff"):
        made.world.made("createOpenAPISpec", body={"slug": slug, "source": {"text": text}})
    made.world.run_jobs()
    block = '{%% openapi-operation spec="%s" path="/pets" method="get" %%}\n\n{%% endopenapi-operation %%}'
    hidden = f"{{% if {CLAIM} %}}\n\n{block % 'staff'}\n\n{{% endif %}}"
    made.world.write(made.guides, [page("API", f"{block % 'shown'}\n\n{hidden}")])
    everybody = made.look_up("/").json()["apiToken"]
    known = made.look_up("/", jwtToken=made.sign(isStaff=True)).json()["apiToken"]

    def read_status(slug: str, token: str) -> set[int]:
        path = {"specSlug": slug, "versionId": "latest"}
        operations = (
            *("getOpenAPISpecVersionById", "getOpenAPISpecVersionContentById"),
            "getOpenAPISpecVersionContentRawById",
        )
        return {made.world.call(one, path, by=token).status_code for one in operations}

    assert (read_status("shown", everybody), read_status("shown", known)) == ({200}, {200})
    assert (read_status("staff", everybody), read_status("staff", known)) == ({404}, {200})
    assert (read_status("other", everybody), read_status("other", known)) == ({404}, {404})
    made.world.made("updateOpenAPISpecBySlug", {"specSlug": "other"}, body={"visibility": "public"})
    assert read_status("other", everybody) == {200}
    assert made.world.call("getOpenAPISpecBySlug", {"specSlug": "shown"}, by=everybody).status_code == 403


def test_a_site_is_searched_as_its_visitor_sees_it(made: PublishedSiteMaker) -> None:
    def find(by: str, query: str, **scope: Any) -> set[str]:
        body = {"query": query, "scope": {"mode": "all"} | scope}
        found = made.world.made("searchSiteContent", made.path, body=body, by=by)
        return {one["title"] for space in found["items"] for one in space["pages"]}

    everybody = made.look_up("/").json()
    known = made.look_up("/internal", jwtToken=made.sign(isStaff=True)).json()
    assert find(everybody["apiToken"], "vault") == set()
    assert find(known["apiToken"], "vault") == {"Secrets"}
    assert find(everybody["apiToken"], "words") == find(made.world.http, "words") == {"Welcome"}
    only = {"mode": "specific", "siteSpaceIds": [known["siteSpace"]]}
    assert find(known["apiToken"], "vault", **only) == {"Secrets"}
    assert find(everybody["apiToken"], "vault", **only) == set()
    near = {"mode": "default", "currentSiteSpace": made.variant}
    assert find(everybody["apiToken"], "older", **near, restrictTo="currentSiteSpace") == {"Welcome"}
    assert find(everybody["apiToken"], "older", **near, restrictTo="otherSiteSpaces") == set()
    assert find(everybody["apiToken"], "older", mode="default") == set()
    assert find(everybody["apiToken"], "older", mode="current", siteSpaceId=made.variant) == {"Welcome"}
    for former, count in (({"mode": "all"}, 1), ({"siteSpaceIds": [made.variant]}, 1), ({"mode": "current"}, 0)):
        body = {"query": "older"} | former | ({"siteSpaceId": everybody["siteSpace"]} if count == 0 else {})
        assert made.world.made("searchSiteContent", made.path, body=body)["count"] == count
    made.world.made("unpublishSite", made.path)
    body = {"query": "words"}
    assert made.world.call("searchSiteContent", made.path, body=body, by=everybody["apiToken"]).status_code == 404


def test_a_question_is_answered_from_what_its_visitor_may_read(made: PublishedSiteMaker) -> None:
    text = f"The lantern is green.\n\n{{% if {CLAIM} %}}\n\nThe lantern was stolen.\n\n{{% endif %}}"
    made.world.write(made.guides, [page("Lantern", text)])

    def ask(question: str, by: str) -> str:
        body = {"question": question, "scope": {"mode": "all"}}
        return made.world.call("streamAskInSite", made.path, body=body, query={"format": "markdown"}, by=by).text

    everybody = made.look_up("/").json()["apiToken"]
    known = made.look_up("/", jwtToken=made.sign(isStaff=True)).json()["apiToken"]
    assert "behind the clock" in ask("Where is the vault?", known)
    assert "behind the clock" not in ask("Where is the vault?", everybody)
    assert "behind the clock" not in ask("Where is the vault?", made.world.http)
    for token in (everybody, known):
        assert "green" in ask("Which colour has the lantern?", token)
        assert "stolen" not in ask("Which colour has the lantern?", token)
    made.world.made("updateSiteById", made.path, body={"visibility": "visitor-auth"})
    assert "behind the clock" not in ask("Where is the vault?", known)


def test_events_are_counted_without_their_visitors(made: PublishedSiteMaker) -> None:
    found = made.look_up("/").json()
    session = {"ip": "192.0.2.7", "userAgent": "Lynx", "cookies": {"id": "secret"}, "visitorAuthClaims": {"a": 1}}
    here = {"siteSpace": found["siteSpace"], "page": "welcome", "url": "http://platform/x"}
    events = [
        {"type": "page_view", "location": here, "session": session},
        {"type": "page_view", "location": here, "session": session},
        {"type": "page_view", "location": {"siteSpace": "nothing", "page": "x"}},
        {"type": "search_type_query", "location": here, "query": "  The   HARBOUR "},
        {"type": "page_post_feedback", "location": here, "feedback": {"rating": "good"}},
        {"type": "page_post_feedback", "location": here, "feedback": {"rating": "<script>"}},
    ]
    for _ in range(2):
        made.world.made("trackEventsInSiteById", made.path, body={"events": events}, by=found["apiToken"])
    shown = made.world.made("listSiteEventCounts", made.path)["items"]
    assert {(one["type"], one.get("page"), one.get("detail")): one["count"] for one in shown} == {
        ("page_view", "welcome", None): 4,
        ("page_view", None, None): 2,
        ("search_type_query", "welcome", "the harbour"): 2,
        ("page_post_feedback", "welcome", "good"): 2,
        ("page_post_feedback", "welcome", None): 2,
    }
    assert not {"secret", "Lynx", "192.0.2.7"} & set(str(shown).replace("'", " ").split())
    for by in (found["apiToken"], made.world.person("read")[1]):
        assert made.world.call("listSiteEventCounts", made.path, by=by).status_code == 403
    body = {"events": events[:1]}
    assert made.world.call("trackEventsInSiteById", made.path, body=body, by=made.world.outsider).status_code == 404


def test_what_a_day_counts_has_a_bound(made: PublishedSiteMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("syncd.platform.visitors.insights.ROWS_MAX", 3)
    events = [{"type": "ask_question", "query": f"Question {number}"} for number in range(9)]
    made.world.made("trackEventsInSiteById", made.path, body={"events": events})
    shown = made.world.made("listSiteEventCounts", made.path)["items"]
    assert sorted((one["type"], one["count"]) for one in shown) == [("ask_question", 1)] * 3 + [("other", 6)]
