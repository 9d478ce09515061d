"""From a conversation to its issues and their clusters: a job for each organization that has new ones.

Each conversation is one short transaction, whose cost follows its own words: its former issues leave their clusters,
its present ones join the nearest ones, found by the rarest of their stems, or begin new ones. Clusters depend on the
order in which conversations came, and on nothing else.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from syncd.platform.database.tables import upsert
from syncd.platform.schema.conversations import clusters, conversations, frequencies, issues, postings, weeks
from syncd.platform.services.conversations.issue_finder import Issue, find_issues
from syncd.platform.services.conversations.similarity import Cluster, TermFrequencies, find_nearest_cluster
from syncd.platform.storage import jobs
from syncd.platform.storage.jobs import JobContext, JobHandler
from syncd.platform.storage.storage import Storage
from syncd.platform.storage.times import format_time

PROCESS = "conversations.process"
AT_ONCE = 50
"""Conversations of one run of the job; a longer queue takes several."""
CANDIDATES = 8
SOURCES_MAX = 100
"""Sources whose conversations a cluster counts one by one."""
WEEKS = 13
"""Of the weekly pulse: three months."""
_POSTINGS_MAX = 2_000
"""Clusters that are looked through for candidates, about."""
_ALL = ""
"""The stem that stands for all issues in the table of frequencies."""
_MONDAY = 3
"""The first day of the epoch was a Thursday; weeks begin on Mondays."""


def enqueue_processing(connection: sa.Connection, storage: Storage, organization_id: str) -> None:
    """Start a job that processes the new conversations of an organization."""
    jobs.enqueue_job(connection, storage, PROCESS, {"organization": organization_id}, key=organization_id)


def compute_week(moment: datetime) -> int:
    """Return the number of a moment's week since the epoch; weeks begin on Monday. Units: `moment` is aware."""
    return (int(moment.timestamp()) // 86_400 + _MONDAY) // 7


def _process_conversations(context: JobContext, payload: Mapping[str, Any]) -> timedelta | None:
    pending = (conversations.c.organization == payload["organization"], conversations.c.processed_at.is_(None))
    oldest = sa.select(conversations).where(*pending).order_by(conversations.c.ingested_at, conversations.c.key)
    with context.storage.read() as connection:
        rows = connection.execute(oldest.limit(AT_ONCE)).all()
    for row in rows:
        content = row.content
        said = [part["body"] for part in content["parts"] if part["role"] == "user"]
        found = find_issues(content.get("subject", ""), said)
        with context.storage.write() as connection:
            _ConversationUpdate(connection, context.storage, row).apply(found)
    return timedelta() if len(rows) == AT_ONCE else None


HANDLERS: Mapping[str, JobHandler] = {PROCESS: _process_conversations}


@dataclass
class _ConversationUpdate:
    """One conversation in one transaction."""

    connection: sa.Connection
    storage: Storage
    conversation: sa.Row[Any]

    def apply(self, found: Sequence[Issue]) -> None:
        mine = (conversations.c.key == self.conversation.key, conversations.c.sent == self.conversation.sent)
        now = format_time(self.storage.now())
        # Another content under the same id is another run's.
        if not self.connection.execute(conversations.update().where(*mine).values(processed_at=now)).rowcount:
            return
        self.remove_former_issues()
        joined: set[str] = set()
        for issue in found:
            self.add_counts(issue.terms, 1)
            known = self.find_frequencies(issue.terms)
            cluster = find_nearest_cluster(self.find_candidates(issue.terms, known), issue.terms, known)
            joined.add(self.join_cluster(cluster, issue, known, is_first=cluster is None or cluster.id not in joined))

    def remove_former_issues(self) -> None:
        own = issues.c.conversation == self.conversation.key
        rows = self.connection.execute(sa.select(issues).where(own)).all()
        left = {row.cluster for row in rows if row.cluster is not None}
        for row in rows:
            self.add_counts(row.terms, -1)
            if row.cluster is not None:
                self.leave_cluster(row, is_last=row.cluster in left)
                left.discard(row.cluster)
        self.connection.execute(issues.delete().where(own))

    def add_counts(self, terms: Mapping[str, str], by: int) -> None:
        names = [_ALL, *terms]
        counted = self.find_counts(names)
        key = {"organization": self.conversation.organization}
        rows = [{**key, "term": term, "issues": max(counted.get(term, 0) + by, 0)} for term in names]
        upsert(self.connection, frequencies, rows, key=("organization", "term"))

    def find_counts(self, terms: Sequence[str]) -> dict[str, int]:
        table = frequencies
        query = sa.select(table.c.term, table.c.issues).where(
            table.c.organization == self.conversation.organization, table.c.term.in_(terms)
        )
        return {row.term: row.issues for row in self.connection.execute(query)}

    def find_frequencies(self, terms: Mapping[str, object]) -> TermFrequencies:
        counted = self.find_counts([_ALL, *terms])
        return TermFrequencies(counted.pop(_ALL, 0), counted)

    def find_candidates(self, terms: Mapping[str, str], known: TermFrequencies) -> list[Cluster]:
        wanted, looked_through = list[str](), 0
        for term in sorted(terms, key=lambda term: (known.by_term.get(term, 0), term)):
            looked_through += known.by_term.get(term, 0)
            if wanted and looked_through > _POSTINGS_MAX:
                break
            wanted.append(term)
        common = sa.func.count()
        most = (
            sa.select(postings.c.cluster)
            .where(postings.c.organization == self.conversation.organization, postings.c.term.in_(wanted))
            .group_by(postings.c.cluster)
            .order_by(common.desc(), postings.c.cluster)
            .limit(CANDIDATES)
        )
        ids = list(self.connection.scalars(most))
        return [
            _build_cluster(row) for row in self.connection.execute(sa.select(clusters).where(clusters.c.id.in_(ids)))
        ]

    def join_cluster(self, cluster: Cluster | None, issue: Issue, known: TermFrequencies, *, is_first: bool) -> str:
        id = self.storage.new_id() if cluster is None else cluster.id
        if cluster is None:
            self.insert_cluster(id, issue)
        self.update_cluster(id, (cluster or Cluster(id)).add_issue(issue.terms), conversations_by=1 if is_first else 0)
        row, now = self.conversation, format_time(self.storage.now())
        week = compute_week(datetime.fromisoformat(row.created_at))
        self.add_to_week(id, week, 1)
        facts = {"id": self.storage.new_id(), "title": issue.title, "summary": issue.summary, "terms": issue.terms}
        place = {"organization": row.organization, "conversation": row.key, "cluster": id}
        moments = {"week": week, "created_at": row.created_at, "ingested_at": now}
        self.connection.execute(issues.insert().values({**facts, **place, **moments}))
        return id

    def insert_cluster(self, id: str, issue: Issue) -> None:
        now = format_time(self.storage.now())
        row = {"id": id, "organization": self.conversation.organization, "example": issue.title, "created_at": now}
        empty = {"label": "", "icon": "", "terms": {}, "sources": {}, "issues": 0, "conversations": 0}
        self.connection.execute(clusters.insert().values({**row, **empty, "updated_at": now}))

    def leave_cluster(self, issue: sa.Row[Any], *, is_last: bool) -> None:
        row = self.connection.execute(sa.select(clusters).where(clusters.c.id == issue.cluster)).one()
        self.add_to_week(row.id, issue.week, -1)
        self.update_cluster(
            row.id, _build_cluster(row).remove_issue(issue.terms), conversations_by=-1 if is_last else 0
        )

    def update_cluster(self, id: str, cluster: Cluster, *, conversations_by: int) -> None:
        if not cluster.issues:
            self.connection.execute(clusters.delete().where(clusters.c.id == id))
            return
        row = self.connection.execute(sa.select(clusters).where(clusters.c.id == id)).one()
        known = self.find_frequencies(cluster.terms)
        values = {
            "label": cluster.build_label(known) or row.label,
            "icon": cluster.choose_icon(known),
            "terms": {term: list(one) for term, one in cluster.terms.items()},
            "sources": _count_source(row.sources, self.conversation.source, conversations_by),
            "issues": cluster.issues,
            "conversations": row.conversations + conversations_by,
            "updated_at": format_time(self.storage.now()),
        }
        self.connection.execute(clusters.update().where(clusters.c.id == id).values(values))
        self.connection.execute(postings.delete().where(postings.c.cluster == id))
        key = {"organization": self.conversation.organization, "cluster": id}
        self.connection.execute(
            postings.insert(), [{**key, "term": term} for term in cluster.list_strongest_terms(known)]
        )

    def add_to_week(self, id: str, week: int, by: int) -> None:
        mine = (weeks.c.cluster == id, weeks.c.week == week)
        counted = self.connection.scalar(sa.select(weeks.c.issues).where(*mine)) or 0
        row = {"cluster": id, "week": week, "issues": max(counted + by, 0)}
        upsert(self.connection, weeks, [row], key=("cluster", "week"))


def _build_cluster(row: sa.Row[Any]) -> Cluster:
    return Cluster(row.id, row.issues, {term: (count, word) for term, (count, word) in row.terms.items()})


def _count_source(sources: Mapping[str, int], source: str, by: int) -> dict[str, int]:
    counted = Counter(sources)
    if source in counted or len(counted) < SOURCES_MAX:
        counted[source] += by
    return {name: count for name, count in counted.items() if count > 0}
