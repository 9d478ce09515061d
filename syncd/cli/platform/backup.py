"""`platform backup`: a copy of the embedded platform's data, while it serves."""

import sys
from pathlib import Path

from syncd.cli.platform.command import PlatformOptions
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.text import escape, print_text
from syncd.errors import ConfigInvalid
from syncd.sync.outcome import PARTLY_DONE


def print_backup(options: PlatformOptions, target: Path, *, as_json: bool) -> int:
    """Make a backup, say what it holds and what is still to be copied otherwise, and return the exit code.

    Raises: ConfigInvalid for a bucket, whose objects other tools copy.
    """
    from syncd.platform.storage.backup import back_up_platform

    if options.files.startswith("s3://"):
        hint = "copy the bucket's prefix with its own tools, and leave --files out here"
        raise ConfigInvalid("what is in a bucket is not copied into a directory", hint=hint)
    blobs = Path(options.files) if options.files else None
    backup = back_up_platform(options.data, blobs, target, has_database=not options.database)
    code = PARTLY_DONE if backup.damaged else 0
    if as_json:
        document = {"copied": backup.copied, "kept": backup.kept, "damaged": list(backup.damaged), "exit_code": code}
        print_document({"command": "platform backup", "directory": str(target), **document})
        return code
    for oid in backup.damaged:
        print_text(f"error: blob {oid} is damaged and was left out; an earlier backup may have it", sys.stderr)
    tables = "the tables are in PostgreSQL: pg_dump copies them" if options.database else "the database"
    print_text(f"{escape(str(target))}: {tables}; {backup.copied} blobs copied, {backup.kept} were there")
    print_text("To restore it: stop the servers, put a copy of this directory in the place of --data, and start one")
    return code
