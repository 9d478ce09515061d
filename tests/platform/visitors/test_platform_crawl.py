"""Whatever a visitor who may read all of a site gets to, others read nothing there of what is not for them."""

import html
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from syncd.platform.services.directory.read import import_directory
from tests.platform.services.test_platform_pdf import texts
from tests.platform.visitors.published_site import CLAIM, PublishedSiteMaker, open_published_site, page
from tests.platform.visitors.test_platform_access import Reader

MARK = "kumquat"
"""A word of all that is not for everybody: titles, texts, names of files and addresses."""
UPDATES = (
    '{%% updates %%}\n\n{%% update date="2026-01-01" %%}\n\n## %s\n\nWords.\n\n{%% endupdate %%}\n\n{%% endupdates %%}'
)
STAFF = f"{{%% if {CLAIM} %%}}\n\n%s\n\n{{%% endif %%}}\n"
INCLUDE = '{%% include "%s.md" %%}'
TEXTS = {
    "README.md": "# Home\n\n"
    + "[a](kumquat.md) [b](kumquat/below.md#kumquat-part)\n\n"
    + '{% content-ref url="kumquat.md" %}\nx\n{% endcontent-ref %}\n\n'
    + STAFF % "## Kumquat part\n\n![kumquat](kumquat.png) [f](kumquat.bin)"
    + INCLUDE % ".gitbook/includes/mixed"
    + "\n\n"
    + UPDATES % "Open news"
    + "\n\n"
    + STAFF % (UPDATES % "Kumquat news")
    + f'\n<code class="expression">{CLAIM.replace(" == true", "")} ? "kumquat" : "nothing"</code>\n',
    "kumquat.md": f"---\nif: {CLAIM}\ndescription: About the kumquat\n---\n\n# Kumquat\n\n![k](kumquat-map.png)\n\n"
    + INCLUDE % ".gitbook/includes/closed"
    + "\n\n"
    + UPDATES % "Kumquat update"
    + "\n",
    "kumquat/below.md": "# Kumquat below\n\n## Kumquat part\n\nThe kumquat.\n",
    "loose.md": f"# Loose\n\nWords {{% if {CLAIM} %}}and a kumquat{{% endif %}} here.\n\n| a |\n|---|\n"
    f"| {{% if {CLAIM} %}}kumquat{{% endif %}} |\n\n{INCLUDE % '.gitbook/includes/open'}\n\nThe kumquat behind.\n",
    ".gitbook/includes/open.md": f"{{% if {CLAIM} %}}\n\nThe kumquat, [open](kumquat.bin).\n",
    "unread.md": f"---\nif: {CLAIM}\ncover: [kumquat\n---\n\n# Unread\n\nThe kumquat.\n",
    "unclosed.md": f"---\nif: {CLAIM}\n\n# Unclosed\n\nThe kumquat.\n",
    "late.md": f"\n---\nif: {CLAIM}\n---\n\n# Late\n\nThe kumquat.\n",
    "quiet.md": "---\nhidden: true\n---\n\n# Quiet\n\nPapaya.\n",
    ".gitbook/includes/mixed.md": "Persimmon.\n\n" + STAFF % "The kumquat, included.",
    ".gitbook/includes/closed.md": "The kumquat, kept.\n",
    "SUMMARY.md": "# Table of contents\n\n* [Home](README.md)\n* [Kumquat](kumquat.md)\n"
    "  * [Kumquat below](kumquat/below.md)\n* [Quiet](quiet.md)\n* [Loose](loose.md)\n* [Unread](unread.md)\n"
    "* [Unclosed](unclosed.md)\n* [Late](late.md)\n",
}
SEARCHES = ("kumquat", "words", "persimmon kumquat", "nothing")
MACHINE_FILES = ("llms.txt", "llms-full.txt", "sitemap.xml", "sitemap-1.xml", "robots.txt")


@pytest.fixture
def made(tmp_path: Path) -> Iterator[PublishedSiteMaker]:
    source = tmp_path / "source"
    for name, text in TEXTS.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    for name in ("kumquat.png", "kumquat.bin", "kumquat-map.png"):
        (source / name).write_bytes(f"{MARK} {name}".encode())
    with open_published_site(tmp_path / "platform") as made:
        world = made.world
        space = import_directory(world.storage, source, organization=world.organization, title="Fruit").space
        body = {"spaceId": space, "sectionId": made.sections[0]}
        world.made("addSpaceToSite", made.path, body=body)
        closed = world.space("Kumquat space", changes=[page("Kumquat home", "The kumquat.")])["id"]
        variant = world.made("addSpaceToSite", made.path, body={"spaceId": closed, "sectionId": made.sections[0]})["id"]
        at = made.path | {"siteSpaceId": variant}
        world.made("updateSiteSpaceById", at, body={"path": "kumquat-variant", "condition": CLAIM})
        target = {"kind": "site-space", "siteSpaceId": variant}
        world.made("createSiteRedirect", made.path, body={"source": "/way", "destination": target})
        world.change_request(space, changes=[page("Draft", "The kumquat, proposed.")])
        yield made


def find_addresses(base: str, text: str) -> set[str]:
    """Given a page of a site, return the addresses of the site on it, below the site."""
    found = re.findall(r'(?:href|src|action|data-scope|data-files|data-search)="([^"#]*)', html.unescape(text))
    found += re.findall(rf"\((?:http://platform)?({re.escape(base)}/[^)\s#]*)\)", text)
    found += re.findall(rf"<loc>http://platform({re.escape(base)}/[^<]*)</loc>", text)
    return {one.removeprefix(base) for one in found if one.startswith(f"{base}/")}


def read_text(answer: httpx.Response) -> str:
    """Return what an answer says: the words of a PDF, or its text and where it leads."""
    is_pdf = answer.headers.get("content-type") == "application/pdf"
    return texts(answer.content) if is_pdf else answer.text + answer.headers.get("location", "")


def crawl(reader: Reader) -> dict[str, str]:
    """Return what a visitor reads at every address that leads on from the first page."""
    pending = ["/", "/way", *(f"/{file}" for file in MACHINE_FILES)]
    pending += [f"/~syncd/search{end}?q={words}" for words in SEARCHES for end in ("", ".json")]
    read: dict[str, str] = {}
    while pending:
        path = pending.pop()
        if path in read:
            continue
        answer = reader.get(path)
        read[path] = read_text(answer)
        location = answer.headers.get("location", "").partition("platform")
        pending += find_addresses(reader.base, f'href="{location[2] or location[0]}"')
        if answer.status_code == 200 and not path.endswith((".css", ".js")):
            pending += find_addresses(reader.base, answer.text)
            if "/~syncd/v/" in path:
                pending += [path.rpartition("/")[0] + f"/{file}" for file in ("contents", "contents.json", "theme.css")]
            if answer.headers["content-type"].startswith("text/html") and "~syncd" not in path:
                pending += [f"{path.rstrip('/')}.md", f"{path.rstrip('/')}/rss.xml"]
    return read


@pytest.mark.long
@pytest.mark.parametrize("visibility", ["public", "share-link", "visitor-auth"])
def test_nothing_of_what_is_for_others_is_read_anywhere(made: PublishedSiteMaker, visibility: str) -> None:
    made.world.made("updateSiteById", made.path, body={"visibility": visibility})
    key = made.add_share_link() if visibility == "share-link" else ""
    staff = crawl(Reader(made, made.sign(isStaff=True), key))
    told = {path for path, text in staff.items() if MARK in text.casefold()}
    ways = (
        "/llms.txt",
        "/llms-full.txt",
        "/~syncd/search?q=kumquat",
        ".md",
        ".bin",
        ".png",
        "/rss.xml",
        "/pdf",
        "contents.json",
    )
    for way in ways:
        assert any(path.endswith(way) or path == way for path in told), way
    assert not [path for path, text in staff.items() if "proposed" in text or "The kumquat behind" in text]
    assert any(path.endswith("/loose.md") for path in staff)
    for token in ("", made.sign(isStaff=False)):
        reader = Reader(made, token, key)
        own = crawl(reader)
        for path in {*staff, *own}:
            text = own[path] if path in own else read_text(reader.get(path))
            # What was asked for stands on the page that answers.
            asked = path.partition("?q=")[2]
            named = path.rpartition("/")[2].partition(".")[0].replace("-", " ")
            for one in filter(None, (asked, named, quote(named))):
                text = text.replace(one, "")
            assert MARK not in text.casefold(), (token[-6:], path)
