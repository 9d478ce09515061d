"""Pages for people who write, typed: proposals, reviews, conflicts, guards, and the way back."""

import pytest

from tests.checkouts import plant
from tests.cli.conftest import PAGES
from tests.manual.place import Place, list_lines, plays, read_page, read_part

pytestmark = [pytest.mark.story, pytest.mark.timeout(600)]
BOTH, GIT, GUARDS = "explanation/both-sides.md", "explanation/git.md", "explanation/guards.md"
REPOSITORY, LOG, UNDO = "how-to/existing-repository.md", "how-to/log.md", "how-to/undo.md"
CHANGES, REVIEWING, IMPORT = "how-to/change-requests.md", "how-to/reviewing.md", "how-to/git-import.md"
SERVERS, PREVIEW, PROPOSING = "how-to/servers.md", "how-to/preview.md", "how-to/proposing.md"
TROUBLES, TRUST = "how-to/troubleshooting.md", "explanation/trust.md"
LINES = "# Install\n\nOne.\n\nAnd this.\n\nAnd that.\n\nTwo.\n"
OURS, THEIRS = (LINES.replace("One.", f"One, {who}.").replace("Two.", f"Two, {who}.") for who in ("ours", "theirs"))


def change(place: Place, at: str, text: str, *, page: str = "install.md") -> None:
    """Write a page anew in a clone, and commit it."""
    (place.root / at / page).write_text(text)
    place.type(f"git -C {at} commit --quiet --all --message 'Change {page}'")


def begin_conflict(place: Place) -> None:
    """Let two places of guides/install.md be in conflict in `docs`."""
    change(place, "docs", LINES, page="guides/install.md")
    place.type("cd docs && syncd push && syncd cr merge 1 && syncd pull")
    place.type(f"syncd clone {place.url} {place.names['SPACE']} other --token-file platform-data/token")
    change(place, "other", THEIRS)
    place.type("cd other && syncd push && syncd cr merge 2")
    change(place, "docs", OURS, page="guides/install.md")
    place.type("cd docs && syncd pull", code=6)


def list_titled(page: str, title: str) -> list[str]:
    """The lines of a section."""
    return list_lines(read_part(page, title))


@plays(BOTH, "Settle it")
def test_a_conflict_is_settled_by_page_and_by_hunk(guides: Place) -> None:
    begin_conflict(guides)
    for copy in ("again", "third", "fourth"):
        guides.type(f"cp -a docs {copy} && syncd trust {copy} --yes")
    (guides.root / "editor").write_text("#!/bin/sh\nsed -i '/^[<|=>]\\{7\\}/d' \"$1\"\n")
    guides.type("chmod +x editor")
    guides.environ |= {"EDITOR": str(guides.root / "editor"), "VISUAL": str(guides.root / "editor")}
    page, _, hunks = read_part(BOTH, "Settle it").partition("To take something of both")
    ours, theirs, edit, push = list_lines(page)
    for at, lines in (("again", theirs), ("third", edit), ("docs", f"{ours}\n{push}")):
        guides.play(f"```sh\n{lines}\n```\n", names={}, at=at)
        assert "<<<<" not in (guides.root / at / "guides/install.md").read_text()
    assert (guides.root / "docs/guides/install.md").read_text() == OURS
    assert (guides.root / "again/guides/install.md").read_text() == THEIRS
    guides.play(hunks, names={}, at="fourth")
    mixed = (guides.root / "fourth/guides/install.md").read_text()
    assert ("One, ours." in mixed, "Two, theirs." in mixed) == (True, True)


@plays(BOTH, "With Git alone")
def test_a_conflict_is_settled_with_git_alone(guides: Place) -> None:
    begin_conflict(guides)
    guides.type("git clone --quiet --bare docs host.git")
    guides.type("git -C docs push --quiet ../host.git platform/main:refs/heads/syncd/platform")
    guides.type("git clone --quiet host.git anywhere")
    guides.environ["GIT_EDITOR"] = "true"
    for at, text in zip(
        ("docs", "anywhere"), read_part(BOTH, "With Git alone").split("You do not need syncd either"), strict=True
    ):
        before, after = text.split("# edit guides/install.md\n")
        merge = next(line for line in list_lines(f"{before}```") if line.startswith("git merge"))
        guides.play(f"{before}```\n", names={}, at=at, codes={merge: 1})
        (guides.root / at / "guides/install.md").write_text(OURS.replace("Two, ours.", "Two, both."))
        guides.play(f"```sh\n{after}", names={}, at=at)
    assert "Two, both." in guides.type("git -C host.git show main:guides/install.md")


@plays(GIT)
def test_git_answers_what_it_is_asked(guides: Place) -> None:
    change(guides, "docs", LINES, page="guides/install.md")
    guides.type("cd docs && syncd push")
    said = guides.play(read_page(GIT), names={"12": "1", "abc": "none"}, at="docs")
    assert "And that." in said


@plays(GUARDS, "Let it happen")
def test_what_a_guard_holds_happens_when_a_person_says_so(guides: Place) -> None:
    pages = {f"p{number:02}.md": f"# Page {number}\n\nText {number}.\n" for number in range(60)}
    listed = "".join(f"* [Page {number}](p{number:02}.md)\n" for number in range(60))
    plant(guides.root / "docs/guides", {**pages, "SUMMARY.md": f"{PAGES['SUMMARY.md']}{listed}"})
    guides.type("cd docs && git add -A && git commit -qm Grow && syncd push && syncd cr merge 1 && syncd pull")
    plant(guides.root / "docs/guides", {"SUMMARY.md": PAGES["SUMMARY.md"] + listed[: listed.index("* [Page 16]")]})
    guides.type("cd docs/guides && git rm -q p1[6-9].md p[2-5]*.md && git commit -qam Shrink")
    assert "--force propose.guides=44" in guides.type("cd docs && syncd push", code=5)
    guides.play(read_part(GUARDS, "Let it happen"), names={}, at="docs")
    assert "Shrink" in guides.type("cd docs && syncd cr list")


@plays(GUARDS, "A space that was restored from a backup")
def test_git_gives_back_what_a_restored_platform_has_lost(guides: Place) -> None:
    guides.stop()
    guides.type("cp -a platform-data earlier")
    guides.serve()
    change(guides, "docs", LINES, page="guides/install.md")
    guides.type("cd docs && syncd push && syncd cr merge 1 && syncd pull")
    guides.stop()
    guides.type("rm -r platform-data && mv earlier platform-data")
    guides.serve()
    guides.type("cd docs && syncd pull", code=5)
    guides.environ["GIT_EDITOR"] = "true"
    guides.play(read_part(GUARDS, "A space that was restored from a backup"), names={}, at="docs")
    assert (guides.root / "docs/guides/install.md").read_text() == LINES
    assert "(open)" in guides.type("cd docs && syncd cr list")


@plays(TRUST, "Trust a configuration")
def test_a_configuration_is_trusted_and_is_not_any_more(clone: Place) -> None:
    clone.type("cp -a docs moved")
    assert "you have not trusted it" in clone.type("cd moved && syncd pull", code=78)
    trust, listed, revoke = list_titled(TRUST, "Trust a configuration")
    clone.typed.add(trust)
    clone.type(f"cd moved && {trust} --yes")
    assert "moved" in clone.play(f"```sh\n{listed}\n```", names={}, at="moved")
    clone.type("cd moved && syncd pull")
    clone.play(f"```sh\n{revoke}\n```", names={}, at="moved")
    clone.type("cd moved && syncd pull", code=78)


@plays(REPOSITORY)
def test_a_repository_that_exists_is_bound_to_either_side(platform: Place) -> None:
    plant(platform.root / "our-docs/docs", PAGES | {"use.md": "# Use\n\nAs Git has it.\n"})
    platform.type("cd our-docs && git init -q -b main && git add -A && git commit -qm Begin")
    names = platform.names | {"~/.config/syncd/token": "../platform-data/token"}
    bind, look, theirs, ours = (
        read_page(REPOSITORY)
        .replace("## When both", "\0")
        .replace("To let the branch", "\0")
        .replace("To keep what Git", "\0")
        .split("\0")
    )
    (line,) = (line for line in list_lines(bind) if "syncd init" in line)
    platform.play(bind, names=names, codes={line: 5})
    assert "As Git has it." in platform.play(look, names={}, at="our-docs")
    platform.type("cp -a our-docs kept && cd kept && syncd trust --yes")
    platform.play(theirs, names={}, at="our-docs")
    assert (platform.root / "our-docs/docs/use.md").read_text() == PAGES["use.md"]
    platform.play(ours, names={}, at="kept")
    assert "As Git has it." in (platform.root / "kept/docs/use.md").read_text()


@plays(LOG)
def test_the_log_answers_for_all_and_for_one(platform: Place) -> None:
    platform.type(f"syncd clone {platform.url} {platform.names['SPACE']}=docs clone --token-file platform-data/token")
    change(platform, "clone", LINES, page="docs/install.md")
    platform.type("cd clone && syncd push && syncd cr merge 1 && syncd pull")
    said = platform.play(read_page(LOG), names={"install.md": "docs/install.md", "14": "1"}, at="clone")
    assert said.count("merged") >= 4


@plays(UNDO)
def test_a_push_and_a_merge_are_taken_back(clone: Place) -> None:
    push, _, merge = read_page(UNDO).partition("## A merge")
    change(clone, "docs", LINES)
    clone.type("cd docs && syncd push")
    dry, act = list_lines(push)
    clone.play(f"```sh\n{dry}\n```", names={}, at="docs")
    clone.typed.add(act)
    clone.type(f"cd docs && {act} --yes")
    change(clone, "docs", LINES + "\nMore.\n")
    clone.type("cd docs && syncd push && syncd cr merge 2")
    switch, pull, act = list_lines(merge)
    clone.play(f"```sh\n{switch}\n{pull}\n```", names={}, at="docs")
    clone.typed.add(act)
    clone.type(f"cd docs && {act.replace('14', '2')} --yes")
    assert "#3" in clone.type("cd docs && syncd cr list")


@plays(CHANGES)
def test_change_requests_are_read_merged_closed_and_reopened(clone: Place) -> None:
    change(clone, "docs", LINES)
    clone.type("cd docs && git switch -q -c typos && syncd push")
    plant(clone.root / "docs", {"use.md": "# Use\n\nLike that.\n"})
    clone.type("cd docs && git switch -q -c more main~1 && git commit -qam More && syncd push")
    address = clone.type("cd docs && syncd cr open 1 --print").strip()
    before, last = read_page(CHANGES).split("## Archive and reopen")
    names = {"14": "1", "https://app.gitbook.com/o/ORG/s/SPACE/~/changes/14": address}
    names = dict(reversed(names.items()))
    said = clone.play(before, names=names, at="docs")
    assert "merged" in said
    said = clone.play(last, names={"14": "2"}, at="docs")
    assert said.endswith("syncd push more goes on with it\n")


@plays(REVIEWING)
def test_reviews_are_read_and_answered(clone: Place) -> None:
    change(clone, "docs", LINES)
    clone.type("cd docs && syncd push")
    address = f"/spaces/{clone.names['SPACE']}/change-requests/1/comments"
    made = (
        clone.type(f"cd docs && syncd api POST {address} -f 'body[markdown]=Is this true?' --jq .id").strip().strip('"')
    )
    said = clone.play(read_page(REVIEWING), names={"c8Xy21": made}, at="docs")
    assert "Is this true?" in said
    assert "Yes; I have added the version." in clone.type("cd docs && syncd review")


@plays(SERVERS, "The token", "Clone", "In CI")
def test_a_token_is_saved_and_spaces_are_cloned(platform: Place) -> None:
    token = (platform.root / "platform-data/token").read_text().strip()
    platform.environ |= {"TOKEN": token, "XDG_CONFIG_HOME": str(platform.root / "settings")}
    login, *keep = list_titled(SERVERS, "The token")
    platform.typed.add(login)
    said = platform.type(
        f"printf '%s\\n' \"$TOKEN\" | {login.replace('https://api.gitbook.com', platform.url)} --with-token"
    )
    assert "saved" in said
    platform.play("```sh\n{}\n```".format("\n".join(keep)), names={})
    second = (
        platform.type("syncd platform import source --data platform-data --title More").split("space ", 1)[1].split()[0]
    )
    names = platform.names | {"SPACE1": platform.names["SPACE"], "SPACE2": second}
    address = f"{platform.url}/app/o/ORG/s/{platform.names['SPACE']}"
    asked, by_address, by_id, both = list_titled(SERVERS, "Clone")
    platform.typed.add(asked)
    assert "hint:" in platform.type(asked, code=64)
    platform.play(f"```sh\n{by_id}\n{both}\n```", names=names)
    platform.type("rm -r guides")
    platform.play(f"```sh\n{by_address}\n```", names={"https://app.gitbook.com/o/ORG/s/SPACE": address})
    platform.play(read_part(SERVERS, "In CI"), names={}, at="docs")


@plays(PREVIEW)
def test_docs_are_previewed_as_they_are_and_as_others_wrote_them(clone: Place) -> None:
    change(clone, "docs", LINES)
    clone.type(
        "cd docs && syncd push && git branch new-guides && mkdir -p path/to/some && cp -r ../source path/to/some/docs"
    )
    clone.environ["BROWSER"] = "true"
    said = clone.play_in_front(read_page(PREVIEW), names={"12": "1"}, at="docs")
    assert said.count("http://127.0.0.1:") == 4


@plays(PROPOSING)
def test_a_branch_and_another_one_are_proposed(clone: Place) -> None:
    change(clone, "docs", LINES)
    clone.type("cd docs && git branch new-chapter")
    change(clone, "docs", LINES + "\nMore.\n")
    said = clone.play(read_page(PROPOSING), names={}, at="docs")
    assert "Write the chapter on search" in clone.type("cd docs && syncd cr list")
    assert "#2" in said


@plays(TROUBLES)
def test_a_state_is_deleted_and_found_again(clone: Place) -> None:
    said = clone.play(
        read_page(TROUBLES),
        names={},
        at="docs",
        skipped=[line for line in list_lines(read_page(TROUBLES)) if line.startswith(("ok", "fail", "skip", "Put"))],
    )
    assert "nothing to commit" in said
