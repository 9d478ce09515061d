"""Answers to visitors whom a site does not let in, or who ask for what is not there: pages, or a line for programs."""

from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import PlainTextResponse, RedirectResponse, Response

from syncd.platform.visitors.sites import PublishedSite
from syncd.platform.visitors.visits import PREVIEWS, SignInNeeded
from syncd.web.pages.customization import find_locale, resolve_settings
from syncd.web.pages.refusal import RefusalPage, render_refusal
from syncd.web.pages.wording import choose_language, find_words

_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data: https:; media-src 'self' https:; "
    "font-src 'self'; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
STRICT_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Content-Security-Policy": _POLICY,
}
"""Of every answer below a site."""
_FOR_PROGRAMS = (".md", ".txt", ".xml", ".json", ".css", ".js")
"""Endings of addresses that programs read: a line of text says there what a page says elsewhere."""
_READ_BY_PEOPLE = ("/sites/", f"{PREVIEWS}/")
_BUSY = frozenset({429, 503})


def answer_sign_in(request: Request, site: PublishedSite, needed: SignInNeeded) -> Response:
    """Return the answer that sends a visitor to where the site's owner says they sign in, and from there back."""
    if not needed.address:
        return answer_unknown(request, site, is_refused=needed.is_refused)
    back = urlencode({"location": f"/{request.path_params['path']}"})
    joint = "&" if "?" in needed.address else "?"
    return RedirectResponse(f"{needed.address}{joint}{back}", 302, {"Cache-Control": "no-store"})


def answer_unknown(request: Request, site: PublishedSite, *, is_refused: bool) -> Response:
    """Return the refusal of a visitor whom the site's owner does not know; `is_refused` says that a token did not
    count.
    """
    settings = resolve_settings(site.settings, lambda to: "")
    locale = find_locale(settings)
    words = find_words(locale)
    said = (words.refused, words.refused_text) if is_refused else (words.sign_in, words.sign_in_text)
    title = str(settings.title or site.row.title)
    page = render_refusal(*said, locale=locale, site=title, settings=settings)
    return _answer(request, page, f"{title}: {said[0]}. {said[1]}", 401)


def answer_form(request: Request, site: PublishedSite, status: int) -> Response:
    """Return the refusal of what a form of a site sent: it came from elsewhere, or says nothing that the form can."""
    settings = resolve_settings(site.settings, lambda to: "")
    locale = find_locale(settings)
    words = find_words(locale)
    page = render_refusal(
        words.failed, words.form_text, locale=locale, site=str(settings.title or site.row.title), settings=settings
    )
    return _answer(request, page, words.form_text, status)


def answer_closed(request: Request) -> Response:
    """Return the answer for what is not there for this visitor; it does not say whether it is for others."""
    locale = choose_language(request.headers.get("accept-language", ""))
    words = find_words(locale)
    page = render_refusal(words.closed, words.closed_text, words.closed_advice, locale=locale)
    return _answer(request, page, words.closed_text, 404)


def answer_failure(request: Request, status: int) -> Response | None:
    """Return the page for somebody who reads a site when it fails; None where none is read, but by programs."""
    path = str(request.scope["path"])
    if not path.startswith(_READ_BY_PEOPLE) or path.endswith(_FOR_PROGRAMS):
        return None
    locale = choose_language(request.headers.get("accept-language", ""))
    words = find_words(locale)
    said = (words.busy, words.busy_text) if status in _BUSY else (words.failed, words.failed_text)
    return _answer(request, render_refusal(*said, locale=locale), said[1], status)


def _answer(request: Request, page: RefusalPage, line: str, status: int) -> Response:
    headers = {**STRICT_HEADERS, "Cache-Control": "no-store", "Vary": "Accept-Language, Cookie"}
    if str(request.scope["path"]).endswith(_FOR_PROGRAMS):
        return PlainTextResponse(f"{line}\n", status, headers)
    return Response(
        page.html, status, headers | {"Content-Security-Policy": page.policy}, media_type="text/html; charset=utf-8"
    )
