"""The token of a draft: what a renderer reads with it of a site before its visitors do, and until when."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest

from tests.platform.visitors.published_site import CLAIM, PublishedSiteMaker, open_published_site, page


@pytest.fixture
def made(tmp_path: Path) -> Iterator[PublishedSiteMaker]:
    with open_published_site(tmp_path / "platform") as made:
        yield made


def look_up(made: PublishedSiteMaker, path: str = "", *, by: str | None = None, **visitor: Any) -> httpx.Response:
    """Given a path below the address of a site's preview, return what `POST /urls/published` answers to somebody."""
    body = {"url": made.world.made("getSiteById", made.path)["urls"]["preview"] + path, "visitor": visitor}
    return made.world.call("resolvePublishedContentByUrl", body=body, by=by)


def read_claims(token: str) -> dict[str, Any]:
    return dict(jwt.decode(token, options={"verify_signature": False}))


def test_who_is_not_signed_in_is_sent_to_the_app(made: PublishedSiteMaker) -> None:
    address = f"{made.origin}/app/preview/{made.site['id']}/setup"
    answer = look_up(made, "setup", by=made.world.anonymous)
    assert (answer.status_code, answer.json()) == (200, {"target": "application", "redirect": address})
    guest = made.world.person(None)[1]
    assert [look_up(made, by=stranger).status_code for stranger in (made.world.outsider, guest)] == [404, 404]
    body = {"url": f"{made.origin}/app/preview/nothing/"}
    assert made.world.call("resolvePublishedContentByUrl", body=body).status_code == 404


def test_a_draft_is_read_before_the_site_is_published(made: PublishedSiteMaker) -> None:
    world, at = made.world, {"spaceId": made.guides}
    world.made("unpublishSite", made.path)
    found = look_up(made, "setup", by=world.person("read")[1]).json()
    base = f"/app/preview/{made.site['id']}/"
    assert (found["preview"], found["pathname"], found["basePath"]) == (True, "/setup", base)
    token = found["apiToken"]
    assert read_claims(token)["draft"] is True
    assert made.internal not in read_claims(token)["spaces"]
    site = world.made("getPublishedContentSite", made.path, by=token)
    assert [section["title"] for section in site["structure"]["structure"]] == ["Guides"]
    pages = world.made("getRevisionById", at | {"revisionId": found["revision"]}, by=token)["pages"]
    assert [one["title"] for one in pages] == ["Welcome", "Setup"]
    body = {"query": "setup", "scope": {"mode": "all"}}
    [space] = world.made("searchSiteContent", made.path, body=body, by=token)["items"]
    assert space["id"] == made.guides
    event = {"type": "page_view", "location": {}}
    world.call("trackEventsInSiteById", made.path, body={"events": [event]}, by=token)
    assert world.made("listSiteEventCounts", made.path)["items"] == []
    for closed in ({"spaceId": made.internal}, {"spaceId": world.space("Elsewhere")["id"]}):
        assert world.call("getCurrentRevision", closed, by=token).status_code == 404


def test_a_draft_has_every_change_request_and_revision(made: PublishedSiteMaker) -> None:
    world, at = made.world, {"spaceId": made.guides}
    first = world.made("getSpaceById", at)["revision"]
    staff = page("Staff page", "Hidden.")
    staff["document"]["markdown"] = f"---\nif: {CLAIM}\n---\n\n" + staff["document"]["markdown"]
    request = world.change_request(made.guides, changes=[page("Draft", "New words."), staff])
    world.write(made.guides, [page("Later")])
    token = look_up(made, by=world.http).json()["apiToken"]
    # A renderer takes what stands behind `~` out of the address, and reads that by itself.
    numbered = at | {"changeRequestId": str(request["number"])}
    shown = world.made("getChangeRequestById", numbered, by=token)
    assert shown["id"] == request["id"]
    proposed = world.made("getRevisionById", at | {"revisionId": shown["revision"]}, by=token)
    assert [one["title"] for one in proposed["pages"]] == ["Welcome", "Setup", "Draft"]
    document = at | {"documentId": proposed["pages"][-1]["documentId"]}
    assert "New words." in str(world.made("getDocumentById", document, by=token))
    assert len(world.made("getChangeRequestChanges", numbered, by=token)["changes"]) == 1
    before = world.made("getRevisionById", at | {"revisionId": first}, by=token)
    assert [one["title"] for one in before["pages"]] == ["Welcome", "Setup"]
    assert world.call("updateChangeRequestById", numbered, body={"subject": "x"}, by=token).status_code == 403
    assert world.call("listChangeRequestsForSpace", at, by=token).status_code == 403
    published = made.look_up("/").json()["apiToken"]
    assert world.call("getChangeRequestById", numbered, by=published).status_code == 404
    assert world.call("getRevisionById", at | {"revisionId": first}, by=published).status_code == 404


def test_a_draft_is_read_while_its_person_may_read_it(made: PublishedSiteMaker) -> None:
    world, at = made.world, {"spaceId": made.guides}
    request = world.change_request(made.guides, changes=[page("Draft")])
    reader = world.person("read")[1]
    draft = look_up(made, by=reader).json()["apiToken"]
    body = {"url": f"{made.origin}{made.base}/~/changes/{request['number']}"}
    proposed = world.made("resolvePublishedContentByUrl", body=body, by=reader)["apiToken"]
    named = at | {"changeRequestId": request["id"]}
    for token in (draft, proposed):
        assert world.call("getRevisionOfChangeRequestById", named, by=token).status_code == 200
    world.made("updateSpaceById", at, body={"defaultLevel": None})
    for token in (draft, proposed):
        for operation in ("getRevisionOfChangeRequestById", "getChangeRequestById", "getChangeRequestChanges"):
            assert world.call(operation, named, by=token).status_code == 404, operation
    assert world.call("getCurrentRevision", at, by=draft).status_code == 404
    # The site is public, and what is published of the space is still for everybody.
    assert world.call("getCurrentRevision", at, by=proposed).status_code == 200
    assert read_claims(look_up(made, "v1", by=reader).json()["apiToken"])["spaces"] == [made.old]


def test_a_draft_is_seen_as_a_visitor_with_the_claims_that_are_asked_for(made: PublishedSiteMaker) -> None:
    beta = "visitor.claims.unsigned.isBeta == true"
    text = f"{{% if {beta} %}}\n\nThe new lathe.\n\n{{% endif %}}"
    made.world.write(made.guides, [page("Tools", text)])
    for visitor, has_more in (({}, False), ({"unsignedClaims": {"isBeta": True}}, True)):
        found = look_up(made, "tools", by=made.world.http, **visitor).json()
        path = {"spaceId": found["space"], "pagePath": "tools"}
        shown = made.world.made("getPageByPath", path, query={"format": "document"}, by=found["apiToken"])
        assert ("new lathe" in str(shown)) is has_more
