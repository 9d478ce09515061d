"""The repositories of a fleet: what a configuration says of each, kept in the database, and given back as TOML."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syncd.config import Config, PlatformConfig, RepositoryConfig, WebhooksConfig, parse
from syncd.config.shapes import NotificationsConfig
from syncd.config.writing import render_toml
from syncd.daemon.labels import name_repositories
from syncd.errors import ConfigInvalid
from syncd.fleet.database import FleetDatabase, Row
from syncd.store.runs import RunRecord

if TYPE_CHECKING:
    import psycopg

_FIELDS = {one.name for one in fields(RunRecord)}


@dataclass(frozen=True)
class FleetRepository:
    """One repository of a fleet, and what its configuration says of webhooks and notifications.

    Units: `seconds` between two runs. Shape: of higher `priority`, sooner.
    """

    name: str
    platform: PlatformConfig
    config: RepositoryConfig
    seconds: float
    priority: int = 0
    webhooks: WebhooksConfig | None = None
    notifications: NotificationsConfig = field(default_factory=NotificationsConfig)

    def build_config(self, path: Path = Path()) -> Config:
        """Return a configuration with this repository alone, which is at a path."""
        own = self.config.model_copy(update={"path": path})
        return Config(
            platform=self.platform, repository=(own,), webhooks=self.webhooks, notifications=self.notifications
        )


@dataclass(frozen=True)
class RepositoryState:
    """Where a repository of a fleet stands: when it is due, who has it, and what its last run came to.

    Units: `due_in` in seconds from now, negative for one that is late; `ended_ago` None before the first run. Shape:
    `worker` is who has the lease now, or "".
    """

    name: str
    due_in: float
    priority: int
    worker: str
    last_worker: str
    ended_ago: float | None
    records: tuple[RunRecord, ...]


def read_repositories(config: Config, *, priority: int) -> list[FleetRepository]:
    """Return the repositories of a configuration as a fleet keeps them.

    Raises: ConfigInvalid when one has no upstream with an address, or may not push to it: it would have no place for
    what must not be lost; and for what is of one machine: a command, a directory for its site or a desktop.
    """
    _refuse_command(config)
    if config.notifications.desktop:
        raise ConfigInvalid(
            "notifications.desktop shows notifications on one machine, and any worker may send them",
            hint="name a receiver: [[notifications.target]]",
        )
    found = []
    for name, repository in zip(name_repositories(config), config.repository, strict=True):
        if repository.upstream is None or not repository.upstream.url:
            raise ConfigInvalid(
                f"repository {name} has no upstream with a url, which a worker would clone",
                hint="add [repository.upstream] with url",
            )
        if repository.upstream.push == "never":
            raise ConfigInvalid(
                f"repository {name} says push = never, and a fleet keeps its state at the upstream",
                hint='set push to "branch" or "side" under [repository.upstream]',
            )
        publish = repository.site.publish if repository.site is not None else None
        if publish is not None and publish.directory is not None:
            raise ConfigInvalid(
                f"repository {name} publishes its site into a directory, and any worker may build it",
                hint="publish it to a branch: branch under [repository.site.publish]",
            )
        own = repository.model_copy(update={"path": Path(), "name": name})
        tables = config.webhooks, config.notifications
        found.append(FleetRepository(name, config.platform, own, repository.interval, priority, *tables))
    return found


def _refuse_command(config: Config) -> None:
    """Who can write into the database is not to choose what workers run. Raises: ConfigInvalid."""
    if config.platform.token_command is not None:
        raise ConfigInvalid(
            "token_command names a program, and workers run none that a database names",
            hint="name a token_file, or give each worker SYNCD_TOKEN or the credential token",
        )


def add_repositories(database: FleetDatabase, repositories: Sequence[FleetRepository]) -> list[str]:
    """Add repositories, or change those that the fleet has, and return the names of the new ones.

    Raises: ConfigInvalid when another one of the fleet has another sender of webhooks by the same name, and nothing is
    added then; FleetUnreachable.
    """
    added = []
    with database.transact() as cursor:
        for one in repositories:
            cursor.execute(
                "INSERT INTO syncd_fleet_repositories"
                " (name, platform, document, seconds, priority, webhooks, notifications)"
                " VALUES (%(name)s, %(platform)s, %(document)s, %(seconds)s, %(priority)s, %(webhooks)s,"
                " %(notifications)s)"
                " ON CONFLICT (name) DO UPDATE SET platform = excluded.platform, document = excluded.document,"
                " seconds = excluded.seconds, priority = excluded.priority, webhooks = excluded.webhooks,"
                " notifications = excluded.notifications,"
                " changed_at = clock_timestamp(), due_at = now()"
                " RETURNING xmax = 0",
                {
                    "name": one.name,
                    "platform": one.platform.model_dump_json(exclude_none=True),
                    "document": one.config.model_dump_json(exclude_none=True, exclude_defaults=True),
                    "seconds": one.seconds,
                    "priority": one.priority,
                    "webhooks": one.webhooks.model_dump_json(exclude_none=True) if one.webhooks is not None else None,
                    "notifications": one.notifications.model_dump_json(exclude_none=True),
                },
            )
            if (cursor.fetchone() or (False,))[0]:
                added.append(one.name)
        _refuse_second_sender(cursor)
    return added


def _refuse_second_sender(cursor: "psycopg.Cursor[Row]") -> None:
    """The path of a webhook names its sender, and has to mean one for the whole fleet. Raises: ConfigInvalid."""
    cursor.execute(
        "SELECT source ->> 'name', array_agg(DISTINCT r.name) FROM syncd_fleet_repositories r,"
        " jsonb_array_elements(r.webhooks -> 'source') source GROUP BY 1 HAVING count(DISTINCT source) > 1"
    )
    if (found := cursor.fetchone()) is not None:
        raise ConfigInvalid(
            f"webhooks.source {found[0]} is not the same for {', '.join(found[1])}",
            hint="give one of them another name, or add the same table for all of them",
        )


def remove_repositories(database: FleetDatabase, names: Sequence[str]) -> None:
    """Remove repositories; a run of one ends before its next write.

    Raises: ConfigInvalid when one of them is not there, and nothing is removed then; FleetUnreachable.
    """
    with database.transact() as cursor:
        cursor.execute(
            "DELETE FROM syncd_fleet_repositories WHERE name = ANY(%(names)s) RETURNING name", {"names": [*names]}
        )
        missing = set(names) - {str(row[0]) for row in cursor.fetchall()}
        if missing:
            raise ConfigInvalid(f"the fleet has no repository {', '.join(sorted(missing))}", hint="syncd fleet status")


def find_repository(database: FleetDatabase, name: str) -> FleetRepository | None:
    """Return a repository of the fleet by its name, or None. Raises: ConfigInvalid, FleetUnreachable."""
    return next(iter(list_repositories(database, (name,))), None)


def list_repositories(database: FleetDatabase, names: Sequence[str] | None = None) -> list[FleetRepository]:
    """Return repositories of the fleet in the order of their names; without names, all.

    Raises: ConfigInvalid when a newer syncd has written what this one does not know; FleetUnreachable.
    """
    rows = database.query(
        "SELECT name, seconds, priority, platform, document, webhooks, notifications FROM syncd_fleet_repositories"
        " WHERE %(names)s::text[] IS NULL OR name = ANY(%(names)s) ORDER BY name",
        {"names": None if names is None else [*names]},
    )
    repositories = []
    for name, seconds, priority, platform, document, webhooks, notifications in rows:
        raw = {"platform": platform, "repository": [document], "notifications": notifications}
        config = parse(raw if webhooks is None else {**raw, "webhooks": webhooks}, at=Path(f"fleet/{name}"))
        repositories.append(_build_repository(name, config, seconds, priority))
    return repositories


def _build_repository(name: str, config: Config, seconds: float, priority: int) -> FleetRepository:
    """Return the repository of a configuration that has one. Raises: ConfigInvalid for a command to run."""
    _refuse_command(config)
    tables = config.webhooks, config.notifications
    return FleetRepository(name, config.platform, config.repository[0], seconds, priority, *tables)


def read_stamp(database: FleetDatabase) -> object:
    """Return what is another value once a repository was added, changed or removed. Raises: FleetUnreachable."""
    return database.query("SELECT count(*), max(changed_at) FROM syncd_fleet_repositories")[0]


def list_states(database: FleetDatabase) -> list[RepositoryState]:
    """Return where each repository stands, in the order of their names. Raises: FleetUnreachable."""
    rows = database.query(
        "SELECT r.name, extract(epoch FROM r.due_at - now())::float8, r.priority, coalesce(l.worker, ''),"
        " r.last_worker, extract(epoch FROM now() - r.ended_at)::float8, r.records"
        " FROM syncd_fleet_repositories r"
        " LEFT JOIN syncd_fleet_leases l ON l.repository = r.name AND l.expires_at > now() ORDER BY r.name"
    )
    return [
        RepositoryState(name, due_in, priority, worker, last_worker, ended_ago, parse_records(records))
        for name, due_in, priority, worker, last_worker, ended_ago, records in rows
    ]


def parse_records(documents: Sequence[Mapping[str, Any]]) -> tuple[RunRecord, ...]:
    """Return the records of a run that the database has; what a newer syncd added to them is passed over."""
    return tuple(RunRecord(**{key: value for key, value in one.items() if key in _FIELDS}) for one in documents)


def render_configuration(repositories: Sequence[FleetRepository]) -> str:
    """Return a configuration with these repositories. Raises: ConfigInvalid when they do not fit into one."""
    if len({one.platform.model_dump_json() for one in repositories}) > 1:
        raise ConfigInvalid(
            "the repositories are of several platforms, and a configuration has one",
            hint="name those of one platform: syncd fleet export NAME...",
        )
    if len({(one.webhooks, one.notifications) for one in repositories}) > 1:
        raise ConfigInvalid(
            "the repositories have several tables [webhooks] or [notifications], and a configuration has one of each",
            hint="name those that were added together: syncd fleet export NAME...",
        )
    if not repositories:
        raise ConfigInvalid("the fleet has no repository", hint="syncd fleet add FILE")
    raw: dict[str, Any] = {
        "platform": repositories[0].platform.model_dump(mode="json", exclude_none=True, exclude_defaults=True),
        "repository": [
            {**one.config.model_dump(mode="json", exclude_none=True, exclude_defaults=True), "interval": one.seconds}
            for one in repositories
        ],
    }
    if (webhooks := repositories[0].webhooks) is not None:
        raw["webhooks"] = webhooks.model_dump(mode="json", exclude_none=True)
    if repositories[0].notifications.target:
        raw["notifications"] = repositories[0].notifications.model_dump(
            mode="json", exclude_none=True, exclude_defaults=True
        )
    return render_toml(raw)
