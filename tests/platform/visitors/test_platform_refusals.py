"""What a browser shows to whom a site does not let in, where there is nothing, and when the server fails."""

import re
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa

from syncd.platform.http.failures import Failure
from tests.platform.visitors.published_site import PublishedSiteMaker, open_published_site

COLOUR = "#a1b2c3"


@pytest.fixture
def made(tmp_path: Path) -> Iterator[PublishedSiteMaker]:
    with open_published_site(tmp_path / "platform") as made:
        yield made


def get(made: PublishedSiteMaker, path: str, **headers: str) -> httpx.Response:
    made.world.target.client.cookies.clear()
    return made.world.target.client.get(path, headers=headers)


def customize(made: PublishedSiteMaker) -> None:
    settings = made.world.made("getSiteCustomizationById", made.path)
    settings["internationalization"] = {"locale": "de"}
    settings["styling"]["primaryColor"] = {"light": COLOUR, "dark": COLOUR}
    made.world.made("updateSiteCustomizationById", made.path, body=settings)


def check_page(answer: httpx.Response, status: int, title: str) -> None:
    assert (answer.status_code, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")
    html = answer.text
    assert f"<h1>{title}</h1>" in html
    assert re.search(r'<html lang="[a-z]+" dir="ltr"', html)
    assert "<main>" in html
    assert '<meta name="robots" content="noindex">' in html
    [style] = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in answer.headers["content-security-policy"]
    assert not re.findall(r'(?:src|href)="(?!data:,")', html), "it loads nothing, which would be closed as well"


def test_who_is_not_let_in_gets_a_page_in_the_looks_and_language_of_the_site(made: PublishedSiteMaker) -> None:
    made.world.made("updateSiteById", made.path, body={"visibility": "visitor-auth"})
    customize(made)
    answer = get(made, f"{made.base}/setup")
    check_page(answer, 401, "Diese Website ist für Menschen, die eingelassen werden")
    for part in ('lang="de"', f"--primary:{COLOUR}", ">Docs</p>"):
        assert part in answer.text
    for path in ("/", "/internal/secrets", "/nothing", "/~syncd/files/x/y/z/a.pdf", "/~syncd/pdf"):
        assert get(made, made.base + path).text == answer.text, "a page that is there and one that is not look alike"
    made_up = made.sign(exp=1)
    check_page(
        get(made, f"{made.base}/setup", Cookie=f"syncd-visitor={made_up}"), 401, "Dieser Link lässt Sie nicht ein"
    )
    check_page(get(made, f"{made.base}/setup?jwt_token={made_up}"), 401, "Dieser Link lässt Sie nicht ein")
    for path in ("/setup.md", "/llms.txt", "/~syncd/search.json?q=x"):
        line = get(made, made.base + path)
        assert (line.status_code, line.headers["content-type"]) == (401, "text/plain; charset=utf-8")
        assert line.text.startswith("Docs: Diese Website ist für Menschen")


def test_what_is_closed_looks_like_what_never_was(made: PublishedSiteMaker) -> None:
    made.world.made("updateSiteById", made.path, body={"visibility": "share-link"})
    customize(made)
    key = made.add_share_link()
    for path in (
        "/",
        "/setup",
        "/~syncd/site.css",
        "/~syncd/search?q=words",
        "/setup.md",
        "/llms.txt",
        f"/{key[:-1]}/setup",
    ):
        closed, never = get(made, made.base + path), get(made, f"/sites/no-such-site{path}")
        assert (closed.status_code, closed.content, closed.headers["content-type"]) == (
            (404, never.content, never.headers["content-type"])
        ), path
        assert {*closed.headers} == {*never.headers}
    check_page(get(made, f"{made.base}/setup"), 404, "Nothing is here")
    assert "Docs" not in get(made, f"{made.base}/setup").text
    spoken = {"Accept-Language": "nl, fr-CH;q=0.9, de;q=0.8"}
    check_page(get(made, f"{made.base}/setup", **spoken), 404, "Il n’y a rien ici")
    assert get(made, f"{made.base}/setup", **spoken).text == get(made, "/sites/nothing/", **spoken).text
    assert get(made, f"{made.base}/{key}/setup").status_code == 200


def test_what_is_no_file_of_a_site_is_said_within_the_site(made: PublishedSiteMaker) -> None:
    for path in ("/~syncd/files/x/y/z/old.pdf", "/~syncd/v/x/pdf", "/~syncd/pdf", "/~syncd/ask?q=x", "/~syncd/nothing"):
        answer = get(made, made.base + path)
        assert (answer.status_code, "<h1>Page not found</h1>" in answer.text) == (404, True), path
        assert f'<a href="{made.base}/">Start page</a>' in answer.text


@pytest.mark.parametrize(
    ("failure", "status", "title"),
    [
        (Failure(503, "Too many wait."), 503, "The site is busy"),
        (sa.exc.OperationalError("", {}, Exception()), 503, "The site is busy"),
        (Failure(413, "Too large."), 413, "This did not work"),
    ],
)
def test_a_failure_is_a_page_for_people_and_json_for_programs(
    made: PublishedSiteMaker, monkeypatch: pytest.MonkeyPatch, failure: Exception, status: int, title: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise failure

    monkeypatch.setattr("syncd.platform.visitors.routes.search_site", fail)
    answer = get(made, f"{made.base}/~syncd/search?q=x")
    check_page(answer, status, title)
    assert "x-ratelimit-limit" in answer.headers
    found = get(made, f"{made.base}/~syncd/search.json?q=x")
    assert (found.status_code, found.json()["error"]["code"]) == (status, status)
