"""A file of the work tree gets another text, whole or not at all."""

import os
import shutil
from pathlib import Path

from syncd.errors import ConfigInvalid


def rewrite(path: Path, text: str) -> None:
    """Given a file and its new text, write it beside the old one and put it in its place; its mode stays.

    Raises: ConfigInvalid when that cannot be done; then nothing was changed.
    """
    target = path.resolve()
    aside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with open(aside, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, aside)
        aside.replace(target)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise ConfigInvalid(f"{path} cannot be written: {error.strerror}") from error
