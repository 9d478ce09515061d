"""Pages that no platform takes: each is told of with its place and exit code 65, and stops nothing else.

Run these stories: .venv/bin/python -m pytest -n 2 tests/cli/sync/test_cli_two_way_refused.py
"""

import hashlib
import json
import re
from urllib.parse import quote

import pytest

from syncd.model.content_write import FILE_BYTES_MAX, TEXT_MAX
from tests.cli.sync.two_way import FOUR, Interposer, Team, Web, Writer, conflicts, pages_of, text_of

pytestmark = pytest.mark.story

BAD = b"# P2\n\nLike \0 this.\n"
POINTER = (
    f"version https://git-lfs.github.com/spec/v1\noid sha256:{hashlib.sha256(b'x').hexdigest()}\nsize 1\n".encode()
)


@pytest.mark.parametrize(
    ("bad", "said"),
    [(POINTER, "p2.md:1:1: is a Git LFS pointer"), (b"x" * (TEXT_MAX + 1), "p2.md:1:1: has more than 1,000,000")],
    ids=["LFS", "too long"],
)
def test_a_page_that_cannot_be_sent_stops_no_other_page(docs: Writer, web: Web, bad: bytes, said: str) -> None:
    docs.write("p2.md", bad)
    docs.edit("p1.md", "P1 one.", "P1 one, says A.")
    assert said in docs.run("sync", code=65)
    assert "p2.md:1:1: error" in docs.syncd("check").stdout
    assert "P1 one, says A." in web.text("p1", request=web.proposed())
    assert "P2 one." in web.text("p2", request=web.proposed())
    web.merge()
    docs.run("sync", code=65)
    assert docs.read("p2.md") == bad.decode()
    assert docs.run("status", code=65).count(said) == 1
    docs.git("checkout", "--quiet", "platform/main", "--", "p2.md")
    docs.commit()
    docs.run("sync")
    docs.run("status")
    assert docs.git("diff", "HEAD", "platform/main") == ""


@pytest.mark.parametrize("place", ["a page", "a folder"])
def test_a_link_in_the_place_of_pages_deletes_none_and_stops_no_other(team: Team, place: str) -> None:
    web = team.space(files=FOUR | pages_of("P1", "Far/In", "Far/Out"))
    docs = team.clone(web.space)
    name = {"a page": "p1.md", "a folder": "far"}[place]
    docs.git("rm", "-r", "--quiet", name)
    (docs.path / name).symlink_to("elsewhere")
    docs.edit("README.md", "Home one.", "Home one, says A.")
    slugs = web.slugs()
    for _ in range(2):
        assert f"{name}:1:1: is a symbolic link" in docs.run("push", code=65)
    assert web.slugs(request=web.proposed()) == slugs
    assert "Home one, says A." in web.text("", request=web.proposed())
    web.merge()
    docs.run("sync", code=65)
    assert (docs.path / name).is_symlink()
    (docs.path / name).unlink()
    docs.commit()
    docs.run("sync")
    assert len(web.slugs(request=web.proposed())) == len(slugs) - {"a page": 1, "a folder": 2}[place]


def test_a_submodule_in_the_place_of_a_space_is_told_as_what_it_is(team: Team) -> None:
    one, two = team.space(), team.space("other")
    docs = team.clone(f"{one.space}=one", f"{two.space}=two")
    docs.git("rm", "-r", "--quiet", "two")
    docs.git("update-index", "--add", "--cacheinfo", f"160000,{docs.tip('HEAD')},two")
    docs.git("commit", "--quiet", "--message", "Link")
    two.edit("p1", "P1 one.", "P1 one, says the web.")
    assert "main has a submodule or link at two, the directory of a space" in docs.run("sync", code=4)
    docs.git("checkout", "--quiet", "platform/main", "--", "two")  # as the hint says
    docs.git("commit", "--quiet", "--message", "Link no more")
    docs.settle()
    assert "P1 one, says the web." in docs.read("two/p1.md")


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_a_link_in_the_place_of_a_folder_deletes_no_page_while_it_is_in_conflict(team: Team, side: str) -> None:
    web = team.space(files=FOUR | pages_of("P1", "Far/In", "Far/Out"))
    docs = team.clone(web.space)
    slugs = web.slugs()
    docs.git("rm", "-r", "--quiet", "far")
    (docs.path / "far").symlink_to("elsewhere")
    docs.edit("README.md", "Home one.", "Home one, says A.")
    docs.run("push", code=65)
    web.edit("in", "Far/In one.", "Far/In one, says the web.")
    for _ in range(2):
        assert "conflict far held" in docs.run("sync", code=6)
    assert web.slugs(request=web.proposed()) == slugs
    docs.run("resolve", "far", f"--{side}")
    assert (docs.path / "far").is_symlink() == (side == "ours")
    docs.run("sync", code=65 if side == "ours" else 0)
    web.merge()
    assert web.slugs() == slugs
    assert "Far/In one, says the web." in web.text("in")


def test_new_pages_that_no_platform_takes_wait_and_those_below_them_go_on(docs: Writer, web: Web) -> None:
    docs.write("group/README.md", BAD)
    docs.write("group/in.md", "# In\n\nIn one.\n")
    docs.write("new.md", BAD)
    listed = "* [Group](group/README.md)\n  * [In](group/in.md)\n* [New](new.md)\n"
    docs.write("SUMMARY.md", docs.read("SUMMARY.md") + listed)
    docs.commit()
    said = docs.run("sync", code=65)
    assert "group/README.md:3:6" in said
    assert "new.md:3:6" in said
    assert "In" in web.titles(request=web.proposed()).values()
    assert not {"Group", "New"} & set(web.titles(request=web.proposed()).values())
    docs.write("group/README.md", "# Group\n\nGood.\n")
    docs.write("new.md", "# New\n\nGood.\n")
    docs.commit()
    docs.run("sync")
    assert {"Group", "In", "New"} < set(web.titles(request=web.proposed()).values())
    web.merge()
    docs.run("sync")
    assert docs.git("diff", "HEAD", "platform/main") == ""


def test_a_page_that_no_platform_takes_and_one_in_conflict_are_both_told(docs: Writer, web: Web) -> None:
    docs.write("p2.md", BAD)
    docs.edit("p1.md", "P1 one.", "P1 one, says A.")
    web.edit("p1", "P1 one.", "P1 one, says the web.")
    docs.edit("p3.md", "P3 one.", "P3 one, says A.")
    said = docs.run("sync", code=4)
    assert conflicts(said) == ["p1.md"]
    assert "! page p2.md held: p2.md:3:6" in said
    assert "P3 one, says A." in web.text("p3", request=web.proposed())
    assert docs.run("resolve", code=6).count("p2.md") == 0


def test_a_page_that_was_renamed_and_cannot_be_sent_stays_as_it_was(docs: Writer, web: Web) -> None:
    docs.rename("p2.md", "sub/p5.md")
    docs.write("sub/p5.md", docs.read("sub/p5.md").encode() + b"\0\n")
    docs.edit("p1.md", "P1 one.", "P1 one, says A.")
    assert "sub/p5.md:8:1" in docs.run("sync", code=65)
    assert web.slugs(request=web.proposed()) == ["", "p1", "p2", "p3", "p4"]
    web.edit("p2", "P2 one.", "P2 one, says R.", request=web.proposed())
    assert conflicts(docs.run("sync", code=6)) == ["sub/p5.md"]  # lines of what is no text are not merged
    docs.write("sub/p5.md", docs.read("sub/p5.md").replace("\0", "And more."))
    docs.commit()
    docs.run("sync")
    assert "P2 one, says R." in docs.read("sub/p5.md")
    assert "And more." in web.text("p5", request=web.proposed())
    assert not docs.has("p2.md")


def test_a_page_that_no_platform_takes_is_told_until_it_is_mended(docs: Writer, web: Web) -> None:
    docs.write("p2.md", BAD)
    docs.commit()
    for command in ("push", "sync", "push"):
        results = json.loads(docs.run(command, "--json", code=65))["results"]
        (told,) = [result for result in results if result["exit_code"]]
        assert (told["flow"], told["key"], told["paths"]) == ("page", "p2.md", ["p2.md"])
    assert "p2.md:3:6" in docs.run("status", code=65)
    docs.write("p2.md", "# P2\n\nGood.\n")
    docs.commit()
    docs.run("push")
    assert "p2.md:3:6" not in docs.run("status")
    assert "Good." in web.text("p2", request=web.proposed())


def test_a_change_request_is_not_said_to_hold_a_page_that_no_platform_takes(docs: Writer) -> None:
    docs.write("p2.md", BAD)
    docs.edit("p1.md", "P1 one.", "P1 one, says A.")
    docs.run("sync", code=65)
    said = docs.run("status", code=65)
    assert "1 page not sent" in said
    assert "lacks some of main" in said
    assert "all is proposed" not in said
    assert "holds what main says" not in said + docs.run("sync", code=65)
    docs.write("p2.md", "# P2\n\nGood.\n")
    docs.commit()
    docs.run("sync")
    said = docs.run("status")
    assert "all is proposed" in said
    assert "holds what main says" in said


@pytest.mark.parametrize("odd", ["a\tb", "a\\b", "Q:b", "a\u202eb"], ids=["tab", "backslash", "drive", "turning"])
def test_a_page_whose_name_syncd_may_not_write_is_refused_and_stops_no_other(docs: Writer, web: Web, odd: str) -> None:
    docs.write(f"{odd}.md", text_of("Odd"))
    docs.write("SUMMARY.md", f"{docs.read('SUMMARY.md')}* [Odd]({quote(odd)}.md)\n")
    docs.edit("p1.md", "P1 one.", "P1 one, says A.")
    for command in ("push", "sync"):
        out = docs.run(command, code=65)
        assert "has a name that cannot be written on every system" in out
        assert "give the file another name, also in SUMMARY.md" in out
    assert "P1 one, says A." in web.text("p1", request=web.proposed())
    docs.git("mv", f"{odd}.md", "odd.md")
    docs.edit("SUMMARY.md", f"({quote(odd)}.md)", "(odd.md)")
    docs.run("push")
    web.merge()
    docs.settle()
    assert "Odd two." in web.text("odd")
    assert docs.read("odd.md") == text_of("Odd")


@pytest.mark.parametrize("pushes", [1, 2])
def test_an_asset_that_the_api_does_not_take_is_told_of_after_the_merge_too(
    docs: Writer, web: Web, pushes: int
) -> None:
    path = ".gitbook/assets/film.bin"
    film = b"\0" * (FILE_BYTES_MAX + 1)
    docs.write(path, film)
    docs.write(".gitbook/assets/small.bin", b"\0small")
    blocks = "".join(f'\n\n{{% file src="{one}" %}}' for one in (path, ".gitbook/assets/small.bin"))
    docs.edit("p1.md", "P1 one.", f"P1 one.{blocks}")
    told = f"report file {path}"
    for _ in range(pushes):
        assert told in docs.run("push")
    web.merge()
    docs.run("sync")
    assert docs.git("diff", "--name-only", "platform/main", "main") == f"{path}\n"
    assert told in docs.run("push")
    status = docs.run("status")
    assert "Next: syncd push" not in status
    assert "2 ahead, 0 behind main content; 1 manual step to do on the platform" in status
    assert (docs.path / path).read_bytes() == film


def test_a_file_that_the_platform_cannot_deliver_is_named_until_it_can(
    team: Team, web: Web, interposer: Interposer, docs: Writer
) -> None:
    path = ".gitbook/assets/logo.png"
    team.replace_content(web, {**FOUR, "p1.md": FOUR["p1.md"] + "\nMore.\n", path: b"picture"})
    (file,) = web.client.content.list_files(web.space)
    interposer.hidden = re.compile("/downloads/")
    docs.edit("p2.md", "P2 one.", "P2 one, says A.")
    for command in ("sync", "push"):
        said = docs.run(command, code=69)
        assert f"the file '{path}' ({file.id})" in said
        assert "put it on the platform anew and delete this one" in said
    assert not web.requests()
    interposer.hidden = None
    docs.settle()
    assert docs.read(path) == "picture"
    assert "More." in docs.read("p1.md")


def test_a_clone_of_which_one_space_cannot_be_read_says_how_it_goes_on(
    team: Team, web: Web, interposer: Interposer
) -> None:
    other = team.space("other", {**FOUR, ".gitbook/assets/logo.png": b"picture"})
    interposer.hidden = re.compile("/downloads/")
    docs = Writer(team.root / "docs")
    spaces = (f"{web.space}=docs", f"{other.space}=other")
    said = Writer(team.root).run("clone", team.url, *spaces, docs.path, "--token-file", team.token, code=4)
    assert f"run the same command again, or syncd init in {docs.path}" in said
    interposer.hidden = None
    docs.run("sync")
    assert "main has no commit yet" in docs.run("status")
    assert docs.run("status").endswith("Next: syncd init\n")
    docs.run("init")
    assert docs.read("other/.gitbook/assets/logo.png") == "picture"
    assert "no commit yet" not in docs.run("status")


def test_a_page_with_markers_of_an_unsettled_merge_is_not_sent(docs: Writer, web: Web) -> None:
    marked = "# P2\n\n<<<<<<< HEAD\nMine.\n=======\nYours.\n>>>>>>> topic\n"
    said = "p2.md:3:1: a merge was not settled here"
    docs.write("p2.md", marked)
    docs.edit("p1.md", "P1 one.", "P1 one, says A.")
    assert said in docs.run("push", code=65)
    assert "P1 one, says A." in web.text("p1", request=web.proposed())
    assert "<<<" not in web.text("p2", request=web.proposed())
    docs.write("p2.md", f"<!-- syncd-check: ignore conflict-marker -->\n{marked[6:]}")
    docs.commit()
    assert said not in docs.run("push")
    docs.write("p2.md", "# P2\n\n```\n<<<<<<< HEAD\nMine.\n=======\nYours.\n>>>>>>> topic\n```\n")
    docs.commit()
    assert said not in docs.run("push")


def test_a_refused_page_is_no_problem_once_it_is_mended_and_committed(docs: Writer) -> None:
    docs.edit("p1.md", "P1 one.", "P1\0 one.")
    docs.run("sync", code=65)
    assert "p1.md:3:3: holds the character NUL" in docs.run("status", code=65)
    docs.edit("p2.md", "P2 one.", "P2 one, says Ann.")
    assert "p1.md:3:3: holds the character NUL" in docs.run("status", code=65)
    docs.edit("p1.md", "P1\0 one.", "P1 one, says Ann.")
    said = docs.run("status")
    assert "NUL" not in said
    assert said.endswith("Next: syncd push\n")
    docs.run("push")
