"""Ids of sites and organizations as people give them: the id itself, or an address in their browser."""

import re

import typer

_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_ADDRESS = re.compile(
    r"https?://[^/?#\s]+(?:/app)?/o/(?P<organization>[A-Za-z0-9_-]{1,128})"
    r"(?:/sites/(?P<site>[A-Za-z0-9_-]{1,128}))?(?:[/?#].*)?",
    re.DOTALL,
)
"""Where a person reads an organization, or a site of it. Source: `urls.app` of both."""


def read_organization_id(text: str) -> str:
    """Return the id of an organization, given as the id or as the address of anything in it. Raises: BadParameter."""
    return _read_id(text, "organization", "https://HOST/o/ORG/…")[0]


def read_site_id(text: str) -> tuple[str, str]:
    """Return the id of a site, and that of its organization where the address names it, else "".

    Raises: BadParameter.
    """
    return _read_id(text, "site", "https://HOST/o/ORG/sites/SITE/…")


def _read_id(text: str, noun: str, form: str) -> tuple[str, str]:
    if address := _ADDRESS.fullmatch(text):
        if address[noun]:
            return address[noun], address["organization"]
    elif _ID.fullmatch(text):
        return text, ""
    if "://" in text:
        raise typer.BadParameter(f"{text}: no {noun} is in this address; it has the form {form}")
    raise typer.BadParameter(f"{text}: this is no id, which has letters, digits, - and _")
