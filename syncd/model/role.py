"""Roles: what a member may do in an organization, and what everybody may do with one space or collection."""

from typing import Literal

Role = Literal["admin", "create", "review", "edit", "comment", "read"]
"""Source: API document, Conventions 5."""

DefaultLevel = Literal["admin", "create", "review", "edit", "comment", "read", "inherit"]
"""`inherit` asks what holds it: the parent collection, then the organization. Source: @gitbook/api 0.146.0."""
