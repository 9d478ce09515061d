"""A name that changes only in upper and lower case stays one page or file.

Run these stories: .venv/bin/python -m pytest -n 2 tests/cli/sync/test_cli_two_way_letter_case.py
"""

import pytest

from tests.cli.sync.two_way import FOUR, Team, Web, Writer, pages_of, text_of

pytestmark = pytest.mark.story

PICTURE = b"\x89PNG\r\n\x1a\n picture"
LOWER, UPPER = ".gitbook/assets/logo.png", ".gitbook/assets/Logo.png"
TWO = pages_of("P1", "P2")


def test_a_page_renamed_in_git(team: Team) -> None:
    web = team.space(files=TWO)
    ann, ben = team.clone(web.space, name="ann"), team.clone(web.space, name="ben")
    ann.rename("p1.md", "P1.md")
    ben.edit("p1.md", "P1 one.", "P1 one, says Ben.")
    publish(web, ann, ben)
    assert web.titles() == {"": "Home", "P1": "P1", "p2": "P2"}
    assert "P1 one, says Ben." in web.text("P1")
    assert ann.files() == ["P1.md", "README.md", "SUMMARY.md", "p2.md"]


def test_a_page_renamed_on_the_platform(team: Team) -> None:
    web = team.space(files=TWO)
    ann, ben = team.clone(web.space, name="ann"), team.clone(web.space, name="ben")
    ann.edit("p1.md", "P1 one.", "P1 one, says Ann.")
    ben.edit("p1.md", "P1 three.", "P1 three, says Ben.")
    web.rename("p1", "P1")
    publish(web, ann, ben)
    assert web.titles() == {"": "Home", "P1": "P1", "p2": "P2"}
    assert "P1 one, says Ann." in web.text("P1")
    assert "P1 three, says Ben." in web.text("P1")
    assert ann.files() == ["P1.md", "README.md", "SUMMARY.md", "p2.md"]


@pytest.mark.parametrize("where", ["in Git", "on the platform"])
def test_a_folder_renamed_with_the_page_below_it_edited_elsewhere(team: Team, where: str) -> None:
    files = {**TWO, "p1/README.md": TWO["p1.md"], "p1/in.md": text_of("In")}
    files["SUMMARY.md"] = files["SUMMARY.md"].replace("(p1.md)", "(p1/README.md)\n  * [In](p1/in.md)")
    del files["p1.md"]
    web = team.space(files=files)
    ann, ben = team.clone(web.space, name="ann"), team.clone(web.space, name="ben")
    if where == "in Git":
        ann.git("mv", "p1", "P1")
        ann.replace("SUMMARY.md", "(p1/", "(P1/")
        ann.commit()
    else:
        web.rename("p1", "P1")
    ben.edit("p1/in.md", "In one.", "In one, says Ben.")
    publish(web, ann, ben)
    assert web.titles() == {"": "Home", "P1": "P1", "in": "In", "p2": "P2"}
    assert "In one, says Ben." in web.text("in")
    assert ann.files() == ["P1/README.md", "P1/in.md", "README.md", "SUMMARY.md", "p2.md"]


def test_a_file_renamed_in_git_is_sent_once_its_former_name_is_free(team: Team) -> None:
    web = team.space(files=make_files_showing(LOWER))
    ann, ben = team.clone(web.space, name="ann"), team.clone(web.space, name="ben")
    ann.git("mv", LOWER, UPPER)
    ann.edit("p1.md", LOWER, UPPER)
    said = ann.run("sync")
    assert f"Delete {LOWER} first" in said
    assert "Rename this file" not in said
    web.merge()
    ann.run("sync")
    team.replace_content(web, {path: data for path, data in make_files_showing(UPPER).items() if path != UPPER})
    assert f"+ create file {UPPER}" in ann.run("sync")
    web.merge()
    for writer in (ann, ben):
        writer.settle()
        assert writer.files() == [UPPER, "README.md", "SUMMARY.md", "p1.md", "p2.md"]
        assert f"]({UPPER})" in writer.read("p1.md")
    assert [each.name for each in web.client.content.list_files(web.space)] == ["Logo.png"]


def test_a_file_renamed_on_the_platform(team: Team) -> None:
    web = team.space(files=make_files_showing(LOWER))
    ann, ben = team.clone(web.space, name="ann"), team.clone(web.space, name="ben")
    ann.edit("p1.md", "P1 one.", "P1 one, says Ann.")
    team.replace_content(web, make_files_showing(UPPER))
    publish(web, ann, ben)
    for writer in (ann, ben):
        assert writer.files() == [UPPER, "README.md", "SUMMARY.md", "p1.md", "p2.md"]
        assert f"]({UPPER})" in writer.read("p1.md")
    assert "P1 one, says Ann." in web.text("p1")


@pytest.mark.parametrize(
    ("path", "other"),
    [("FAQ.md", "faq.md"), ("cafe\u0301.md", "caf\u00e9.md"), ("Readme.md", "README.md"), ("summary.md", "SUMMARY.md")],
)
def test_a_new_page_of_the_name_of_another_one_is_named_and_sent_once_it_has_its_own(
    docs: Writer, web: Web, path: str, other: str
) -> None:
    """Sent as it is, it came back under a third name, and each run added it once more: the page was there ten times."""
    if other not in FOUR:
        docs.add(other, "First")
        docs.run("push")
        web.merge()
        docs.settle()
    docs.add(path, "Second")
    docs.edit("p1.md", "P1 one.", "P1 one, says Ann.")
    said = docs.run("push", code=65)
    assert f"has a name that is the one of '{other}' on many computers, so neither is sent" in said
    assert "Second" not in web.titles(request=web.merge()).values()
    docs.run("sync", code=65)
    assert "P1 one, says Ann." in web.text("p1")
    docs.rename(path, "own.md")
    docs.run("push")
    web.merge()
    docs.settle()
    assert sorted(web.titles().values()).count("Second") == 1
    assert docs.read("own.md") == text_of("Second")


def test_two_new_pages_of_one_name_wait_for_one_to_be_renamed(docs: Writer, web: Web) -> None:
    docs.add("faq.md", "First")
    docs.add("FAQ.md", "Second")
    assert "FAQ.md held" in docs.run("push", code=65)
    assert not web.requests()
    docs.rename("FAQ.md", "questions.md")
    docs.run("push")
    web.merge()
    docs.settle()
    assert {"First", "Second"} < set(web.titles().values())
    assert len(web.pages()) == 7


def make_files_showing(path: str) -> dict[str, str | bytes]:
    """Return the files of a space whose first page shows a picture."""
    return {**TWO, "p1.md": TWO["p1.md"].replace("P1 two.", f"![logo]({path})"), path: PICTURE}


def publish(web: Web, *writers: Writer) -> None:
    """Let each writer send what they have and merge it, until nobody has any more."""
    for writer in (*writers, *writers):
        writer.settle()
        if web.requests():
            web.merge()
        writer.settle()
    assert len({writer.tip("HEAD^{tree}") for writer in writers}) == 1
