"""Templates: content to start from, applied to a space or to a change request."""

from typing import Annotated

from pydantic import Field

from syncd.model.base import Declared
from syncd.model.content_ref import ContentRefWrite

REFERENCES_MAX = 100
"""References that one application of a template may fill in."""

RefName = Annotated[str, Field(min_length=1, max_length=100, pattern="^[A-Za-z0-9_-]+$")]


class TemplateParams(Declared):
    """What a template leaves open: `content_refs` says, by name, where its links to `/refs/<name>` lead."""

    content_refs: dict[RefName, ContentRefWrite] = Field(default={}, max_length=REFERENCES_MAX)


class TemplateUse(Declared):
    """Which template, and with what: the member `template` of a new change request or space."""

    id: str = Field(min_length=1, max_length=100)
    params: TemplateParams = TemplateParams()


class TemplateApply(TemplateUse):
    """Body of `POST /spaces/{spaceId}/content/template`; without a change request, main content is meant."""

    change_request_id: str | None = Field(default=None, min_length=1, max_length=100)
