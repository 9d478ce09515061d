"""A path below a directory leads nowhere else: no link is followed, and a file is written whole or not at all."""

import os
import shutil
import stat
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from syncd.errors import PathRefused
from syncd.files import create_file, open_file, read_file, remove_file, replace_file, write_own_file

Act = Callable[[Path, str], object]
ACTS: dict[str, Act] = {
    "read": read_file,
    "replace": lambda top, path: replace_file(top, path, b"new"),
    "remove": remove_file,
    "create": lambda top, path: create_file(top, path, b"new"),
}
acts = pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A directory with a file and a folder, and links that lead out of it and stay in it."""
    top, outside = tmp_path / "top", tmp_path / "outside"
    for directory in (top / "folder", outside):
        directory.mkdir(parents=True)
        (directory / "file").write_bytes(b"old")
    (top / "file").write_bytes(b"old")
    (top / "out").symlink_to(outside)
    (top / "within").symlink_to("folder")
    (top / "link").symlink_to(outside / "file")
    (top / "dangling").symlink_to(outside / "nothing")
    return top


def names(top: Path) -> list[str]:
    return sorted(str(path.relative_to(top)) for path in top.rglob("*"))


def test_files_are_read_replaced_and_made(top: Path) -> None:
    (top / "folder" / "file").chmod(0o750)
    before = names(top)
    replace_file(top, "folder/file", b"new")
    assert read_file(top, "folder/file") == b"new"
    assert stat.S_IMODE((top / "folder" / "file").stat().st_mode) == 0o750
    assert names(top) == before
    create_file(top, "folder/deep/er/file", b"first")
    assert read_file(top, "folder/deep/er/file") == b"first"
    replace_file(top, "fresh", b"first", mode=0o600)
    assert stat.S_IMODE((top / "fresh").stat().st_mode) == 0o600
    with open_file(top, "fresh") as file:
        assert file.read(3) == b"fir"
    remove_file(top, "fresh")
    assert not (top / "fresh").exists()


@pytest.mark.parametrize(("mode", "directory_mode"), [(0o600, 0o700), (0o644, 0o755)])
def test_an_own_file_has_its_mode_whatever_the_umask_and_what_was_there(
    top: Path, mode: int, directory_mode: int
) -> None:
    before = os.umask(0o027)
    try:
        write_own_file(top / "new" / "file", b"first", mode=mode)
        write_own_file(top / "link", b"new", mode=mode)
    finally:
        os.umask(before)
    assert (top / "new" / "file").read_bytes() == b"first"
    assert stat.S_IMODE((top / "new" / "file").stat().st_mode) == mode
    assert stat.S_IMODE((top / "new").stat().st_mode) == directory_mode & ~0o027
    assert (top / "link").read_bytes() == b"new"
    assert (top.parent / "outside" / "file").read_bytes() == b"old"
    assert [path.name for path in top.rglob(".*")] == []


def test_an_own_file_that_cannot_be_written_leaves_nothing_behind(top: Path) -> None:
    before = names(top)
    with pytest.raises(IsADirectoryError):
        write_own_file(top / "folder", b"new", mode=0o600)
    assert names(top) == before


@acts
@pytest.mark.parametrize("path", ["out/file", "out/new", "within/file", "within/new", "folder/../out/file"])
def test_nothing_is_reached_through_a_folder_that_is_a_link(top: Path, act: Act, path: str) -> None:
    before = names(top.parent)
    with pytest.raises(PathRefused):
        act(top, path)
    assert names(top.parent) == before
    assert (top.parent / "outside" / "file").read_bytes() == b"old"


@pytest.mark.parametrize("path", ["link", "dangling", "folder"])
def test_what_is_no_file_is_neither_read_nor_replaced(top: Path, path: str) -> None:
    before = names(top.parent)
    for act in (ACTS["read"], ACTS["replace"], ACTS["remove"]):
        with pytest.raises(PathRefused):
            act(top, path)
    with pytest.raises(FileExistsError):
        create_file(top, path, b"new")
    assert names(top.parent) == before
    assert (top.parent / "outside" / "file").read_bytes() == b"old"


@acts
@pytest.mark.parametrize("path", ["", "/etc/passwd", "../outside/file", "folder//file", "./file", "folder/", ".."])
def test_what_is_no_path_below_is_refused(top: Path, act: Act, path: str) -> None:
    with pytest.raises(PathRefused):
        act(top, path)


def test_what_is_not_there_is_told_as_such(top: Path) -> None:
    for path in ("nothing", "nowhere/file"):
        with pytest.raises(FileNotFoundError):
            read_file(top, path)
    with pytest.raises(NotADirectoryError):
        read_file(top, "file/below")


def test_a_pipe_is_not_waited_for(top: Path) -> None:
    os.mkfifo(top / "pipe")
    with pytest.raises(PathRefused):
        read_file(top, "pipe")


def test_a_folder_that_becomes_a_link_at_any_moment_leads_nowhere(top: Path) -> None:
    folder, outside, aside = top / "folder", top.parent / "outside", top.parent / "aside"
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            folder.rename(aside)
            with suppress(FileExistsError):  # a writer may have made the folder anew
                folder.symlink_to(outside)
                folder.unlink()
            while aside.exists():
                try:
                    aside.rename(folder)
                except OSError:
                    shutil.rmtree(folder, ignore_errors=True)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for number in range(300):
            with suppress(PathRefused, FileNotFoundError, FileExistsError):
                replace_file(top, "folder/file", b"new")
                create_file(top, f"folder/{number}", b"new")
                remove_file(top, f"folder/{number}")
    finally:
        done.set()
        thread.join()
    assert names(outside) == ["file"]
    assert (outside / "file").read_bytes() == b"old"
