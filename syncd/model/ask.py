"""Ask: a question about a site's content, and the answer, which grows event by event."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from syncd.model.base import ABSENT, Declared, Observed, ObservedId
from syncd.model.document import Document

QUESTION_MAX = 512
"""Source: @gitbook/api 0.146.0."""
SITE_SPACES_MAX = 100


class AnswerText(Observed):
    """What the answer says: `markdown` or `document`, as was asked for."""

    markdown: str | None = None
    document: Document | None = None


class AskSource(Observed):
    """Where the answer comes from: a page, as of a revision; other types keep their members."""

    type: str
    page: ObservedId | None = None
    space: ObservedId | None = None
    revision: ObservedId | None = None
    reason: str | None = None


class AskAnswer(Observed):
    """The answer so far; without `answer`, nothing was found that would be one."""

    answer: AnswerText | None = None
    followup_questions: tuple[str, ...]
    sources: tuple[AskSource, ...]


class AskEvent(Observed):
    """One event of the stream; the last one has the whole answer."""

    type: str
    answer: AskAnswer | None = None


Id = Annotated[str, StringConstraints(min_length=1, max_length=255)]


class DefaultScope(Declared):
    """What visitors see first: each section's default site-space, or the current one in its place."""

    mode: Literal["default"]
    current_site_space: Id = ABSENT


class SpecificScope(Declared):
    """Only the site-spaces that are named."""

    mode: Literal["specific"]
    site_space_ids: tuple[Id, ...] = Field(min_length=1, max_length=SITE_SPACES_MAX)


class WholeScope(Declared):
    """Every site-space of the site."""

    mode: Literal["all"]


Scope = Annotated[DefaultScope | SpecificScope | WholeScope, Field(discriminator="mode")]


class AskContext(Declared):
    """Where the question was asked."""

    site_space_id: Id = ABSENT


class AskQuestion(Declared):
    """Body of `POST …/ask`."""

    question: str = Field(min_length=1, max_length=QUESTION_MAX)
    scope: Scope = DefaultScope(mode="default")
    context: AskContext = AskContext()
