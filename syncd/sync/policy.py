"""What a team decided about its change requests: how they open, who reads them, and what syncd may do with them."""

from dataclasses import dataclass
from typing import Literal

PreferredSide = Literal["platform", "git"]
"""Which side of a space wins where Git and the platform differ when they are joined for the first time."""

ReadReviews = Literal["never", "changed", "always"]
"""When reviews of an own change request are read only to inform people: `changed` is where it is not as it was."""


WriteMode = Literal["auto", "content", "git-import", "comments"]
"""How a branch reaches the platform: by the content of a change request, else in its comments (`auto`); only by one of
them; or as main content, which the platform imports from the upstream.
"""
GIT_IMPORT = "git-import"


@dataclass(frozen=True)
class Policy:
    """The rules for the change requests of one repository.

    Shape: `status` is that of a new one; `reviewers` (e-mail addresses or ids of users) are asked once, when it is
    open; `update` says whether main content is pulled into an outdated one, `merge` whether one that is approved is
    merged, `deleted_branch` what becomes of one whose branch was deleted.
    """

    status: Literal["open", "draft"] = "open"
    reviewers: tuple[str, ...] = ()
    update: Literal["auto", "never"] = "auto"
    merge: Literal["manual", "auto"] = "manual"
    deleted_branch: Literal["archive", "keep"] = "archive"
