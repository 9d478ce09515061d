"""The repository: Git through a hardened process runner; the one room that imports GitPython."""

from syncd.repo.process.git import describe_git
from syncd.repo.remote.remote import Access, Refusal, Remote
from syncd.repo.repository import Repository
from syncd.repo.values import Blob, Commit, Difference, FileChange, Head, Merged, MergedText, Person
from syncd.repo.write.writer import Writer

__all__ = [
    "Access",
    "Blob",
    "Commit",
    "Difference",
    "FileChange",
    "Head",
    "Merged",
    "MergedText",
    "Person",
    "Refusal",
    "Remote",
    "Repository",
    "Writer",
    "describe_git",
]
