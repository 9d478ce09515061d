"""Anchor: where a page or file was last seen on each side; the base of every two-way comparison."""

from typing import Literal, NamedTuple

Kind = Literal["page", "file", "include"]


class Anchor(NamedTuple):
    """One page, file or reusable content as both sides last agreed on it.

    Shape: `path` in the repository below the space's directory; `form` the platform's own idea of the path;
    `fingerprint` the version of the body on the platform; `oid` the Git blob that stands for it.
    """

    id: str
    kind: Kind
    path: str
    form: str
    fingerprint: str
    oid: str
