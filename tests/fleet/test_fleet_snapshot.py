"""The state of a repository at its Git remote: what one worker leaves, another one finds, and nobody else writes."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from syncd.errors import GitFailed, LeaseLost, RefMoved
from syncd.fleet.cache import Cache
from syncd.fleet.snapshot import LOCAL, Snapshot
from syncd.model.anchor import Anchor
from syncd.repo.read.kept_answers import KeptListing
from syncd.repo.remote.remote import Access
from syncd.repo.repository import Repository
from syncd.store.store import Store

REF = "refs/syncd/fleet/docs"
KEY = b"secret of the fleet"


@pytest.fixture
def hosted(tmp_path: Path) -> Path:
    path = tmp_path / "hosted.git"
    Repository.create(path, bare=True).close()
    return path


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path


@contextmanager
def opened(place: Path, hosted: Path, name: str, key: bytes = KEY) -> Iterator[tuple[Snapshot, Repository, Store]]:
    path = place / f"{name}.git"
    Repository.create(path, bare=True).close()
    (path / "syncd").mkdir(exist_ok=True)
    with (
        Store(path / "syncd" / "state.db") as store,
        Repository.open(path) as repository,
        Repository.open(path) as own,
        Snapshot(
            own,
            Access(str(hosted)),
            REF,
            key=key,
            upstream="origin",
            pulse=lambda: None,
            listing=KeptListing(),
        ) as snapshot,
    ):
        yield snapshot, repository, store


def save(snapshot: Snapshot, fence: int = 1) -> bool:
    return snapshot.save(fence=fence, permit=lambda: None)


def refs(repository: Repository) -> dict[str, str]:
    return {ref: oid for ref, oid in repository.list_refs("refs/").items() if ref != LOCAL}


def test_another_worker_finds_what_one_has_left(place: Path, hosted: Path) -> None:
    with opened(place, hosted, "a") as (snapshot, repository, store):
        repository.write_files("refs/syncd/notes/docs/1", {"note": b"one\n"}, "note")
        repository.write_files("refs/syncd/gone", {"note": b"two\n"}, "note")
        store.save_last_seen("space", "main", revision="r1", commit="c1", put=(), removed=())
        assert save(snapshot)
        assert not save(snapshot), "nothing has changed"
        left = refs(repository)
    with opened(place, hosted, "b") as (snapshot, repository, store):
        assert snapshot.restore()
        assert not snapshot.restore(), "there is nothing new"
        assert refs(repository) == left
        found = store.read_last_seen("space")
        assert found is not None
        assert (found.revision, found.commit) == ("r1", "c1")
        gone = repository.resolve("refs/syncd/gone")
        assert gone is not None
        repository.delete_ref("refs/syncd/gone", old=gone)
        store.forget("space", "main")
        assert save(snapshot, fence=2)
    with opened(place, hosted, "a") as (snapshot, repository, store):
        assert snapshot.restore()
        assert list(refs(repository)) == ["refs/syncd/notes/docs/1"]
        assert store.read_last_seen("space") is None


def test_an_idle_run_brings_nothing_to_the_remote(place: Path, hosted: Path) -> None:
    with opened(place, hosted, "a") as (snapshot, repository, _):
        repository.write_files("refs/syncd/notes", {"note": b"one\n"}, "note")
        assert save(snapshot)
    with opened(place, hosted, "a") as (snapshot, repository, store):
        assert not snapshot.restore()
        store.record([])
        assert not save(snapshot, fence=9)


def test_what_is_sent_follows_what_changed(place: Path, hosted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("syncd.fleet.snapshot._FORMER_MAX", 2)
    pages = [Anchor(f"p{number}", "page", f"{number}.md", "form", f"{number:064}", "0" * 40) for number in range(2000)]
    # What arrives stays as it arrived: else the remote writes only what it does not have.
    subprocess.run(["git", "config", "receive.unpackLimit", "1"], cwd=hosted, check=True)
    sent, behind = [], []
    with opened(place, hosted, "a") as (snapshot, repository, store):
        repository.write_files("refs/syncd/notes", {"note": b"one\n"}, "note")
        store.save_last_seen("space", "main", revision="r0", commit="c", put=pages, removed=())
        for number in range(4):
            page = Anchor("p7", "page", f"renamed-{number}.md", "form", "print", "0" * 40)
            store.save_last_seen("space", "main", revision=f"r{number}", commit="c", put=[page], removed=())
            before = _measure(hosted)
            assert save(snapshot)
            sent.append(_measure(hosted) - before)
            behind.append(_count_former(repository))
    assert behind == [0, 1, 2, 0], "the fourth is whole again"
    assert max(sent[1:3]) * 5 < sent[0] < sent[3] * 2
    with opened(place, hosted, "b") as (snapshot, _, store):
        assert snapshot.restore()
        found = store.read_last_seen("space")
        assert found is not None
        assert (found.revision, len(found.anchors), found.anchors["p7"].path) == ("r3", 2000, "renamed-3.md")


def test_whoever_was_overtaken_cannot_write(place: Path, hosted: Path) -> None:
    with opened(place, hosted, "a") as (first, one, _), opened(place, hosted, "b") as (second, other, _):
        one.write_files("refs/syncd/notes", {"note": b"one\n"}, "note")
        assert save(first)
        second.restore()
        other.write_files("refs/syncd/notes", {"note": b"two\n"}, "note")
        assert save(second, fence=2)
        one.write_files("refs/syncd/notes", {"note": b"three\n"}, "note")
        with pytest.raises(RefMoved):
            save(first)
        assert other.resolve(LOCAL) == _read(hosted)


def test_a_push_is_asked_for_and_can_be_refused(place: Path, hosted: Path) -> None:
    def refuse() -> None:
        raise LeaseLost("too late")

    with opened(place, hosted, "a") as (snapshot, repository, _):
        repository.write_files("refs/syncd/notes", {"note": b"one\n"}, "note")
        with pytest.raises(LeaseLost):
            snapshot.save(fence=1, permit=refuse)
    assert _read(hosted) == ""


def test_what_somebody_else_has_pushed_is_not_taken_over(place: Path, hosted: Path) -> None:
    with opened(place, hosted, "a", key=b"a guess") as (snapshot, repository, _):
        repository.write_files("refs/syncd/notes", {"note": b"one\n"}, "note")
        assert save(snapshot)
    with opened(place, hosted, "b") as (snapshot, repository, _):
        with pytest.raises(GitFailed, match="not written by this fleet"):
            snapshot.restore()
        assert refs(repository) == {}


def test_a_ref_that_was_deleted_there_is_written_again(place: Path, hosted: Path) -> None:
    with opened(place, hosted, "a") as (snapshot, repository, _):
        repository.write_files("refs/syncd/notes", {"note": b"one\n"}, "note")
        assert save(snapshot)
        subprocess.run(["git", "update-ref", "-d", REF], cwd=hosted, check=True)
        assert not snapshot.restore()
        repository.write_files("refs/syncd/notes", {"note": b"two\n"}, "note")
        assert save(snapshot)
        assert _read(hosted) == repository.resolve(LOCAL)


def test_the_clone_that_was_not_used_for_longest_goes(tmp_path: Path) -> None:
    with Cache(tmp_path / "cache", bytes_max=1) as cache:
        for name in ("one", "two"):
            with cache.hold_clone(name, "main"):
                pass
            cache.note_use(name)
        assert [path.name for path in (tmp_path / "cache").glob("*.git")] == ["two.git"]
        assert cache.count()[0] == 1


def test_a_clone_that_is_being_made_is_not_the_first_to_go(tmp_path: Path) -> None:
    """Another run of the same worker ends while this one has not come to its own lock."""
    with Cache(tmp_path / "cache", bytes_max=1) as cache:
        with cache.hold_clone("one", "main"):
            pass
        cache.note_use("one")
        with cache.hold_clone("two", "main") as path:
            cache.note_use("one")
            assert (path / "HEAD").is_file()
        cache.note_use("one")
        assert not path.exists(), "its run ended without a note, so nobody knows when it was used"


def test_clones_stay_while_there_is_room(tmp_path: Path) -> None:
    with Cache(tmp_path / "cache", bytes_max=1 << 30) as cache:
        for name in ("one", "two"):
            with cache.hold_clone(name, "main"):
                pass
            cache.note_use(name)
        assert cache.count()[0] == 2


def _measure(hosted: Path) -> int:
    return sum(file.stat().st_size for file in (hosted / "objects").rglob("*") if file.is_file())


def _count_former(repository: Repository) -> int:
    """How many former states the latest one keeps."""
    words = ["git", "log", "--format=%H", "--grep=^syncd: state of a repository", LOCAL]
    done = subprocess.run(words, cwd=repository.git_dir, capture_output=True, text=True, check=True)
    return len(done.stdout.split()) - 1


def _read(hosted: Path) -> str:
    done = subprocess.run(["git", "rev-parse", "--verify", "-q", REF], cwd=hosted, capture_output=True, text=True)
    return done.stdout.strip()
