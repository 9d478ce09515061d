"""The repository: Git through a hardened process runner; the one room that imports GitPython."""

from syncd.repo.repository import Repository
from syncd.repo.values import Blob, Commit, FileChange, Head, Merged, Person
from syncd.repo.writer import Writer

__all__ = ["Blob", "Commit", "FileChange", "Head", "Merged", "Person", "Repository", "Writer"]
