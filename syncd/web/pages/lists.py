"""Pages that list: all pages of a space, all findings, what differs from the platform, and where a redirect leads."""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from markupsafe import Markup

from syncd.layout.lint.finding import Finding
from syncd.web.pages.contents import Contents, walk_depths
from syncd.web.pages.customization import is_safe_address
from syncd.web.pages.preview import render_findings
from syncd.web.pages.wording import PageWords
from syncd.web.rendering import render_template

SEARCHED_MAX = 60
"""Characters of an address that are offered for a search."""
_NO_WORD = re.compile(r"[\W_]+")
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,5}$")


def render_all_pages(contents: Contents, words: str = "") -> Markup:
    """Return the whole table of contents; with words, the pages that have all of them in their title."""
    wanted = words.casefold().split()
    rows = [(entry, 0 if wanted else depth) for entry, depth in walk_depths(contents)]
    if wanted:
        rows = [(entry, depth) for entry, depth in rows if all(word in entry.title.casefold() for word in wanted)]
    return render_template("pages/all_pages.html", entries=rows)


def render_problems(findings: Mapping[str, Sequence[Finding]], addresses: Mapping[str, str], note: str) -> Markup:
    """Return all findings, file by file; `addresses` are those of pages, `note` says what there is to know first."""
    groups = [(path, addresses.get(path, ""), render_findings(found)) for path, found in findings.items()]
    return render_template("pages/problems.html", groups=groups, note=note)


def render_changes(changes: Mapping[str, str], addresses: Mapping[str, str], ref: str) -> Markup:
    """Return the pages that differ from a ref, each with how."""
    rows = [(path, addresses.get(path, ""), difference) for path, difference in changes.items()]
    return render_template("pages/changes.html", rows=rows, ref=ref)


def render_departure(address: str, where: str) -> Markup:
    """Return the words about a redirect that leads to another site; an address that is no safe one becomes no link."""
    return render_template("pages/departure.html", address=address if is_safe_address(address) else "", where=where)


def render_missing(words: PageWords, home: str, *, listing: str = "", search: str = "", path: str = "") -> Markup:
    """Return what stands on the page for addresses that lead nowhere: ways to what is there.

    Shape: `path` is the decoded path that was asked for; `search` is the address of a search, to which `?q=` belongs.
    """
    searched = _find_searched(path) if search else ""
    address = f"{search}?q={quote(searched)}" if searched else ""
    return render_template(
        "pages/missing.html", words=words, home=home, listing=listing, search=address, searched=searched
    )


def _find_searched(path: str) -> str:
    """The words in the last segment of an address."""
    last = path.rstrip("/").rpartition("/")[2]
    return _NO_WORD.sub(" ", _ENDING.sub("", last)[:SEARCHED_MAX]).strip()


def write_paragraph(text: str) -> Markup:
    """Return plain text as a paragraph."""
    return Markup("<p>{}</p>").format(text)


def write_link(address: str, text: str) -> Markup:
    """Return a paragraph that is a link of the site's own, which search engines need not follow."""
    return Markup('<p><a href="{}" rel="nofollow">{}</a></p>').format(address, text)
