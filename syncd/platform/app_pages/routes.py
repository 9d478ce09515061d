"""Which address below `/app` shows what, who may ask, and how somebody signs in and out."""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from urllib.parse import urlsplit

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from syncd.model.space import Space
from syncd.net.page_values import (
    LOOPBACK_NAMES,
    SAFE_METHODS,
    PageRequest,
    PageResponse,
    RefusedRequest,
    apply_condition,
    build_headers,
    is_same_token,
    parse_host,
    read_request,
    render_line,
)
from syncd.platform.app_pages import content_pages, request_forms, request_pages, site_pages
from syncd.platform.app_pages.context import AppRequest, build_organization_address
from syncd.platform.app_pages.operations import OperationClient
from syncd.platform.app_pages.preview import answer_preview
from syncd.platform.app_pages.sessions import (
    BrowserSession,
    begin_session,
    end_session,
    find_link_holder,
    find_session,
)
from syncd.platform.http import addresses
from syncd.platform.http.failures import Failure
from syncd.platform.http.time_limits import LONG_S, limit_time
from syncd.platform.settings import PlatformSettings
from syncd.platform.storage.storage import Storage
from syncd.platform.visitors.page_links import OWN_FILES
from syncd.platform.visitors.visits import PREVIEWS
from syncd.web.app.pages import render_app_message, render_sign_in
from syncd.web.app.values import AppFrame

ROOT = "/app"
COOKIE = "syncd_app"
_STATIC: Mapping[str, str] = {
    "status.css": "text/css; charset=utf-8",
    "blocks.css": "text/css; charset=utf-8",
    "more_blocks.css": "text/css; charset=utf-8",
    "app.css": "text/css; charset=utf-8",
    "app.js": "text/javascript; charset=utf-8",
}
_TITLES = {400: "Not possible", 403: "Not allowed", 404: "Not found", 409: "Not done", 412: "Not done yet"}
_COMMAND = "syncd platform login"


async def answer_app(request: Request) -> Response:
    """Answer a request of a browser for a page, or a form that it sends."""
    try:
        page = await _read_page_request(request)
        _require_navigation(page)
        session = await _find_viewer(request, page)
        if session is not None and (preview := await answer_preview(request, session.caller, page.path)) is not None:
            return preview
        found = apply_condition(page, await _answer_page(request, page))
    except RefusedRequest as refused:
        found = render_line(refused.status, refused.reason)
    response = Response(found.body, found.status)
    for name, value in build_headers(found):
        response.headers[name] = value
    return response


async def _read_page_request(request: Request) -> PageRequest:
    """Raises: RefusedRequest for a foreign host or origin."""
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in request.scope["headers"]}
    raw = request.scope.get("raw_path") or request.scope["path"].encode()
    query = request.scope["query_string"]
    target = raw.partition(b"?")[0].decode("latin-1") + (f"?{query.decode('latin-1')}" if query else "")
    page = read_request(
        request.method, target, headers, _list_own_names(request), origin=addresses.find_origin(request)
    )
    body = b"" if page.method in SAFE_METHODS else await request.body()
    return PageRequest(page.method, page.path, page.query, page.headers, body)


async def _find_viewer(request: Request, page: PageRequest) -> BrowserSession | None:
    """The session of somebody who looks at the preview of a site; None for any other page, and without a session."""
    if not page.path.startswith(f"{PREVIEWS}/") or page.method not in SAFE_METHODS:
        return None
    storage: Storage = request.app.state.storage
    return await run_in_threadpool(find_session, storage, page.read_cookie(COOKIE))


def _require_navigation(page: PageRequest) -> None:
    """Refuse a page that a script or another page reads: published sites have the same origin, and texts of others.

    Raises: RefusedRequest. Source: Fetch Metadata Request Headers; a client that is no browser sends none.
    """
    is_for_scripts = page.path.startswith(f"{ROOT}/static/") or page.path.endswith("/version")
    # What a preview loads for itself: the site's own files, asked for by a page of this origin.
    is_for_scripts |= (
        page.path.startswith(f"{PREVIEWS}/")
        and f"/{OWN_FILES}/" in page.path
        and page.headers.get("sec-fetch-site", "same-origin") == "same-origin"
    )
    if page.headers.get("sec-fetch-mode", "navigate") != "navigate" and not is_for_scripts:
        raise RefusedRequest(403, "This page is for a window of its own.")


def _list_own_names(request: Request) -> frozenset[str]:
    """The names by which this server may be called: its public one, the machine's own, and the connection's."""
    settings: PlatformSettings = request.app.state.settings
    server = (request.scope.get("server") or ("", None))[0]
    public = urlsplit(settings.public_url).netloc
    named = {parse_host(public), server.lower(), f"[{server.lower()}]", settings.host.lower()} - {"", "[]"}
    return LOOPBACK_NAMES | named


async def _answer_page(request: Request, page: PageRequest) -> PageResponse:
    path = page.path.removeprefix(ROOT).strip("/").split("/")
    storage: Storage = request.app.state.storage
    if path[0] == "static" and len(path) == 2 and path[1] in _STATIC:
        return PageResponse(_read_static(path[1]), content_type=_STATIC[path[1]])
    if path == ["sign-in"]:
        return await _sign_in(request, page, storage)
    secret = page.read_cookie(COOKIE)
    session = await run_in_threadpool(find_session, storage, secret)
    if session is None:
        return render_signed_out()
    at = AppRequest(request, page, session, OperationClient(request, session.caller))
    try:
        with limit_time(LONG_S):
            if page.method in SAFE_METHODS:
                return await _show_page(at, path)
            return await _carry_out_form(at, path, secret)
    except Failure as failure:
        return _show_failure(at, failure)


async def _sign_in(request: Request, page: PageRequest, storage: Storage) -> PageResponse:
    """A link shows a button, and the button begins the session: whoever only looks at links uses none up."""
    if page.method in SAFE_METHODS:
        link = page.query.get("link", "")
        name = await run_in_threadpool(find_link_holder, storage, link)
        if not name:
            return render_signed_out("This link was used already, or is older than ten minutes.")
        return _build_response(render_sign_in(AppFrame("Sign in"), name, link), cache="no-store")
    secret = await run_in_threadpool(begin_session, storage, page.read_form().get("link", ""))
    if not secret:
        return render_signed_out("This link was used already, or is older than ten minutes.")
    if former := page.read_cookie(COOKIE):
        await run_in_threadpool(end_session, storage, former)
    return PageResponse(
        status=303, headers=(("Location", ROOT), ("Set-Cookie", _write_cookie(request, secret))), cache="no-store"
    )


def _write_cookie(request: Request, secret: str) -> str:
    # Lax: a link in a chat or a mail leads to a page that shows itself. What changes something has the form's token.
    is_secure = addresses.find_origin(request).startswith("https:")
    end = "" if secret else "; Max-Age=0"
    return f"{COOKIE}={secret}; Path={ROOT}; HttpOnly; SameSite=Lax{'; Secure' if is_secure else ''}{end}"


async def _show_page(at: AppRequest, path: Sequence[str]) -> PageResponse:
    match path:
        case [""]:
            return await content_pages.show_organizations(at)
        case ["o", organization]:
            return await content_pages.show_organization(at, organization)
        case ["o", organization, "sites", site]:
            return await site_pages.show_site(at, organization, site)
        case ["preview", *_]:
            raise Failure(404, "There is no preview at this address, or it is not for you.")
        case ["o", organization, "c", _]:
            address = build_organization_address(organization)
            return PageResponse(status=303, headers=(("Location", address),), cache="no-store")
        case ["o", organization, "s", id, "~", *parts]:
            return await _show_part(at, await at.find_space(organization, id), parts)
        case ["o", organization, "s", id, *words]:
            return await content_pages.show_page(at, await at.find_space(organization, id), "/".join(words))
    raise Failure(404, "There is no such page. What the platform has no page for, its API shows.")


async def _show_part(at: AppRequest, space: Space, parts: Sequence[str]) -> PageResponse:
    match parts:
        case ["files"]:
            return await content_pages.show_files(at, space)
        case ["revisions"]:
            return await content_pages.show_history(at, space)
        case ["revisions", revision]:
            return await content_pages.show_revision(at, space, revision)
        case ["changes"]:
            return await request_pages.show_requests(at, space)
        case ["changes", number]:
            return await request_pages.show_request(at, space, number)
        case ["changes", number, "diff"]:
            return await request_pages.show_changes(at, space, number)
        case ["changes", number, "version"]:
            return await request_pages.show_version(at, space, number)
    raise Failure(404, "There is no such page.")


async def _carry_out_form(at: AppRequest, path: Sequence[str], secret: str) -> PageResponse:
    if not is_same_token(at.page.read_form().get("token", ""), at.session.form_token):
        raise Failure(403, "The form is of another session. Load the page again.")
    match path:
        case ["sign-out"]:
            await run_in_threadpool(end_session, at.storage, secret)
            headers = ("Location", ROOT), ("Set-Cookie", _write_cookie(at.request, ""))
            return PageResponse(status=303, headers=headers, cache="no-store")
        case ["o", organization, "s", id, "~", "changes", number, *action]:
            space = await at.find_space(organization, id)
            return await request_forms.change_request(at, space, number, action)
    raise Failure(404, "There is nothing to do here.")


def render_signed_out(why: str = "") -> PageResponse:
    """Return the page of somebody without a session: it says how to get one."""
    what = why or "This page needs a session, and there is none: it ended, or you signed out."
    hint = "on the platform's machine, its operator makes a link that works once; then load this page again"
    return _build_response(render_app_message(AppFrame("Signed out"), what, hint, _COMMAND), 401, cache="no-store")


def _show_failure(at: AppRequest, failure: Failure) -> PageResponse:
    title = _TITLES.get(failure.status, "Not possible now")
    back = "" if at.page.method in SAFE_METHODS else _find_page_of(at.page.path)
    frame = at.build_frame(title)
    return _build_response(render_app_message(frame, failure.message, back=back), failure.status, cache="no-store")


def _find_page_of(path: str) -> str:
    """The address of the change request that a form is of."""
    head, found, rest = path.partition("/~/changes/")
    return f"{head}{found}{rest.partition('/')[0]}" if found else ROOT


def _build_response(text: str, status: int = 200, cache: str = "private, no-cache") -> PageResponse:
    return PageResponse(text.encode(), status, cache=cache)


@cache
def _read_static(name: str) -> bytes:
    return files("syncd.web").joinpath("static", name).read_bytes()
