"""Who may read what: every way to read a site gives the same answer for each visibility, visitor and condition."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

from tests.platform.visitors.published_site import CLAIM, PublishedSiteMaker, open_published_site, page

SECRET = "vault"
FOR_STAFF = "\n".join(["Everybody.", "", f"{{% if {CLAIM} %}}", "The handshake.", "", "{% endif %}", "", "After."])
UPDATE = '{%% update date="2026-01-01" %%}\n\n## %s\n\nWords.\n\n{%% endupdate %%}'
NEWS = "\n\n".join(
    [
        *("{% updates %}", UPDATE % "Sails", "{% endupdates %}", f"{{% if {CLAIM} %}}"),
        *("{% updates %}", UPDATE % "Cannons", "{% endupdates %}", "{% endif %}"),
    ]
)
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="  # one pixel


def add_pages_for_staff(made: PublishedSiteMaker) -> None:
    staff = page("Staff page", "The canteen plan.")
    staff["document"]["markdown"] = f"---\nif: {CLAIM}\n---\n\n" + staff["document"]["markdown"]
    made.world.write(made.guides, [page("Mixed", FOR_STAFF), staff, page("News", NEWS)])


@pytest.fixture
def made(tmp_path: Path) -> Iterator[PublishedSiteMaker]:
    with open_published_site(tmp_path / "platform", add_pages_for_staff) as made:
        yield made


class Reader:
    """Somebody who reads a site over HTTP, with or without a visitor's token and the key of a share link."""

    def __init__(self, made: PublishedSiteMaker, token: str = "", key: str = "") -> None:
        self.base = f"{made.base}/{key}".rstrip("/")
        self.client = made.world.target.client
        self.cookies = {"syncd-visitor": token} if token else {}

    def get(self, path: str, **headers: str) -> httpx.Response:
        self.client.cookies.clear()
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        return self.client.get(self.base + path, headers=headers | ({"Cookie": cookie} if cookie else {}))


VISIBILITIES = ("public", "unlisted", "share-link", "visitor-auth")
TOKENS: dict[str, Callable[[PublishedSiteMaker], str]] = {
    "none": lambda made: "",
    "known": lambda made: made.sign(),
    "staff": lambda made: made.sign(isStaff=True),
    "forged": lambda made: made.sign(isStaff=True)[:-6] + "AAAAAA",
}
WAYS = {
    "page": "/setup",
    "markdown": "/setup.md",
    "llms": "/llms.txt",
    "llms-full": "/llms-full.txt",
    "sitemap": "/sitemap.xml",
    "robots": "/robots.txt",
    "missing": "/no-such-page",
    "root": "/",
    "feed": "/news/rss.xml",
    "search": "/~syncd/search?q=words",
    "search as JSON": "/~syncd/search.json?q=words",
}
STAFF_WAYS = {
    "internal page": ("/internal", SECRET),
    "internal markdown": ("/internal/secrets.md", SECRET),
    "condition in a page": ("/mixed", "handshake"),
    "condition in markdown": ("/mixed.md", "handshake"),
    "condition in all words": ("/llms-full.txt", "handshake"),
    "internal in all words": ("/llms-full.txt", SECRET),
    "internal in the list": ("/llms.txt", "Secrets"),
    "section in the menu": ("/setup", ">Internal<"),
    "page of staff": ("/staff-page", "canteen"),
    "page of staff as markdown": ("/staff-page.md", "canteen"),
    "page of staff in the list": ("/llms.txt", "Staff page"),
    "page of staff in the contents": ("/setup", "Staff page"),
    "condition in a feed": ("/news/rss.xml", "Cannons"),
    "search for the internal": ("/~syncd/search?q=vault", "behind the clock"),
    "search for the internal as JSON": ("/~syncd/search.json?q=vault", "behind the clock"),
    "search for a page of staff": ("/~syncd/search?q=canteen", "Staff page"),
    "search for a condition in a page": ("/~syncd/search?q=handshake", 'class="found"'),
    "search for more than a condition": ("/~syncd/search.json?q=everybody+handshake", "Mixed"),
}


@pytest.mark.parametrize("visibility", VISIBILITIES)
@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize("link", ["no link", "active link", "link turned off"])
def test_every_way_to_read_is_open_to_the_same_visitors(
    made: PublishedSiteMaker, visibility: str, token: str, link: str
) -> None:
    made.world.made("updateSiteById", made.path, body={"visibility": visibility})
    key = ""
    if link != "no link" and visibility == "share-link":
        key = made.add_share_link()
        if link == "link turned off":
            at = made.path | {"shareLinkId": made.world.made("listSiteShareLinks", made.path)["items"][0]["id"]}
            made.world.made("updateSiteShareLinkById", at, body={"active": False})
    reader = Reader(made, TOKENS[token](made), key)
    is_open = {
        "public": True,
        "unlisted": True,
        "share-link": link == "active link",
        "visitor-auth": token in ("known", "staff"),
    }[visibility]
    for way, path in WAYS.items():
        answer = reader.get(path)
        if not is_open:
            assert answer.status_code == (401 if visibility == "visitor-auth" else 404), way
            assert "Setup" not in answer.text
            continue
        assert answer.status_code == (404 if way == "missing" else 200), way
        is_shared = answer.headers["cache-control"].startswith("public")
        assert is_shared is (visibility in ("public", "unlisted") and token != "staff"), way
    if is_open:
        indexed = visibility == "public"
        assert ("noindex" in reader.get("/setup").text) is not indexed
        assert ("Disallow: /" in reader.get("/robots.txt").text) is not indexed
        assert ("<loc>" in reader.get("/sitemap.xml").text) is indexed
    is_staff = is_open and token == "staff"
    for way, (path, words) in STAFF_WAYS.items():
        assert (words in reader.get(path).text) is is_staff, way


def test_conditions_hide_where_nothing_is_known_of_visitors(made: PublishedSiteMaker) -> None:
    made.world.made("updateSiteById", made.path, body={"adaptiveContent": {"enabled": False}})
    reader = Reader(made, made.sign(isStaff=True))
    for way, (path, words) in STAFF_WAYS.items():
        assert words not in reader.get(path).text, way


def test_a_page_too_large_for_nodes_is_hidden_when_it_has_conditions(made: PublishedSiteMaker) -> None:
    part = f"{{% if {CLAIM} %}}\n\nThe codeword.\n\n{{% endif %}}\n\n"
    made.world.write(made.guides, [page("Big", part + "*a* " * 60_000), page("Large", "*b* " * 60_000)])
    reader = Reader(made)
    for path in ("/big", "/big.md", "/llms-full.txt", "/~syncd/search.json?q=codeword"):
        assert "The codeword" not in reader.get(path).text
    assert "*b*" in reader.get("/large.md").text
    token, at = made.look_up("/").json()["apiToken"], {"spaceId": made.guides}
    for operation in ("getPageByPath", "getPageDocumentInRevisionById"):
        revision = made.world.made("getCurrentRevision", at, by=token)
        [big] = [one for one in revision["pages"] if one["title"] == "Big"]
        named = at | {"pagePath": big["path"], "pageId": big["id"], "revisionId": revision["id"]}
        assert "The codeword" not in str(made.world.made(operation, named, query={"format": "document"}, by=token))


def find_scope(text: str) -> str:
    found = re.search(r'data-scope="[^"]*(/~syncd/v/[^"]+)"', text)
    assert found
    return found[1]


def test_what_belongs_to_a_site_space_is_for_those_who_see_it(made: PublishedSiteMaker) -> None:
    staff, anybody = Reader(made, made.sign(isStaff=True)), Reader(made)
    scope = find_scope(staff.get("/internal").text)
    for file in ("theme.css", "contents.json", "contents"):
        assert staff.get(f"{scope}/{file}").status_code == 200
        assert anybody.get(f"{scope}/{file}").status_code == 404
    own = find_scope(anybody.get("/").text)
    for file in ("contents.json", "contents"):
        answer = anybody.get(f"{own}/{file}")
        assert answer.status_code == 200
        assert "Staff page" not in answer.text
        assert "handshake" not in answer.text
    assert "Everybody" in anybody.get("/~syncd/search.json?q=everybody").text


def test_a_file_is_for_those_who_see_its_site_space(made: PublishedSiteMaker) -> None:
    image = {"operation": "insert_files", "files": [{"name": "plan.png", "contentType": "image/png", "base64": PNG}]}
    request = made.world.change_request(made.internal, changes=[image])
    made.world.made("mergeChangeRequest", {"spaceId": made.internal, "changeRequestId": request["id"]})
    text = "![Plan](.gitbook/assets/plan.png)"
    files = made.world.made("listFiles", {"spaceId": made.internal})["items"]
    made.world.write(
        made.internal, [page("Plan", text.replace(".gitbook/assets/plan.png", f"/files/{files[0]['id']}"))]
    )
    staff, anybody = Reader(made, made.sign(isStaff=True)), Reader(made)
    found = re.search(r'src="([^"]*/~syncd/files/[^"]+)"', staff.get("/internal/plan").text)
    assert found
    path = found[1].removeprefix(made.base)
    answer = staff.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png")
    assert "sandbox" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"].startswith("private")
    assert anybody.get(path).status_code == 404


def test_a_file_of_a_page_for_others_is_not_read_by_its_address(made: PublishedSiteMaker) -> None:
    image = {"operation": "insert_files", "files": [{"name": "plan.png", "contentType": "image/png", "base64": PNG}]}
    request = made.world.change_request(made.guides, changes=[image])
    made.world.made("mergeChangeRequest", {"spaceId": made.guides, "changeRequestId": request["id"]})
    [file] = made.world.made("listFiles", {"spaceId": made.guides})["items"]
    text = f"{{% if {CLAIM} %}}\n\n![Plan](/files/{file['id']})\n\n{{% endif %}}"
    made.world.write(made.guides, [page("Plan", text)])
    staff, anybody = Reader(made, made.sign(isStaff=True)), Reader(made)
    found = re.search(r'src="([^"]*/~syncd/files/[^"]+)"', staff.get("/plan").text)
    assert found
    path = found[1].removeprefix(made.base)
    assert staff.get(path).status_code == 200
    assert anybody.get(path).status_code == 404
    made.world.write(made.guides, [page("Open", f"![Plan](/files/{file['id']})")])
    assert anybody.get(path).status_code == 200


def test_a_change_request_is_not_published(made: PublishedSiteMaker) -> None:
    request = made.world.change_request(made.guides, changes=[page("Draft", "Unfinished.")])
    for reader in (Reader(made), Reader(made, made.sign(isStaff=True))):
        for path in ("/draft", "/draft.md", "/llms-full.txt", f"/~/changes/{request['id']}/draft"):
            assert "Unfinished" not in reader.get(path).text


def test_a_token_in_an_address_becomes_a_cookie_of_the_site(made: PublishedSiteMaker) -> None:
    token = made.sign(isStaff=True)
    answer = Reader(made).get(f"/internal?jwt_token={token}&x=1")
    assert (answer.status_code, answer.headers["location"]) == (303, f"{made.base}/internal?x=1")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"syncd-visitor={token};")
    assert all(part in cookie for part in ("HttpOnly", f"Path={made.base}", "SameSite=lax"))
    assert answer.headers["cache-control"] == "no-store"


def test_a_token_that_does_not_count_sends_nobody_back_and_forth(made: PublishedSiteMaker) -> None:
    made.world.made("updateSiteById", made.path, body={"visibility": "visitor-auth"})
    fallback = {"fallbackURL": "https://example.com/login"}
    made.world.made("updateSitePublishingAuthById", made.path, body=fallback)
    token = made.sign()
    made.world.made("regenerateSitePublishingAuthById", made.path)
    assert Reader(made, token).get("/setup").headers["location"].startswith("https://example.com/login")
    answer = Reader(made).get(f"/setup?jwt_token={token}")
    assert answer.status_code == 401
    assert "This link does not let you in" in answer.text
    assert "set-cookie" not in answer.headers
    assert Reader(made).get(f"/setup?jwt_token={made.sign()}").status_code == 303


def test_what_nobody_signed_counts_only_where_the_schema_names_it(made: PublishedSiteMaker) -> None:
    text = "{% if visitor.claims.unsigned.isBeta == true %}\n\nBeta words.\n\n{% endif %}"
    made.world.write(made.guides, [page("Beta", text)])
    answer = Reader(made).get("/beta?visitor.isBeta=true&visitor.isStaff=true")
    assert answer.status_code == 303
    reader = Reader(made)
    reader.cookies = dict([answer.headers["set-cookie"].partition(";")[0].split("=", 1)])
    assert "Beta words" in reader.get("/beta").text
    assert "Beta words" not in Reader(made).get("/beta").text
    assert SECRET not in reader.get("/internal").text


@pytest.mark.parametrize("claim", ["[" * 2000, "9" * 400, "1e999", "NaN", "-Infinity", '"a', "null"])
def test_whatever_a_link_claims_the_site_is_still_there(made: PublishedSiteMaker, claim: str) -> None:
    """A link puts its claims into a cookie, which every later page of the site gets."""
    answer = Reader(made).get("/setup?" + urlencode({"visitor.isBeta": claim}))
    reader = Reader(made)
    reader.cookies = {name: value.strip('"') for name, value in answer.cookies.items()}
    assert (answer.status_code, set(reader.cookies)) == (303, {"syncd-visitor-claims"})
    assert reader.get("/setup").status_code == 200


def test_visitors_without_a_token_are_sent_where_the_owner_says(made: PublishedSiteMaker) -> None:
    made.world.made("updateSiteById", made.path, body={"visibility": "visitor-auth"})
    made.world.made("updateSitePublishingAuthById", made.path, body={"fallbackURL": "https://example.com/in?a=b"})
    answer = Reader(made).get("/setup")
    assert (answer.status_code, answer.headers["location"]) == (302, "https://example.com/in?a=b&location=%2Fsetup")


HOSTILE: dict[str, Any] = {
    "script": "<script>alert(1)</script>",
    "handler": '<img src="x" onerror="alert(1)">',
    "address": "[go](javascript:alert(1))",
    "frame": '<iframe src="https://example.com"></iframe>',
    "svg": "<svg onload=alert(1)><script>alert(1)</script></svg>",
    "style": '<p style="background:url(javascript:alert(1))">x</p>',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_stored_runs_no_script(made: PublishedSiteMaker, name: str) -> None:
    title = f"Page {name} <script>alert(2)</script>"
    made.world.write(made.guides, [page(title, HOSTILE[name])])
    listed = made.world.made("listPages", {"spaceId": made.guides})["pages"]
    path = next(one["path"] for one in listed if name in one["title"])
    answer = Reader(made).get(f"/{path}")
    assert answer.status_code == 200
    scripts = re.findall(r"<script[^>]*>", answer.text)
    assert scripts == [f'<script src="{made.base}/~syncd/site.js">']
    assert not re.search(r"<[^>]+\son\w+\s*=", answer.text)
    assert not re.search(r'(href|src)="\s*javascript:', answer.text)
    assert "<iframe" not in answer.text
    policy = answer.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
