"""Conversations of an organization, the issues in them, and the clusters of those issues."""

from collections.abc import Iterator, Sequence
from typing import Literal

from syncd.api.lists import iterate_list
from syncd.api.operation import operation
from syncd.api.transport.transport import Transport
from syncd.model.conversation import (
    Conversation,
    ConversationDetail,
    ConversationWrite,
    IssuesCluster,
    IssueWithConversation,
)
from syncd.model.listing import Listing


class Conversations:
    """Operations on conversations. Source: API document, Conversations."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @operation("ingestConversation")
    def ingest(self, organization: str, conversations: Sequence[ConversationWrite]) -> None:
        """Send conversations to be processed; one with a known id replaces the other, so repeating is safe.

        Raises: AnswerLost when they may or may not have been taken in.
        """
        body = [conversation.wire() for conversation in conversations]
        self._transport.send("POST", _path(organization), body=body)

    @operation("listConversations")
    def list(self, organization: str, *, source: str | None = None) -> Iterator[Conversation]:
        """Return the conversations of an organization, or those that came from one source."""
        return iterate_list(self._transport, _path(organization), Listing[Conversation], params={"source": source})

    @operation("getConversationById")
    def get(self, organization: str, conversation_id: str) -> ConversationDetail:
        """Return a conversation with all of its messages, by its sender's id. Raises: NotFound."""
        return self._transport.call("GET", (*_path(organization), conversation_id), ConversationDetail)

    @operation("listConversationsIssues")
    def list_issues(
        self, organization: str, *, cluster: str | None = None, conversation: str | None = None
    ) -> Iterator[IssueWithConversation]:
        """Return all issues of an organization, or those of one cluster or one conversation."""
        params = {"cluster": cluster, "conversation": conversation}
        path = _path(organization, "conversations-issues")
        return iterate_list(self._transport, path, Listing[IssueWithConversation], params=params)

    @operation("getConversationIssueById")
    def get_issue(self, organization: str, issue_id: str) -> IssueWithConversation:
        """Return an issue with its conversation. Raises: NotFound."""
        path = (*_path(organization, "conversations-issues"), issue_id)
        return self._transport.call("GET", path, IssueWithConversation)

    @operation("listConversationsIssuesClusters")
    def list_clusters(
        self,
        organization: str,
        *,
        order_by: str | None = None,
        order: Literal["asc", "desc"] | None = None,
        status: str | None = None,
    ) -> Iterator[IssuesCluster]:
        """Return the clusters of an organization's issues. Source: @gitbook/api 0.146.0."""
        params = {"orderBy": order_by, "order": order, "status": status}
        return iterate_list(
            self._transport, _path(organization, "conversations-clusters"), Listing[IssuesCluster], params=params
        )


def _path(organization: str, kind: str = "conversations") -> tuple[str, ...]:
    return ("orgs", organization, kind)
