"""Agent instructions (`agent-instructions`): what an organization wants its agents to heed."""

from typing import Any, Literal

from syncd.model.base import Declared, Observed
from syncd.model.document import Document


class AgentInstructions(Observed):
    """Instructions as the platform shows them; `updated_by` is a user's id, empty while nobody wrote any."""

    object: Literal["agent-instructions"] = "agent-instructions"
    instructions: Document
    updated_at: str | None = None
    updated_by: str | None = None
    urls: dict[str, Any] = {}


class AgentInstructionsWrite(Declared):
    """Body of `PUT …/agent-instructions`. Source: @gitbook/api 0.146.0."""

    instructions: Document
