"""`syncd preview` over HTTP: what a reader sees, what a save changes, and what a hostile repository does not get."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.checkouts import git, plant
from tests.forked import start_syncd

pytestmark = pytest.mark.story

GOOD = {
    "SUMMARY.md": "# Table of contents\n\n* [Home](README.md)\n\n## Learn\n\n* [Use](use.md)\n",
    "README.md": "# Home\n\nSee [use](use.md) and ![a picture](.gitbook/assets/a.png).\n",
    "use.md": "---\ndescription: How it works.\n---\n\n# Use\n\nLike this.\n\n## In depth\n\nMore.\n",
    ".gitbook/assets/a.png": "not really",
}
HOSTILE = {
    "SUMMARY.md": GOOD["SUMMARY.md"] + "* [Bad](bad.md)\n* [Link](link.md)\n* [Deep](deep/secret.md)\n",
    "bad.md": "# Bad\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1))\n",
    ".gitbook/assets/a.svg": "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
    ".gitbook/assets/a.html": "<script>alert(1)</script>",
}
SITE = """
version: 1
site: { org: ORG, id: SITE }
settings: { title: Our docs }
spaces: { home: SPACE-1, guides: SPACE-2 }
structure:
  items:
    - section: home
      title: Start
      path: home
      default: true
      variants: [{ variant: en, space: home, path: en, default: true }]
    - section: guides
      title: Guides
      path: guides
      variants: [{ variant: en, space: guides, path: en, default: true }]
redirects:
  - { from: /old, to: { page: use, in: guides/en } }
  - { from: /away, to: { url: "https://example.org/there" } }
customization:
  site:
    styling: { primaryColor: { light: "#112233", dark: "#ddeeff" } }
    internationalization: { locale: de }
"""


class Browser:
    """Asks one preview."""

    def __init__(self, address: str) -> None:
        self.host = urlsplit(address).netloc

    def ask(self, target: str, **headers: str) -> tuple[HTTPResponse, str]:
        connection = HTTPConnection(self.host, timeout=60)
        connection.request("GET", target, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        body = answer.read().decode(errors="replace")
        connection.close()
        return answer, body

    def read_page(self, target: str) -> str:
        answer, body = self.ask(target)
        assert answer.status == 200, body
        return body

    @contextmanager
    def follow(self, seen: str) -> Iterator[Iterator[str]]:
        """The versions that the event stream tells, from the one after `seen`."""
        connection = HTTPConnection(self.host, timeout=60)
        connection.request("GET", f"/~syncd/events?seen={seen}")
        answer = connection.getresponse()
        assert answer.getheader("Content-Type") == "text/event-stream"
        try:
            yield (line[6:].strip().decode() for line in iter(answer.readline, b"") if line.startswith(b"data: "))
        finally:
            connection.close()

    def read_when(self, target: str, words: str) -> str:
        """A page as soon as it has some words."""
        with self.follow("") as versions:
            for _ in versions:
                if words in (page := self.read_page(target)):
                    return page
        raise AssertionError(f"{target} never had {words!r}")


def commit_all(directory: Path) -> Path:
    if not (directory / ".git").exists():
        git(directory, "init", "--quiet", "--initial-branch=main")
    git(directory, "add", "--all")
    git(directory, "commit", "--quiet", "--message", "Change")
    return directory


@contextmanager
def preview(directory: Path, *words: str) -> Iterator[Browser]:
    with start_syncd("preview", directory, "--json", *words, cwd=directory, pipes=["stdout", "stderr"]) as process:
        try:
            assert process.stdout is not None
            text = ""
            for line in process.stdout:
                text += line
                if line == "}\n":
                    break
            yield Browser(json.loads(text)["address"])
        finally:
            process.terminate()
        assert process.wait(60) == 0


def test_a_directory_is_shown_as_readers_will_see_it(tmp_path: Path) -> None:
    with preview(plant(tmp_path, GOOD)) as browser:
        home = browser.read_page("/")
        assert "<h1>Home</h1>" in home
        assert 'href="/learn/use"' in home
        assert 'src="/~syncd/files/0/.gitbook/assets/a.png"' in home
        page = browser.read_page("/learn/use")
        assert "How it works." in page
        assert 'id="in-depth"' in page
        answer, lost = browser.ask("/no/use")
        assert (answer.status, "Page not found" in lost) == (404, True)
        assert '<a href="/">Start page</a>' in lost
        assert '<a href="/~syncd/spaces/0/contents?q=use" rel="nofollow">Search for “use”</a>' in lost
        index = json.loads(browser.read_page("/~syncd/spaces/0/search.json"))
        assert [row[:2] for row in index] == [["Home", "/"], ["Use", "/learn/use"]]
        assert "Use" in browser.read_page("/~syncd/spaces/0/contents?q=us")
        assert json.loads(browser.read_page("/~syncd/spaces/0/contents.json"))[1] == ["g", "Learn", "", -1]


def find_words(browser: Browser, scope: str) -> dict[str, list[int]]:
    """All words of a space, each with the numbers of its pages."""
    firsts = json.loads(browser.read_page(f"{scope}/words.json"))
    files = [json.loads(browser.read_page(f"{scope}/words-{number}.json")) for number in range(len(firsts))]
    return {word: pages for file in files for word, pages in file.items()}


def test_every_word_of_a_page_is_found_as_it_was_saved(tmp_path: Path) -> None:
    scope, far = "/~syncd/spaces/0", "Words. " * 500
    plant(tmp_path, {**GOOD, "use.md": f"# Use\n\n{far}\n\n```sh\ncherimoya --ripe\n```\n"})
    with preview(tmp_path) as browser:
        assert " data-words " in browser.read_page("/")
        words = find_words(browser, scope)
        assert (words["cherimoya"], "feijoa" in words) == ([1], False)
        (tmp_path / "use.md").write_text(f"# Use\n\n{far}\n\nA feijoa.\n")
        browser.read_when(f"{scope}/words-0.json", "feijoa")
        words = find_words(browser, scope)
        assert (words["feijoa"], "cherimoya" in words) == ([1], False)
        assert browser.ask(f"{scope}/words-9.json")[0].status == 404


def test_a_site_of_several_spaces_is_searched_as_a_whole(tmp_path: Path) -> None:
    files = {"home/SUMMARY.md": "# Summary\n\n* [Welcome](README.md)\n", "home/README.md": "# Welcome\n"}
    files |= {"site.yaml": SITE, "guides/README.md": "# Guide\n\nA pomelo.\n"}
    files |= {"guides/use.md": "# Use\n", "guides/SUMMARY.md": "# Summary\n\n* [Guide](README.md)\n* [Use](use.md)\n"}
    with preview(plant(tmp_path, files)) as browser:
        assert " data-others " in browser.read_page("/")
        index = json.loads(browser.read_page("/~syncd/search/index.json"))
        assert index == [[[0, 1, "Start"], [1, 2, "Guides"]], ["a"]]
        assert json.loads(browser.read_page("/~syncd/search/words-0.json"))["pomelo"] == [1 * 3 + 2]
        assert json.loads(browser.read_page("/~syncd/search/pages-0.json"))[1][:2] == ["Guide", "/guides"]
        (tmp_path / "guides/README.md").write_text("# Guide\n\nOne feijoa.\n")
        browser.read_when("/~syncd/search/words-0.json", "feijoa")
        assert browser.ask("/~syncd/search/pages-9.json")[0].status == 404


def test_a_preview_begins_with_what_the_repository_has(tmp_path: Path) -> None:
    files = {
        "site.yaml": SITE,
        "guides/README.md": "# Guide\n",
        "guides/SUMMARY.md": "# Summary\n\n* [Guide](README.md)\n",
    }
    with preview(plant(tmp_path, files)) as browser:
        answer, _ = browser.ask("/")
        assert (answer.status, answer.getheader("Location")) == (302, "/guides")
        assert 'href=""' not in browser.read_page("/guides")


def test_of_a_large_space_the_first_words_are_searched(tmp_path: Path) -> None:
    names = [f"p{number}" for number in range(1_000)]
    pages = {f"{name}.md": f"# {name}\n\nFirst.\n\n{'Words. ' * 500}cherimoya\n" for name in names}
    plant(tmp_path, {**pages, "SUMMARY.md": "# Summary\n\n" + "".join(f"* [{name}]({name}.md)\n" for name in names)})
    with preview(tmp_path) as browser:
        assert " data-words " not in browser.read_page("/")
        assert "First." in json.loads(browser.read_page("/~syncd/spaces/0/search.json"))[0][4]
        assert json.loads(browser.read_page("/~syncd/spaces/0/words.json")) == []
        listed = "# Summary\n\n" + "".join(f"* [{name}]({name}.md)\n" for name in names[1:])
        (tmp_path / "anew").write_text(listed)
        (tmp_path / "anew").replace(tmp_path / "SUMMARY.md")  # at once, since an empty one is a small space as well
        browser.read_when("/", " data-words ")
        assert len(find_words(browser, "/~syncd/spaces/0")["cherimoya"]) == 999


def test_a_save_is_shown_with_what_is_wrong(tmp_path: Path) -> None:
    plant(tmp_path, GOOD)
    with preview(tmp_path) as browser:
        browser.read_when("/learn/use", "Nothing to mend")
        (tmp_path / "use.md").write_text("# Use\n\nFirst.\n\nSee [there](gone.md).\n\nLast.\n")
        page = browser.read_when("/learn/use", "there is no file at")
        assert page.index("First.") < page.index("See ") < page.index("there is no file at") < page.index("Last.")
        assert "1 error" in browser.read_when("/", "1 error")
        plant(tmp_path, {"gone.md": "# Found\n\nWords.\n"})
        (tmp_path / "SUMMARY.md").write_text(GOOD["SUMMARY.md"] + "* [Found](gone.md)\n")
        page = browser.read_when("/learn/use", "Nothing to mend")
        assert 'href="/learn/gone"' in page
        (tmp_path / "SUMMARY.md").write_text("no table of contents")
        assert "summary-invalid" in browser.read_when("/~syncd/problems", "summary-invalid")


def test_the_structure_redirects_and_looks_of_a_site_file_hold(tmp_path: Path) -> None:
    for name in ("home", "guides"):
        redirects = "redirects:\n  before: use.md\n  earlier: use.md#in-depth\n"
        plant(tmp_path / name, {**GOOD, ".gitbook.yaml": redirects})
    plant(tmp_path, {"site.yaml": SITE})
    with preview(commit_all(tmp_path)) as browser:
        home = browser.read_page("/")
        assert ">Our docs<" in home
        assert 'href="/guides" aria-current' not in home
        assert ">Guides</a>" in home
        assert "How it works." in browser.read_page("/guides/learn/use")
        for source, target in (("before", "/guides/learn/use"), ("earlier", "/guides/learn/use#in-depth")):
            answer, _ = browser.ask(f"/guides/{source}")
            assert (answer.status, answer.getheader("Location")) == (302, target)
        assert "--primary:#112233" in browser.read_page("/~syncd/spaces/0/theme.css")
        assert "<h1>Seite nicht gefunden</h1>" in browser.ask("/nowhere")[1]
        assert "<h1>Alle Seiten</h1>" in browser.read_page("/~syncd/spaces/0/contents")
        answer, page = browser.ask("/away")
        assert (answer.status, answer.getheader("Location")) == (200, None)
        assert 'href="https://example.org/there"' in page
        (tmp_path / "site.yaml").write_text(SITE.replace("page: use", "page: learn/use").replace("Our docs", "Better"))
        browser.read_when("/", ">Better<")
        answer, _ = browser.ask("/old")
        assert (answer.status, answer.getheader("Location")) == (302, "/guides/learn/use")
        (tmp_path / "site.yaml").write_text("version: [")
        assert "site file is not followed" in browser.read_when("/", "site file is not followed")


def test_what_is_on_the_platform_is_known_from_git(tmp_path: Path) -> None:
    commit_all(plant(tmp_path, GOOD))
    git(tmp_path, "update-ref", "refs/remotes/platform/main", "HEAD")
    with preview(tmp_path) as browser:
        browser.read_when("/", "nothing differs from platform/main")
        (tmp_path / "use.md").write_text("# Use\n\nNew words.\n")
        assert "This page differs from the platform" in browser.read_when("/learn/use", "1 file differs")
        assert "This page is on the platform" in browser.read_page("/")
        assert "use.md</a>: changed" in browser.read_page("/~syncd/changes")
        git(tmp_path, "commit", "--quiet", "--all", "--message", "Change")
        git(tmp_path, "update-ref", "refs/remotes/platform/main", "HEAD")
        browser.read_when("/", "nothing differs from platform/main")


def test_a_change_request_or_a_branch_is_shown_as_git_has_it(tmp_path: Path) -> None:
    commit_all(plant(tmp_path, GOOD))
    git(tmp_path, "switch", "--quiet", "--create", "other")
    (tmp_path / "use.md").write_text("# Use\n\nIn a request.\n")
    commit_all(tmp_path)
    git(tmp_path, "update-ref", "refs/remotes/platform/changes/docs/12", "HEAD")
    git(tmp_path, "switch", "--quiet", "main")
    with preview(tmp_path, "--change-request", "12") as browser:
        page = browser.read_page("/learn/use")
        assert "In a request." in page
        assert "change request docs/12" in page
    with preview(tmp_path, "--branch", "other") as browser:
        assert "In a request." in browser.read_page("/learn/use")
        git(tmp_path, "switch", "--quiet", "other")
        (tmp_path / "use.md").write_text("# Use\n\nMoved on.\n")
        commit_all(tmp_path)
        assert "Moved on." in browser.read_when("/learn/use", "Moved on.")


def test_a_hostile_repository_gets_nothing(tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("# Secret\n\nof the owner\n")
    docs = plant(tmp_path / "docs", {**GOOD, **HOSTILE})
    (docs / "link.md").symlink_to(secret)
    (docs / "deep").symlink_to(tmp_path)
    (docs / ".gitbook/assets/link.png").symlink_to(secret)
    commit_all(docs)
    with preview(docs) as browser:
        for target in (
            *("/../secret.md", "/%2e%2e/secret.md", "/..%2fsecret.md", "/~syncd/files/0/../../secret.md"),
            *("/~syncd/files/0/%2e%2e/secret.md", "/~syncd/files/0/..%2f..%2fsecret.md", "/~syncd/files/0//etc/passwd"),
            *("/~syncd/files/0/.git/config", "/~syncd/files/0/.git%2fconfig", "/.git/config", "/~syncd/files/9/use.md"),
            *("/~syncd/files/0/link.md", "/~syncd/files/0/deep/secret.md", "/~syncd/files/0/.gitbook/assets/link.png"),
            *(
                "/~syncd/../rendering.py",
                "/~syncd/__init__.py",
                "/learn/link",
                "/learn/deep/secret",
                "/~syncd/files/0/%00",
            ),
        ):
            answer, body = browser.ask(target)
            assert answer.status in (400, 404), target
            assert "of the owner" not in body
            assert "[core]" not in body
        bad = browser.read_page("/learn/bad")
        assert "<script>alert" not in bad
        assert '="javascript:' not in bad
        answer, _ = browser.ask("/~syncd/files/0/.gitbook/assets/a.svg")
        assert answer.getheader("Content-Type") == "image/svg+xml"
        assert "sandbox" in (answer.getheader("Content-Security-Policy") or "")
        answer, _ = browser.ask("/~syncd/files/0/.gitbook/assets/a.html")
        assert answer.getheader("Content-Type") == "application/octet-stream"
        assert answer.getheader("X-Content-Type-Options") == "nosniff"
        assert answer.getheader("Content-Disposition") == "attachment"
        assert browser.ask("/", Host="evil.test")[0].status == 421
