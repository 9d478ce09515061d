"""What only a person can make on the platform is told until it is there, also once the change request is merged.

Run these stories: .venv/bin/python -m pytest -n 2 tests/cli/sync/test_cli_two_way_by_hand.py
"""

import tempfile
from pathlib import Path

import pytest

from tests.cli.sync.two_way import FOUR, Team, Web, Writer

pytestmark = pytest.mark.story

TIP, NOTE = ".gitbook/includes/tip.md", ".gitbook/includes/note.md"
ADDED = [
    (TIP, "---\ntitle: tip\n---\n\nTip one.\n", "Create the reusable content 'tip'"),
    (".gitbook/vars.yaml", "size: one\n", "Set the variable 'size'"),
    (".gitbook/tags.yaml", "- tag: x\n  label: X\n", "Create the tag 'x'"),
]


def run_job(team: Team, docs: Writer, web: Web, *, code: int = 0) -> str:
    """Run `push --ci` in a fresh clone of a clone, and return what it says."""
    job = Writer(Path(tempfile.mkdtemp(dir=team.root)) / "job")
    docs.git("clone", "--quiet", f"file://{docs.path}", str(job.path))
    token = team.token.read_text().strip()
    done = job.syncd("push", "--ci", "--url", team.url, "--space", web.space, SYNCD_TOKEN=token)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(("name", "text", "step"), ADDED, ids=["include", "variable", "tag"])
def test_a_new_file_that_the_platform_lacks_is_told_until_it_is_there(
    team: Team, name: str, text: str, step: str
) -> None:
    web = team.space()
    docs = team.clone(web.space)
    docs.write(name, text)
    docs.edit("p1.md", "P1 one.", "P1 one, says A.")
    assert step in docs.run("sync")
    assert step in docs.run("sync")
    web.merge()
    docs.run("sync")
    assert step in docs.run("sync"), "nobody has done it"
    assert "1 manual step" in docs.run("status")
    assert docs.git("ls-tree", "platform/main", name) == ""
    files = {path: docs.read(path) for path in docs.files()}
    team.replace_content(web, files)
    docs.run("sync")
    docs.settle()
    assert {path: docs.read(path) for path in docs.files()} == files
    assert "manual" not in docs.run("status")


@pytest.mark.parametrize(("name", "text", "step"), ADDED, ids=["include", "variable", "tag"])
def test_the_same_where_a_job_has_sent_the_rest(team: Team, name: str, text: str, step: str) -> None:
    web = team.space()
    docs = team.clone(web.space)
    docs.write(name, text)
    docs.edit("p1.md", "P1 one.", "P1 one, says A.")
    assert step in run_job(team, docs, web)
    web.merge()
    docs.run("pull")
    docs.run("pull")
    assert docs.read(name) == text
    assert step in run_job(team, docs, web)


@pytest.mark.parametrize("has_conflict", [False, True])
@pytest.mark.parametrize("sender", ["job", "clone"])
def test_what_others_sent_without_it_stays_in_a_clone_that_mirrors_the_merge(
    team: Team, sender: str, has_conflict: bool
) -> None:
    note = "---\ntitle: note\n---\n\nNote one.\n"
    web = team.space(files=FOUR | {".gitbook/vars.yaml": "size: one\n", NOTE: note})
    docs, other = team.clone(web.space), Writer(team.root / "other")
    docs.replace(".gitbook/vars.yaml", "one", "two")
    docs.replace(NOTE, "Note one.", "Note one, says A.")
    docs.write("SUMMARY.md", docs.read("SUMMARY.md") + "\n## Elsewhere\n\n* [Example](https://example.org)\n")
    docs.replace("p2.md", "P2 one.", "P2 one, says A.")
    docs.edit("p1.md", "P1 one.", "P1 one, says A.")
    files = {path: docs.read(path) for path in docs.files()}
    if has_conflict:
        web.edit("p2", "P2 one.", "P2 one, says W.")
    code = 6 if has_conflict else 0
    docs.git("clone", "--quiet", f"file://{docs.path}", str(other.path))
    other.configure_like(docs)
    said = run_job(team, docs, web, code=code) if sender == "job" else docs.run("sync", code=code)
    web.merge()
    for word in ("'note'", "'size'", "'Elsewhere'"):
        assert word in said
    other.run("pull", code=code)
    assert {path: other.read(path) for path in other.files()} == files
    again = other.run("push", code=code)
    for word in ("'note'", "'size'", "'Elsewhere'"):
        assert word in again
    assert web.requests() == []


def test_what_is_written_in_a_reusable_content_goes_to_the_one_that_the_branch_renamed(team: Team) -> None:
    text = "---\ntitle: note\n---\n\nNote one.\n\nNote two.\n\nNote three.\n"
    shown = FOUR["p1.md"] + '\n{% include ".gitbook/includes/note.md" %}\n'
    files = FOUR | {NOTE: text, "p1.md": shown}
    web = team.space(files=files)
    docs = team.clone(web.space)
    docs.git("mv", NOTE, TIP)
    docs.edit("p1.md", "note.md", "tip.md")
    docs.run("sync")
    said = docs.run("sync")
    assert "Delete the reusable content 'note'" in said
    assert "Create the reusable content 'tip'" in said
    assert not docs.has(NOTE)
    team.replace_content(web, files | {NOTE: text.replace("Note three.", "Note three, says W.")})
    docs.run("sync")
    tip = docs.tip()
    docs.run("sync")
    assert docs.tip() == tip
    assert not docs.has(NOTE)
    assert "Note three, says W." in docs.read(TIP)
