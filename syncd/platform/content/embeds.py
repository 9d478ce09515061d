"""What an address outside is shown as: its name and site, from the address alone, since nothing is fetched for it."""

from typing import Annotated
from urllib.parse import unquote, urlsplit

from fastapi import Query
from fastapi.responses import JSONResponse

from syncd.model.embed import URL_MAX, Embed
from syncd.platform.http import answers
from syncd.platform.http.failures import Failure
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import CurrentCaller, declare_role
from syncd.platform.spaces.spaces import require_space
from syncd.platform.storage.storage import CurrentStorage

router = create_router(tags=["space-embeds"])

_TITLE_MAX = 200


@router.get(
    "/spaces/{space_id}/embed",
    response_model=Embed,
    openapi_extra=declare_role("read", extension=True, visitors=True),
)
def get_embed_by_url_in_space(
    storage: CurrentStorage,
    caller: CurrentCaller,
    space_id: str,
    url: Annotated[str, Query(min_length=1, max_length=URL_MAX)],
) -> JSONResponse:
    """Return how a page shows an address outside: as a link.

    Raises: Failure 400 for what is no address of the web. Source: `getEmbedByUrlInSpace`, @gitbook/api 0.202.0.
    """
    with storage.read() as connection:
        require_space(connection, caller, space_id)
    try:
        split = urlsplit(url)
        host = split.hostname or ""
    except ValueError:
        split, host = urlsplit(""), ""
    if split.scheme not in ("http", "https") or not host:
        raise Failure(400, "url: must be an address that begins with https:// or http://")
    last = unquote(split.path).strip("/").rpartition("/")[2]
    title = " ".join((last or host).split())[:_TITLE_MAX]
    return answers.ok({"type": "link", "title": title or host, "site": host.removeprefix("www.")})
