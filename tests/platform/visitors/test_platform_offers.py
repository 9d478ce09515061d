"""What a published page offers beside its content: its PDF, and a form that asks whether it helped."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

from syncd.platform.visitors.offers import visit_counts
from tests.platform.services.test_platform_pdf import texts
from tests.platform.visitors.published_site import CLAIM, PublishedSiteMaker, open_published_site, page
from tests.platform.visitors.test_platform_access import Reader

OWN = {"Origin": "http://platform", "Sec-Fetch-Site": "same-origin"}


def add_pages(made: PublishedSiteMaker) -> None:
    staff = page("Staff page", "The canteen plan.")
    staff["document"]["markdown"] = f"---\nif: {CLAIM}\n---\n\n" + staff["document"]["markdown"]
    mixed = f"Everybody.\n\n{{% if {CLAIM} %}}\n\nThe handshake.\n\n{{% endif %}}"
    made.world.write(made.guides, [page("Mixed", mixed), staff, page("Attic", "Old chairs.", hidden=True)])


@pytest.fixture
def made(tmp_path: Path) -> Iterator[PublishedSiteMaker]:
    with open_published_site(tmp_path / "platform", add_pages) as made:
        yield made


def find_address(made: PublishedSiteMaker, text: str, what: str) -> str:
    """Given a page, return the address of its PDF or form, below the site."""
    found = re.search(rf'(?:href|action)="([^"]*/{what}(?:/[^"]*)?)"', text)
    assert found, what
    return found[1].removeprefix(made.base)


def read_pdf(answer: httpx.Response) -> str:
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/pdf"), answer.text[:200]
    return texts(answer.content)


@pytest.mark.long
def test_a_page_has_a_pdf_of_what_its_visitor_reads(made: PublishedSiteMaker) -> None:
    anybody, staff = Reader(made), Reader(made, made.sign(isStaff=True))
    address = find_address(made, anybody.get("/mixed").text, "pdf")
    answer = anybody.get(address)
    assert answer.headers["cache-control"].startswith("public")
    for reader, has_more in ((anybody, False), (staff, True), (anybody, False)):
        text = read_pdf(reader.get(address))
        assert "Everybody." in text
        assert ("handshake" in text) is has_more
        assert "Setup" not in text
    assert staff.get(address).headers["cache-control"].startswith("private")
    own = find_address(made, staff.get("/staff-page").text, "pdf")
    assert "canteen" in read_pdf(staff.get(own))
    assert anybody.get(own).status_code == 404
    assert "Old chairs" in read_pdf(anybody.get(find_address(made, anybody.get("/attic").text, "pdf")))


@pytest.mark.long
def test_all_pages_have_one_pdf_without_what_is_not_listed(made: PublishedSiteMaker) -> None:
    anybody, staff = Reader(made), Reader(made, made.sign(isStaff=True))
    whole = find_address(made, anybody.get("/mixed").text, "pdf").rpartition("/")[0]
    listing = anybody.get(whole.removesuffix("pdf") + "contents").text
    assert f'href="{made.base}{whole}"' in listing
    for reader, has_more in ((anybody, False), (staff, True)):
        text = read_pdf(reader.get(whole))
        assert all(words in text for words in ("Words of Welcome", "Setup", "Everybody"))
        assert "Old chairs" not in text
        assert ("handshake" in text, "canteen" in text) == (has_more, has_more)
    internal = find_address(made, staff.get("/internal").text, "pdf")
    assert "vault" in read_pdf(staff.get(internal))
    for address in (internal, internal.rpartition("/")[0], f"{whole}/nothing", f"{whole}/a/b"):
        assert anybody.get(address).status_code == 404


@pytest.mark.long
def test_the_whole_site_has_a_pdf_of_what_each_section_shows_first(made: PublishedSiteMaker) -> None:
    anybody, staff = Reader(made), Reader(made, made.sign(isStaff=True))
    listing = find_address(made, anybody.get("/mixed").text, "contents")
    # With one section that a visitor sees, the PDF of that one is the whole site's.
    assert "PDF of all pages" in anybody.get(listing).text
    assert "/~syncd/pdf" not in anybody.get(listing).text
    assert anybody.get("/~syncd/pdf").status_code == 404
    assert f'href="{made.base}/~syncd/pdf"' in staff.get(listing).text
    answer = staff.get("/~syncd/pdf")
    assert answer.headers["cache-control"].startswith("private")
    text = read_pdf(answer)
    assert text.index("Words of Welcome") < text.rindex("Internal") < text.index("The vault")
    assert "Older words" not in text
    made.world.made("updateSiteSectionById", made.path | {"siteSectionId": made.sections[1]}, body={"condition": None})
    text = read_pdf(anybody.get("/~syncd/pdf"))
    assert ("vault" in text, "handshake" in text, "canteen" in text) == (True, False, False)
    assert "Docs.pdf" in anybody.get("/~syncd/pdf").headers["content-disposition"]
    customize(made, pdf={"enabled": False})
    assert anybody.get("/~syncd/pdf").status_code == 404


def test_where_the_product_has_a_pdf_leads_to_it(made: PublishedSiteMaker) -> None:
    reader = Reader(made)
    own = find_address(made, reader.get("/mixed").text, "pdf")
    whole, _, mixed = own.rpartition("/")
    listed = made.world.made("getSiteStructure", made.path)["structure"]
    default = next(one["path"] for section in listed for one in section["siteSpaces"] if one.get("default"))
    for asked, address in (
        ("/~gitbook/pdf", whole),
        (f"/~gitbook/pdf?page={mixed}&only=yes&limit=100", own),
        ("/guides/~gitbook/pdf?limit=10", whole),
        (f"/guides/{default}/~gitbook/pdf", whole),
        (f"/{default}/~gitbook/pdf?page={mixed}", own),
    ):
        answer = reader.get(asked)
        assert (answer.status_code, answer.headers["location"]) == (302, made.base + address)
    older = reader.get("/v1/~gitbook/pdf").headers["location"].removeprefix(made.base)
    assert "Older words" in read_pdf(reader.get(older))
    for nothing in (
        "/mixed/~gitbook/pdf",
        f"/guides/{default}/mixed/~gitbook/pdf",
        "/internal/~gitbook/pdf",
        f"/~gitbook/pdf?page={'x' * 200}",
    ):
        assert reader.get(nothing).status_code == 404
    for hostile in ("../../../evil", "//evil.example", "a/b", "%0d%0aSet-Cookie:x"):
        answer = reader.get("/~gitbook/pdf?" + urlencode({"page": hostile}))
        assert answer.headers["location"].startswith(f"{made.base}{whole}/")
        assert reader.get(answer.headers["location"].removeprefix(made.base)).status_code == 404
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("visibility", ["share-link", "visitor-auth"])
def test_a_pdf_is_for_those_who_read_the_site(made: PublishedSiteMaker, visibility: str) -> None:
    address = find_address(made, Reader(made).get("/mixed").text, "pdf")
    made.world.made("updateSiteById", made.path, body={"visibility": visibility})
    assert Reader(made).get(address).status_code == (404 if visibility == "share-link" else 401)
    reader = Reader(made, key=made.add_share_link()) if visibility == "share-link" else Reader(made, made.sign())
    answer = reader.get(address)
    assert "Everybody" in read_pdf(answer)
    assert answer.headers["cache-control"].startswith("private")


def customize(made: PublishedSiteMaker, **members: Any) -> None:
    settings = made.world.made("getSiteCustomizationById", made.path)
    made.world.made("updateSiteCustomizationById", made.path, body=settings | members)


def test_a_site_without_pdf_has_none(made: PublishedSiteMaker) -> None:
    address = find_address(made, Reader(made).get("/mixed").text, "pdf")
    customize(made, pdf={"enabled": False})
    assert "/pdf/" not in Reader(made).get("/mixed").text
    assert Reader(made).get(address).status_code == 404


def rate(made: PublishedSiteMaker, address: str, rating: str = "good", headers: dict[str, str] = OWN) -> httpx.Response:
    client = made.world.target.client
    client.cookies.clear()
    return client.post(made.base + address, data={"rating": rating}, headers=headers)


def test_a_page_asks_whether_it_helped_where_the_site_says_so(made: PublishedSiteMaker) -> None:
    assert "/feedback/" not in Reader(made).get("/mixed").text
    customize(made, feedback={"enabled": True})
    address = find_address(made, Reader(made).get("/mixed").text, "feedback")
    for rating in ("good", "good", "bad"):
        answer = rate(made, address, rating)
        assert (answer.status_code, answer.headers["location"]) == (303, f"{made.base}/mixed")
    listed = made.world.made("listSiteEventCounts", made.path)["items"]
    page_id = address.rpartition("/")[2]
    assert {(one["type"], one["page"], one["detail"], one["count"]) for one in listed} == {
        ("page_post_feedback", page_id, "good", 2),
        ("page_post_feedback", page_id, "bad", 1),
    }


def test_an_answer_of_somebody_else_or_about_nothing_is_not_counted(made: PublishedSiteMaker) -> None:
    customize(made, feedback={"enabled": True})
    staff = Reader(made, made.sign(isStaff=True))
    address, own = (find_address(made, staff.get(path).text, "feedback") for path in ("/mixed", "/staff-page"))
    assert rate(made, own).status_code == 404
    assert rate(made, f"{address}x").status_code == 404
    assert rate(made, "/mixed").status_code == 405
    odd = rate(made, address, "splendid")
    assert (odd.status_code, odd.headers["cache-control"]) == (400, "no-store")
    assert "Your answer was not counted." in odd.text
    assert odd.headers["content-type"].startswith("text/html")
    foreign: tuple[dict[str, str], ...] = (
        {},
        {"Origin": "https://example.com"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "http://platform"},
    )
    for headers in foreign:
        assert rate(made, address, headers=headers).status_code == 403
    customize(made, feedback={"enabled": False})
    assert rate(made, address).status_code == 404
    assert made.world.made("listSiteEventCounts", made.path)["items"] == []


def test_a_question_is_answered_on_a_page_of_the_site(made: PublishedSiteMaker) -> None:
    hidden = f"The lantern is green.\n\n{{% if {CLAIM} %}}\n\nThe lantern was stolen.\n\n{{% endif %}}"
    made.world.write(made.guides, [page("Lantern", hidden), page("<b>Odd</b>", "The buoy <b>is</b> yellow.")])
    anybody, staff = Reader(made), Reader(made, made.sign(isStaff=True))
    lantern, vault = "/~syncd/ask?q=Which+colour+has+the+lantern%3F", "/~syncd/ask?q=Where+is+the+vault%3F"
    assert anybody.get(lantern).status_code == 404
    assert "Ask" not in anybody.get("/~syncd/search?q=lantern").text
    customize(made, ai={"mode": "search"})
    for reader in (anybody, staff):
        text = reader.get(lantern).text
        assert "<h1>Which colour has the lantern?</h1>" in text
        assert "The lantern is green." in text
        # What is below its page's title alone has nothing more to say of where it lies.
        assert f'<li><a href="{made.base}/lantern">Lantern</a></li>' in text
        assert "stolen" not in text
    assert "behind the clock" in staff.get(vault).text
    assert "behind the clock" not in anybody.get(vault).text
    assert "No page of this site answers this." in anybody.get(vault).text
    assert staff.get(vault).headers["cache-control"].startswith("private")
    assert "<b>Odd" not in anybody.get("/~syncd/ask?q=buoy").text
    assert "<script>" not in anybody.get("/~syncd/ask?q=%3Cscript%3Ealert(1)%3C/script%3E").text
    assert anybody.get("/~syncd/ask").status_code == 404
    first = anybody.get("/~syncd/search.json?q=green+lantern").json()[0]
    assert first[:2] == ["Ask: green lantern", f"{made.base}/~syncd/ask?q=green+lantern"]
    made.world.made("updateSiteById", made.path, body={"visibility": "visitor-auth"})
    assert anybody.get(lantern).status_code == 401


def test_a_site_speaks_the_language_of_its_customization(made: PublishedSiteMaker) -> None:
    hint = '{% hint style="info" %}\nThe lantern is green.\n{% endhint %}'
    made.world.write(made.guides, [page("Lantern", hint)])
    customize(made, ai={"mode": "search"}, internationalization={"locale": "de"})
    anybody = Reader(made)
    said = {
        "/lantern": 'aria-label="Hinweis"',
        "/nowhere": "<h1>Seite nicht gefunden</h1>",
        "/~syncd/search?q=lantern": "<h1>Suchen: lantern</h1>",
        "/~syncd/search?q=zzz": '">Fragen: zzz</a><p class="found-path">Nichts gefunden</p>',
        "/~syncd/ask?q=zzz": "Keine Seite beantwortet das.",
    }
    assert {path for path, words in said.items() if words not in anybody.get(path).text} == set()


def test_what_is_counted_already_is_counted_on_when_no_other_event_is(
    made: PublishedSiteMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visit_counts, "_WAITING_MAX", 1)
    target, person = made.world.target, {"Sec-Fetch-Mode": "navigate"}
    target.app.state.visit_counts.write()
    target.client.cookies.clear()
    for path in ("/setup", "/v1", "/setup"):
        assert target.client.get(made.base + path, headers=person).status_code == 200
    target.app.state.visit_counts.write()
    assert [one["count"] for one in made.world.made("listSiteEventCounts", made.path)["items"]] == [2]


def test_what_people_read_search_and_ask_is_counted(made: PublishedSiteMaker) -> None:
    customize(made, ai={"mode": "search"})
    target, person = made.world.target, {"Sec-Fetch-Mode": "navigate"}
    target.client.cookies.clear()
    for path in ("/mixed", "/mixed", "/~syncd/search?q=Green++Lantern", "/~syncd/ask?q=Where+is+it%3F"):
        assert target.client.get(made.base + path, headers=person).status_code == 200
    # Programs, prefetched pages and what is no page are not counted.
    target.client.get(f"{made.base}/mixed")
    target.client.get(f"{made.base}/mixed", headers={**person, "Sec-Purpose": "prefetch"})
    target.client.get(f"{made.base}/nowhere", headers=person)
    assert made.world.made("listSiteEventCounts", made.path)["items"] == []
    target.app.state.visit_counts.write()
    target.app.state.visit_counts.write()
    listed = made.world.made("listSiteEventCounts", made.path)["items"]
    assert sorted((one["type"], one.get("detail", ""), one["count"]) for one in listed) == [
        ("ask_question", "where is it?", 1),
        ("page_view", "", 2),
        ("search_type_query", "green lantern", 1),
    ]
    assert all(one["page"] for one in listed if one["type"] == "page_view")
