"""ContentRef: a reference to content (API document, Conventions 6)."""

from syncd.model.base import Observed


class ContentRef(Observed):
    """`kind` is `file`, `page`, `openapi` or a kind that this version does not know; other kinds keep their members."""

    kind: str
    file: str | None = None
    page: str | None = None
    space: str | None = None
    spec: str | None = None
    url: str | None = None
