"""The commands, one after the other, as a writer uses them."""

import json
from pathlib import Path
from typing import Any

import pytest

from syncd.api.client import Client
from tests.forked import start_syncd

pytestmark = pytest.mark.story


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_clone_edit_push_merge_pull_status(shell: Any) -> None:
    docs = shell.clone()
    assert (docs / "install.md").read_text() == "# Install\n\nOne.\n\nTwo.\n"
    assert shell.git("status", "--porcelain", cwd=docs) == ""
    assert "in step" in shell.fine("sync", cwd=docs)

    write(docs / "use.md", "# Use\n\nLike that.\n")
    shell.git("commit", "--quiet", "--all", "--message", "Say it better", cwd=docs)
    assert "1 ahead" in shell.fine("status", cwd=docs)
    out = shell.fine("push", cwd=docs)
    assert "create change request #1" in out
    assert "update page use.md" in out
    merge = shell.json("push", cwd=docs)
    assert merge["results"][0]["state"] == "unchanged"
    assert set(merge["requests"]) == {"GET"}

    with Client(shell.url, shell.token.read_text().strip()) as client:
        client.change_requests.merge(shell.space, "1")
    assert "fast-forwarded" in shell.fine("pull", cwd=docs)
    assert shell.git("status", "--porcelain", cwd=docs) == ""
    graph = shell.git("log", "--graph", "--format=%s", cwd=docs)
    assert graph.splitlines()[0] == "*   Say it better"
    status = shell.json("status", cwd=docs)
    assert status["repositories"][0]["branches"] == [{"branch": "main", "ahead": 0, "behind": 0, "can_pull": True}]


def test_clones_agree_on_the_files_of_pages_that_moved_with_their_entries(shell: Any) -> None:
    docs, other = shell.clone(), shell.clone("other")
    (docs / "install").mkdir()
    shell.git("mv", "install.md", "install/README.md", cwd=docs)
    shell.git("mv", "use.md", "install/use.md", cwd=docs)
    contents = "* [Home](README.md)\n* [Install](install/README.md)\n  * [Use](install/use.md)\n"
    write(docs / "SUMMARY.md", f"# Table of contents\n\n{contents}")
    shell.git("commit", "--quiet", "--all", "--message", "Put the use below", cwd=docs)
    shell.fine("push", cwd=docs)
    with Client(shell.url, shell.token.read_text().strip()) as client:
        client.change_requests.merge(shell.space, "1")
    trees = set()
    for clone in (docs, other):
        shell.fine("pull", cwd=clone)
        trees.add(shell.git("rev-parse", "HEAD^{tree}", cwd=clone))
    trees.add(shell.git("rev-parse", "HEAD^{tree}", cwd=shell.clone("third")))
    assert len(trees) == 1


def test_a_clone_beside_the_directory_is_told_by_its_path_without_dots(shell: Any, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    token = tmp_path / "here" / ".." / shell.data.name / "token"
    done = shell.syncd("clone", shell.url, shell.space, "../beside", "--token-file", token, cwd=tmp_path / "here")
    assert done.returncode == 0, done.stderr
    assert f"Cloned into {tmp_path}/beside." in done.stdout
    assert ".." not in (tmp_path / "beside/.git/syncd.toml").read_text()


def test_a_clone_that_exists_is_left_as_it_is(shell: Any) -> None:
    docs = shell.clone()
    write(docs / "use.md", "not committed\n")
    shell.fine("clone", shell.url, shell.space, docs, "--token-file", shell.token)
    assert (docs / "use.md").read_text() == "not committed\n"


def test_several_spaces_share_a_repository(shell: Any, tmp_path: Path) -> None:
    write(tmp_path / "other" / "README.md", "# Other\n\nAnother space.\n")
    words = ("platform", "import", tmp_path / "other", "--data", shell.data, "--json")
    other = json.loads(shell.fine(*words))["space"]
    docs = tmp_path / "both"
    targets = (f"{shell.space}=one", f"{other}=deep/two", docs)
    shell.fine("clone", shell.url, *targets, "--token-file", shell.token)
    assert (docs / "one" / "install.md").is_file()
    assert (docs / "deep" / "two" / "README.md").read_text() == "# Other\n\nAnother space.\n"
    write(docs / "one" / "use.md", "# Use\n\nOne.\n")
    write(docs / "deep" / "two" / "README.md", "# Other\n\nTwo.\n")
    shell.git("commit", "--quiet", "--all", "--message", "Edit both", cwd=docs)
    results = shell.json("push", cwd=docs)["results"]
    assert [r["key"] for r in results if r["flow"] == "propose" and r["state"] == "applied"] == ["one/main", "two/main"]

    with Client(shell.url, shell.token.read_text().strip()) as client:
        client.change_requests.merge(shell.space, "1")
    shell.fine("pull", cwd=docs)
    assert (docs / "deep" / "two" / "README.md").read_text() == "# Other\n\nTwo.\n", "an edit of another space is kept"
    shown = shell.git("show", "platform/main:deep/two/README.md", cwd=docs)
    assert shown == "# Other\n\nAnother space.\n", "main content holds no edit that was not merged"
    with Client(shell.url, shell.token.read_text().strip()) as client:
        client.change_requests.merge(other, "1")
    shell.fine("sync", cwd=docs)
    assert shell.git("rev-parse", "main^{tree}", cwd=docs) == shell.git("rev-parse", "platform/main^{tree}", cwd=docs)
    assert shell.git("status", "--porcelain", cwd=docs) == ""


def test_redirects_follow_the_site_file(shell: Any) -> None:
    from syncd.api.client import Client
    from syncd.model.site import SiteCreate

    docs = shell.clone()
    with Client(shell.url, shell.token.read_text().strip()) as client:
        organization = client.spaces.get(shell.space).organization or ""
        site = client.sites.create(organization, SiteCreate(title="Docs"))
        one, two = (f"  - {{ from: /{name}, to: {{ url: 'https://example.org/{name}' }} }}\n" for name in "ab")
        head = f"version: 1\nsite: {{ org: {organization}, id: {site.id} }}\nredirects:\n"
        write(docs / "site.yaml", head + one + two)
        with (docs / ".git" / "syncd.toml").open("a") as config:
            config.write('\n[repository.site]\nfile = "site.yaml"\n')
        shell.git("add", "--all", cwd=docs)
        shell.git("commit", "--quiet", "--message", "Redirects", cwd=docs)
        assert shell.syncd("site", "plan", "--exit-code", cwd=docs).returncode == 2
        digest = shell.json("site", "plan", cwd=docs)["digest"]
        assert shell.syncd("site", "apply", "--expect", "000000000000", cwd=docs).returncode == 6
        assert not list(client.redirects.list(organization, site.id))
        shell.fine("site", "apply", "--expect", digest, cwd=docs)
        assert {r.source for r in client.redirects.list(organization, site.id)} == {"/a", "/b"}
        write(docs / "site.yaml", head + one)
        shell.git("commit", "--quiet", "--all", "--message", "Drop one", cwd=docs)
        (docs / ".git" / "syncd" / "state.db").unlink()
        shell.fine("sync", cwd=docs)
        assert {r.source for r in client.redirects.list(organization, site.id)} == {"/a"}
        write(docs / "site.yaml", head + one.replace("/a,", "/a/,"))
        shell.git("commit", "--quiet", "--all", "--message", "A mistake", cwd=docs)
        wrong = shell.syncd("site", "plan", cwd=docs)
        assert wrong.returncode == 65
        assert "site.yaml:4:" in wrong.stderr
        assert "ends with a slash" in wrong.stderr


def test_import_and_export_are_inverse(shell: Any, tmp_path: Path) -> None:
    shell.fine("platform", "export", shell.space, tmp_path / "out", "--data", shell.data)
    for path in (tmp_path / "source").rglob("*"):
        if path.is_file():
            assert (tmp_path / "out" / path.relative_to(tmp_path / "source")).read_bytes() == path.read_bytes()


def test_help_is_quick_to_read(shell: Any) -> None:
    text = shell.fine("--help")
    for command in ("clone", "demo", "platform", "pull", "push", "run", "site", "status", "sync"):
        assert f"  {command}" in text


def test_a_platform_is_served_from_the_command_line_until_it_is_asked_to_stop(shell: Any) -> None:
    data = shell.root / "another"
    words = ("platform", "import", shell.root / "source", "--data", data, "--title", "Docs", "--json")
    space = json.loads(shell.fine(*words))["space"]
    with start_syncd("platform", "serve", "--port", "0", "--data", data, pipes=["stdout"]) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        with Client(url, (data / "token").read_text().strip()) as client:
            assert client.spaces.get(space).title == "Docs"
        server.terminate()
        assert server.wait(10) == 0
