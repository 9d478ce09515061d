"""Conversations over HTTP: taken in at once and processed later; lists of them, of their issues and of the clusters."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal
from urllib.parse import quote

import sqlalchemy as sa
from fastapi import Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import Field, model_validator

from syncd.model.conversation import (
    AT_ONCE,
    TEXT_MAX,
    Conversation,
    ConversationDetail,
    ConversationWrite,
    IssuesCluster,
    IssueWithConversation,
)
from syncd.model.listing import Listing
from syncd.platform.database.tables import upsert
from syncd.platform.http import addresses, answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import declare_role
from syncd.platform.people.organizations import AtOrganization, OrganizationRequest
from syncd.platform.schema.conversations import clusters, conversations, issues, weeks
from syncd.platform.services.conversations.processing import HANDLERS, WEEKS, compute_week, enqueue_processing
from syncd.platform.storage.storage import Storage
from syncd.platform.storage.times import format_time

__all__ = ["HANDLERS", "router"]

router = create_router(prefix="/orgs/{organization_id}", tags=["conversations"])

_FILTER_MAX = 512
_CLUSTER = "/conversations-clusters/{cluster_id}"
_TASKS = dict.fromkeys(("tasksTotal", "tasksBacklog", "tasksStarted", "tasksCompleted", "tasksCancelled"), 0)
"""Nobody here makes tasks of issues; clients expect the counts. Source: @gitbook/api 0.146.0."""
_ORDERS: dict[str, Sequence[sa.ColumnElement[Any]]] = {
    "updatedAt": (clusters.c.updated_at, clusters.c.id),
    "issues": (clusters.c.issues, clusters.c.id),
    "conversations": (clusters.c.conversations, clusters.c.id),
    # Tasks are an agent's, and there is none here: every cluster has as many as any other.
    **dict.fromkeys(("tasksTotal", "tasksBacklog", "tasksStarted"), (clusters.c.id,)),
}
OrderBy = Literal["updatedAt", "issues", "conversations", "tasksTotal", "tasksBacklog", "tasksStarted"]
Filter = Annotated[str | None, Query(max_length=_FILTER_MAX, pattern=r"^[^\x00]*$")]


class ConversationNew(RequestBody, ConversationWrite):
    """One conversation to take in."""

    @model_validator(mode="after")
    def _is_short(self) -> "ConversationNew":
        if sum(len(part.body) for part in self.parts) > TEXT_MAX:
            raise ValueError(f"all parts together may have at most {TEXT_MAX} characters")
        return self


ConversationsNew = ConversationNew | Annotated[list[ConversationNew], Field(min_length=1, max_length=AT_ONCE)]


@router.get("/conversations", response_model=Listing[Conversation], openapi_extra=declare_role("read"))
def list_conversations(at: AtOrganization, paging: Paging, source: Filter = None) -> JSONResponse:
    """List the conversations of an organization, newest first; `source` keeps those from one source."""
    query = sa.select(conversations).where(conversations.c.organization == at.organization_id)
    if source is not None:
        query = query.where(conversations.c.source == source)
    with at.storage.read() as connection:
        at.require_organization(connection)
        order = (conversations.c.created_at, conversations.c.key)
        envelope = paging.paginate_rows(connection, query, *order, descending=True)
    return answers.ok(envelope | {"items": [_serialize_conversation(at.request, row) for row in envelope["items"]]})


@router.post("/conversations", status_code=204, openapi_extra=declare_role("create"))
def ingest_conversation(at: AtOrganization, new: ConversationsNew) -> Response:
    """Store one conversation or several; one whose id is known replaces the earlier one."""
    several = new if isinstance(new, list) else [new]
    # Of two with one id the last one counts, as if they had come one after the other.
    latest = {one.id: one for one in several}
    source = f"integration:api:{at.caller.user_id}"
    with at.storage.write() as connection:
        at.require_organization(connection)
        if _upsert_conversations(connection, at, latest, source):
            enqueue_processing(connection, at.storage, at.organization_id)
    return answers.no_content()


@router.get(
    "/conversations/{conversation_id:path}", response_model=ConversationDetail, openapi_extra=declare_role("read")
)
def get_conversation_by_id(at: AtOrganization, conversation_id: str) -> JSONResponse:
    """Return a conversation with all its messages, by the id that its sender gave it. Raises: Failure 404."""
    mine = (conversations.c.organization == at.organization_id, conversations.c.id == conversation_id)
    with at.storage.read() as connection:
        at.require_organization(connection)
        row = connection.execute(sa.select(conversations).where(*mine)).one_or_none()
    if row is None:
        raise Failure(404, f"No such conversation in organization {at.organization_id}.")
    content = row.content
    return answers.ok(
        {
            "conversation": _serialize_conversation(at.request, row),
            "parts": content["parts"],
            "metadata": content["metadata"],
        }
    )


@router.get("/conversations-issues", response_model=Listing[IssueWithConversation], openapi_extra=declare_role("read"))
def list_conversations_issues(
    at: AtOrganization, paging: Paging, cluster: Filter = None, conversation: Filter = None
) -> JSONResponse:
    """List the issues that were found in an organization's conversations, newest first, each with its conversation."""
    query = _select_issues(at)
    if cluster is not None:
        query = query.where(issues.c.cluster == cluster)
    if conversation is not None:
        query = query.where(conversations.c.id == conversation)
    with at.storage.read() as connection:
        at.require_organization(connection)
        envelope = paging.paginate_rows(connection, query, issues.c.created_at, issues.c.id, descending=True)
    return answers.ok(envelope | {"items": [_serialize_issue(at.request, row) for row in envelope["items"]]})


@router.get(
    "/conversations-issues/{issue_id}", response_model=IssueWithConversation, openapi_extra=declare_role("read")
)
def get_conversation_issue_by_id(at: AtOrganization, issue_id: str) -> JSONResponse:
    """Return an issue with its conversation. Raises: Failure 404."""
    with at.storage.read() as connection:
        at.require_organization(connection)
        row = connection.execute(_select_issues(at).where(issues.c.id == issue_id)).one_or_none()
    if row is None:
        raise Failure(404, f"No such issue in organization {at.organization_id}.")
    return answers.ok(_serialize_issue(at.request, row))


@router.get("/conversations-clusters", response_model=Listing[IssuesCluster], openapi_extra=declare_role("read"))
def list_conversations_issues_clusters(
    at: AtOrganization,
    paging: Paging,
    order: Literal["asc", "desc"] = "desc",
    order_by: Annotated[OrderBy, Query(alias="orderBy")] = "updatedAt",
    status: Literal["pending", "analysing"] | None = None,
) -> JSONResponse:
    """List the clusters of an organization's issues.

    No agent analyses clusters here, so each is `pending` and none is `analysing`.
    """
    query = sa.select(clusters).where(clusters.c.organization == at.organization_id)
    if status == "analysing":
        query = query.where(sa.false())
    with at.storage.read() as connection:
        at.require_organization(connection)
        envelope = paging.paginate_rows(connection, query, *_ORDERS[order_by], descending=order == "desc")
        shown = _serialize_clusters(connection, at, envelope["items"])
    return answers.ok(envelope | {"items": shown})


@router.get(_CLUSTER, response_model=IssuesCluster, openapi_extra=declare_role("read", extension=True))
def get_conversations_issues_cluster_by_id(at: AtOrganization, cluster_id: str) -> JSONResponse:
    """Return a cluster of issues. Raises: Failure 404."""
    mine = (clusters.c.organization == at.organization_id, clusters.c.id == cluster_id)
    with at.storage.read() as connection:
        at.require_organization(connection)
        rows = connection.execute(sa.select(clusters).where(*mine)).all()
        shown = _serialize_clusters(connection, at, rows)
    if not shown:
        raise Failure(404, f"No such cluster in organization {at.organization_id}.")
    return answers.ok(shown[0])


def _upsert_conversations(
    connection: sa.Connection, at: OrganizationRequest, new: dict[str, ConversationNew], source: str
) -> bool:
    """Store those of the conversations whose content is new, and return whether there are any."""
    table = conversations
    query = sa.select(table).where(table.c.organization == at.organization_id, table.c.id.in_(list(new)))
    known = {row.id: row for row in connection.execute(query)}
    now, rows = format_time(at.storage.now()), []
    for one in new.values():
        content, former = _build_content(one), known.get(one.id)
        if former is not None and former.content == content:
            continue
        created_at = content["metadata"].get("createdAt") or (now if former is None else former.created_at)
        row = {"id": one.id, "content": content, "created_at": created_at}
        rows.append(row | _build_key(at.storage, former, source))
    given = {"organization": at.organization_id, "ingested_at": now, "processed_at": None}
    upsert(connection, table, [row | given for row in rows], key=("organization", "id"))
    return bool(rows)


def _build_key(storage: Storage, former: sa.Row[Any] | None, source: str) -> dict[str, Any]:
    if former is None:
        return {"key": storage.new_id(), "source": source, "sent": 1}
    return {"key": former.key, "source": former.source, "sent": former.sent + 1}


def _build_content(new: ConversationNew) -> dict[str, Any]:
    content = new.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude={"id"})
    metadata = dict(content.get("metadata", {}))
    if "createdAt" in metadata:
        metadata["createdAt"] = format_time(new.metadata.created_at)
    return {**content, "metadata": metadata}


def _select_issues(at: OrganizationRequest) -> sa.Select[Any]:
    named = [column.label(f"of_{column.name}") for column in conversations.c]
    joined = sa.select(issues, *named).join(conversations, conversations.c.key == issues.c.conversation)
    return joined.where(issues.c.organization == at.organization_id)


def _serialize_conversation(request: Request, row: Any, prefix: str = "") -> dict[str, Any]:
    def of(name: str) -> Any:
        return getattr(row, prefix + name)

    content = of("content")
    optional = {"subject": content.get("subject"), "processedAt": of("processed_at")}
    url = content["metadata"].get("url")
    path = f"/orgs/{of('organization')}/conversations/{quote(of('id'), safe='')}"
    return {
        "object": "conversation",
        "id": of("id"),
        "createdAt": of("created_at"),
        "source": of("source"),
        **{name: value for name, value in optional.items() if value is not None},
        "urls": {"location": addresses.build_api_url(request, path), **({"source": url} if url else {})},
    }


def _serialize_issue(request: Request, row: sa.Row[Any]) -> dict[str, Any]:
    path = f"/orgs/{row.organization}/conversations-issues/{row.id}"
    issue = {
        "object": "conversation-issue",
        "id": row.id,
        "title": row.title,
        "summary": row.summary,
        "createdAt": row.created_at,
        "ingestedAt": row.ingested_at,
        "conversation": row.of_id,
        **({} if row.cluster is None else {"cluster": row.cluster}),
        "urls": {"location": addresses.build_api_url(request, path)},
    }
    return {"issue": issue, "conversation": _serialize_conversation(request, row, "of_")}


def _serialize_clusters(
    connection: sa.Connection, at: OrganizationRequest, rows: Iterable[sa.Row[Any]]
) -> list[dict[str, Any]]:
    listed = list(rows)
    last = compute_week(at.storage.now())
    recent = sa.select(weeks).where(weeks.c.cluster.in_([row.id for row in listed]), weeks.c.week > last - WEEKS)
    counted = {(row.cluster, row.week): row.issues for row in connection.execute(recent)}
    return [
        {
            "object": "issues-cluster",
            "id": row.id,
            "label": row.label,
            "createdAt": row.created_at,
            "updatedAt": row.updated_at,
            "icon": row.icon,
            "summary": f"{row.issues} {'issue' if row.issues == 1 else 'issues'}, such as: {row.example}",
            "weeklyPulse": [counted.get((row.id, week), 0) for week in range(last - WEEKS + 1, last + 1)],
            "sources": row.sources,
            "stats": {"issues": row.issues, "conversations": row.conversations, **_TASKS},
            "urls": {
                "location": addresses.build_api_url(
                    at.request, f"/orgs/{row.organization}/conversations-clusters/{row.id}"
                ),
                "app": addresses.build_app_url(at.request, f"/o/{row.organization}/conversations/clusters/{row.id}"),
            },
        }
        for row in listed
    ]
