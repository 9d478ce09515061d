"""Blob ids are those of Git, whether a body comes whole or in pieces."""

import pytest

from syncd.model.blob_id import begin_blob_hash, compute_blob_id


@pytest.mark.parametrize(
    ("body", "id"),
    [
        (b"", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),
        (b"hello\n", "ce013625030ba8dba906f756967f9e9ca394464a"),
        (b"what is up, doc?", "bd9dbf5aae1a3862dd1526723246b20206e5fc37"),
    ],
)
def test_a_body_has_the_id_that_git_gives_it(body: bytes, id: str) -> None:
    assert compute_blob_id(body) == id
    digest = begin_blob_hash(len(body))
    for at in range(0, len(body), 3):
        digest.update(body[at : at + 3])
    assert digest.hexdigest() == id
