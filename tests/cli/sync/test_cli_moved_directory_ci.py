"""A job of CI is given another directory of a space: it proposes what people changed, or says why it cannot.

Run these stories: .venv/bin/python -m pytest -n 2 tests/cli/sync/test_cli_moved_directory_ci.py
"""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.sync.two_way import FOUR, HOME, Team, Web, Writer
from tests.sampling import sample_cases

pytestmark = pytest.mark.story

Job = Callable[..., str]
ALL = [HOME, "p1", "p2", "p3", "p4"]
CONFIG = """[platform]
url = "{url}"
token_file = "{token}"
[[repository]]
path = "{path}"
instance = "0a1b2c"
branches = ["main"]
[[repository.space]]
id = "{space}"
name = "docs"
directory = "{directory}"
"""


@pytest.fixture
def job(team: Team, web: Web) -> Job:
    """Runs `push --ci` in a fresh clone, as after a push, and returns what it says."""
    pushed = [""]

    def run(origin: Writer, directory: str, *, depth: int, code: int = 0) -> str:
        root = Path(tempfile.mkdtemp(dir=team.root))
        clone, config = Writer(root / "job"), root / "syncd.toml"
        cut = (f"--depth={depth}",) if depth else ()
        origin.git("clone", "--quiet", *cut, f"file://{origin.path}", str(clone.path))
        given = {"url": team.url, "token": team.token, "path": clone.path, "space": web.space, "directory": directory}
        config.write_text(CONFIG.format(**given))
        pushed.append(origin.tip())
        (root / "event.json").write_text(json.dumps({"before": pushed[-2], "after": pushed[-1], "forced": False}))
        service = {"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "team/docs", "GITHUB_REF_NAME": "main"}
        service["GITHUB_EVENT_PATH"] = str(root / "event.json")
        done = clone.syncd("push", "--ci", "--config", config, **service)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    return run


def make_origin(team: Team, web: Web, *, is_mirrored: bool) -> Writer:
    """Return the team's repository with a space in `b`, with or without a mirror commit in its history."""
    if is_mirrored:
        return team.clone(f"{web.space}=b", name="origin")
    origin = team.repository("origin")
    for path, text in FOUR.items():
        origin.write(f"b/{path}", text)
    origin.commit()
    return origin


def publish(origin: Writer, web: Web, job: Job, *, is_mirrored: bool) -> None:
    """Let a job propose an edit that is merged, and somebody edit another page in the browser."""
    origin.edit("b/p2.md", "P2 one.", "P2 one, says Git.")
    job(origin, "b", depth=0)
    web.merge()
    if is_mirrored:
        origin.run("pull")
    web.edit("p3", "P3 one.", "P3 one, says the web.")


PLACES = sample_cases([(False, 0), (False, 1), (True, 0), (True, 1), (True, 2)], kept=(1, 2, 4))


@pytest.mark.parametrize(("is_mirrored", "depth"), PLACES)
@pytest.mark.parametrize("is_published", [False, True])
def test_files_that_were_moved_are_the_same_pages(
    team: Team, web: Web, job: Job, is_mirrored: bool, depth: int, is_published: bool
) -> None:
    origin = make_origin(team, web, is_mirrored=is_mirrored)
    if is_published:
        publish(origin, web, job, is_mirrored=is_mirrored)
    origin.git("mv", "b", "c")
    origin.edit("c/p1.md", "P1 two.", "P1 two, says Git.")
    job(origin, "c", depth=depth)
    assert web.slugs(request=web.proposed()) == ALL
    assert "P1 two, says Git." in web.text("p1", request=web.proposed())
    origin.edit("c/p4.md", "P4 two.", "P4 two, says Git.")
    job(origin, "c", depth=depth)
    job(origin, "c", depth=depth)
    web.merge()
    origin.edit("c/p4.md", "P4 three.", "P4 three, says Git.")
    job(origin, "c", depth=depth)
    web.merge()
    assert web.slugs() == ALL
    for slug, text in (("p1", "P1 two, says Git."), ("p4", "P4 two, says Git."), ("p4", "P4 three, says Git.")):
        assert text in web.text(slug)
    assert ("P3 one, says the web." in web.text("p3")) is is_published


@pytest.mark.parametrize(("is_mirrored", "depth"), PLACES)
def test_files_that_were_not_moved_are_deleted_nowhere(
    team: Team, web: Web, job: Job, is_mirrored: bool, depth: int
) -> None:
    origin = make_origin(team, web, is_mirrored=is_mirrored)
    publish(origin, web, job, is_mirrored=is_mirrored)
    origin.edit("b/p1.md", "P1 two.", "P1 two, says Git.")
    if is_mirrored and depth != 1:
        said = job(origin, "c", depth=depth, code=78)
        assert "docs is in b/, and the configuration says c/, but a job moves no files; nothing was moved" in said
        assert 'or put directory = "b" back' in said
    else:
        said = job(origin, "c", depth=depth, code=5)
        assert "4 would be deleted; main has no directory c" in said
        assert "look whether the space is bound to the right directory" in said
    assert not web.requests()


def test_pages_in_both_directories_are_deleted_nowhere(team: Team, web: Web, job: Job) -> None:
    origin = make_origin(team, web, is_mirrored=True)
    (origin.path / "c").mkdir()
    origin.git("mv", "b/README.md", "b/SUMMARY.md", "b/p1.md", "c/")
    origin.edit("c/SUMMARY.md", "* [P2](p2.md)\n* [P3](p3.md)\n* [P4](p4.md)\n", "")
    assert "main has pages in both: b/p2.md, b/p3.md, b/p4.md" in job(origin, "c", depth=0, code=78)
    assert not web.requests()


@pytest.mark.parametrize(
    ("depth", "is_published", "text"),
    sample_cases(
        [(depth, is_published, text) for depth in (0, 1) for is_published in (False, True) for text in ("two", "2")],
        kept=(1, 6),
    ),
)
def test_pages_in_both_directories_are_deleted_nowhere_without_a_mirror_commit(
    team: Team, web: Web, job: Job, depth: int, is_published: bool, text: str
) -> None:
    origin = make_origin(team, web, is_mirrored=False)
    if is_published:
        publish(origin, web, job, is_mirrored=False)
    (origin.path / "c").mkdir()
    origin.git("mv", "b/README.md", "b/SUMMARY.md", "b/p1.md", "c/")
    origin.replace("b/p2.md", "P2 two.", f"P2 {text}.")
    origin.edit("c/SUMMARY.md", "* [P2](p2.md)\n* [P3](p3.md)\n* [P4](p4.md)\n", "")
    said = job(origin, "c", depth=depth, code=78)
    assert "docs is in c/, and pages of it are elsewhere: b/p2.md, b/p3.md, b/p4.md" in said
    assert not web.requests()
    origin.git("mv", "b/p2.md", "b/p3.md", "b/p4.md", "c/")
    origin.edit("c/SUMMARY.md", "* [P1](p1.md)\n", "* [P1](p1.md)\n* [P2](p2.md)\n* [P3](p3.md)\n* [P4](p4.md)\n")
    job(origin, "c", depth=0)
    for request in web.requests():
        assert web.slugs(request=request.number) == ALL


@pytest.mark.parametrize("directory", ["b", "."])
def test_pages_that_were_moved_out_of_the_directory_are_deleted(team: Team, web: Web, job: Job, directory: str) -> None:
    origin = team.repository("origin")
    for path, text in FOUR.items():
        origin.write(f"{directory}/{path}", text)
    origin.commit()
    (origin.path / "archive").mkdir()
    origin.git("mv", f"{directory}/p2.md", "archive/p2.md")
    origin.edit(f"{directory}/SUMMARY.md", "* [P2](p2.md)\n", "")
    assert "pages of it are elsewhere: archive/p2.md" in job(origin, directory, depth=1, code=78)
    job(origin, directory, depth=0)
    assert web.slugs(request=web.proposed()) == [HOME, "p1", "p3", "p4"]


def test_a_job_of_an_old_configuration_moves_nothing_back(team: Team, web: Web, job: Job) -> None:
    origin = make_origin(team, web, is_mirrored=True)
    origin.replace(".git/syncd.toml", 'directory = "b"', 'directory = "c"')
    origin.settle()
    origin.edit("c/p1.md", "P1 two.", "P1 two, says Git.")
    assert 'set directory = "c"' in job(origin, "b", depth=0, code=78)
    job(origin, "c", depth=0)
    assert web.slugs(request=web.proposed()) == ALL
