"""Goes through all pages of a site in a browser, from link to link."""

import re
from collections.abc import Callable, Iterable
from urllib.parse import urldefrag, urljoin

from playwright.sync_api import Page

NO_PAGE = re.compile(r"\.(pdf|xml|md|txt)$|/pdf(/|$)")


def visit_every_page(
    page: Page,
    start: str,
    look: Callable[[str], None] = lambda address: None,
    *,
    has_anchors: bool = True,
    others: Iterable[str] = (),
) -> set[str]:
    """Given the first address of a site, open each page below it that a link leads to, and return their addresses.

    `others` are pages to which no link may lead, as to a hidden one. `look` is called with each address while its page
    is open. A link to a page that is not there fails, and one to an anchor where the documentation is known to have all
    that it names.
    """
    seen, pending = set[str](), {start: start, **dict.fromkeys(others, start)}
    while pending:
        address, origin = pending.popitem()
        plain, anchor = urldefrag(address)
        if plain not in seen:
            seen.add(plain)
            answer = page.goto(plain)
            assert answer is not None
            assert answer.ok, f"{origin} leads to {address}, which answers {answer.status}"
            look(plain)
            found = page.eval_on_selector_all("a[href]", "all => all.map((one) => one.href)")
            pending |= {one: plain for one in found if one.startswith(start) and not NO_PAGE.search(one)}
        elif anchor and urljoin(page.url, plain) != page.url:
            page.goto(plain)
        if anchor and has_anchors:
            is_there = page.evaluate("(id) => document.getElementById(id) !== null", anchor)
            assert is_there, f"{origin} leads to {address}, which is not on that page"
    return seen
