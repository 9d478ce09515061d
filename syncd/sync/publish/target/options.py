"""What the operator decided about the site that a run builds."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class PublishOptions:
    """Where the site of the first tracked branch goes: into a directory, or to a branch of the upstream.

    Shape: one of `directory`, an absolute path, and `branch` is given. `site_file` is a path from the repository's
    root; there need not be one. `base_url` is the address that readers find the site at, "" where nobody knows.
    With `is_public`, a site that is for visitors who sign in is published for everybody.
    """

    site_file: str
    directory: Path | None = None
    branch: str = ""
    base_url: str = ""
    is_indexed: bool = True
    is_public: bool = False

    @property
    def target(self) -> str:
        """The directory or branch, in words for people."""
        return str(self.directory) if self.directory is not None else self.branch
