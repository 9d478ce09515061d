"""Subdomain (`subdomain`): the name under which public content of an organization is reached."""

from typing import Annotated, Literal

from pydantic import Field

from syncd.model.base import Observed

Hostname = Annotated[str, Field(min_length=3, max_length=32, pattern=r"^[a-z0-9][a-z0-9-]{1,30}[a-z0-9]$")]
"""Source: API document, Subdomain; an organization's `hostname` becomes its subdomain, so it has the same form."""


class SubdomainTarget(Observed):
    """What a subdomain leads to; `organization` is the only type. Source: @gitbook/api 0.146.0."""

    type: str
    organization: str | None = None


class Subdomain(Observed):
    """A subdomain and what it leads to."""

    object: Literal["subdomain"] = "subdomain"
    subdomain: str
    target: SubdomainTarget
    is_active: bool
