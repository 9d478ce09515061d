"""Comments and replies as the API shows them: a page of them costs a few queries, however many people took part."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import sqlalchemy as sa
from fastapi import Query, Request

from syncd.layout.richtext.reading import to_document
from syncd.layout.richtext.writing import to_markdown
from syncd.model.comment import CommentBodyWrite
from syncd.model.document import Document
from syncd.platform.comments import reactions, targets
from syncd.platform.comments.discussions import Discussion
from syncd.platform.http import addresses, rich_text
from syncd.platform.http.time_limits import check_time
from syncd.platform.people import users
from syncd.platform.schema.comments import replies

Format = Annotated[Literal["markdown", "document"], Query()]
"""How an answer shows bodies; the document declares no default, and Markdown is what its only example has."""


@dataclass
class CommentSerializer:
    """How one answer shows comments to its caller, looking each person up once."""

    connection: sa.Connection
    request: Request
    discussion: Discussion
    caller: str
    format: Literal["markdown", "document"] = "markdown"
    _people: dict[str, dict[str, Any]] = field(default_factory=dict)

    def serialize_comments(self, rows: Sequence[sa.Row[Any]]) -> list[dict[str, Any]]:
        """Return rows of comments as the API shows them; what they refer to is read for all of them at once."""
        ids = [row.id for row in rows]
        reacted, repliers = reactions.find_reactions(self.connection, ids), self._find_repliers(ids)
        answering = [replier.user for each in repliers.values() for replier in each]
        self._load_people(
            [*self._list_people(rows, reacted), *answering, *(row.resolved_by for row in rows if row.resolved_by)]
        )
        return [self._serialize_comment(row, reacted.get(row.id, []), repliers.get(row.id, [])) for row in rows]

    def serialize_replies(self, rows: Sequence[sa.Row[Any]]) -> list[dict[str, Any]]:
        """Return rows of replies as the API shows them; what they refer to is read for all of them at once."""
        reacted = reactions.find_reactions(self.connection, [row.id for row in rows])
        self._load_people(self._list_people(rows, reacted))
        return [
            {"object": "comment-reply", **self._serialize_common(row, reacted.get(row.id, []))}
            | {
                "urls": self._build_urls(f"/comments/{row.comment}/replies/{row.id}"),
                "permissions": self._build_permissions(row.posted_by, replies=False),
            }
            for row in rows
        ]

    def _serialize_comment(
        self, row: sa.Row[Any], reacted: Sequence[sa.Row[Any]], repliers: Sequence[sa.Row[Any]]
    ) -> dict[str, Any]:
        resolved = {"resolvedAt": row.resolved_at, "resolvedBy": row.resolved_by and self._people[row.resolved_by]}
        return {
            "object": "comment",
            **self._serialize_common(row, reacted),
            "replies": sum(replier.count for replier in repliers),
            "repliers": [
                {"user": self._people[replier.user], "count": replier.count, "updatedAt": replier.last}
                for replier in repliers
            ],
            "target": targets.serialize_target(row),
            "urls": self._build_urls(f"/comments/{row.id}"),
            "permissions": self._build_permissions(row.posted_by, replies=True),
            "status": row.status,
            **{name: value for name, value in resolved.items() if value is not None},
        }

    def _serialize_common(self, row: sa.Row[Any], reacted: Sequence[sa.Row[Any]]) -> dict[str, Any]:
        return {
            "id": row.id,
            "postedBy": self._people[row.posted_by],
            "postedAt": row.posted_at,
            **({} if row.edited_at is None else {"editedAt": row.edited_at}),
            "reactions": self._serialize_reactions(reacted),
            "body": render_body(row.body, self.format),
        }

    def _serialize_reactions(self, rows: Sequence[sa.Row[Any]]) -> list[dict[str, Any]]:
        by_emoji: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in rows:
            by_emoji[row.emoji].append({"user": self._people[row.user], "reactedAt": row.reacted_at})
        return [{"emoji": emoji, "count": len(each), "users": each} for emoji, each in by_emoji.items()]

    def _find_repliers(self, ids: Sequence[str]) -> dict[str, list[sa.Row[Any]]]:
        columns = replies.c.comment, replies.c.posted_by.label("user")
        last = sa.func.max(sa.func.coalesce(replies.c.edited_at, replies.c.posted_at))
        query = sa.select(*columns, sa.func.count().label("count"), last.label("last"))
        grouped = query.where(replies.c.comment.in_(ids)).group_by(replies.c.comment, replies.c.posted_by)
        found: dict[str, list[sa.Row[Any]]] = defaultdict(list)
        for row in self.connection.execute(grouped.order_by(sa.func.min(replies.c.posted_at), replies.c.posted_by)):
            found[row.comment].append(row)
        return found

    def _build_permissions(self, author: str, *, replies: bool) -> dict[str, bool]:
        mine, speaks = author == self.caller, self.discussion.has_role("comment")
        return {
            "view": True,
            "edit": mine and speaks,
            "reply": replies and speaks,
            "delete": (mine and speaks) or self.discussion.has_role("admin"),
        }

    def _build_urls(self, below: str) -> dict[str, str]:
        return {"location": addresses.build_api_url(self.request, self.discussion.path + below)}

    def _list_people(self, rows: Sequence[sa.Row[Any]], reacted: Mapping[str, Sequence[sa.Row[Any]]]) -> list[str]:
        return [row.posted_by for row in rows] + [one.user for each in reacted.values() for one in each]

    def _load_people(self, ids: Sequence[str]) -> None:
        """Load the users that are about to be serialised."""
        self._people |= users.read_users(self.connection, self.request, set(ids) - self._people.keys())


def prepare_body(body: CommentBodyWrite) -> dict[str, Any]:
    """Return the body of a comment as it is stored. Raises: Failure 400 for a document beyond the limits."""
    if "document" in body.model_fields_set:
        return {"document": rich_text.check_document(body.document, at="body.document")}
    return {"markdown": body.markdown} if "markdown" in body.model_fields_set else {}


def render_body(body: dict[str, Any], format: Literal["markdown", "document"]) -> dict[str, Any]:
    """Return a stored body in a format; in the format that it was sent in, it is what was sent."""
    if not body or format in body:
        return body
    check_time()
    if format == "markdown":
        return {"markdown": to_markdown(Document.model_validate(body["document"]))}
    return {"document": to_document(body["markdown"]).wire()}
