"""Blobs in a bucket that speaks S3, for platforms on several machines; the only module that imports boto3.

Credentials come from where boto3 looks for them, never from an option. The bucket's policy must allow to list, get and
put: without the right to list, S3 does not tell an object that is absent from one that is forbidden.
"""

import base64
import hashlib
import importlib.util
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from syncd.errors import ConfigInvalid, StoreError, SyncdError
from syncd.model.blob_id import begin_blob_hash, compute_blob_id
from syncd.platform.cache import Cache
from syncd.platform.database.database import READERS
from syncd.platform.storage.blobs import Blobs, build_blob_path, verify_blob

PARALLEL = 16
"""Uploads that run at once."""
CONNECT_S, READ_S, TRIES = 5, 10, 3

_ON_THE_WAY_BYTES = 64 * 2**20
_REMEMBERED_BYTES = 64 * 2**20
_KNOWN_MAX = 200_000
_PIECE_BYTES = 2**18
_CHECKED_FIRST_BYTES = 2**16
"""Longer content is only sent when the bucket does not have it; shorter content is cheaper to send than to check."""
_ABSENT = {"404", "NoSuchKey", "NotFound"}
_ALREADY_PRESENT = {"412", "PreconditionFailed"}
_UNSUPPORTED = {"501", "NotImplemented"}
_CREDENTIALS_HINT = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE: syncd help platform-storage"
_CREDENTIAL_FAILURES = {
    "NoCredentialsError": "there are no credentials for it",
    "PartialCredentialsError": "of its credentials one half is missing: the key's id, or the secret",
    "CredentialRetrievalError": "its credentials cannot be obtained",
    "TokenRetrievalError": "its credentials cannot be obtained",
    "ProfileNotFound": "the profile that AWS_PROFILE names is in no file of AWS",
    "ConfigParseError": "the files of AWS, such as ~/.aws/config, cannot be read",
}
"""What is said of an error of boto3, by its class: a message of boto3 could hold a credential."""
_CONNECTION_FAILURES = {
    "ConnectTimeoutError": "nothing answers",
    "EndpointConnectionError": "nothing answers",
    "ConnectionClosedError": "the connection was closed before an answer",
    "ReadTimeoutError": "the answer takes too long",
    "ProxyConnectionError": "the proxy does not answer",
    "SSLError": "its TLS certificate is not accepted",
}
_REFUSAL_HINTS = {
    "AccessDenied": "its policy must allow these credentials to list the bucket, and to get and put objects",
    "ExpiredToken": "the credentials are too old: obtain new ones",
    "InvalidAccessKeyId": "AWS_ACCESS_KEY_ID is not of this service",
    "NoSuchBucket": "make the bucket, or name another with --files s3://BUCKET/PREFIX",
    "RequestTimeTooSkewed": "set the clock of this machine",
    "SignatureDoesNotMatch": "AWS_SECRET_ACCESS_KEY does not belong to AWS_ACCESS_KEY_ID",
}


class Bucket(Blobs):
    """Blobs below a prefix of a bucket, in the same layout as in a directory."""

    is_local = False

    def __init__(self, url: str, *, endpoint: str | None = None) -> None:
        """Open the bucket at `s3://bucket/prefix`, on AWS or at the endpoint of another service.

        Raises: ConfigInvalid for an address that is none and without credentials; StoreError when the bucket cannot be
        used.
        """
        self._bucket, self._prefix = _parse_bucket_url(url)
        self._where = endpoint or "AWS"
        self._conditional = True
        self._contents: Cache[str, bytes] = Cache(_REMEMBERED_BYTES, weigh=lambda data: len(data) + 100)
        self._known: Cache[str, bool] = Cache(_KNOWN_MAX)
        with self._translate_errors(without_credentials=ConfigInvalid):
            self._client = _create_client(endpoint)
            self._client.list_objects_v2(Bucket=self._bucket, Prefix=self._prefix, MaxKeys=1)

    def put_all(self, contents: Iterable[bytes]) -> list[str]:
        """Store contents durably and return their Git blob ids in order; several uploads run at once."""
        oids: list[str] = []
        under_way: deque[tuple[Future[None], int]] = deque()
        with ThreadPoolExecutor(PARALLEL) as threads:
            for data in contents:
                oids.append(compute_blob_id(data))
                under_way.append((threads.submit(self._put_blob, oids[-1], data), len(data)))
                while len(under_way) > PARALLEL or sum(size for _, size in under_way) > _ON_THE_WAY_BYTES:
                    under_way.popleft()[0].result()
            for future, _ in under_way:
                future.result()
        return oids

    def put(self, data: bytes) -> str:
        """Store content durably and return its Git blob id."""
        oid = compute_blob_id(data)
        self._put_blob(oid, data)
        return oid

    def get(self, oid: str) -> bytes:
        """Return the content of a blob; recently read content is cached."""
        found = self._contents.get(oid)
        if found is None:
            with self._translate_errors(oid):
                found = self._client.get_object(**self._build_object_args(oid))["Body"].read()
            self._remember_blob(oid, verify_blob(oid, found))
        return found

    def has(self, oid: str) -> bool:
        """Return whether a blob is stored here."""
        try:
            self.size(oid)
        except FileNotFoundError:
            return False
        return True

    def size(self, oid: str) -> int:
        """Return the size of a blob in bytes."""
        with self._translate_errors(oid):
            return int(self._client.head_object(**self._build_object_args(oid))["ContentLength"])

    def stream(self, oid: str) -> tuple[int, Iterator[bytes]]:
        """Return the size of a blob in bytes, and its content in pieces."""
        with self._translate_errors(oid):
            answer = self._client.get_object(**self._build_object_args(oid))
        return answer["ContentLength"], self._read_pieces(oid, answer["ContentLength"], answer["Body"])

    def _read_pieces(self, oid: str, length: int, body: Any) -> Iterator[bytes]:
        digest = begin_blob_hash(length)
        pending = b""
        with body, self._translate_errors(oid):
            for piece in body.iter_chunks(_PIECE_BYTES):
                digest.update(piece)
                if pending:
                    yield pending
                pending = piece
        if digest.hexdigest() != oid:
            raise StoreError(f"blob {oid} is damaged", hint="restore it from a backup")
        yield pending

    def _put_blob(self, oid: str, data: bytes) -> None:
        if self._known.get(oid) or (len(data) > _CHECKED_FIRST_BYTES and self.has(oid)):
            return
        digest = hashlib.md5(data, usedforsecurity=False).digest()
        sent = {**self._build_object_args(oid), "Body": data, "ContentMD5": base64.b64encode(digest).decode()}
        with self._translate_errors():
            self._put_new(oid, sent)
        self._remember_blob(oid, data)

    def _put_new(self, oid: str, sent: dict[str, Any]) -> None:
        from botocore.exceptions import ClientError

        try:
            # Only new objects are written: content that was acknowledged is never replaced.
            self._client.put_object(**sent, **({"IfNoneMatch": "*"} if self._conditional else {}))
        except ClientError as refusal:
            code = refusal.response.get("Error", {}).get("Code")
            if code in _UNSUPPORTED and self._conditional:
                self._conditional = False
                if not self.has(oid):
                    self._put_new(oid, sent)
            elif code not in _ALREADY_PRESENT:
                raise

    def _remember_blob(self, oid: str, data: bytes) -> None:
        self._known.put(oid, True)
        self._contents.put(oid, data)

    def _build_object_args(self, oid: str) -> dict[str, str]:
        return {"Bucket": self._bucket, "Key": f"{self._prefix}{build_blob_path(oid)}"}

    @contextmanager
    def _translate_errors(self, oid: str = "", *, without_credentials: type[SyncdError] = StoreError) -> Iterator[None]:
        """Translate errors of boto3; the translation names the bucket and the error code, and holds no credential."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            yield
        except ClientError as refusal:
            error = refusal.response.get("Error", {})
            if oid and error.get("Code") in _ABSENT:
                raise FileNotFoundError(oid) from refusal
            code = str(error.get("Code"))
            what = f"bucket {self._bucket}: {refusal.operation_name}: {code}"
            raise StoreError(what, hint=_REFUSAL_HINTS.get(code, "")) from refusal
        except BotoCoreError as failure:
            name = type(failure).__name__
            if name in _CREDENTIAL_FAILURES:
                what = f"bucket {self._bucket}: {_CREDENTIAL_FAILURES[name]}"
                raise without_credentials(what, hint=_CREDENTIALS_HINT) from failure
            raise self._describe_failure(name) from failure

    def _describe_failure(self, name: str) -> StoreError:
        """The error for one of boto3, by the name of its class."""
        if name in _CONNECTION_FAILURES:
            what = f"bucket {self._bucket}: {_CONNECTION_FAILURES[name]} at {self._where}"
            return StoreError(what, hint="check the network, and --s3-endpoint for a service other than AWS")
        return StoreError(f"bucket {self._bucket}: boto3 reports {name}")


def _parse_bucket_url(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    if parts.scheme != "s3" or not parts.netloc or "@" in parts.netloc or parts.query or parts.fragment:
        raise ConfigInvalid("the bucket's URL cannot be read", hint="write s3://bucket or s3://bucket/prefix")
    prefix = parts.path.strip("/")
    return parts.netloc, f"{prefix}/" if prefix else ""


def _create_client(endpoint: str | None) -> Any:
    if importlib.util.find_spec("boto3") is None:
        raise ConfigInvalid("a bucket needs a library", hint="pip install 'boto3>=1.44,<2'")
    import boto3
    from botocore.config import Config

    config = Config(
        connect_timeout=CONNECT_S,
        read_timeout=READ_S,
        retries={"mode": "standard", "total_max_attempts": TRIES},
        max_pool_connections=PARALLEL + READERS,
        # Services other than AWS know neither buckets as hosts nor the newer checksums.
        s3={"addressing_style": "path" if endpoint else "auto"},
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    session = boto3.session.Session()
    region = session.region_name or "us-east-1"
    try:
        return session.client("s3", endpoint_url=endpoint or None, region_name=region, config=config)
    except ValueError as failure:
        what = f"the bucket cannot be reached: {endpoint or region} is no address of a service, or no region"
        raise ConfigInvalid(what, hint="write --s3-endpoint https://HOST, or set AWS_REGION") from failure
