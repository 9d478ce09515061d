"""Who took part in a discussion: members who commented or replied."""

import sqlalchemy as sa
from fastapi.responses import JSONResponse

from syncd.model.listing import Listing
from syncd.model.member import Member
from syncd.platform.comments.discussions import AtDiscussion, DiscussionOperation, add_operations
from syncd.platform.http import answers
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.people import members
from syncd.platform.schema import accounts
from syncd.platform.schema.comments import comments, replies

router = create_router(tags=["comments"])


def list_commenters(at: AtDiscussion, paging: Paging) -> JSONResponse:
    """List the members who commented or replied in a discussion, without those who have left the organization."""
    with at.storage.read() as connection:
        discussion = at.require_discussion(connection)
        posted = sa.select(comments.c.posted_by).where(discussion.condition)
        replied = (
            sa.select(replies.c.posted_by)
            .join(comments, comments.c.id == replies.c.comment)
            .where(discussion.condition)
        )
        table = accounts.members.c
        people = members.select_members(discussion.space.organization).where(table.user.in_(posted.union(replied)))
        envelope = paging.paginate_rows(connection, people, table.joined_at, table.user)
        return answers.ok(
            envelope | {"items": [members.serialize_member(at.request, row) for row in envelope["items"]]}
        )


add_operations(
    router,
    {
        DiscussionOperation(
            "listCommenters", "GET", "/commenters", "read", Listing[Member], ("ChangeRequest",)
        ): list_commenters
    },
)
