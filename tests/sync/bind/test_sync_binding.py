"""Bind: Git that holds content already meets a space; nothing of either side is replaced unasked."""

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from syncd.model.space import SpaceCreate
from syncd.platform.services.directory.read import import_directory
from syncd.repo.repository import Repository
from syncd.sync.binding import Binding
from syncd.sync.outcome import Applied, Held, Unchanged
from syncd.sync.policy import PreferredSide
from syncd.sync.run.cycle import run_cycle
from syncd.sync.run.values import RunOptions

Files = Mapping[str, str | bytes]


def git(path: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def holding(tmp_path: Path) -> Callable[..., Path]:
    """A repository that people made, with files and one commit."""

    def make(files: Files, name: str = "clone") -> Path:
        path = tmp_path / name
        Repository.create(path, branch="main").close()
        for inner, content in files.items():
            target = path / inner
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content if isinstance(content, bytes) else content.encode())
        git(path, "add", "--all")
        git(path, "commit", "--quiet", "--message", "Ours")
        return path

    return make


def below(files: Files, directory: str) -> dict[str, str | bytes]:
    return {f"{directory}/{path}": content for path, content in files.items()}


def of(results: Any, flow: str) -> Any:
    return [result.outcome for result in results if result.flow == flow]


def init(world: Any, side: PreferredSide | None = None, *, directory: str = "") -> Any:
    prefer: dict[str, PreferredSide] = {"docs": side} if side else {}
    return world.run(RunOptions(propose=False, prefer=prefer), directory=directory)


def test_the_first_mirror_commit_sits_on_a_commit_and_shows_only_differences(
    world: Any, small: Any, holding: Any
) -> None:
    ours = {**small, "options.md": "Options\n=======\n\n-   first\n-   second\n", "errors.md": "# Mine\n\nMine.\n"}
    path = holding({**ours, "code/main.py": "print()\n"})
    onto = git(path, "rev-parse", "main").strip()
    with world.workspace() as workspace:
        run_cycle(replace(workspace, onto=onto), RunOptions(integrate=False, propose=False))
    assert git(path, "rev-parse", "platform/main^").strip() == onto
    assert git(path, "diff", "--name-only", "main", "platform/main").split() == ["errors.md"]
    assert git(path, "show", "platform/main:options.md").startswith("Options\n=====")


def test_sides_that_are_equal_are_bound_at_once(world: Any, small: Any, holding: Any, fine: Any) -> None:
    path = holding({**small, "notes.txt": "ours\n"})
    tip = git(path, "rev-parse", "main")
    results = init(world)
    fine(results)
    assert git(path, "diff", "--name-only", tip.strip(), "main") == ""
    assert git(path, "rev-parse", "main") == git(path, "rev-parse", "platform/main")
    assert not [ref for ref in git(path, "for-each-ref", "--format=%(refname)").split() if "undecided" in ref]
    results = world.sync()
    fine(results)
    assert all(isinstance(result.outcome, Unchanged) for result in results)
    assert world.requests[-1] == {"GET": 1}


@pytest.mark.long
def test_formatting_alone_is_no_difference(world: Any, small: Any, holding: Any, fine: Any) -> None:
    path = holding({**small, "options.md": "Options\n=======\n\n-   first\n-   second\n"})
    fine(init(world))
    assert (path / "options.md").read_text().startswith("Options\n=====")


DIFFERENT = {"options.md": "# Options\n\nOurs.\n", "only-ours.md": "# Only ours\n"}
TOC = (
    "# Table of contents\n\n* [Home](README.md)\n* [Only ours](only-ours.md)\n\n"
    "## Reference\n\n* [Options](options.md)\n* [Errors](errors.md)\n"
)


def different(small: Files) -> dict[str, str | bytes]:
    kept = {path: small[path] for path in ("README.md", ".gitbook/assets/picture.png", "errors.md")}
    return {**kept, **DIFFERENT, "SUMMARY.md": TOC, "LICENSE": "free\n"}


def test_differences_are_shown_and_nothing_is_moved(world: Any, small: Any, holding: Any) -> None:
    path = holding(different(small))
    before = git(path, "rev-parse", "main")
    (held,) = of(init(world), "bind")
    assert isinstance(held, Held)
    assert held.exit_code == 5
    assert "1 only in Git" in held.why
    assert "only-ours.md" in held.paths
    assert "syncd init --prefer docs=platform" in held.hint
    assert "syncd init --prefer docs=git" in held.hint
    shown = git(path, "diff", "--name-only", "main", "platform/undecided/docs").split()
    assert sorted(shown) == sorted(held.paths)
    assert "LICENSE" not in shown
    for run in (world.sync, world.pull, world.push, world.sync):
        (again,) = of(run(), "bind")
        assert again == held
        assert world.requests[-1] == {}, "an undecided space costs no request"
    assert git(path, "rev-parse", "main") == before
    assert git(path, "for-each-ref", "refs/remotes/platform/main") == ""
    assert git(path, "status", "--porcelain") == ""


def test_preferring_the_platform_takes_what_it_has(world: Any, small: Any, holding: Any, fine: Any) -> None:
    path = holding(different(small))
    init(world)
    fine(init(world, "platform"))
    assert git(path, "rev-parse", "main") == git(path, "rev-parse", "platform/main")
    assert (path / "options.md").read_bytes() == small["options.md"].encode()
    assert not (path / "only-ours.md").exists()
    assert (path / "LICENSE").read_text() == "free\n"
    assert git(path, "status", "--porcelain") == ""
    assert all(isinstance(result.outcome, Unchanged) for result in world.sync())


def test_preferring_git_proposes_the_differences(world: Any, small: Any, holding: Any, fine: Any) -> None:
    path = holding(different(small))
    fine(init(world, "git"))
    assert (path / "options.md").read_text() == DIFFERENT["options.md"]
    assert git(path, "diff", "--name-only", "main^", "main") == "", "the tree is what it was"
    assert git(path, "rev-parse", "main^2") == git(path, "rev-parse", "platform/main")
    fine(world.push())
    number = int(git(path, "for-each-ref", "--format=%(refname)", "refs/remotes/platform/changes").split("/")[-1])
    world.merge(number)
    fine(world.sync())
    assert git(path, "show", "platform/main:options.md") == DIFFERENT["options.md"]
    assert git(path, "show", "platform/main:only-ours.md") == DIFFERENT["only-ours.md"]
    assert git(path, "status", "--porcelain") == ""


@pytest.mark.long
def test_an_edit_that_is_not_committed_keeps_the_space_undecided(world: Any, small: Any, holding: Any) -> None:
    path = holding(different(small))
    (path / "options.md").write_text("not committed\n")
    (held,) = of(init(world, "platform"), "bind")
    assert held.exit_code == 5
    assert (path / "options.md").read_text() == "not committed\n"
    assert git(path, "for-each-ref", "refs/remotes/platform/main") == ""
    git(path, "stash", "--quiet")
    (done,) = of(init(world, "platform"), "bind")
    assert isinstance(done, Applied)


@pytest.mark.long
def test_commits_made_meanwhile_are_part_of_the_comparison(world: Any, small: Any, holding: Any, fine: Any) -> None:
    path = holding(different(small))
    init(world)
    world.commit("More of ours", {"only-ours.md": "# Only ours\n\nMore.\n"})
    world.edit_on_platform({"errors.md": "# Errors explained\n\nNewer.\n"})
    fine(init(world, "git"))
    assert (path / "only-ours.md").read_text() == "# Only ours\n\nMore.\n"
    assert git(path, "show", "platform/main:errors.md").endswith("Newer.\n")


@pytest.mark.long
def test_an_empty_directory_takes_what_the_space_has(world: Any, small: Any, holding: Any, fine: Any) -> None:
    path = holding({"README.md": "# A program\n", "src/main.c": "int main;\n"})
    fine(init(world, directory="docs"))
    assert (path / "docs" / "guide" / "setup.md").read_bytes() == small["guide/setup.md"].encode()
    assert (path / "README.md").read_text() == "# A program\n"
    assert git(path, "status", "--porcelain") == ""


@pytest.mark.long
def test_an_empty_space_is_simply_proposed_to(world: Any, small: Any, holding: Any, fine: Any) -> None:
    path = holding({**small, "SUMMARY.md": "# Table of contents\n\n* [Home](README.md)\n* [Options](options.md)\n"})
    with world.client() as client:
        organization = client.spaces.get(world.space).organization
        world.space = client.spaces.create(organization, SpaceCreate(title="Empty")).id
    fine(init(world))
    assert (path / "options.md").read_text() == small["options.md"]
    fine(world.push())
    assert git(path, "for-each-ref", "--format=%(refname)", "refs/remotes/platform/changes") != ""


@pytest.mark.long
def test_a_repository_without_a_table_of_contents_is_read_by_its_folders(world: Any, small: Any, holding: Any) -> None:
    files = {path: content for path, content in small.items() if path != "SUMMARY.md"}
    holding({**files, "extra.md": "# Extra\n"})
    (held,) = of(init(world), "bind")
    assert "extra.md" in held.paths, "a page that only Git has is a difference"
    assert "options.md" not in held.paths


@pytest.mark.parametrize("side", [pytest.param("platform", marks=pytest.mark.long), "git"])
def test_a_second_space_is_bound_as_the_first_was(
    world: Any, small: Any, holding: Any, fine: Any, tmp_path: Path, side: str
) -> None:
    """The directory holds files, also on main content's ref: no run may take them for its own."""
    path = holding({**below(small, "one"), "two/README.md": "# Two\n\nOurs.\n", "two/keep.md": "# Keep\n"})
    source = tmp_path / "second"
    source.mkdir()
    (source / "README.md").write_text("# Two\n\nTheirs.\n")
    second = import_directory(world.storage, source, title="Two", space=None).space
    fine(init(world, directory="one"))
    world.commit("An edit that is not proposed yet", {"one/options.md": "# Options\n\nNot yet.\n"})

    def run(**wish: Any) -> Any:
        with world.workspace(directory="one") as workspace:
            bindings = (*workspace.bindings, Binding(second, "two", "two"))
            return run_cycle(replace(workspace, bindings=bindings), RunOptions(**wish))

    for _ in range(2):
        (held,) = of(run(), "bind")
        assert "two/keep.md" in held.paths
        assert (path / "two" / "README.md").read_text() == "# Two\n\nOurs.\n"
    fine(run(propose=False, prefer={"two": side}))
    theirs = side == "platform"
    assert (path / "two" / "README.md").read_text() == f"# Two\n\n{'Theirs' if theirs else 'Ours'}.\n"
    assert (path / "two" / "keep.md").exists() is not theirs
    assert (path / "one" / "options.md").read_text() == "# Options\n\nNot yet.\n", "an edit of the other space stays"
    assert "Not yet" not in git(path, "show", "platform/main:one/options.md"), "and is not taken for main content"
    assert git(path, "ls-tree", "-r", "--name-only", "platform/main", "two").split() == [
        "two/README.md",
        "two/SUMMARY.md",
    ]
    results = run()
    fine(results)
    assert git(path, "status", "--porcelain") == ""


def test_a_run_that_is_killed_between_two_steps_is_taken_up(
    world: Any, small: Any, holding: Any, fine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = holding(different(small))
    init(world)
    real = Repository.update_ref

    def killed(self: Repository, ref: str, new: str, *, old: str | None) -> None:
        if ref == "refs/remotes/platform/main":
            raise KeyboardInterrupt
        real(self, ref, new, old=old)

    monkeypatch.setattr(Repository, "update_ref", killed)
    with pytest.raises(KeyboardInterrupt):
        init(world, "git")
    monkeypatch.undo()
    tip = git(path, "rev-parse", "main")
    fine(world.pull())
    assert git(path, "rev-parse", "main") == tip
    assert git(path, "rev-parse", "platform/main") == git(path, "rev-parse", "main^2")
    assert git(path, "for-each-ref", "refs/remotes/platform/undecided") == ""
    assert (path / "options.md").read_text() == DIFFERENT["options.md"]


def test_a_branch_that_carries_mirror_commits_needs_no_choice(
    world: Any, small: Any, fine: Any, tmp_path: Path
) -> None:
    world.clone()
    world.commit("Mine", {"options.md": "# Options\n\nMine.\n"})
    world.edit_on_platform({"errors.md": "# Errors explained\n\nTheirs.\n"})
    git(tmp_path, "clone", "--quiet", "clone", "second")
    fine(world.run(RunOptions(), "second"))
    second = tmp_path / "second"
    assert (second / "options.md").read_text() == "# Options\n\nMine.\n"
    assert (second / "errors.md").read_text() == "# Errors explained\n\nTheirs.\n"
    assert git(second, "diff", "--name-only", "platform/main", "main").split() == ["options.md"]


@pytest.mark.long
def test_what_a_person_made_of_a_mirror_commit_is_no_memory(world: Any, small: Any, tmp_path: Path) -> None:
    world.clone()
    world.commit("Mine", {"options.md": "# Options\n\nMine.\n"})
    message = world.git("log", "-1", "--format=%B", "platform/main")
    world.git("checkout", "--quiet", "--orphan", "squashed")
    world.git("commit", "--quiet", "--message", message)
    world.git("branch", "--force", "main", "squashed")
    git(tmp_path, "clone", "--quiet", "--branch", "main", "clone", "second")
    (held,) = of(world.run(RunOptions(), "second"), "bind")
    assert held.paths == ("options.md",), "its edit is not taken for main content"


@pytest.mark.long
def test_a_content_of_a_change_request_in_the_branch_is_no_memory(
    world: Any, small: Any, fine: Any, tmp_path: Path
) -> None:
    world.clone()
    world.commit("Mine", {"options.md": "# Options\n\nMine.\n"})
    fine(world.push())
    with world.client() as client:
        from syncd.model.content_write import ContentWrite, UpdatePage

        (page,) = [page for page in client.content.get(world.space).pages if page.title == "Home"]
        edit = UpdatePage.model_validate({"page": page.id, "document": {"markdown": "# Home\n\nReviewed.\n"}})
        client.change_requests.write_content(world.space, "1", ContentWrite(changes=(edit,)))
    fine(world.sync())
    assert "Reviewed" in world.git("show", "main:README.md")
    git(tmp_path, "clone", "--quiet", "clone", "second")
    fine(world.run(RunOptions(propose=False), "second"))
    second = tmp_path / "second"
    assert "Reviewed" in git(second, "show", "main:README.md")
    assert git(second, "diff", "--name-only", "platform/main", "main").split() == ["README.md", "options.md"]
