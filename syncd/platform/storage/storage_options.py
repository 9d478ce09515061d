"""Where a platform is stored: its data directory, its database and its files."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import sqlalchemy as sa

from syncd.errors import NO_SPACE, ConfigInvalid, make_disk_full
from syncd.platform.storage.blobs import BlobFolder, Blobs
from syncd.platform.storage.buckets import Bucket
from syncd.platform.storage.failures import make_database_error
from syncd.platform.storage.storage import Storage


@dataclass(frozen=True)
class StorageOptions:
    """The locations of the parts of one platform.

    Shape: `database` is a PostgreSQL URL, which may hold a password, None for SQLite in `data`. `files` is
    `s3://bucket/prefix` or a directory, None for one in `data`; `endpoint` is the address of a service that speaks S3.
    """

    data: Path
    database: str | None = field(default=None, repr=False)
    files: str | None = None
    endpoint: str | None = None

    def open(self) -> Storage:
        """Open the storage, which is created when it is absent. Raises: ConfigInvalid, StoreError, StoreNewer."""
        return Storage(self.data, database=self.database or None, blobs=self._blobs())

    @contextmanager
    def open_for_command(self) -> Iterator[Storage]:
        """Open the storage for one command, and translate what its database cannot do.

        Raises: DiskFull, StoreError, and what `open` raises.
        """
        try:
            with self.open() as storage:
                yield storage
        except sa.exc.OperationalError as error:
            raise make_database_error(error.orig, "the platform's database", self.data) from error
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise
            raise make_disk_full(error, f"the platform's files in {self.data}") from error

    def _blobs(self) -> Blobs | None:
        if self.files and self.files.startswith("s3://"):
            return Bucket(self.files, endpoint=self.endpoint)
        if self.endpoint:
            raise ConfigInvalid("an S3 endpoint needs a bucket", hint="add --files s3://bucket/prefix")
        if self.files and ("://" in self.files or self.files.startswith("s3:")):
            raise ConfigInvalid("files are kept in a directory or a bucket", hint="write s3://bucket/prefix")
        return BlobFolder(Path(self.files)) if self.files else None
