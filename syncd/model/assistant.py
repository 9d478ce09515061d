"""What renderers ask of a site's assistant, and what agents tell a site (@gitbook/api 0.202.0)."""

from typing import Any, Literal

from pydantic import ConfigDict, Field

from syncd.model.base import ABSENT, Declared

MESSAGES_MAX = 100
FEEDBACK_MAX = 1_000
"""Characters of an agent's feedback that are kept."""
_ADDRESS_MAX = 4_096


class AssistantMessage(Declared):
    """A message of a conversation; `content` is text or a document."""

    model_config = ConfigDict(extra="ignore")

    role: Literal["user", "assistant", "developer"]
    content: str | dict[str, Any]


class AssistantRequest(Declared):
    """Body of `POST …/ai/response`; of tools, models and sessions nothing is taken."""

    model_config = ConfigDict(extra="ignore")

    input: tuple[AssistantMessage, ...] = Field(max_length=MESSAGES_MAX)
    previous_response_id: str = ABSENT


class AgentFeedback(Declared):
    """Body of `POST …/agent-feedback`: what an agent says of a page."""

    feedback: str = Field(min_length=1, max_length=10_000)
    goal: str = Field(default=ABSENT, max_length=1_000)
    url: str = Field(min_length=1, max_length=_ADDRESS_MAX)
    space_id: str = Field(min_length=1, max_length=255)
    page_id: str = Field(min_length=1, max_length=255)
    source: Literal["mcp", "assistant"] = ABSENT
