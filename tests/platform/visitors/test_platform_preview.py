"""The preview of a site: who sees it, what it shows by every way to read it, and what stays closed to others."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.platform.app_pages.browser_session import Person
from tests.platform.visitors.published_site import CLAIM, PublishedSiteMaker, open_published_site, page

WAYS = {
    "page": "/proposed",
    "markdown": "/proposed.md",
    "llms": "/llms.txt",
    "llms-full": "/llms-full.txt",
    "feed": "/proposed/rss.xml",
    "contents": "/~syncd/contents",
}
NEWS = '{% updates %}\n\n{% update date="2026-01-01" %}\n\n## Sails\n\nProposed.\n\n{% endupdate %}\n\n{% endupdates %}'


@pytest.fixture
def made(tmp_path: Path) -> Iterator[PublishedSiteMaker]:
    with open_published_site(tmp_path / "platform") as made:
        yield made


@pytest.fixture
def request_id(made: PublishedSiteMaker) -> str:
    hidden = f"{{% if {CLAIM} %}}\n\nThe handshake.\n\n{{% endif %}}"
    text = f"Proposed words.\n\n{NEWS}\n\n{hidden}"
    return str(made.world.change_request(made.guides, changes=[page("Proposed", text)])["id"])


def find_root(made: PublishedSiteMaker, request_id: str = "") -> str:
    return f"/app/preview/{made.site['id']}" + (f"/~/changes/{request_id}" if request_id else "")


def read_all(person: Person, root: str) -> dict[str, httpx.Response]:
    """Given the address of a site, return the answer to each way to read a page of it."""
    front = person.get(f"{root}/").text
    scope = re.search(r'data-scope="([^"]+)"', front)
    ways = {way: root + path for way, path in WAYS.items()}
    if scope:
        ways["contents"] = f"{scope[1]}/contents"
    return {way: person.get(address) for way, address in ways.items()}


def test_who_may_read_sees_a_change_request_by_every_way(made: PublishedSiteMaker, request_id: str) -> None:
    person = Person(made.world, made.world.person("read")[0])
    for way, answer in read_all(person, find_root(made, request_id)).items():
        assert answer.status_code == 200, way
        assert "Proposed" in answer.text, way
        assert "handshake" not in answer.text, way
        assert answer.headers["cache-control"].startswith("private"), way
    shown = person.get(f"{find_root(made, request_id)}/proposed")
    assert (shown.headers["x-robots-tag"], "noindex" in shown.text) == ("noindex", True)
    links = re.findall(r'href="(/[^"#]*)"', shown.text)
    assert links
    assert all(link.startswith(f"{find_root(made, request_id)}/") for link in links)
    styles = [link for link in links if link.endswith(".css")]
    assert styles
    assert all(person.get(link).status_code == 200 for link in styles)
    assert "Disallow: /" in person.get(f"{find_root(made, request_id)}/robots.txt").text
    assert "<loc>" not in person.get(f"{find_root(made, request_id)}/sitemap.xml").text


def test_a_preview_is_searched_as_it_is_shown(made: PublishedSiteMaker) -> None:
    made.world.write(
        made.guides, [page("Lantern", "It is green."), page("Rope", "It is short."), page("Buoy", "Afloat.")]
    )
    entries = made.world.made("listPages", {"spaceId": made.guides})["pages"]
    ids = {one["title"]: one["id"] for one in entries}
    changes = [
        {"operation": "update_page", "page": ids["Lantern"], "document": {"markdown": "It is violet."}},
        {"operation": "delete_page", "page": ids["Rope"]},
        page("Sail", f"It is violet, too.\n\n{{% if {CLAIM} %}}\n\nThe handshake.\n\n{{% endif %}}"),
    ]
    request_id = str(made.world.change_request(made.guides, changes=changes)["id"])
    person = Person(made.world, made.world.user)

    def search(words: str, root: str) -> list[str]:
        answer = person.get(f"{root}/~syncd/search.json?q={words}")
        return [row[0] for row in answer.json()]

    proposed, main = find_root(made, request_id), find_root(made)
    assert (search("violet", proposed), search("violet", main)) == (["Lantern", "Sail"], [])
    assert (search("green", proposed), search("green", main)) == ([], ["Lantern"])
    assert (search("short", proposed), search("short", main)) == ([], ["Rope"])
    assert search("afloat", proposed) == search("afloat", main) == ["Buoy"]
    assert search("handshake", proposed) == []


def test_main_content_shows_nothing_of_a_change_request(made: PublishedSiteMaker, request_id: str) -> None:
    person = Person(made.world, made.world.user)
    for way, answer in read_all(person, find_root(made)).items():
        assert "Proposed words" not in answer.text, way
        assert answer.status_code == (404 if way in ("page", "markdown", "feed") else 200), way
    assert person.get(f"{find_root(made)}/setup").status_code == 200
    for path in WAYS.values():
        answer = made.world.target.client.get(made.base + path)
        assert "Proposed words" not in answer.text
    assert made.world.target.client.get(f"{made.base}/~/changes/{request_id}/proposed").status_code == 404


def test_the_number_of_a_change_request_leads_to_it(made: PublishedSiteMaker, request_id: str) -> None:
    person = Person(made.world, made.world.user)
    number = made.world.made("getChangeRequestById", {"spaceId": made.guides, "changeRequestId": request_id})["number"]
    answer = person.get(f"{find_root(made, str(number))}/proposed")
    assert (answer.status_code, answer.headers["location"]) == (303, f"{find_root(made, request_id)}/proposed")
    for named in ("999", "nothing", request_id[::-1]):
        assert person.get(f"{find_root(made, named)}/proposed").status_code == 404


@pytest.mark.parametrize("visibility", ["public", "unlisted", "share-link", "visitor-auth", "unpublished"])
def test_the_preview_is_for_those_who_may_read_and_for_nobody_else(
    made: PublishedSiteMaker, request_id: str, visibility: str
) -> None:
    if visibility == "unpublished":
        made.world.made("unpublishSite", made.path)
    else:
        made.world.made("updateSiteById", made.path, body={"visibility": visibility})
    preview = made.world.made("getSiteById", made.path)["urls"]["preview"]
    assert preview == f"{made.origin}{find_root(made)}/"
    world = made.world
    outsider = world.person("admin", organization=world._organization())[0]
    for person, page_status, asset_status in (
        (Person(world, world.person("read")[0]), 200, 200),
        (Person(world, world.person(None)[0]), 404, 404),
        (Person(world, outsider), 404, 404),
        (Person(world, world.user, signs_in=False), 401, 401),
    ):
        for root in (find_root(made), find_root(made, request_id)):
            assert person.get(f"{root}/setup").status_code == page_status
            assert person.get(f"{root}/~syncd/site.js").status_code == asset_status
            if page_status != 200:
                assert person.get(f"{root}/setup").headers["content-type"].startswith("text/html")
                assert "Setup" not in person.get(f"{root}/setup").text


def test_a_space_that_somebody_may_not_read_is_not_in_the_preview(made: PublishedSiteMaker, request_id: str) -> None:
    world = made.world
    user, _ = world.person("read")
    assert Person(world, user).get(f"{find_root(made)}/setup").status_code == 200
    world.made("updateSpaceById", {"spaceId": made.guides}, body={"defaultLevel": None})
    reader = Person(world, user)
    assert reader.get(f"{find_root(made)}/setup").status_code == 404
    assert reader.get(f"{find_root(made, request_id)}/proposed").status_code == 404
    assert Person(world, world.user).get(f"{find_root(made, request_id)}/proposed").status_code == 200


def test_scripts_of_other_pages_read_nothing_of_a_preview(made: PublishedSiteMaker, request_id: str) -> None:
    person = Person(made.world, made.world.user)
    root = find_root(made, request_id)
    by_script = {"Sec-Fetch-Mode": "cors", "Sec-Fetch-Site": "same-origin"}
    foreign = {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Site": "cross-site"}
    assert person.client.get(f"{root}/proposed", headers=by_script).status_code == 403
    assert person.client.get(f"{root}/~syncd/site.js", headers=by_script).status_code == 200
    assert person.client.get(f"{root}/~syncd/site.js", headers=foreign).status_code == 403
    assert person.client.post(f"{root}/proposed", headers={"Origin": "http://127.0.0.1"}).status_code in (403, 404)
