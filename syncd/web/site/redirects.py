"""Redirects for servers that are not ours: those that are safe, a map of nginx, and pages that send a browser on."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from markupsafe import Markup

from syncd.web.blocks.elements import check_link, write_element
from syncd.web.site.head import STATIC_POLICY
from syncd.web.site.spelling import spell_address


@dataclass(frozen=True)
class SiteRedirection:
    """A path of the site and where it leads: a whole address, or a path of the site; a note is for people."""

    source: str
    target: str
    note: str = ""


def select_safe(redirects: Iterable[SiteRedirection]) -> tuple[SiteRedirection, ...]:
    """Return the redirects that a browser may follow, each source once, the first of them, with clean addresses."""
    found: dict[str, SiteRedirection] = {}
    for one in redirects:
        source, target = spell_address(one.source), check_link(spell_address(one.target))
        if target and source.startswith("/") and not source.startswith("//") and source != target:
            found.setdefault(source, SiteRedirection(source, target, one.note))
    return tuple(found.values())


def render_nginx_map(redirects: Sequence[SiteRedirection], base: str = "") -> str:
    """Return the redirects as a `map` of nginx, to be included on the level of `http`.

    Shape: `base` is the path below which the site is served, "" for the top of its host.
    Source: ngx_http_map_module: keys are compared with the decoded path, without regard to case.
    """
    prefix = base.rstrip("/")
    targets: dict[str, str] = {}
    for one in redirects:
        target = prefix + one.target if one.target.startswith("/") else one.target
        targets.setdefault(unquote(prefix + one.source), target)
    counts = Counter(key.lower() for key in targets)
    # Two keys that differ in case alone would stop nginx; a regular expression minds the case.
    keys = {key: key if counts[key.lower()] == 1 else f"~^{re.escape(key)}$" for key in targets}
    # "$" would begin a variable in a value, and cannot be escaped there.
    rows = "".join(
        f"    {_quote(keys[key])} {_quote(target.replace('$', '%24'))};\n" for key, target in targets.items()
    )
    return (
        "# In a server block: if ($redirected_to) { return 301 $redirected_to; }\n"
        f'map $uri $redirected_to {{\n    default "";\n{rows}}}\n'
    )


def render_redirect_page(target: str, title: str = "This page has moved") -> str:
    """Return a page that sends a browser on without a script; `target` may be relative.

    Raises: ValueError when the address is none that a link may have.
    """
    address = check_link(target)
    if address is None:
        raise ValueError("no address that a link may have")
    link = write_element("a", address, href=address)
    return str(
        Markup(
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
            '<meta name="robots" content="noindex">\n<title>{title}</title>\n'
            '<link rel="canonical" href="{address}">\n<meta http-equiv="refresh" content="0; url={address}">\n'
            "</head>\n<body><main><h1>{title}</h1>\n<p>{link}</p></main></body>\n</html>\n"
        ).format(policy=STATIC_POLICY, title=title, address=address, link=link)
    )


def _quote(word: str) -> str:
    """A word of an nginx configuration, on one line."""
    escaped = word.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n").replace("\r", r"\r")
    return f'"{escaped}"'
