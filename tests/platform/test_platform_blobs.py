"""Blobs: Git's own ids, whole or not at all, and no path but one below the directory."""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from syncd.platform.blobs import Blobs


def test_a_blob_has_the_id_that_git_gives_it(tmp_path: Path) -> None:
    data = "# Café\r\n\x00\xff".encode("latin-1", "replace")
    git = subprocess.run(["git", "hash-object", "--stdin"], input=data, capture_output=True, check=True)
    blobs = Blobs(tmp_path)
    oid = blobs.put(data)
    assert oid == git.stdout.decode().strip()
    assert (blobs.get(oid), blobs.size(oid), blobs.has(oid)) == (data, len(data), True)


def test_putting_the_same_again_from_many_threads_leaves_one_whole_file(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        oids = set(pool.map(Blobs(tmp_path).put, [b"x" * 100_000] * 32))
    assert len(oids) == 1
    assert [path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()] == [100_000]


@pytest.mark.parametrize("oid", ["", "../../etc/passwd", "a" * 39, "A" * 40, f"{'a' * 40}\n"])
def test_what_is_no_blob_id_is_never_a_path(tmp_path: Path, oid: str) -> None:
    with pytest.raises(ValueError, match="not a blob id"):
        Blobs(tmp_path).get(oid)
