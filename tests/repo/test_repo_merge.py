"""Merges are computed without a work tree; a conflict names its paths."""

from collections.abc import Callable

import pytest

from syncd.repo.repository import Repository
from syncd.repo.values import Person

Commit = Callable[..., str]
Git = Callable[..., str]
LINES = b"".join(b"line %d\n" % number for number in range(9))


def test_edits_of_different_lines_merge(repository: Repository, commit: Commit, person: Person, git: Git) -> None:
    fork = commit({"a.md": LINES, "b.md": b"b\n"})
    ours = commit({"a.md": LINES.replace(b"line 0", b"ours")}, fork)
    theirs = commit({"a.md": LINES.replace(b"line 8", b"theirs"), "c.md": b"c\n"}, fork)
    merged = repository.merge(ours, theirs)
    assert merged.conflicts == ()
    message = "Merge\n\nSyncd-Space: é\n"
    oid = repository.commit_tree(merged.tree, parents=[ours, theirs], message=message, author=person, committer=person)
    text = repository.read(repository.list_files(oid)["a.md"].oid)
    assert text == LINES.replace(b"line 0", b"ours").replace(b"line 8", b"theirs")
    assert repository.read_commit(oid).parents == (ours, theirs)
    repository.update_ref("refs/heads/merged", oid, old=None)
    assert git("fsck", "--strict", "--no-dangling") == ""


def test_a_conflict_names_every_path_once(repository: Repository, commit: Commit) -> None:
    fork = commit({"ü 1.md": b"1\n", "x/2.md": b"2\n", "gone.md": b"g\n"})
    ours = commit({"ü 1.md": b"ours\n", "x/2.md": b"ours\n", "gone.md": None}, fork)
    theirs = commit({"ü 1.md": b"theirs\n", "x/2.md": b"theirs\n", "gone.md": b"kept\n"}, fork)
    assert repository.merge(ours, theirs).conflicts == ("gone.md", "x/2.md", "ü 1.md")


def test_unrelated_histories_merge(repository: Repository, commit: Commit) -> None:
    merged = repository.merge(commit({"a.md": b"a"}), commit({"b.md": b"b"}))
    assert merged.conflicts == ()


def test_a_page_added_below_a_renamed_folder_stays_where_it_was_put(repository: Repository, commit: Commit) -> None:
    files = {f"guide/{number}.md": LINES + b"%d\n" % number for number in range(4)}
    fork = commit(files)
    moved: dict[str, bytes | None] = dict.fromkeys(files)
    moved |= {path.replace("guide", "manual"): data for path, data in files.items()}
    ours, theirs = commit(moved, fork), commit({"guide/new.md": b"new\n"}, fork)
    merged = repository.merge(ours, theirs)
    assert merged.conflicts == ()
    assert "guide/new.md" in repository.list_files(merged.tree)


def test_texts_merge_with_a_base_of_their_own_all_at_once(repository: Repository, commit: Commit) -> None:
    head, tail = LINES.replace(b"line 0", b"head"), LINES.replace(b"line 8", b"tail")
    other, short = LINES.replace(b"line 0", b"other"), b"line 0\nmore\n"
    at = commit({"base": LINES, "head": head, "tail": tail, "other": other, "short": short})
    oids = {path: blob.oid for path, blob in repository.list_files(at).items()}
    trios = [("base", "head", "tail"), ("base", "head", "other")]
    fine, conflict = repository.merge_texts([(oids[a], oids[b], oids[c]) for a, b, c in trios])
    assert not fine.conflicts
    assert repository.read(fine.oid) == head.replace(b"line 8", b"tail")
    markers = b"<<<<<<< ours\nhead\n||||||| base\nline 0\n=======\nother\n>>>>>>> theirs\n"
    assert conflict.conflicts
    assert conflict.text.startswith(markers)
    (two_new,) = repository.merge_texts([("", oids["base"], oids["short"])])
    assert two_new.text.startswith(b"line 0\n<<<<<<< ours\nline 1\n"), "what both have is not in dispute"
    assert repository.merge_texts([]) == []


@pytest.mark.parametrize(
    ("own", "size"),
    [
        (b"<<<<<<< ours\n=======\n>>>>>>> theirs\n", 8),
        (b"<<<<<<<<<< ours\n||||||| base\n", 11),
        (b"<<<<<<<<< ours\n>>>>>>>>>> theirs\n", 11),
        (b"Heading\n=======\n", 8),
        (b"Heading\n=========\n", 7),
        (b"<<<<<<<ours\n ======= \n", 7),
        (b"<<<<<<< ours\r\n========\r\n", 9),
    ],
)
def test_markers_are_longer_where_a_text_has_lines_like_them(
    repository: Repository, commit: Commit, own: bytes, size: int
) -> None:
    files = {side: b"one\n%b%b\n%btwo" % (own, side.encode(), own) for side in ("base", "ours", "theirs")}
    oids = {path: blob.oid for path, blob in repository.list_files(commit(files)).items()}
    found, new = repository.merge_texts([(oids["base"], oids["ours"], oids["theirs"])]) + repository.merge_texts(
        [("", oids["ours"], oids["theirs"])]
    )
    begin, base, middle, end = (sign * size for sign in (b"<", b"|", b"=", b">"))
    lines = [begin + b" ours", b"ours", base + b" base", b"base", middle, b"theirs", end + b" theirs"]
    assert found.text == b"one\n%b%b\n%btwo" % (own, b"\n".join(lines), own)
    del lines[2:4]
    assert new.text == b"one\n%b%b\n%btwo" % (own, b"\n".join(lines), own)


def test_what_is_no_text_has_no_markers(repository: Repository, commit: Commit) -> None:
    files = {side: b"\0\n" + side.encode() for side in ("base", "ours", "theirs")}
    oids = {path: blob.oid for path, blob in repository.list_files(commit(files)).items()}
    (found,) = repository.merge_texts([(oids["base"], oids["ours"], oids["theirs"])])
    assert (found.conflicts, found.text) == (True, files["ours"])


def test_a_tree_changes_only_where_it_is_told_to(repository: Repository, commit: Commit, git: Git) -> None:
    tree = repository.find_tree(commit({"a/b.md": b"b", "a/c.md": b"c", "d": b"d"}))
    changed = repository.write_tree(tree, {"a/b.md": None, "a/c.md": None, "d": None, "d/e.md": b"e", "a": b"file"})
    assert sorted(repository.list_files(changed)) == ["a", "d/e.md"]
    assert repository.read(repository.list_files(changed)["d/e.md"].oid) == b"e"
    assert repository.write_tree(None, {}) == git("hash-object", "-t", "tree", "/dev/null").strip()
    assert git("for-each-ref", "refs/syncd/stream") == "", "no ref names what was built on the way"
