"""What a renderer asks an integration to draw, and what it gets (ContentKit of @gitbook/api 0.202.0)."""

from typing import Any

from pydantic import ConfigDict, Field

from syncd.model.base import Declared, Observed


class IntegrationRender(Declared):
    """Body of `POST /integrations/{integrationName}/render`; of state and action nothing is taken."""

    model_config = ConfigDict(extra="ignore")

    component_id: str = Field(min_length=1, max_length=255)
    props: dict[str, Any]
    context: dict[str, Any]


class IntegrationElement(Observed):
    """What is to be drawn: an element with the elements in it."""

    type: str
    element: dict[str, Any]
    state: dict[str, Any]
    props: dict[str, Any]
