"""What `doctor` looks at of a fleet: its database, workers and repositories, and the tokens of this machine."""

from collections.abc import Iterator, Mapping, Sequence

from syncd.cli.doctor.check import Check, make_failure
from syncd.cli.fleet.connect import open_database
from syncd.cli.fleet.status import GONE_SECONDS, count_live, describe_lateness
from syncd.cli.terminal.text import hide_credentials
from syncd.config import load_token
from syncd.daemon.health import USEFUL, find_repository_run
from syncd.errors import SyncdError
from syncd.fleet.database import FleetDatabase, describe_database
from syncd.fleet.people.notifications import count_waiting
from syncd.fleet.people.plans import list_plans
from syncd.fleet.repositories import RepositoryState, list_repositories, list_states
from syncd.fleet.schema import STEP, VERSION
from syncd.fleet.workers import WorkerState, list_workers
from syncd.model.wording import format_count, format_first

_NAMES_MAX = 5
_STATUS = "syncd fleet status"


def check_fleet(environ: Mapping[str, str]) -> Iterator[Check]:
    """Yield how the fleet is whose database the environment names, and whether this machine has its tokens.

    Nothing is changed, and nothing that a check meets is raised.
    """
    try:
        with open_database("", environ=environ) as database:
            version, step = database.read_version()
            yield check_tables(describe_database(database.url), version, step)
            if version == VERSION and step == STEP:
                yield from _check_members(database, environ)
    except SyncdError as error:
        yield make_failure("fleet database", error)


def check_tables(where: str, version: int, step: int) -> Check:
    """Return whether the tables of a fleet are those of this syncd; what is older is upgraded by any command."""
    if (version, step) == (VERSION, STEP):
        return Check("fleet database", "ok", f"{where}, tables {version}.{step}")
    detail = f"{where} has tables {version}.{step}, and this syncd those of {VERSION}.{STEP}"
    if (version, step) > (VERSION, STEP):
        return Check("fleet database", "warn", f"{detail}: workers of a newer one are at work", "upgrade syncd here")
    return Check("fleet database", "warn", detail, f"they are brought up to date by the first worker, or {_STATUS}")


def _check_members(database: FleetDatabase, environ: Mapping[str, str]) -> Iterator[Check]:
    workers, states = list_workers(database), list_states(database)
    yield from check_workers(workers, has_work=bool(states))
    yield from check_repositories(states)
    plans = [one.plan for one in list_plans(database) if not one.plan.approved]
    if plans:
        hint = f"syncd fleet pending {plans[0].digest}"
        yield Check("fleet plans", "warn", f"{format_count(len(plans), 'plan')} of sites wait for approval", hint)
    if waiting := count_waiting(database):
        hint = "syncd notify test says what is wrong with a receiver"
        yield Check("fleet notifications", "warn", f"{format_count(waiting, 'notification')} not arrived yet", hint)
    yield from _check_tokens(database, environ)


def check_workers(workers: Sequence[WorkerState], *, has_work: bool) -> Iterator[Check]:
    """Yield how many workers live, which of them were not heard of, and whether they lose leases."""
    gone = [f"{one.name} ({one.seen_ago:.0f} s)" for one in workers if one.seen_ago >= GONE_SECONDS]
    live = count_live(workers)
    if has_work and not live:
        hint = "syncd fleet worker, or systemctl start syncd-worker@1"
        yield Check("fleet workers", "fail", "none is at work", hint, exit_code=1)
    elif gone:
        hint = "start them again; until then others have their repositories"
        yield Check("fleet workers", "warn", f"{live} at work; not seen: {format_first(gone, _NAMES_MAX)}", hint)
    else:
        yield Check("fleet workers", "ok", f"{live} at work")
    lost = sum(one.counts.lost_leases for one in workers)
    if lost:
        losers = format_first([one.name for one in workers if one.counts.lost_leases], _NAMES_MAX)
        hint = "were these machines asleep or overloaded? else give all workers a longer --lease, or fewer --jobs"
        yield Check("fleet leases", "warn", f"{lost} lost since their start, by {losers}", hint)


def check_repositories(states: Sequence[RepositoryState]) -> Iterator[Check]:
    """Yield whether repositories run in time, and whether their last runs did their work."""
    if not states:
        yield Check("fleet repositories", "warn", "there are none, so nothing is kept in step", "syncd fleet add")
        return
    late = sorted((one for one in states if describe_lateness(one)), key=lambda one: one.due_in)
    records = [(one.name, find_repository_run(one.records)) for one in states]
    failed = [name for name, record in records if record is not None and record.state not in USEFUL]
    if late:
        detail = f"{len(late)} of {len(states)} late, {late[0].name} for {-late[0].due_in:.0f} s"
        yield Check("fleet repositories", "warn", detail, "more workers, more --jobs, or a longer interval")
    if failed:
        detail = f"the last run of {format_first(failed, _NAMES_MAX)} did not do its work"
        yield Check("fleet repositories", "warn", detail, f"{_STATUS} says why")
    if not late and not failed:
        yield Check("fleet repositories", "ok", f"{len(states)} in time")


def _check_tokens(database: FleetDatabase, environ: Mapping[str, str]) -> Iterator[Check]:
    """Whether a worker on this machine has the token of each platform."""
    platforms = {one.platform.model_dump_json(): one for one in list_repositories(database)}
    for one in platforms.values():
        subject = f"fleet token of {hide_credentials(one.platform.url)}"
        try:
            load_token(one.platform, environ)
        except SyncdError as error:
            yield make_failure(subject, error)
        else:
            yield Check(subject, "ok", "can be read here")
