"""Reactions: each person adds and removes emoji of their own; doing so twice is doing so once."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from syncd.model.comment import REACTION_MAX, CommentReplyUpdate
from syncd.platform.database.tables import insert_new
from syncd.platform.http.failures import Failure
from syncd.platform.schema.comments import reactions

DISTINCT_MAX = 50
"""Different emoji on one comment or reply; the document names no limit."""

_CODE = re.compile(r":?([a-z0-9+_-]{1,50}):?")
"""A short code such as `thumbsup`, `+1` or `1f44d`; colons around it mean nothing."""
_PICTURE = "[\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff]\ufe0f?[\U0001f3fb-\U0001f3ff]?"
_SINGLE = re.compile(
    "[\U0001f1e6-\U0001f1ff]{2}|[0-9#*]\ufe0f?\u20e3|\U0001f3f4[\U000e0020-\U000e007f]{2,16}"
    f"|{_PICTURE}(?:\u200d{_PICTURE}){{0,8}}"
)


@dataclass(frozen=True)
class ReactionTarget:
    """What is reacted to: a comment, or one of its replies."""

    comment: str
    reply: str | None = None

    @property
    def id(self) -> str:
        """The id of the comment or the reply."""
        return self.reply or self.comment


def normalise_emoji(emoji: str) -> str:
    """Return the name that a reaction is stored by. Raises: Failure 400 when it is no emoji."""
    code = _CODE.fullmatch(emoji) if len(emoji) <= REACTION_MAX else None
    if code is not None:
        return code[1]
    if len(emoji) > REACTION_MAX or not _SINGLE.fullmatch(emoji):
        raise Failure(400, "A reaction is one emoji, or the short code of one.")
    return emoji


def update_reactions(
    connection: sa.Connection, target: ReactionTarget, change: CommentReplyUpdate, *, user: str, moment: str
) -> None:
    """Add and remove a person's reactions to a comment or reply; an emoji that is both added and removed stays.

    Raises: Failure 400 for what is no emoji, or for more different emojis than one target may have.
    """
    added, removed = _normalise_all(change.added_reactions), _normalise_all(change.removed_reactions)
    here = reactions.c.target == target.id
    if removed:
        mine = reactions.delete().where(here, reactions.c.user == user, reactions.c.emoji.in_(removed - added))
        connection.execute(mine)
    row = {"target": target.id, "user": user, "comment": target.comment, "reply": target.reply, "reacted_at": moment}
    insert_new(connection, reactions, [row | {"emoji": emoji} for emoji in sorted(added)])
    different = connection.scalar(sa.select(sa.func.count(reactions.c.emoji.distinct())).where(here)) or 0
    if added and different > DISTINCT_MAX:
        raise Failure(400, f"There are {DISTINCT_MAX} different reactions here already.")


def find_reactions(connection: sa.Connection, ids: Sequence[str]) -> dict[str, list[sa.Row[Any]]]:
    """Return the reactions to comments or replies by the id of their target, oldest first."""
    found: dict[str, list[sa.Row[Any]]] = defaultdict(list)
    order = reactions.c.reacted_at, reactions.c.emoji, reactions.c.user
    for row in connection.execute(sa.select(reactions).where(reactions.c.target.in_(ids)).order_by(*order)):
        found[row.target].append(row)
    return found


def _normalise_all(sent: Iterable[str]) -> set[str]:
    return {normalise_emoji(emoji) for emoji in sent}
