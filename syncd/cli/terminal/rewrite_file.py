"""A file of the work tree gets another text, whole or not at all."""

from pathlib import Path

from syncd.errors import ConfigInvalid
from syncd.files import replace_file


def rewrite(top: Path, path: str, text: str) -> None:
    """Given the top of a work tree, a path below it and a text, let the file there hold it; its mode stays.

    Raises: ConfigInvalid when that cannot be done, PathRefused behind a link; then nothing was changed.
    """
    try:
        replace_file(top, path, text.encode())
    except OSError as error:
        raise ConfigInvalid(f"{top / path} cannot be written: {error.strerror}") from error
