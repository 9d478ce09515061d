"""Replace a file of the work tree, whole or not at all, with errors as commands report them."""

from pathlib import Path

from syncd.errors import ConfigInvalid
from syncd.files import replace_file


def rewrite_file(top: Path, path: str, text: str) -> None:
    """Replace the text of the file at `path` below the top of a work tree; its mode stays.

    Raises: ConfigInvalid when it cannot be written, PathRefused behind a link; then nothing was changed.
    """
    try:
        replace_file(top, path, text.encode())
    except OSError as error:
        what = f"{top / path} cannot be written: {error.strerror}"
        raise ConfigInvalid(what, hint="your user needs to write the file and its directory: see ls -ld") from error
