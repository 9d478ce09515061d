"""Conversations: what people asked elsewhere, the issues in it, and clusters of issues that are alike."""

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, StringConstraints

from syncd.model.base import ABSENT, Declared, Observed, ObservedId

ID_MAX, SUBJECT_MAX = 255, 512
"""Source: @gitbook/api 0.146.0."""
BODY_MAX = 50_000
PARTS_MAX = 500
TEXT_MAX = 500_000
"""Characters of all parts of one conversation together; the sources show no limits for what is in one."""
ATTRIBUTES_MAX, ATTRIBUTE_NAME_MAX, ATTRIBUTE_MAX = 50, 128, 1024
URL_MAX = 2048
EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
AT_ONCE = 100
"""Conversations in one request."""


class ConversationUrls(Observed):
    """Where a conversation is: here, and where it was held."""

    location: str
    source: str | None = None


class Conversation(Observed):
    """A conversation as a list shows it; without `processed_at`, its issues are still to be found."""

    object: str = "conversation"
    id: str
    subject: str | None = None
    created_at: str
    processed_at: str | None = None
    source: str
    urls: ConversationUrls


class ConversationPart(Observed):
    """One thing that somebody said."""

    type: str
    role: str
    body: str


class ConversationMetadata(Observed):
    """What the sender tells of a conversation."""

    url: str | None = None
    attributes: dict[str, str] | None = None
    created_at: str | None = None


class ConversationDetail(Observed):
    """Answer of `GET …/conversations/{conversationId}`."""

    conversation: Conversation
    parts: tuple[ConversationPart, ...]
    metadata: ConversationMetadata


class ApiLocation(Observed):
    """Where a thing is in the API."""

    location: str


class ClusterUrls(ApiLocation):
    """Where a cluster is: in the API, and in the app."""

    app: str | None = None


class ConversationIssue(Observed):
    """One thing that somebody could not do or wanted to know."""

    object: str = "conversation-issue"
    id: ObservedId
    title: str
    summary: str
    created_at: str
    ingested_at: str
    conversation: str
    cluster: str | None = None
    urls: ApiLocation


class IssueWithConversation(Observed):
    """An issue and the conversation that it comes from."""

    issue: ConversationIssue
    conversation: Conversation


class ClusterStats(Observed):
    """How much is in a cluster."""

    issues: int
    conversations: int
    tasks_total: int = 0
    tasks_backlog: int = 0
    tasks_started: int = 0
    tasks_completed: int = 0
    tasks_cancelled: int = 0


class IssuesCluster(Observed):
    """Issues that are about one thing. `weekly_pulse` counts issues by week, the present one last."""

    object: str = "issues-cluster"
    id: ObservedId
    label: str
    created_at: str
    updated_at: str
    icon: str
    summary: str
    weekly_pulse: tuple[int, ...]
    sources: dict[str, int]
    stats: ClusterStats
    urls: ClusterUrls


ConversationId = Annotated[str, StringConstraints(min_length=1, max_length=ID_MAX, pattern=r"^[^\x00-\x1f\x7f]+$")]
AttributeName = Annotated[str, StringConstraints(min_length=1, max_length=ATTRIBUTE_NAME_MAX)]


class PartWrite(Declared):
    """One thing that somebody said."""

    type: Literal["message"]
    role: Literal["user", "assistant", "team-member"]
    body: str = Field(max_length=BODY_MAX)


class MetadataWrite(Declared):
    """What the sender tells of a conversation."""

    url: str = Field(default="", max_length=URL_MAX, pattern=r"^https?://[^\s]+$")
    attributes: dict[AttributeName, Annotated[str, StringConstraints(max_length=ATTRIBUTE_MAX)]] = Field(
        default={}, max_length=ATTRIBUTES_MAX
    )
    created_at: Annotated[AwareDatetime, Field(ge=EARLIEST, lt=LATEST)] = ABSENT


class ConversationWrite(Declared):
    """Body of `POST …/conversations`, or one of its items. A conversation with a known id takes the other's place."""

    id: ConversationId
    subject: str = Field(default="", max_length=SUBJECT_MAX)
    parts: tuple[PartWrite, ...] = Field(max_length=PARTS_MAX)
    metadata: MetadataWrite = MetadataWrite()
