"""`syncd resolve` on pages that are about merges: their own lines look like the markers of a conflict."""

from pathlib import Path

import pytest

from tests.cli.sync.two_way import FOUR, Team, Writer

pytestmark = pytest.mark.story

EXAMPLE = """\
```
<<<<<<< main
Before
||||||| base
Between
=======
After
>>>>>>> platform/main
```
"""
PAGE = f"# P1\n\nP1 one.\n\n{EXAMPLE}\nP1 two.\n"


def clone_conflict(team: Team, ours: str, theirs: str, base: str = PAGE) -> Writer:
    """Return a clone in which both sides changed a page."""
    web = team.space(files={**FOUR, "p1.md": base})
    docs = team.clone(web.space)
    docs.write("p1.md", ours)
    docs.commit()
    web.edit("p1", web.text("p1"), theirs)
    docs.run("pull", code=6)
    return docs


def edit_with(docs: Writer, script: Path, *commands: str, code: int = 0) -> str:
    """Let an editor that is a script of sed edit the page in conflict, and return what syncd says."""
    script.write_text("#!/bin/sh\nsed -i " + " ".join(f"-e '{each}'" for each in commands) + ' "$1"\n')
    script.chmod(0o755)
    done = docs.syncd("resolve", "p1.md", "--edit", EDITOR=str(script))
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_lines_that_look_like_markers_are_kept_where_nothing_else_is_in_conflict(team: Team) -> None:
    ours, theirs = PAGE.replace("P1 one.", "P1 one, mine."), PAGE.replace("P1 one.", "P1 one, theirs.")
    docs = clone_conflict(team, ours, theirs)
    assert "Hunk 1 of 1" in docs.run("resolve", code=6)
    docs.run("resolve", "p1.md", "--hunk", "1", "--theirs")
    assert docs.read("p1.md") == theirs


def test_lines_that_look_like_markers_may_be_in_conflict_themselves(team: Team) -> None:
    ours, theirs = PAGE.replace("After", "Mine"), PAGE.replace("After", "Theirs").replace("P1 two.", "P1 two, theirs.")
    docs = clone_conflict(team, ours.replace("Between\n", ""), theirs)
    said = docs.run("resolve", code=6)
    assert "Hunk 1 of 1" in said
    docs.run("resolve", "p1.md", "--hunk", "1", "--ours")
    assert docs.read("p1.md") == ours.replace("Between\n", "").replace("P1 two.", "P1 two, theirs.")


def test_a_page_with_markers_of_its_own_is_edited(team: Team, tmp_path: Path) -> None:
    ours, theirs = PAGE.replace("Before", "Mine"), PAGE.replace("Before", "Theirs")
    docs = clone_conflict(team, ours, theirs)
    said = edit_with(docs, tmp_path / "editor", "/^|\\{8\\}/,/^>\\{8\\}/d", code=6)
    assert "still has markers" in said, "the first of them is left"
    edit_with(docs, tmp_path / "editor", "/^<\\{8\\}/d")
    assert docs.read("p1.md") == ours


def test_a_page_that_is_new_on_both_sides_may_be_about_merges(team: Team) -> None:
    web = team.space()
    docs = team.clone(web.space)
    docs.add("p5.md", "P5")
    docs.write("p5.md", PAGE.replace("P1 one.", "P1 one, mine."))
    docs.commit()
    web.add("p5", PAGE.replace("P1 one.", "P1 one, theirs."))
    docs.run("pull", code=6)
    docs.run("resolve", "p5.md", "--hunk", "1,2", "--theirs")  # the first is its title
    assert docs.read("p5.md") == PAGE.replace("P1 one.", "P1 one, theirs.")
