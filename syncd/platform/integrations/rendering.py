"""What a renderer shows where an integration would draw something: this platform runs none of them."""

from typing import Any
from urllib.parse import urlsplit

from fastapi.responses import JSONResponse
from pydantic import ConfigDict

from syncd.model.integration_ui import IntegrationElement, IntegrationRender
from syncd.platform.http import answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.routing import create_router
from syncd.platform.integrations.access import AtIntegration
from syncd.platform.people.auth import declare_role

router = create_router(prefix="/integrations", tags=["integrations"])


class RenderBody(RequestBody, IntegrationRender):
    """Body of `POST /integrations/{integrationName}/render`."""

    model_config = ConfigDict(extra="ignore")


@router.post(
    "/{integration_name}/render",
    response_model=IntegrationElement,
    openapi_extra=declare_role("read", extension=True, visitors=True),
)
def render_integration_ui_with_post(at: AtIntegration, body: RenderBody) -> JSONResponse:
    """Return a card with the name of an integration, and the address that its block is about, if it has one.

    To a content token there are integrations that everybody sees. Source: `renderIntegrationUIWithPost` and
    `ContentKitRenderOutputElement`, @gitbook/api 0.202.0.
    """
    with at.storage.read() as connection:
        title = str(at.require_visible(connection).title)
    url = body.props.get("url")
    card: dict[str, Any] = {"type": "card", "title": title}
    if isinstance(url, str) and _is_web_address(url):
        card |= {"hint": url, "onPress": {"action": "@ui.url.open", "url": url}}
    element = {"type": "block", "children": [card]}
    return answers.ok({"type": "element", "element": element, "state": {}, "props": body.props})


def _is_web_address(url: str) -> bool:
    try:
        split = urlsplit(url)
    except ValueError:
        return False
    return split.scheme in ("http", "https") and bool(split.netloc)
