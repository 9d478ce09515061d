"""Pages of the manual, played: each line of a shell block is typed, against an embedded platform."""

import re
from contextlib import ExitStack
from tempfile import TemporaryDirectory

import pytest

from tests.checkouts import plant
from tests.cli.conftest import PAGES
from tests.manual.conftest import ADDRESS
from tests.manual.not_typed import NOT_TYPED
from tests.manual.place import Place, list_lines, plays, read_page
from tests.service.manual import read_section

pytestmark = [pytest.mark.story, pytest.mark.timeout(600)]
RECOVER, RENAME, WRITER = "how-to/recover.md", "how-to/rename-page.md", "tutorials/writer.md"
SITE, TEAM, JOBS = "tutorials/site-owner.md", "tutorials/team-service.md", "tutorials/jobs.md"
SERVED = NOT_TYPED[WRITER]


def read_space(said: str) -> str:
    """The id of the space that an import printed last."""
    space: str = re.findall(r"^space (\S+)$", said, re.MULTILINE)[-1]
    return space


@plays(WRITER)
def test_the_tutorial_of_a_writer_is_typed_from_first_to_last(place: Place) -> None:
    text = read_page(WRITER)
    before, after = text.split("## 3. Clone the space", 1)
    place.serve()
    said = place.play(before, names={}, skipped=SERVED)
    said = place.play(after, names={"SPACE": read_space(said), ADDRESS: place.url})
    assert "One more line." in place.type("git -C guides log -p --max-count=1 platform/main^2")
    assert "#1" in said


@plays(SITE)
def test_the_tutorial_of_a_site_owner_is_typed_from_first_to_last(place: Place) -> None:
    before, clone, site, publish, back = re.split(
        r"^(?=The last command prints|## 2\.|And this one|It prints a digest)", read_page(SITE), flags=re.MULTILINE
    )
    place.serve()
    said = place.play(before, names={}, skipped=SERVED)
    names = {"SPACE": read_space(said), ADDRESS: place.url}
    names["ORGANIZATION"] = place.play(clone, names=names).split()[-1].strip('"')
    names["SITE"] = place.play(site, names=names, at="guides").split()[-1].strip('"')
    said = place.play(publish, names=names, at="guides")
    assert "section guides" in said
    assert "title  Guides -> Handbook" in said
    assert "/guides/setup: leads to page install in guides/guides" in said
    address = f"/orgs/{names['ORGANIZATION']}/sites/{names['SITE']}/sections"
    assert "handbook" in place.type(f"cd guides && syncd api GET {address} --jq .items[].path")
    names["PLAN"] = re.findall(r"^Take the newest back: syncd site rollback (\w+)$", said, re.MULTILINE)[-1]
    said = place.play(back, names=names, at="guides")
    assert said.endswith("Nothing to do: the site is as the file declares.\n")
    assert "handbook" not in place.type(f"cd guides && syncd api GET {address} --jq .items[].path")


@plays(TEAM)
def test_the_tutorial_of_a_team_service_is_typed_from_first_to_last(place: Place) -> None:
    begin = "Save this as|Say which configuration|In a third terminal|It says `ready`|## 5\\.|```sh\nsyncd reload"
    before, config, look, start, work, more, drop_in, rest = re.split(
        f"^(?={begin})", read_page(TEAM), flags=re.MULTILINE
    )
    place.serve()
    names = {ADDRESS: place.url, "SPACE": read_space(place.play(before, names={}, skipped=SERVED))}
    place.save(config, "service/config.toml", names=names)
    with ExitStack() as stack:
        place.environ["XDG_RUNTIME_DIR"] = stack.enter_context(TemporaryDirectory(dir="/tmp"))
        assert "0 failures, 1 warning." in place.play(look, names={})
        (line,) = list_lines(start)
        names["127.0.0.1:9470"] = place.free_address
        service = stack.enter_context(place.start_service(line, names=names))
        said = place.play(work, names=names)
        assert "ready\n" in said
        assert "#1 guides/main  Say one thing more  (open)" in said
        assert "sign-in?link=" in said
        assert "One more line." in place.type("git -C host.git log -p --max-count=1 main^2")
        names["SECOND"] = read_space(place.play(more, names={}, at="ann"))
        place.save(drop_in, "service/conf.d/api.toml", names=names)
        said = place.play(rest, names={})
        assert re.search(r"^  space  api +revision \w{20} in \., no change request$", said, re.MULTILINE)
        assert said.count("! the service has been paused since") == 2
        assert said.endswith("the service has stopped\n")
        assert service.wait(60) == 0


@plays(JOBS)
def test_the_tutorial_of_ci_is_typed_from_first_to_last(place: Place) -> None:
    begin = "The command prints|It says which space|## 5\\."
    before, config, without_token, with_token = re.split(f"^(?={begin})", read_page(JOBS), flags=re.MULTILINE)
    place.serve()
    names = {ADDRESS: place.url, "SPACE": read_space(place.play(before, names={}, skipped=SERVED))}
    place.save(config, "project/syncd.toml", names=names)
    codes = {"syncd push --ci --dry-run": 78}
    said = place.play(without_token, names=names, codes=codes)
    assert "Nothing to mend in 3 files of 1 space." in said
    assert "there is no token" in said
    said = place.play(with_token, names=names, at="job", codes={"syncd push --ci --dry-run": 2})
    assert "Nothing was written: this was a dry run." in said
    assert said.count("+ create change request") == 1
    assert said.endswith("No change request is live.\n"), "both sides say the same"


@plays(RECOVER, "A lost or damaged database")
def test_a_lost_database_is_no_loss(clone: Place) -> None:
    clone.type("cd docs && echo More >> use.md && git commit -qam 'Say more' && syncd push")
    clone.play(read_section(RECOVER, "A lost or damaged database"), names=clone.names, at="docs")
    clone.type("cd docs && syncd push")
    assert clone.type("cd docs && syncd cr list").count("Say more") == 1


@plays(RECOVER, "A branch that somebody force-pushed")
def test_a_branch_that_was_force_pushed_gets_its_own_commits_again(clone: Place) -> None:
    clone.type("git clone --quiet --bare docs host.git && git -C docs remote add origin ../host.git")
    clone.type("git clone --quiet host.git other && cd other && git commit --quiet --amend --message 'Rewritten'")
    clone.type("cd other && git push --quiet --force origin main")
    clone.type("cd docs && echo Mine >> use.md && git commit -qam 'Say mine'")
    clone.play(read_section(RECOVER, "A branch that somebody force-pushed"), names=clone.names, at="docs")
    assert "Say mine" in clone.type("git -C docs log --oneline main")
    assert "Say mine" in clone.type("cd docs && syncd cr list")


@plays(RECOVER, "A deleted clone")
def test_a_deleted_clone_comes_back(clone: Place) -> None:
    clone.type("rm -rf docs && mkdir work")
    clone.play(read_section(RECOVER, "A deleted clone"), names=clone.names, at="work")
    assert (clone.root / "work/guides-again/use.md").read_text() == PAGES["use.md"]


@plays(RECOVER, "A conflict that nobody understands")
def test_a_conflict_ends_with_the_side_that_is_named(clone: Place) -> None:
    clone.type(f"syncd clone {clone.url} {clone.names['SPACE']} other --token-file platform-data/token")
    clone.type("cd other && sed -i '1!s/.*/Theirs./' README.md && git commit -qam Theirs && syncd push")
    clone.type("cd other && syncd cr merge 1")
    clone.type("cd docs && sed -i '1!s/.*/Ours./' README.md && git commit -qam Ours; syncd pull", code=6)
    codes = {"syncd resolve": 6}
    said = clone.play(read_section(RECOVER, "A conflict that nobody understands"), names={}, at="docs", codes=codes)
    assert "README.md" in said
    assert "Theirs." in (clone.root / "docs/README.md").read_text()


@plays(RECOVER, "An expired token", "A full disk")
def test_a_token_is_replaced_and_a_run_after_a_full_disk_goes_on(clone: Place) -> None:
    token = (clone.root / "platform-data/token").read_text().strip()
    (clone.root / "platform-data/token").write_text("expired\n")
    clone.type("cd docs && syncd pull", code=77)
    clone.environ["TOKEN"] = token
    clone.play(read_section(RECOVER, "An expired token"), names={}, at="docs")
    clone.play(read_section(RECOVER, "A full disk"), names={}, at="docs")


@plays(RENAME, "Rename a page", "Move a section", "Propose it")
def test_a_page_is_renamed_and_a_section_moved_with_their_ids(clone: Place) -> None:
    plant(
        clone.root / "docs",
        {
            "install.md": "# Install\n\nTurn the key.\n",
            "usage/README.md": "# Usage\n\nUse it.\n",
            "SUMMARY.md": PAGES["SUMMARY.md"] + "* [Usage](usage/README.md)\n",
        },
    )
    clone.type("cd docs && git add -A && git commit -qm 'Begin' && syncd push && syncd cr merge 1 && syncd pull")
    for title in ("Rename a page", "Move a section", "Propose it"):
        said = clone.play(read_section(RENAME, title), names={}, at="docs")
    assert "delete" not in said
    assert "set-up" in said
