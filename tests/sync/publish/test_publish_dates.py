"""The sitemap says when pages last changed in Git: the same for the same commit, however a build came to it."""

import json
import os
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from re import findall

import pytest

from syncd.cli.preview.gather import SourceReader, find_source
from syncd.layout.tree.built_sites import MANIFEST
from syncd.sync.publish.build import BuildOptions, build_site
from syncd.sync.publish.dates import PageTimes, parse_page_times

Commit = Callable[[int, dict[str, str]], None]
BASE = "https://docs.example"


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return tmp_path / "work"


@pytest.fixture
def commit(top: Path) -> Commit:
    """Write files and commit all there is at an hour of one day."""

    def run(*arguments: str, hour: int = 0) -> None:
        when = f"2026-01-02T{hour:02}:30:00+02:00"
        clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        clean |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        names = ("-c", "user.name=T", "-c", "user.email=t@example.com")
        subprocess.run(["git", "-C", str(top), *names, *arguments], check=True, capture_output=True, env=clean)

    def write(hour: int, files: dict[str, str]) -> None:
        for path, text in files.items():
            (top / path).parent.mkdir(parents=True, exist_ok=True)
            (top / path).write_text(text)
        if not (top / ".git").exists():
            run("init", "--quiet", "--initial-branch=main")
        run("add", "--all")
        run("commit", "--quiet", "--allow-empty", "--message=Change", hour=hour)

    return write


def build(source: Path, into: Path, *, ref: str = "", base_url: str = BASE) -> dict[str, str]:
    """Build, and return what the sitemap says of each page."""
    found = find_source(source, branch=ref)
    with ExitStack() as stack:
        build_site(SourceReader(found, stack).gather(), into, BuildOptions(base_url))
    pattern = r"<url><loc>(.*?)</loc>(?:<lastmod>(.*?)</lastmod>)?</url>"
    path = into / "sitemap.xml"
    pages = findall(pattern, path.read_text()) if path.exists() else []
    return {address.removeprefix(BASE): when for address, when in pages}


FILES = {
    "docs/SUMMARY.md": "* [Home](README.md)\n* [A](a.md)\n* [B](b.md)\n",
    "docs/README.md": "# Home\n",
    "docs/a.md": "# A\n",
    "docs/b.md": "# B\n",
    "code.py": "pass\n",
}


def test_pages_have_the_date_of_the_commit_that_changed_them_last(top: Path, commit: Commit, tmp_path: Path) -> None:
    commit(1, FILES)
    commit(2, {"docs/a.md": "# A\n\nMore.\n"})
    commit(3, {"code.py": "print()\n"})
    first, second = "2026-01-01T23:30:00+00:00", "2026-01-02T00:30:00+00:00"
    assert build(top, tmp_path / "site") == {"/": first, "/a/": second, "/b/": first}
    (top / "docs/b.md").write_text("# B\n\nNot committed.\n")
    assert build(top, tmp_path / "site") == {"/": first, "/a/": second, "/b/": ""}
    assert build(top, tmp_path / "branch", ref="main") == {"/": first, "/a/": second, "/b/": first}
    assert build(top / "docs", tmp_path / "inner") == {"/": first, "/a/": second, "/b/": ""}
    assert build(top, tmp_path / "bare", base_url="") == {}
    assert "times" not in json.loads((tmp_path / "bare" / MANIFEST).read_text())


def test_a_build_goes_on_from_the_last_one_and_comes_to_the_same(top: Path, commit: Commit, tmp_path: Path) -> None:
    commit(1, {**FILES, "docs/hidden.md": "# Later\n"})
    build(top, tmp_path / "site")
    commit(2, {"docs/b.md": "# B\n\nMore.\n"})
    commit(
        3, {"docs/SUMMARY.md": FILES["docs/SUMMARY.md"] + "* [C](c.md)\n* [Later](hidden.md)\n", "docs/c.md": "# C\n"}
    )
    assert build(top, tmp_path / "site") == build(top, tmp_path / "whole")
    kept, whole = ((tmp_path / name / MANIFEST).read_bytes() for name in ("site", "whole"))
    assert kept == whole
    times = json.loads(whole)["times"]["times"]
    assert sorted(times) == ["docs/README.md", "docs/a.md", "docs/b.md", "docs/c.md", "docs/hidden.md"]
    # What an earlier build found is taken over: only later commits are read.
    document = json.loads(whole)
    document["times"]["times"]["docs/README.md"] = 0
    (tmp_path / "site" / MANIFEST).write_text(json.dumps(document))
    commit(4, {"docs/a.md": "# A\n\nAgain.\n"})
    found = build(top, tmp_path / "site")
    assert (found["/"], found["/a/"]) == ("1970-01-01T00:00:00+00:00", "2026-01-02T02:30:00+00:00")


def test_a_history_that_was_rewritten_is_read_again(top: Path, commit: Commit, tmp_path: Path) -> None:
    commit(1, FILES)
    commit(2, {"docs/a.md": "# A\n\nMore.\n"})
    build(top, tmp_path / "site")
    subprocess.run(["git", "-C", str(top), "reset", "--quiet", "--hard", "HEAD~1"], check=True)
    commit(5, {"docs/b.md": "# B\n\nMore.\n"})
    assert build(top, tmp_path / "site") == build(top, tmp_path / "whole")


def test_pages_outside_of_git_have_no_date(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "README.md").write_text("# Home\n")
    assert build(tmp_path / "plain", tmp_path / "site") == {"/": ""}


@pytest.mark.parametrize(
    "document", [None, [], {}, {"commit": "c"}, {"commit": "c", "times": {"a": "x"}}, {"times": 1}]
)
def test_a_manifest_without_sense_says_nothing_of_times(document: object) -> None:
    assert parse_page_times(document) == PageTimes()


def test_a_time_that_no_calendar_has_is_no_date() -> None:
    assert PageTimes("c", {"a": 1 << 60}).format_date("a") == ""
