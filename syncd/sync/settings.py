"""Read a space's settings, and other small text files, from a commit."""

from syncd.layout.tree.settings import SETTINGS_PATH, Settings, read_settings
from syncd.repo.repository import Repository
from syncd.sync.binding import Binding


def read_settings_at(repository: Repository, binding: Binding, commit: str | None) -> Settings:
    """Return the settings of the space's `.gitbook.yaml` in a commit, or the defaults."""
    path = binding.path(SETTINGS_PATH)
    return read_settings(read_text_at(repository, commit, path), at=path)


def read_text_at(repository: Repository, commit: str | None, path: str) -> str | None:
    """Return the text of a file in a commit, or None when there is none."""
    oid = repository.lookup(commit, path) if commit else None
    return repository.read(oid).decode("utf-8", "replace") if oid else None
