"""Space (`space`): pages and files in numbered revisions."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from syncd.model.base import Declared, Nullable, Observed, ObservedId
from syncd.model.merge_rules import MergeRules, NoRules, ObservedMergeRules
from syncd.model.role import DefaultLevel
from syncd.model.translation import Language
from syncd.model.web_address import WebAddress

TITLE_MAX = 50
"""Source: @gitbook/api 0.146.0."""
EMOJI_MAX = 64
"""Characters of an emoji, as itself or as the code points that spell it; the document names no limit."""


def _emoji(text: str) -> str:
    if any(character.isspace() for character in text) or any(ord(character) < 32 for character in text):
        raise ValueError("must be an emoji")
    return text


Emoji = Annotated[str, Field(min_length=1, max_length=EMOJI_MAX), AfterValidator(_emoji)]
SpaceTitle = Annotated[str, Field(min_length=1, max_length=TITLE_MAX)]
EditMode = Literal["live", "locked"]


class GitSync(Observed):
    """The repository that a space follows."""

    repo_name: str | None = None
    installation_provider: str | None = None
    integration: str | None = None
    url: str | None = None
    updated_at: str | None = None


class Space(Observed):
    """A space as the platform shows it. Source: API document, Space."""

    object: str = "space"
    id: ObservedId
    title: str = ""
    emoji: str | None = None
    visibility: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    deleted_at: str | None = None
    edit_mode: str | None = None
    merge_rules: ObservedMergeRules | None = None
    urls: dict[str, str] = {}
    organization: ObservedId | None = None
    parent: ObservedId | None = None
    language: str | None = None
    git_sync: GitSync | None = None
    visitor_auth: dict[str, Any] | None = None
    revision: ObservedId | None = None
    default_level: Nullable[str] = None
    comments: int | None = None
    change_requests: int | None = None
    change_requests_open: int | None = None
    change_requests_draft: int | None = None
    permissions: dict[str, bool] = {}


class SpaceCreate(Declared):
    """Body of `POST /orgs/{organizationId}/spaces` (beyond the API document: @gitbook/api 0.202.0)."""

    title: SpaceTitle | None = None
    emoji: Emoji | None = None
    parent: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    language: Language | None = None
    edit_mode: EditMode | None = None
    empty: bool | None = None


class SpaceUpdate(Declared):
    """Body of `PATCH /spaces/{spaceId}`: unset is unchanged; a null emoji or icon is removed.

    Shape: a space has an emoji or an icon, never both. Source: API document, Spaces; `icon`: @gitbook/api 0.146.0.
    """

    edit_mode: EditMode = "live"
    title: SpaceTitle = "-"
    default_level: Nullable[DefaultLevel] = None
    language: Language = "en"
    merge_rules: MergeRules = NoRules(type="inherit")
    emoji: Nullable[Emoji] = None
    icon: Nullable[WebAddress] = None
