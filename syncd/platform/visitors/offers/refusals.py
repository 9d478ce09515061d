"""Answers to visitors whom a site does not let in, or who ask for what is not there."""

from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import PlainTextResponse, RedirectResponse, Response

from syncd.platform.visitors.sites import PublishedSite
from syncd.platform.visitors.visits import SignInNeeded

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


def answer_sign_in(request: Request, site: PublishedSite, needed: SignInNeeded) -> Response:
    """Return the answer that sends a visitor to where the site's owner says they sign in, and from there back."""
    if not needed.address:
        return answer_unknown(site, "Ask them for an address with a token.")
    back = urlencode({"location": f"/{request.path_params['path']}"})
    joint = "&" if "?" in needed.address else "?"
    return RedirectResponse(f"{needed.address}{joint}{back}", 302, {"Cache-Control": "no-store"})


def answer_unknown(site: PublishedSite, advice: str) -> Response:
    """Return the refusal of a visitor whom the site's owner does not know, with what to do."""
    text = f"{site.row.title} is for visitors whom its owner lets in. {advice}"
    return PlainTextResponse(f"{text}\n", 401, {**STRICT_HEADERS, "Cache-Control": "no-store"})


def answer_closed() -> Response:
    """Return the answer for what is not there for this visitor; it does not say whether it is for others."""
    return PlainTextResponse(
        "Nothing is published at this address.\n", 404, {**STRICT_HEADERS, "Cache-Control": "no-store"}
    )
