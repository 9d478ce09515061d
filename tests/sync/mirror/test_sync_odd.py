"""Git LFS, submodules and symbolic links in a space's directory: none is followed, replaced or taken for content."""

import hashlib
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from syncd.layout.tree.lfs_pointers import LfsPointer, parse_pointer
from syncd.sync.outcome import Held

PICTURE = b"\x89PNG\r\n\x1a\n a large picture, or so"
PAGE = "# Usage\n\n![New](../.gitbook/assets/large.png)\n"


def pointer(data: bytes) -> bytes:
    oid = hashlib.sha256(data).hexdigest()
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(data)}\n".encode()


def stored(clone: Path, data: bytes, wrong: bytes = b"") -> None:
    """Put an object where git-lfs does."""
    oid = hashlib.sha256(data).hexdigest()
    path = clone / ".git/lfs/objects" / oid[:2] / oid[2:4] / oid
    path.parent.mkdir(parents=True)
    path.write_bytes(wrong or data)


def files_there(world: Any) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    with world.client() as client:
        for file in client.content.get(world.space).files:
            into = BytesIO()
            client.content.download(file, into)
            found[file.name] = into.getvalue()
    return found


def test_a_pointer_is_told_from_text() -> None:
    assert parse_pointer(pointer(b"x")) == LfsPointer(hashlib.sha256(b"x").hexdigest(), 1)
    extended = pointer(b"x").replace(b"\noid", b"\next-0-foo sha256:00\noid")
    assert parse_pointer(extended) is not None
    for other in (b"", b"# Page\n", pointer(b"x")[:-1], b" " + pointer(b"x"), pointer(b"x") + b"x" * 2000):
        assert parse_pointer(other) is None


def test_the_object_of_a_pointer_is_sent_and_the_pointer_stays_in_git(world: Any, fine: Any) -> None:
    clone = world.clone()
    stored(clone, PICTURE)
    world.commit("A picture", {".gitbook/assets/large.png": pointer(PICTURE), "guide/usage.md": PAGE})
    fine(world.push())
    world.merge(1)
    for _ in range(2):
        fine(world.sync())
    assert PICTURE.decode("latin-1") in {data.decode("latin-1") for data in files_there(world).values()}
    assert world.git("diff", "--name-only", "main", "platform/main") == ""
    assert (clone / ".gitbook/assets/large.png").read_bytes() == pointer(PICTURE)
    (clone / ".git/syncd-state.db").unlink()
    world.edit_on_platform({"options.md": "# Options\n\nNewer.\n"})
    assert world.git("show", "platform/main:.gitbook/assets/large.png").encode() == pointer(PICTURE)


@pytest.mark.parametrize("wrong", [pytest.param(b"", marks=pytest.mark.long), b"something else of the same length"])
def test_a_pointer_without_its_object_is_reported_and_all_else_is_proposed(
    world: Any, fine: Any, applied: Any, wrong: bytes
) -> None:
    clone = world.clone()
    if wrong:
        stored(clone, PICTURE, wrong[: len(PICTURE)])
    world.commit("A picture", {".gitbook/assets/large.png": pointer(PICTURE), "guide/usage.md": PAGE})
    results = world.push()
    fine(results)
    changes = applied(results, "propose").changes
    (told,) = [change for change in changes if change.verb == "report"]
    assert "git lfs pull" in told.message
    assert any(change.key == "guide/usage.md" for change in changes)
    assert b"git-lfs" not in b"".join(files_there(world).values())


@pytest.mark.long
def test_a_page_that_is_a_pointer_is_not_sent(world: Any) -> None:
    world.clone()
    world.commit("Pages in LFS", {"options.md": pointer(b"# Options\n")})
    (held,) = [result.outcome for result in world.push() if result.flow == "page"]
    assert isinstance(held, Held)
    assert "options.md:1:1" in held.why
    assert "Git LFS pointer" in held.why


TOC = "# Table of contents\n\n* [Home](README.md)\n* [One](linked/one.md)\n* [Two](module/two.md)\n"


@pytest.mark.parametrize("met", [pytest.param("pulled", marks=pytest.mark.long), "bound"])
def test_a_page_of_the_platform_never_takes_the_place_of_a_submodule_or_link(
    world: Any, tmp_path: Path, met: str
) -> None:
    clone = world.clone()
    outside = tmp_path / "outside"
    outside.mkdir()
    (clone / "linked").symlink_to(outside)
    world.git("add", "--all")
    link = f"160000,{world.git('rev-parse', 'HEAD').strip()},module"
    world.git("update-index", "--add", "--cacheinfo", link)
    world.git("commit", "--quiet", "--message", "A link and a module")
    if met == "bound":  # nothing says that it was ever mirrored
        world.git("update-ref", "-d", "refs/remotes/platform/main")
        (clone / ".git/syncd-state.db").unlink()
        world.git("checkout", "--quiet", "--orphan", "fresh")
        world.git("commit", "--quiet", "--message", "Ours")
        world.git("branch", "--quiet", "--force", "main")
        world.git("checkout", "--quiet", "main")
    world.edit_on_platform({"SUMMARY.md": TOC, "linked/one.md": "# One\n", "module/two.md": "# Two\n"})
    held = [outcome for outcome in (result.outcome for result in world.pull()) if isinstance(outcome, Held)]
    assert held
    if met == "bound":
        assert "linked is a symbolic link, module is a submodule" in held[0].why
    assert list(outside.iterdir()) == []
    assert world.git("ls-tree", "main", "module").startswith("160000 commit")
    assert world.git("ls-tree", "main", "linked").startswith("120000 blob")


def test_a_page_that_became_a_link_is_not_deleted_on_the_platform(world: Any, tmp_path: Path) -> None:
    clone = world.clone()
    (tmp_path / "secret.txt").write_text("hunter2\n")
    (clone / "options.md").unlink()
    (clone / "options.md").symlink_to(tmp_path / "secret.txt")
    world.commit("A link", {})
    (held,) = [result.outcome for result in world.push() if result.flow == "page"]
    assert isinstance(held, Held)
    assert "options.md:1:1: is a symbolic link" in held.why
    with world.client() as client:
        assert not list(client.change_requests.list(world.space, status="draft"))
        assert not list(client.change_requests.list(world.space, status="open"))
