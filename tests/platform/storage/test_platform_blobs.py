"""Blobs, in a directory and in a bucket: Git's own ids, whole or not at all, and never anything but what was put."""

import secrets
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest
from moto.server import ThreadedMotoServer

from syncd import errors
from syncd.model.blob_id import compute_blob_id
from syncd.platform.server import BackgroundServer
from syncd.platform.storage.blobs import BlobFolder, Blobs
from syncd.platform.storage.buckets import Bucket
from tests.storages import new_storage

KEYS = {"AWS_ACCESS_KEY_ID": "key-of-the-test", "AWS_SECRET_ACCESS_KEY": "secret-of-the-test"}


class Place:
    """Where blobs are, for tests that look behind them; `damage` changes what is kept."""

    def __init__(self, directory: Path, service: str | None, name: str) -> None:
        self.directory, self.service, self.name = directory, service, name
        if service:
            self.s3: Any = boto3.client("s3", endpoint_url=service, region_name="us-east-1")
            self.s3.create_bucket(Bucket=name)

    def open(self) -> Blobs:
        return Bucket(f"s3://{self.name}/kept", endpoint=self.service) if self.service else BlobFolder(self.directory)

    def kept(self) -> dict[str, bytes]:
        if not self.service:
            files = [path for path in self.directory.rglob("*") if path.is_file()]
            return {str(path.relative_to(self.directory)): path.read_bytes() for path in files}
        found = self.s3.list_objects_v2(Bucket=self.name, Prefix="kept/").get("Contents", [])
        return {each["Key"].removeprefix("kept/"): self._read(each["Key"]) for each in found}

    def damage(self, oid: str, data: bytes) -> None:
        if self.service:
            self.s3.put_object(Bucket=self.name, Key=f"kept/{oid[:2]}/{oid[2:]}", Body=data)
        else:
            (self.directory / oid[:2] / oid[2:]).write_bytes(data)

    def _read(self, key: str) -> bytes:
        data: bytes = self.s3.get_object(Bucket=self.name, Key=key)["Body"].read()
        return data


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    """The address of a service that speaks S3, in this process."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials as an operator gives them: in the environment."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(params=["folder", "bucket"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """An empty place for blobs, once of each kind."""
    service: str | None = request.getfixturevalue("service") if request.param == "bucket" else None
    return Place(tmp_path / "blobs", service, f"test-{secrets.token_hex(8)}")


@pytest.fixture
def blobs(place: Place) -> Blobs:
    """The blobs there."""
    return place.open()


def test_a_blob_has_the_id_that_git_gives_it(place: Place, blobs: Blobs) -> None:
    data = "# Café\r\n\x00\xff".encode("latin-1", "replace")
    git = subprocess.run(["git", "hash-object", "--stdin"], input=data, capture_output=True, check=True)
    oid = blobs.put(data)
    assert oid == git.stdout.decode().strip()
    for each in (blobs, place.open()):
        assert (each.get(oid), each.size(oid), each.has(oid)) == (data, len(data), True)
        length, pieces = each.stream(oid)
        assert (length, b"".join(pieces)) == (len(data), data)


def test_what_is_not_here_is_said_to_be_absent(blobs: Blobs) -> None:
    absent = compute_blob_id(b"absent")
    assert not blobs.has(absent)
    for read in (blobs.get, blobs.size, blobs.stream):
        with pytest.raises(FileNotFoundError):
            read(absent)


def test_putting_the_same_again_from_many_threads_leaves_one_whole_blob(place: Place, blobs: Blobs) -> None:
    with ThreadPoolExecutor(8) as pool:
        oids = set(pool.map(blobs.put, [b"x" * 100_000] * 32))
    (oid,) = oids
    assert place.kept() == {f"{oid[:2]}/{oid[2:]}": b"x" * 100_000}


def test_many_contents_are_kept_in_order_and_taken_one_by_one(place: Place, blobs: Blobs) -> None:
    contents = [b"", *(b"%d" % (number % 40) for number in range(100)), b"y" * 300_000]
    taken = iter(contents)
    oids = blobs.put_all(taken)
    assert oids == [compute_blob_id(data) for data in contents]
    assert place.kept() == {f"{oid[:2]}/{oid[2:]}": data for oid, data in zip(oids, contents, strict=True)}
    again = place.open()
    assert [again.get(oid) for oid in oids] == contents
    assert b"".join(again.stream(oids[-1])[1]) == contents[-1]


def test_contents_that_cannot_be_read_end_the_keeping(blobs: Blobs) -> None:
    def contents() -> Iterator[bytes]:
        yield b"one"
        raise LookupError

    with pytest.raises(LookupError):
        blobs.put_all(contents())


def test_what_is_there_is_never_replaced(place: Place, blobs: Blobs) -> None:
    oid = blobs.put(b"first")
    # Two contents of one id, as an attacker may have made them.
    place.damage(oid, b"other")
    place.open().put(b"first")
    assert place.kept() == {f"{oid[:2]}/{oid[2:]}": b"other"}


def test_a_damaged_blob_is_never_read_as_if_it_were_whole(place: Place, blobs: Blobs) -> None:
    oid = blobs.put(b"first" * 100_000)
    place.damage(oid, b"other" * 100_000)
    with pytest.raises(errors.StoreError, match="damaged"):
        place.open().get(oid)
    received: list[int] = []
    with pytest.raises(errors.StoreError, match="damaged"):
        received.extend(len(piece) for piece in place.open().stream(oid)[1])
    assert sum(received) < 500_000, "who counts the bytes sees that some are missing"


@pytest.mark.parametrize("oid", ["", "../../etc/passwd", "a" * 39, "A" * 40, f"{'a' * 40}\n"])
def test_what_is_no_blob_id_is_never_a_path(blobs: Blobs, oid: str) -> None:
    with pytest.raises(ValueError, match="not a blob id"):
        blobs.get(oid)


@pytest.mark.parametrize("url", ["s3://", "http://bucket", "s3://key:secret@bucket", "s3://bucket?x=y", "bucket"])
def test_an_address_that_names_no_bucket_is_refused(url: str) -> None:
    with pytest.raises(errors.ConfigInvalid, match="cannot be read") as refused:
        Bucket(url)
    assert "secret" not in str(refused.value)


def test_a_bucket_that_is_not_there_is_said_at_the_start(service: str) -> None:
    with pytest.raises(errors.StoreError, match="bucket nowhere: ListObjectsV2: NoSuchBucket") as refused:
        Bucket("s3://nowhere", endpoint=service)
    assert refused.value.hint.startswith("make the bucket")


@pytest.mark.parametrize(
    ("environ", "why"),
    [
        ({}, "there are no credentials for it"),
        ({"AWS_ACCESS_KEY_ID": "key"}, "of its credentials one half is missing"),
        ({"AWS_PROFILE": "absent"}, "the profile that AWS_PROFILE names is in no file of AWS"),
    ],
)
def test_without_credentials_the_error_says_so(
    service: str, monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], why: str
) -> None:
    for name in KEYS:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(errors.ConfigInvalid) as refused:
        Bucket("s3://bucket", endpoint=service)
    assert refused.value.what.startswith(f"bucket bucket: {why}")
    assert refused.value.hint.startswith("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")


def test_a_bucket_without_an_answer_says_where_none_came_from() -> None:
    with pytest.raises(errors.StoreError, match=r"bucket bucket: nothing answers at http://127\.0\.0\.1:1") as refused:
        Bucket("s3://bucket", endpoint="http://127.0.0.1:1")
    assert "--s3-endpoint" in refused.value.hint


def test_a_service_without_conditions_is_asked_before_each_put() -> None:
    seen: list[tuple[str, str]] = []

    class Simple(BaseHTTPRequestHandler):
        """Knows no `If-None-Match`, as some older services."""

        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            conditional = "If-None-Match" in self.headers
            seen.append((self.command, "conditional" if conditional else ""))
            status = 501 if conditional else {"HEAD": 404}.get(self.command, 200)
            body = b"<Error><Code>NotImplemented</Code></Error>" if status == 501 else b"<ListBucketResult/>"
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(b"" if self.command == "HEAD" else body)

        do_GET = do_PUT = do_HEAD = answer

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Simple) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        bucket = Bucket("s3://bucket", endpoint=f"http://127.0.0.1:{server.server_address[1]}")
        bucket.put(b"one")
        server.shutdown()
    assert seen == [("GET", ""), ("PUT", "conditional"), ("HEAD", ""), ("PUT", "")]


def test_a_platform_with_a_bucket_serves_its_files_and_says_when_the_bucket_is_gone(
    tmp_path: Path, service: str
) -> None:
    place = Place(tmp_path, service, "platform")
    with new_storage(tmp_path / "platform", blobs=place.open()) as storage:
        storage.bootstrap()
        headers = {"Authorization": f"Bearer {storage.token_file.read_text().strip()}"}
        with (
            BackgroundServer(storage) as url,
            httpx.Client(base_url=f"{url}/v1", headers=headers, trust_env=False, timeout=30) as http,
        ):
            organization = http.get("/orgs").json()["items"][0]["id"]
            space = http.post(f"/orgs/{organization}/spaces", json={"title": "Guides"}).json()["id"]
            change = http.post(f"/spaces/{space}/change-requests", json={}).json()["id"]
            picture = {"name": "ü.txt", "contentType": "text/plain", "base64": "aGVsbG8="}
            content = {"changes": [{"operation": "insert_files", "files": [picture]}]}
            written = http.post(f"/spaces/{space}/change-requests/{change}/content", json=content)
            assert written.status_code == 200, written.text
            (file,) = http.get(f"/spaces/{space}/change-requests/{change}/content/files").json()["items"]
            download = httpx.get(file["downloadURL"], trust_env=False, timeout=30)
            assert (download.status_code, download.content) == (200, b"hello")
            assert download.headers["content-length"] == "5"
            assert download.headers["content-disposition"] == "attachment; filename*=utf-8''%C3%BC.txt"

            for key in place.kept():
                place.s3.delete_object(Bucket="platform", Key=f"kept/{key}")
            assert httpx.get(file["downloadURL"], trust_env=False, timeout=30).status_code == 404
            place.s3.delete_bucket(Bucket="platform")
            other = {"operation": "insert_files", "files": [picture | {"base64": "b3RoZXI="}]}
            refused = http.post(f"/spaces/{space}/change-requests/{change}/content", json={"changes": [other]})
            assert refused.status_code == 503
