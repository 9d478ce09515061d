"""Comment (`comment`) and CommentReply (`comment-reply`): what people say about content."""

from typing import Any

from pydantic import Field, model_validator

from syncd.model.base import Declared, Observed, ObservedId
from syncd.model.document import Document
from syncd.model.user import User

TEXT_MAX = 50_000
"""Characters of a comment's Markdown; the document names no limit."""
REACTIONS_MAX = 20
"""Reactions that one request adds or removes."""
REACTION_MAX = 64
ID_MAX = 100


class CommentBody(Observed):
    """What a comment says: `markdown` or `document`, as `format` asks for, or nothing."""

    markdown: str | None = None
    document: Document | None = None


class Reacted(Observed):
    """One person's reaction."""

    user: User
    reacted_at: str


class Reaction(Observed):
    """Everybody who reacted with one emoji."""

    emoji: str
    count: int
    users: tuple[Reacted, ...] = ()


class Replier(Observed):
    """A person who replied, how often, and when last."""

    user: User
    count: int
    updated_at: str


class Reference(Observed):
    """Something by its id."""

    id: ObservedId


class TableCell(Observed):
    """A cell of a table: the ids of its row and of its column."""

    record: str
    definition: str


class CommentTarget(Observed):
    """What a comment is about. Shape: `change_request`, `review`, `space` and `revision` are ids."""

    page: Reference | None = None
    node: Reference | None = None
    table_cell: TableCell | None = None
    change_request: ObservedId | None = None
    review: ObservedId | None = None
    space: ObservedId | None = None
    revision: ObservedId | None = None


class CommentPermissions(Observed):
    """What the caller may do with a comment or a reply; one cannot reply to a reply."""

    view: bool = True
    edit: bool = False
    reply: bool = False
    delete: bool = False


class CommentReply(Observed):
    """A reply to a comment. Source: API document, Comment and CommentReply."""

    object: str = "comment-reply"
    id: ObservedId
    posted_by: User
    posted_at: str
    edited_at: str | None = None
    reactions: tuple[Reaction, ...] = ()
    body: CommentBody
    urls: dict[str, Any] = {}
    permissions: CommentPermissions = CommentPermissions()


class Comment(Observed):
    """A comment on a space or a change request; `status` is `open` or `resolved`."""

    object: str = "comment"
    id: ObservedId
    posted_by: User
    posted_at: str
    edited_at: str | None = None
    reactions: tuple[Reaction, ...] = ()
    replies: int = 0
    repliers: tuple[Replier, ...] = ()
    body: CommentBody
    target: CommentTarget = CommentTarget()
    urls: dict[str, Any] = {}
    permissions: CommentPermissions = CommentPermissions()
    status: str = "open"
    resolved_at: str | None = None
    resolved_by: User | None = None


class CommentBodyWrite(Declared):
    """What a comment shall say: Markdown, a document, or nothing."""

    markdown: str = Field(default="", max_length=TEXT_MAX)
    document: Document = Document()

    @model_validator(mode="after")
    def _is_one(self) -> "CommentBodyWrite":
        if len(self.model_fields_set) > 1:
            raise ValueError("has either markdown or document")
        return self


class TableCellWrite(Declared):
    """A cell of a table to comment on."""

    record: str = Field(min_length=1, max_length=ID_MAX)
    definition: str = Field(min_length=1, max_length=ID_MAX)


class CommentCreate(Declared):
    """Body of `POST …/comments`; a node is one of a page's, a table cell one of a node's."""

    body: CommentBodyWrite
    page: str | None = Field(default=None, min_length=1, max_length=ID_MAX)
    node: str | None = Field(default=None, min_length=1, max_length=ID_MAX)
    table_cell: TableCellWrite | None = None

    @model_validator(mode="after")
    def _is_placed(self) -> "CommentCreate":
        for name in self.model_fields_set:
            if getattr(self, name) is None:
                raise ValueError(f"{name}: must not be null")
        if self.node is not None and self.page is None:
            raise ValueError("node: needs the page that it is in")
        if self.table_cell is not None and self.node is None:
            raise ValueError("tableCell: needs the node of its table")
        return self


class CommentReplyCreate(Declared):
    """Body of `POST …/replies`."""

    body: CommentBodyWrite


class CommentReplyUpdate(Declared):
    """Body of `PUT …/replies/{commentReplyId}`: unset is unchanged."""

    body: CommentBodyWrite = CommentBodyWrite()
    added_reactions: tuple[str, ...] = Field(default=(), max_length=REACTIONS_MAX)
    removed_reactions: tuple[str, ...] = Field(default=(), max_length=REACTIONS_MAX)


class CommentUpdate(CommentReplyUpdate):
    """Body of `PUT …/comments/{commentId}`: unset is unchanged."""

    resolved: bool = False
