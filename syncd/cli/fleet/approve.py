"""`fleet pending` and `fleet approve`: the plans of sites that wait for a person, from any machine."""

from collections.abc import Iterator

from syncd.cli.fleet.connect import open_database
from syncd.cli.sites.approve import NOTHING, build_plan_document, format_plan, format_plan_lines
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.text import escape, print_text
from syncd.fleet.database import FleetDatabase
from syncd.fleet.people.plans import FleetPlan, approve_plan, list_plans
from syncd.sync.site.approvals import VALID, find_held_plan

COMMANDS = "syncd fleet"


def show_fleet_pending(url: str, beginning: str, *, as_json: bool) -> None:
    """Print the plans that wait, or all of the one whose digest begins with `beginning`.

    Raises: ConfigInvalid, StalePlan, FleetUnreachable.
    """
    with open_database(url) as database:
        database.read_settings()
        selected = [_find_plan(database, beginning)] if beginning else list_plans(database)
    if as_json:
        pending = [{"repository": one.repository, **build_plan_document(one.plan)} for one in selected]
        print_document({"pending": pending})
    elif beginning:
        print_text("\n".join([*_format_plan(selected[0]), "", *format_plan_lines(selected[0].plan)]))
    else:
        print_text("\n\n".join("\n".join(_format_plan(one)) for one in selected) or NOTHING)


def approve_in_fleet(url: str, beginning: str, comment: str, *, as_json: bool) -> None:
    """Approve the plan whose digest begins with `beginning` for one run within a day, and wake its repository.

    Raises: ConfigInvalid, StalePlan, FleetUnreachable.
    """
    with open_database(url) as database:
        database.read_settings()
        found = _find_plan(database, beginning)
        at = approve_plan(database, found, comment)
    plan = found.plan
    if as_json:
        print_document({"approved": plan.digest, "site": plan.site, "repository": found.repository, "at": at})
        return
    hours = VALID.total_seconds() / 3600
    print_text(f"Approved plan {plan.digest} of {found.repository}: {escape(plan.file)}, once, for {hours:.0f} hours.")
    print_text("The next worker that is free applies it: syncd fleet status")


def _find_plan(database: FleetDatabase, beginning: str) -> FleetPlan:
    held = list_plans(database, beginning=beginning) or list_plans(database)
    chosen = find_held_plan([one.plan for one in held], beginning)
    return next(one for one in held if one.plan is chosen)


def _format_plan(found: FleetPlan) -> Iterator[str]:
    return format_plan(found.plan, commands=COMMANDS, repository=found.repository)
