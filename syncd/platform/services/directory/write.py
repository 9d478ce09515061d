"""Export a space to a directory in Git Sync layout: the reverse of `read`."""

import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

import sqlalchemy as sa

from syncd.errors import NO_SPACE, NotFound, PathRefused, make_disk_full
from syncd.layout.tree.files import render_files
from syncd.layout.tree.placement import assign_paths
from syncd.model.revision import Revision
from syncd.platform.http.downloads import DownloadSigner
from syncd.platform.revisions import rendering, revisions
from syncd.platform.revisions.outline import Outline
from syncd.platform.revisions.rendering import RenderContext
from syncd.platform.schema.content import spaces
from syncd.platform.storage.storage import Storage


def export_directory(storage: Storage, space: str, directory: Path) -> int:
    """Write the main content of a space to a directory that is absent or empty, and return how many files it has.

    All files are first written to a directory beside it, which then takes its place, so that no export is half there.
    Raises: NotFound for an unknown space, PathRefused when the directory is not empty or cannot be written,
    DiskFull.
    """
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise PathRefused(f"{directory} is not an empty directory", hint="export to a new directory")
    revision, outline = _open_main_content(storage, space)

    def body(id: str) -> bytes:
        return storage.blobs.get(outline.entries[id].node.body or "")

    files = render_files(revision, body, assign_paths(revision))
    try:
        return _write_files(directory, files)
    except OSError as error:
        if error.errno in NO_SPACE:
            raise make_disk_full(error, directory) from error
        raise PathRefused(
            f"{directory} cannot be written: {error.strerror}", hint="export to a new directory"
        ) from error


def _write_files(directory: Path, files: Iterable[tuple[str, bytes]]) -> int:
    directory.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=directory.parent, prefix=f".{directory.name}-"))
    try:
        count = 0
        for path, data in files:
            target = scratch / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            count += 1
        # mkdtemp keeps others out; an exported directory is as readable as any other.
        scratch.chmod(0o755)
        os.replace(scratch, directory)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    return count


def _open_main_content(storage: Storage, space: str) -> tuple[Revision, Outline]:
    with storage.read() as connection:
        main = sa.select(spaces.c.revision).where(spaces.c.id == space, spaces.c.deleted_at.is_(None))
        id = connection.scalar(main)
        if id is None:
            raise NotFound(f"no space {space}")
        outline = revisions.open_revision(connection, space, id)
    # Addresses play no part in files.
    context = RenderContext("", DownloadSigner("", b"", 0))
    return Revision.model_validate_json(rendering.render_revision(outline, {"id": id}, context)), outline
